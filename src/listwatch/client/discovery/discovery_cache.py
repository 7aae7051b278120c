"""Caches the discovery of a server in memory, and optionally on disk."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
from functools import cached_property
from pathlib import Path
from typing import Self

import msgspec

from listwatch.api.discovery import DiscoveryResult, partial_result, result_from_dict, result_to_dict
from listwatch.atomic_file import replace_file
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock, SystemClock
from listwatch.errors import APIError, DecodeError, DiscoveryError, TransportError
from listwatch.objects.json.wire import DECODE_FAILURES

__all__ = ["DISCOVERY_TTL", "DiscoveryCache"]

_log = logging.getLogger("listwatch.client")

DISCOVERY_TTL = 6 * 3600.0


class DiscoveryCache:
    """The cached discovery of a server; concurrent callers share one discovery.

    With a folder, the result is also cached on disk, for `ttl` seconds and for all programs of this user.

    `discovery` is a DiscoveryClient to share, or the argument of a new one: a ClientConfig, a RESTClient to share, or
    nothing for `load_config()`. What is shared is not closed with the cache.
    """

    def __init__(
        self,
        discovery: DiscoveryClient | ClientConfig | RESTClient | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        ttl: float = DISCOVERY_TTL,
        clock: Clock | None = None,
    ) -> None:
        self._owns_discovery = not isinstance(discovery, DiscoveryClient)
        self._discovery = discovery if isinstance(discovery, DiscoveryClient) else DiscoveryClient(discovery)
        self._folder = None if folder is None else Path(folder)
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._result: DiscoveryResult | None = None
        self._lock = asyncio.Lock()
        self._oldest_valid = 1  # the number of the first discovery whose result may be cached
        self._discoveries = 0

    @property
    def discoveries(self) -> int:
        """The number of discoveries so far. If it did not change during a failed lookup, the cache may be stale."""
        return self._discoveries

    async def discovered(self) -> DiscoveryResult:
        """Return the groups and resources of the server; `failures` has what could not be discovered."""
        if self._result is not None and not _should_retry(self._result):
            return self._result
        async with self._lock:
            if self._result is None or _should_retry(self._result):
                self._result = self._read_file()
                return self._result or await self._discover()
            return self._result

    def invalidate(self) -> None:
        """Discard the cached result; the next call performs discovery."""
        self._result = None
        self._oldest_valid = self._discoveries + 1  # a discovery in progress may be outdated as well
        if self._file:
            with contextlib.suppress(OSError):
                self._file.unlink()

    async def aclose(self) -> None:
        """Close all connections, unless they are shared."""
        if self._owns_discovery:
            await self._discovery.aclose()

    async def __aenter__(self) -> Self:
        await self._discovery.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<DiscoveryCache of {self._discovery!r}>"

    async def _discover(self) -> DiscoveryResult:
        self._discoveries += 1
        number = self._discoveries
        try:
            result = await self._discovery.server_groups_and_resources()
        except DiscoveryError as error:
            result = partial_result(error)
            if not result.groups:
                raise
        if number >= self._oldest_valid:
            self._result = result
            self._write_file(result)
        return result

    # --- on disk -----------------------------------------------------------------------------------------------------

    @cached_property
    def _file(self) -> Path | None:
        # On first use: a client without a configuration loads it then.
        return None if self._folder is None else self._folder / _file_name(self._discovery.rest.config.base_url)

    def _read_file(self) -> DiscoveryResult | None:
        if self._file is None:
            return None
        try:
            age = self._clock.now().timestamp() - self._file.stat().st_mtime
            return result_from_dict(msgspec.json.decode(self._file.read_bytes())) if age < self._ttl else None
        except (OSError, DecodeError, *DECODE_FAILURES):
            return None  # missing or invalid: discover instead

    def _write_file(self, result: DiscoveryResult) -> None:
        if self._file is None or result.failures or not result.resources:
            return
        try:
            # Atomically: other programs may read and write it.
            replace_file(self._file, msgspec.json.encode(result_to_dict(result)))
        except OSError as error:
            _log.info(
                "The discovery cache file %s cannot be written: %s", self._file, error, extra={"file": str(self._file)}
            )


def _file_name(url: str) -> str:
    return f"discovery-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"


def _should_retry(result: DiscoveryResult) -> bool:
    return any(map(_is_transient, result.failures.values()))


def _is_transient(error: Exception) -> bool:
    """Whether a retry may succeed: the server was unavailable or overloaded."""
    return isinstance(error, TransportError) or (
        isinstance(error, APIError) and (error.status_code >= 500 or error.status_code == 429)
    )
