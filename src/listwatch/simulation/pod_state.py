"""The statuses of simulated pods: in which state one is, and the status after a transition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.core_v1 import Container, ContainerStatus, Pod
from listwatch.simulation.container_state import (
    backing_off,
    has_ended,
    is_running,
    restarts,
    running,
    terminated,
    timestamp,
    waiting,
)
from listwatch.simulation.stages import PodTransition, State

__all__ = [
    "Placement",
    "is_available",
    "is_finished",
    "is_ready",
    "restart_delay",
    "state_of",
    "status_after",
    "status_after_exits",
    "status_after_initialization",
    "status_after_update",
    "status_of_rejected",
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
    if any(each.state.waiting is not None for each in status.container_statuses):
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
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    count = max((each.restart_count for each in statuses), default=0)
    return float(min(_FIRST_BACKOFF * 2 ** min(count, 6), _MAX_BACKOFF))


def _condition(pod: Pod, type: str) -> str:
    return next((each.status for each in pod.status.conditions if each.type == type), "")


# --- transitions ------------------------------------------------------------------------------------------------------


def status_after(pod: Pod, transition: PodTransition, place: Placement, *, code: int = 1) -> JSONObject:
    """The changes of the status, as a merge patch of it; `code` is the exit code of a crash or failure."""
    match transition:
        case "create":
            return _created(pod, place)
        case "initialize":
            return status_after_initialization(pod, {}, place)
        case "start":
            return _started(pod, place, {})
        case "restart":
            return _started(pod, place, {each.name: each for each in pod.status.container_statuses})
        case "ready":
            return _with_readiness(pod, place, ready=True)
        case "unready":
            return _with_readiness(pod, place, ready=False)
        case "crash":
            return status_after_exits(pod, _all_running(pod, code), place)
        case "complete":
            return status_after_exits(pod, _all_running(pod, 0), place)
        case "fail":
            return _finished(pod, place, code)
        case "evict":
            return _evicted(pod, place)
        case "deadline":
            return _past_deadline(pod, place)
        case "image-error":
            return _image_failed(pod)


def _all_running(pod: Pod, code: int) -> dict[str, int]:
    return {each.name: code for each in pod.status.container_statuses if is_running(each)}


def _created(pod: Pod, place: Placement) -> JSONObject:
    has_init = bool(pod.spec.init_containers)
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
                "Initialized": _uninitialized(pod.spec.init_containers) if has_init else ("True", "", ""),
                "Ready": unready,
                "ContainersReady": unready,
                "PodScheduled": ("True", "", ""),
            },
        ),
        "containerStatuses": [waiting(each, reason) for each in pod.spec.containers],
    }
    if has_init:
        status["initContainerStatuses"] = [waiting(each, _INITIALIZING) for each in pod.spec.init_containers]
    return status


def status_of_rejected(reason: str, place: Placement) -> JSONObject:
    """The status of a pod that the kubelet does not accept."""
    message = f"Pod was rejected: Predicate {reason} failed"
    return {"phase": "Failed", "reason": reason, "message": message, "startTime": timestamp(place.now)}


def status_after_initialization(pod: Pod, codes: Mapping[str, int], place: Placement) -> JSONObject:
    """The status after the init containers have run: all of them, or until one exits with a code that is not 0."""
    known = {each.name: each for each in pod.status.init_container_statuses}
    statuses: list[JSON] = []
    for number, each in enumerate(pod.spec.init_containers):
        old = known.get(each.name)
        if each.restart_policy == "Always":  # a sidecar keeps running
            statuses.append(old.to_dict() if old and is_running(old) else running(pod, each, place.now))
        elif code := codes.get(each.name, 0):
            return _initialization_failed(pod, place, statuses, number, code)
        elif old and has_ended(old):
            statuses.append(old.to_dict())
        else:
            statuses.append({**terminated(pod, each, place.now, 0, old), "ready": True})
    return {
        **_addresses(place, with_pod=True),
        "conditions": _conditions(
            pod, place.now, {"PodReadyToStartContainers": ("True", "", ""), "Initialized": ("True", "", "")}
        ),
        "initContainerStatuses": statuses,
        "containerStatuses": [waiting(each, _INITIALIZING) for each in pod.spec.containers],
    }


def _initialization_failed(pod: Pod, place: Placement, done: Sequence[JSON], number: int, code: int) -> JSONObject:
    container = pod.spec.init_containers[number]
    old = next((each for each in pod.status.init_container_statuses if each.name == container.name), None)
    assert old is not None
    conditions = {
        "PodReadyToStartContainers": ("True", "", ""),
        "Initialized": _uninitialized(pod.spec.init_containers[number:]),
    }
    count = old.restart_count + (old.last_state.terminated is not None)
    status: JSONObject = {**_addresses(place, with_pod=True)}
    if restarts(pod, container, code):
        failed = backing_off(pod, container, place.now, code, old, restart_delay(pod))
    else:
        failed = terminated(pod, container, place.now, code, old)
        status["phase"] = "Failed"
        conditions["PodReadyToStartContainers"] = ("False", "", "")
        conditions |= dict.fromkeys(("Ready", "ContainersReady"), ("False", "PodFailed", ""))
    status["conditions"] = _conditions(pod, place.now, conditions)
    later = pod.spec.init_containers[number + 1 :]
    status["initContainerStatuses"] = [
        *done,
        {**failed, "restartCount": count},
        *(waiting(each, _INITIALIZING) for each in later),
    ]
    return status


def _uninitialized(containers: Iterable[Container]) -> tuple[str, str, str]:
    names = " ".join(each.name for each in containers)
    return "False", "ContainersNotInitialized", f"containers with incomplete status: [{names}]"


def _started(pod: Pod, place: Placement, known: Mapping[str, ContainerStatus]) -> JSONObject:
    """The status after all containers were started, or those of the known ones that wait for a restart."""
    statuses: list[JSONObject] = []
    for each in pod.spec.containers:
        old = known.get(each.name)
        if old is not None and old.state.waiting is None:
            statuses.append(old.to_dict())
        else:
            statuses.append({**running(pod, each, place.now, old), "ready": each.readiness_probe is None})
    return {
        "phase": "Running",
        **_addresses(place, with_pod=True),
        "conditions": _conditions(
            pod,
            place.now,
            {
                "PodReadyToStartContainers": ("True", "", ""),
                "Initialized": ("True", "", ""),
                **_readiness(pod, statuses),
            },
        ),
        "containerStatuses": [*statuses],
    }


def _with_readiness(pod: Pod, place: Placement, *, ready: bool) -> JSONObject:
    statuses: list[JSONObject] = [
        {**each.to_dict(), "ready": ready and is_running(each)} for each in pod.status.container_statuses
    ]
    return {
        "conditions": _conditions(pod, place.now, _readiness(pod, statuses)),
        "containerStatuses": [*statuses],
    }


def _readiness(pod: Pod, statuses: Iterable[JSONObject]) -> dict[str, tuple[str, str, str]]:
    """The conditions Ready and ContainersReady; a pod with readiness gates is ready when their conditions are true."""
    ready = {str(each["name"]) for each in statuses if each["ready"]}
    if unready := [each for each in pod.spec.containers if each.name not in ready]:
        condition = ("False", "ContainersNotReady", _unready_message(unready))
        return {"Ready": condition, "ContainersReady": condition}
    gates = [gate.condition_type for gate in pod.spec.readiness_gates]
    missing = [gate for gate in gates if _condition(pod, gate) != "True"]
    if missing:
        message = f'corresponding condition of pod readiness gate "{missing[0]}" does not exist.'
        return {"Ready": ("False", "ReadinessGatesNotReady", message), "ContainersReady": ("True", "", "")}
    return {"Ready": ("True", "", ""), "ContainersReady": ("True", "", "")}


def status_after_update(pod: Pod, place: Placement) -> JSONObject | None:
    """The status after the spec of a running pod was updated; None if the status is up to date.

    Containers with another image are restarted, and ephemeral containers are started.
    """
    generation = pod.metadata.generation
    if pod.status.observed_generation == generation:
        return None
    known = {each.name: each for each in pod.status.container_statuses}
    statuses: list[JSONObject] = []
    for each in pod.spec.containers:
        old = known[each.name]
        if is_running(old) and old.image != each.image:
            ended = terminated(pod, each, place.now, 0, old)["state"]
            statuses.append({**running(pod, each, place.now, old), "lastState": ended, "ready": old.ready})
        else:
            statuses.append(old.to_dict())
    ephemeral = {each.name: each.to_dict() for each in pod.status.ephemeral_container_statuses}
    for debugger in pod.spec.ephemeral_containers:
        ephemeral.setdefault(debugger.name, {**running(pod, debugger, place.now), "ready": False})
    status: JSONObject = {
        "observedGeneration": generation,
        "conditions": [{**each.to_dict(), "observedGeneration": generation} for each in pod.status.conditions],
        "containerStatuses": [*statuses],
    }
    return {**status, "ephemeralContainerStatuses": [*ephemeral.values()]} if ephemeral else status


def status_after_exits(pod: Pod, codes: Mapping[str, int], place: Placement) -> JSONObject:
    """The status after the named containers have exited with these codes: they are restarted later, or have ended."""
    known = {each.name: each for each in pod.status.container_statuses}
    delay = restart_delay(pod)
    statuses: list[JSONObject] = []
    for each in pod.spec.containers:
        old = known[each.name]
        if each.name not in codes:
            statuses.append(old.to_dict())
        elif restarts(pod, each, codes[each.name]):
            statuses.append(backing_off(pod, each, place.now, codes[each.name], old, delay))
        else:
            statuses.append(terminated(pod, each, place.now, codes[each.name], old))
    exits = [_exit_code(each) for each in statuses]
    if None not in exits:
        return _ended(pod, place, statuses, failed=any(exits))
    return {
        "conditions": _conditions(pod, place.now, _readiness(pod, statuses)),
        "containerStatuses": [*statuses],
    }


def _exit_code(status: JSONObject) -> int | None:
    """The exit code of a container that has ended for good."""
    match status:
        case {"state": {"terminated": {"exitCode": int(code)}}}:
            return code
    return None


def _finished(pod: Pod, place: Placement, code: int) -> JSONObject:
    """The status after all containers were stopped, whatever the restart policy."""
    known = {each.name: each for each in pod.status.container_statuses}
    statuses = [
        old.to_dict()
        if (old := known.get(each.name)) and has_ended(old)
        else terminated(pod, each, place.now, code, old)
        for each in pod.spec.containers
    ]
    return _ended(pod, place, statuses, failed=code != 0)


def _ended(pod: Pod, place: Placement, statuses: Iterable[JSONObject], *, failed: bool) -> JSONObject:
    unready = ("False", "PodFailed" if failed else "PodCompleted", "")
    return {
        "phase": "Failed" if failed else "Succeeded",
        "conditions": _conditions(
            pod,
            place.now,
            {"PodReadyToStartContainers": ("False", "", ""), "Ready": unready, "ContainersReady": unready},
        ),
        "containerStatuses": [*statuses],
    }


def _evicted(pod: Pod, place: Placement) -> JSONObject:
    message = f"The node {place.node} was low on resource: memory."
    target = ("True", "TerminationByKubelet", message)
    failed = _finished(pod, place, 137)
    conditions = _conditions(pod, place.now, {"DisruptionTarget": target}, onto=failed["conditions"])
    return {**failed, "conditions": conditions, "reason": "Evicted", "message": message}


def _past_deadline(pod: Pod, place: Placement) -> JSONObject:
    message = "Pod was active on the node longer than the specified deadline"
    return {**_finished(pod, place, 137), "reason": "DeadlineExceeded", "message": message}


def _image_failed(pod: Pod) -> JSONObject:
    return {
        "containerStatuses": [
            waiting(each, "ImagePullBackOff", f'Back-off pulling image "{each.image}"') for each in pod.spec.containers
        ]
    }


# --- parts of a status ------------------------------------------------------------------------------------------------


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
