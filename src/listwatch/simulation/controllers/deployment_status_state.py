"""The status of a Deployment: pure, over the statuses of its ReplicaSets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto

from listwatch.json_value import JSON, JSONObject
from listwatch.models.apps_v1 import Deployment, ReplicaSet
from listwatch.simulation.pod_state import timestamp

__all__ = ["Progress", "next_status", "seconds_to_deadline"]

_NO_DEADLINE = 2**31 - 1
_ALWAYS = ("terminatingReplicas",)


class Progress(Enum):
    """What a reconcile did to the new ReplicaSet."""

    NONE = auto()
    CREATED = auto()
    FOUND = auto()


def next_status(
    deployment: Deployment,
    new: ReplicaSet | None,
    sets: Sequence[ReplicaSet],
    now: datetime,
    *,
    progress: Progress,
    minimum: int,
    estimate: bool,
) -> JSONObject:
    """The status that follows from the ReplicaSets; with `estimate`, also whether the rollout progresses."""
    available = sum(each.status.available_replicas or 0 for each in sets)
    specified = sum(1 if each.spec.replicas is None else each.spec.replicas for each in sets)
    status: JSONObject = {
        "observedGeneration": deployment.metadata.generation,
        "replicas": sum(each.status.replicas or 0 for each in sets),
        "updatedReplicas": (new.status.replicas or 0) if new else 0,
        "readyReplicas": sum(each.status.ready_replicas or 0 for each in sets),
        "availableReplicas": available,
        "unavailableReplicas": max(0, specified - available),
        "terminatingReplicas": sum(each.status.terminating_replicas or 0 for each in sets),
        "collisionCount": deployment.status.collision_count,
    }
    status = {name: value for name, value in status.items() if value or name in _ALWAYS}
    conditions = _Conditions(deployment, now)
    if available >= minimum:
        conditions.set("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        text = "Deployment does not have minimum availability."
        conditions.set("Available", "False", "MinimumReplicasUnavailable", text)
    if not _has_deadline(deployment):
        conditions.remove("Progressing")
    else:
        _set_pause(deployment, conditions)
        if new is not None and progress is Progress.CREATED:
            conditions.set("Progressing", "True", "NewReplicaSetCreated", f'Created new replica set "{new.name}"')
        elif new is not None and progress is Progress.FOUND:
            conditions.set("Progressing", "True", "FoundNewReplicaSet", f'Found new replica set "{new.name}"')
        elif estimate:
            _estimate(deployment, new, status, conditions, now)
    if estimate:
        _copy_failure(new, sets, conditions)
    status["conditions"] = conditions.listed
    return status


def seconds_to_deadline(deployment: Deployment, status: JSONObject, now: datetime) -> float | None:
    """The seconds until the rollout fails for lack of progress; None if it cannot fail."""
    if not _has_deadline(deployment) or _is_complete(deployment, status):
        return None
    conditions = status.get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each["type"] == "Progressing" and each["reason"] != "ProgressDeadlineExceeded":
            updated = datetime.fromisoformat(str(each["lastUpdateTime"]))
            return max(1.0, (deployment.spec.progress_deadline_seconds or 0) - (now - updated).total_seconds() + 1.0)
    return None


def _set_pause(deployment: Deployment, conditions: _Conditions) -> None:
    reason = conditions.reason("Progressing")
    if reason == "ProgressDeadlineExceeded":
        return
    if deployment.spec.paused and reason != "DeploymentPaused":
        conditions.set("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    elif not deployment.spec.paused and reason == "DeploymentPaused":
        conditions.set("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")


def _estimate(
    deployment: Deployment, new: ReplicaSet | None, status: JSONObject, conditions: _Conditions, now: datetime
) -> None:
    subject = f'ReplicaSet "{new.name}"' if new is not None else f'Deployment "{deployment.name}"'
    if status.get("replicas") == status.get("updatedReplicas") and (
        conditions.reason("Progressing") == "NewReplicaSetAvailable"
    ):
        return
    if _is_complete(deployment, status):
        conditions.set("Progressing", "True", "NewReplicaSetAvailable", f"{subject} has successfully progressed.")
    elif _has_progressed(deployment, status):
        conditions.renew("Progressing", "True", "ReplicaSetUpdated", f"{subject} is progressing.")
    elif _has_timed_out(deployment, conditions, now):
        text = f"{subject} has timed out progressing."
        conditions.set("Progressing", "False", "ProgressDeadlineExceeded", text)


def _is_complete(deployment: Deployment, status: JSONObject) -> bool:
    desired = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    counts = [status.get(name, 0) for name in ("updatedReplicas", "replicas", "availableReplicas")]
    return counts == [desired] * 3 and status.get("observedGeneration", 0) == deployment.metadata.generation


def _has_progressed(deployment: Deployment, status: JSONObject) -> bool:
    old = deployment.status
    new = {name: _number(status.get(name)) for name in ("replicas", "updatedReplicas", "readyReplicas")}
    return (
        new["updatedReplicas"] > (old.updated_replicas or 0)
        or new["replicas"] - new["updatedReplicas"] < (old.replicas or 0) - (old.updated_replicas or 0)
        or new["readyReplicas"] > (old.ready_replicas or 0)
        or _number(status.get("availableReplicas")) > (old.available_replicas or 0)
    )


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0


def _has_timed_out(deployment: Deployment, conditions: _Conditions, now: datetime) -> bool:
    reason = conditions.reason("Progressing")
    if reason in ("", "NewReplicaSetAvailable"):
        return False
    updated = conditions.updated("Progressing")
    limit = deployment.spec.progress_deadline_seconds or 0
    return reason == "ProgressDeadlineExceeded" or (updated is not None and (now - updated).total_seconds() > limit)


def _has_deadline(deployment: Deployment) -> bool:
    deadline = deployment.spec.progress_deadline_seconds
    return deadline is not None and deadline != _NO_DEADLINE


def _copy_failure(new: ReplicaSet | None, sets: Sequence[ReplicaSet], conditions: _Conditions) -> None:
    for each in [*([] if new is None else [new]), *sets]:
        for failure in each.status.conditions:
            if failure.type == "ReplicaFailure":
                conditions.set("ReplicaFailure", failure.status, failure.reason or "", failure.message or "")
                return
    conditions.remove("ReplicaFailure")


class _Conditions:
    """The conditions of a Deployment. One whose status and reason stay the same is not changed."""

    def __init__(self, deployment: Deployment, now: datetime) -> None:
        self.listed: list[JSON] = [each.to_dict() for each in deployment.status.conditions]
        self._now = timestamp(now)

    def _find(self, type: str) -> JSONObject:
        return next((each for each in self.listed if isinstance(each, dict) and each["type"] == type), {})

    def reason(self, type: str) -> str:
        return str(self._find(type).get("reason", ""))

    def updated(self, type: str) -> datetime | None:
        text = self._find(type).get("lastUpdateTime")
        return datetime.fromisoformat(text) if isinstance(text, str) else None

    def set(self, type: str, status: str, reason: str, message: str) -> None:
        known = self._find(type)
        if (known.get("status"), known.get("reason")) != (status, reason):
            self.renew(type, status, reason, message)

    def renew(self, type: str, status: str, reason: str, message: str) -> None:
        known = self._find(type)
        since = known.get("lastTransitionTime") if known.get("status") == status else self._now
        self.remove(type)
        self.listed.append(
            {
                "type": type,
                "status": status,
                "lastUpdateTime": self._now,
                "lastTransitionTime": since,
                "reason": reason,
                "message": message,
            }
        )

    def remove(self, type: str) -> None:
        self.listed = [each for each in self.listed if not (isinstance(each, dict) and each["type"] == type)]
