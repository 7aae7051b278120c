"""The side doors of objects: status, scale, eviction, binding, and the others that are no plain update.

`verbs` has the main door; each function here is one side door, found by name in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from listwatch.errors import BadRequestError, ConflictError, InvalidError, NotFoundError, TooManyRequestsError
from listwatch.meta import GroupVersionKind, ObjectKey
from listwatch.selectors import LabelSelector
from listwatch.server.causes import invalid
from listwatch.server.requests import Answer, APIRequest
from listwatch.server.reviews import issue_token
from listwatch.server.semantics import carry_over, check_name, check_namespace, keep_all_but_status, timestamp
from listwatch.server.storage import Stored
from listwatch.server.trees import Tree, child, copied
from listwatch.server.verbs import Target, Verbs
from listwatch.server.write_options import WriteOptions, delete_options, read_write_options

__all__ = ["answer_subresource", "bind"]

_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def answer_subresource(verbs: Verbs, request: APIRequest) -> Answer:
    """Do what is asked of an object's subresource; raises the APIError to answer with."""
    door = _DOORS.get(request.subresource)
    if door is None:
        raise NotFoundError("the server could not find the requested resource")
    return door(verbs, request)


# --- Doors through which a part of the object is changed --------------------------------------------------------------


def _part(change: Callable[[Tree, Tree, Target], Tree]) -> Callable[[Verbs, APIRequest], Answer]:
    """A door through which an object goes as a whole, of which `change` lets one part pass."""

    def door(verbs: Verbs, request: APIRequest) -> Answer:
        if request.verb == "get":
            return verbs.get(request)
        options = read_write_options(request)
        existing = verbs.stored(request)
        decoded = _changed(verbs, request, existing, options)
        check_namespace(request, decoded.tree)
        check_name(request, decoded.tree)
        return verbs.replace(request, existing, decoded.tree, options, decoded.warnings, change=change)

    return door


def _changed(verbs: Verbs, request: APIRequest, existing: Stored, options: WriteOptions) -> Any:
    if request.verb == "patch":
        return verbs.read_patch(request, msgspec.json.decode(verbs.sent(existing, request.resource)), options)
    return verbs.read_body(request, options)


def _status(new: Tree, old: Tree, target: Target) -> Tree:
    is_custom = target.traits.has_generation and not target.traits.unconditional_update
    return keep_all_but_status(new, old, target.form, is_custom=is_custom)


def _only_spec(*names: str) -> Callable[[Tree, Tree, Target], Tree]:
    """Lets these parts of the spec pass, and all of it where none is named."""

    def change(new: Tree, old: Tree, target: Target) -> Tree:
        result = copied(old)
        passed = names or tuple(new.get("spec", {}))
        result["spec"] = {**old.get("spec", {}), **{n: new["spec"][n] for n in passed if n in new.get("spec", {})}}
        carry_over(result, old, target.form, target.traits)
        return result

    return change


def _finalize(new: Tree, old: Tree, target: Target) -> Tree:
    result = copied(old)
    finalizers = child(new, "spec", "finalizers")
    result["spec"] = {"finalizers": finalizers} if finalizers else {}
    return result


# --- Scale ------------------------------------------------------------------------------------------------------------


def _scale(verbs: Verbs, request: APIRequest) -> Answer:
    existing = verbs.stored(request)
    tree = msgspec.json.decode(verbs.sent(existing, request.resource))
    shown = _scale_of(tree)
    if request.verb == "get":
        return Answer(shown)
    options = read_write_options(request)
    if request.verb == "patch":
        decoded = verbs.read_patch(request, shown, options)
    else:
        decoded = verbs.read_body(request, options, _SCALE)
    check_namespace(request, decoded.tree)
    check_name(request, decoded.tree)
    replicas = child(decoded.tree, "spec", "replicas") or 0
    if replicas < 0:
        cause = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise InvalidError.of("Scale", request.name, [cause], group="autoscaling")
    changed = copied(tree)
    changed["spec"]["replicas"] = replicas
    changed["metadata"]["resourceVersion"] = decoded.tree["metadata"].get("resourceVersion", "")
    answer = verbs.replace(request, existing, changed, options, decoded.warnings)
    scaled: Any = answer.body
    return Answer(_scale_of(msgspec.json.decode(scaled)), warnings=answer.warnings)


def _scale_of(tree: Tree) -> Tree:
    metadata = tree["metadata"]
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Tree = {"replicas": child(tree, "status", "replicas") or 0}
    selector = child(tree, "spec", "selector")
    if selector:
        is_plain = tree["kind"] == "ReplicationController"
        status["selector"] = str(LabelSelector.from_dict({"matchLabels": selector} if is_plain else selector))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in names if name in metadata},
        "spec": {"replicas": replicas} if (replicas := child(tree, "spec", "replicas")) else {},
        "status": status,
    }


# --- Eviction and binding ---------------------------------------------------------------------------------------------


def _evict(verbs: Verbs, request: APIRequest) -> Answer:
    """Delete a pod if its disruption budget allows it."""
    options = read_write_options(request)
    eviction = verbs.read_body(request, options, GroupVersionKind("policy", "v1", "Eviction")).tree
    if child(eviction, "metadata", "name") != request.name:
        raise BadRequestError("name in URL does not match name in Eviction object")
    existing = verbs.stored(request)
    pod = msgspec.json.decode(existing.value)
    if not _may_always_go(pod):
        _take_from_budget(verbs, request, pod, dry_run=options.dry_run)
    asked = dict(eviction.get("deleteOptions") or {})
    if options.dry_run:
        asked["dryRun"] = ["All"]
    verbs.delete_object(request, existing, delete_options(asked))
    return Answer(_SUCCESS, code=201)


def _may_always_go(pod: Tree) -> bool:
    return child(pod, "status", "phase") in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _take_from_budget(verbs: Verbs, request: APIRequest, pod: Tree, *, dry_run: bool) -> None:
    budgets = [
        (stored, tree)
        for stored in verbs.storage.scan("policy/poddisruptionbudgets", namespace=request.namespace)
        if _covers(tree := msgspec.json.decode(stored.value), pod)
    ]
    if not budgets:
        return
    if len(budgets) > 1:
        raise BadRequestError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    stored, budget = budgets[0]
    allowed = child(budget, "status", "disruptionsAllowed") or 0
    if allowed <= 0:
        raise TooManyRequestsError(
            "Cannot evict pod as it would violate the pod's disruption budget.", retry_after=10.0
        )
    if dry_run:
        return
    status = budget["status"]
    status["disruptionsAllowed"] = allowed - 1
    disrupted = status.setdefault("disruptedPods", {})
    disrupted[request.name] = timestamp(verbs.origin.now())
    verbs.write("policy/poddisruptionbudgets", stored, budget)


def _covers(budget: Tree, pod: Tree) -> bool:
    selector = child(budget, "spec", "selector")
    return selector is not None and LabelSelector.from_dict(selector).matches(pod["metadata"].get("labels") or {})


def bind(verbs: Verbs, request: APIRequest) -> Answer:
    """Put a pod on a node, once."""
    options = read_write_options(request)
    binding = verbs.read_body(request, options, GroupVersionKind("", "v1", "Binding")).tree
    name = request.name or child(binding, "metadata", "name") or ""
    node = child(binding, "target", "name")
    if not node:
        cause = invalid("target.name", "", "must be the name of a node")
        raise InvalidError.of("Binding", name, [cause])
    stored = verbs.storage.get("/pods", ObjectKey(request.namespace, name))
    if stored is None:
        raise NotFoundError.of("pods", name)
    pod = msgspec.json.decode(stored.value)
    if present := child(pod, "spec", "nodeName"):
        raise ConflictError.of("pods/binding", name, f'pod {name} is already assigned to node "{present}"')
    pod["spec"]["nodeName"] = node
    _add_condition(pod, "PodScheduled", timestamp(verbs.origin.now()))
    if not options.dry_run:
        verbs.write("/pods", stored, pod)
    return Answer(_SUCCESS, code=201)


def _add_condition(pod: Tree, kind: str, now: str) -> None:
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    conditions[:] = [each for each in conditions if each.get("type") != kind]
    conditions.append({"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": now})


# --- What no controller can do without, and nothing here does ---------------------------------------------------------


def _token(verbs: Verbs, request: APIRequest) -> Answer:
    """A token for a service account, good for this server."""
    options = read_write_options(request)
    asked = verbs.read_body(request, options, GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")).tree
    account = msgspec.json.decode(verbs.stored(request).value)
    return Answer(issue_token(verbs.identities, account, asked, verbs.origin.now()), code=201)


def _log(verbs: Verbs, request: APIRequest) -> Answer:
    """Nothing runs here, so nothing was said."""
    verbs.stored(request)
    return Answer(b"", headers={"Content-Type": "text/plain"})


_DOORS: dict[str, Callable[[Verbs, APIRequest], Answer]] = {
    "status": _part(_status),
    "scale": _scale,
    "eviction": _evict,
    "binding": bind,
    "ephemeralcontainers": _part(_only_spec("ephemeralContainers")),
    "resize": _part(_only_spec("containers", "initContainers", "resources")),
    "approval": _part(_status),
    "finalize": _part(_finalize),
    "token": _token,
    "log": _log,
}
