"""Records what clients receive, without delaying them: a thread compresses and writes.

transport ─▶ RecordedExchange ─▶ Recorder ─▶ queue of bytes ─▶ thread ─▶ RecordingWriter
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from weakref import finalize

from listwatch._version import __version__
from listwatch.api.http_messages import is_json, media_type, retry_after
from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.recording.recording_file import RecordingWriter
from listwatch.recording.records import FORMAT, Data, End, Ending, Request, Response, Start, Stop, encode_record
from listwatch.recording.redaction import SecretRedactor
from listwatch.recording.targets import Target

__all__ = ["RecordedExchange", "Recorder", "RecorderStatistics"]

_log = logging.getLogger("listwatch.recording")

_MEMBER_SIZE = 1 << 20
_FLUSH_INTERVAL = 1.0
"""Seconds after which records are written, even if they are few."""
_MAX_BACKLOG = 32 << 20
"""The limit of the backlog in bytes; above it, clients wait for the disk."""
_MAX_WAIT = 10.0
"""Seconds for which a client waits for the disk before the recording stops."""
DEFAULT_MAX_SIZE = 1 << 30


@dataclass(frozen=True, slots=True)
class RecorderStatistics:
    """Counters of a recorder."""

    received: int
    """Bytes that were recorded, before compression."""
    written: int
    """The size of the file."""
    backlog: int
    """Bytes that are not written yet."""
    stopped: str
    """Why the recording has stopped; empty while it records."""


class Recorder:
    """Writes what clients receive to a file: lists, watch events, bookmarks and errors, with their times.

    Pass it, or only the name of a file, as `record` to a client. Several clients, in several threads, may share one;
    then the caller closes it. If the file is a recording, the recorder appends to it.

    Headers and tokens are never recorded. Of Secrets, only metadata and the names of keys are recorded, unless
    `secrets` is true. Writes, subresources such as logs, and tables are not recorded.

    When the file has `max_size` bytes, the disk is full, or it does not keep up, the recording stops with a warning in
    the log, and the clients continue without it. At most a second is lost if the process is killed.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        max_size: int = DEFAULT_MAX_SIZE,
        secrets: bool = False,
        clock: Clock | None = None,
    ) -> None:
        if max_size < 1:
            raise UsageError(f"max_size must be a positive number of bytes, not {max_size!r}")
        self._file = Path(file)
        self._secrets = secrets
        self._clock = clock or SystemClock()
        self._writer = _WriterThread(self._file, max_size)
        self._started = 0.0
        self._last_id = 0
        self._lock = threading.Lock()
        self._is_open = False
        self._is_closed = False

    @property
    def file(self) -> Path:
        """The file that is written."""
        return self._file

    @property
    def is_recording(self) -> bool:
        """Whether records are written: false before it is open, after it is closed, and after a failure."""
        return self._is_open and not self._is_closed and not self._writer.stopped

    def open(self) -> None:
        """Open the file, if it is not open; clients do that with their first request. Raises ConfigError."""
        with self._lock:
            if self._is_closed:
                raise UsageError("the recorder is closed; create another one")
            if self._is_open:
                return
            self._writer.open()
            finalize(self, self._writer.close)  # at the exit of the interpreter at the latest
            self._started = self._clock.monotonic()
            # It is the first record: other threads record when the recorder is open.
            self._writer.put(encode_record(Start(FORMAT, self._clock.now().timestamp(), __version__)))
            self._is_open = True

    def close(self) -> None:
        """Write what is left, and close the file. Clients that still use the recorder continue without recording."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        if self._is_open:
            self._writer.put(encode_record(Stop(self._at(), "closed")))
            self._writer.close()

    def flush(self) -> None:
        """Wait until everything that was received is written."""
        self._writer.flush()

    def statistics(self) -> RecorderStatistics:
        """Return how much was received and written, and whether the recording has stopped."""
        writer = self._writer
        return RecorderStatistics(
            received=writer.received, written=writer.written, backlog=writer.backlog, stopped=writer.stopped
        )

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "recording" if self.is_recording else self._writer.stopped or ("closed" if self._is_closed else "new")
        return f"<Recorder of {str(self._file)!r}, {state}>"

    # --- for the transport -------------------------------------------------------------------------------------------

    def _begin(self, target: Target) -> RecordedExchange | None:
        """Record a request; None if the recording has stopped."""
        if not self._is_open and not self._is_closed:
            self.open()
        if not self.is_recording:
            return None
        with self._lock:
            self._last_id += 1
            number = self._last_id
        exchange = RecordedExchange(self, number, target, redacts=target.is_secret and not self._secrets)
        self._put(
            Request(
                self._at(),
                number,
                target.verb,
                target.version,
                target.resource,
                group=target.group,
                namespace=target.namespace,
                name=target.name,
                query=target.query,
                metadata_only=target.metadata_only,
            )
        )
        return exchange

    def _at(self) -> float:
        return round(self._clock.monotonic() - self._started, 6)

    def _put(self, record: Request | Response | Data | End, body: bytes = b"") -> None:
        if not self._is_closed:
            self._writer.put(encode_record(record, body))

    @property
    def _is_behind(self) -> bool:
        return self._writer.backlog > _MAX_BACKLOG

    async def _wait_written(self) -> None:
        """Wait until the backlog is written; stop the recording if that takes too long."""
        loop = asyncio.get_running_loop()
        written = loop.create_future()
        if not self._writer.on_written(loop, written):
            return
        try:
            async with asyncio.timeout(_MAX_WAIT):
                await written
        except TimeoutError:
            self._writer.stop(f"the disk did not keep up for {_MAX_WAIT:g} s")


class RecordedExchange:
    """A request and its response, while they are recorded."""

    def __init__(self, recorder: Recorder, number: int, target: Target, *, redacts: bool) -> None:
        self._recorder = recorder
        self._number = number
        self._redactor = SecretRedactor(is_stream=target.verb == "watch") if redacts else None
        self._is_left_out = False
        self._is_over = False

    def response(self, status: int, headers: Mapping[str, str]) -> None:
        """Record the head of a response."""
        recorder = self._recorder
        seconds = retry_after(headers) or 0
        self._is_left_out = self._redactor is not None and not is_json(headers)
        recorder._put(Response(recorder._at(), self._number, status, media_type(headers), seconds))

    def data(self, piece: bytes) -> None:
        """Record a part of the body."""
        if self._is_left_out:
            return
        if self._redactor is not None:
            piece = self._redactor.feed(piece)
        if piece:
            self._put_data(piece)

    def end(self, how: Ending) -> None:
        """Record the end; later calls have no effect."""
        if self._is_over:
            return
        self._is_over = True
        if self._redactor is not None and not self._is_left_out and (rest := self._redactor.finish()):
            self._put_data(rest)
        recorder = self._recorder
        recorder._put(End(recorder._at(), self._number, how))

    def _put_data(self, piece: bytes) -> None:
        recorder = self._recorder
        recorder._put(Data(recorder._at(), self._number, len(piece)), piece)

    async def wait_written(self) -> None:
        """Wait while the backlog is too large."""
        if self._recorder._is_behind:
            await self._recorder._wait_written()


class _WriterThread:
    """Collects encoded records, and writes them in a thread, a member of the file at a time."""

    def __init__(self, file: Path, max_size: int) -> None:
        self._writer = RecordingWriter(file)
        self._max_size = max_size
        self._changed = threading.Condition()
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._writing_size = 0
        self._is_closing = False
        self._flushes = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._thread: threading.Thread | None = None
        self.received = 0
        self.written = 0
        self.stopped = ""

    @property
    def backlog(self) -> int:
        return self._pending_size + self._writing_size

    def open(self) -> None:
        """Raises ConfigError."""
        self._writer.open()
        self.written = self._writer.size
        self._thread = threading.Thread(target=self._run, name=f"recorder of {self._writer.file.name}", daemon=True)
        self._thread.start()

    def put(self, encoded: bytes) -> None:
        with self._changed:
            if self.stopped or self._is_closing:
                return
            self._pending.append(encoded)
            self._pending_size += len(encoded)
            self.received += len(encoded)
            if len(self._pending) == 1 or self._pending_size >= _MEMBER_SIZE:
                self._changed.notify_all()

    def flush(self) -> None:
        with self._changed:
            self._flushes = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self.backlog or self.stopped or self._thread is None)
            self._flushes = False

    def close(self) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def on_written(self, loop: asyncio.AbstractEventLoop, written: asyncio.Future[None]) -> bool:
        """Complete a future when the backlog is small; False if it is small already."""
        with self._changed:
            if self.stopped or self.backlog <= _MAX_BACKLOG:
                return False
            self._waiting.append((loop, written))
            return True

    def stop(self, reason: str) -> None:
        """Record nothing more."""
        with self._changed:
            if self.stopped:
                return
            self.stopped = reason
            self._pending.clear()
            self._pending_size = 0
            self._changed.notify_all()
        _log.warning(
            "The recording %s stopped: %s; clients continue without it",
            self._writer.file,
            reason,
            extra={"file": str(self._writer.file), "reason": reason, "bytes": self.written},
        )

    def _run(self) -> None:
        try:
            while content := self._take():
                self._write(content)
                with self._changed:
                    self._writing_size = 0
                    self._changed.notify_all()
                    self._wake_clients()
        finally:
            self._writer.close()
            with self._changed:
                self._thread = None
                self._changed.notify_all()
                self._wake_clients()

    def _take(self) -> bytes:
        """Wait for enough records, or for a while; empty at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._is_closing or self.stopped)
            if self._pending:
                self._changed.wait_for(
                    lambda: self._pending_size >= _MEMBER_SIZE or self._is_closing or self._flushes or self.stopped,
                    timeout=_FLUSH_INTERVAL,
                )
            count = size = 0
            for record in self._pending:
                if size >= _MEMBER_SIZE:
                    break
                count += 1
                size += len(record)
            content = b"".join(self._pending[:count])
            del self._pending[:count]
            self._pending_size -= size
            self._writing_size = size
            return content

    def _write(self, content: bytes) -> None:
        try:
            if not self._writer.append(content, max_size=self._max_size):
                self.stop(f"the file has reached max_size, {self._max_size} bytes")
        except OSError as error:
            self.stop(f"the file cannot be written ({error.strerror})")
        self.written = self._writer.size

    def _wake_clients(self) -> None:
        if self.backlog > _MAX_BACKLOG and not self.stopped:
            return
        waiting, self._waiting = self._waiting, []
        for loop, written in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_complete, written)


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
