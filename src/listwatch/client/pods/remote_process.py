"""A command in a container, over a WebSocket: its input, its output and its exit code.

Nothing is read in the background: a caller that reads slowly slows the command down, and no output is buffered here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

from listwatch.client.pods.channels import (
    ERROR,
    STDERR,
    STDIN,
    STDOUT,
    StatusReader,
    can_close_stdin,
    close_message,
    data_messages,
    resize_message,
)
from listwatch.client.rest.transport_protocols import WebSocket
from listwatch.clock import Clock, time_limit
from listwatch.errors import (
    CommandFailedError,
    CommandTimeoutError,
    ConnectionLostError,
    ExitCodeLostError,
    ResponseTooLargeError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = ["DEFAULT_MAX_OUTPUT", "CommandResult", "Output", "RemoteProcess", "describe_command"]

DEFAULT_MAX_OUTPUT = 2**26
"""Bytes of output that `exec` collects."""

# Servers close the connection after the exit code.
_CLOSE_GRACE = 5.0
_STREAMS: dict[int, Literal["stdout", "stderr"]] = {STDOUT: "stdout", STDERR: "stderr"}


class Output(NamedTuple):
    """A piece of the output of a command, as it arrived."""

    stream: Literal["stdout", "stderr"]
    data: bytes


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended, and its output. With a terminal, all output is in `stdout`."""

    exit_code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The standard output as text; bytes that are not UTF-8 are replaced."""
        return self.stdout.decode(errors="replace")

    def check(self, what: str = "the command") -> Self:
        """Return the result itself; CommandFailedError if the exit code is not 0."""
        if self.exit_code:
            last = self.stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
            message = f"{what} ended with exit code {self.exit_code}" + (f": {last}" if last else "")
            raise CommandFailedError(message, exit_code=self.exit_code, stdout=self.stdout, stderr=self.stderr)
        return self


class RemoteProcess:
    """A command that runs in a container, or the main process of a container to which the program is attached.

    Use it with `async with`; leaving the block closes the connection, which ends the command. Iterate over it for the
    output as it arrives. Iterating raises the error of a command that could not be started, and ExitCodeLostError if
    the connection ends before the exit code arrives. Write and read in separate tasks if both are long: a command
    that waits for its output to be read may not read its input.
    """

    def __init__(
        self, opener: Callable[[], Awaitable[WebSocket]], *, doing: str, clock: Clock, has_stdin: bool
    ) -> None:
        self._opener = opener
        self._doing = doing
        self._clock = clock
        self._has_stdin = has_stdin
        self._socket: WebSocket | None = None
        self._status = StatusReader(doing)
        self._is_reading = False
        self._is_closed = False

    @property
    def exit_code(self) -> int | None:
        """The exit code; None until the command has ended and its output was read."""
        return self._status.exit_code() if self._status.is_complete else None

    @property
    def can_close_stdin(self) -> bool:
        """Whether the server lets clients end the input of a command; servers before Kubernetes 1.30 do not."""
        return can_close_stdin(self._open_socket.protocol)

    @property
    def is_closed(self) -> bool:
        """True after the end of the connection, or `close`."""
        return self._is_closed

    async def open(self) -> None:
        """Start the command, or attach, if that was not done yet. Raises the error of an unsuccessful response."""
        if self._socket is None and not self._is_closed:
            self._socket = await self._opener()

    async def write(self, data: bytes | str) -> None:
        """Send input, text as UTF-8; waits while the command reads slowly."""
        socket = self._stdin("write")
        for message in data_messages(STDIN, data.encode() if isinstance(data, str) else bytes(data)):
            await socket.send(message)

    async def close_stdin(self) -> None:
        """End the input, so that a command such as `cat` ends; UsageError if the server does not support that."""
        socket = self._stdin("close_stdin")
        if not self.can_close_stdin:
            raise UsageError(
                f"{self._doing}: the server speaks {socket.protocol or 'an old protocol'}, which cannot end the input "
                "of a command; use a command that knows where its input ends, as `head -c SIZE`"
            )
        await socket.send(close_message(STDIN))

    async def resize(self, width: int, height: int) -> None:
        """Set the size of the command's terminal, in characters."""
        await self._open_socket.send(resize_message(width, height))

    async def wait(self, *, timeout: float | None = None) -> int:
        """Read and drop the remaining output, and return the exit code. CommandTimeoutError after `timeout` seconds."""
        try:
            async with time_limit(self._clock, timeout):
                async for _ in self:
                    pass
        except TimeoutError:
            raise self._timed_out(timeout) from None
        return self._known_exit_code()

    async def communicate(
        self, stdin: bytes | str | None = None, *, timeout: float | None = None, max_output: int = DEFAULT_MAX_OUTPUT
    ) -> CommandResult:
        """Send all input, end it, collect the output, and wait for the exit code.

        ResponseTooLargeError if there are more than `max_output` bytes of output.
        """
        await self.open()
        if stdin is not None and not self.can_close_stdin:
            await self.close_stdin()  # raises, before anything is sent
        collected: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        sending = asyncio.create_task(self._send_all(stdin), name=f"input of {self._doing}")
        try:
            async with time_limit(self._clock, timeout):
                async for stream, data in self:
                    collected[stream] += data
                    if sum(map(len, collected.values())) > max_output:
                        raise _too_much_output(self._doing, max_output)
        except TimeoutError:
            raise self._timed_out(timeout) from None
        except ExitCodeLostError as error:
            error.stdout, error.stderr = bytes(collected["stdout"]), bytes(collected["stderr"])
            raise
        finally:
            await _stop(sending)
        return CommandResult(self._known_exit_code(), bytes(collected["stdout"]), bytes(collected["stderr"]))

    def close(self) -> None:
        """Close the connection at once. A pending read ends the iteration."""
        self._is_closed = True
        if self._socket is not None:
            self._socket.close()

    async def aclose(self) -> None:
        """Close the connection, which ends the command if it still runs."""
        self._is_closed = True
        if self._socket is not None:
            await self._socket.aclose()

    # --- Reading

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Output:
        await self.open()
        if self._is_reading:
            raise UsageError(f"{self._doing}: another task is already reading the output")
        self._is_reading = True
        try:
            output = await self._read()
        finally:
            self._is_reading = False
        if output is None:
            raise StopAsyncIteration
        return output

    async def _read(self) -> Output | None:
        """Return the next piece of output; None after the exit code."""
        while not self._is_closed:
            message = await self._receive()
            if message is None:
                break
            channel, data = message[0], message[1:]
            if channel == ERROR:
                self._status.feed(data)
            elif channel in _STREAMS and data:
                return Output(_STREAMS[channel], data)
        was_closed = self._is_closed
        await self.aclose()
        if self._status.exit_code() is None and not was_closed:
            raise self._lost()
        return None

    async def _receive(self) -> bytes | None:
        socket = self._open_socket
        try:
            if not self._status.is_complete:
                message = await socket.receive()
            else:
                message = await socket.receive(timeout=_CLOSE_GRACE)
        except (ConnectionLostError, TransportTimeoutError) as error:
            if self._status.is_complete or self._is_closed:
                return None
            lost = self._lost()
            lost.__cause__ = error.with_traceback(None)
            problem: ExitCodeLostError = lost
        else:
            return message or (None if message is None else b"\xff")  # an empty message has no channel
        await self.aclose()
        raise problem

    def _known_exit_code(self) -> int:
        code = self.exit_code
        if code is None:
            raise UsageError(f"{self._doing}: the connection was closed by this program before the command ended")
        return code

    def _timed_out(self, timeout: float | None) -> CommandTimeoutError:
        return CommandTimeoutError(f"{self._doing}: the command did not end within {timeout or 0:g} s")

    def _lost(self) -> ExitCodeLostError:
        said = f"; the server sent: {self._status.incomplete_text}" if self._status.incomplete_text else ""
        return ExitCodeLostError(
            f"the connection ended before the exit code arrived; the command may still run{said}", doing=self._doing
        )

    # --- Inside

    @property
    def _open_socket(self) -> WebSocket:
        if self._socket is None:
            raise UsageError(f"{self._doing} is not open; use it with `async with`")
        return self._socket

    def _stdin(self, method: str) -> WebSocket:
        if not self._has_stdin:
            raise UsageError(f"{self._doing}: {method} needs an input; pass stdin=True")
        return self._open_socket

    async def _send_all(self, stdin: bytes | str | None) -> None:
        if stdin is not None:
            await self.write(stdin)
        if self._has_stdin and self.can_close_stdin:
            await self.close_stdin()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open" if self._socket else "not open yet"
        return f"<RemoteProcess {self._doing}, {state}>"


def describe_command(name: str, command: Iterable[str], container: str) -> str:
    """Name a command for messages, without its arguments, which may be secret."""
    where = f"{name}, container {container}" if container else name
    first = next(iter(command), "")
    return f"exec {first} in pod {where}" if first else f"attach to pod {where}"


def _too_much_output(doing: str, limit: int) -> ResponseTooLargeError:
    advice = "pass a larger max_output, or read the output as it arrives with stream_exec"
    return ResponseTooLargeError(f"the command has more than {limit:,} bytes of output; {advice}", doing=doing)


async def _stop(sending: asyncio.Task[None]) -> None:
    """Stop sending input; a command may end before it has read all of it."""
    with suppress(ConnectionLostError):
        await cancel_and_wait(sending)
