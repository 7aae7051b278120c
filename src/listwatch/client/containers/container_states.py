"""The state of a container, from the status of its pod, as far as reading its log depends on it."""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.client.pods.pod_facts import containers_of, default_container
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object

__all__ = ["ContainerState", "containers_to_read", "is_finished", "state_of"]

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


@dataclass(frozen=True, slots=True)
class ContainerState:
    """The state of a container."""

    is_known: bool = False
    """Whether a kubelet has reported a status."""
    is_running: bool = False
    has_terminated: bool = False
    restarts: int = 0

    @property
    def has_started(self) -> bool:
        return self.is_running or self.has_terminated or self.restarts > 0


def containers_to_read(pod: Object, container: str, *, all_containers: bool) -> list[str]:
    """Return the containers of a pod whose logs are read; a pod without the named container has none."""
    names = containers_of(pod)
    if all_containers:
        return names
    chosen = container or default_container(pod)
    return [chosen] if chosen in names else []


def state_of(pod: Object, container: str) -> ContainerState:
    status = _child(pod.to_dict(), "status")
    for kind in _STATUSES:
        found = status.get(kind)
        for each in found if isinstance(found, list) else ():
            if isinstance(each, dict) and each.get("name") == container:
                state, restarts = _child(each, "state"), each.get("restartCount")
                return ContainerState(
                    is_known=True,
                    is_running="running" in state,
                    has_terminated="terminated" in state,
                    restarts=restarts if isinstance(restarts, int) else 0,
                )
    return ContainerState()


def is_finished(pod: Object, container: str) -> bool:
    """Whether a container writes no more: it has ended, and its pod does not restart it."""
    tree = pod.to_dict()
    if _child(tree, "status").get("phase") in ("Succeeded", "Failed"):
        return True
    state = state_of(pod, container)
    return state.has_terminated and (
        bool(_child(tree, "metadata").get("deletionTimestamp")) or not _restarts(tree, container)
    )


def _restarts(tree: JSONObject, container: str) -> bool:
    spec = _child(tree, "spec")
    ordinary = spec.get("containers")
    is_ordinary = any(isinstance(each, dict) and each.get("name") == container for each in ordinary or ())  # type: ignore[union-attr]  # JSON
    return is_ordinary and spec.get("restartPolicy", "Always") != "Never"


def _child(tree: JSONObject, name: str) -> JSONObject:
    found = tree.get(name)
    return found if isinstance(found, dict) else {}
