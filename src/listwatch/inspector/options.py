"""Where the inspector listens, and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from listwatch.errors import UsageError

__all__ = ["InspectorOptions", "options_at", "options_from"]

_MIN_TOKEN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectorOptions:
    """The address, the token and the limits of an inspector.

    Port 0 selects a free port. Without a `token`, a random one is made at each start. The page can be addressed as
    localhost, by an IP address, or by the names in `allowed_hosts`.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str = field(default="", repr=False)
    allowed_hosts: Sequence[str] = ()
    """Names by which browsers reach the page, for example through a reverse proxy."""
    max_streams: int = 8
    """How many pages can be open at once."""
    interval: float = 1.0
    """Seconds between two updates of the pages."""

    def __post_init__(self) -> None:
        port: object = self.port
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise UsageError(f"InspectorOptions(port={self.port!r}): expected a port from 0 to 65535")
        if self.token and len(self.token) < _MIN_TOKEN:
            raise UsageError(
                f"InspectorOptions(token=...): the token is too short; use at least {_MIN_TOKEN} characters, or pass "
                "none to get a random one"
            )
        if isinstance(self.allowed_hosts, str):
            raise UsageError("InspectorOptions(allowed_hosts=...): expected a list of names")
        if self.max_streams < 1 or self.interval <= 0:
            raise UsageError("InspectorOptions: max_streams and interval must be positive")


def options_from(given: bool | str | InspectorOptions) -> InspectorOptions | None:  # noqa: FBT001  # `inspect=True`
    """The options for `inspect=`: True, an address as `"127.0.0.1:8090"`, or options; None for False."""
    match given:
        case InspectorOptions():
            return given
        case bool():
            return InspectorOptions() if given else None
        case str():
            return options_at(given)
    raise UsageError(f"inspect={given!r}: expected True, an address such as '127.0.0.1:8090', or InspectorOptions")


def options_at(address: str) -> InspectorOptions:
    """The options for an address."""
    host, colon, port = address.rpartition(":")
    is_bare_ipv6 = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not colon or not port.isascii() or not port.isdecimal() or is_bare_ipv6:
        raise UsageError(f"{address!r} is not an address: expected host:port, such as '127.0.0.1:8090' or '[::1]:8090'")
    return InspectorOptions(host=host.strip("[]"), port=int(port)) if host else InspectorOptions(port=int(port))
