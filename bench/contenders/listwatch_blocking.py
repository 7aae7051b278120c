"""listwatch, blocking API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import listwatch as lw
from bench.contenders.listwatch import READER
from bench.harness.contender import Client
from listwatch import blocking

__all__ = ["READER", "client"]


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    with blocking.ClientSet(lw.ClientConfig(host=url)) as connected:

        async def pods() -> Iterable[Any]:
            return connected.core_v1.pods().list()

        yield Client(pods=pods)
