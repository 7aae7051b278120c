"""Shared by the tests of the inspector: requests to a running one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from listwatch.inspector import Inspector, InspectorOptions

TOKEN = "a-token-of-the-tests"


class Served:
    """Requests to an inspector, with its token unless other headers are given."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.url = url
        self.address, _, fragment = url.partition("#")
        self.token = fragment.removeprefix("token=")
        self._session = session

    @asynccontextmanager
    async def request(
        self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None, **query: str
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        sent = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        async with self._session.request(
            method, self.address + path.lstrip("/"), headers=sent, params=query, allow_redirects=False
        ) as response:
            yield response

    async def status(self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None) -> int:
        async with self.request(path, method=method, headers=headers) as response:
            return response.status

    async def text(self, path: str, **query: str) -> str:
        async with self.request(path, **query) as response:
            return await response.text()

    async def read(self, path: str, **query: str) -> Any:
        """The JSON of a response."""
        return msgspec.json.decode(await self.text(path, **query))

    async def snapshot(self) -> Any:
        return await self.read("/api/snapshot")

    async def informer(self, name: str) -> Any:
        [found] = [each for each in (await self.snapshot())["informers"] if each["name"] == name]
        return found

    async def object(self, informer: str, key: str) -> Any:
        return await self.read("/api/object", informer=(await self.informer(informer))["id"], key=key)


@asynccontextmanager
async def served(*components: object, **options: Any) -> AsyncIterator[Served]:
    """An inspector of these components."""
    async with (
        Inspector(*components, options=InspectorOptions(token=TOKEN, **options)) as inspector,
        aiohttp.ClientSession() as session,
    ):
        yield Served(session, inspector.url)


@asynccontextmanager
async def served_at(url: str | None) -> AsyncIterator[Served]:
    """An inspector that runs already."""
    assert url is not None
    async with aiohttp.ClientSession() as session:
        yield Served(session, url)
