"""A log of a container in memory, which can be read with the options of `kubectl logs`, and followed."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from listwatch.clock import Clock, SystemClock
from listwatch.server.kubelet.sessions import LogRequest

__all__ = ["ContainerLog", "last_lines"]

_MAX_LINES = 100_000
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(slots=True)
class _Line:
    """A line with its newline, which the last one of a log may not have yet."""

    time: datetime
    text: bytes

    def encode(self, *, timestamps: bool) -> bytes:
        return _timestamp(self.time) + self.text if timestamps else self.text


class ContainerLog:
    """The log of one container: a test writes to it, from any thread, and clients read and follow it until `close`.

    Beyond `max_lines`, the oldest lines are dropped.
    """

    def __init__(self, *, clock: Clock | None = None, max_lines: int = _MAX_LINES) -> None:
        self._clock = clock or SystemClock()
        self._lines: deque[_Line] = deque()
        self._max_lines = max_lines
        self._dropped = 0
        self._is_closed = False
        self._followers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._lock = threading.Lock()

    def write(self, text: bytes | str, *, time: datetime | None = None) -> None:
        """Append text, by default at the current time; a line without a newline is continued by the next text."""
        octets = text.encode() if isinstance(text, str) else text
        with self._lock:
            for piece in _LINE.findall(octets):
                if self._lines and not self._lines[-1].text.endswith(b"\n"):
                    self._lines[-1].text += piece
                else:
                    self._lines.append(_Line(time or self._clock.now(), piece))
            while len(self._lines) > self._max_lines:
                self._lines.popleft()
                self._dropped += 1
            self._wake()

    def close(self) -> None:
        """End the log, as when its container ends; clients that follow it receive the end."""
        with self._lock:
            self._is_closed = True
            self._wake()

    async def read(self, request: LogRequest) -> AsyncIterator[bytes]:
        """Yield what was requested, and with `follow` all that is written later."""
        woken = asyncio.Event()
        follower = (asyncio.get_running_loop(), woken)
        with self._lock:
            position = self._start(request)
            self._followers.add(follower)
        offset = 0  # in the line at that position
        try:
            while True:
                woken.clear()
                with self._lock:
                    text, position, offset = self._from(position, offset, timestamps=request.timestamps)
                    is_last = self._is_closed or not request.follow
                if text:
                    yield text
                elif is_last:
                    return
                else:
                    await woken.wait()
        finally:
            with self._lock:
                self._followers.discard(follower)

    def _start(self, request: LogRequest) -> int:
        """Return the number of the first line that is requested; lines are counted from the first one written."""
        count = len(self._lines)
        start = 0 if request.tail_lines is None else max(0, count - request.tail_lines)
        since = _since(request, self._clock)
        if since is not None:
            # A line without a later one is the end of the log.
            start = max(start, next((n for n, line in enumerate(self._lines) if line.time >= since), count))
        return self._dropped + start

    def _from(self, position: int, offset: int, *, timestamps: bool) -> tuple[bytes, int, int]:
        """Return all text from a position, and the position after it."""
        if position < self._dropped:
            position, offset = self._dropped, 0
        found = bytearray()
        for line in islice(self._lines, position - self._dropped, None):
            found += line.text[offset:] if offset else line.encode(timestamps=timestamps)
            if line.text.endswith(b"\n"):
                position, offset = position + 1, 0
            else:
                offset = len(line.text)
        return bytes(found), position, offset

    def _wake(self) -> None:
        for loop, woken in self._followers:
            loop.call_soon_threadsafe(woken.set)


def last_lines(text: bytes, count: int | None) -> bytes:
    """Return the last lines of a text; all of them for None."""
    if count is None:
        return text
    return b"".join(_LINE.findall(text)[-count:]) if count else b""


def _since(request: LogRequest, clock: Clock) -> datetime | None:
    if request.since_seconds is not None:
        return clock.now() - timedelta(seconds=request.since_seconds)
    return request.since_time


def _timestamp(time: datetime) -> bytes:
    return f"{time.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S.%f')}000Z ".encode()
