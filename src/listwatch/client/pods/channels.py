"""The WebSocket subprotocols of exec, attach and port-forward: each message begins with the number of its channel.

v5.channel.k8s.io    as v4; in addition, a client closes its stdin with the message 255, 0
v4.channel.k8s.io    the error channel has a Status with the exit code
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import ProtocolError
from listwatch.json_value import JSONObject

__all__ = [
    "COMMAND_PROTOCOLS",
    "ERROR",
    "PORT_PROTOCOLS",
    "STDERR",
    "STDIN",
    "STDOUT",
    "StatusReader",
    "can_close_stdin",
    "close_message",
    "data_messages",
    "resize_message",
]

STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
_CLOSE = 255
_V5, _V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"

COMMAND_PROTOCOLS = (_V5, _V4)
"""The subprotocols of exec and attach, the preferred one first."""
PORT_PROTOCOLS = (_V4,)
"""The subprotocols of port-forward."""

_MAX_DATA = 32 * 1024  # of one message, as kubectl sends it
_MAX_STATUS = 2**20
_decode_status = msgspec.json.Decoder(dict).decode


def can_close_stdin(protocol: str) -> bool:
    """Whether a client can end the input of a command without closing the connection."""
    return protocol == _V5


def data_messages(channel: int, data: bytes) -> Iterator[bytes]:
    """Yield the messages that carry data on a channel."""
    head = bytes((channel,))
    for start in range(0, len(data), _MAX_DATA):
        yield head + data[start : start + _MAX_DATA]


def close_message(channel: int) -> bytes:
    """Return the message that closes a channel."""
    return bytes((_CLOSE, channel))


def resize_message(width: int, height: int) -> bytes:
    """Return the message with a new size of the terminal, in characters."""
    return bytes((RESIZE,)) + msgspec.json.encode({"Width": width, "Height": height})


class StatusReader:
    """Reads the exit code from the error channel, whose Status may arrive in several messages."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._received = b""
        self._exit_code: int | None = None
        self._error: Exception | None = None

    @property
    def is_complete(self) -> bool:
        return self._exit_code is not None or self._error is not None

    def feed(self, data: bytes) -> None:
        """Add data of the error channel; data after a complete Status is ignored."""
        if self.is_complete or not data:
            return
        self._received += data
        if len(self._received) > _MAX_STATUS:
            self._error = ProtocolError("the status of the command is too large", doing=self._doing)
            return
        try:
            status: JSONObject = _decode_status(self._received)
        except msgspec.DecodeError:
            return  # incomplete
        try:
            self._exit_code = self._read(status)
        except Exception as error:  # noqa: BLE001  # raised by `exit_code`
            self._error = error.with_traceback(None)

    def exit_code(self) -> int | None:
        """Return the exit code; None if it has not arrived. Raises the error of a command that could not run."""
        if self._error is not None:
            raise self._error
        return self._exit_code

    @property
    def incomplete_text(self) -> str:
        """The text on the error channel that is no Status, as servers with older protocols send it."""
        return "" if self.is_complete else self._received.decode(errors="replace").strip()[:1000]

    def _read(self, status: JSONObject) -> int:
        if status.get("status") == "Success":
            return 0
        error = error_from_status(status, doing=self._doing)
        if error.reason != "NonZeroExitCode":
            raise error
        codes = [each.message for each in error.causes if each.reason == "ExitCode"]
        if not codes or not codes[0].isascii() or not codes[0].isdigit() or len(codes[0]) > 9:
            raise ProtocolError("the status of the command has no valid exit code", doing=self._doing)
        return int(codes[0])
