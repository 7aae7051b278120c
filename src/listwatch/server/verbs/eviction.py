"""Evicts pods: deletes a pod if its disruption budget allows that now."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from listwatch.errors import APIError, BadRequestError, ForbiddenError, StatusCause, StatusDetails, TooManyRequestsError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import ensure_object, integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import metadata_of, timestamp
from listwatch.server.protocol.write_options import decode_request_body, delete_options, read_write_options
from listwatch.server.requests import APIRequest, Response
from listwatch.server.storage.values import Stored
from listwatch.server.verbs.admission_plugins import BodyAdmission

__all__ = ["EvictionHandler"]

_EVICTION = GroupVersionKind("policy", "v1", "Eviction")
_BUDGETS = "policy/poddisruptionbudgets"
_TOO_MANY = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_MAX_UNCONFIRMED = 2000
_RETRY_AFTER = 10
_CONDITION: JSONObject = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


class EvictionHandler:
    """Handles the eviction subresource of pods."""

    def __init__(
        self, objects: ObjectStore, deleter: Deleter, admission: BodyAdmission, now: Callable[[], datetime]
    ) -> None:
        self._objects = objects
        self._deleter = deleter
        self._admission = admission
        self._now = now

    def __call__(self, request: APIRequest) -> Response:
        options = read_write_options(request)
        eviction = decode_request_body(request, options, _EVICTION, self._objects.schema).tree
        if text_at(eviction, "metadata", "name") != request.name:
            raise BadRequestError("name in URL does not match name in Eviction object")
        # Admission sees the Eviction, and no deletion. Nothing is written before that: it may start again.
        eviction = self._admission.admit_body(request, eviction, dry_run=options.dry_run)
        existing = self._objects.get(request)
        requested = delete_options(object_at(eviction, "deleteOptions"), dry_run=options.dry_run)
        pod = decode_stored(existing)
        if not _needs_no_budget(pod):
            self._take_from_budget(request, pod, dry_run=requested.dry_run)
        preconditions_hold = (
            requested.uid in (None, text_at(pod, "metadata", "uid")) and requested.resource_version is None
        )
        if preconditions_hold and not requested.dry_run:
            existing = self._add_condition(existing, pod)
        self._deleter.delete(request, existing, requested, is_admitted=True)
        status: JSONObject = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return Response(status, code=201)

    def _add_condition(self, existing: Stored, pod: JSONObject) -> Stored:
        status = ensure_object(pod, "status")
        others = [each for each in objects_at(status, "conditions") if each["type"] != _CONDITION["type"]]
        condition: JSONObject = {**_CONDITION, "lastProbeTime": None, "lastTransitionTime": timestamp(self._now())}
        status["conditions"] = [*others, condition]
        return self._objects.update("/pods", existing, pod)

    def _take_from_budget(self, request: APIRequest, pod: JSONObject, *, dry_run: bool) -> None:
        scanned = self._objects.storage.scan(_BUDGETS, namespace=request.namespace)
        covering = [(stored, budget) for stored in scanned if _covers(budget := decode_stored(stored), pod)]
        if not covering:
            return
        if len(covering) > 1:
            raise APIError(_SEVERAL_BUDGETS, status_code=500, reason="")
        [(stored, budget)] = covering
        if _is_unready_and_dispensable(pod, budget):
            return
        _check_allowed(budget)
        if not dry_run:
            status = ensure_object(budget, "status")
            status["disruptionsAllowed"] = integer_at(status, "disruptionsAllowed") - 1
            ensure_object(status, "disruptedPods")[request.name] = timestamp(self._now())
            self._objects.update(_BUDGETS, stored, budget)


def _needs_no_budget(pod: JSONObject) -> bool:
    phase = text_at(pod, "status", "phase")
    return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in metadata_of(pod)


def _covers(budget: JSONObject, pod: JSONObject) -> bool:
    selector, labels = value_at(budget, "spec", "selector"), object_at(pod, "metadata", "labels")
    return isinstance(selector, dict) and LabelSelector.from_dict(selector).matches(
        {name: str(value) for name, value in labels.items()}
    )


def _is_unready_and_dispensable(pod: JSONObject, budget: JSONObject) -> bool:
    """A pod that is not ready does not count, and can be evicted if enough other pods are healthy."""
    if any(each["type"] == "Ready" and each["status"] == "True" for each in objects_at(pod, "status", "conditions")):
        return False
    if text_at(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    healthy, desired = (integer_at(budget, "status", name) for name in ("currentHealthy", "desiredHealthy"))
    return healthy >= desired > 0


def _check_allowed(budget: JSONObject) -> None:
    name, allowed = text_at(budget, "metadata", "name"), integer_at(budget, "status", "disruptionsAllowed")
    if integer_at(budget, "status", "observedGeneration") < integer_at(budget, "metadata", "generation"):
        raise _too_many(f"The disruption budget {name} is still being processed by the server.", _RETRY_AFTER)
    if allowed < 0:
        raise ForbiddenError.of("poddisruptionbudget", name, "pdb disruptions allowed is negative", group="policy")
    if len(object_at(budget, "status", "disruptedPods")) > _MAX_UNCONFIRMED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ForbiddenError.of("poddisruptionbudget", name, why, group="policy")
    if not allowed:
        raise _too_many(_why_not_allowed(name, budget))


def _why_not_allowed(name: str, budget: JSONObject) -> str:
    desired, healthy = (integer_at(budget, "status", name) for name in ("desiredHealthy", "currentHealthy"))
    if healthy <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _too_many(why: str, retry_after: int = 0) -> TooManyRequestsError:
    details = StatusDetails(causes=(StatusCause("DisruptionBudget", why),), retry_after_seconds=retry_after)
    return TooManyRequestsError(_TOO_MANY, details=details)
