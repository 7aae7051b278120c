"""The operations on a resource that need no body of its kind: get, list, watch, patch, delete.

`resource_client.py` adds create, update, apply and subresources. An informer needs only `list` and `watch`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, Self, TypeVar

from listwatch.api.http_messages import ContentType
from listwatch.api.options import (
    FieldValidation,
    PropagationPolicy,
    QueryValue,
    delete_options,
    query_parameters,
    selector_parameters,
)
from listwatch.api.patches import Patch, PatchTypeLike, default_patch_type, encode_patch, parse_patch_type
from listwatch.client.discovery.rest_mapper import is_builtin
from listwatch.client.resources.pager import PAGE_SIZE, Pager
from listwatch.client.resources.shard_filter import ShardFilter
from listwatch.client.rest.request import Request
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.rest.result import is_status
from listwatch.client.rest.streams import ByteStream, WatchStream, idle_timeout_for
from listwatch.client.rest.transport_protocols import ResponseStream
from listwatch.errors import RequestError, UsageError
from listwatch.meta import Resource
from listwatch.objects.caching.field_cuts import FieldCuts
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.caching.list_recognizer import ListRecognizer
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike
from listwatch.tasks.cooperative import run_sliced

__all__ = ["BaseResourceClient", "ResourceFinder"]

T = TypeVar("T", bound=Object)

ResourceFinder = Callable[[], Awaitable[Resource]]
"""Finds the resource by discovery, before the first request."""


class BaseResourceClient(Generic[T]):
    """The objects of one resource, in one namespace or in all."""

    # The media types requested for objects and lists; empty for plain JSON.
    _accept_object: str = ""
    _accept_list: str = ""
    # None for the content type of the client's configuration.
    _content_type: ContentType | None = None
    # Cached objects: those instances stand for unchanged objects of lists and initial events.
    _known: KnownObjects[T] | None = None

    def __init__(
        self,
        rest: RESTClient,
        kind: type[T],
        resource: Resource | ResourceFinder,
        *,
        namespace: str = "",
        name: str = "",
    ) -> None:
        self._kind = kind
        self._resource = resource if isinstance(resource, Resource) else None
        self._find = None if isinstance(resource, Resource) else resource
        self._namespace = namespace
        self._name = name or (str(self._resource.group_resource) if self._resource else kind.__name__)
        self._selectors: dict[str, str] = {}
        self._rest = rest.for_group_version(self._resource.api_version) if self._resource else rest

    # --- scope -------------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> type[T]:
        """The class that objects are decoded as."""
        return self._kind

    @property
    def resource(self) -> Resource | None:
        """The resource; None until a dynamic client has found it by discovery."""
        return self._resource

    def namespace(self, namespace: str) -> Self:
        """Return a client for one namespace; "" is all namespaces."""
        other = self._copy()
        other._namespace = namespace
        return other

    def selecting(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
    ) -> Self:
        """Return a client whose list, watch and delete_collection use these selectors, in addition to earlier ones.

        Selectors are strings, mappings or selector objects. A shard selector names ranges of the hashes of uids or
        namespaces; objects outside of them are dropped here if the server does not evaluate it.
        """
        other = self._copy()
        other._selectors = self._combined(label_selector, field_selector, shard_selector)
        return other

    def without_managed_fields(self) -> Self:
        """Return a client that requests objects without `managedFields`; older servers still send them."""
        other = self._copy()
        other._accept_object = _without_managed_fields(self._accept_object)
        other._accept_list = _without_managed_fields(self._accept_list)
        return other

    def _without_fields(self, paths: Sequence[str]) -> Self:
        """Return a client that does not request the fields at these paths, as far as servers can omit them."""
        return self.without_managed_fields() if FieldCuts(paths).includes_managed_fields else self

    def with_content_type(self, content_type: ContentType) -> Self:
        """Return a client that reads and writes objects as `json` or `protobuf`, instead of as its configuration says.

        Custom resources are JSON in any case. Protobuf saves time of the server and bytes; accessing a part of an
        object takes about ten times as long as with JSON.
        """
        other = self._copy()
        other._content_type = content_type
        return other

    def _new_known_objects(self) -> KnownObjects[T]:
        return KnownObjects()

    def _recognizing(self, known: KnownObjects[T] | None) -> Self:
        """Return a client whose lists and watches return the known instances of unchanged objects; informers use it."""
        other = self._copy()
        other._known = known
        return other

    def _cache_identity(self) -> dict[str, str]:
        """Return everything on which the listed objects depend, for the file of a persistent cache."""
        return {
            "server": self._rest._server_identity(),
            "resource": self._resource_identity(),
            "namespace": self._namespace,
            "media types": f"{self._accept_list} {self._content_type or self._rest.config.content_type}",
            **self._selectors,
        }

    def _resource_identity(self) -> str:
        if self._find is not None and ", " in self._name:
            return self._name  # a kind or a resource with its version: the same before and after discovery
        if self._resource is None:
            raise UsageError(f"the resource of {self._name} is not known before discovery; pass a Resource")
        return f"{self._resource.api_version}/{self._resource.plural}"

    async def _server_uid(self) -> str:
        """Return what identifies the cluster of the server; empty if that cannot be read."""
        return await self._rest._server_uid()

    # --- reading -----------------------------------------------------------------------------------------------------

    async def get(self, name: str, *, resource_version: str = "") -> T:
        """Get one object, at least as new as the resource version; "0" accepts any version from the server's cache."""
        request = await self._request("GET", name)
        result = await request.params(query_parameters(resource_version=resource_version)).do()
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
        """List all objects, in pages of 500. With a limit, return one page; with limit 0, everything in one response.

        `continue_token` is the API's parameter `continue`, which is a keyword in Python.
        """
        page = partial(self._list_page, self._combined(label_selector, field_selector, shard_selector), timeout_seconds)
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
        """Iterate over the pages of a list, with only a few pages in memory at a time.

        ExpiredError if the server no longer has the version of the first page. Its `continue_token` resumes the list
        with newer objects, which is not a consistent snapshot.
        """
        page = partial(self._list_page, self._combined(label_selector, field_selector, shard_selector), None)
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
        """Watch changes after a resource version, until the server ends the watch.

        Without a version the watch starts with the existing objects. It does not resume by itself: use a RetryWatcher
        or an informer.
        """
        selectors = self._combined(label_selector, field_selector, shard_selector)
        shards = _shard_filter(selectors)
        parameters: dict[str, QueryValue] = {
            **selectors,
            **query_parameters(
                watch=True,
                resource_version=resource_version,
                resource_version_match=resource_version_match,
                send_initial_events=send_initial_events,
                allow_watch_bookmarks=allow_watch_bookmarks,
                timeout_seconds=timeout_seconds,
            ),
        }

        client = self if self._known is None else self._recognizing(None)  # a stream refers to its client until its end

        async def open_watch() -> ResponseStream:
            request = await client._collection_request("GET")
            return await request.params(parameters)._open_watch()

        return WatchStream(
            ByteStream(open_watch),
            self._kind,
            idle_timeout=idle_timeout_for(timeout_seconds),
            initial_events=bool(send_initial_events),
            doing=f"watch {self._name}",
            selects=shards.selects if shards else None,
            known=self._known if send_initial_events else None,
        )

    # --- changing ----------------------------------------------------------------------------------------------------

    async def patch(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchTypeLike | None = None,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
        force: bool = False,
    ) -> T:
        """Patch an object.

        Without a type, a list is a JSON patch; a mapping is a strategic merge patch for built-in kinds and a merge
        patch for custom ones. `force` is for apply patches.
        """
        request = await self._request("PATCH", name, *filter(None, (subresource,)))
        chosen = default_patch_type(patch, is_builtin=self._is_builtin) if type is None else parse_patch_type(type)
        options = query_parameters(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation, force=force
        )
        request.header("Content-Type", chosen.content_type).params(options).body(encode_patch(patch, chosen))
        return (await request.do()).into(self._kind)

    async def delete(
        self,
        name: str,
        *,
        propagation_policy: PropagationPolicy = "",
        grace_period_seconds: int | None = None,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
        ignore_store_read_error_with_cluster_breaking_potential: bool = False,
    ) -> T | None:
        """Delete an object. Return it if the server sent it, else None.

        An object with finalizers or a grace period still exists afterwards, with a deletion timestamp. `uid` and
        `resource_version` are preconditions: ConflictError if the object has other ones.
        """
        request = await self._request("DELETE", name)
        options = delete_options(
            propagation_policy=propagation_policy,
            grace_period_seconds=grace_period_seconds,
            uid=uid,
            resource_version=resource_version,
            dry_run=dry_run,
            ignore_store_read_error_with_cluster_breaking_potential=(
                ignore_store_read_error_with_cluster_breaking_potential
            ),
        )
        result = await request.body(options).do()
        return None if is_status(result) else result.into(self._kind)

    async def delete_collection(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
        propagation_policy: PropagationPolicy = "",
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        limit: int | None = None,
        continue_token: str = "",
        resource_version: str = "",
        resource_version_match: str = "",
        timeout_seconds: int | None = None,
        ignore_store_read_error_with_cluster_breaking_potential: bool = False,
    ) -> ObjectList[T]:
        """Delete all selected objects, without selectors all of the namespace. Return the deleted objects.

        With a shard selector, a list is requested first: UsageError if the server does not evaluate the selector,
        because it would delete the objects of all shards.
        """
        selectors = self._combined(label_selector, field_selector, shard_selector)
        await self._check_shards_confirmed(selectors)
        request = await self._collection_request("DELETE", accept=self._accept_list)
        request.params(selectors)
        parameters = query_parameters(
            limit=limit,
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            timeout_seconds=timeout_seconds,
        )
        if timeout_seconds:
            request.timeout(timeout_seconds)
        options = delete_options(
            propagation_policy=propagation_policy,
            grace_period_seconds=grace_period_seconds,
            dry_run=dry_run,
            ignore_store_read_error_with_cluster_breaking_potential=(
                ignore_store_read_error_with_cluster_breaking_potential
            ),
        )
        result = await request.params(parameters).body(options).do()
        return ObjectList[T]() if is_status(result) else result.into_list(self._kind)

    # --- requests ----------------------------------------------------------------------------------------------------

    def _copy(self) -> Self:
        # `copy.copy` takes four times as long, and programs call `pods(namespace)` before every request.
        other = self.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    async def _list_page(
        self,
        selectors: dict[str, str],
        timeout_seconds: int | None,
        *,
        limit: int,
        continue_token: str,
        resource_version: str,
        resource_version_match: str,
    ) -> ObjectList[T]:
        request = await self._collection_request("GET", accept=self._accept_list)
        if timeout_seconds:
            request.timeout(timeout_seconds)
        parameters = query_parameters(
            limit=limit or None,
            continue_token=continue_token,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            timeout_seconds=timeout_seconds,
        )
        recognized: dict[str, T] = {}
        if self._known:
            request._filtered_by(partial(ListRecognizer, self._known, self._kind, recognized))
        result = await request.params(selectors).params(parameters).do()
        listed = await run_sliced(result._decode_list_sliced(self._kind, self._known))
        listed._unchanged = recognized
        shards = _shard_filter(selectors)
        return shards.apply(listed) if shards else listed

    async def _check_shards_confirmed(self, selectors: dict[str, str]) -> None:
        """Raise UsageError if the selectors have a shard selector that the server does not evaluate."""
        shards = _shard_filter(selectors)
        if shards is None:
            return
        request = await self._collection_request("GET")  # lists of metadata have no confirmation
        result = await request.params(selectors).params(query_parameters(limit=1)).do()
        if not shards.is_confirmed_by(result.into_list(Unstructured)):
            raise UsageError(
                f"delete_collection of {self._name} with a shard selector: the server ignores shard selectors, because "
                "its feature gate ShardedListAndWatch is off, and would delete the objects of all shards; list the "
                "objects with the shard selector, and delete each of them"
            )

    async def _request(self, method: str, name: str, *subresource: str, namespace: str | None = None) -> Request:
        """Build a request for one object or a subresource of it."""
        # Checked here: a name such as None must never turn into a request for the whole collection.
        if not isinstance(name, str):
            raise RequestError(f"{self._name}: the name must be a str, not {name!r}")
        request = (await self._collection_request(method, name=name, namespace=namespace)).name(name)
        return request.subresource(*subresource) if subresource else request

    async def _collection_request(
        self, method: str, *, name: str | None = None, namespace: str | None = None, accept: str | None = None
    ) -> Request:
        """Build a request for the collection, or for an object whose name is added by the caller."""
        resource = self._resource or await self._find_resource()
        scope = self._namespace if namespace is None else namespace
        _check_namespace(resource, scope, name, method)
        request = self._rest.verb(method).resource(resource.plural)
        if scope:
            request.namespace(scope)
        if self._content_type is not None:
            request.content_type(self._content_type)
        return request._accepting(self._accept_object if accept is None else accept)

    async def _find_resource(self) -> Resource:
        if self._resource is None:
            assert self._find is not None
            self._resource = await self._find()
            self._rest = self._rest.for_group_version(self._resource.api_version)
        return self._resource

    def _combined(
        self, label_selector: LabelSelectorLike, field_selector: FieldSelectorLike, shard_selector: str
    ) -> dict[str, str]:
        """Return the query parameters of this client's selectors and these."""
        given, own = selector_parameters(label_selector, field_selector, shard_selector), self._selectors
        if "shardSelector" in given and own.get("shardSelector", given["shardSelector"]) != given["shardSelector"]:
            raise UsageError("two shard selectors cannot be combined: pass one that has the ranges of both")
        if "shardSelector" in own:
            given.pop("shardSelector", None)
        return {name: ",".join(filter(None, (own.get(name), given.get(name)))) for name in own | given}

    @property
    def _is_builtin(self) -> bool:
        return self._resource is not None and is_builtin(self._resource)

    def __repr__(self) -> str:
        namespace = f" in {self._namespace}" if self._namespace else ""
        selectors = "".join(f" {name}={text}" for name, text in self._selectors.items())
        return f"<{type(self).__name__} of {self._name}{namespace}{selectors}>"


def _shard_filter(selectors: dict[str, str]) -> ShardFilter | None:
    text = selectors.get("shardSelector")
    return ShardFilter(text) if text else None


def _without_managed_fields(accept: str) -> str:
    accepted = accept or "application/json"
    return f"{accepted.split(',')[0]};drop=metadata.managedFields,{accepted}"


def _check_namespace(resource: Resource, namespace: str, name: str | None, method: str) -> None:
    if namespace and not resource.namespaced:
        raise RequestError(f"{resource.group_resource} are cluster-scoped; remove the namespace {namespace!r}")
    if resource.namespaced and not namespace and (name is not None or method == "POST"):
        what = f"{resource.group_resource} {name!r}" if name else f"a new object of {resource.group_resource}"
        raise RequestError(f"{what} needs a namespace: select one, as in .namespace('default')")
