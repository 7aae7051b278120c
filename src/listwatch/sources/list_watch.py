"""Makes a source for informers from two functions, or from a REST client. A resource client is a source itself."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar, cast, overload

from listwatch.api.http_messages import ContentType
from listwatch.api.list_pages import ListPage, Page
from listwatch.api.options import ListOptions
from listwatch.errors import UsageError
from listwatch.informer.reflector.lister_watcher import ReadObject, WatchSource
from listwatch.keyed import Cached
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.tasks.cooperative import run_sliced

__all__ = ["ListWatch", "ModifyOptions", "check_functions"]

T = TypeVar("T", bound=Cached)
K = TypeVar("K", bound=Object)

ModifyOptions = Callable[[ListOptions], ListOptions]
"""Returns the options of a request, changed with `dataclasses.replace`."""


class ListWatch(Generic[T]):
    """A source made from two functions, which are called with those options of `ListerWatcher` that they accept.

    `list` returns objects, an ObjectList or a Page, and may be async; `watch` returns an async iterator of events.
    `chunking=False` always requests the complete list.
    """

    def __init__(
        self,
        *,
        list: Callable[..., object],  # named after what it does
        watch: Callable[..., object],
        chunking: bool = True,
    ) -> None:
        check_functions(list, watch)
        self._list = _with_accepted_options(list)
        self._watch = _with_accepted_options(watch)
        self._chunking = chunking
        self.supports_streaming: bool = _accepts_option(watch, "send_initial_events")
        """Whether a watch can begin with all objects as initial events."""

    @overload
    @classmethod
    def from_client(
        cls,
        rest: _RESTClient,
        resource: str,
        namespace: str = "",
        *,
        field_selector: str = "",
        label_selector: str = "",
        kind: type[K],
        chunking: bool = True,
        modify_options: ModifyOptions | None = None,
        content_type: ContentType | None = None,
    ) -> ListWatch[K]: ...
    @overload
    @classmethod
    def from_client(
        cls,
        rest: _RESTClient,
        resource: str,
        namespace: str = "",
        *,
        field_selector: str = "",
        label_selector: str = "",
        chunking: bool = True,
        modify_options: ModifyOptions | None = None,
        content_type: ContentType | None = None,
    ) -> ListWatch[Any]: ...  # of the kind of the informer that reads it
    @classmethod
    def from_client(
        cls,
        rest: _RESTClient,
        resource: str,
        namespace: str = "",
        *,
        field_selector: str = "",
        label_selector: str = "",
        kind: type[Object] | None = None,
        chunking: bool = True,
        modify_options: ModifyOptions | None = None,
        content_type: ContentType | None = None,
    ) -> ListWatch[Any]:
        """Return a source that reads a resource with a REST client; without a namespace, in all namespaces.

        `modify_options` is called with the options of every list and watch and returns those to send:

            lambda options: dataclasses.replace(options, label_selector="app=web")

        `content_type` is that of this source, `json` or `protobuf`, instead of the client's.
        """
        if not callable(getattr(rest, "verb", None)):
            raise UsageError(f"{rest!r} is not a REST client; pass one, such as client.rest")
        if modify_options is not None and not callable(modify_options):
            raise UsageError(f"modify_options is {modify_options!r}; pass a function of ListOptions")
        selectors = ListOptions(field_selector=field_selector, label_selector=label_selector)
        return _from_resource(
            _ClientResource(rest, resource, namespace, kind or Unstructured, selectors, modify_options, content_type),
            chunking=chunking,
        )

    _resource: _ClientResource | None = None
    _read_object: ReadObject[T] | None = None
    _cache_identity: Callable[[], Mapping[str, str]] | None = None
    _server_uid: Callable[[], Awaitable[str]] | None = None

    def of_kind(self, kind: type[T]) -> ListWatch[T]:
        """Return the same source, which decodes objects as this kind; functions decode objects themselves."""
        if self._resource is None or self._resource.kind is kind:
            return self
        return _from_resource(replace(self._resource, kind=cast("type[Object]", kind)), chunking=self._chunking)

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ListPage[T]:
        """Return one response, as `ListerWatcher.list`."""
        listed = self._list(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            limit=limit if self._chunking else 0,
            continue_token=continue_token,
        )
        if inspect.isawaitable(listed):
            listed = await listed
        return listed if isinstance(listed, ObjectList | Page) else Page([*cast("Iterable[T]", listed)], "")

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> WatchSource[T]:
        """Return a watch, as `ListerWatcher.watch`."""
        opened = self._watch(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            send_initial_events=send_initial_events,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )
        return cast("WatchSource[T]", opened if isinstance(opened, AbstractAsyncContextManager) else _entered(opened))


def check_functions(list: object, watch: object) -> None:
    """Reject arguments of ListWatch that are not functions."""
    if not (callable(list) and callable(watch)):
        raise UsageError(f"ListWatch needs two functions, list and watch, not {list!r} and {watch!r}")


def _accepts_option(function: Callable[..., object], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _with_accepted_options(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function, called with those options that it accepts."""
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return function
    names = {each.name for each in parameters}

    def call(**options: object) -> object:
        return function(**{name: value for name, value in options.items() if name in names})

    return call


@asynccontextmanager
async def _entered(opened: object) -> AsyncIterator[object]:
    if inspect.isawaitable(opened):
        opened = await opened
    if isinstance(opened, AbstractAsyncContextManager):
        async with opened as events:
            yield events
    elif hasattr(opened, "aclose"):
        async with aclosing(opened) as events:
            yield events
    else:
        yield opened


# --- Reading a resource with a REST client ----------------------------------------------------------------------------


class _Result(Protocol):
    @property
    def raw(self) -> bytes: ...


class _Request(Protocol):
    def resource(self, resource: str, /) -> Self: ...
    def namespace(self, namespace: str, /) -> Self: ...
    def name(self, name: str, /) -> Self: ...
    def params(self, values: Mapping[str, object], /) -> Self: ...
    def content_type(self, content_type: ContentType, /) -> Self: ...
    def do(self) -> Awaitable[_Result]: ...
    def watch(self, kind: type[T], /) -> WatchSource[T]: ...


class _RESTClient(Protocol):
    """A RESTClient of `listwatch.client` or `listwatch.blocking`; this package imports no client."""

    def verb(self, method: str, /) -> object: ...


@dataclass(frozen=True, slots=True)
class _ClientResource:
    """Sends the list and watch requests of one resource."""

    rest: _RESTClient
    name: str
    namespace: str
    kind: type[Object]
    selectors: ListOptions
    modify_options: ModifyOptions | None
    content_type: ContentType | None

    async def list(
        self,
        *,
        resource_version: str,
        resource_version_match: str,
        limit: int | None,
        continue_token: str,
    ) -> ObjectList[Object]:
        options = replace(
            self.selectors,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            limit=limit,
            continue_token=continue_token,
        )
        result = await self._request(self._modified(options)).do()
        return await run_sliced(ObjectList[Object].reading([result.raw], self.kind))

    def watch(
        self,
        *,
        resource_version: str,
        resource_version_match: str,
        send_initial_events: bool | None,
        allow_watch_bookmarks: bool,
        timeout_seconds: int | None,
    ) -> WatchSource[Object]:
        options = replace(
            self.selectors,
            watch=True,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            send_initial_events=send_initial_events,
            allow_watch_bookmarks=allow_watch_bookmarks,
            timeout_seconds=timeout_seconds,
        )
        return self._request(replace(self._modified(options), watch=True)).watch(self.kind)

    def identity(self) -> dict[str, str]:
        """Return everything but the server on which the listed objects depend."""
        return {
            "resource": f"{getattr(self.rest, 'group_version', '')}/{self.name}",
            "namespace": self.namespace,
            "labels": self.selectors.label_selector,
            "fields": self.selectors.field_selector,
            "content type": self.content_type or "",
        }

    async def get(self, namespace: str, name: str) -> Object:
        request = self._get()
        if namespace:
            request = request.namespace(namespace)
        return self.kind.from_wire((await request.name(name).do()).raw)

    def _modified(self, options: ListOptions) -> ListOptions:
        if self.modify_options is None:
            return options
        modified: object = self.modify_options(options)
        if not isinstance(modified, ListOptions):
            raise UsageError(
                f"modify_options returned {modified!r}, not ListOptions; return dataclasses.replace(options, ...)"
            )
        return modified

    def _request(self, options: ListOptions) -> _Request:
        request = self._get()
        if self.namespace:
            request = request.namespace(self.namespace)
        return request.params(options.parameters())

    def _get(self) -> _Request:
        request = cast("_Request", self.rest.verb("GET")).resource(self.name)
        return request if self.content_type is None else request.content_type(self.content_type)


def _from_resource(resource: _ClientResource, *, chunking: bool) -> ListWatch[Any]:
    source: ListWatch[Any] = ListWatch(list=resource.list, watch=resource.watch, chunking=chunking)
    source._resource = resource
    source._read_object = resource.get
    identify: Callable[[], str] | None = getattr(resource.rest, "_server_identity", None)
    if identify is not None and resource.modify_options is None:
        source._cache_identity = lambda: {"server": identify(), **resource.identity()}
        source._server_uid = getattr(resource.rest, "_server_uid", None)
    return source
