"""The subresources: which part of an object each of them can change, and handlers for those that are not updates.

`pipeline` uses both. The handlers receive what they need: the objects, the time, and how to update an object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from listwatch.errors import APIError, BadRequestError, ConflictError, InternalServerError, InvalidError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.selectors import LabelSelector
from listwatch.server.codec.decoding import Decoded
from listwatch.server.crd.definitions import ScalePaths
from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import copied, ensure_object, integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.object_store import ObjectStore, Target, decode_stored
from listwatch.server.lifecycle.strategy import (
    check_name,
    check_namespace,
    check_uid,
    metadata_of,
    prepare_for_status_update,
    prepare_for_update,
    timestamp,
)
from listwatch.server.protocol.write_options import (
    WriteOptions,
    apply_request_patch,
    decode_request_body,
    read_write_options,
)
from listwatch.server.requests import APIRequest, Response
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.eviction import EvictionHandler
from listwatch.server.verbs.reviews import Identities, issue_token

__all__ = ["PARTIAL_UPDATES", "SubresourceHandler", "subresource_handlers"]

SubresourceHandler = Callable[[APIRequest], Response]
PartialUpdate = Callable[[JSONObject, JSONObject, Target], JSONObject]
"""Returns the old object with the part of the new one that a subresource can change."""


class Replace(Protocol):
    """Writes a changed object, as an update does."""

    def __call__(self, request: APIRequest, existing: Stored, body: Decoded, options: WriteOptions) -> Response: ...


_BINDING = GroupVersionKind("", "v1", "Binding")
_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_TOKEN_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
_DEFAULT_PATHS = ScalePaths(("spec", "replicas"), ("status", "replicas"))
_SCALE_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def subresource_handlers(
    objects: ObjectStore, deleter: Deleter, identities: Identities, now: Callable[[], datetime], replace: Replace
) -> Mapping[str, SubresourceHandler]:
    """Return the handlers by the names of their subresources."""
    return {
        "scale": ScaleHandler(objects, replace),
        "eviction": EvictionHandler(objects, deleter, now),
        "binding": BindingHandler(objects, now),
        "token": TokenHandler(objects, identities, now),
        "log": LogHandler(objects),
    }


# --- Updates of a part ------------------------------------------------------------------------------------------------


def _update_status(new: JSONObject, old: JSONObject, target: Target) -> JSONObject:
    return prepare_for_status_update(new, old, target.stored_as, target.traits)


def _update_spec_members(*names: str) -> PartialUpdate:
    def update(new: JSONObject, old: JSONObject, target: Target) -> JSONObject:
        result, spec = copied(old), object_at(new, "spec")
        ensure_object(result, "spec").update({name: spec[name] for name in names if name in spec})
        prepare_for_update(result, old, target.stored_as, target.traits)
        return result

    return update


def _update_finalizers(new: JSONObject, old: JSONObject, _target: Target) -> JSONObject:
    finalizers = value_at(new, "spec", "finalizers")
    return {**copied(old), "spec": {"finalizers": finalizers} if finalizers else {}}


PARTIAL_UPDATES: Mapping[str, PartialUpdate] = {
    "status": _update_status,
    "approval": _update_status,
    "ephemeralcontainers": _update_spec_members("ephemeralContainers"),
    "resize": _update_spec_members("containers", "initContainers", "resources"),
    "finalize": _update_finalizers,
}


# --- Scale ------------------------------------------------------------------------------------------------------------


class ScaleHandler:
    """Reads and updates the number of replicas of an object."""

    def __init__(self, objects: ObjectStore, replace: Replace) -> None:
        self._objects = objects
        self._replace = replace

    def __call__(self, request: APIRequest) -> Response:
        objects, schema = self._objects, self._objects.schema
        version = objects.definitions.version(request.resource)
        paths = version.scale if version else None
        options = WriteOptions() if request.verb == "get" else read_write_options(request)
        body = decode_request_body(request, options, _SCALE, schema) if request.verb == "update" else None
        if body:
            _check_names(request, body.tree)
        existing = objects.get(request)
        if body:
            check_uid(body.tree, text_at(decode_stored(existing), "metadata", "uid"), request.resource)
        tree = msgspec.json.decode(objects.encode(existing, request.resource))
        if request.verb == "get":
            return Response(_scale_of(tree, paths))
        if body is None:
            body = apply_request_patch(request, options, _scale_of(tree, paths), schema)
            _check_names(request, body.tree)
        response = self._replace(request, existing, Decoded(_with_scale(tree, body.tree, paths)), options)
        assert isinstance(response.body, bytes)
        return Response(_scale_of(msgspec.json.decode(response.body), paths))


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
    metadata_of(result)["resourceVersion"] = text_at(scale, "metadata", "resourceVersion")
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


# --- Binding ----------------------------------------------------------------------------------------------------------


class BindingHandler:
    """Assigns a pod to a node, once; the binding names the pod if the path does not."""

    def __init__(self, objects: ObjectStore, now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._now = now

    def __call__(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        binding = decode_request_body(request, options, _BINDING, self._objects.schema).tree
        check_namespace(request, binding)
        name = text_at(binding, "metadata", "name")
        if request.name and request.name != name:
            raise BadRequestError("name in URL does not match name in Binding object")
        _check_binding_target(binding)
        stored = self._objects.storage.get("/pods", ObjectKey(request.namespace, name))
        if stored is None:
            raise NotFoundError.of("pods", name)
        pod = decode_stored(stored)
        if problem := _binding_conflict(pod, binding):
            raise ConflictError.of("pods/binding", name, problem)
        _assign(pod, binding, timestamp(self._now()))
        self._objects.update("/pods", stored, pod, dry_run=options.dry_run)
        status: JSONObject = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return Response(status, code=201)


def _check_binding_target(binding: JSONObject) -> None:
    kind, problem = text_at(binding, "target", "kind"), None
    if kind not in ("", "Node"):
        problem = not_supported("target.kind", kind, ("Node", "<empty>"))
    elif not text_at(binding, "target", "name"):
        problem = required("target.name")
    if problem:
        # kube-apiserver responds with an internal error.
        raise APIError(str(problem), status_code=500, reason="")


def _binding_conflict(pod: JSONObject, binding: JSONObject) -> str:
    name, uid = text_at(pod, "metadata", "name"), text_at(pod, "metadata", "uid")
    requested = text_at(binding, "metadata", "uid")
    if requested not in ("", uid):
        return f"Precondition failed: UID in precondition: {requested}, UID in object meta: {uid}"
    if "deletionTimestamp" in metadata_of(pod):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if present := text_at(pod, "spec", "nodeName"):
        return f'pod {name} is already assigned to node "{present}"'
    if value_at(pod, "spec", "schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _assign(pod: JSONObject, binding: JSONObject, now: str) -> None:
    ensure_object(pod, "spec")["nodeName"] = text_at(binding, "target", "name")
    if annotations := object_at(binding, "metadata", "annotations"):
        ensure_object(pod, "metadata", "annotations").update(annotations)
    status = ensure_object(pod, "status")
    others = [each for each in objects_at(status, "conditions") if each.get("type") != "PodScheduled"]
    scheduled: JSONObject = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    status["conditions"] = [*others, scheduled]


# --- Tokens and logs --------------------------------------------------------------------------------------------------


class TokenHandler:
    """Issues tokens for service accounts, which this server accepts."""

    def __init__(self, objects: ObjectStore, identities: Identities, now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._identities = identities
        self._now = now

    def __call__(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        requested = decode_request_body(request, options, _TOKEN_REQUEST, self._objects.schema).tree
        account = decode_stored(self._objects.get(request))
        return Response(issue_token(self._identities, account, requested, self._now()), code=201)


class LogHandler:
    """Responds with an empty log, because no containers run."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def __call__(self, request: APIRequest) -> Response:
        self._objects.get(request)
        return Response(b"", headers={"Content-Type": "text/plain"})
