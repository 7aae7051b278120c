"""Which pods of a workload count, and which of them are deleted first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from listwatch.models.core_v1 import Pod
from listwatch.simulation.pod_state import is_finished, is_ready

__all__ = ["deletion_order", "is_active", "ready_since"]


def is_active(pod: Pod) -> bool:
    """Whether a pod counts: it has not finished, and was not deleted."""
    return not is_finished(pod) and pod.metadata.deletion_timestamp is None


def deletion_order(pods: Iterable[Pod], siblings: Iterable[Pod], now: datetime) -> list[Pod]:
    """The pods in the order in which they are deleted when there are too many of them."""
    crowded: dict[str, int] = {}
    for each in siblings:
        if each.spec.node_name and is_active(each) and is_ready(each):
            crowded[each.spec.node_name] = crowded.get(each.spec.node_name, 0) + 1

    def rank(pod: Pod) -> tuple[bool, int, bool, int, int, int, int, int, str]:
        ready = is_ready(pod)
        return (
            bool(pod.spec.node_name),
            {"Pending": 0, "Unknown": 1}.get(pod.status.phase or "", 2),
            ready,
            _deletion_cost(pod),
            -crowded.get(pod.spec.node_name or "", 0),
            _magnitude(now, ready_since(pod)) if ready else 0,
            -max((each.restart_count for each in pod.status.container_statuses), default=0),
            _magnitude(now, pod.metadata.creation_timestamp),
            pod.uid,
        )

    return sorted(pods, key=rank)


def _magnitude(now: datetime, since: datetime | None) -> int:
    """The order of magnitude of an age: of pods of about the same age, any may go."""
    return 0 if since is None else max(0, int((now - since).total_seconds())).bit_length()


def ready_since(pod: Pod) -> datetime | None:
    """When the condition Ready has changed last."""
    return next((each.last_transition_time for each in pod.status.conditions if each.type == "Ready"), None)


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get("controller.kubernetes.io/pod-deletion-cost", "0"))
    except ValueError:
        return 0
