"""Where an informer gets its objects from: anything that can be listed, and watched from there.

A client's resource is such a source as it is; `ListWatch` makes one of two functions, or of a REST client.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, Generic, Protocol, Self, TypeVar

from listwatch.api.watch_events import ErrorEvent, WatchEvent
from listwatch.errors import UsageError
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured

__all__ = [
    "ListWatch",
    "ListerWatcher",
    "WatchSource",
    "batches_of",
    "by_namespace",
    "check_functions",
    "check_kind",
    "check_source",
]

T = TypeVar("T", bound=Object)

Event = WatchEvent[T] | ErrorEvent


class WatchSource(Protocol[T]):
    """An open watch, to be entered, read to its end, and left."""

    async def __aenter__(self) -> AsyncIterator[Event[T]]: ...
    async def __aexit__(self, *exc: object) -> bool | None: ...


class ListerWatcher(Protocol[T]):
    """Can be listed, and watched from what the list said."""

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ObjectList[T]:
        """One answer of the server: with a limit, a page; with limit 0, everything at once."""

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> WatchSource[T]:
        """What happens after that version. It ends after `timeout_seconds`, and raises if its peer is dead."""


def check_kind(kind: object) -> None:
    """Refuse what objects cannot be read as."""
    if not (isinstance(kind, type) and issubclass(kind, Object)):
        raise UsageError(f"{kind!r} is no kind of objects: give a class, as Pod or Unstructured")


def check_source(source: ListerWatcher[T], kind: type[T]) -> None:
    """Refuse what cannot be listed and watched, and a client's resource of another kind."""
    check_kind(kind)
    if not all(callable(getattr(source, verb, None)) for verb in ("list", "watch")):
        raise UsageError(
            f"{source!r} is no source of objects: give a client's resource, as client.core_v1.pods(), or a ListWatch"
        )
    read_as = getattr(source, "kind", kind)
    if isinstance(read_as, type) and not issubclass(read_as, kind):
        raise UsageError(f"{source!r} is a source of {read_as.__name__}, not of {kind.__name__}")


def check_functions(list: object, watch: object) -> None:
    """Refuse what no ListWatch can be made of."""
    if not (callable(list) and callable(watch)):
        raise UsageError(f"a ListWatch is made of two functions, not of {list!r} and {watch!r}")


def by_namespace(
    source: ListerWatcher[T] | Mapping[str, ListerWatcher[T]], kind: type[T]
) -> Iterable[tuple[str | None, ListerWatcher[T]]]:
    """Each source with its namespace, after a look at it; a single one with None."""
    if not isinstance(source, Mapping):
        check_source(source, kind)
        return [(None, source)]
    if not source:
        raise UsageError("there is no source among no namespaces: give at least one")
    for each in source.values():
        check_source(each, kind)
    return source.items()


class ListWatch(Generic[T]):
    """A source made of two functions, which take the options of `ListerWatcher` that they name, or all as `**options`.

    `list` returns objects, or an ObjectList, or awaits one; `watch` returns an asynchronous iterator of events.
    `chunking=False` asks for everything at once, whatever the reflector would like.
    """

    def __init__(
        self,
        *,
        list: Callable[..., Any],  # it is what the function does
        watch: Callable[..., Any],
        chunking: bool = True,
    ) -> None:
        check_functions(list, watch)
        self._list = _Tolerant(list)
        self._watch = _Tolerant(watch)
        self._chunking = chunking

    @classmethod
    def from_client(
        cls,
        rest: Any,
        resource: str,
        namespace: str = "",
        *,
        field_selector: str = "",
        label_selector: str = "",
        kind: type[T] | None = None,
        chunking: bool = True,
    ) -> Self:
        """The objects of a resource that a REST client can see; of all namespaces where none is named."""
        if not callable(getattr(rest, "verb", None)):
            raise UsageError(f"{rest!r} is no REST client: give one, as client.rest")
        source = _ClientSource(rest, resource, namespace, kind or Unstructured, field_selector, label_selector)
        made = cls(list=source.list, watch=source.watch, chunking=chunking)
        made._client_source = source
        return made

    _client_source: _ClientSource | None = None

    def of_kind(self, kind: type[T]) -> Self:
        """The same source, reading objects as this kind; a source made of functions reads what it reads."""
        if self._client_source is None or self._client_source.kind is kind:
            return self
        return self._client_source.listed_by(type(self), kind, chunking=self._chunking)  # type: ignore[return-value]

    async def list(self, **options: Any) -> ObjectList[T]:
        """One answer, as `ListerWatcher.list`."""
        if not self._chunking:
            options["limit"] = 0
        answer = self._list(**options)
        if inspect.isawaitable(answer):
            answer = await answer
        return answer if isinstance(answer, ObjectList) else ObjectList(answer)

    def watch(self, **options: Any) -> WatchSource[T]:
        """An open watch, as `ListerWatcher.watch`."""
        opened: WatchSource[T] = _entered(self._watch(**options))
        return opened


class _ClientSource:
    """Builds the requests of one resource with a REST client."""

    def __init__(self, rest: Any, resource: str, namespace: str, kind: type[Any], fields: str, labels: str) -> None:
        self.rest = rest
        self.resource = resource
        self.namespace = namespace
        self.kind = kind
        self.selectors = {"fieldSelector": fields, "labelSelector": labels}

    def listed_by(self, maker: type[ListWatch[Any]], kind: type[Any], *, chunking: bool) -> ListWatch[Any]:
        fields, labels = self.selectors["fieldSelector"], self.selectors["labelSelector"]
        return maker.from_client(
            self.rest,
            self.resource,
            self.namespace,
            field_selector=fields,
            label_selector=labels,
            kind=kind,
            chunking=chunking,
        )

    async def list(
        self,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ObjectList[Any]:
        request = self._request(
            resourceVersion=resource_version,
            resourceVersionMatch=resource_version_match,
            limit=limit or "",
            **{"continue": continue_token},
        )
        return ObjectList.from_json((await request.do()).raw, self.kind)

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> Any:
        request = self._request(
            watch="true",
            resourceVersion=resource_version,
            resourceVersionMatch=resource_version_match,
            sendInitialEvents="" if send_initial_events is None else str(send_initial_events).lower(),
            allowWatchBookmarks="true" if allow_watch_bookmarks else "",
            timeoutSeconds=timeout_seconds or "",
        )
        return request.watch(self.kind)

    def _request(self, **parameters: object) -> Any:
        request = self.rest.get().resource(self.resource)
        if self.namespace:
            request = request.namespace(self.namespace)
        for name, value in {**self.selectors, **parameters}.items():
            if value != "":
                request = request.param(name, str(value))
        return request


class _Tolerant:
    """Calls a function with those of the options that it takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        parameters = inspect.signature(function).parameters.values()
        takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters)
        self._names = None if takes_all else {each.name for each in parameters}

    def __call__(self, **options: Any) -> Any:
        if self._names is not None:
            options = {name: value for name, value in options.items() if name in self._names}
        return self._function(**options)


def _entered(opened: Any) -> Any:
    if isinstance(opened, AbstractAsyncContextManager):
        return opened
    return _as_context(opened)


@asynccontextmanager
async def _as_context(opened: Any) -> AsyncIterator[Any]:
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


def batches_of(stream: Any) -> AsyncIterator[Iterable[Event[Any]]]:
    """The events of an open watch as they come in: all of one network read at once, where the source can tell."""
    batches: Callable[[], AsyncIterator[Iterable[Event[Any]]]] | None = getattr(stream, "batches", None)
    return _each_alone(stream) if batches is None else batches()


async def _each_alone(stream: Any) -> AsyncIterator[Iterable[Event[Any]]]:
    async for event in stream:
        yield (event,)
