"""Reconcile functions: their accepted forms, and the context that they may take.

    async def reconcile(key: ObjectKey) -> float | None: ...
    async def reconcile(key: ObjectKey, context: ReconcileContext[Deployment]) -> float | None: ...

    class Scaler:
        async def reconcile(self, key: ObjectKey, context: ReconcileContext[Deployment]) -> float | None: ...

An async function runs in the event loop, a plain function in a thread. `workers.py` calls them.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

from listwatch.cache.indexer import Indexer
from listwatch.cache.lister import Lister
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller.clusters.controller_clusters import ControllerClusters
from listwatch.controller.reports import cluster_field
from listwatch.controller.watching.sources import Sources, key_from
from listwatch.controller.watching.watches import K, KeyLike, Kind, T
from listwatch.errors import UsageError
from listwatch.events.occurrence import EventType
from listwatch.events.recorder import EventRecorder
from listwatch.keyed import Cached
from listwatch.meta import ObjectKey

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # defaults are in `typing` from Python 3.13 on

    T_co = TypeVar("T_co", bound=Cached, covariant=True, default=Any)
    T_contra = TypeVar("T_contra", bound=Cached, contravariant=True, default=Any)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", bound=Cached, covariant=True)
    T_contra = TypeVar("T_contra", bound=Cached, contravariant=True)

__all__ = ["KeyReconciler", "Reconcile", "ReconcileContext", "ReconcileForm", "ReconcileResult", "Reconciler"]

_log = logging.getLogger("listwatch.controller.reconcile")

ReconcileResult = float | timedelta | None
"""None, or the delay after which to reconcile the key again."""

_Returned = ReconcileResult | Awaitable[ReconcileResult]


class ReconcileContext(Generic[T_co]):
    """What one call of a reconcile function can use besides its key.

    Reading the caches, recording events and logging are possible from any thread. `client` is for async functions.
    """

    def __init__(
        self,
        key: ObjectKey,
        *,
        controller: str,
        attempt: int,
        sources: Sources,
        client: ClientSet | None,
        recorder: EventRecorder | None,
        fencing_token: int | None = None,
        clusters: ControllerClusters | None = None,
    ) -> None:
        self._key = key
        self._controller = controller
        self._attempt = attempt
        self._sources = sources
        self._client = client
        self._recorder = recorder
        self._fencing_token = fencing_token
        self._clusters = clusters

    def __repr__(self) -> str:
        return f"<ReconcileContext of {self._controller} {self._key}, attempt {self._attempt}>"

    @property
    def key(self) -> ObjectKey:
        """The key that is reconciled."""
        return self._key

    @property
    def attempt(self) -> int:
        """1 for the first call; each failure of this key since its last success adds 1."""
        return self._attempt

    @property
    def fencing_token(self) -> int:
        """The token of the shard in a sharded manager: larger than the tokens of all its earlier owners.

        A system that rejects writes with smaller tokens than the largest it has seen is safe from owners of the past.
        """
        if self._fencing_token is None:
            raise UsageError(f"controller {self._controller} has no fencing tokens: run it in a Manager with shards=")
        return self._fencing_token

    @property
    def client(self) -> ClientSet:
        """The client of the controller or its manager; `client.dynamic` reaches kinds without a model."""
        if self._client is None:
            raise self._without_client("client")
        return self._client

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the manager's clusters whose caches have synced; empty unless it has several clusters."""
        return () if self._clusters is None else self._clusters.synced

    def in_cluster(self, name: str) -> ReconcileContext[T_co]:
        """The context of the same key with the client and the caches of another cluster of the manager.

        Raises ClusterNotFoundError if there is no such cluster, or not any more.
        """
        if self._clusters is None:
            raise UsageError(f"controller {self._controller} has one cluster: pass several clients to the Manager")
        view = self._clusters.view(name)
        return ReconcileContext(
            self._key,
            controller=self._controller,
            attempt=self._attempt,
            sources=view.sources,
            client=view.client,
            recorder=view.recorder,
            clusters=self._clusters,
        )

    def get(self, key: KeyLike | None = None) -> T_co | None:
        """The cached object of this key, or of another key of the controller's kind; None if it does not exist."""
        indexer = self._sources.main.indexer
        # The key of a reconcile may be any text, also one that names no object.
        found: T_co | None = indexer._find(self._key) if key is None else indexer.get(key_from(key))
        return found

    def lister(self, kind: Kind[K]) -> Lister[K]:
        """The cached objects of a watched kind, by name, namespace and selector."""
        return self._sources.informer(kind).lister

    def indexer(self, kind: Kind[K]) -> Indexer[K]:
        """The cached objects of a watched kind, by key and by index."""
        return self._sources.informer(kind).indexer

    def record_event(
        self,
        obj: object,
        type: EventType,
        reason: str,
        message: str,
        *,
        action: str = "",
        related: object = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record a Kubernetes event about an object, as `EventRecorder.event` does; it is written in the background."""
        if self._recorder is None:
            raise self._without_client("record_event")
        self._recorder.event(obj, type, reason, message, action=action, related=related, annotations=annotations)

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """Logs to `listwatch.controller.reconcile` with the extra fields `controller`, `key`, `attempt` and `cluster`.

        The field `cluster` exists only in a manager of several clusters.
        """
        fields = {"controller": self._controller, "key": str(self._key), "attempt": self._attempt}
        fields |= cluster_field(self._key)
        return _FieldsAdapter(_log, fields)

    def _without_client(self, what: str) -> UsageError:
        return UsageError(
            f"context.{what} needs a client: run controller {self._controller} in a Manager, or pass it a "
            "ClientSet or a DynamicClient as client="
        )


class _FieldsAdapter(logging.LoggerAdapter[logging.Logger]):
    """Adds fields to the `extra` of a call, where LoggerAdapter would replace it."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[object, MutableMapping[str, Any]]:
        return msg, {**kwargs, "extra": {**(self.extra or {}), **(kwargs.get("extra") or {})}}


# --- forms ------------------------------------------------------------------------------------------------------------


class Reconciler(Protocol[T_contra]):
    """An object with a reconcile method, plain or async."""

    def reconcile(self, key: ObjectKey, context: ReconcileContext[T_contra], /) -> _Returned: ...


class KeyReconciler(Protocol):
    """An object with a reconcile method that takes no context."""

    def reconcile(self, key: ObjectKey, /) -> _Returned: ...


Reconcile = (
    Callable[[ObjectKey], _Returned]
    | Callable[[ObjectKey, ReconcileContext[T]], _Returned]
    | Reconciler[T]
    | KeyReconciler
)
"""A function of `(key)` or `(key, context)`, or an object with such a `reconcile` method; plain or async."""


class ReconcileForm(NamedTuple):
    """A reconcile function and how to call it."""

    function: Callable[..., object]
    name: str
    is_async: bool
    takes_context: bool

    @classmethod
    def of(cls, given: object) -> ReconcileForm:
        """Check the function, before any key is reconciled; raises UsageError."""
        method = getattr(given, "reconcile", None)
        function = method if callable(method) else given
        name = getattr(function, "__qualname__", type(given).__name__)
        if isinstance(given, type):
            raise UsageError(f"cannot reconcile with the class {given.__qualname__}: pass an instance of it")
        if not callable(function):
            raise UsageError(f"cannot reconcile with {given!r}: expected {_FORMS}")
        call = getattr(function, "__call__", None)  # noqa: B004  # an object whose calls are coroutines
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
        return cls(function, name, is_async, _takes_context(function, name))


_FORMS = "a function of (key) or (key, context), or an object with such a reconcile method"


def _takes_context(function: Callable[..., object], name: str) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False  # implemented in C, without a signature
    positional = [each for each in signature.parameters.values() if each.kind is not each.KEYWORD_ONLY]
    is_named = len(positional) > 1 and positional[1].name == "context"
    if _accepts(signature, 1) and not is_named:
        return False
    if _accepts(signature, 2):
        return True
    raise UsageError(f"cannot reconcile with {name}{signature}: expected {_FORMS}")


def _accepts(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True
