"""The rules for what is reported of an object, which come into play where the status has a door of its own."""

from __future__ import annotations

from listwatch.server.field_errors import duplicate, invalid, not_supported, required, too_long
from listwatch.server.json_tree import Tree, children
from listwatch.server.rules.checks import Causes, Check, all_of, at, at_least, condition_reason, qualified_name

__all__ = ["DEPLOYMENT", "DISRUPTION_BUDGET", "JOB", "REPLICA_SET", "STATEFUL_SET"]

_OUTCOMES = ("False", "True", "Unknown")
_MAX_REASON = 1024
_MAX_MESSAGE = 32 * 1024


def _counts(*names: str) -> Check:
    return all_of(*(at(name, at_least(0)) for name in names))


def _among_replicas(*names: str, ready: str) -> Check:
    """No more replicas of one sort than there are at all, and none is available but who is `ready`."""

    def check(status: Tree, path: str) -> Causes:
        for name in names:
            if status.get(name, 0) > status.get("replicas", 0):
                yield invalid(f"{path}.{name}", status.get(name, 0), "cannot be greater than status.replicas")
        if (available := status.get("availableReplicas", 0)) > status.get("readyReplicas", 0):
            yield invalid(f"{path}.availableReplicas", available, f"cannot be greater than {ready}")

    return check


def _conditions(status: Tree, path: str) -> Causes:
    seen: set[str] = set()
    for index, condition in enumerate(children(status, "conditions")):
        where, type_ = f"{path}.conditions[{index}]", condition.get("type", "")
        if type_ in seen:
            yield duplicate(f"{where}.type", type_)
        seen.add(type_)
        yield from (invalid(f"{where}.type", type_, said) for said in qualified_name(type_))
        yield from _condition(condition, where)


def _condition(condition: Tree, where: str) -> Causes:
    if condition.get("status") not in _OUTCOMES:
        yield not_supported(f"{where}.status", condition.get("status", ""), _OUTCOMES)
    if (generation := condition.get("observedGeneration", 0)) < 0:
        yield invalid(f"{where}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield required(f"{where}.lastTransitionTime")
    if reason := condition.get("reason"):
        yield from (invalid(f"{where}.reason", reason, said) for said in condition_reason(reason))
        if len(reason.encode()) > _MAX_REASON:
            yield too_long(f"{where}.reason", _MAX_REASON)
    else:
        yield required(f"{where}.reason")
    if len(condition.get("message", "").encode()) > _MAX_MESSAGE:
        yield too_long(f"{where}.message", _MAX_MESSAGE)


DEPLOYMENT = at(
    "status",
    _counts("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    _counts("unavailableReplicas", "terminatingReplicas", "collisionCount"),
    _among_replicas("updatedReplicas", "readyReplicas", "availableReplicas", ready="readyReplicas"),
)
STATEFUL_SET = at(
    "status",
    _counts("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    _counts("observedGeneration", "collisionCount"),
    _among_replicas(
        *("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"), ready="status.readyReplicas"
    ),
)
REPLICA_SET = at(
    "status",
    _counts("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"),
    _counts("terminatingReplicas"),
    _among_replicas("fullyLabeledReplicas", "readyReplicas", "availableReplicas", ready="readyReplicas"),
)
JOB = at("status", _counts("active", "succeeded", "failed", "ready", "terminating"))
DISRUPTION_BUDGET = at(
    "status", _conditions, _counts("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
)
