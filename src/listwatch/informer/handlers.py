"""Changes of cached objects as values, and the functions that handle them.

informer.add_handler(on_add=print, on_update=..., on_delete=...)        plain or async functions
async for change in informer.changes():
    match change:
        case ObjectAdded(pod) | ObjectUpdated(pod): ...
        case ObjectDeleted(pod): ...
        case ObjectEvicted(pod): ...                                     only if the objects are shared by replicas
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, Literal, Protocol, TypeVar, cast

import msgspec

from listwatch.errors import UsageError
from listwatch.keyed import Cached

__all__ = [
    "AddFunction",
    "Change",
    "DeleteFunction",
    "EvictFunction",
    "Handler",
    "HandlerFunctions",
    "ObjectAdded",
    "ObjectDeleted",
    "ObjectEvicted",
    "ObjectUpdated",
    "UpdateFunction",
    "filtered",
]

T = TypeVar("T", bound=Cached)
T_contra = TypeVar("T_contra", bound=Cached, contravariant=True)


class ObjectAdded(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object is new to this handler; `is_initial` if it existed before the handler was added."""

    type: ClassVar[Literal["ADDED"]] = "ADDED"

    object: T
    is_initial: bool = False


class ObjectUpdated(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was changed, or is repeated by a resync: then `old` is `object`."""

    type: ClassVar[Literal["MODIFIED"]] = "MODIFIED"

    object: T
    old: T


class ObjectDeleted(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was deleted.

    `final_state_known` is False if the deletion was missed and found later: then `object` is the last known state.
    """

    type: ClassVar[Literal["DELETED"]] = "DELETED"

    object: T
    final_state_known: bool = True


class ObjectEvicted(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object left the cache, although it exists: its shard has moved to another replica."""

    type: ClassVar[Literal["EVICTED"]] = "EVICTED"

    object: T


Change = ObjectAdded[T] | ObjectUpdated[T] | ObjectDeleted[T] | ObjectEvicted[T]
"""One notification of a handler."""


class _AddWithFlag(Protocol[T_contra]):
    def __call__(self, item: T_contra, /, *, is_initial: bool) -> object: ...


class _DeleteWithFlag(Protocol[T_contra]):
    def __call__(self, item: T_contra, /, *, final_state_known: bool) -> object: ...


AddFunction = Callable[[T], object] | _AddWithFlag[T]
"""Called with a new object; may be async, and may take `is_initial`."""
UpdateFunction = Callable[[T, T], object]
"""Called with the old and the new state; may be async."""
DeleteFunction = Callable[[T], object] | _DeleteWithFlag[T]
"""Called with the last state of a deleted object; may be async, and may take `final_state_known`."""


EvictFunction = Callable[[T], object]
"""Called with an object that left the cache with its shard, and was not deleted; may be async."""


class Handler(Protocol[T_contra]):
    """An object with methods `on_add(item)`, `on_update(old, new)` and `on_delete(item)`; each may be async.

    It may have a method `on_evict(item)` too.
    """

    @property
    def on_add(self) -> Callable[[T_contra], object] | _AddWithFlag[T_contra]: ...
    @property
    def on_update(self) -> Callable[[T_contra, T_contra], object]: ...
    @property
    def on_delete(self) -> Callable[[T_contra], object] | _DeleteWithFlag[T_contra]: ...


class HandlerFunctions(Generic[T]):
    """The functions of one handler; each of them is optional.

    `on_add` may take `is_initial`, and `on_delete` may take `final_state_known`: both are passed by name.
    """

    def __init__(
        self,
        *,
        on_add: AddFunction[T] | None = None,
        on_update: UpdateFunction[T] | None = None,
        on_delete: DeleteFunction[T] | None = None,
        on_evict: EvictFunction[T] | None = None,
        name: str = "",
    ) -> None:
        functions = [each for each in (on_add, on_update, on_delete, on_evict) if each is not None]
        if not functions:
            raise UsageError(f"{name or 'the handler'} has no functions; pass on_add, on_update or on_delete")
        self.name = name or _name_of(functions)
        self.on_add, self.on_update, self.on_delete, self.on_evict = on_add, on_update, on_delete, on_evict
        self._add_takes_flag = _check_function(on_add, "on_add", ["item"], flag="is_initial")
        self._delete_takes_flag = _check_function(on_delete, "on_delete", ["item"], flag="final_state_known")
        _check_function(on_update, "on_update", ["old", "new"])
        _check_function(on_evict, "on_evict", ["item"])
        # Without the flag: the cast costs as much as a call, so it is made once.
        self._plain_add = None if self._add_takes_flag else cast("Callable[[T], object] | None", on_add)

    def __repr__(self) -> str:
        return f"<HandlerFunctions {self.name}>"

    @classmethod
    def of(
        cls,
        handler: Handler[T] | HandlerFunctions[T] | None,
        *,
        on_add: AddFunction[T] | None = None,
        on_update: UpdateFunction[T] | None = None,
        on_delete: DeleteFunction[T] | None = None,
        on_evict: EvictFunction[T] | None = None,
    ) -> HandlerFunctions[T]:
        """Return the methods of a handler object, or these functions. Methods that the object lacks are not called."""
        functions = {"on_add": on_add, "on_update": on_update, "on_delete": on_delete, "on_evict": on_evict}
        if handler is None:
            return cls(on_add=on_add, on_update=on_update, on_delete=on_delete, on_evict=on_evict)
        if given := [name for name, function in functions.items() if function is not None]:
            raise UsageError(f"pass either a handler object or functions, not both: {', '.join(given)}")
        if isinstance(handler, HandlerFunctions):
            return handler
        methods = {name: getattr(handler, name, None) for name in functions}
        return cls(**methods, name=type(handler).__name__)

    def __call__(self, change: Change[T]) -> Awaitable[object] | None:
        """Call the function for this change; returns an awaitable if the function is async."""
        result: object = None
        # Comparing the type is much faster than `isinstance`, which is slow for these classes when the result is False.
        if type(change) is ObjectUpdated:
            if self.on_update is not None:
                result = self.on_update(change.old, change.object)
        elif type(change) is ObjectAdded:
            if self._plain_add is not None:
                result = self._plain_add(change.object)
            elif self._add_takes_flag:
                result = cast("_AddWithFlag[T]", self.on_add)(change.object, is_initial=change.is_initial)
        elif type(change) is ObjectDeleted:
            if self._delete_takes_flag:
                on_delete = cast("_DeleteWithFlag[T]", self.on_delete)
                result = on_delete(change.object, final_state_known=change.final_state_known)
            elif self.on_delete is not None:
                result = cast("Callable[[T], object]", self.on_delete)(change.object)
        elif self.on_evict is not None:
            result = self.on_evict(change.object)
        # Most functions return None, and isawaitable() takes longer than the rest of this method.
        return result if result is not None and inspect.isawaitable(result) else None


def filtered(change: Change[T], accepts: Callable[[T], bool]) -> Change[T] | None:
    """Return the change for a handler that receives only accepted objects; None if it receives nothing.

    If only the new state of an object is accepted, an update becomes an addition; if only the old one, a deletion.
    """
    if isinstance(change, ObjectUpdated):
        is_accepted, was_accepted = accepts(change.object), accepts(change.old)
        if is_accepted and not was_accepted:
            return ObjectAdded(change.object)
        if was_accepted and not is_accepted:
            return ObjectDeleted(change.old)
        return change if is_accepted else None
    return change if accepts(change.object) else None


def _check_function(function: object, role: str, parameters: list[str], *, flag: str = "") -> bool:
    """Raise UsageError if the function cannot be called with these arguments; return whether it takes the flag."""
    if function is None:
        return False
    if not callable(function):
        raise UsageError(f"{role} is {function!r}, which is not callable; pass a function")
    try:
        signature = inspect.signature(function)
        own_signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return False  # some builtins have no signature
    parameter = signature.parameters.get(flag)
    takes_flag = parameter is not None and parameter.kind in (
        parameter.POSITIONAL_OR_KEYWORD,
        parameter.KEYWORD_ONLY,
    )
    keywords = {flag: True} if takes_flag else {}
    # A decorator may take other arguments than the function that it wraps.
    if not _binds(signature, parameters, keywords) and not _binds(own_signature, parameters, keywords):
        raise UsageError(
            f"{role} is {_name_of([function])}{own_signature}, which cannot be called with ({', '.join(parameters)})"
        )
    return takes_flag


def _binds(signature: inspect.Signature, arguments: list[str], keywords: dict[str, bool]) -> bool:
    try:
        signature.bind(*arguments, **keywords)
    except TypeError:
        return False
    return True


def _name_of(functions: list[Callable[..., object]]) -> str:
    names = [getattr(each, "__qualname__", type(each).__name__) for each in functions]
    owners = {name.rpartition(".")[0] for name in names}
    owner = owners.pop() if len(owners) == 1 and len(names) > 1 else ""
    return owner if owner and not owner.endswith("<locals>") else "+".join(names)
