"""Evicts pods: deletes one if the disruption budget that covers it allows that now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.errors import APIError, BadRequestError, ForbiddenError, StatusCause, StatusDetails, TooManyRequestsError
from listwatch.meta import GroupVersionKind
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import Tree, child, children
from listwatch.server.lifecycle.semantics import timestamp
from listwatch.server.lifecycle.stored_objects import decoded
from listwatch.server.protocol.write_options import delete_options, read_write_options
from listwatch.server.requests import APIRequest, Response
from listwatch.server.storage.storage import Stored
from listwatch.server.verbs.deleting import delete_object

if TYPE_CHECKING:
    from listwatch.server.verbs.verbs import Verbs

__all__ = ["evict"]

_EVICTION = GroupVersionKind("policy", "v1", "Eviction")
_BUDGETS = "policy/poddisruptionbudgets"
_REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_MAX_UNCONFIRMED = 2000
_WORTH_WAITING = 10
_CONDITION = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


def evict(verbs: Verbs, request: APIRequest) -> Response:
    options = read_write_options(request)
    eviction = verbs.read_body(request, options, _EVICTION).tree
    if child(eviction, "metadata", "name") != request.name:
        raise BadRequestError("name in URL does not match name in Eviction object")
    existing = verbs.stored(request)
    asked = delete_options(eviction.get("deleteOptions") or {}, dry_run=options.dry_run)
    pod = decoded(existing)
    if not _may_always_go(pod):
        _take_from_budget(verbs, request, pod, dry_run=asked.dry_run)
    if not asked.dry_run and asked.uid in (None, pod["metadata"]["uid"]) and asked.resource_version is None:
        existing = _say_why(verbs, existing, pod)
    delete_object(verbs, request, existing, asked)
    return Response({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, code=201)


def _may_always_go(pod: Tree) -> bool:
    return child(pod, "status", "phase") in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]


def _say_why(verbs: Verbs, existing: Stored, pod: Tree) -> Stored:
    status = pod.setdefault("status", {})
    others = [each for each in children(status, "conditions") if each["type"] != _CONDITION["type"]]
    now = timestamp(verbs.origin.now())
    status["conditions"] = [*others, {**_CONDITION, "lastProbeTime": None, "lastTransitionTime": now}]
    return verbs.objects.update("/pods", existing, pod)


# --- Budgets ----------------------------------------------------------------------------------------------------------


def _take_from_budget(verbs: Verbs, request: APIRequest, pod: Tree, *, dry_run: bool) -> None:
    present = [(stored, decoded(stored)) for stored in verbs.storage.scan(_BUDGETS, namespace=request.namespace)]
    covering = [(stored, budget) for stored, budget in present if _covers(budget, pod)]
    if not covering:
        return
    if len(covering) > 1:
        raise APIError(_SEVERAL, status_code=500, reason="")
    [(stored, budget)] = covering
    if _is_unready_and_not_missed(pod, budget):
        return
    _check_allowed(budget)
    if not dry_run:
        status = budget["status"]
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[request.name] = timestamp(verbs.origin.now())
        verbs.objects.update(_BUDGETS, stored, budget)


def _covers(budget: Tree, pod: Tree) -> bool:
    selector = child(budget, "spec", "selector")
    return selector is not None and LabelSelector.from_dict(selector).matches(pod["metadata"].get("labels") or {})


def _is_unready_and_not_missed(pod: Tree, budget: Tree) -> bool:
    """A pod that is not ready does not count, and can go where enough others are."""
    if any(each["type"] == "Ready" and each["status"] == "True" for each in children(pod, "status", "conditions")):
        return False
    if child(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _check_allowed(budget: Tree) -> None:
    metadata, status = budget["metadata"], budget.get("status", {})
    name, allowed = metadata["name"], status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        raise _refusal(f"The disruption budget {name} is still being processed by the server.", _WORTH_WAITING)
    if allowed < 0:
        raise ForbiddenError.of("poddisruptionbudget", name, "pdb disruptions allowed is negative", group="policy")
    if len(status.get("disruptedPods", ())) > _MAX_UNCONFIRMED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ForbiddenError.of("poddisruptionbudget", name, why, group="policy")
    if not allowed:
        raise _refusal(_why_none_is_allowed(name, status))


def _why_none_is_allowed(name: str, status: Tree) -> str:
    wanted, present = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if present <= wanted:
        return f"The disruption budget {name} needs {wanted} healthy pods and has {present} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _refusal(why: str, retry_after: int = 0) -> TooManyRequestsError:
    details = StatusDetails(causes=(StatusCause("DisruptionBudget", why),), retry_after_seconds=retry_after)
    return TooManyRequestsError(_REFUSAL, details=details)
