"""From a change to the keys that are to be reconciled.

    for_=Deployment                                          the object itself
    owns=[Pod]                                               the Deployment that manages the pod
    watches=[Watch(ConfigMap, keys=users_of_config_map)]     what a function says
    watches=[Every(60.0)]                                    all of them, by the clock

`predicates` has what goes into `when=`, `sources` connects these to informers.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from listwatch.api.references import ByKind, ResourceLike, read_reference
from listwatch.controller.owners import controller_of
from listwatch.controller.predicates import Question
from listwatch.errors import BadKeyError, UsageError
from listwatch.informer.factory import checked_namespaces
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import GroupKind, ObjectKey, Resource, split_api_version
from listwatch.objects.object import Object
from listwatch.selectors import FieldSelectorLike, LabelSelectorLike

__all__ = [
    "Every",
    "KeyFunction",
    "KeyLike",
    "Watch",
    "group_kind_of",
    "key_from",
    "keys_from",
    "own_key",
    "owner_keys",
]

KeyLike = ObjectKey | str | Object
KeyFunction = Callable[[Any], Iterable[KeyLike] | KeyLike | None]

_CHOICES = ("namespace", "namespaces", "label_selector", "field_selector", "transform", "indexers")


@dataclass(frozen=True, slots=True)
class Watch:
    """A kind of objects whose changes lead to keys.

    `of` is a class, an apiVersion and kind as a pair, whatever else a client can find, or a ready informer. `keys` says
    which keys an object leads to; `when` is a predicate, for changes that matter. The rest chooses objects, as it does
    for `SharedInformerFactory.informer`, and is not for a ready informer.
    """

    of: ResourceLike | SharedIndexInformer[Any]
    keys: KeyFunction | None = None
    when: Question | None = None
    namespace: str | None = None
    namespaces: Sequence[str] = ()
    label_selector: LabelSelectorLike = None
    field_selector: FieldSelectorLike = None
    transform: Callable[[Any], Any] | None = None
    indexers: Mapping[str, Callable[[Any], Any]] | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "when"):
            function = getattr(self, name)
            if function is not None and (not callable(function) or inspect.iscoroutinefunction(function)):
                raise UsageError(f"Watch({self.title}, {name}={function!r}): expected a plain function")
        if checked_namespaces(self.namespaces) and self.namespace is not None:
            raise UsageError(f"Watch({self.title}): give either one namespace or several namespaces, not both")
        said = [f"{name}=..." for name in _CHOICES if getattr(self, name) not in (None, (), [])]
        if said and isinstance(self.of, SharedIndexInformer):
            raise UsageError(
                f"Watch({self.title}, {', '.join(said)}): a ready informer holds what it was made with; "
                "say that where it is made, or give the kind of objects in its place"
            )

    @property
    def title(self) -> str:
        """What is watched, for messages."""
        if isinstance(self.of, SharedIndexInformer):
            return self.of.name
        return self.of.__name__ if isinstance(self.of, type) else str(read_reference(self.of))


@dataclass(frozen=True, slots=True)
class Every:
    """A timer: each `interval` seconds, the keys that a function gives, or those of all that the controller is for."""

    interval: float
    keys: Callable[[], Iterable[KeyLike]] | None = None

    def __post_init__(self) -> None:
        given: object = self.interval
        if not isinstance(given, int | float) or not 0 < given < math.inf:
            raise UsageError(f"Every({given!r}): the interval must be a number of seconds, and more than 0")


# --- keys -------------------------------------------------------------------------------------------------------------


def key_from(given: Any) -> ObjectKey:
    """The key that somebody means: an ObjectKey, `namespace/name`, or an object."""
    match given:
        case ObjectKey(str(), str()):
            return given
        case str() if given:
            return ObjectKey.parse(given)
        case Object():
            return given.key
    raise BadKeyError(f"{given!r} is no key: expected an ObjectKey, 'namespace/name' or an object", text=repr(given))


def keys_from(given: Any) -> list[ObjectKey]:
    """The keys that a function gave: one, several, or None."""
    if given is None:
        return []
    if isinstance(given, ObjectKey | str | Object):
        return [key_from(given)]
    if inspect.iscoroutine(given):
        given.close()
        raise UsageError("the function for keys is async; what leads from an object to keys must be a plain function")
    if not isinstance(given, Iterable):
        raise BadKeyError(f"{given!r} is neither a key nor keys", text=repr(given))
    return [key_from(each) for each in given]


def own_key(item: Object) -> ObjectKey:
    return item.key


def owner_keys(owner: GroupKind, is_namespaced: Callable[[ObjectKey], bool]) -> KeyFunction:
    """From an object to the owner of this kind that manages it."""

    def keys(item: Object) -> list[ObjectKey]:
        found = controller_of(item)
        if found is None or found.kind != owner.kind or split_api_version(found.api_version)[0] != owner.group:
            return []
        key = ObjectKey(item.namespace, found.name)
        return [key if is_namespaced(key) else ObjectKey("", found.name)]

    return keys


def group_kind_of(of: Any) -> GroupKind | None:
    """Group and kind, as far as they are known without asking a server."""
    if isinstance(of, SharedIndexInformer):
        return of.kind.gvk.group_kind if of.kind.gvk else None
    match read_reference(of):
        case Resource(group=group, kind=kind) | ByKind(group=group, kind=kind):
            return GroupKind(group, kind)
        case _:
            return None
