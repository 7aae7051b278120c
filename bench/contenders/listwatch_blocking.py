"""listwatch for programs without an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import listwatch as lw
from bench.contender import Client
from bench.contenders.listwatch import READING
from listwatch import blocking

__all__ = ["READING", "client"]


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    with blocking.ClientSet(lw.ClientConfig(host=url)) as connected:

        async def pods() -> Iterable[Any]:
            return connected.core_v1.pods().list()

        yield Client(pods=pods)
