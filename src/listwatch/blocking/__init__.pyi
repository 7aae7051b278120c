"""The blocking clients as type checkers and completions see them.

Generated from the asynchronous ones. Do not edit: `make blocking` makes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from os import PathLike
from random import Random
from typing import Any, Generic, Self, TypeVar, overload

from listwatch.api.discovery import APIGroup, DiscoveryResult, ServerVersion
from listwatch.api.options import FieldValidation, ListOptions, LogSource, PropagationPolicy, QueryValue
from listwatch.api.patches import MERGE_PATCH, Patch, PatchTypeLike
from listwatch.api.references import ResourceLike
from listwatch.api.requests import HTTPRequest
from listwatch.api.resource_map import ResourceMap
from listwatch.api.watch_events import ErrorEvent, WatchEvent
from listwatch.backoff import DEFAULT_RETRY, REFLECTOR_BACKOFF, Backoff
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.cache.lister import Lister
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.resources.pager import PAGE_SIZE
from listwatch.client.resources.resource_groups import _ResourceAttribute
from listwatch.client.rest.rate_limiter import RateLimiter
from listwatch.client.rest.result import Result
from listwatch.client.rest.sender import ClientStatistics, Transport
from listwatch.clock import Clock
from listwatch.controller.context import Reconcile
from listwatch.controller.reports import ControllerStatistics, Failure, ManagerStatistics
from listwatch.controller.watches import Every, K, KeyLike, Kind, Watch, Watched
from listwatch.events.occurrence import EventType
from listwatch.events.recorder import EventRecorderStatistics
from listwatch.informer.handlers import AddFunction, Change, DeleteFunction, Handler, HandlerFunctions, UpdateFunction
from listwatch.informer.list_watch import ListerWatcher, _RESTClient
from listwatch.informer.listener import ListenerStatistics, Overflow
from listwatch.informer.reflector import MIN_WATCH, Problem
from listwatch.informer.shared_informer import InformerStatistics
from listwatch.json_value import JSONObject
from listwatch.leaderelection.candidate import LeaderLock
from listwatch.leaderelection.elector import ElectorStatistics
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.models import (
    admissionregistration_v1,
    admissionregistration_v1alpha1,
    admissionregistration_v1beta1,
    apiextensions_v1,
    apiregistration_v1,
    apps_v1,
    authentication_v1,
    authorization_v1,
    autoscaling_v1,
    autoscaling_v2,
    batch_v1,
    certificates_v1,
    certificates_v1beta1,
    coordination_v1,
    coordination_v1alpha2,
    coordination_v1beta1,
    core_v1,
    discovery_v1,
    events_v1,
    flowcontrol_v1,
    internal_v1alpha1,
    lifecycle_v1alpha1,
    networking_v1,
    node_v1,
    policy_v1,
    rbac_v1,
    resource_v1,
    resource_v1alpha3,
    resource_v1beta1,
    resource_v1beta2,
    scheduling_v1,
    scheduling_v1alpha3,
    scheduling_v1beta1,
    storage_v1,
    storagemigration_v1,
    storagemigration_v1beta1,
)
from listwatch.models.authentication_v1 import TokenRequest
from listwatch.models.autoscaling_v1 import Scale
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike
from listwatch.workqueue.queue_state import WorkQueueStatistics
from listwatch.workqueue.rate_limiters import ItemLimiter

C = TypeVar("C", bound=Controller[Any])
ItemT = TypeVar("ItemT")
R = TypeVar("R")
S = TypeVar("S", bound=Object)
T = TypeVar("T", bound=Object)
__all__ = [
    "ByteStream",
    "ClientSet",
    "Controller",
    "DiscoveryClient",
    "DynamicClient",
    "EventRecorder",
    "HandlerRegistration",
    "InformerHandle",
    "LeaderElector",
    "ListWatch",
    "LogStream",
    "Manager",
    "MetadataClient",
    "MetadataResource",
    "RESTClient",
    "RESTMapper",
    "Request",
    "ResourceClient",
    "RetryWatcher",
    "SharedIndexInformer",
    "SharedInformerFactory",
    "SubresourceClient",
    "WatchStream",
    "WorkQueue",
    "add_finalizer",
    "apply_files",
    "finalize",
    "remove_finalizer",
    "retry_on_conflict",
    "until",
    "until_with_sync",
    "wait_for",
]

class ByteStream:
    """Asks when it is entered or first read, ends when the server ends it, and closes its connection when left."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers, once it is there."""

    @property
    def is_closed(self) -> bool: ...
    def open(self) -> None:
        """Ask for it, if that is not done yet; an answer that says no is raised."""

    def read(self) -> bytes:
        """The next bytes, as many as there are; b"" at the end."""

    def read_all(self) -> bytes:
        """Everything up to the end."""

    def lines(self) -> Iterator[bytes]:
        """Line by line, without blank ones."""

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def __next__(self) -> bytes: ...

class WatchStream(Generic[T]):
    """The events of one watch as they come; asks when it is entered or first read, and closes when left.

    A loop over it raises what a server says in an ERROR event; `batches` gives such an event as it is.
    """

    @property
    def is_closed(self) -> bool: ...
    def open(self) -> None:
        """Ask for the watch, if that is not done yet; an answer that says no is raised."""

    def batches(self) -> Iterator[list[WatchEvent[T] | ErrorEvent]]:
        """The events, as many at a time as came at a time."""

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def __iter__(self) -> Iterator[WatchEvent[T]]: ...
    def __next__(self) -> WatchEvent[T]: ...

class LogStream:
    """The lines of a log, without their line feeds; asks when it is entered or first read, and closes when left."""

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def batches(self) -> Iterator[list[str]]:
        """The lines, as many at a time as came at a time."""

    def __iter__(self) -> Iterator[str]: ...
    def __next__(self) -> str: ...

class Request:
    """A request in the making; each step returns it, and it can be sent more than once."""

    def namespace(self, namespace: str) -> Self:
        """In this namespace; "" stands for all of them."""

    def resource(self, resource: str) -> Self:
        """The plural, as `pods`."""

    def name(self, name: str) -> Self:
        """Of one object."""

    def subresource(self, *subresources: str) -> Self:
        """Of that object, as `status`; or a path below it, in several parts."""

    def prefix(self, *segments: str) -> Self:
        """Something between the group-version and all the rest."""

    def suffix(self, *segments: str) -> Self:
        """Something after all the rest."""

    def abs_path(self, *segments: str) -> Self:
        """A path in place of the group-version's, as `/version`; a slash at the end of a single segment stays."""

    def request_uri(self, uri: str) -> Self:
        """A path with parameters, in place of the group-version's and of any given before."""

    def param(self, name: str, value: str | int | Sequence[str] | None) -> Self:
        """A query parameter, added to those of the same name; None is none."""

    def params(self, values: Mapping[str, Any]) -> Self:
        """Several query parameters."""

    def header(self, name: str, value: str) -> Self:
        """A header, in place of one of the same name."""

    def body(self, body: bytes | Object | ObjectList[Any] | Model | Mapping[str, Any] | Sequence[Any] | None) -> Self:
        """What to send; None is nothing, and anything but bytes is sent as JSON."""

    def timeout(self, seconds: float) -> Self:
        """For all tries together, of which the server is told as well; for a stream or a watch, until it begins."""

    def max_retries(self, retries: int) -> Self:
        """How often it is sent again, where that makes sense; 0 is never."""

    def do(self) -> Result:
        """Send it and wait for the whole answer; one that says no is raised."""

    def do_raw(self) -> bytes:
        """The body of the answer."""

    def stream(self, *, idle_timeout: float | None = None) -> ByteStream:
        """The body of the answer as it comes; with an idle timeout, silence for so long is an error."""

    @overload
    def watch(self, *, idle_timeout: float | None = None) -> WatchStream[Unstructured]: ...
    @overload
    def watch(self, kind: type[T], *, idle_timeout: float | None = None) -> WatchStream[T]: ...
    def build(self) -> HTTPRequest:
        """The request as it is sent; raises the first mistake that was made."""

    @property
    def target(self) -> str:
        """Path and query, percent-encoded, below the server's own URL."""

    def describe(self) -> str:
        """Method and path, for messages."""

class RESTClient:
    """Requests to one API server, below one group-version; all that come from one client share its connections."""

    def __init__(
        self,
        config: ClientConfig,
        *,
        group_version: str = "v1",
        transport: Transport | None = None,
        rate_limiter: RateLimiter | None = None,
        clock: Clock | None = None,
    ) -> None: ...
    @property
    def config(self) -> ClientConfig: ...
    @property
    def group_version(self) -> str: ...
    def for_group_version(self, group_version: str) -> Self:
        """The same client below another group-version, such as `apps/v1`; it lives as long as this one."""

    def get(self) -> Request: ...
    def post(self) -> Request: ...
    def put(self) -> Request: ...
    def patch(self, patch_type: str) -> Request:
        """A patch that is `json`, `merge`, `strategic` or `apply`, or of some other content type."""

    def delete(self) -> Request: ...
    def verb(self, method: str) -> Request:
        """A request of any HTTP method."""

    def statistics(self) -> ClientStatistics: ...
    def close(self) -> None:
        """Close every connection, also those in use."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class Connected:
    """A client that makes its RESTClient from a configuration and closes it, or uses another's and leaves it open."""

    def __init__(self, config: ClientConfig | RESTClient) -> None: ...
    @property
    def rest(self) -> RESTClient:
        """The client below this one; all that share it share its connections."""

    def close(self) -> None:
        """Close every connection, unless they are another client's."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class BaseResourceClient(Generic[T]):
    """The objects of one resource, in one namespace or in all."""

    @property
    def kind(self) -> type[T]:
        """The class that objects are decoded as."""

    @property
    def resource(self) -> Resource | None:
        """The resource; None until a dynamic client has found it by discovery."""

    def namespace(self, namespace: str) -> Self:
        """Return a client for one namespace; "" is all namespaces."""

    def selecting(
        self,
        *,
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        shard_selector: str = "",
    ) -> Self:
        """Return a client whose list, watch and delete_collection use these selectors, in addition to earlier ones.

        Selectors are strings, mappings or selector objects. A shard selector is a string that names a range of uids.
        """

    def without_managed_fields(self) -> Self:
        """Return a client that asks the server to omit `managedFields`; older servers send them all the same."""

    def get(self, name: str, *, resource_version: str = "") -> T:
        """Get one object, at least as new as the resource version; "0" accepts any version from the server's cache."""

    def list(
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
    ) -> Iterator[ObjectList[T]]:
        """Iterate over the pages of a list, with only a few pages in memory at a time.

        ExpiredError if the server no longer has the version of the first page. Its `continue_token` resumes the list
        with newer objects, which is not a consistent snapshot.
        """

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

    def patch(
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

    def delete(
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

    def delete_collection(
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
        """Delete all selected objects, without selectors all of the namespace. Return the deleted objects."""

class SubresourceClient(Generic[S]):
    """One subresource of the objects of a resource. `name` is always the name of the object."""

    def get(self, name: str, **parameters: QueryValue) -> S:
        """Get the subresource. Query parameters have the names of the API, in camelCase."""

    def create(
        self,
        name: str,
        body: Object | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> S:
        """Create (POST) the subresource, and return the response."""

    def update(
        self,
        name: str,
        body: Object | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> S:
        """Replace the subresource."""

    def patch(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchTypeLike,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
        force: bool = False,
    ) -> S:
        """Patch the subresource."""

    def apply(
        self,
        name: str,
        body: Object | Mapping[str, object],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
    ) -> S:
        """Apply the fields of the body server-side."""

    def stream(self, name: str, **parameters: QueryValue) -> ByteStream:
        """Stream the bytes of the subresource. Query parameters have the names of the API, in camelCase."""

class Namespaced(_ResourceAttribute[T]):
    """A namespaced resource: call it with a namespace, or without one for all namespaces."""

    def __call__(self, namespace: str = "") -> ResourceClient[T]: ...

class ClusterScoped(_ResourceAttribute[T]):
    """A cluster-scoped resource."""

    def __call__(self) -> ResourceClient[T]: ...

class Group:
    """The resources of one group-version."""

class RESTMapper:
    """Finds resources in the cached discovery of a server, and renews the cache once if it does not find one.

    A short name that several groups use means the first of them; the others are reported to `on_warning`, or logged.
    """

    def __init__(
        self, discovery: DiscoveryCache | DiscoveryClient, *, on_warning: Callable[[str], None] | None = None
    ) -> None: ...
    def resource_for(self, of: ResourceLike, kind: str = "") -> Resource:
        """Return the resource of a kind, a GroupVersionResource or a name; NoMatchError if the server has none.

        `kind` goes with an apiVersion, as in `resource_for("apps/v1", "Deployment")`.
        """

    def kind_for(self, of: ResourceLike) -> GroupVersionKind:
        """Return the kind of a resource's objects."""

    def in_category(self, name: str) -> tuple[Resource, ...]:
        """Return the resources of a category such as `all`; NoMatchError if there are none."""

    def resources(self) -> ResourceMap:
        """Return all resources of the server."""

    def invalidate(self) -> None:
        """Discard the cache; the next call performs discovery."""

class ListWatch(Generic[T]):
    """A source made from two functions, which are called with those options of `ListerWatcher` that they accept.

    `list` returns objects or an ObjectList, or is async; `watch` returns an async iterator of events.
    `chunking=False` always requests the complete list.
    """

    def __init__(self, *, list: Callable[..., object], watch: Callable[..., object], chunking: bool = True) -> None: ...
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
        kind: type[T],
        chunking: bool = True,
        modify_options: Callable[[ListOptions], ListOptions] | None = None,
    ) -> ListWatch[T]: ...
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
        modify_options: Callable[[ListOptions], ListOptions] | None = None,
    ) -> ListWatch[Any]: ...

class RetryWatcher(Generic[T]):
    """Iterates over the events after a resource version, and resumes the watch when it ends or fails.

    Errors that a retry cannot fix are raised: ExpiredError, ForbiddenError, UnauthorizedError, an undecodable event.
    """

    resource_version: str

    def __init__(self, source: Source[T], resource_version: str, *, clock: Clock | None = None) -> None: ...
    def close(self) -> None:
        """Stop watching; a pending iteration ends."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def __iter__(self) -> Iterator[WatchEvent[T]]: ...
    def __next__(self) -> WatchEvent[T]: ...

class HandlerRegistration(Generic[T]):
    """One handler of one informer, with its own backlog and sync state."""

    @property
    def has_synced(self) -> bool:
        """True once the handler has handled all objects that existed when it was added."""

    def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError."""

    def remove(self) -> None:
        """Remove the handler; a current call continues to its end. Removing it twice does nothing."""

    def wait_removed(self) -> None:
        """Remove the handler and wait for a current call. The handler itself must not this."""

    def statistics(self) -> ListenerStatistics: ...

class SharedIndexInformer(Generic[T]):
    """Keeps an indexed store synced with a source, and notifies any number of handlers of each change.

    A handler sees a subsequence of the states that an object had, in their order; the store already contains the
    state that a handler is notified of, or a later one. Handlers are independent: each one is called for one change
    after another, at its own pace. Cached objects are shared: `copy()` one to change it.

    It runs once: `with informer`, or `informer.run()` until it is cancelled or stopped. `source` may be a
    mapping from namespaces to sources, which then fill one store. `on_problem` receives every error; none of them ends
    the informer.

    `page_size`, `streaming`, `min_watch`, `backoff` and `internal_error_window` determine how the source is read: the
    size of the pages of a list, whether the first list is streamed if the server supports it, the minimum duration of
    a watch, the delay after a failure, and for how many seconds a watch is retried after internal server errors.
    """

    name: str
    kind: type[T]
    indexer: Indexer[T]
    lister: Lister[T]

    def __init__(
        self,
        source: Source[T] | Mapping[str, Source[T]],
        kind: type[T],
        *,
        resync: float = 0.0,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Callable[[T], T] | None = None,
        name: str = "",
        page_size: int | None = None,
        streaming: bool = True,
        min_watch: float = MIN_WATCH,
        backoff: Backoff = REFLECTOR_BACKOFF,
        internal_error_window: float = 0.0,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None: ...
    def add_handler(
        self,
        handler: Handler[T] | HandlerFunctions[T] | None = None,
        *,
        on_add: AddFunction[T] | None = None,
        on_update: UpdateFunction[T] | None = None,
        on_delete: DeleteFunction[T] | None = None,
        filter: Callable[[T], bool] | None = None,
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
        on_failure: Callable[[str, Change[T], Exception], None] | None = None,
    ) -> HandlerRegistration[T]:
        """Call these functions, plain or async, for every object of the store, and then for every change.

        `resync` repeats all objects as updates each so many seconds; None uses the informer's own period. With
        `max_pending`, a slow handler receives one coalesced change per object beyond that number (`overflow`).
        """

    def on_add(self, function: Callable[[T], R]) -> Callable[[T], R]:
        """Add a handler, as a decorator: `@informer.on_add` calls the function with every new object."""

    def on_update(self, function: Callable[[T, T], R]) -> Callable[[T, T], R]:
        """Add a handler, as a decorator: the function gets the old and the new state of every changed object."""

    def on_delete(self, function: Callable[[T], R]) -> Callable[[T], R]:
        """Add a handler, as a decorator: the function gets the last state of every deleted object."""

    def changes(
        self,
        *,
        filter: Callable[[T], bool] | None = None,
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> Iterator[Change[T]]:
        """Yield all objects of the store as additions, then every change, until the informer stops.

        The options are those of `add_handler`. A change counts as handled when the next one is requested.
        """

    @property
    def has_synced(self) -> bool:
        """True once the store contains the first list of every source."""

    @property
    def is_stopped(self) -> bool: ...
    def wait_for_sync(
        self, timeout: float | None = None, *, handlers: Sequence[HandlerRegistration[T]] | None = None
    ) -> None:
        """Wait until the store has synced and all handlers have handled it; raises SyncTimeoutError with the reason."""

    def why_not_synced(self) -> str | None:
        """Return the reason why `wait_for_sync` has to wait; None if it has not."""

    @property
    def last_error(self) -> Exception | None:
        """The error of the last request, if it failed."""

    @property
    def failed_attempts(self) -> int:
        """The number of requests that have failed in a row."""

    def wait_until(self, resource_version: str, timeout: float | None = None, *, namespace: str | None = None) -> None:
        """Wait until the store has reached a version, for example that of an own write; raises WaitTimeoutError.

        With several namespaces, pass the namespace of the write: the watch of an idle namespace reports its version
        only about once a minute.
        """

    def statistics(self) -> InformerStatistics: ...
    def run(self) -> None:
        """Keep the store synced until cancelled, or until `stop`."""

    def start(self) -> None:
        """Run in the background until `stop`; does nothing if it runs already."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def stop(self) -> None:
        """Stop the informer and wait for its end. It cannot be started again; its store can be read."""

class InformerHandle(Generic[T]):
    """One user's handle on a shared informer. The informer stops when all of its handles are released."""

    informer: SharedIndexInformer[T]

    @property
    def lister(self) -> Lister[T]: ...
    def release(self) -> None:
        """Release this handle; releasing the last one stops the informer."""

class InformerGroup:
    """The resources of one group-version, as `factory.core_v1`. The subclasses in `typed_groups.py` declare them."""

class SharedInformerFactory(InformerGroups):
    """Creates informers on demand, one per resource, namespaces, selectors and transform, and runs them together.

    Inside `with`, an informer runs as soon as it is requested. `namespace` selects one namespace, `namespaces`
    several with one store; without both, all namespaces are watched. Cluster-scoped resources are watched in any case.
    `resync_for` overrides `resync` by kind.
    """

    def __init__(
        self,
        client: Connected,
        *,
        resync: float = 0.0,
        resync_for: Mapping[type[Object], float] | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        transform: Callable[[Any], Any] | None = None,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
    ) -> None: ...
    @overload
    def informer(
        self,
        of: type[T],
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Callable[[T], T] | None = None,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
    ) -> InformerHandle[T]: ...
    @overload
    def informer(
        self,
        of: ResourceLike,
        *,
        namespace: str | None = None,
        namespaces: Sequence[str] = (),
        label_selector: LabelSelectorLike = None,
        field_selector: FieldSelectorLike = None,
        transform: Callable[[Any], Any] | None = None,
        indexers: Mapping[str, IndexFunction[Any]] | None = None,
    ) -> InformerHandle[Any]: ...
    def start(self) -> None:
        """Run all informers, and each one that is requested later. Starting twice does nothing."""

    def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait for all informers and handlers; raises SyncTimeoutError with those that have not synced, and why."""

    def stop(self) -> None:
        """Stop all informers and wait for their end; raises the errors of those that had failed before."""

    def statistics(self) -> tuple[InformerStatistics, ...]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class LeaderElector:
    """Of all candidates for one lease, one leads at a time, as long as their clocks run about equally fast.

    Give it a client and the name of a lease, or a lock of your own. Each candidate needs an identity that no other has;
    without one it makes one up from the host's name. `run` calls `on_started_leading` and `on_stopped_leading`;
    `on_new_leader` is told each leader's identity, its own too. All may be plain functions or coroutine functions.
    """

    def __init__(
        self,
        lock_or_client: LeaderLock | Connected | RESTClient,
        *,
        name: str = "",
        namespace: str = "",
        identity: str = "",
        lease_duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        on_started_leading: Callable[[], object] | None = None,
        on_stopped_leading: Callable[[], object] | None = None,
        on_new_leader: Callable[[str], object] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None: ...
    @property
    def identity(self) -> str:
        """What this candidate calls itself in the lease."""

    @property
    def name(self) -> str:
        """What the lease is called: `namespace/name`."""

    @property
    def leader(self) -> str:
        """Who leads, as far as this candidate has seen; empty for nobody."""

    @property
    def is_leader(self) -> bool:
        """Whether this candidate leads at this very moment, by its clock; any thread may ask."""

    def check_health(self, timeout: float = 20.0) -> None:
        """Raise LeadershipLostError if what only a leader may do still runs so long after the lease has expired.

        Whoever does not lead is in good health.
        """

    def statistics(self) -> ElectorStatistics: ...
    @contextmanager
    def lead(self) -> Iterator[None]:
        """Wait until elected, and run the block while leading: `with elector.lead(): ...`

        When leadership is lost the block is cancelled, and LeadershipLostError is raised after it has ended; for that
        it has the time between `renew_deadline` and `lease_duration`. The lease is released after the block has ended.
        What cannot be cancelled, as a thread, has to ask `is_leader` or `wait_lost`.
        """

    def run(self) -> None:
        """Stand for election until cancelled, and again after each loss of leadership.

        `on_started_leading` is called when elected, and cancelled when that is over; `on_stopped_leading` after it has
        ended, and before the lease is released. An error that one of them raises ends the run.
        """

    def wait_lost(self, timeout: float | None = None) -> bool:
        """Return True as soon as this candidate does not lead; False after `timeout` seconds in which it did."""

    def skip_release(self) -> None:
        """Do not release the lease after this term: something that only a leader may do goes on, and cannot be ended.

        Others then wait until it has expired; end the program before that.
        """

class WorkQueue(Generic[ItemT]):
    """A deduplicating queue with delays, rate limits and priorities: no item is in it twice or processed concurrently.

    Higher priorities come first; every eighth item is the oldest one. `add_rate_limited` delays an item longer after
    each failure, until `forget`. The queue has no task of its own: one of the waiting workers also waits for the next
    delayed item.
    """

    name: str

    def __init__(
        self, *, name: str = "", limiter: ItemLimiter[ItemT] | None = None, clock: Clock | None = None
    ) -> None: ...
    def add(self, item: ItemT, *, priority: int = 0) -> None:
        """Add an item. One that waits already is not added twice; one in process waits again when it is done."""

    def add_after(self, item: ItemT, delay: float, *, priority: int = 0) -> None:
        """Add an item after `delay` seconds; if it is delayed already, the earlier time counts."""

    def add_rate_limited(self, item: ItemT, *, priority: int = 0) -> None:
        """Add an item after a failure, with the delay that the limiter returns."""

    def forget(self, item: ItemT) -> None:
        """Reset the failures of an item, after success or a final failure; does not remove it from the queue."""

    def requeues(self, item: ItemT) -> int:
        """How often the item failed since it was last forgotten."""

    @contextmanager
    def take(self) -> Iterator[ItemT]:
        """`with queue.take() as item`: `get` on entering, `done` on leaving."""

    def get(self) -> ItemT:
        """Wait for the next item, which is in process until `done`; raises QueueShutDownError after the last one."""

    def done(self, item: ItemT) -> None:
        """End the processing of an item; if it was added meanwhile, it waits again."""

    def shut_down(self) -> None:
        """Reject further items, drop delayed ones and end a `drain`; waiting items can still be taken."""

    def drain(self, *, timeout: float | None = None) -> None:
        """Shut down, and wait until all items were taken and are done; workers must still run.

        Ends early if `shut_down` is called; raises WaitTimeoutError.
        """

    @property
    def is_shut_down(self) -> bool:
        """Whether further items are rejected."""

    def statistics(self) -> WorkQueueStatistics:
        """The contents and counters at this moment."""

    def __len__(self) -> int: ...

class Controller(Generic[T]):
    """Calls `reconcile` with the key of every object that may need work; never concurrently for the same key.

    `for_`, `owns` and `watches` select the objects whose changes are reconciled: model classes, (apiVersion, kind)
    pairs, informers, or a `Watch` with options; `watches` also takes `Every`, a timer.

    `reconcile` is a function of `(key)` or `(key, context)`, or an object with such a `reconcile` method; see
    `ReconcileContext`. An async function runs in the event loop, a plain function in a thread. It returns None, or the
    seconds after which to reconcile the key again. After an exception the key is retried with backoff; after
    PermanentError it is not. After `timeout` seconds it is cancelled. A key is not reconciled again before the caches
    contain what its last reconcile wrote, or `own_writes_timeout` seconds have passed.

    `namespace` and `namespaces` limit what is watched. A controller runs once: in a Manager, or alone with a `client`,
    as `with controller` or `controller.run()`. When it stops, running reconciles have `grace_period`
    seconds to end. A reconcile that blocks the event loop for `loop_stall_threshold` seconds is reported. Failures go
    to `on_failure`, or to the log.
    """

    name: str
    needs_leader: bool

    def __init__(
        self,
        reconcile: Reconcile[T],
        *,
        for_: Kind[T] | None = None,
        owns: Sequence[Watched] = (),
        watches: Sequence[Watch[Any] | Every] = (),
        name: str = "",
        concurrency: int = 4,
        timeout: float | None = 300.0,
        client: Connected | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        resync: float = 0.0,
        limiter: ItemLimiter[ObjectKey] | None = None,
        sync_timeout: float | None = 120.0,
        own_writes_timeout: float = 30.0,
        grace_period: float = 30.0,
        needs_leader: bool = True,
        loop_stall_threshold: float = 1.0,
        on_failure: Callable[[Failure], None] | None = None,
        clock: Clock | None = None,
    ) -> None: ...
    def enqueue(self, key: KeyLike, *, after: float = 0.0, priority: int = 0) -> None:
        """Reconcile a key, now or after some seconds; from any thread."""

    def get(self, key: KeyLike) -> Any:
        """The cached object of a key, of the kind `for_`; None if it does not exist."""

    def lister(self, kind: Kind[K]) -> Lister[K]:
        """The cached objects of a watched kind, by name, namespace and selector."""

    def indexer(self, kind: Kind[K]) -> Indexer[K]:
        """The cached objects of a watched kind, by key and by index."""

    @property
    def is_working(self) -> bool:
        """Whether its workers run: the caches are synced and, if it needs to, this replica leads."""

    @property
    def is_ready(self) -> bool:
        """Whether its caches are synced; a replica that does not lead can be ready."""

    def why_not_ready(self) -> str | None:
        """Why it is not ready; None once it is."""

    def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until the caches are synced and the keys of all existing objects queued; raises SyncTimeoutError."""

    def statistics(self) -> ControllerStatistics:
        """Counters and current state."""

    def run(self) -> None:
        """Watch and reconcile until cancelled, or until `stop`."""

    def start(self) -> None:
        """Run in the background until `stop`; does nothing if it is running."""

    def stop(self) -> None:
        """Take no further key, give running reconciles `grace_period` seconds to end, and cancel the others then.

        A controller in a manager is stopped by the manager.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class Manager:
    """Runs controllers over shared informers, until it is stopped or one of them fails.

    `namespace` and `namespaces` limit what the controllers watch; without them, all namespaces are watched.

    With `leader_election`, the name of a Lease, workers run only while this replica leads. The Lease is in
    `lease_namespace`; the default is the namespace of the client's configuration: the pod's own in a cluster, that of
    the context in a kubeconfig. A `leader_elector` with options of its own may be passed instead. Loss of leadership
    ends the manager with LeadershipLostError: restart the process, since its reconciles may have been interrupted.

    With `health_port` it serves /healthz, /readyz and /metrics. When it stops, running reconciles have `grace_period`
    seconds to end, and then the lease is released; if a reconcile runs on that cannot be cancelled, as in a thread, the
    lease is left to expire. A reconcile that blocks the event loop for `loop_stall_threshold` seconds is reported.
    """

    def __init__(
        self,
        client: ClientSet | DynamicClient,
        *,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        leader_election: str = "",
        lease_namespace: str = "",
        leader_elector: LeaderElector | None = None,
        resync: float = 0.0,
        health_port: int | None = None,
        health_host: str = "127.0.0.1",
        grace_period: float = 30.0,
        loop_stall_threshold: float = 1.0,
        clock: Clock | None = None,
    ) -> None: ...
    def add(self, controller: C) -> C:
        """Add a controller, and return it; before the manager is started."""

    def add_health_check(self, name: str, check: Callable[[], object]) -> None:
        """Let /healthz fail while this function, plain or async, raises: the program should be restarted."""

    def add_ready_check(self, name: str, check: Callable[[], object]) -> None:
        """Let /readyz fail while this function, plain or async, raises."""

    @property
    def controllers(self) -> tuple[Controller[Any], ...]:
        """The controllers that were added."""

    @property
    def is_leading(self) -> bool:
        """Whether workers that need leadership run; without leader election, whether the manager runs."""

    @property
    def is_ready(self) -> bool:
        """Whether all caches are synced and the manager is not stopping."""

    @property
    def health_port(self) -> int | None:
        """The port of the probes; with `health_port=0`, the selected port once it runs."""

    def statistics(self) -> ManagerStatistics:
        """Counters and current state, also of all controllers and informers."""

    def run(self, *, handle_signals: bool = True) -> None:
        """Run until stopped or cancelled. The first SIGTERM or SIGINT stops it, a second one without grace period."""

    def start(self) -> None:
        """Run in the background until `stop`, without signal handling; does nothing if it is running."""

    def stop_soon(self) -> None:
        """Request a stop without waiting for it; a second call ends the grace period."""

    def stop(self) -> None:
        """Stop what `start` or `with` started, and wait for it; raises the error of a run that failed."""

    def wait_stopped(self) -> None:
        """Wait until what `start` or `with` started has ended; raises the error of a run that failed."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class EventRecorder:
    """Records events without ever waiting, from any thread, and writes them one after another while it is open.

    At most `queue_size` wait to be written; what comes on top is dropped, and so is what is left `flush_timeout`
    seconds after leaving. `statistics()` tells how many that were. No trouble with the server reaches who records.
    """

    def __init__(
        self,
        events: ResourceClient[Any],
        *,
        component: str,
        instance: str = "",
        queue_size: int = 1000,
        flush_timeout: float = 5.0,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None: ...
    def event(
        self,
        obj: Any,
        type: EventType,
        reason: str,
        message: str,
        *,
        action: str = "",
        related: Any = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record that something happened to an object, or to what an ObjectReference or a manifest names.

        The reason is a word for programs, as `FailedMount`, the message a sentence for people. The action says what was
        done because of it; events.k8s.io asks for one, and gets the reason if there is none.
        """

    def statistics(self) -> EventRecorderStatistics:
        """What became of the events so far."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def flush(self, *, timeout: float | None = None) -> None:
        """Return when nothing waits to be written any more; TimeoutError if that takes too long."""

    def close(self) -> None:
        """Record nothing any more, and write what waits, and how long each series became, within `flush_timeout`."""

class ResourceClient(BaseResourceClient[T]):
    """The objects of one resource, in one namespace or in all, and their subresources."""

    def create(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Create an object in the namespace of this client, or else in that of the object. Return it as stored."""

    def update(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace an object; ConflictError if it has changed since this version was read."""

    def update_status(
        self,
        obj: T | Mapping[str, object],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation = "",
    ) -> T:
        """Replace the status of an object; the server ignores changes to the rest of it."""

    def apply(
        self,
        obj: T | Mapping[str, object],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
        subresource: str = "",
    ) -> T:
        """Apply the fields of the object server-side; create the object if it does not exist.

        ConflictError if another manager owns one of the fields with another value; `force` takes the ownership. Fields
        that this manager applied before and omits now are removed.
        """

    def apply_status(
        self,
        obj: T | Mapping[str, object],
        *,
        field_manager: str,
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation = "",
    ) -> T:
        """Apply the status of an object server-side."""

    @overload
    def subresource(self, name: str) -> SubresourceClient[Unstructured]: ...
    @overload
    def subresource(self, name: str, kind: type[S]) -> SubresourceClient[S]: ...
    def get_scale(self, name: str) -> Scale:
        """Get the current and the desired number of replicas."""

    def update_scale(self, name: str, scale: Scale, *, dry_run: bool = False, field_manager: str = "") -> Scale:
        """Replace the desired number of replicas."""

    def patch_scale(
        self,
        name: str,
        patch: Patch,
        *,
        type: PatchTypeLike = MERGE_PATCH,
        dry_run: bool = False,
        field_manager: str = "",
    ) -> Scale:
        """Change the desired number of replicas, as with {"spec": {"replicas": 3}}."""

    def logs(
        self,
        name: str,
        *,
        container: str = "",
        since_seconds: float | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        previous: bool = False,
        timestamps: bool = False,
        limit_bytes: int | None = None,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> str:
        """Read the log of a container: everything, or what was written since a time or in the last seconds."""

    def follow_logs(
        self,
        name: str,
        *,
        container: str = "",
        since_seconds: float | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        timestamps: bool = False,
        limit_bytes: int | None = None,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> LogStream:
        """Stream the lines of a container's log, and new lines as they are written, until the container ends."""

    def evict(
        self,
        name: str,
        *,
        grace_period_seconds: int | None = None,
        propagation_policy: PropagationPolicy = "",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> None:
        """Evict a pod; TooManyRequestsError if a disruption budget does not allow it now.

        `uid` and `resource_version` are preconditions.
        """

    def bind(self, name: str, node: str, *, dry_run: bool = False) -> None:
        """Bind a pod to a node, as a scheduler does."""

    def create_token(
        self,
        name: str,
        *,
        audiences: Sequence[str] = (),
        expiration_seconds: int | None = None,
        bound_object_ref: Object | None = None,
    ) -> TokenRequest:
        """Request a token of a service account: `.status.token`.

        `bound_object_ref` is a pod, secret or node; the token becomes invalid when that object is deleted.
        """

class MetadataResource(BaseResourceClient[PartialObjectMetadata]):
    """The objects of one resource, of which only the metadata is read."""

    def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """Get the metadata of one object."""

class ClientSet(Groups, Connected):
    """Typed clients for all resources of an API server, over one connection pool.

    Without a configuration, `load_config()` provides it.
    """

    @property
    def discovery(self) -> DiscoveryClient:
        """The discovery client over the same connections."""

    @property
    def mapper(self) -> RESTMapper:
        """Finds the resources of kinds and names; shared by the dynamic and the metadata client."""

    @property
    def dynamic(self) -> DynamicClient:
        """The dynamic client over the same connections."""

    @property
    def metadata(self) -> MetadataClient:
        """The metadata client over the same connections."""

    def resource(self, kind: type[T], *, namespace: str = "") -> ResourceClient[T]:
        """Return the client of a built-in or custom kind; without a namespace, for all namespaces."""

class DynamicClient(Connected):
    """Untyped clients for all resources of an API server; custom resources are found by discovery.

    Without a configuration, `load_config()` provides it.
    """

    def __init__(self, config: ClientConfig | RESTClient, *, mapper: RESTMapper | None = None) -> None: ...
    @property
    def mapper(self) -> RESTMapper:
        """Finds the resources of kinds and names."""

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> ResourceClient[Unstructured]:
        """Return the client of a resource: by apiVersion and kind, GroupVersionResource, or a name such as `po`.

        Nothing is sent yet. The first request raises NoMatchError if the server has no such resource.
        """

class MetadataClient(Connected):
    """Metadata clients for all resources of an API server.

    Without a configuration, `load_config()` provides it.
    """

    def __init__(self, config: ClientConfig | RESTClient, *, mapper: RESTMapper | None = None) -> None: ...
    @property
    def mapper(self) -> RESTMapper:
        """Finds the resources of kinds and names."""

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> MetadataResource:
        """Return the client of a resource, which is found as by a DynamicClient."""

class DiscoveryClient(Connected):
    """Discovers what a server serves, with new requests on each call.

    `aggregated=False` disables aggregated discovery. Without a configuration, `load_config()` provides it.
    """

    def __init__(self, config: ClientConfig | RESTClient, *, aggregated: bool = True) -> None: ...
    def server_groups_and_resources(self) -> DiscoveryResult:
        """Discover all groups and resources; DiscoveryError if some failed, with the others in its `found`."""

    def server_groups(self) -> tuple[APIGroup, ...]:
        """Discover all groups and their versions, the core group first."""

    def server_resources(self, group_version: str) -> tuple[Resource, ...]:
        """Discover the resources of one group-version, such as `apps/v1`; NotFoundError if it is not served."""

    def preferred_resources(self) -> tuple[Resource, ...]:
        """Discover each resource once, in the server's preferred version; raises as `server_groups_and_resources`."""

    def server_version(self) -> ServerVersion:
        """Get the version of the server."""

    def openapi_paths(self) -> dict[str, str]:
        """Get the URLs of the OpenAPI v3 documents, by paths such as `apis/apps/v1`; see `openapi_schema`."""

    def openapi_schema(self, group_version: str) -> JSONObject:
        """Get the OpenAPI v3 document of one group-version, such as `apps/v1`; NotFoundError if there is none."""

class CoreV1(Group):
    """The resources of `v1`."""

    bindings: Namespaced[core_v1.Binding]
    componentstatuses: ClusterScoped[core_v1.ComponentStatus]
    configmaps: Namespaced[core_v1.ConfigMap]
    endpoints: Namespaced[core_v1.Endpoints]
    events: Namespaced[core_v1.Event]
    limitranges: Namespaced[core_v1.LimitRange]
    namespaces: ClusterScoped[core_v1.Namespace]
    nodes: ClusterScoped[core_v1.Node]
    persistentvolumeclaims: Namespaced[core_v1.PersistentVolumeClaim]
    persistentvolumes: ClusterScoped[core_v1.PersistentVolume]
    pods: Namespaced[core_v1.Pod]
    podtemplates: Namespaced[core_v1.PodTemplate]
    replicationcontrollers: Namespaced[core_v1.ReplicationController]
    resourcequotas: Namespaced[core_v1.ResourceQuota]
    secrets: Namespaced[core_v1.Secret]
    serviceaccounts: Namespaced[core_v1.ServiceAccount]
    services: Namespaced[core_v1.Service]

class ApiregistrationV1(Group):
    """The resources of `apiregistration.k8s.io/v1`."""

    apiservices: ClusterScoped[apiregistration_v1.APIService]

class AppsV1(Group):
    """The resources of `apps/v1`."""

    controllerrevisions: Namespaced[apps_v1.ControllerRevision]
    daemonsets: Namespaced[apps_v1.DaemonSet]
    deployments: Namespaced[apps_v1.Deployment]
    replicasets: Namespaced[apps_v1.ReplicaSet]
    statefulsets: Namespaced[apps_v1.StatefulSet]

class EventsV1(Group):
    """The resources of `events.k8s.io/v1`."""

    events: Namespaced[events_v1.Event]

class AuthenticationV1(Group):
    """The resources of `authentication.k8s.io/v1`."""

    selfsubjectreviews: ClusterScoped[authentication_v1.SelfSubjectReview]
    tokenreviews: ClusterScoped[authentication_v1.TokenReview]

class AuthorizationV1(Group):
    """The resources of `authorization.k8s.io/v1`."""

    localsubjectaccessreviews: Namespaced[authorization_v1.LocalSubjectAccessReview]
    selfsubjectaccessreviews: ClusterScoped[authorization_v1.SelfSubjectAccessReview]
    selfsubjectrulesreviews: ClusterScoped[authorization_v1.SelfSubjectRulesReview]
    subjectaccessreviews: ClusterScoped[authorization_v1.SubjectAccessReview]

class AutoscalingV2(Group):
    """The resources of `autoscaling/v2`."""

    horizontalpodautoscalers: Namespaced[autoscaling_v2.HorizontalPodAutoscaler]

class AutoscalingV1(Group):
    """The resources of `autoscaling/v1`."""

    horizontalpodautoscalers: Namespaced[autoscaling_v1.HorizontalPodAutoscaler]

class BatchV1(Group):
    """The resources of `batch/v1`."""

    cronjobs: Namespaced[batch_v1.CronJob]
    jobs: Namespaced[batch_v1.Job]

class CertificatesV1(Group):
    """The resources of `certificates.k8s.io/v1`."""

    certificatesigningrequests: ClusterScoped[certificates_v1.CertificateSigningRequest]
    clustertrustbundles: ClusterScoped[certificates_v1.ClusterTrustBundle]
    podcertificaterequests: Namespaced[certificates_v1.PodCertificateRequest]

class CertificatesV1beta1(Group):
    """The resources of `certificates.k8s.io/v1beta1`."""

    clustertrustbundles: ClusterScoped[certificates_v1beta1.ClusterTrustBundle]
    podcertificaterequests: Namespaced[certificates_v1beta1.PodCertificateRequest]

class NetworkingV1(Group):
    """The resources of `networking.k8s.io/v1`."""

    ingressclasses: ClusterScoped[networking_v1.IngressClass]
    ingresses: Namespaced[networking_v1.Ingress]
    ipaddresses: ClusterScoped[networking_v1.IPAddress]
    networkpolicies: Namespaced[networking_v1.NetworkPolicy]
    servicecidrs: ClusterScoped[networking_v1.ServiceCIDR]

class PolicyV1(Group):
    """The resources of `policy/v1`."""

    poddisruptionbudgets: Namespaced[policy_v1.PodDisruptionBudget]

class RbacV1(Group):
    """The resources of `rbac.authorization.k8s.io/v1`."""

    clusterrolebindings: ClusterScoped[rbac_v1.ClusterRoleBinding]
    clusterroles: ClusterScoped[rbac_v1.ClusterRole]
    rolebindings: Namespaced[rbac_v1.RoleBinding]
    roles: Namespaced[rbac_v1.Role]

class StorageV1(Group):
    """The resources of `storage.k8s.io/v1`."""

    csidrivers: ClusterScoped[storage_v1.CSIDriver]
    csinodes: ClusterScoped[storage_v1.CSINode]
    csistoragecapacities: Namespaced[storage_v1.CSIStorageCapacity]
    storageclasses: ClusterScoped[storage_v1.StorageClass]
    volumeattachments: ClusterScoped[storage_v1.VolumeAttachment]
    volumeattributesclasses: ClusterScoped[storage_v1.VolumeAttributesClass]

class AdmissionregistrationV1(Group):
    """The resources of `admissionregistration.k8s.io/v1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1.MutatingAdmissionPolicyBinding]
    mutatingwebhookconfigurations: ClusterScoped[admissionregistration_v1.MutatingWebhookConfiguration]
    validatingadmissionpolicies: ClusterScoped[admissionregistration_v1.ValidatingAdmissionPolicy]
    validatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1.ValidatingAdmissionPolicyBinding]
    validatingwebhookconfigurations: ClusterScoped[admissionregistration_v1.ValidatingWebhookConfiguration]

class AdmissionregistrationV1beta1(Group):
    """The resources of `admissionregistration.k8s.io/v1beta1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1beta1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1beta1.MutatingAdmissionPolicyBinding]

class AdmissionregistrationV1alpha1(Group):
    """The resources of `admissionregistration.k8s.io/v1alpha1`."""

    mutatingadmissionpolicies: ClusterScoped[admissionregistration_v1alpha1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: ClusterScoped[admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding]

class ApiextensionsV1(Group):
    """The resources of `apiextensions.k8s.io/v1`."""

    customresourcedefinitions: ClusterScoped[apiextensions_v1.CustomResourceDefinition]

class SchedulingV1(Group):
    """The resources of `scheduling.k8s.io/v1`."""

    priorityclasses: ClusterScoped[scheduling_v1.PriorityClass]

class SchedulingV1beta1(Group):
    """The resources of `scheduling.k8s.io/v1beta1`."""

    podgroups: Namespaced[scheduling_v1beta1.PodGroup]
    workloads: Namespaced[scheduling_v1beta1.Workload]

class SchedulingV1alpha3(Group):
    """The resources of `scheduling.k8s.io/v1alpha3`."""

    compositepodgroups: Namespaced[scheduling_v1alpha3.CompositePodGroup]
    podgroups: Namespaced[scheduling_v1alpha3.PodGroup]
    workloads: Namespaced[scheduling_v1alpha3.Workload]

class CoordinationV1(Group):
    """The resources of `coordination.k8s.io/v1`."""

    leases: Namespaced[coordination_v1.Lease]

class CoordinationV1beta1(Group):
    """The resources of `coordination.k8s.io/v1beta1`."""

    leasecandidates: Namespaced[coordination_v1beta1.LeaseCandidate]

class CoordinationV1alpha2(Group):
    """The resources of `coordination.k8s.io/v1alpha2`."""

    leasecandidates: Namespaced[coordination_v1alpha2.LeaseCandidate]

class NodeV1(Group):
    """The resources of `node.k8s.io/v1`."""

    runtimeclasses: ClusterScoped[node_v1.RuntimeClass]

class DiscoveryV1(Group):
    """The resources of `discovery.k8s.io/v1`."""

    endpointslices: Namespaced[discovery_v1.EndpointSlice]

class ResourceV1(Group):
    """The resources of `resource.k8s.io/v1`."""

    deviceclasses: ClusterScoped[resource_v1.DeviceClass]
    devicetaintrules: ClusterScoped[resource_v1.DeviceTaintRule]
    resourceclaims: Namespaced[resource_v1.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1.ResourceSlice]

class ResourceV1beta2(Group):
    """The resources of `resource.k8s.io/v1beta2`."""

    deviceclasses: ClusterScoped[resource_v1beta2.DeviceClass]
    devicetaintrules: ClusterScoped[resource_v1beta2.DeviceTaintRule]
    resourceclaims: Namespaced[resource_v1beta2.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1beta2.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1beta2.ResourceSlice]

class ResourceV1beta1(Group):
    """The resources of `resource.k8s.io/v1beta1`."""

    deviceclasses: ClusterScoped[resource_v1beta1.DeviceClass]
    resourceclaims: Namespaced[resource_v1beta1.ResourceClaim]
    resourceclaimtemplates: Namespaced[resource_v1beta1.ResourceClaimTemplate]
    resourceslices: ClusterScoped[resource_v1beta1.ResourceSlice]

class ResourceV1alpha3(Group):
    """The resources of `resource.k8s.io/v1alpha3`."""

    devicetaintrules: ClusterScoped[resource_v1alpha3.DeviceTaintRule]
    resourcepoolstatusrequests: ClusterScoped[resource_v1alpha3.ResourcePoolStatusRequest]

class FlowcontrolV1(Group):
    """The resources of `flowcontrol.apiserver.k8s.io/v1`."""

    flowschemas: ClusterScoped[flowcontrol_v1.FlowSchema]
    prioritylevelconfigurations: ClusterScoped[flowcontrol_v1.PriorityLevelConfiguration]

class InternalV1alpha1(Group):
    """The resources of `internal.apiserver.k8s.io/v1alpha1`."""

    storageversions: ClusterScoped[internal_v1alpha1.StorageVersion]

class StoragemigrationV1(Group):
    """The resources of `storagemigration.k8s.io/v1`."""

    storageversionmigrations: ClusterScoped[storagemigration_v1.StorageVersionMigration]

class StoragemigrationV1beta1(Group):
    """The resources of `storagemigration.k8s.io/v1beta1`."""

    storageversionmigrations: ClusterScoped[storagemigration_v1beta1.StorageVersionMigration]

class LifecycleV1alpha1(Group):
    """The resources of `lifecycle.k8s.io/v1alpha1`."""

    evictionrequests: Namespaced[lifecycle_v1alpha1.EvictionRequest]
    evictions: Namespaced[lifecycle_v1alpha1.Eviction]

class Groups:
    """The group-versions of a ClientSet."""

    core_v1: CoreV1
    apiregistration_v1: ApiregistrationV1
    apps_v1: AppsV1
    events_v1: EventsV1
    authentication_v1: AuthenticationV1
    authorization_v1: AuthorizationV1
    autoscaling_v2: AutoscalingV2
    autoscaling_v1: AutoscalingV1
    batch_v1: BatchV1
    certificates_v1: CertificatesV1
    certificates_v1beta1: CertificatesV1beta1
    networking_v1: NetworkingV1
    policy_v1: PolicyV1
    rbac_v1: RbacV1
    storage_v1: StorageV1
    admissionregistration_v1: AdmissionregistrationV1
    admissionregistration_v1beta1: AdmissionregistrationV1beta1
    admissionregistration_v1alpha1: AdmissionregistrationV1alpha1
    apiextensions_v1: ApiextensionsV1
    scheduling_v1: SchedulingV1
    scheduling_v1beta1: SchedulingV1beta1
    scheduling_v1alpha3: SchedulingV1alpha3
    coordination_v1: CoordinationV1
    coordination_v1beta1: CoordinationV1beta1
    coordination_v1alpha2: CoordinationV1alpha2
    node_v1: NodeV1
    discovery_v1: DiscoveryV1
    resource_v1: ResourceV1
    resource_v1beta2: ResourceV1beta2
    resource_v1beta1: ResourceV1beta1
    resource_v1alpha3: ResourceV1alpha3
    flowcontrol_v1: FlowcontrolV1
    internal_v1alpha1: InternalV1alpha1
    storagemigration_v1: StoragemigrationV1
    storagemigration_v1beta1: StoragemigrationV1beta1
    lifecycle_v1alpha1: LifecycleV1alpha1

class CoreV1Informers(InformerGroup):
    """The informers of `v1`."""

    configmaps: InformerHandle[core_v1.ConfigMap]
    endpoints: InformerHandle[core_v1.Endpoints]
    events: InformerHandle[core_v1.Event]
    limitranges: InformerHandle[core_v1.LimitRange]
    namespaces: InformerHandle[core_v1.Namespace]
    nodes: InformerHandle[core_v1.Node]
    persistentvolumeclaims: InformerHandle[core_v1.PersistentVolumeClaim]
    persistentvolumes: InformerHandle[core_v1.PersistentVolume]
    pods: InformerHandle[core_v1.Pod]
    podtemplates: InformerHandle[core_v1.PodTemplate]
    replicationcontrollers: InformerHandle[core_v1.ReplicationController]
    resourcequotas: InformerHandle[core_v1.ResourceQuota]
    secrets: InformerHandle[core_v1.Secret]
    serviceaccounts: InformerHandle[core_v1.ServiceAccount]
    services: InformerHandle[core_v1.Service]

class ApiregistrationV1Informers(InformerGroup):
    """The informers of `apiregistration.k8s.io/v1`."""

    apiservices: InformerHandle[apiregistration_v1.APIService]

class AppsV1Informers(InformerGroup):
    """The informers of `apps/v1`."""

    controllerrevisions: InformerHandle[apps_v1.ControllerRevision]
    daemonsets: InformerHandle[apps_v1.DaemonSet]
    deployments: InformerHandle[apps_v1.Deployment]
    replicasets: InformerHandle[apps_v1.ReplicaSet]
    statefulsets: InformerHandle[apps_v1.StatefulSet]

class EventsV1Informers(InformerGroup):
    """The informers of `events.k8s.io/v1`."""

    events: InformerHandle[events_v1.Event]

class AutoscalingV2Informers(InformerGroup):
    """The informers of `autoscaling/v2`."""

    horizontalpodautoscalers: InformerHandle[autoscaling_v2.HorizontalPodAutoscaler]

class AutoscalingV1Informers(InformerGroup):
    """The informers of `autoscaling/v1`."""

    horizontalpodautoscalers: InformerHandle[autoscaling_v1.HorizontalPodAutoscaler]

class BatchV1Informers(InformerGroup):
    """The informers of `batch/v1`."""

    cronjobs: InformerHandle[batch_v1.CronJob]
    jobs: InformerHandle[batch_v1.Job]

class CertificatesV1Informers(InformerGroup):
    """The informers of `certificates.k8s.io/v1`."""

    certificatesigningrequests: InformerHandle[certificates_v1.CertificateSigningRequest]
    clustertrustbundles: InformerHandle[certificates_v1.ClusterTrustBundle]
    podcertificaterequests: InformerHandle[certificates_v1.PodCertificateRequest]

class CertificatesV1beta1Informers(InformerGroup):
    """The informers of `certificates.k8s.io/v1beta1`."""

    clustertrustbundles: InformerHandle[certificates_v1beta1.ClusterTrustBundle]
    podcertificaterequests: InformerHandle[certificates_v1beta1.PodCertificateRequest]

class NetworkingV1Informers(InformerGroup):
    """The informers of `networking.k8s.io/v1`."""

    ingressclasses: InformerHandle[networking_v1.IngressClass]
    ingresses: InformerHandle[networking_v1.Ingress]
    ipaddresses: InformerHandle[networking_v1.IPAddress]
    networkpolicies: InformerHandle[networking_v1.NetworkPolicy]
    servicecidrs: InformerHandle[networking_v1.ServiceCIDR]

class PolicyV1Informers(InformerGroup):
    """The informers of `policy/v1`."""

    poddisruptionbudgets: InformerHandle[policy_v1.PodDisruptionBudget]

class RbacV1Informers(InformerGroup):
    """The informers of `rbac.authorization.k8s.io/v1`."""

    clusterrolebindings: InformerHandle[rbac_v1.ClusterRoleBinding]
    clusterroles: InformerHandle[rbac_v1.ClusterRole]
    rolebindings: InformerHandle[rbac_v1.RoleBinding]
    roles: InformerHandle[rbac_v1.Role]

class StorageV1Informers(InformerGroup):
    """The informers of `storage.k8s.io/v1`."""

    csidrivers: InformerHandle[storage_v1.CSIDriver]
    csinodes: InformerHandle[storage_v1.CSINode]
    csistoragecapacities: InformerHandle[storage_v1.CSIStorageCapacity]
    storageclasses: InformerHandle[storage_v1.StorageClass]
    volumeattachments: InformerHandle[storage_v1.VolumeAttachment]
    volumeattributesclasses: InformerHandle[storage_v1.VolumeAttributesClass]

class AdmissionregistrationV1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1.MutatingAdmissionPolicyBinding]
    mutatingwebhookconfigurations: InformerHandle[admissionregistration_v1.MutatingWebhookConfiguration]
    validatingadmissionpolicies: InformerHandle[admissionregistration_v1.ValidatingAdmissionPolicy]
    validatingadmissionpolicybindings: InformerHandle[admissionregistration_v1.ValidatingAdmissionPolicyBinding]
    validatingwebhookconfigurations: InformerHandle[admissionregistration_v1.ValidatingWebhookConfiguration]

class AdmissionregistrationV1beta1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1beta1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1beta1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1beta1.MutatingAdmissionPolicyBinding]

class AdmissionregistrationV1alpha1Informers(InformerGroup):
    """The informers of `admissionregistration.k8s.io/v1alpha1`."""

    mutatingadmissionpolicies: InformerHandle[admissionregistration_v1alpha1.MutatingAdmissionPolicy]
    mutatingadmissionpolicybindings: InformerHandle[admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding]

class ApiextensionsV1Informers(InformerGroup):
    """The informers of `apiextensions.k8s.io/v1`."""

    customresourcedefinitions: InformerHandle[apiextensions_v1.CustomResourceDefinition]

class SchedulingV1Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1`."""

    priorityclasses: InformerHandle[scheduling_v1.PriorityClass]

class SchedulingV1beta1Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1beta1`."""

    podgroups: InformerHandle[scheduling_v1beta1.PodGroup]
    workloads: InformerHandle[scheduling_v1beta1.Workload]

class SchedulingV1alpha3Informers(InformerGroup):
    """The informers of `scheduling.k8s.io/v1alpha3`."""

    compositepodgroups: InformerHandle[scheduling_v1alpha3.CompositePodGroup]
    podgroups: InformerHandle[scheduling_v1alpha3.PodGroup]
    workloads: InformerHandle[scheduling_v1alpha3.Workload]

class CoordinationV1Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1`."""

    leases: InformerHandle[coordination_v1.Lease]

class CoordinationV1beta1Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1beta1`."""

    leasecandidates: InformerHandle[coordination_v1beta1.LeaseCandidate]

class CoordinationV1alpha2Informers(InformerGroup):
    """The informers of `coordination.k8s.io/v1alpha2`."""

    leasecandidates: InformerHandle[coordination_v1alpha2.LeaseCandidate]

class NodeV1Informers(InformerGroup):
    """The informers of `node.k8s.io/v1`."""

    runtimeclasses: InformerHandle[node_v1.RuntimeClass]

class DiscoveryV1Informers(InformerGroup):
    """The informers of `discovery.k8s.io/v1`."""

    endpointslices: InformerHandle[discovery_v1.EndpointSlice]

class ResourceV1Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1`."""

    deviceclasses: InformerHandle[resource_v1.DeviceClass]
    devicetaintrules: InformerHandle[resource_v1.DeviceTaintRule]
    resourceclaims: InformerHandle[resource_v1.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1.ResourceSlice]

class ResourceV1beta2Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1beta2`."""

    deviceclasses: InformerHandle[resource_v1beta2.DeviceClass]
    devicetaintrules: InformerHandle[resource_v1beta2.DeviceTaintRule]
    resourceclaims: InformerHandle[resource_v1beta2.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1beta2.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1beta2.ResourceSlice]

class ResourceV1beta1Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1beta1`."""

    deviceclasses: InformerHandle[resource_v1beta1.DeviceClass]
    resourceclaims: InformerHandle[resource_v1beta1.ResourceClaim]
    resourceclaimtemplates: InformerHandle[resource_v1beta1.ResourceClaimTemplate]
    resourceslices: InformerHandle[resource_v1beta1.ResourceSlice]

class ResourceV1alpha3Informers(InformerGroup):
    """The informers of `resource.k8s.io/v1alpha3`."""

    devicetaintrules: InformerHandle[resource_v1alpha3.DeviceTaintRule]
    resourcepoolstatusrequests: InformerHandle[resource_v1alpha3.ResourcePoolStatusRequest]

class FlowcontrolV1Informers(InformerGroup):
    """The informers of `flowcontrol.apiserver.k8s.io/v1`."""

    flowschemas: InformerHandle[flowcontrol_v1.FlowSchema]
    prioritylevelconfigurations: InformerHandle[flowcontrol_v1.PriorityLevelConfiguration]

class InternalV1alpha1Informers(InformerGroup):
    """The informers of `internal.apiserver.k8s.io/v1alpha1`."""

    storageversions: InformerHandle[internal_v1alpha1.StorageVersion]

class StoragemigrationV1Informers(InformerGroup):
    """The informers of `storagemigration.k8s.io/v1`."""

    storageversionmigrations: InformerHandle[storagemigration_v1.StorageVersionMigration]

class StoragemigrationV1beta1Informers(InformerGroup):
    """The informers of `storagemigration.k8s.io/v1beta1`."""

    storageversionmigrations: InformerHandle[storagemigration_v1beta1.StorageVersionMigration]

class LifecycleV1alpha1Informers(InformerGroup):
    """The informers of `lifecycle.k8s.io/v1alpha1`."""

    evictionrequests: InformerHandle[lifecycle_v1alpha1.EvictionRequest]
    evictions: InformerHandle[lifecycle_v1alpha1.Eviction]

class InformerGroups:
    """The group-versions of a factory over a ClientSet."""

    core_v1: CoreV1Informers
    apiregistration_v1: ApiregistrationV1Informers
    apps_v1: AppsV1Informers
    events_v1: EventsV1Informers
    autoscaling_v2: AutoscalingV2Informers
    autoscaling_v1: AutoscalingV1Informers
    batch_v1: BatchV1Informers
    certificates_v1: CertificatesV1Informers
    certificates_v1beta1: CertificatesV1beta1Informers
    networking_v1: NetworkingV1Informers
    policy_v1: PolicyV1Informers
    rbac_v1: RbacV1Informers
    storage_v1: StorageV1Informers
    admissionregistration_v1: AdmissionregistrationV1Informers
    admissionregistration_v1beta1: AdmissionregistrationV1beta1Informers
    admissionregistration_v1alpha1: AdmissionregistrationV1alpha1Informers
    apiextensions_v1: ApiextensionsV1Informers
    scheduling_v1: SchedulingV1Informers
    scheduling_v1beta1: SchedulingV1beta1Informers
    scheduling_v1alpha3: SchedulingV1alpha3Informers
    coordination_v1: CoordinationV1Informers
    coordination_v1beta1: CoordinationV1beta1Informers
    coordination_v1alpha2: CoordinationV1alpha2Informers
    node_v1: NodeV1Informers
    discovery_v1: DiscoveryV1Informers
    resource_v1: ResourceV1Informers
    resource_v1beta2: ResourceV1beta2Informers
    resource_v1beta1: ResourceV1beta1Informers
    resource_v1alpha3: ResourceV1alpha3Informers
    flowcontrol_v1: FlowcontrolV1Informers
    internal_v1alpha1: InternalV1alpha1Informers
    storagemigration_v1: StoragemigrationV1Informers
    storagemigration_v1beta1: StoragemigrationV1beta1Informers
    lifecycle_v1alpha1: LifecycleV1alpha1Informers

def add_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> T:
    """Add the finalizer, and return the object; raises ConflictError if it was changed since it was read."""

def apply_files(
    client: ClientSet | DynamicClient,
    *paths: str | PathLike[str],
    field_manager: str,
    namespace: str = "",
    recursive: bool = False,
    server_side: bool = True,
    force: bool = False,
    dry_run: bool = False,
) -> list[Unstructured]:
    """Apply all objects of files and folders, and return them as stored, in the order of application.

    Objects without a namespace go to `namespace`, or else to that of the configuration. `server_side=False` creates
    missing objects and merge-patches existing ones. The first error ends the application; a note names the object.
    """

def finalize(
    client: ResourceClient[T], item: T, finalizer: str, *, apply: Callable[[T], Any], cleanup: Callable[[T], Any]
) -> Any:
    """Add the finalizer and call `apply`; or, if the object is being deleted, call `cleanup` and remove the finalizer.

    Both functions receive the current object. Returns what `apply` returned; None for an object that is being deleted.
    An object that is being deleted and does not have this finalizer is ignored.
    """

def remove_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> None:
    """Remove the finalizer; raises ConflictError if the object was changed since it was read. A missing one is fine."""

def retry_on_conflict(change: Callable[[], R], *, backoff: Backoff = DEFAULT_RETRY, clock: Clock | None = None) -> R:
    """Call `change` until it raises no ConflictError, and return its result; the last error if all retries fail."""

def until(
    source: Source[T],
    resource_version: str,
    condition: Callable[[WatchEvent[T]], bool],
    *then: Callable[[WatchEvent[T]], bool],
    timeout: float | None = None,
    clock: Clock | None = None,
) -> WatchEvent[T]:
    """Watch from a resource version until the conditions are met in turn; return the event that met the last one.

    The watch resumes as a RetryWatcher does. WaitTimeoutError after `timeout` seconds, with the `last` event.
    """

def until_with_sync(
    source: Source[T],
    kind: type[T],
    condition: Callable[[Change[T]], bool],
    *then: Callable[[Change[T]], bool],
    precondition: Callable[[Indexer[T]], bool] | None = None,
    timeout: float | None = None,
    clock: Clock | None = None,
) -> Change[T] | None:
    """Wait until the conditions were met one after the other; return the change that met the last one.

    Existing objects count as additions. With a precondition, the store is filled first, and None is returned if the
    precondition is true for it. Raises WaitTimeoutError with the `last` change after `timeout` seconds; until then a
    source that fails is retried.
    """

def wait_for(
    client: BaseResourceClient[T],
    name: str,
    condition: Callable[[T | None], bool] | str,
    *,
    timeout: float | None = None,
    clock: Clock | None = None,
) -> T | None:
    """Wait until the object meets the condition; return it, or None if the condition is met by its absence.

    WaitTimeoutError after `timeout` seconds, with the `last` state. An error of the first list is raised.
    """

Source = BaseResourceClient[T] | ListWatch[T] | ListerWatcher[T]
