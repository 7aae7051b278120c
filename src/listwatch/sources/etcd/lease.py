"""Leases: keys that disappear when the process that wrote them does."""

from __future__ import annotations

import asyncio
import logging
import math
from types import TracebackType
from typing import Any, Protocol, Self

from listwatch.clock import time_limit
from listwatch.errors import ListWatchError, NotFoundError, UsageError
from listwatch.logs.folded_log import FoldedLog, cause_of_text
from listwatch.sources.etcd.etcd_client import EtcdClient
from listwatch.sources.etcd.messages import LeaseGranted, LeaseKeptAlive, Written
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = ["EtcdLease", "LeasedStore"]

_log = logging.getLogger("listwatch.sources.etcd")

_MIN_TTL = 2.0  # etcd's minimum


class LeasedStore(Protocol):
    """What `EtcdLease.hold` writes to, such as an EtcdStore; its leases are those of the same API."""

    def put(self, key: str, value: object, /, *, lease: Any = None) -> object: ...


class EtcdLease:
    """A lease that is renewed inside `async with`, and revoked at its end, which deletes its keys.

    If the process dies, etcd deletes the keys about `ttl` seconds later. If the lease was lost, because etcd could not
    be reached for too long, a new one is granted, and the keys that were written with `hold` are written again.
    """

    def __init__(self, client: EtcdClient, *, ttl: float = 15.0) -> None:
        if not ttl >= _MIN_TTL:
            raise UsageError(f"ttl={ttl!r}: expected at least {_MIN_TTL:g} seconds")
        self._gateway = client._gateway
        self._clock = self._gateway.clock
        self._ttl = math.ceil(ttl)
        self._id = ""
        self._held: dict[tuple[LeasedStore, str], object] = {}
        self._to_write: list[tuple[LeasedStore, str]] = []  # held, but not written since the lease was lost
        self._writing = asyncio.Lock()
        self._renewing: asyncio.Task[None] | None = None
        self._losses = 0

    def __repr__(self) -> str:
        return f"<EtcdLease {self._id or 'not granted'}, {self._ttl} s>"

    @property
    def id(self) -> str:
        """The identifier in etcd; another one after a loss."""
        if not self._id:
            raise UsageError("the lease is not granted; use it inside `async with`")
        return self._id

    @property
    def losses(self) -> int:
        """How often the lease was lost and granted anew."""
        return self._losses

    async def hold(self, store: LeasedStore, key: str, value: object) -> None:
        """Write an object with this lease; it is written again whenever the lease was lost."""
        async with self._writing:
            try:
                await self._put(store, key, value)
            except NotFoundError:  # of the lease, since a put finds or creates the key
                await self._replace(self._id)
                await self._put(store, key, value)
            self._held[store, key] = value
            self._to_write = [each for each in self._to_write if each != (store, key)]

    async def __aenter__(self) -> Self:
        await self._grant()
        self._renewing = asyncio.create_task(self._renew_until_cancelled(), name=f"renewal of lease {self._id}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._renewing is not None:
            await cancel_and_wait(self._renewing)
        lease, self._id = self._id, ""
        try:
            async with time_limit(self._clock, self._ttl):
                await self._gateway.write("/v3/lease/revoke", {"ID": lease}, Written)
        except (ListWatchError, TimeoutError) as problem:
            _log.warning("Cannot revoke lease %s, which will expire: %s", lease, problem, extra={"lease": lease})

    async def _grant(self) -> None:
        granted = await self._gateway.write("/v3/lease/grant", {"TTL": str(self._ttl)}, LeaseGranted)
        self._id = granted.id

    async def _renew_until_cancelled(self) -> None:
        failures, log = 0, FoldedLog(_log, self._clock)
        while True:
            await self._clock.sleep(self._ttl / (6 if failures else 3))
            try:
                await self._renew()
            except ListWatchError as error:
                failures += 1
                message = "Cannot renew lease %s: %s; attempt %d failed, retrying in %g s"
                fields = {"lease": self._id, "attempt": failures, "delay": self._ttl / 6}
                values = (self._id, error, failures, self._ttl / 6)
                log.log(logging.WARNING, cause_of_text(error), message, *values, fields=fields)
            else:
                failures = 0

    async def _renew(self) -> None:
        # The gateway ends the stream with the body, so that each renewal is a request.
        limit, lease = min(self._ttl / 3, self._gateway.timeout), self._id
        kept = await self._gateway.read("/v3/lease/keepalive", {"ID": lease}, LeaseKeptAlive, timeout=limit)
        if kept.result.ttl == "0":
            async with self._writing:
                await self._replace(lease)
        if self._to_write:
            async with self._writing:
                await self._write_again()

    async def _replace(self, lost: str) -> None:
        """Grant a new lease, unless that was done already; what was held is written again."""
        if self._id != lost:
            return
        _log.warning("Lease %s has expired and is granted anew", lost, extra={"lease": lost})
        await self._grant()
        self._losses += 1
        self._to_write = [*self._held]

    async def _write_again(self) -> None:
        """Write what was held; what fails is written after the next renewal."""
        failed: list[tuple[LeasedStore, str]] = []
        for store, key in self._to_write:
            try:
                await self._put(store, key, self._held[store, key])
            except Exception as error:  # noqa: BLE001  # a store of the user may raise anything; renewals must continue
                failed.append((store, key))
                fields = {"lease": self._id, "key": key}
                _log.warning("Cannot write %s again with lease %s: %s", key, self._id, error, extra=fields)
        self._to_write = failed

    async def _put(self, store: LeasedStore, key: str, value: object) -> None:
        written = store.put(key, value, lease=self)
        if asyncio.iscoroutine(written):
            await written
