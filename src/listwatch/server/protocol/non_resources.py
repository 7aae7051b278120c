"""Responds to non-resource requests: the index, the version, health, and discovery.

    /                                         all paths
    /version
    /healthz /livez /readyz                   "ok", with ?verbose all checks; /healthz/CHECK for one check
    /api /api/v1                              discovery of the core group
    /apis /apis/GROUP /apis/GROUP/VERSION     discovery of the other groups
    /openapi/v2 /openapi/v3/…                 OpenAPI documents
    /metrics                                  figures of this server, for Prometheus
    /.well-known/openid-configuration         the issuer of service account tokens
    /openid/v1/jwks                           its public keys

All other paths get a 404 in plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.server.codec.decoding import JSON_MEDIA_TYPE
from listwatch.server.codec.representations import encode_plain, negotiate, wants_pretty
from listwatch.server.json_tree import quoted
from listwatch.server.protocol.discovery import Discovery, aggregated_form
from listwatch.server.protocol.routes import method_not_allowed, resource_not_found
from listwatch.server.requests import NonResourceRequest, Response
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

Checks = Mapping[str, Callable[[], bool]]

_METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_READY = "readyz"
_HEALTH = ("healthz", "livez", _READY)
_SEMANTIC_VERSION = re.compile(r"v(\d+)\.(\d+)\.\d+")


@dataclass(frozen=True, slots=True)
class Issuer:
    """The issuer of service account tokens, for programs that verify them; `keys` are its public keys as JWKs."""

    url: str
    """The URL of the server."""
    name: str
    keys: tuple[JSONObject, ...] = ()

    def configuration(self) -> JSONObject:
        algorithms: list[JSON] = [*dict.fromkeys(str(key["alg"]) for key in self.keys)]
        return {
            "issuer": self.name,
            "jwks_uri": f"{self.url}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        }


class NonResources:
    """Responds to all non-resource requests; `checks` are health checks by name, `ready_checks` more for /readyz."""

    def __init__(
        self,
        registry: Registry,
        *,
        address: str = "",
        checks: Checks | None = None,
        ready_checks: Checks | None = None,
        openapi: Callable[[NonResourceRequest], Response | None] | None = None,
        metrics: Callable[[], str] | None = None,
        issuer: Callable[[], Issuer] | None = None,
    ) -> None:
        self._registry = registry
        self._openapi = openapi
        self._metrics = metrics
        self._issuer = issuer
        self._discovery = Discovery(registry, address=address)
        common: Checks = {"ping": lambda: True, **(checks or {})}
        self._checks: Mapping[str, Checks] = {
            **dict.fromkeys(_HEALTH, common),
            _READY: {**common, **(ready_checks or {})},
        }

    def set_address(self, address: str) -> None:
        """Set host and port of the server, which are known when it listens."""
        self._discovery.address = address

    def respond(self, request: NonResourceRequest) -> Response:
        """Return the complete response; raises NotFoundError, MethodNotAllowedError or NotAcceptableError."""
        match request.path.split("/")[1:]:
            case [""] | ["index.html"]:
                return _json({"paths": [*self._paths()]})
            case [health] if health in _HEALTH:
                return self._health(health, request)
            case [health, *check] if health in _HEALTH:
                return self._one_check(health, "/".join(check))
            case ["version"] | ["version", ""]:
                _check_is_get(request)
                return _json(_version())
            case ["api" | "apis", *_]:
                return self._discover(request)
            case ["openapi", *_] if self._openapi:
                return self._openapi(request) or _not_found()
            case ["metrics"] if self._metrics:
                return Response(self._metrics().encode(), headers={"Content-Type": _METRICS_MEDIA_TYPE})
            case [".well-known", "openid-configuration"] if self._issuer:
                _check_is_get(request)
                return _public(self._issuer().configuration(), JSON_MEDIA_TYPE)
            case ["openid", "v1", "jwks"] if self._issuer:
                _check_is_get(request)
                return _public({"keys": [*self._issuer().keys]}, "application/jwk-set+json")
            case _:
                return _not_found()

    def _paths(self) -> list[str]:
        groups = ((f"/apis/{group}" if group else "/api", group) for group in self._registry.groups())
        paths = {"/apis", "/apis/", "/version", *(f"/{health}" for health in _HEALTH)}
        paths |= {"/openapi/v2", "/openapi/v3", "/openapi/v3/"} if self._openapi else set()
        paths |= {"/metrics"} if self._metrics else set()
        paths |= {"/.well-known/openid-configuration", "/openid/v1/jwks"} if self._issuer else set()
        paths |= {f"/{health}/{check}" for health in _HEALTH for check in self._checks[health]}
        for path, group in groups:
            paths |= {path, *(f"{path}/{version}" for version in self._registry.versions(group))}
        return sorted(paths)

    # Discovery

    def _discover(self, request: NonResourceRequest) -> Response:
        named = [group for group in self._registry.groups() if group]
        match request.parts:
            case ["api"]:
                return self._root(request, [""], self._discovery.api_versions())
            case ["apis"]:
                return self._root(request, named, self._discovery.group_list())
            case ["api", version]:
                return self._version(request, "", version)
            case ["apis", group] if group in named:
                return _document(self._discovery.group(group), request)
            case ["apis", group, version] if group in named:
                return self._version(request, group, version)
            case _:
                return _not_found()

    def _root(self, request: NonResourceRequest, groups: list[str], plain: JSONObject) -> Response:
        _check_is_get(request)
        if form := aggregated_form(request.accept):
            media_type, version = form
            known = request.headers.get("If-None-Match", "")
            return self._discovery.aggregated(groups, version, media_type=media_type, known_etag=known)
        return _document(plain, request)

    def _version(self, request: NonResourceRequest, group: str, version: str) -> Response:
        if version not in self._registry.versions(group):
            raise resource_not_found()
        return _document(self._discovery.resource_list(group, version), request)

    # Health

    def _health(self, name: str, request: NonResourceRequest) -> Response:
        excluded = request.query.all("exclude")
        checks, lines, healthy = self._checks[name], [], True
        for check, passes in checks.items():
            if check in excluded:
                lines.append(f"[+]{check} excluded: ok")
            elif passes():
                lines.append(f"[+]{check} ok")
            else:
                healthy = False
                lines.append(f"[-]{check} failed: reason withheld")
        if unknown := [quoted(check) for check in excluded if check not in checks]:
            lines.append(f"warn: some health checks cannot be excluded: no matches for {', '.join(unknown)}")
        if not healthy:
            return _text("\n".join([*lines, f"{name} check failed\n"]), code=500)
        return _text("\n".join([*lines, f"{name} check passed\n"]) if "verbose" in request.query else "ok")

    def _one_check(self, health: str, name: str) -> Response:
        check = self._checks[health].get(name)
        if check is None:
            return _not_found()
        return _text("ok") if check() else _text("internal server error: the check failed\n", code=500)


def _version() -> JSONObject:
    known = _SEMANTIC_VERSION.match(builtin_schema().version)
    major, minor = known.groups() if known else ("", "")
    release = known[0] if known else builtin_schema().version
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1) if minor else "",
        # In semantic versioning, a suffix after a plus is build metadata, so this is not a pre-release.
        "gitVersion": f"{release}+listwatch",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "cpython",
        "platform": "any/any",
    }


def _check_is_get(request: NonResourceRequest) -> None:
    if request.method != "GET":
        raise method_not_allowed()


def _document(tree: JSONObject, request: NonResourceRequest) -> Response:
    _check_is_get(request)
    pretty = wants_pretty(request.query, request.headers.get("User-Agent", ""))
    representation = negotiate(request.accept, pretty=pretty, untransformed=True)
    return Response(encode_plain(tree, representation), headers={"Content-Type": representation.media_type})


def _json(tree: JSONObject) -> Response:
    """Respond with indented JSON, whatever the client accepts."""
    return Response(msgspec.json.format(msgspec.json.encode(tree), indent=2), headers={"Content-Type": JSON_MEDIA_TYPE})


def _public(tree: JSONObject, media_type: str) -> Response:
    """Respond with a document that caches may store and share."""
    headers = {"Content-Type": media_type, "Cache-Control": "public, max-age=3600"}
    return Response(msgspec.json.encode(tree), headers=headers)


def _not_found() -> Response:
    return _text("404 page not found\n", code=404)


def _text(text: str, *, code: int = 200) -> Response:
    headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Response(text.encode(), code, headers)
