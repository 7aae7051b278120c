"""What a controller watches: objects of a kind, or a timer.

    for_=Deployment                                          reconciles the object itself
    owns=[Pod]                                               reconciles the controlling owner of the pod
    watches=[Watch(ConfigMap, keys=users_of_config_map)]     reconciles the keys that a function returns
    watches=[Every(60.0)]                                    reconciles all objects periodically
    watches=[ClusterChange()]                                reconciles all objects when a cluster is added or removed

`predicates.py` has predicates for `when=`; `sources.py` connects watches to informers.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from listwatch.api.references import KindReference, NameReference, Reference, ResourceLike, read_reference
from listwatch.cache.indexer import IndexFunction
from listwatch.client.discovery.rest_mapper import builtin_resources
from listwatch.controller.watching.predicates import PredicateFunction
from listwatch.errors import RequestError, UsageError
from listwatch.factory.factory import Transform, checked_namespaces
from listwatch.informer.shared_informer import AnyInformer, SharedIndexInformer
from listwatch.keyed import Cached
from listwatch.meta import (
    GroupKind,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
    Resource,
)
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike, parse_field_selector, parse_label_selector

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # defaults are in `typing` from Python 3.13 on

    T = TypeVar("T", bound=Cached, default=Any)
    K = TypeVar("K", bound=Cached, default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T", bound=Cached)
    K = TypeVar("K", bound=Cached)

__all__ = [
    "AnyShardKey",
    "ClusterChange",
    "ClusterKeyFunction",
    "Clusters",
    "Every",
    "K",
    "KeyFunction",
    "KeyLike",
    "Kind",
    "KindName",
    "ShardKey",
    "T",
    "Watch",
    "Watched",
    "as_watch",
    "check_clusters",
    "group_kind_of",
    "selects_cluster",
]

KeyLike = ObjectKey | str | Cached
"""A key: an ObjectKey, `"namespace/name"`, or an object."""

_Keys = Iterable[KeyLike] | KeyLike | None

KeyFunction = Callable[[T], _Keys]
"""Maps an object to the keys to reconcile."""

ClusterKeyFunction = Callable[[T, str], _Keys]
"""Maps an object, and the name of its cluster, to the keys to reconcile."""

Clusters = Collection[str] | Callable[[str], bool]
"""Which clusters of a manager are watched: their names, or a function that returns whether a name is one of them."""

ShardKey = Literal["namespace", "owner"] | Callable[[T], str | None]
"""Which replica of a sharded manager caches an object: that of its namespace, of its controlling owner, or a function.

The function returns the uid of the reconciled object that it belongs to, or with `shard_by="namespace"` the namespace;
None if it belongs to none, and no replica caches it.
"""

AnyShardKey = ShardKey[Any]

KindName = Reference | GroupVersionResource | GroupVersionKind | GroupKind | GroupResource | tuple[str, str] | str
"""A kind by name, as `("apps/v1", "Deployment")` or `"deployments.apps"`."""

_SELECTION = ("namespace", "namespaces", "label_selector", "field_selector", "transform", "indexers", "shard_key")


@dataclass(frozen=True, slots=True)
class Watch(Generic[T]):
    """Watches the objects of one kind, with options.

    `of` is a model class, the name of a kind, as `("apps/v1", "Deployment")`, or an existing informer. `keys` maps an
    object to the keys to reconcile. `when` is a predicate of the old and the new object: changes for which it returns
    False are ignored. `shard_key` selects which replica of a sharded manager caches an object; without it, each of them
    caches all objects of a watch with `keys`. The other options select objects, as those of
    `SharedInformerFactory.informer`; an existing informer takes none of them.

    In a manager of several clusters, `clusters` selects those that are watched, by default those of the controller.
    Keys that `keys` returns are in the cluster of the object, unless they name another one. `cluster_keys` is used
    instead of `keys`, and also receives the name of the object's cluster.
    """

    of: type[T] | SharedIndexInformer[T] | KindName
    keys: KeyFunction[T] | None = None
    when: PredicateFunction[T] | None = None
    namespace: str | None = None
    namespaces: Sequence[str] = ()
    label_selector: LabelSelectorLike = None
    field_selector: FieldSelectorLike = None
    transform: Transform | None = None
    indexers: Mapping[str, IndexFunction[T]] | None = None
    shard_key: ShardKey[T] | None = None
    clusters: Clusters | None = None
    cluster_keys: ClusterKeyFunction[T] | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "cluster_keys", "when", "shard_key"):
            function = getattr(self, name)
            if name == "shard_key" and function in ("namespace", "owner"):
                continue
            if function is not None and (not callable(function) or inspect.iscoroutinefunction(function)):
                raise UsageError(f"Watch({self}, {name}={function!r}): {name} must be a plain function")
        check_clusters(self.clusters)
        if self.keys is not None and self.cluster_keys is not None:
            raise UsageError(f"Watch({self}): pass either keys= or cluster_keys=, not both")
        parse_label_selector(self.label_selector)  # raises SelectorError
        parse_field_selector(self.field_selector)
        if checked_namespaces(self.namespaces) and self.namespace is not None:
            raise UsageError(f"Watch({self}): pass either namespace= or namespaces=, not both")
        selection = [f"{name}=..." for name in _SELECTION if getattr(self, name) not in (None, (), [])]
        if selection and isinstance(self.of, SharedIndexInformer):
            raise UsageError(
                f"Watch({self}, {', '.join(selection)}): an existing informer has its own selection; "
                "pass these options where the informer is created, or watch the kind instead"
            )

    def __str__(self) -> str:
        if isinstance(self.of, SharedIndexInformer):
            return self.of.name
        if isinstance(self.of, type):
            return self.of.__name__
        try:
            return str(read_reference(self.of))
        except RequestError:  # the constructor of a controller reports it
            return repr(self.of)


@dataclass(frozen=True, slots=True)
class Every:
    """Enqueues keys every `interval` seconds: those that `keys` returns, or all keys of the controller's kind."""

    interval: float
    keys: Callable[[], Iterable[KeyLike]] | None = None

    def __post_init__(self) -> None:
        given: object = self.interval
        if not isinstance(given, int | float) or not 0 < given < math.inf:
            raise UsageError(f"Every({given!r}): the interval must be a positive, finite number of seconds")


@dataclass(frozen=True, slots=True)
class ClusterChange:
    """Enqueues keys when a cluster of the manager has synced, and when one was removed.

    They are those that `keys` returns for the name of the cluster, or all keys of the controller's kind. A controller
    of objects in one cluster, which writes to the others, fills a new cluster with it.
    """

    keys: Callable[[str], Iterable[KeyLike]] | None = None


Kind = type[T] | Watch[T] | SharedIndexInformer[T] | KindName
"""A kind to watch: a model class, a Watch, an existing informer, or the name of a kind."""

Watched = type[Cached] | Watch | AnyInformer | KindName
"""A `Kind` whose object type is not checked, as in `owns`."""


def as_watch(given: Kind, option: str) -> Watch:
    """The Watch that was passed, or one without options for a kind; `option` names the argument in errors."""
    watch: Watch = given if isinstance(given, Watch) else Watch(given)
    if isinstance(watch.of, SharedIndexInformer):
        return watch
    try:
        reference = read_reference(cast("ResourceLike", watch.of))
    except RequestError as error:
        raise UsageError(
            f"{option}={given!r}: expected a model class such as Deployment, an (apiVersion, kind) pair, "
            "a resource name such as 'deployments.apps', an informer, or a Watch"
        ) from error
    if isinstance(reference, NameReference) and "." not in str(reference):
        _check_builtin(reference, option)
    return watch


def check_clusters(given: object) -> None:
    """Raise UsageError unless this is None, a collection of names, or a function."""
    if given is None or callable(given):
        return
    if isinstance(given, str) or not isinstance(given, Collection) or not all(isinstance(each, str) for each in given):
        raise UsageError(
            f"clusters={given!r}: expected a list of names, as clusters=['eu'], or a function of the name of a cluster"
        )


def selects_cluster(clusters: Clusters | None, name: str) -> bool:
    """Whether a cluster is selected; None selects all."""
    return clusters is None or (bool(clusters(name)) if callable(clusters) else name in clusters)


def _check_builtin(reference: NameReference, option: str) -> None:
    """Reject an unknown name without a group now: discovery would only find out while the controller runs."""
    known = builtin_resources()
    if known.find(reference) is None:
        from difflib import get_close_matches  # not needed by most programs

        names = [name for resource in known for name in (resource.kind, resource.plural)]
        near = get_close_matches(reference.name, names, n=1)
        hint = f"did you mean {near[0]!r}? A" if near else "a"
        raise UsageError(
            f"{option}={reference.name!r} is not a built-in kind; {hint} custom kind needs its group, "
            "as in 'widgets.example.com' or ('example.com/v1', 'Widget')"
        )


def group_kind_of(of: type[Cached] | AnyInformer | KindName) -> GroupKind | None:
    """Group and kind, if they are known without discovery."""
    if isinstance(of, SharedIndexInformer):
        gvk: GroupVersionKind | None = getattr(of.kind, "gvk", None)
        return gvk.group_kind if gvk else None
    match read_reference(cast("ResourceLike", of)):
        case Resource(group=group, kind=kind) | KindReference(group=group, kind=kind):
            return GroupKind(group, kind)
        case _:
            return None
