"""The table of pods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import flag_at, integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.tables.cells import NONE, age, condition_status
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described, wide
from listwatch.server.tables.durations import since_text

__all__ = ["PODS"]

_TERMINAL_PHASES = ("Succeeded", "Failed")
_NODE_LOST = "NodeLost"
_ROW_CONDITIONS = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


@dataclass(slots=True)
class _Summary:
    """The state of a pod, as its containers determine it."""

    reason: str
    ready: int = 0
    total: int = 0
    restarts: int = 0
    last_restart: str = ""
    is_initializing: bool = False
    restarted_sidecars: int = 0
    last_sidecar_restart: str = ""

    def count_restarts(self, status: JSONObject) -> None:
        self.restarts += integer_at(status, "restartCount")
        self.last_restart = max(self.last_restart, _last_end(status))

    def count_sidecar_restarts(self, status: JSONObject) -> None:
        self.restarted_sidecars += integer_at(status, "restartCount")
        self.last_sidecar_restart = max(self.last_sidecar_restart, _last_end(status))


def _row(pod: JSONObject, now: datetime) -> list[JSON]:
    found = _summarize(pod)
    restarts = str(found.restarts)
    if found.restarts and found.last_restart:
        restarts = f"{restarts} ({since_text(found.last_restart, now)} ago)"
    return [
        text_at(pod, "metadata", "name"),
        f"{found.ready}/{found.total}",
        found.reason,
        restarts,
        age(pod, now),
        next((text_at(each, "ip") for each in objects_at(pod, "status", "podIPs")), "") or NONE,
        text_at(pod, "spec", "nodeName") or NONE,
        text_at(pod, "status", "nominatedNodeName") or NONE,
        _readiness_gates(pod),
    ]


def _summarize(pod: JSONObject) -> _Summary:
    spec, status = object_at(pod, "spec"), object_at(pod, "status")
    conditions = objects_at(status, "conditions")
    phase = text_at(status, "phase")
    found = _Summary(text_at(status, "reason") or phase, total=len(objects_at(spec, "containers")))
    if any(each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated" for each in conditions):
        found.reason = "SchedulingGated"
    init_containers = objects_at(spec, "initContainers")
    sidecars = {each.get("name") for each in init_containers if each.get("restartPolicy") == "Always"}
    found.total += sum(each.get("restartPolicy") == "Always" for each in init_containers)
    _read_init_containers(found, objects_at(status, "initContainerStatuses"), sidecars, len(init_containers))
    if not found.is_initializing or condition_status(pod, "Initialized") == "True":
        _read_containers(found, objects_at(status, "containerStatuses"), pod_is_ready=_is_ready(conditions))
    if "deletionTimestamp" in object_at(pod, "metadata"):
        if status.get("reason") == _NODE_LOST:
            found.reason = "Unknown"
        elif phase not in _TERMINAL_PHASES:
            found.reason = "Terminating"
    return found


def _read_init_containers(found: _Summary, statuses: list[JSONObject], sidecars: set[JSON], total: int) -> None:
    """Read init containers up to the first that has not succeeded, which determines the reason."""
    for index, status in enumerate(statuses):
        is_sidecar = status.get("name") in sidecars
        found.count_restarts(status)
        if is_sidecar:
            found.count_sidecar_restarts(status)
        terminated = value_at(status, "state", "terminated")
        waiting = text_at(status, "state", "waiting", "reason")
        if isinstance(terminated, dict) and not integer_at(terminated, "exitCode"):
            continue
        if is_sidecar and flag_at(status, "started"):
            found.ready += flag_at(status, "ready")
            continue
        found.is_initializing = True
        if isinstance(terminated, dict):
            found.reason = f"Init:{_end_reason(terminated)}"
        elif waiting and waiting != "PodInitializing":
            found.reason = f"Init:{waiting}"
        else:
            found.reason = f"Init:{index}/{total}"
        return


def _read_containers(found: _Summary, statuses: list[JSONObject], *, pod_is_ready: bool) -> None:
    """Read the containers, the first one last: the reason of an earlier container is more important."""
    found.restarts, found.last_restart = found.restarted_sidecars, found.last_sidecar_restart
    is_any_running, failure = False, ""
    for status in reversed(statuses):
        found.count_restarts(status)
        state = object_at(status, "state")
        terminated = state.get("terminated")
        if waiting := text_at(state, "waiting", "reason"):
            found.reason = waiting
        elif isinstance(terminated, dict):
            found.reason = _end_reason(terminated)
            if integer_at(terminated, "exitCode"):
                failure = found.reason
        elif flag_at(status, "ready") and isinstance(state.get("running"), dict):
            is_any_running = True
            found.ready += 1
    if found.reason == "Completed":
        if is_any_running:
            found.reason = "Running" if pod_is_ready else failure or "NotReady"
        else:
            found.reason = failure or found.reason


def _end_reason(terminated: JSONObject) -> str:
    if reason := text_at(terminated, "reason"):
        return reason
    if signal := integer_at(terminated, "signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{integer_at(terminated, 'exitCode')}"


def _last_end(status: JSONObject) -> str:
    return text_at(status, "lastState", "terminated", "finishedAt")


def _is_ready(conditions: Iterable[JSONObject]) -> bool:
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _readiness_gates(pod: JSONObject) -> str:
    gates = objects_at(pod, "spec", "readinessGates")
    passed = sum(condition_status(pod, text_at(gate, "conditionType")) == "True" for gate in gates)
    return f"{passed}/{len(gates)}" if gates else NONE


def _conditions(pod: JSONObject) -> list[JSON]:
    phase = text_at(pod, "status", "phase")
    if phase not in _ROW_CONDITIONS:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ROW_CONDITIONS[phase]}]


PODS = Table(
    NAME,
    Column("Ready", None, "The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", None, "The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        None,
        "The number of times the containers in this pod have been restarted and when the last container in this pod "
        "has restarted.",
    ),
    AGE,
    wide("IP", None, described("core.v1.PodStatus.podIP")),
    wide("Node", None, described("core.v1.PodSpec.nodeName")),
    wide("Nominated Node", None, described("core.v1.PodStatus.nominatedNodeName")),
    wide("Readiness Gates", None, described("core.v1.PodSpec.readinessGates")),
    row=_row,
    conditions=_conditions,
)
