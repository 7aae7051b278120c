"""Opens connections to a port of a pod, or of any pod of a selector that is ready at that time."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from random import Random
from typing import Protocol

from listwatch.backoff import Backoff
from listwatch.client.pods.pod_facts import is_ready, port_number
from listwatch.client.pods.port_stream import PortStream
from listwatch.clock import Clock
from listwatch.errors import NotFoundError, RequestError, TransportError
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelectorLike

__all__ = ["PodPorts", "PortOpener", "find_ready_pod"]

_log = logging.getLogger("listwatch.client")

_RETRIES = Backoff(initial=0.2, factor=2.0, jitter=0.1, steps=6, cap=3.0)
"""The delays before a connection is given up: about 10 s."""


class _PodList(Protocol):
    async def list(self, *, label_selector: LabelSelectorLike = None) -> Iterable[Object]: ...


class PodPorts(_PodList, Protocol):
    """A client of pods, such as `client.core_v1.pods("default")`."""

    async def get(self, name: str) -> Object: ...
    def open_port(self, name: str, port: int) -> PortStream: ...


class PortOpener:
    """Opens connections to the ports of a pod by its name, or of a ready pod by a selector, found again for each.

    While the server cannot be reached, or no pod of the selector is ready, it retries for about ten seconds. A pod that
    is named and missing is an error at once, unless `waits_for_name`.
    """

    def __init__(
        self,
        pods: PodPorts,
        name: str,
        label_selector: LabelSelectorLike,
        *,
        clock: Clock,
        waits_for_name: bool = False,
    ) -> None:
        if bool(name) == (label_selector is not None):
            raise RequestError("a port needs the name of a pod or a label_selector, and not both")
        self._pods = pods
        self._name = name
        self._selector = label_selector
        self._clock = clock
        self._waits = waits_for_name or not name

    async def open(self, port: int | str) -> PortStream:
        """Open a connection to a port, which is a number or the name of a container port."""
        delays = _RETRIES.retries(Random())
        while True:
            try:
                stream = await self._find(port)
                await stream.open()
                return stream
            except (TransportError, NotFoundError) as error:
                if isinstance(error, NotFoundError) and not self._waits:
                    raise
                delay = next(delays, None)
                if delay is None:
                    raise
                _log.debug("Port %s of %s: %s; retrying in %.1f s", port, self, error, delay, extra={"delay": delay})
            await self._clock.sleep(delay)

    async def _find(self, port: int | str) -> PortStream:
        if self._name and isinstance(port, int):
            return self._pods.open_port(self._name, port)
        pod = await (self._pods.get(self._name) if self._name else find_ready_pod(self._pods, self._selector))
        return self._pods.open_port(pod.name, port_number(pod, port))

    def __str__(self) -> str:
        return f"pod {self._name}" if self._name else f"pods {self._selector}"


async def find_ready_pod(pods: _PodList, label_selector: LabelSelectorLike) -> Object:
    """Return the first pod that is ready, by name; NotFoundError if there is none."""
    found = sorted(await pods.list(label_selector=label_selector), key=lambda each: each.name)
    for pod in found:
        if is_ready(pod):
            return pod
    count = f"{len(found)} pods match, and none of them is ready" if found else "no pod matches"
    raise NotFoundError(f"{count} {label_selector}")
