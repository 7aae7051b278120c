"""One watch of a prefix: opens it at a member, reads its messages, and detects a member that cannot be relied on.

`watch_state.py` turns messages into events.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Generic, Self, TypeVar

from listwatch.api.watch_events import WatchEvent
from listwatch.client.transport.connection import AiohttpStream
from listwatch.clock import time_limit
from listwatch.errors import (
    ConnectionLostError,
    ExpiredError,
    ForbiddenError,
    ListWatchError,
    ProtocolError,
    ResponseTooLargeError,
    TransportError,
    TransportTimeoutError,
)
from listwatch.json_value import JSONObject
from listwatch.keyed import Cached
from listwatch.objects.json.wire import LineSplitter
from listwatch.sources.etcd.entries import EntryMapping
from listwatch.sources.etcd.gateway import Gateway, Member
from listwatch.sources.etcd.gateway_errors import FutureRevisionError, error_of, error_of_cancelled_watch
from listwatch.sources.etcd.messages import Header, WatchFrame, WatchResponse, decode, text
from listwatch.sources.etcd.watch_state import WatchMachine, parts_of

__all__ = ["EtcdWatch"]

T = TypeVar("T", bound=Cached)

_DOING = "watch"
PROBE_INTERVAL = 30.0
"""Seconds between two linearizable reads beside a watch. A paused member keeps its connections, and is only silent."""

_SLICE = 1000
"""Events after which a batch is complete, with the rest of their revision: a message may have 50,000 small ones."""
_ORDERED_PROGRESS = (3, 5, 8)
"""Before this version, etcd reported progress ahead of the events."""
_PROGRESS_REQUESTS = 3
_PROGRESS_PAUSE = 0.25
"""Seconds before each request for progress. etcd looks for watches that are behind every 0.1 seconds."""

_log = logging.getLogger("listwatch.sources.etcd")


class EtcdWatch(Generic[T]):
    """The changes after a revision; ends after `timeout` seconds.

    `batches()` yields the events of a revision together, so that a transaction is never divided.
    """

    def __init__(
        self,
        gateway: Gateway,
        mapping: EntryMapping[T],
        *,
        revision: int | None,
        cluster_id: str = "",
        timeout: float | None = None,
        probe_interval: float = PROBE_INTERVAL,
        previous_values: bool = True,
    ) -> None:
        self._gateway = gateway
        self._mapping = mapping
        self._revision = revision
        self._cluster_id = cluster_id
        self._timeout = timeout
        self._probe_interval = probe_interval
        self._previous_values = previous_values
        self._machine: WatchMachine[T] | None = None
        self._messages: _Messages | None = None
        self._successor: _Messages | None = None
        self._revision_at_probe = 0
        self._has_ordered_progress: bool | None = None  # not known
        self._guard: asyncio.Task[None] | None = None
        self._received: deque[WatchResponse] = deque()
        self._pending: deque[WatchEvent[T]] = deque()
        self._error: ListWatchError | None = None
        self._is_over = False

    # --- opening -----------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        problem: TransportError | None = None
        for member in self._gateway.members_in_order():
            try:
                self._messages, created = await self._open_at(member, self._revision)
            except TransportError as error:
                problem = error
                continue
            start = (int(created.revision) if self._revision is None else self._revision) + 1
            self._machine = WatchMachine(
                self._mapping, start, max_held=self._messages.max_held, previous_values=self._previous_values
            )
            self._revision_at_probe = self._machine.revision
            self._guard = asyncio.create_task(self._run_guard(member), name="guard of a watch")
            return self
        assert problem is not None
        raise problem

    async def _open_at(
        self, member: Member, revision: int | None, then: Sequence[JSONObject] = ()
    ) -> tuple[_Messages, Header]:
        may_login, request = True, self._request(revision)
        while True:
            stream = await self._gateway.open_stream(member, "/v3/watch", request, then=then, pause=_PROGRESS_PAUSE)
            messages = _Messages(stream, member)
            try:
                created = await self._first(messages)
                if not created.canceled:
                    await self._check_history(member, created.header, revision)
                    return messages, created.header
                error = error_of_cancelled_watch(created.cancel_reason, created.compact_revision, _DOING, member.host)
                # etcd 3.5.1 reports an expired token as a missing permission.
                is_denied = isinstance(error, ForbiddenError) and self._gateway.has_user
                if not may_login or not (is_denied or self._gateway.drop_rejected_token(error)):
                    raise error
                self._gateway.forget_token()
            except BaseException:
                messages.close()
                raise
            messages.close()
            may_login = False

    def _request(self, revision: int | None) -> JSONObject:
        create: JSONObject = {
            "key": text(self._mapping.prefix),
            "range_end": text(self._mapping.end),
            "progress_notify": True,
            "prev_kv": self._previous_values,
            "fragment": True,  # else all pending events come as one message, of any size
        }
        if revision is not None:
            create["start_revision"] = str(revision + 1)
        return {"create_request": create}

    async def _first(self, messages: _Messages) -> WatchResponse:
        try:
            async with time_limit(self._gateway.clock, self._gateway.timeout):
                received = await messages.read()
        except TimeoutError:
            raise TransportTimeoutError("etcd did not confirm the watch", doing=_DOING, host=messages.host) from None
        if not received or not received[0].created:
            raise ProtocolError("the first message does not confirm the watch", doing=_DOING, host=messages.host)
        messages.unread(received[1:])
        return received[0]

    async def _check_history(self, member: Member, header: Header, revision: int | None) -> None:
        """Raise ExpiredError unless the revision to continue from is in etcd's history.

        A cluster restored from a backup accepts the watch, and silently skips what it writes up to that revision; and
        an old etcd loses a deletion at the revision that was compacted.
        """
        if self._cluster_id and header.cluster_id != self._cluster_id:
            raise ExpiredError("this is another cluster than the one that was listed", doing=_DOING)
        if not revision:
            return
        try:
            await self._gateway.revision(member, self._mapping.prefix, at=str(revision))
        except FutureRevisionError:
            raise ExpiredError(
                f"etcd has not reached revision {revision}: it was restored from a backup", doing=_DOING
            ) from None

    # --- reading -----------------------------------------------------------------------------------------------------

    async def batches(self) -> AsyncIterator[list[WatchEvent[T]]]:
        """Yield the events of the messages, whole revisions at a time, until the end of the watch."""
        while batch := await self._next_batch():
            yield batch
            del batch  # the next one may arrive much later

    async def _next_batch(self) -> list[WatchEvent[T]]:
        """Return the events of the next messages; none at the end of the watch."""
        machine = self._machine
        assert self._messages is not None
        assert machine is not None
        while True:
            if not self._received:
                received = await self._messages.read()
                if not received:
                    if self._successor is None:
                        break
                    self._messages, self._successor = self._successor, None
                    machine.restart()
                    continue
                self._received.extend(part for response in received for part in parts_of(response, _SLICE))
            if events := self._take_received(machine, self._messages):
                return events
        if self._error is not None:
            raise self._error
        if not self._is_over:
            raise ConnectionLostError("the member closed the watch", doing=_DOING, host=self._messages.host)
        return []

    def _take_received(self, machine: WatchMachine[T], messages: _Messages) -> list[WatchEvent[T]]:
        """Return the events of some of the received messages; an error is raised after the events before it."""
        events: list[WatchEvent[T]] = []
        while self._received and len(events) < _SLICE:
            response = self._received.popleft()
            try:
                if response.canceled:
                    reason, compacted = response.cancel_reason, response.compact_revision
                    raise error_of_cancelled_watch(reason, compacted, _DOING, messages.host)
                events += machine.receive(response)
            except ListWatchError as error:
                self._received.clear()
                messages.fail(error)
        return events

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent[T]:
        if not self._pending:
            self._pending.extend(await self._next_batch())
        if not self._pending:
            raise StopAsyncIteration
        return self._pending.popleft()

    async def __aexit__(self, *_: object) -> None:
        if self._guard is not None:
            self._guard.cancel()
            await asyncio.gather(self._guard, return_exceptions=True)
        self._close()

    def _close(self) -> None:
        for messages in (self._messages, self._successor):
            if messages is not None:
                messages.close()

    # --- guarding ----------------------------------------------------------------------------------------------------

    async def _run_guard(self, member: Member) -> None:
        """End the watch after its time, or when the member does not serve a linearizable read."""
        clock = self._gateway.clock
        end = None if self._timeout is None else clock.monotonic() + self._timeout
        try:
            # A clock may wake a sleeper a rounding error early.
            while end is None or (remaining := end - clock.monotonic()) > 1e-6:
                await clock.sleep(self._probe_interval if end is None else min(self._probe_interval, remaining))
                if end is None or clock.monotonic() < end - 1e-6:
                    await self._probe(member)
            self._is_over = True
        except TransportError as error:
            reason = f"the member did not serve a linearizable read: {error}"
            self._error = ConnectionLostError(reason, doing=_DOING, host=member.host)
            self._gateway.skip(member)
        except ListWatchError as error:
            self._error = error
        finally:
            self._close()

    async def _probe(self, member: Member) -> None:
        assert self._machine is not None
        delivered = self._machine.revision
        header = await self._gateway.revision(member, self._mapping.prefix)
        if int(header.revision) < delivered:
            raise ExpiredError(f"etcd's revision went back to {header.revision}: it was restored from a backup")
        if int(header.revision) > delivered == self._revision_at_probe:
            await self._request_progress(member, delivered)
        self._revision_at_probe = delivered

    async def _request_progress(self, member: Member, delivered: int) -> None:
        """Replace the watch by one that reports its progress: other prefixes have changed, and this one has not.

        The gateway takes no request on a stream whose response has begun. So a new watch begins after the delivered
        revision, and requests for its progress follow before its response. etcd responds to them when it has sent all
        events up to its revision, and drops those that come before.
        """
        if self._successor is not None:
            return  # the reader has not read to the end of the present one
        try:
            if self._has_ordered_progress is None:
                self._has_ordered_progress = await self._gateway.version(member) >= _ORDERED_PROGRESS
            if not self._has_ordered_progress:
                return
            self._successor, _ = await self._open_at(member, delivered, [{"progress_request": {}}] * _PROGRESS_REQUESTS)
        except ListWatchError as error:
            _log.debug("Cannot request the progress of a watch: %s", error, extra={"server": member.host})
            return  # the present watch continues
        assert self._messages is not None
        self._messages.close()


class _Messages:
    """Reads the messages of a stream, one per line; a line has at most `max_event_size` bytes."""

    def __init__(self, stream: AiohttpStream, member: Member) -> None:
        self.host = member.host
        self._stream = stream
        self._unread: list[WatchResponse] = []
        self._lines = LineSplitter(max_size=stream.max_event_size)
        self._is_closed = False
        self._error: ListWatchError | None = None

    @property
    def max_held(self) -> int:
        """The limit in bytes for the values of one revision, which are held until they are complete."""
        return self._stream.max_response_size

    def fail(self, error: ListWatchError) -> None:
        """Raise an error with the next read."""
        self._error, self._unread = error, []
        self.close()

    def unread(self, messages: list[WatchResponse]) -> None:
        """Return messages again with the next read."""
        self._unread = messages

    async def read(self) -> list[WatchResponse]:
        """Return the messages of one network read; none at the end. Raises the error that the member sent."""
        if self._unread:
            unread, self._unread = self._unread, []
            return unread
        if self._error is not None:
            raise self._error
        while piece := await self._stream.read():
            try:
                lines = self._lines.feed(piece)
            except ResponseTooLargeError:
                self.close()
                reason = f"a message of the watch has more than {self._lines.max_size:,} bytes"
                raise ResponseTooLargeError(reason, doing=_DOING, host=self.host) from None
            if messages := self._decoded(lines):
                return messages
        # etcd 3.5 sends the error that ends a stream without a line feed.
        last = b"" if self._is_closed else self._lines.finish()
        return [self._message(last)] if last else []

    def _decoded(self, lines: list[bytes]) -> list[WatchResponse]:
        messages: list[WatchResponse] = []
        for line in lines:
            try:
                messages.append(self._message(line))
            except ListWatchError as error:
                if not messages:
                    raise
                self._error = error  # after the messages before it
                break
        return messages

    def _message(self, line: bytes) -> WatchResponse:
        frame = decode(line, WatchFrame)
        if frame.error is not None:
            raise error_of(frame.error.code or frame.error.grpc_code, frame.error.message, _DOING, self.host)
        if frame.result is None:
            raise ProtocolError("a message of the watch is empty", doing=_DOING, host=self.host)
        return frame.result

    def close(self) -> None:
        self._is_closed = True
        self._stream.close()
