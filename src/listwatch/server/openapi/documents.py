"""Serves the OpenAPI documents.

    /openapi/v3                     the index: the URL of each document, with a hash of its content
    /openapi/v3/apis/apps/v1        the document of one group and version; an old hash redirects to the present one
    /openapi/v2                     all resources in one document, in JSON or protobuf

A document is generated when it is first requested, and cached until the registry changes. Its hash is that of the
data that it is generated from, so that the index does not need the documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from urllib.parse import quote

import msgspec

from listwatch._version import __version__
from listwatch.errors import NotAcceptableError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.server.codec.decoding import JSON_MEDIA_TYPE
from listwatch.server.codec.representations import parse_accept
from listwatch.server.crd.definitions import Definitions
from listwatch.server.openapi.definitions import (
    COMMON_DESCRIPTIONS,
    GVK,
    BuiltinDefinitions,
    Describe,
    custom_definition,
    custom_name,
    gvk_extension,
)
from listwatch.server.openapi.paths import paths_of
from listwatch.server.openapi.protobuf_document import encode_document
from listwatch.server.requests import NonResourceRequest, Response
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

__all__ = ["OpenAPI"]

_INFO: JSONObject = {"title": "Kubernetes", "version": "unversioned"}
_SECURITY: JSONObject = {
    "BearerToken": {
        "type": "apiKey",
        "name": "authorization",
        "in": "header",
        "description": "Bearer Token authentication",
    }
}
_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_OLD_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_IMMUTABLE = {"Cache-Control": "public, immutable", "Vary": "Accept"}


class OpenAPI:
    """The documents of a registry and of the definitions of its custom resources."""

    def __init__(self, registry: Registry, definitions: Definitions, describe: Describe) -> None:
        self._registry = registry
        self._definitions = definitions
        self._describe = describe
        self._made: dict[str, bytes] = {}
        self._hashes: dict[str, str] = {}
        self._made_at = registry.generation

    def respond(self, request: NonResourceRequest) -> Response | None:
        """Return the response to a path below /openapi; None if there is no such document."""
        if self._made_at != self._registry.generation:
            self._made, self._hashes, self._made_at = {}, {}, self._registry.generation
        match request.parts:
            case ["openapi", "v2"]:
                return self._version_2_response(request)
            case ["openapi", "v3"]:
                return self._index(request)
            case ["openapi", "v3", *rest]:
                return self._one(rest, request)
            case _:
                return None

    def _version_2_response(self, request: NonResourceRequest) -> Response:
        media_type = _version_2_media_type(request.accept)
        etag = self._hash_of("v2", [*self._all()])
        if media_type == JSON_MEDIA_TYPE:
            return self._response("v2", etag, request)
        etag = _digest(f"{etag} in protobuf".encode())
        if _PROTOBUF not in self._made and not _is_known(etag, request):
            self._made[_PROTOBUF] = encode_document(self._version_2())
        return _cached(self._made.get(_PROTOBUF, b""), etag, request, media_type=media_type)

    def _index(self, request: NonResourceRequest) -> Response:
        paths = {
            path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self._hash_of(path, resources)}"}
            for path, resources in self._group_versions()
        }
        body = msgspec.json.encode({"paths": paths})
        return _cached(body, _digest(body), request)

    def _one(self, rest: list[str], request: NonResourceRequest) -> Response | None:
        wanted = "/".join(rest)
        resources = dict(self._group_versions()).get(wanted)
        if resources is None:
            return None
        _check_accepts_json(request.accept)
        found = self._hash_of(wanted, resources)
        known = request.query.text("hash")
        if known and known != found:
            url = f"/openapi/v3/{quote(wanted)}?hash={found}"
            return Response(b"", 301, {"Location": url, "Content-Type": "text/html; charset=utf-8"})
        response = self._response(wanted, found, request)
        if known:
            response.headers |= _IMMUTABLE
        return response

    def _response(self, name: str, etag: str, request: NonResourceRequest) -> Response:
        if name not in self._made and not _is_known(etag, request):
            tree = self._version_2() if name == "v2" else self._version_3(dict(self._group_versions())[name])
            self._made[name] = msgspec.json.encode(tree)
        return _cached(self._made.get(name, b""), etag, request)

    # --- What a document consists of ---------------------------------------------------------------------------------

    def _group_versions(self) -> Iterator[tuple[str, list[Resource]]]:
        for group in self._registry.groups():
            for version in self._registry.versions(group):
                path = f"apis/{group}/{version}" if group else f"api/{version}"
                yield path, [*self._registry.resources(group, version)]

    def _all(self) -> Iterator[Resource]:
        for _, resources in self._group_versions():
            yield from resources

    def _hash_of(self, name: str, resources: list[Resource]) -> str:
        if name not in self._hashes:
            schemas = [self._custom_schema(each) for each in resources]
            content = [__version__, builtin_schema().version, name, [repr(each) for each in resources], schemas]
            self._hashes[name] = _digest(msgspec.json.encode(content))
        return self._hashes[name]

    def _custom_schema(self, resource: Resource) -> JSONObject | None:
        found = self._definitions.version(resource)
        return None if found is None else found.schema

    def _version_3(self, resources: list[Resource]) -> JSONObject:
        own = resources[0].api_version if resources else ""
        definitions = BuiltinDefinitions(builtin_schema(), version=3, describe=self._describe, api_version=own)
        paths = self._paths(resources, definitions)
        components: JSONObject = {"schemas": definitions.found, "securitySchemes": _SECURITY}
        return {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": components}

    def _version_2(self) -> JSONObject:
        definitions = BuiltinDefinitions(builtin_schema(), version=2, describe=self._describe)
        paths = self._paths([*self._all()], definitions)
        return {
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": builtin_schema().version},
            "paths": paths,
            "definitions": definitions.found,
            "securityDefinitions": _SECURITY,
            "security": [{"BearerToken": []}],
        }

    def _paths(self, resources: list[Resource], definitions: BuiltinDefinitions) -> JSONObject:
        paths: JSONObject = {}
        for resource in resources:
            paths |= paths_of(resource, definitions)
            if (schema := self._custom_schema(resource)) is not None:
                self._add_custom(resource, schema, definitions)
        return paths

    def _add_custom(self, resource: Resource, schema: JSONObject, definitions: BuiltinDefinitions) -> None:
        name = custom_name(resource)
        definitions.found[name] = custom_definition(resource, schema, definitions)
        item: JSONObject = {"$ref": definitions.prefix + name}
        listed = resource.gvk._replace(kind=resource.list_kind)
        definitions.found[custom_name(resource, resource.list_kind)] = {
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"description": COMMON_DESCRIPTIONS["apiVersion"], "type": "string"},
                "items": {"type": "array", "items": item},
                "kind": {"description": COMMON_DESCRIPTIONS["kind"], "type": "string"},
                "metadata": definitions.refer_to("meta.v1.ListMeta"),
            },
            GVK: [gvk_extension(listed)],
        }


def _digest(content: bytes) -> str:
    return hashlib.sha512(content).hexdigest().upper()


def _check_accepts_json(accept: str) -> None:
    if accept and not any(each.covers(JSON_MEDIA_TYPE) for each in parse_accept(accept)):
        raise NotAcceptableError(f"only the following media types are accepted: {JSON_MEDIA_TYPE}")


def _version_2_media_type(accept: str) -> str:
    """Return the media type of the response: the first of the Accept header that can be served."""
    for each in parse_accept(accept or "*/*"):
        if each.covers(JSON_MEDIA_TYPE):
            return JSON_MEDIA_TYPE
        if each.covers(_PROTOBUF) or each.covers(_OLD_PROTOBUF):
            return _PROTOBUF
    raise NotAcceptableError(f"only the following media types are accepted: {JSON_MEDIA_TYPE}, {_PROTOBUF}")


def _is_known(etag: str, request: NonResourceRequest) -> bool:
    """Whether the client has the document: the header is a list of tags, each of which may be weak, or a star."""
    known = [each.strip().removeprefix("W/") for each in request.headers.get("If-None-Match", "").split(",")]
    return "*" in known or f'"{etag}"' in known


def _cached(body: bytes, etag: str, request: NonResourceRequest, *, media_type: str = JSON_MEDIA_TYPE) -> Response:
    headers = {"Content-Type": media_type, "ETag": f'"{etag}"', "Vary": "Accept"}
    if _is_known(etag, request):
        return Response(b"", 304, headers)
    return Response(body, headers=headers)
