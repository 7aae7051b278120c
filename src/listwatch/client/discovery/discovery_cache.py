"""Remembers what a server offers, in memory and if asked for on disk, until somebody finds it out of date."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import tempfile
from pathlib import Path

import msgspec

from listwatch.api.discovery import Discovered, discovered_from_dict, discovered_to_dict, found_despite
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.clock import Clock, SystemClock
from listwatch.errors import APIError, DecodeError, DiscoveryError, TransportError
from listwatch.objects.wire import DECODE_FAILURES

__all__ = ["DiscoveryCache"]

_log = logging.getLogger(__name__)

_TTL = 6 * 3600.0


class DiscoveryCache:
    """One answer of a server, asked for once, however many want it at a time.

    With a folder, it is kept there as well, for `ttl` seconds and for all programs of this user.
    """

    def __init__(
        self,
        discovery: DiscoveryClient,
        *,
        folder: str | os.PathLike[str] | None = None,
        ttl: float = _TTL,
        clock: Clock | None = None,
    ) -> None:
        self._discovery = discovery
        self._file = None if folder is None else Path(folder) / _file_name(discovery.rest.config.base_url)
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._known: Discovered | None = None
        self._asking = asyncio.Lock()
        self._oldest = 1  # the first of those times that the server was asked whose answer counts
        self.begun = 0
        """How often the server was asked. Who looks for something in vain, and finds this unchanged, may look again."""

    async def discovered(self) -> Discovered:
        """What is served, as far as it could be learnt: see its `failures`."""
        if self._known is not None and not _is_worth_asking_again(self._known):
            return self._known
        async with self._asking:
            if self._known is None or _is_worth_asking_again(self._known):
                self._known = self._kept()
                return self._known or await self._asked()
            return self._known

    def invalidate(self) -> None:
        """Ask the server at the next opportunity."""
        self._known = None
        self._oldest = self.begun + 1  # what is being asked for now may be out of date as well
        if self._file:
            with contextlib.suppress(OSError):
                self._file.unlink()

    async def _asked(self) -> Discovered:
        self.begun += 1
        this = self.begun
        try:
            discovered = await self._discovery.server_groups_and_resources()
        except DiscoveryError as error:
            discovered = found_despite(error)
            if not discovered.groups:
                raise
        if this >= self._oldest:
            self._known = discovered
            self._keep(discovered)
        return discovered

    # --- on disk -----------------------------------------------------------------------------------------------------

    def _kept(self) -> Discovered | None:
        if self._file is None:
            return None
        try:
            age = self._clock.now().timestamp() - self._file.stat().st_mtime
            return discovered_from_dict(msgspec.json.decode(self._file.read_bytes())) if age < self._ttl else None
        except (OSError, DecodeError, *DECODE_FAILURES):
            return None  # nothing there, or nothing that can be used: the server knows better anyway

    def _keep(self, discovered: Discovered) -> None:
        if self._file is None or discovered.failures or not discovered.resources:
            return
        try:
            _write(self._file, msgspec.json.encode(discovered_to_dict(discovered)))
        except OSError as error:
            _log.info("cannot keep what the server offers in %s: %s", self._file, error)


def _write(file: Path, content: bytes) -> None:
    """All of it or nothing, whoever else reads or writes meanwhile."""
    file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as draft:
            draft.write(content)
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _file_name(url: str) -> str:
    return f"discovery-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"


def _is_worth_asking_again(known: Discovered) -> bool:
    return any(map(_is_passing, known.failures.values()))


def _is_passing(error: Exception) -> bool:
    """Whether it may be gone by now: a server that is away or busy, and not one that says no."""
    return isinstance(error, TransportError) or (
        isinstance(error, APIError) and (error.status_code >= 500 or error.status_code == 429)
    )
