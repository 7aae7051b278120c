"""Reads the objects of one resource. `resource_client.py` adds what changes them.

A reader is all that an informer needs of a client: it can be listed, and watched from there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Generic, Self, TypeVar

from listwatch.api.options import query, selection
from listwatch.client.resources.pager import PAGE_SIZE, Pager
from listwatch.client.rest.byte_stream import ByteStream
from listwatch.client.rest.request import Request
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.rest.sender import Stream
from listwatch.client.rest.watch_stream import WatchStream, patience_for
from listwatch.cooperative import run_sliced
from listwatch.errors import RequestError
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike

__all__ = ["Find", "ResourceReader"]

T = TypeVar("T", bound=Object)

Find = Callable[[], Awaitable[Resource]]
"""Finds out which resource is meant, when that is first needed."""


class ResourceReader(Generic[T]):
    """The objects of one resource, in one namespace or in all: one, many, page by page, or as they change."""

    # The form in which objects and lists are asked for, if it is not just JSON.
    accept_one: str = ""
    accept_list: str = ""

    def __init__(
        self, rest: RESTClient, kind: type[T], resource: Resource | Find, *, namespace: str = "", name: str = ""
    ) -> None:
        self._kind = kind
        self._resource = resource if isinstance(resource, Resource) else None
        self._find = None if isinstance(resource, Resource) else resource
        self._namespace = namespace
        self._called = name or (str(self._resource.group_resource) if self._resource else kind.__name__)
        self._selection: dict[str, str] = {}
        self._home = rest.for_group_version(self._resource.api_version) if self._resource else rest

    # --- where and which ---------------------------------------------------------------------------------------------

    @property
    def kind(self) -> type[T]:
        """What objects are read as."""
        return self._kind

    @property
    def resource(self) -> Resource | None:
        """Where objects are found; None as long as a dynamic client has not looked for it."""
        return self._resource

    def namespace(self, namespace: str) -> Self:
        """The same in that namespace; "" is all of them."""
        other = self._alike()
        other._namespace = namespace
        return other

    def selecting(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
    ) -> Self:
        """The same with a selection that holds for every list, watch and delete_collection; selections add up.

        Selectors are text, mappings or selector objects. A shard selector is text that names a range of uids.
        """
        other = self._alike()
        other._selection = self._selected(label_selector, field_selector, shard_selector)
        return other

    def without_managed_fields(self) -> Self:
        """The same, with the server asked to leave `managedFields` out; one that does not know how sends them."""
        other = self._alike()
        other.accept_one, other.accept_list = _without_managed_fields(self.accept_one, self.accept_list)
        return other

    # --- reading -----------------------------------------------------------------------------------------------------

    async def get(self, name: str, *, resource_version: str = "") -> T:
        """One object; with a resource version, as it was then or later: "0" is whatever the server has at hand."""
        request = await self._request("GET", name)
        result = await request.params(query(resource_version=resource_version)).do()
        return result.into(self._kind)

    async def list(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
        limit: int | None = None,
        continue_token: str = "",
        resource_version: str = "",
        resource_version_match: str = "",
        timeout_seconds: int | None = None,
    ) -> ObjectList[T]:
        """Everything, read in pages of 500; with a limit, one page of so many; with limit 0, all in one answer."""
        page = partial(self._page, self._selected(label_selector, field_selector, shard_selector), timeout_seconds)
        options = {
            "continue_token": continue_token,
            "resource_version": resource_version,
            "resource_version_match": resource_version_match,
        }
        return await (Pager(page).list(**options) if limit is None else page(limit=limit, **options))

    def pages(
        self,
        *,
        page_size: int = PAGE_SIZE,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
        continue_token: str = "",
        resource_version: str = "",
        resource_version_match: str = "",
    ) -> AsyncIterator[ObjectList[T]]:
        """Everything, page by page, so that no more than a few pages are held at once.

        ExpiredError if it takes longer than the server remembers; its `continue_token` continues, if not consistently.
        """
        page = partial(self._page, self._selected(label_selector, field_selector, shard_selector), None)
        return Pager(page, page_size=page_size).pages(
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
        )

    def watch(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = False,
        timeout_seconds: int | None = None,
    ) -> WatchStream[T]:
        """What happens after that version, until the server ends it; without a version, first what is there.

        It resumes nothing by itself: a RetryWatcher or an informer does.
        """
        parameters = self._selected(label_selector, field_selector, shard_selector) | query(
            watch=True,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            send_initial_events=send_initial_events,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )

        async def opened() -> Stream | None:
            request = await self._collection("GET")
            return await request.params(parameters).open_watch()

        return WatchStream(
            ByteStream(opened),
            self._kind,
            patience=patience_for(timeout_seconds),
            initial=bool(send_initial_events),
            doing=f"watch {self._called}",
        )

    # --- inside ------------------------------------------------------------------------------------------------------

    def _alike(self) -> Self:
        # `copy.copy` takes four times as long, and programs write `pods(namespace)` before every call.
        other = self.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    async def _page(
        self,
        selected: dict[str, str],
        timeout_seconds: int | None,
        *,
        limit: int,
        continue_token: str,
        resource_version: str,
        resource_version_match: str,
    ) -> ObjectList[T]:
        request = await self._collection("GET", accept=self.accept_list)
        if timeout_seconds:
            request.timeout(timeout_seconds)
        parameters = query(
            limit=limit or None,
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            timeout_seconds=timeout_seconds,
        )
        result = await request.params(selected | parameters).do()
        return await run_sliced(result.reading_list(self._kind))

    async def _request(self, method: str, name: str, *subresource: str, namespace: str | None = None) -> Request:
        """A request for one object, or for what is below it. None is no name: it must not become all of them."""
        if not isinstance(name, str):
            raise RequestError(f"{self._called}: the name must be text, not {name!r}")
        request = (await self._collection(method, name=name, namespace=namespace)).name(name)
        return request.subresource(*subresource) if subresource else request

    async def _collection(
        self, method: str, *, name: str | None = None, namespace: str | None = None, accept: str | None = None
    ) -> Request:
        """A request for all objects, or for one that is still to be named; the place is checked here."""
        resource = self._resource or await self._located()
        place = self._namespace if namespace is None else namespace
        _check_place(resource, place, name, method)
        request = self._home.verb(method).resource(resource.plural)
        if place:
            request.namespace(place)
        if accepted := self.accept_one if accept is None else accept:
            request.header("Accept", accepted)
        return request

    async def _located(self) -> Resource:
        if self._resource is None:
            assert self._find is not None
            self._resource = await self._find()
            self._home = self._home.for_group_version(self._resource.api_version)
        return self._resource

    def _selected(
        self, label_selector: LabelSelectorLike, field_selector: FieldSelectorLike, shard_selector: str
    ) -> dict[str, str]:
        given, bound = selection(label_selector, field_selector, shard_selector), self._selection
        return {name: ",".join(filter(None, (bound.get(name), given.get(name)))) for name in bound | given}

    def __repr__(self) -> str:
        where = f" in {self._namespace}" if self._namespace else ""
        which = "".join(f" {name}={text}" for name, text in self._selection.items())
        return f"<{type(self).__name__} of {self._called}{where}{which}>"


def _without_managed_fields(*accepted: str) -> list[str]:
    forms = [each or "application/json" for each in accepted]
    return [f"{each.split(',')[0]};drop=metadata.managedFields,{each}" for each in forms]


def _check_place(resource: Resource, namespace: str, name: str | None, method: str) -> None:
    if namespace and not resource.namespaced:
        raise RequestError(f"{resource.group_resource} live in no namespace, but {namespace!r} was given")
    if resource.namespaced and not namespace and (name is not None or method == "POST"):
        what = f"{resource.group_resource} {name!r}" if name else f"a new object of {resource.group_resource}"
        raise RequestError(f"{what} needs a namespace: give one to the client, as in .namespace('default')")
