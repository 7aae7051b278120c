"""The WebSocket subprotocols of exec, attach and port-forward: messages that begin with the number of a channel.

v5.channel.k8s.io                        a client can close its stdin: 255, then the channel
v4.channel.k8s.io                        the error channel has a Status
channel.k8s.io, or none                  the error channel has a text
v4.base64.channel.k8s.io, base64.…       text messages: the digit of the channel, then base64
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["ERROR", "RESIZE", "STDERR", "STDIN", "STDOUT", "ChannelProtocol", "Received", "choose"]

STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
_CLOSE = 255
_ZERO = ord("0")


@dataclass(frozen=True, slots=True)
class Received:
    """A message of a client: data on a channel, or that the channel is closed."""

    channel: int
    data: bytes = b""
    is_close: bool = False


@dataclass(frozen=True, slots=True)
class ChannelProtocol:
    """One of the subprotocols."""

    name: str
    has_status: bool = True
    has_close: bool = False
    is_base64: bool = False

    def encode(self, channel: int, data: bytes) -> bytes | str:
        """Return a message: bytes or, with base64, text."""
        return f"{channel}{b64encode(data).decode()}" if self.is_base64 else bytes((channel,)) + data

    def decode(self, message: bytes | str) -> Received | None:
        """Return what a client has sent; None for a message to be ignored. ValueError if the client must stop."""
        octets = message.encode() if isinstance(message, str) else message
        if not octets:
            return None
        if self.has_close and octets[0] == _CLOSE:
            if len(octets) != 2 or octets[1] > RESIZE:
                raise ValueError("a close message has exactly one channel")
            return Received(octets[1], is_close=True)
        if not self.is_base64:
            return Received(octets[0], octets[1:])
        try:
            return Received(octets[0] - _ZERO, b64decode(octets[1:], validate=True))
        except ValueError:
            return None


_V5 = ChannelProtocol("v5.channel.k8s.io", has_close=True)
_V4 = (ChannelProtocol("v4.channel.k8s.io"), ChannelProtocol("v4.base64.channel.k8s.io", is_base64=True))
_NONE = ChannelProtocol("", has_status=False)
_OLD = (
    ChannelProtocol("channel.k8s.io", has_status=False),
    ChannelProtocol("base64.channel.k8s.io", has_status=False, is_base64=True),
)

COMMANDS: Mapping[str, ChannelProtocol] = {each.name: each for each in (*_V4, _NONE, *_OLD)}
"""The protocols of exec and attach that a kubelet serves."""
PORTS: Mapping[str, ChannelProtocol] = {each.name: each for each in (*_V4, _NONE)}
"""The protocols of port-forward that a kubelet serves."""
TRANSLATED: Mapping[str, ChannelProtocol] = {_V5.name: _V5}
"""Served by kube-apiserver itself, which upgrades before it connects to the kubelet."""


def choose(requested: Iterable[str], served: Mapping[str, ChannelProtocol]) -> ChannelProtocol | None:
    """Return the first requested protocol that is served; no requested protocol is a protocol without a name."""
    return next((served[name] for name in (tuple(requested) or ("",)) if name in served), None)
