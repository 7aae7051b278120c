"""Serves the logs of the containers of a simulated cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime

from listwatch.clock import Clock
from listwatch.errors import BadRequestError
from listwatch.models.core_v1 import ContainerStatus, Pod
from listwatch.server.kubelet.container_log import ContainerLog
from listwatch.server.kubelet.kubelet import Kubelet
from listwatch.server.kubelet.sessions import LogRequest
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event

__all__ = ["SimulatedLogs"]

_PODS = "/pods"


class SimulatedLogs(Kubelet):
    """The log of a container is what its program prints, from the time when it started; commands are not served.

    `output` returns it for a pod and the name of a container.
    """

    def __init__(self, output: Callable[[Pod, str], str], storage: Callable[[], Storage], clock: Clock) -> None:
        self._output = output
        self._storage = storage
        self._clock = clock

    async def logs(self, request: LogRequest) -> AsyncIterator[bytes]:
        pod, name = request.pod, request.container
        status = _status_of(pod, name)
        started = _previous_start(status) if request.previous else _start(status)
        if status is None or started is None:
            raise BadRequestError(_why_not(pod, name, status, previous=request.previous))
        log = ContainerLog(clock=self._clock)
        log.write(self._output(pod, name), time=started)
        if request.previous or status.state.running is None:
            log.close()
        identity = status.container_id

        def on_event(event: Event) -> None:
            if (event.key.namespace, event.key.name) != (pod.namespace, pod.name):
                return
            now = None if event.type == "DELETED" else _status_of(Pod.from_wire(event.stored.value), name)
            if now is None or now.state.running is None or now.container_id != identity:
                log.close()

        unsubscribe = self._storage().subscribe(on_event, resource=_PODS)
        try:
            async for piece in log.read(request):
                yield piece
        finally:
            unsubscribe()


def _status_of(pod: Pod, container: str) -> ContainerStatus | None:
    status = pod.status
    statuses = (*status.container_statuses, *status.init_container_statuses, *status.ephemeral_container_statuses)
    return next((each for each in statuses if each.name == container), None)


def _start(status: ContainerStatus | None) -> datetime | None:
    """When the container started that runs, or has run last."""
    if status is None:
        return None
    ended = status.state.terminated or status.last_state.terminated
    return status.state.running.started_at if status.state.running else ended.started_at if ended else None


def _previous_start(status: ContainerStatus | None) -> datetime | None:
    ended = status.last_state.terminated if status else None
    return ended.started_at if ended else None


def _why_not(pod: Pod, container: str, status: ContainerStatus | None, *, previous: bool) -> str:
    if previous:
        return f'previous terminated container "{container}" in pod "{pod.name}" not found'
    waiting = status.state.waiting if status else None
    reason = (waiting.reason if waiting else None) or "ContainerCreating"
    if reason in ("ErrImagePull", "ImagePullBackOff"):
        what = "trying and failing to pull image"
        return f'container "{container}" in pod "{pod.name}" is waiting to start: {what}'
    return f'container "{container}" in pod "{pod.name}" is waiting to start: {reason}'
