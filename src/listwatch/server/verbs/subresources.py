"""The subresources: which part of an object each of them can change, and handlers for those that are not updates.

`pipeline` uses both. The handlers receive what they need: the objects, the time, and how to update an object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from listwatch.errors import APIError, BadRequestError, ConflictError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.server.field_errors import not_supported, required
from listwatch.server.json_tree import copied, ensure_object, object_at, objects_at, text_at, value_at
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.object_store import ObjectStore, Target, decode_stored
from listwatch.server.lifecycle.strategy import (
    Environment,
    check_namespace,
    metadata_of,
    prepare_for_status_update,
    prepare_for_update,
    timestamp,
)
from listwatch.server.protocol.write_options import (
    decode_request_body,
    read_write_options,
)
from listwatch.server.requests import APIRequest, Response
from listwatch.server.verbs.admission_plugins import BodyAdmission
from listwatch.server.verbs.connections import ConnectionHandler, Connections, LogHandler
from listwatch.server.verbs.eviction import EvictionHandler
from listwatch.server.verbs.token_requests import TokenHandler, TokenSigner

__all__ = ["PARTIAL_UPDATES", "SubresourceHandler", "subresource_handlers"]

SubresourceHandler = Callable[[APIRequest], Response]
PartialUpdate = Callable[[JSONObject, JSONObject, Target], JSONObject]
"""Returns the old object with the part of the new one that a subresource can change."""


_BINDING = GroupVersionKind("", "v1", "Binding")


def subresource_handlers(
    objects: ObjectStore,
    deleter: Deleter,
    signer: TokenSigner,
    environment: Environment,
    *,
    admission: BodyAdmission,
    scale: SubresourceHandler,
    connections: Connections,
) -> Mapping[str, SubresourceHandler]:
    """Return the handlers by the names of their subresources."""
    return {
        "scale": scale,
        "eviction": EvictionHandler(objects, deleter, admission, environment.now),
        "binding": BindingHandler(objects, admission, environment.now),
        "token": TokenHandler(objects, signer, admission, environment.now, environment.new_uid),
        "log": LogHandler(connections),
        **dict.fromkeys(("exec", "attach", "portforward", "proxy"), ConnectionHandler(connections)),
    }


# --- Updates of a part ------------------------------------------------------------------------------------------------


def _update_status(new: JSONObject, old: JSONObject, target: Target) -> JSONObject:
    return prepare_for_status_update(new, old, target.stored_as, target.traits)


def _update_spec_members(*names: str) -> PartialUpdate:
    def update(new: JSONObject, old: JSONObject, target: Target) -> JSONObject:
        result, spec = copied(old), object_at(new, "spec")
        kept = ensure_object(result, "spec")
        for name in names:
            kept.pop(name, None)
        kept.update({name: spec[name] for name in names if name in spec})
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


# --- Binding ----------------------------------------------------------------------------------------------------------


class BindingHandler:
    """Assigns a pod to a node, once; the binding names the pod if the path does not."""

    def __init__(self, objects: ObjectStore, admission: BodyAdmission, now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._admission = admission
        self._now = now

    def __call__(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        binding = decode_request_body(request, options, _BINDING, self._objects.schema).tree
        check_namespace(request, binding)
        name = text_at(binding, "metadata", "name")
        if request.name and request.name != name:
            raise BadRequestError("name in URL does not match name in Binding object")
        _check_binding_target(binding)
        binding = self._admission.admit_body(request, binding, dry_run=options.dry_run)
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
