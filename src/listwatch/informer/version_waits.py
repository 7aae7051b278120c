"""Who waits until a cache has seen a version, so that a program reads its own writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.errors import ResourceVersionError
from listwatch.meta import compare_resource_versions, is_newer

__all__ = ["VersionWaits", "oldest"]


class VersionWaits:
    """Waits of which each ends when what it looks at is as new as a version."""

    def __init__(self) -> None:
        self._waits: dict[asyncio.Future[None], tuple[str, Callable[[], str]]] = {}
        self._error: Exception | None = None

    async def wait(self, resource_version: str, present: Callable[[], str]) -> None:
        """Return when `present()` is that version or a newer one, as of the last `check`."""
        compare_resource_versions(resource_version, resource_version)  # raises for what never could be compared
        if _is_as_new(present(), resource_version):
            return
        if self._error is not None:
            raise self._error
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits[reached] = (resource_version, present)
        try:
            await reached
        finally:
            del self._waits[reached]

    def check(self) -> None:
        """End the waits that are over."""
        for reached, (resource_version, present) in self._waits.items():
            try:
                if not reached.done() and _is_as_new(present(), resource_version):
                    reached.set_result(None)
            except ResourceVersionError as error:
                reached.set_exception(error)

    def fail(self, error: Exception) -> None:
        """Raise an error in every wait, also in those to come."""
        self._error = error
        for reached in self._waits:
            if not reached.done():
                reached.set_exception(error)


def oldest(versions: list[str]) -> str:
    """The oldest of these versions; none while one of them is not known, or where they cannot be compared."""
    found = versions[0]
    for version in versions[1:]:
        try:
            found = version if is_newer(found, version) else found
        except ResourceVersionError:
            return ""
    return found


def _is_as_new(present: str, resource_version: str) -> bool:
    return present not in ("", "0") and not is_newer(resource_version, present)
