"""The scale subresource: reads and writes the number of replicas of an object, of any kind that has some."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import msgspec

from listwatch.errors import APIError, BadRequestError, InternalServerError, InvalidError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, Resource
from listwatch.selectors import LabelSelector
from listwatch.server.apply.managed_fields import ManagedFields, decode_managed, encode_managed
from listwatch.server.apply.scale_fields import ReplicasPaths, managed_by_scale, managed_with_scale
from listwatch.server.apply.server_side_apply import ServerSideApply
from listwatch.server.codec.decoding import SCHEME, Decoded
from listwatch.server.crd.definitions import ScalePaths
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import copied, ensure_object, integer_at, object_at, text_at, value_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import check_name, check_namespace, check_uid, metadata_of
from listwatch.server.protocol.write_options import (
    WriteOptions,
    apply_request_patch,
    decode_request_body,
    is_apply,
    read_write_options,
)
from listwatch.server.requests import APIRequest, Response
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.admission_plugins import View

__all__ = ["Replace", "ScaleHandler"]

_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_SCALES = Resource("autoscaling", "v1", "Scale", "scales")
_DEFAULT_PATHS = ScalePaths(("spec", "replicas"), ("status", "replicas"))
_UNNAMED_KIND = f'no kind is registered for the type v1.Scale in scheme "{SCHEME}"'
_SCALE_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Replace(Protocol):
    """Writes a changed object, as an update does; `managed` are its managedFields if they are known."""

    def __call__(
        self,
        request: APIRequest,
        existing: Stored,
        body: Decoded,
        options: WriteOptions,
        *,
        managed: list[JSON] | None = None,
        view: View | None = None,
    ) -> Response: ...


class _ScaleView:
    """The Scale of an object."""

    def __init__(self, paths: ScalePaths | None) -> None:
        self._paths = paths

    def show(self, tree: JSONObject) -> JSONObject:
        return _scale_of(tree, self._paths)

    def apply(self, tree: JSONObject, shown: JSONObject) -> JSONObject:
        return _with_scale(tree, shown, self._paths)


class ScaleHandler:
    """Reads and updates the number of replicas of an object."""

    def __init__(self, objects: ObjectStore, apply: ServerSideApply, replace: Replace) -> None:
        self._objects = objects
        self._apply = apply
        self._replace = replace

    def __call__(self, request: APIRequest) -> Response:
        objects, schema = self._objects, self._objects.schema
        version = objects.definitions.version(request.resource)
        paths = version.scale if version else None
        options = WriteOptions() if request.verb == "get" else read_write_options(request)
        body = self._decode(request, options, is_custom=paths is not None) if request.verb == "update" else None
        if body:
            _check_names(request, body.tree)
        existing = objects.get(request)
        if body:
            check_uid(body.tree, text_at(decode_stored(existing), "metadata", "uid"), request.resource)
        tree = msgspec.json.decode(objects.encode(existing, request.resource))
        if request.verb == "get":
            return Response(_scale_of(tree, paths))
        managed: list[JSON] | None = None
        if is_apply(request):
            body, managed = self._merge(request, options, tree, paths)
        elif body is None:
            scale = self._managed_scale(request, tree, paths)[0]
            body = apply_request_patch(request, options, scale, schema, needs_version=paths is None)
            _check_names(request, body.tree)
        new = Decoded(_with_scale(tree, body.tree, paths))
        if managed is None:
            managed = self._managed_after_update(request, tree, _scale_of(tree, paths), body.tree)
        response = self._replace(request, existing, new, options, managed=managed, view=_ScaleView(paths))
        assert isinstance(response.body, bytes)
        return Response(_scale_of(msgspec.json.decode(response.body), paths))

    def _decode(self, request: APIRequest, options: WriteOptions, *, is_custom: bool) -> Decoded:
        try:
            return decode_request_body(request, options, _SCALE, self._objects.schema)
        except BadRequestError as error:
            # kube-apiserver does not find the kind to name in the error about the scale of a custom object.
            raise BadRequestError(_UNNAMED_KIND) if is_custom else error from None

    def _managed_scale(
        self, request: APIRequest, tree: JSONObject, paths: ScalePaths | None
    ) -> tuple[JSONObject, ManagedFields]:
        """Return the scale of an object with the managers of its replicas, and the managers of the object."""
        scale, managed = _scale_of(tree, paths), decode_managed(metadata_of(tree).get("managedFields")) or {}
        if found := encode_managed(managed_by_scale(managed, self._replicas_paths(request.resource))):
            metadata_of(scale)["managedFields"] = found
        return scale, managed

    def _merge(
        self, request: APIRequest, options: WriteOptions, tree: JSONObject, paths: ScalePaths | None
    ) -> tuple[Decoded, list[JSON]]:
        """Return the scale with the applied one merged into it, and the managedFields of the object."""
        scale, managed = self._managed_scale(request, tree, paths)
        replicas_paths = self._replicas_paths(request.resource)
        applied = replace(request, resource=_SCALES)
        config = self._apply.read(applied, options)
        new, entries = self._apply.merge(applied, options, config, scale)
        if paths:
            raise _not_applicable(config.sent)
        found = managed_with_scale(managed, decode_managed(entries) or {}, replicas_paths, request.resource.api_version)
        return new, encode_managed(found)

    def _managed_after_update(
        self, request: APIRequest, tree: JSONObject, before: JSONObject, scale: JSONObject
    ) -> list[JSON] | None:
        """Return the managedFields of an object whose replicas this request cannot manage; None if it can.

        A Scale that has no managers gets none from an update, and a number of 0 is not part of it.
        """
        replicas_paths = self._replicas_paths(request.resource)
        managed = decode_managed(metadata_of(tree).get("managedFields")) or {}
        replicas = integer_at(scale, "spec", "replicas")
        if replicas == integer_at(before, "spec", "replicas"):
            # As in kube-apiserver, the replicas are separated from the other fields of their manager.
            scale_managers = managed_by_scale(managed, replicas_paths)
            return encode_managed(
                managed_with_scale(managed, scale_managers, replicas_paths, request.resource.api_version)
            )
        if replicas and managed_by_scale(managed, replicas_paths):
            return None
        return encode_managed(managed_with_scale(managed, {}, replicas_paths, request.resource.api_version))

    def _replicas_paths(self, resource: Resource) -> ReplicasPaths:
        definition = self._objects.definitions.get(resource)
        if definition is None:
            return {resource.api_version: _DEFAULT_PATHS.spec_replicas}
        versions = definition.versions.values()
        return {each.resource.api_version: each.scale.spec_replicas if each.scale else None for each in versions}


def _not_applicable(scale: JSONObject) -> APIError:
    """Return the error of kube-apiserver, which cannot apply the scale of a custom object."""
    place = f"{text_at(scale, 'metadata', 'namespace')}/{text_at(scale, 'metadata', 'name')}"
    why = f"request to convert CR to an invalid group/version: {_SCALES.api_version}"
    message = f"failed to convert new object ({place}; {_SCALES.api_version}, Kind=Scale) to proper version: {why}"
    return APIError(message, status_code=500, reason="")


def _check_names(request: APIRequest, tree: JSONObject) -> None:
    check_namespace(request, tree)
    check_name(request, tree)


def _with_scale(tree: JSONObject, scale: JSONObject, paths: ScalePaths | None) -> JSONObject:
    """Return the object with the replicas of its scale; both have the same resourceVersion."""
    replicas = integer_at(scale, "spec", "replicas")
    if replicas < 0:
        cause = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise InvalidError.of("Scale", text_at(tree, "metadata", "name"), [cause], group="autoscaling")
    result = copied(tree)
    if version := text_at(scale, "metadata", "resourceVersion"):
        metadata_of(result)["resourceVersion"] = version
    *parents, last = (paths or _DEFAULT_PATHS).spec_replicas
    ensure_object(result, *parents)[last] = replicas
    return result


def _scale_of(tree: JSONObject, paths: ScalePaths | None) -> JSONObject:
    metadata, selector = metadata_of(tree), _selector_of(tree, paths)
    if paths and value_at(tree, *paths.spec_replicas) is None:
        path = "".join(f".{name}" for name in paths.spec_replicas)
        raise InternalServerError(f'Internal error occurred: the spec replicas field "{path}" does not exist')
    paths = paths or _DEFAULT_PATHS
    replicas = value_at(tree, *paths.spec_replicas)
    status: JSONObject = {"replicas": value_at(tree, *paths.status_replicas) or 0}
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SCALE_METADATA if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector_of(tree: JSONObject, paths: ScalePaths | None) -> str:
    if paths:
        return text_at(tree, *paths.selector) if paths.selector else ""
    selector = object_at(tree, "spec", "selector")
    if not selector:
        return ""
    is_plain = tree["kind"] == "ReplicationController"
    return str(LabelSelector.from_dict({"matchLabels": selector} if is_plain else selector))
