"""The side doors of objects: status, scale, binding, and the others that are no plain update.

`verbs` has the main door; each function here is one side door, found by name in the table at the end. `eviction` has
one of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from listwatch.errors import (
    APIError,
    BadRequestError,
    ConflictError,
    InternalServerError,
    InvalidError,
    NotFoundError,
    StatusDetails,
)
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.selectors import LabelSelector
from listwatch.server.codec.decoding import Decoded
from listwatch.server.crd.definitions import ScalePaths
from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import Tree, child, children, copied, text_at
from listwatch.server.lifecycle.semantics import (
    carry_over,
    check_identity,
    check_name,
    check_namespace,
    keep_all_but_status,
    timestamp,
)
from listwatch.server.lifecycle.stored_objects import decoded
from listwatch.server.protocol.write_options import WriteOptions, read_write_options
from listwatch.server.requests import APIRequest, Response
from listwatch.server.storage.storage import Stored
from listwatch.server.verbs.applying import apply, is_apply
from listwatch.server.verbs.eviction import evict
from listwatch.server.verbs.reviews import issue_token

if TYPE_CHECKING:
    from listwatch.server.verbs.verbs import Change, Target, Verbs

__all__ = ["answer_subresource", "bind"]

Door = Callable[["Verbs", APIRequest], Response]

_BINDING = GroupVersionKind("", "v1", "Binding")
_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_TOKEN_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")


def answer_subresource(verbs: Verbs, request: APIRequest) -> Response:
    """Do what is asked of an object's subresource; raises the APIError to answer with."""
    door = _DOORS.get(request.subresource)
    if door is None:
        raise NotFoundError("the server could not find the requested resource", details=StatusDetails())
    return door(verbs, request)


# --- Doors through which a part of the object is changed --------------------------------------------------------------


def _part(change: Change) -> Door:
    """A door through which an object goes as a whole, of which `change` lets one part pass."""

    def door(verbs: Verbs, request: APIRequest) -> Response:
        if request.verb == "get":
            return verbs.get(request)
        options = read_write_options(request)
        if is_apply(request):
            return apply(verbs, request, options, change=change)
        existing, body = _changed(verbs, request, options)
        return verbs.replace(request, existing, body, options, change=change)

    return door


def _changed(verbs: Verbs, request: APIRequest, options: WriteOptions) -> tuple[Stored, Decoded]:
    """What is there and what it shall be; a body is read before anybody looks for the object."""
    if request.verb == "patch":
        existing = verbs.stored(request)
        body = verbs.read_patch(request, msgspec.json.decode(verbs.sent(existing, request.resource)), options)
        _check_names(request, body.tree)
        return existing, body
    body = verbs.read_body(request, options)
    _check_names(request, body.tree)
    existing = verbs.stored(request)
    check_identity(body.tree, decoded(existing)["metadata"]["uid"], request.resource)
    return existing, body


def _check_names(request: APIRequest, tree: Tree) -> None:
    check_namespace(request, tree)
    check_name(request, tree)


def _status(new: Tree, old: Tree, target: Target) -> Tree:
    return keep_all_but_status(new, old, target.form, target.traits)


def _only_spec(*names: str) -> Change:
    """Lets these parts of the spec pass."""

    def change(new: Tree, old: Tree, target: Target) -> Tree:
        result, spec = copied(old), new.get("spec", {})
        result["spec"].update({name: spec[name] for name in names if name in spec})
        carry_over(result, old, target.form, target.traits)
        return result

    return change


def _finalize(new: Tree, old: Tree, _target: Target) -> Tree:
    finalizers = child(new, "spec", "finalizers")
    return {**copied(old), "spec": {"finalizers": finalizers} if finalizers else {}}


# --- Scale ------------------------------------------------------------------------------------------------------------


def _scale(verbs: Verbs, request: APIRequest) -> Response:
    version = verbs.definitions.version(request.resource)
    paths = version.scale if version else None
    options = WriteOptions() if request.verb == "get" else read_write_options(request)
    sent = verbs.read_body(request, options, _SCALE) if request.verb == "update" else None
    if sent:
        _check_names(request, sent.tree)
    existing = verbs.stored(request)
    if sent:
        check_identity(sent.tree, decoded(existing)["metadata"]["uid"], request.resource)
    tree = msgspec.json.decode(verbs.sent(existing, request.resource))
    if request.verb == "get":
        return Response(_scale_of(tree, paths))
    body = sent or verbs.read_patch(request, _scale_of(tree, paths), options)
    _check_names(request, body.tree)
    scaled = Decoded(_scaled(tree, body.tree, paths))
    answer = verbs.replace(request, existing, scaled, options)
    assert isinstance(answer.body, bytes)
    return Response(_scale_of(msgspec.json.decode(answer.body), paths))


def _scaled(tree: Tree, scale: Tree, paths: ScalePaths | None) -> Tree:
    """The object as its scale says; the version of the scale is that of the object."""
    replicas, name = child(scale, "spec", "replicas") or 0, tree["metadata"]["name"]
    if replicas < 0:
        cause = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise InvalidError.of("Scale", name, [cause], group="autoscaling")
    version = scale["metadata"].get("resourceVersion", "")
    result = copied(tree)
    result["metadata"]["resourceVersion"] = version
    *way, last = paths.spec_replicas if paths else ("spec", "replicas")
    place = result
    for each in way:
        place = place.setdefault(each, {})
    place[last] = replicas
    return result


def _scale_of(tree: Tree, paths: ScalePaths | None) -> Tree:
    metadata = tree["metadata"]
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    if paths and child(tree, *paths.spec_replicas) is None:
        path = "".join(f".{name}" for name in paths.spec_replicas)
        raise InternalServerError(f'Internal error occurred: the spec replicas field "{path}" does not exist')
    replicas = child(tree, *(paths.spec_replicas if paths else ("spec", "replicas")))
    status: Tree = {"replicas": child(tree, *(paths.status_replicas if paths else ("status", "replicas"))) or 0}
    if selector := _selector_of(tree, paths):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in names if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector_of(tree: Tree, paths: ScalePaths | None) -> str:
    if paths:
        return child(tree, *paths.selector) or "" if paths.selector else ""
    selector = child(tree, "spec", "selector")
    if not selector:
        return ""
    is_plain = tree["kind"] == "ReplicationController"
    return str(LabelSelector.from_dict({"matchLabels": selector} if is_plain else selector))


# --- Binding ----------------------------------------------------------------------------------------------------------


def bind(verbs: Verbs, request: APIRequest) -> Response:
    """Put a pod on a node, once; the binding names the pod where the path does not."""
    options = read_write_options(request)
    binding = verbs.read_body(request, options, _BINDING).tree
    check_namespace(request, binding)
    name = text_at(binding, "metadata", "name")
    if request.name and request.name != name:
        raise BadRequestError("name in URL does not match name in Binding object")
    _check_target(binding)
    stored = verbs.storage.get("/pods", ObjectKey(request.namespace, name))
    if stored is None:
        raise NotFoundError.of("pods", name)
    pod = decoded(stored)
    if problem := _why_not_bound(pod, binding):
        raise ConflictError.of("pods/binding", name, problem)
    _put_on_node(pod, binding, timestamp(verbs.origin.now()))
    verbs.objects.update("/pods", stored, pod, dry_run=options.dry_run)
    return Response({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, code=201)


def _check_target(binding: Tree) -> None:
    target, problem = binding.get("target", {}), None
    if target.get("kind", "") not in ("", "Node"):
        problem = not_supported("target.kind", target["kind"], ("Node", "<empty>"))
    elif not target.get("name"):
        problem = required("target.name")
    if problem:
        # The real server takes it for a mistake of its own.
        raise APIError(str(problem), status_code=500, reason="")


def _why_not_bound(pod: Tree, binding: Tree) -> str:
    metadata, asked = pod["metadata"], binding["metadata"].get("uid") or ""
    if asked not in ("", metadata["uid"]):
        return f"Precondition failed: UID in precondition: {asked}, UID in object meta: {metadata['uid']}"
    if "deletionTimestamp" in metadata:
        return f"pod {metadata['name']} is being deleted, cannot be assigned to a host"
    if present := child(pod, "spec", "nodeName"):
        return f'pod {metadata["name"]} is already assigned to node "{present}"'
    if child(pod, "spec", "schedulingGates"):
        return f"pod {metadata['name']} has non-empty .spec.schedulingGates"
    return ""


def _put_on_node(pod: Tree, binding: Tree, now: str) -> None:
    pod["spec"]["nodeName"] = binding["target"]["name"]
    if annotations := binding["metadata"].get("annotations"):
        pod["metadata"]["annotations"] = {**pod["metadata"].get("annotations", {}), **annotations}
    status = pod.setdefault("status", {})
    others = [each for each in children(status, "conditions") if each.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    status["conditions"] = [*others, scheduled]


# --- What no controller can do without, and nothing here does ---------------------------------------------------------


def _token(verbs: Verbs, request: APIRequest) -> Response:
    """A token for a service account, good for this server."""
    options = read_write_options(request)
    asked = verbs.read_body(request, options, _TOKEN_REQUEST).tree
    account = decoded(verbs.stored(request))
    return Response(issue_token(verbs.identities, account, asked, verbs.origin.now()), code=201)


def _log(verbs: Verbs, request: APIRequest) -> Response:
    """Nothing runs here, so nothing was said."""
    verbs.stored(request)
    return Response(b"", headers={"Content-Type": "text/plain"})


_DOORS: dict[str, Door] = {
    "status": _part(_status),
    "scale": _scale,
    "eviction": evict,
    "binding": bind,
    "ephemeralcontainers": _part(_only_spec("ephemeralContainers")),
    "resize": _part(_only_spec("containers", "initContainers", "resources")),
    "approval": _part(_status),
    "finalize": _part(_finalize),
    "token": _token,
    "log": _log,
}
