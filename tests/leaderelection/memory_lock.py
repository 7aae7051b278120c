"""A lock in memory: candidates share a record store, and each has its own lock on it, with scripted failures."""

from __future__ import annotations

import asyncio
from collections import deque

from listwatch.errors import AlreadyExistsError, ConflictError
from listwatch.leaderelection.elector_state import LeaderRecord


class RecordStore:
    """Holds the record that all candidates share."""

    def __init__(self, record: LeaderRecord | None = None) -> None:
        self.record = record
        self.version = 1

    def put(self, record: LeaderRecord | None) -> None:
        self.record = record
        self.version += 1


class MemoryLock:
    """Records its calls, and fails as scripted: with an error, or None for no response at all."""

    name = "memory/lock"

    def __init__(self, store: RecordStore) -> None:
        self.requests: list[str] = []
        self.troubles: deque[Exception | None] = deque()
        self.is_cut_off = False
        self._store = store
        self._seen = 0

    async def get(self) -> LeaderRecord | None:
        await self._arrive("get")
        self._seen = self._store.version
        return self._store.record

    async def create(self, record: LeaderRecord) -> None:
        await self._arrive("create")
        if self._store.record is not None:
            raise AlreadyExistsError("there is a record")
        self._put(record)

    async def update(self, record: LeaderRecord) -> None:
        await self._arrive("update")
        if self._seen != self._store.version:
            raise ConflictError("the record was changed")
        self._put(record)

    def _put(self, record: LeaderRecord) -> None:
        self._store.put(record)
        self._seen = self._store.version

    async def _arrive(self, request: str) -> None:
        self.requests.append(request)
        trouble = self.troubles.popleft() if self.troubles else False
        if trouble is None or self.is_cut_off:
            await asyncio.get_running_loop().create_future()
        if isinstance(trouble, Exception):
            raise trouble
