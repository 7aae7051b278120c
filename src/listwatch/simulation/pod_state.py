"""The statuses of simulated pods: in which state one is, and the status after a transition."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.core_v1 import Container, ContainerStatus, Pod
from listwatch.simulation.stages import PodTransition, State

__all__ = [
    "Placement",
    "is_available",
    "is_finished",
    "is_ready",
    "restart_delay",
    "state_of",
    "status_after",
    "timestamp",
]

_CREATING = "ContainerCreating"
_INITIALIZING = "PodInitializing"
_MAX_BACKOFF = 300.0
_FIRST_BACKOFF = 10.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and when a transition takes place."""

    now: datetime
    host_ip: str
    pod_ip: str
    node: str


def timestamp(at: datetime) -> str:
    """A time as the API writes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- reading ----------------------------------------------------------------------------------------------------------


def state_of(pod: Pod) -> State:
    """The state of a pod that is bound to a node."""
    status = pod.status
    if pod.metadata.deletion_timestamp is not None:
        return "terminating"
    if status.phase == "Succeeded":
        return "succeeded"
    if status.phase == "Failed":
        return "failed"
    if not status.container_statuses:
        return "scheduled"
    if pod.spec.init_containers and _condition(pod, "Initialized") != "True":
        return "initializing"
    if status.phase == "Pending":
        return "waiting"
    if any(each.state.running is None for each in status.container_statuses):
        return "crashed"
    return "ready" if _condition(pod, "Ready") == "True" else "running"


def is_ready(pod: Pod) -> bool:
    """Whether the condition Ready is true."""
    return _condition(pod, "Ready") == "True"


def is_finished(pod: Pod) -> bool:
    """Whether all containers have ended for good."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_available(pod: Pod, min_ready_seconds: int, now: datetime) -> float | None:
    """0.0 if the pod has been ready for so long, else the seconds until then; None if it is not ready."""
    for each in pod.status.conditions:
        if each.type == "Ready" and each.status == "True":
            if not min_ready_seconds or each.last_transition_time is None:
                return 0.0
            return max(0.0, min_ready_seconds - (now - each.last_transition_time).total_seconds())
    return None


def restart_delay(pod: Pod) -> float:
    """The seconds after which the containers of a crashed pod are restarted: 10, 20, 40, 300 at most."""
    restarts = max((each.restart_count for each in pod.status.container_statuses), default=0)
    return float(min(_FIRST_BACKOFF * 2 ** min(restarts, 6), _MAX_BACKOFF))


def _condition(pod: Pod, type: str) -> str:
    return next((each.status for each in pod.status.conditions if each.type == type), "")


# --- transitions ------------------------------------------------------------------------------------------------------


def status_after(pod: Pod, transition: PodTransition, place: Placement) -> JSONObject:
    """The changes of the status, as a merge patch of it."""
    match transition:
        case "create":
            return _created(pod, place)
        case "initialize":
            return _initialized(pod, place)
        case "start" | "restart":
            return _started(pod, place, restarts=transition == "restart")
        case "ready":
            return _with_readiness(pod, place, ready=True)
        case "unready":
            return _with_readiness(pod, place, ready=False)
        case "crash":
            return _exited(pod, place, code=1)
        case "complete":
            return _exited(pod, place, code=0)
        case "fail":
            return _finished(pod, place, code=1)
        case "evict":
            return _evicted(pod, place)
        case "image-error":
            return _image_failed(pod)


def _created(pod: Pod, place: Placement) -> JSONObject:
    has_init = bool(pod.spec.init_containers)
    waiting = f"containers with incomplete status: [{' '.join(each.name for each in pod.spec.init_containers)}]"
    unready = ("False", "ContainersNotReady", _unready_message(pod.spec.containers))
    reason = _INITIALIZING if has_init else _CREATING
    status: JSONObject = {
        "phase": "Pending",
        **_addresses(place, with_pod=False),
        "startTime": timestamp(place.now),
        "conditions": _conditions(
            pod,
            place.now,
            {
                "PodReadyToStartContainers": ("False", "", ""),
                "Initialized": ("False", "ContainersNotInitialized", waiting) if has_init else ("True", "", ""),
                "Ready": unready,
                "ContainersReady": unready,
                "PodScheduled": ("True", "", ""),
            },
        ),
        "containerStatuses": [_waiting(each, reason) for each in pod.spec.containers],
    }
    if has_init:
        status["initContainerStatuses"] = [_waiting(each, _INITIALIZING) for each in pod.spec.init_containers]
    return status


def _initialized(pod: Pod, place: Placement) -> JSONObject:
    done: list[JSON] = []
    for each in pod.spec.init_containers:
        if each.restart_policy == "Always":  # a sidecar keeps running
            done.append({**_running(pod, each, place, 0), "ready": True})
        else:
            done.append({**_identity(pod, each), "state": _terminated(pod, each, place.now, place.now, 0), **_ENDED})
    return {
        **_addresses(place, with_pod=True),
        "conditions": _conditions(
            pod, place.now, {"PodReadyToStartContainers": ("True", "", ""), "Initialized": ("True", "", "")}
        ),
        "initContainerStatuses": done,
        "containerStatuses": [_waiting(each, _INITIALIZING) for each in pod.spec.containers],
    }


def _started(pod: Pod, place: Placement, *, restarts: bool) -> JSONObject:
    counts = {each.name: each.restart_count for each in pod.status.container_statuses}
    running: list[JSON] = []
    for each in pod.spec.containers:
        entry = _running(pod, each, place, counts.get(each.name, 0) + restarts)
        if restarts and (last := _last_state(pod, each.name)) is not None:
            entry["lastState"] = last
        running.append({**entry, "ready": each.readiness_probe is None})
    ready = all(each.readiness_probe is None for each in pod.spec.containers)
    return {
        "phase": "Running",
        **_addresses(place, with_pod=True),
        "conditions": _conditions(
            pod,
            place.now,
            {"PodReadyToStartContainers": ("True", "", ""), "Initialized": ("True", "", ""), **_readiness(pod, ready)},
        ),
        "containerStatuses": running,
    }


def _with_readiness(pod: Pod, place: Placement, *, ready: bool) -> JSONObject:
    return {
        "conditions": _conditions(pod, place.now, _readiness(pod, ready)),
        "containerStatuses": [{**each.to_dict(), "ready": ready} for each in pod.status.container_statuses],
    }


def _readiness(pod: Pod, ready: bool) -> dict[str, tuple[str, str, str]]:  # noqa: FBT001  # the value itself
    """The conditions Ready and ContainersReady; a pod with readiness gates is ready when their conditions are true."""
    unready = ("False", "ContainersNotReady", _unready_message(pod.spec.containers))
    if not ready:
        return {"Ready": unready, "ContainersReady": unready}
    gates = [gate.condition_type for gate in pod.spec.readiness_gates]
    missing = [gate for gate in gates if _condition(pod, gate) != "True"]
    if missing:
        message = f'corresponding condition of pod readiness gate "{missing[0]}" does not exist.'
        return {"Ready": ("False", "ReadinessGatesNotReady", message), "ContainersReady": ("True", "", "")}
    return {"Ready": ("True", "", ""), "ContainersReady": ("True", "", "")}


def _exited(pod: Pod, place: Placement, *, code: int) -> JSONObject:
    policy = pod.spec.restart_policy
    if policy == "Never" or (policy == "OnFailure" and code == 0):
        return _finished(pod, place, code=code)
    delay = f"{restart_delay(pod):.0f}s"
    exited: list[JSON] = []
    for each in pod.status.container_statuses:
        ended = _terminated_status(each, place.now, code)
        message = f"back-off {delay} restarting failed container={each.name} pod={pod.name}_{pod.namespace}({pod.uid})"
        waiting: JSON = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
        exited.append({**each.to_dict(), "state": waiting, "lastState": ended, "ready": False, "started": False})
    return {
        "conditions": _conditions(pod, place.now, _readiness(pod, ready=False)),
        "containerStatuses": exited,
    }


def _finished(pod: Pod, place: Placement, *, code: int) -> JSONObject:
    unready = ("False", "PodFailed" if code else "PodCompleted", "")
    return {
        "phase": "Failed" if code else "Succeeded",
        "conditions": _conditions(
            pod,
            place.now,
            {"PodReadyToStartContainers": ("False", "", ""), "Ready": unready, "ContainersReady": unready},
        ),
        "containerStatuses": [
            {**each.to_dict(), "state": _terminated_status(each, place.now, code), **_ENDED_MAIN}
            for each in pod.status.container_statuses
        ],
    }


def _evicted(pod: Pod, place: Placement) -> JSONObject:
    message = f"The node {place.node} was low on resource: memory."
    target = ("True", "TerminationByKubelet", message)
    failed = _finished(pod, place, code=137)
    conditions = _conditions(pod, place.now, {"DisruptionTarget": target}, onto=failed["conditions"])
    return {**failed, "conditions": conditions, "reason": "Evicted", "message": message}


def _image_failed(pod: Pod) -> JSONObject:
    waiting: list[JSON] = []
    for each in pod.spec.containers:
        message = f'Back-off pulling image "{each.image}"'
        state: JSON = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        waiting.append({**_waiting(each, _CREATING), "state": state})
    return {"containerStatuses": waiting}


# --- parts of a status ------------------------------------------------------------------------------------------------

_ENDED: JSONObject = {"lastState": {}, "ready": True, "restartCount": 0, "started": False}
_ENDED_MAIN: JSONObject = {"ready": False, "started": False}


def _addresses(place: Placement, *, with_pod: bool) -> JSONObject:
    addresses: JSONObject = {"hostIP": place.host_ip, "hostIPs": [{"ip": place.host_ip}]}
    if with_pod:
        addresses |= {"podIP": place.pod_ip, "podIPs": [{"ip": place.pod_ip}]}
    return addresses


def _conditions(
    pod: Pod, now: datetime, changes: Mapping[str, tuple[str, str, str]], *, onto: JSON = None
) -> list[JSON]:
    """All conditions with these changes; the transition time of a condition changes with its status."""
    present: dict[str, JSONObject] = {}
    for each in onto if isinstance(onto, list) else (each.to_dict() for each in pod.status.conditions):
        if isinstance(each, dict):
            present[str(each["type"])] = each
    for type, (status, reason, message) in changes.items():
        old = present.get(type, {})
        condition: JSONObject = {"type": type, "status": status, "lastProbeTime": None}
        changed = old.get("status") != status
        condition["lastTransitionTime"] = timestamp(now) if changed else old.get("lastTransitionTime")
        condition |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
        if pod.metadata.generation:
            condition["observedGeneration"] = pod.metadata.generation
        present[type] = condition
    order = [*dict.fromkeys([*_ORDER, *present])]
    return [present[type] for type in order if type in present]


_ORDER = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def _unready_message(containers: Iterable[Container]) -> str:
    return f"containers with unready status: [{' '.join(each.name for each in containers)}]"


def _waiting(container: Container, reason: str) -> JSONObject:
    return {
        "name": container.name,
        "image": container.image or "",
        "imageID": "",
        "state": {"waiting": {"reason": reason}},
        "lastState": {},
        "ready": False,
        "started": False,
        "restartCount": 0,
    }


def _running(pod: Pod, container: Container, place: Placement, restarts: int) -> JSONObject:
    return {
        **_identity(pod, container, restarts),
        "state": {"running": {"startedAt": timestamp(place.now)}},
        "lastState": {},
        "ready": True,
        "started": True,
        "restartCount": restarts,
    }


def _identity(pod: Pod, container: Container, restarts: int = 0) -> JSONObject:
    image = container.image or ""
    digest = hashlib.sha256(image.encode()).hexdigest()
    own = hashlib.sha256(f"{pod.uid}/{container.name}/{restarts}".encode()).hexdigest()
    return {
        "name": container.name,
        "image": image,
        "imageID": f"{image.partition('@')[0].rpartition(':')[0] or image}@sha256:{digest}",
        "containerID": f"containerd://{own}",
    }


def _terminated(pod: Pod, container: Container, started: datetime, ended: datetime, code: int) -> JSONObject:
    return {
        "terminated": {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": timestamp(started),
            "finishedAt": timestamp(ended),
            "containerID": _identity(pod, container)["containerID"],
        }
    }


def _terminated_status(status: ContainerStatus, now: datetime, code: int) -> JSONObject:
    running = status.state.running
    started = running.started_at if running and running.started_at else now
    return {
        "terminated": {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": timestamp(started),
            "finishedAt": timestamp(now),
            "containerID": status.container_id or "",
        }
    }


def _last_state(pod: Pod, name: str) -> JSON:
    for each in pod.status.container_statuses:
        if each.name == name:
            return each.last_state.to_dict()
    return None
