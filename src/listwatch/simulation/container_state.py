"""The statuses of simulated containers: waiting, running, terminated."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.core_v1 import Container, ContainerStatus, EphemeralContainer, Pod

__all__ = ["backing_off", "has_ended", "is_running", "restarts", "running", "terminated", "timestamp", "waiting"]


def timestamp(at: datetime) -> str:
    """A time as the API writes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_running(status: ContainerStatus) -> bool:
    return status.state.running is not None


def has_ended(status: ContainerStatus) -> bool:
    """Whether the container has exited, and is not to be restarted."""
    return status.state.terminated is not None


def restarts(pod: Pod, container: Container, code: int) -> bool:
    """Whether a container that exits with this code is restarted."""
    policy = container.restart_policy or pod.spec.restart_policy or "Always"
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def waiting(container: Container, reason: str, message: str = "") -> JSONObject:
    """A container that was never started."""
    state: JSONObject = {"reason": reason, **({"message": message} if message else {})}
    return {
        "name": container.name,
        "image": container.image or "",
        "imageID": "",
        "state": {"waiting": state},
        "lastState": {},
        "ready": False,
        "started": False,
        "restartCount": 0,
    }


def running(
    pod: Pod, container: Container | EphemeralContainer, now: datetime, old: ContainerStatus | None = None
) -> JSONObject:
    """A container that runs now; `old` is its status if it is restarted."""
    count = old.restart_count + 1 if old else 0
    return {
        **_identity(pod, container, count),
        "state": {"running": {"startedAt": timestamp(now)}},
        "lastState": old.last_state.to_dict() if old else {},
        "ready": True,
        "started": True,
        "restartCount": count,
    }


def terminated(pod: Pod, container: Container, now: datetime, code: int, old: ContainerStatus | None) -> JSONObject:
    """A container that has exited now and is not restarted; `old` is its status before, if it had one."""
    known: JSONObject = old.to_dict() if old else waiting(container, "")
    if old is None or old.state.running is None:  # started and exited
        known |= _identity(pod, container, old.restart_count if old else 0)
    state = _exit(old, str(known["containerID"]), now, code)
    return {**known, "state": state, "ready": False, "started": False}


def backing_off(
    pod: Pod, container: Container, now: datetime, code: int, old: ContainerStatus, delay: float
) -> JSONObject:
    """A container that has exited now, and will be restarted after a delay."""
    known = old.to_dict()
    if old.state.running is None:
        known |= _identity(pod, container, old.restart_count)
    message = (
        f"back-off {delay:.0f}s restarting failed container={container.name} pod={pod.name}_{pod.namespace}({pod.uid})"
    )
    state: JSON = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    last = _exit(old, str(known["containerID"]), now, code)
    return {**known, "state": state, "lastState": last, "ready": False, "started": False}


def _exit(old: ContainerStatus | None, container_id: str, now: datetime, code: int) -> JSONObject:
    before = old.state.running if old else None
    started = before.started_at if before and before.started_at else now
    return {
        "terminated": {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": timestamp(started),
            "finishedAt": timestamp(now),
            "containerID": container_id,
        }
    }


def _identity(pod: Pod, container: Container | EphemeralContainer, count: int) -> JSONObject:
    image = container.image or ""
    digest = hashlib.sha256(image.encode()).hexdigest()
    own = hashlib.sha256(f"{pod.uid}/{container.name}/{count}".encode()).hexdigest()
    return {
        "name": container.name,
        "image": image,
        "imageID": f"{image.partition('@')[0].rpartition(':')[0] or image}@sha256:{digest}",
        "containerID": f"containerd://{own}",
    }
