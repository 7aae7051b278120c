"""A source of the rows of the server's tables, so that an informer caches what `get` prints."""

from __future__ import annotations

from collections.abc import AsyncIterator

from listwatch.api.list_pages import Page
from listwatch.api.options import query_parameters, selector_parameters
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent, WatchEvent
from listwatch.cli.cluster.session import Session
from listwatch.cli.tables.table import Row, Table, table_of, table_request
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured
from listwatch.sources.list_watch import ListWatch

__all__ = ["TableSource"]


class TableSource:
    """Lists and watches a resource as tables. `table` has the columns once something was listed."""

    def __init__(self, session: Session, resource: Resource, *, label_selector: str, field_selector: str) -> None:
        self._session = session
        self._resource = resource
        self._selectors = selector_parameters(label_selector or None, field_selector or None, "")
        self.table = Table()

    def list_watch(self) -> ListWatch[Row]:
        """Return the source for an informer. It is not streamed: a row has no annotation that ends initial events."""
        return ListWatch(list=self._list, watch=self._watch)

    async def _list(
        self, *, resource_version: str, resource_version_match: str, limit: int | None, continue_token: str
    ) -> Page[Row]:
        options = query_parameters(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            limit=limit or None,
            continue_token=continue_token,
        )
        request = table_request(self._session, self._resource).params(self._selectors).params(options)
        page = table_of(await request.do_raw(), self._session.clock.now())
        if page.columns:
            self.table = Table(page.columns)
        return Page(page.rows, page.resource_version, page.continue_token)

    async def _watch(
        self, *, resource_version: str, allow_watch_bookmarks: bool, timeout_seconds: int | None
    ) -> AsyncIterator[WatchEvent[Row]]:
        options = query_parameters(
            resource_version=resource_version,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )
        request = table_request(self._session, self._resource).params(self._selectors).params(options)
        async with request.watch(Unstructured) as events:
            async for event in events:
                match event:
                    case BookmarkEvent():
                        yield BookmarkEvent.at(event.resource_version)
                    case AddedEvent(obj):
                        yield AddedEvent(self._row(obj))
                    case ModifiedEvent(obj):
                        yield ModifiedEvent(self._row(obj))
                    case DeletedEvent(obj):
                        yield DeletedEvent(self._row(obj))

    def _row(self, obj: Unstructured) -> Row:
        page = table_of(obj.to_json(), self._session.clock.now())
        self.table = self.table if self.table.columns else Table(page.columns)
        return page.rows[0]
