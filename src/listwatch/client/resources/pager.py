"""Lists in pages, so that neither the client nor the server has to hold a long list in memory.

`ResourceClient.list` and `.pages` use it; it works with any function that returns one page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

from listwatch.errors import ExpiredError, ProtocolError, UsageError
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList

__all__ = ["PAGE_SIZE", "PageLister", "Pager"]

PAGE_SIZE = 500
_READ_AHEAD = 10

T = TypeVar("T", bound=Object)


class PageLister(Protocol[T]):
    """Returns one page of a list; with limit 0, all of it."""

    async def __call__(
        self, *, limit: int, continue_token: str, resource_version: str, resource_version_match: str
    ) -> ObjectList[T]: ...


class Pager(Generic[T]):
    """Lists in pages of `page_size`. Resource version options apply to the first page only."""

    def __init__(
        self,
        list_page: PageLister[T],
        *,
        page_size: int = PAGE_SIZE,
        read_ahead: int = _READ_AHEAD,
        full_list_if_expired: bool = True,
    ) -> None:
        if not _is_count(page_size) or read_ahead < 0:
            raise UsageError(
                f"page_size must be 1 or more, is {page_size!r}; read_ahead must be 0 or more, is {read_ahead!r}"
            )
        self._list_page = list_page
        self._page_size = page_size
        self._read_ahead = read_ahead
        self._full_list_if_expired = full_list_if_expired

    async def list(
        self, *, resource_version: str = "", resource_version_match: str = "", continue_token: str = ""
    ) -> ObjectList[T]:
        """List everything. If the version of the first page expires meanwhile, list again without pages."""
        pages = self._each_page(resource_version, resource_version_match, continue_token)
        whole = await anext(pages)
        try:
            async for page in pages:
                _extend(whole, page)
        except ExpiredError:
            if not self._full_list_if_expired:
                raise
            return await self._list_page(
                limit=0,
                continue_token="",
                resource_version=resource_version,
                resource_version_match=resource_version_match,
            )
        return whole

    async def pages(
        self, *, resource_version: str = "", resource_version_match: str = "", continue_token: str = ""
    ) -> AsyncGenerator[ObjectList[T]]:
        """Iterate over the pages, which are read ahead in the background.

        ExpiredError if the server no longer has the version of the first page. Its `continue_token` resumes the list
        with newer objects, which is not a consistent snapshot.
        """
        pages = self._each_page(resource_version, resource_version_match, continue_token)
        if self._read_ahead:
            pages = _read_ahead(pages, self._read_ahead)
        async with aclosing(pages):
            async for page in pages:
                yield page

    async def _each_page(
        self, resource_version: str, resource_version_match: str, continue_token: str
    ) -> AsyncGenerator[ObjectList[T]]:
        seen = {continue_token}
        while True:
            page = await self._list_page(
                limit=self._page_size,
                continue_token=continue_token,
                # A continue token implies the version, and servers reject a request with both.
                resource_version="" if continue_token else resource_version,
                resource_version_match="" if continue_token else resource_version_match,
            )
            continue_token = page.continue_token
            if continue_token and continue_token in seen:
                raise ProtocolError("the server repeats a continue token, so the list has no end")
            yield page
            if not continue_token:
                return
            seen.add(continue_token)


async def _read_ahead(pages: AsyncGenerator[ObjectList[T]], count: int) -> AsyncGenerator[ObjectList[T]]:
    ready: asyncio.Queue[ObjectList[T] | Exception | None] = asyncio.Queue(count)
    reading = asyncio.create_task(_fill(ready, pages), name="pages read ahead")
    try:
        while (found := await ready.get()) is not None:
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _fill(ready: asyncio.Queue[ObjectList[T] | Exception | None], pages: AsyncIterator[ObjectList[T]]) -> None:
    try:
        async for page in pages:
            await ready.put(page)
    except Exception as error:  # noqa: BLE001  # raised by the reader of the pages
        await ready.put(error)
    else:
        await ready.put(None)


def _extend(whole: ObjectList[T], page: ObjectList[T]) -> None:
    whole.items += page.items
    whole.broken += page.broken
    whole.metadata = ListMeta(resource_version=whole.resource_version)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 1
