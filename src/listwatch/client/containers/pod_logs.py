"""The logs of many pods, merged into one stream of lines.

    pods by selector ─▶ one task per container: open, read, resume ─▶ a bounded queue ─▶ iteration

A stream that ends is resumed after the last line that was delivered, as long as its container can still write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from typing import Generic, Self, TypeVar

from listwatch.api.options import log_parameters
from listwatch.api.watch_events import DeletedEvent
from listwatch.backoff import Backoff, ResettingBackoff
from listwatch.client.containers.container_states import ContainerState, containers_to_read, is_finished, state_of
from listwatch.client.containers.log_position import LineReader, LogPosition, split_timestamp
from listwatch.client.resources.container_client import ContainerClient
from listwatch.client.wait.retry_watcher import RetryWatcher
from listwatch.clock import Clock, SystemClock
from listwatch.errors import APIError, ExpiredError, NotFoundError, TransportError, UsageError
from listwatch.logs.folded_log import FoldedLog
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelectorLike

__all__ = ["LogLine", "PodLogs"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger("listwatch.client")

_QUEUE_SIZE = 1000
_RETRY = Backoff(initial=0.2, factor=2.0, cap=10.0, jitter=0.2)
_RETRY_RESET = 30.0


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log of a container, without its line feed."""

    namespace: str
    pod: str
    container: str
    time: str
    """When it was written, as the server sends it: RFC 3339 with nanoseconds."""
    text: str


class PodLogs(Generic[T]):
    """The lines of the logs of all pods that match a selector. Use it with `async with`, and iterate over it.

    With `follow`, new lines and the logs of new pods are included, and the iteration does not end by itself; a lost
    connection or a restarted container neither loses nor repeats a line. Without it, the iteration ends after the last
    line. Lines of one container are in order; those of different containers are merged as they arrive.
    """

    def __init__(
        self,
        pods: ContainerClient[T],
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: str = "",
        container: str = "",
        all_containers: bool = False,
        follow: bool = False,
        since_seconds: float | None = None,
        tail_lines: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Without `container` and `all_containers`, the default container of each pod is read."""
        if container and all_containers:
            raise UsageError("pass either container or all_containers")
        self._pods = pods.selecting(label_selector=label_selector, field_selector=field_selector)
        self._container = container
        self._all_containers = all_containers
        self._follow = follow
        self._options = {"since_seconds": since_seconds, "tail_lines": tail_lines}
        self._clock = clock or SystemClock()
        self._lines: asyncio.Queue[LogLine | Exception | None] = asyncio.Queue(_QUEUE_SIZE)
        self._readers: dict[tuple[str, str, str], _ContainerReader[T]] = {}
        self._group: asyncio.Task[None] | None = None
        self._is_closed = False

    async def aclose(self) -> None:
        """Close all connections. A pending iteration ends."""
        self._is_closed = True
        if self._group is not None:
            self._group.cancel()
            await asyncio.wait([self._group])
        while not self._lines.empty():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as readers, aclosing(self._states()) as states:
                async for pod, is_initial in states:
                    self._update(pod, readers, is_initial=is_initial)
        except* Exception as group:  # noqa: BLE001  # raised where the lines are read
            await self._lines.put(next(_errors(group)))
        else:
            await self._lines.put(None)

    async def _states(self) -> AsyncGenerator[tuple[T, bool]]:
        """Yield the pods, and with `follow` their changes; a deleted pod is yielded in its last state."""
        delays = _RETRY.delays(Random())
        is_initial = True
        while True:
            found = await self._pods.list()
            for pod in found:
                yield pod, is_initial
            known = {pod.uid for pod in found}
            for reader in self._readers.values():
                if reader.uid not in known:
                    reader.mark_deleted()
            if not self._follow:
                return
            is_initial = False
            try:
                async with RetryWatcher(self._pods, found.resource_version, clock=self._clock) as events:
                    async for event in events:
                        if isinstance(event, DeletedEvent):
                            self._mark_deleted(event.object)
                        else:
                            yield event.object, False
            except ExpiredError:
                await self._clock.sleep(next(delays))

    def _update(self, pod: T, readers: asyncio.TaskGroup, *, is_initial: bool) -> None:
        for name in containers_to_read(pod, self._container, all_containers=self._all_containers):
            key = (pod.namespace, pod.name, name)
            reader = self._readers.get(key)
            if reader is None or reader.uid != pod.uid:
                # New pods are read from their first line.
                options = self._options if is_initial else {}
                reader = _ContainerReader(self._pods, pod, name, options, self._lines, self._clock, follow=self._follow)
                self._readers[key] = reader
                readers.create_task(reader.run(), name=f"log of {pod.name}/{name}")
            else:
                reader.update(pod)

    def _mark_deleted(self, pod: T) -> None:
        for key, reader in [*self._readers.items()]:
            if reader.uid == pod.uid:
                reader.update(pod)
                reader.mark_deleted()
                del self._readers[key]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LogLine:
        self._start()
        line = await self._lines.get()
        if isinstance(line, LogLine):
            return line
        self._lines.put_nowait(None)  # a later call ends too
        if isinstance(line, Exception) and not self._is_closed:
            raise line
        raise StopAsyncIteration

    def _start(self) -> None:
        if self._group is None and not self._is_closed:
            self._group = asyncio.create_task(self._run(), name="logs of pods")

    async def __aenter__(self) -> Self:
        self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<PodLogs of {self._pods!r}, {'closed' if self._is_closed else f'{len(self._readers)} containers'}>"


class _ContainerReader(Generic[T]):
    """Reads the log of one container of one pod, and resumes it."""

    def __init__(
        self,
        pods: ContainerClient[T],
        pod: T,
        container: str,
        options: dict[str, float | int | None],
        lines: asyncio.Queue[LogLine | Exception | None],
        clock: Clock,
        *,
        follow: bool,
    ) -> None:
        self.uid = pod.uid
        self._pods = pods.namespace(pod.namespace)
        self._pod = pod
        self._container = container
        self._options = options
        self._lines = lines
        self._clock = clock
        self._follow = follow
        self._position = LogPosition()
        self._is_deleted = False
        self._changed = asyncio.Event()
        self._backoff = ResettingBackoff(_RETRY, reset=_RETRY_RESET, random=Random())
        self._log = FoldedLog(_log, clock)

    def update(self, pod: T) -> None:
        self._pod = pod
        self._changed.set()

    def mark_deleted(self) -> None:
        self._is_deleted = True
        self._changed.set()

    async def run(self) -> None:
        """Read until the container can write no more, or once without `follow`."""
        restarts = self._state.restarts
        while True:
            self._changed.clear()
            state = self._state
            if state.restarts > restarts and self._position.since is not None:
                # What the previous run wrote after the last line that was read.
                await self._read(previous=True)
            restarts = state.restarts
            was_finished = self._is_finished()
            has_ended = await self._read(previous=False)
            if not self._follow or (has_ended and (was_finished or self._is_finished() or not state.is_known)):
                return
            if was_finished and self._is_deleted:
                return  # the server has no log of it any more
            await self._wait()
            await self._refresh()

    async def _read(self, *, previous: bool) -> bool:
        """Read the log from the current position; return whether it was read to its end."""
        since = self._position.since
        self._position.resume()
        options = self._options if since is None else {"since_time": since}
        parameters = log_parameters(
            container=self._container,
            follow=self._follow and not previous,
            previous=previous,
            timestamps=True,
            **options,
        )
        reader = LineReader()
        try:
            async with self._pods._log_stream(self._pod.name, parameters) as stream:
                async for piece in stream:
                    await self._deliver(reader.feed(piece))
        except (TransportError, APIError) as error:
            return self._failed(error)
        # The last line may be incomplete if the server ended the stream; it is read again then.
        if not self._follow or previous or self._is_finished() or not self._state.is_known:
            await self._deliver(reader.finish())
        return True

    async def _deliver(self, lines: list[str]) -> None:
        for line in lines:
            time, text = split_timestamp(line)
            if self._position.accepts(time):
                await self._lines.put(LogLine(self._pod.namespace, self._pod.name, self._container, time, text))

    def _failed(self, error: TransportError | APIError) -> bool:
        """Decide about an error: raise it, or return whether the log has ended."""
        if isinstance(error, NotFoundError) and (self._is_deleted or self._follow):
            return True
        is_waiting = isinstance(error, APIError) and error.status_code == 400 and not self._state.has_started
        is_transient = isinstance(error, TransportError) or error.status_code >= 500 or error.status_code == 429
        if not self._follow:
            if is_waiting:
                return True  # it has written nothing yet
            raise error
        if not is_waiting and not is_transient:
            raise error
        if not is_waiting:
            self._log.log(
                logging.WARNING,
                type(error).__name__,
                "The log of %s/%s is interrupted, and will be resumed: %s",
                self._pod.name,
                self._container,
                error,
                fields={"pod": self._pod.name, "container": self._container},
            )
        return False

    async def _wait(self) -> None:
        """Wait for a change of the pod, or for the next attempt."""
        delay = self._backoff.next_delay(self._clock.monotonic())
        changed = asyncio.create_task(self._changed.wait())
        sleeping = asyncio.create_task(self._clock.sleep(delay))
        try:
            await asyncio.wait([changed, sleeping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
            sleeping.cancel()

    async def _refresh(self) -> None:
        """Read the pod: whether its container was restarted decides which log is read, and a watch may be late."""
        try:
            pod = await self._pods.get(self._pod.name)
        except NotFoundError:
            self._is_deleted = True
        except (TransportError, APIError):
            pass  # reading the log reports it
        else:
            self._is_deleted = self._is_deleted or pod.uid != self.uid
            self._pod = self._pod if self._is_deleted else pod

    def _is_finished(self) -> bool:
        return self._is_deleted or is_finished(self._pod, self._container)

    @property
    def _state(self) -> ContainerState:
        return state_of(self._pod, self._container)


def _errors(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _errors(error)
        else:
            yield error
