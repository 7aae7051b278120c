"""One informer per resource, shared by all parts of a program.

async with SharedInformerFactory(client, resync=60.0) as factory:
    pods = factory.core_v1.pods
    pods.informer.add_handler(on_add=...)
    await factory.wait_for_sync(timeout=30)
    pods.lister.namespace("default").list("app=web")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, overload

from listwatch._exports import unknown_attribute
from listwatch.api.http_messages import ContentType
from listwatch.api.references import ResourceLike
from listwatch.backoff import REFLECTOR_BACKOFF, SHARDED_REFLECTOR_BACKOFF
from listwatch.cache.indexer import IndexFunction
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import SyncTimeoutError, UsageError
from listwatch.factory import typed_groups
from listwatch.factory.informer_handle import InformerGroup, InformerHandle
from listwatch.factory.namespace_follower import NamespaceFollower
from listwatch.factory.typed_groups import InformerGroups
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import AnyInformer, FollowedSources, SharedIndexInformer
from listwatch.informer.storage_options import EXCLUDED
from listwatch.meta import GroupVersionResource, Resource
from listwatch.models import attributes_of
from listwatch.objects.caching.field_cuts import FieldCuts
from listwatch.objects.object import Object
from listwatch.selectors import (
    FieldSelectorLike,
    LabelSelectorLike,
    parse_field_selector,
    parse_label_selector,
)
from listwatch.tasks.async_only import AsyncOnly
from listwatch.wording import counted

__all__ = ["InformerGroup", "InformerHandle", "SharedInformerFactory", "SourceMaker", "checked_namespaces"]

K = TypeVar("K", bound=Object)

Transform = Callable[[Any], Any]
"""Applied to objects of any kind."""


class SourceMaker(Protocol):
    """Finds the source of a kind or resource: a ClientSet, DynamicClient or MetadataClient."""

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, AnySource]:
        """Return the kind to decode objects as, the resource, and the source to list and watch."""


class CachePart(Protocol):
    """The part of the objects that the caches of one replica contain."""

    def wrap(self, source: AnySource, /, *, namespace: str) -> AnySource:
        """Return a source of only this part."""

    def selects(self, item: Object, /) -> bool:
        """Return whether the part contains an object."""


class _Key(NamedTuple):
    resource: GroupVersionResource
    kind: type[Object]
    namespaces: tuple[str, ...]
    labels: str
    fields: str
    transform: Transform | None
    content_type: ContentType | None
    part: CachePart | None


class _Shared:
    def __init__(self, informer: AnyInformer) -> None:
        self.informer = informer
        self.users = 0


class SharedInformerFactory(InformerGroups, AsyncOnly):
    """Creates informers on demand, one per resource, namespaces, selectors and transform, and runs them together.

    Inside `async with`, an informer runs as soon as it is requested. `namespace` selects one namespace, `namespaces`
    several with one store, and `namespace_selector` those whose labels match, at any time: informers add and remove
    them, and handlers are notified of objects that come and go with their namespace. Without any of these, all
    namespaces are watched. Cluster-scoped resources are watched in any case. `resync_for` overrides `resync` by kind.
    `content_type` is that of the informers, `json` or `protobuf`, instead of the client's. `streaming=False` reads the
    initial objects as a list instead of a stream.
    `drop_fields` are paths of fields that are not stored, such as `metadata.managedFields`. `compact=True` keeps all
    objects compressed, `compact=[Pod]` those of some kinds. `cache_dir` is a folder for files that keep the objects
    across restarts, except those of `cache_exclude`: kinds or resources, by default Secrets.
    """

    _informer_type: ClassVar[type[AnyInformer]] = SharedIndexInformer
    _how_to_start: ClassVar[str] = "write `async with factory:`, or call `factory.start()`"

    def __init__(
        self,
        client: SourceMaker,
        *,
        resync: float = 0.0,
        resync_for: Mapping[type[Object], float] | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        namespace_selector: LabelSelectorLike = None,
        transform: Transform | None = None,
        content_type: ContentType | None = None,
        streaming: bool = True,
        drop_fields: Sequence[str] = (),
        compact: bool | Collection[type[Object]] = False,
        cache_dir: str | PathLike[str] | None = None,
        cache_exclude: Collection[type | str] = EXCLUDED,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if sum(map(bool, (namespace, namespaces, namespace_selector))) > 1:
            raise UsageError("pass only one of namespace, namespaces and namespace_selector")
        if not callable(getattr(client, "source", None)):
            raise UsageError(f"SharedInformerFactory needs a ClientSet or another client, not {type(client).__name__}")
        self._client = client
        self._resync = resync
        self._resync_for = dict(resync_for or {})
        self._namespaces = checked_namespaces(namespaces) or (namespace,)
        self._transform = transform
        self._content_type = content_type
        self._streaming = streaming
        self._drop_fields = tuple(FieldCuts(drop_fields).texts)
        self._compact = compact if isinstance(compact, bool) else frozenset(compact)
        self._cache_dir = cache_dir
        self._cache_exclude = cache_exclude
        self._on_problem = on_problem
        self._clock = clock or SystemClock()
        self._follower = self._make_follower(str(parse_label_selector(namespace_selector)))
        self._shared: dict[_Key, _Shared] = {}
        self._handles: dict[str, InformerHandle[Object]] = {}
        self._is_running = False
        self._starts_later = False  # set by a manager, which starts its factory
        self._cluster = ""  # set by a manager of several clusters; the names of informers start with it

    def _make_follower(self, label_selector: str) -> NamespaceFollower | None:
        if not label_selector:
            return None
        kind, _, source = self._client.source(
            "namespaces", namespace="", label_selector=label_selector, field_selector=""
        )
        return NamespaceFollower(source, kind, on_problem=self._on_problem, clock=self._clock)

    def __repr__(self) -> str:
        state = "running" if self._is_running else "not running"
        return f"<SharedInformerFactory of {self._client!r}, {state}: {counted(len(self._shared), 'informer')}>"

    @overload
    def informer(
        self,
        of: type[K],
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Callable[[K], K] | None = None,
        indexers: Mapping[str, IndexFunction[K]] | None = None,
        content_type: ContentType | None = None,
    ) -> InformerHandle[K]: ...
    @overload
    def informer(
        self,
        of: ResourceLike,
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Transform | None = None,
        indexers: Mapping[str, IndexFunction[Any]] | None = None,
        content_type: ContentType | None = None,
    ) -> InformerHandle[Any]: ...
    def informer(
        self,
        of: ResourceLike,
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Transform | None = None,
        indexers: Mapping[str, IndexFunction[Any]] | None = None,
        content_type: ContentType | None = None,
    ) -> InformerHandle[Any]:
        """Return a handle on the informer of a kind, as `factory.informer(Pod)`, or of a resource name.

        Indexers are added to the shared store, unless it has an index of that name. `content_type` is that of this
        informer, `json` or `protobuf`, instead of the factory's.
        """
        return self._informer_of(
            of,
            namespace=namespace,
            namespaces=namespaces,
            label_selector=label_selector,
            field_selector=field_selector,
            transform=transform,
            indexers=indexers,
            content_type=content_type,
        )

    def _informer_of(
        self,
        of: ResourceLike,
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Transform | None = None,
        indexers: Mapping[str, IndexFunction[Any]] | None = None,
        content_type: ContentType | None = None,
        part: CachePart | None = None,
    ) -> InformerHandle[Any]:
        """Return a handle on an informer; with `part`, on one that caches only that part of the objects."""
        if namespace is not None and namespaces:
            raise UsageError("pass either namespace or namespaces, not both")
        follower = None if namespaces or namespace is not None else self._follower
        scopes = checked_namespaces(namespaces) or ((namespace,) if namespace is not None else self._namespaces)
        labels, fields = str(parse_label_selector(label_selector)), str(parse_field_selector(field_selector))
        source_in = partial(self._client.source, of, label_selector=labels, field_selector=fields)
        sources = {scope: source_in(namespace=scope) for scope in scopes}
        chosen = content_type or self._content_type
        kind, resource, _ = sources[scopes[0]]
        if not resource.namespaced:
            sources, follower = {"": source_in(namespace="")}, None

        def prepared(source: AnySource, scope: str) -> AnySource:
            source = _in_format(source, chosen)
            return source if part is None else part.wrap(source, namespace=scope)

        scopes = () if follower else tuple(sorted(sources))
        key = _Key(resource.gvr, kind, scopes, labels, fields, transform or self._transform, chosen, part)
        shared = self._shared.get(key)
        if shared is None:
            found = (
                FollowedSources() if follower else {scope: prepared(each[2], scope) for scope, each in sources.items()}
            )
            shared = self._shared[key] = _Shared(self._make(key, found))
            if follower:
                follower.add(shared.informer, lambda scope: prepared(source_in(namespace=scope)[2], scope))
        missing = {n: f for n, f in (indexers or {}).items() if n not in shared.informer.indexer.indexers}
        shared.informer.indexer.add_indexers(missing)
        shared.users += 1
        return InformerHandle(shared.informer, partial(self._release, key))

    def _make(self, key: _Key, sources: Mapping[str, AnySource]) -> AnyInformer:
        name = str(GroupVersionResource(*key.resource).group_resource)
        informer: AnyInformer = self._informer_type(
            next(iter(sources.values())) if len(sources) == 1 else sources,  # one source needs no scopes
            key.kind,
            resync=self._resync_for.get(key.kind, self._resync),
            transform=key.transform,
            streaming=self._streaming,
            drop_fields=self._drop_fields,
            compact=self._compact if isinstance(self._compact, bool) else key.kind in self._compact,
            cache_dir=self._cache_dir if key.part is None else None,
            cache_exclude=self._cache_exclude,
            name=f"{self._cluster}/{name}" if self._cluster else name,
            backoff=REFLECTOR_BACKOFF if key.part is None else SHARDED_REFLECTOR_BACKOFF,
            on_problem=self._on_problem,
            clock=self._clock,
        )
        informer._cluster = self._cluster
        if self._is_running:
            informer.start()
        return informer

    # --- running -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run all informers, and each one that is requested later. Starting twice does nothing."""
        for shared in self._shared.values():
            shared.informer.start()
        if self._follower:
            self._follower.start()
        self._is_running = True

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait for all informers and handlers; raises SyncTimeoutError with those that have not synced, and why.

        Raises UsageError if it was not started, or in a handler that has not handled all initial objects.
        """
        await self._check_may_wait_for_sync()
        waits = [asyncio.ensure_future(each.wait_for_sync()) for each in self._informers()]
        try:
            async with time_limit(self._clock, timeout):
                await asyncio.gather(*waits)
        except TimeoutError:
            raise self._sync_timeout(timeout) from None
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _check_may_wait_for_sync(self) -> None:
        for shared in self._shared.values():
            await shared.informer._check_may_wait_for_sync()
        idle = [each.informer.name for each in self._shared.values() if not each.informer._has_begun]
        if idle and not self._is_running and not self._starts_later:
            raise UsageError(
                f"wait_for_sync() would wait forever: the informers of {', '.join(idle)} were not started; "
                f"before waiting, {self._how_to_start}"
            )

    def _sync_timeout(self, timeout: float | None) -> SyncTimeoutError:
        informers = self._informers()
        reasons = sorted(reason for each in informers if (reason := each.why_not_synced()) is not None)
        errors = [error for each in informers if (error := each.last_error) is not None]
        message = f"not synced within {timeout} s: " + "; ".join(reasons)
        attempts = sum(each.failed_attempts for each in informers)
        return SyncTimeoutError(message, attempts=attempts, last_error=errors[0] if errors else None)

    async def stop(self) -> None:
        """Stop all informers and wait for their end; raises the errors of those that had failed before."""
        self._is_running = False
        if self._follower:
            await self._follower.stop()
        stops = (shared.informer.stop() for shared in self._shared.values())
        ends = await asyncio.gather(*stops, return_exceptions=True)
        if errors := [each for each in ends if each is not None]:
            raise BaseExceptionGroup("informers had failed before they were stopped", errors)

    def statistics(self) -> tuple[InformerStatistics, ...]:
        """The statistics of all informers."""
        return tuple(each.statistics() for each in self._informers())

    def _informers(self) -> list[AnyInformer]:
        followed = [self._follower.namespaces] if self._follower else []
        return [*(shared.informer for shared in self._shared.values()), *followed]

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _release(self, key: _Key) -> None:
        shared = self._shared[key]
        if shared.users == 1:
            shared.informer._check_may_stop()
        shared.users -= 1
        if shared.users == 0:
            del self._shared[key]
            if self._follower:
                self._follower.discard(shared.informer)
            await shared.informer.stop()

    def _named(self, name: str) -> InformerHandle[Object]:
        # All accesses by attribute share one handle.
        handle = self._handles.get(name)
        if handle is None or handle.is_released:
            handle = self._handles[name] = self.informer(name)
        return handle

    if not TYPE_CHECKING:  # the base class declares the attributes

        def __getattr__(self, name):
            groups = InformerGroups.__annotations__
            if name not in groups:
                elsewhere = attributes_of(name)
                raise unknown_attribute("SharedInformerFactory", name, sorted(groups), elsewhere=elsewhere)
            self.__dict__[name] = group = getattr(typed_groups, groups[name])(name, self._named)
            return group

        def __dir__(self):
            return sorted({*super().__dir__(), *InformerGroups.__annotations__})


def _in_format(source: AnySource, content_type: ContentType | None) -> AnySource:
    if content_type is None:
        return source
    with_content_type: Callable[[ContentType], AnySource] | None = getattr(source, "with_content_type", None)
    if with_content_type is None:
        raise UsageError(f"content_type={content_type!r}: the sources of this factory have no content type")
    return with_content_type(content_type)


def checked_namespaces(namespaces: Sequence[str]) -> tuple[str, ...]:
    """Return the namespaces without duplicates."""
    if isinstance(namespaces, str):
        raise UsageError(f"namespaces must be a list; for one namespace, pass namespace={namespaces!r}")
    if "" in namespaces:
        raise UsageError("namespaces contains an empty name; to watch all namespaces, pass none")
    return tuple(dict.fromkeys(namespaces))
