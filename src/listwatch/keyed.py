"""What caches and informers need to know of an object: the key under which it is stored, and its version.

    class Service(Keyed, msgspec.Struct):       or a dataclass; a source sets key and version when it decodes a value
        address: str
        region: str

Every `Object` has both, and so has any class with two such attributes or properties. A class may offer more, which
informers use: `LazilyDecoded`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, cast

from listwatch.errors import DecodeError, ListWatchError
from listwatch.meta import Resource

__all__ = [
    "Cached",
    "CountedAccesses",
    "Keyed",
    "KindCheck",
    "LazilyDecoded",
    "Tombstone",
    "UsableCheck",
    "describe",
    "lazily_decoded",
    "namespace_in",
    "set_key",
]

UsableCheck = Callable[[Any], bool]
"""Whether an object can be stored; reports those that cannot."""


class Cached(Protocol):
    """The attributes of an object that a store reads."""

    @property
    def cache_key(self) -> str:
        """`namespace/name`, or `name` for an object without a namespace."""

    @property
    def resource_version(self) -> str:
        """The version of this state of the object; empty if it is unknown."""


class KindCheck(Protocol):
    """Decides which objects of a list or a watch are stored: those of the kind of the informer."""

    is_usable_event: UsableCheck
    """Whether the object of a watch event can be stored."""

    def check_of_items(self, page: object) -> UsableCheck:
        """Return the check of the items of a page. Raises DecodeError for a response that is not a list."""


class CountedAccesses(Protocol):
    """What is counted of the accesses to parts of a kind."""

    decodings: int
    """How many parts were decoded."""


class LazilyDecoded(Cached, Protocol):
    """A class of objects that keep the received bytes, and decode a part when it is accessed: `Object`.

    Caches and informers use this if the class has it, so that they need not know the format of the bytes.
    """

    resource: ClassVar[Resource | None]
    _kept: int
    """How many later states of the object stay decoded after handlers have read them; negative for a state that had
    left the cache before the last handler returned. Set by `PartReleaser`."""
    _is_stored_by_program: bool
    """Whether a handler has stored a reference to the object. Set by `PartReleaser`."""

    @classmethod
    def _expected_kind(cls, resource: Resource | None, on_skipped: Callable[[ListWatchError], None]) -> KindCheck:
        """Return the checks of received objects: a class accepts the bytes of any object."""

    @classmethod
    def _dropping(cls, paths: Sequence[str]) -> Callable[[Self], Self]:
        """Return a transform that drops the fields at these paths; raises UsageError for other texts."""

    @staticmethod
    def _observed_damage(observer: Callable[[object, DecodeError], None]) -> AbstractContextManager[None]:
        """Call a bound method for each object of which a part cannot be decoded, in the thread of the access."""

    @classmethod
    def _counted_accesses(cls) -> CountedAccesses: ...
    def _has_decoded_parts(self) -> bool: ...
    def _forget_parts(self) -> bool:
        """Release the decoded parts; False if the object may have more than what is in its bytes."""

    def _undecoded(self) -> Self:
        """Return another instance with the same bytes; the same one if it may have more than what is in its bytes."""

    def _damaged_parts(self) -> frozenset[str]: ...
    def _shares_bytes_with(self, other: Any) -> bool: ...
    def _with_changes_encoded(self) -> Self: ...
    def _field_text(self, path: str) -> str:
        """Return the text of a field, as field selectors compare it; raises SelectorError if there is no such field."""


def lazily_decoded(kind: type[Cached]) -> type[LazilyDecoded] | None:
    """Return the class, if it is one of lazily decoded objects."""
    return cast("type[LazilyDecoded]", kind) if hasattr(kind, "_expected_kind") else None


class Keyed:
    """A base class for msgspec structs and dataclasses that are cached: adds the key and the version.

    They are no fields: they are not encoded, not compared, and empty until a source sets them. A copy made with
    `dataclasses.replace` or `msgspec.structs.replace` has none.
    """

    __slots__ = ("cache_key", "resource_version")

    if TYPE_CHECKING:
        cache_key: str
        resource_version: str
    else:

        def __getattr__(self, name):
            # Python calls this for attributes that are not set.
            if name in Keyed.__slots__:
                return ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

        def __setstate__(self, state):
            # Copies and unpickles a frozen dataclass, whose attributes cannot be assigned.
            attributes, slots = state if isinstance(state, tuple) else (state, None)
            for name, value in {**(attributes or {}), **(slots or {})}.items():
                object.__setattr__(self, name, value)


_set_cache_key: Callable[[Keyed, str], None] = vars(Keyed)["cache_key"].__set__
_set_resource_version: Callable[[Keyed, str], None] = vars(Keyed)["resource_version"].__set__


def set_key(item: Keyed, cache_key: str, resource_version: str) -> None:
    """Set the key and the version of a decoded object; also if its class is frozen."""
    _set_cache_key(item, cache_key)
    _set_resource_version(item, resource_version)


class Tombstone(NamedTuple):
    """The object of a DELETED event if only the key and the version of the deletion are known.

    Handlers get the cached state. `final_state_known=True` says that it is the last one: every change was delivered.
    With an error, the object was not deleted: its new state cannot be used. The error is reported, and the object
    leaves the cache. With an error and no key, only the error is reported.
    """

    cache_key: str
    resource_version: str
    error: ListWatchError | None = None
    final_state_known: bool = False

    def is_usable(self, on_skipped: Callable[[ListWatchError], None]) -> bool:
        """Report the error, and return whether an object leaves the cache."""
        if self.error is not None:
            on_skipped(self.error)
        return bool(self.cache_key)


def namespace_in(cache_key: str) -> str:
    """Return the namespace in a cache key; empty if it has none."""
    return cache_key.rpartition("/")[0]


def describe(item: Cached) -> str:
    """Return the kind and the key of an object, for messages."""
    own = getattr(item, "describe", None)
    return str(own()) if callable(own) else f"{type(item).__name__} {item.cache_key or 'without a key'}"
