"""Waits until a store has reached a version, so that a program can read its own writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.errors import ResourceVersionError
from listwatch.meta import compare_resource_versions, is_newer

__all__ = ["VersionWaits", "has_reached", "oldest"]


class VersionWaits:
    """Pending waits, each for a version of what its own `current` function returns."""

    def __init__(self) -> None:
        self._waits: dict[asyncio.Future[None], tuple[str, Callable[[], str]]] = {}
        self._error: Exception | None = None

    async def wait(self, resource_version: str, current: Callable[[], str]) -> None:
        """Wait until `current()` is that version or a newer one at the time of a `check`."""
        compare_resource_versions(resource_version, resource_version)  # raises if it can never be compared
        if has_reached(current(), resource_version):
            return
        if self._error is not None:
            raise self._error
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits[reached] = (resource_version, current)
        try:
            await reached
        finally:
            del self._waits[reached]

    def check(self) -> None:
        """End the waits whose version was reached."""
        for reached, (resource_version, current) in self._waits.items():
            try:
                if not reached.done() and has_reached(current(), resource_version):
                    reached.set_result(None)
            except ResourceVersionError as error:
                reached.set_exception(error)

    def fail(self, error: Exception) -> None:
        """Raise an error in all pending and future waits."""
        self._error = error
        for reached in self._waits:
            if not reached.done():
                reached.set_exception(error)


def oldest(versions: list[str]) -> str:
    """Return the oldest version; empty if there is none, one of them is unknown, or they cannot be compared."""
    if not versions:
        return ""
    found = versions[0]
    for version in versions[1:]:
        try:
            found = version if is_newer(found, version) else found
        except ResourceVersionError:
            return ""
    return found


def has_reached(current: str, resource_version: str) -> bool:
    """Return whether a store at version `current` contains all changes up to that version."""
    return current not in ("", "0") and not is_newer(resource_version, current)
