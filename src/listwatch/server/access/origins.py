"""Protects a server that accepts anonymous requests from web pages.

A page of any site can make a browser send requests to a server on the same machine. It cannot choose two headers of
them: Host, which has the name of the page's site if that name was pointed at this machine (DNS rebinding), and Origin,
which has the site of the page. Requests with credentials need no such protection: a page does not know them.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from listwatch.errors import ForbiddenError, StatusDetails

__all__ = ["AllowedHosts"]

_ALL_ADDRESSES = ("0.0.0.0", "::", "")
_MAX_SHOWN = 100


class AllowedHosts:
    """The hosts by which clients may address the server: loopback names and addresses, and the one it listens on.

    If it listens on all addresses, every address is allowed, but no name except loopback ones.
    """

    def __init__(self, host: str) -> None:
        self._host = host.lower()

    def check(self, headers: Mapping[str, str]) -> None:
        """Raise ForbiddenError for a request that a web page of another site may have caused."""
        host = headers.get("Host", "")
        if host and not self._is_allowed(_name_of(f"//{host}")):
            raise _forbidden("Host", host)
        origin = headers.get("Origin", "")
        if origin and not self._is_allowed(_name_of(origin)):
            raise _forbidden("Origin", origin)

    def _is_allowed(self, name: str) -> bool:
        if (name and name in (self._host, "localhost")) or name.endswith(".localhost"):
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or self._host in _ALL_ADDRESSES


def _name_of(url: str) -> str:
    """Return the host of a URL without its port; empty if it has none, or is malformed."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _forbidden(header: str, value: str) -> ForbiddenError:
    shown = value[:_MAX_SHOWN].encode("ascii", "replace").decode()
    message = (
        f'forbidden: the {header} header "{shown}" does not name this server; anonymous requests are accepted only for '
        "a loopback address or the address that the server listens on. Use that address, or send credentials"
    )
    return ForbiddenError(message, details=StatusDetails())
