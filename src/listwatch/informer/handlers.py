"""What a program is told: changes as values, and the functions that take them.

informer.add_handler(on_add=print, on_update=..., on_delete=...)        plain or async functions
async for change in informer.changes(): match change: case Added(pod): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from listwatch.errors import UsageError
from listwatch.objects.object import Object

__all__ = ["Added", "Change", "Deleted", "Handler", "HandlerFunctions", "Updated", "filtered"]

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)


class Added(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object is new to this handler; `is_initial` if it was there before the handler was."""

    type: ClassVar[str] = "ADDED"

    object: T
    is_initial: bool = False


class Updated(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was changed, or is told again in a resync: then `old` is `object`."""

    type: ClassVar[str] = "MODIFIED"

    object: T
    old: T


class Deleted(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object is gone.

    `final_state_known` is False if its end was missed and noticed later: then `object` is the last state that was seen.
    """

    type: ClassVar[str] = "DELETED"

    object: T
    final_state_known: bool = True


Change = Added[T] | Updated[T] | Deleted[T]


class Handler(Protocol[T_contra]):
    """An object that takes changes; each method may be async."""

    def on_add(self, item: T_contra, /) -> Any: ...
    def on_update(self, old: T_contra, new: T_contra, /) -> Any: ...
    def on_delete(self, item: T_contra, /) -> Any: ...


class HandlerFunctions(Generic[T]):
    """The functions of one handler; what is not given is not called.

    `on_add` may take `is_initial`, `on_delete` may take `final_state_known`: it is passed by name to those that do.
    """

    def __init__(
        self,
        *,
        on_add: Callable[..., Any] | None = None,
        on_update: Callable[..., Any] | None = None,
        on_delete: Callable[..., Any] | None = None,
        name: str = "",
    ) -> None:
        functions = [each for each in (on_add, on_update, on_delete) if each is not None]
        if not functions:
            raise UsageError(f"{name or 'a handler'} has nothing to call: give on_add, on_update or on_delete")
        for each in functions:
            if not callable(each):
                raise UsageError(f"{name or 'a handler'} has {each!r}, which cannot be called: give a function")
        self._on_add, self._add_takes_flag = on_add, _takes(on_add, "is_initial")
        self._on_update = on_update
        self._on_delete, self._delete_takes_flag = on_delete, _takes(on_delete, "final_state_known")
        self.name = name or _name_of(functions)

    @classmethod
    def of(cls, handler: Handler[T] | None, **functions: Any) -> HandlerFunctions[T]:
        """The methods of an object; those that it does not have are not called. Without one, these functions."""
        if handler is None:
            return cls(**functions)
        if given := [name for name, function in functions.items() if function is not None]:
            raise UsageError(f"give either an object with methods or functions, not both: {', '.join(given)}")
        methods = {name: getattr(handler, name, None) for name in ("on_add", "on_update", "on_delete")}
        return cls(**methods, name=type(handler).__name__)

    def __call__(self, change: Change[T]) -> Awaitable[Any] | None:
        """Call the function for this change; what it returns is to be awaited if it can be."""
        if type(change) is Updated and self._on_update is not None:
            called = self._on_update(change.old, change.object)
        else:
            called = self._call(change)
        # Most functions return nothing, and to ask what can be awaited takes longer than all the rest.
        return None if called is None or not inspect.isawaitable(called) else called

    def _call(self, change: Change[T]) -> Any:
        if isinstance(change, Added):
            return self._call_on_add(change) if self._on_add is not None else None
        if isinstance(change, Deleted):
            return self._call_on_delete(change) if self._on_delete is not None else None
        return None

    def _call_on_add(self, change: Added[T]) -> Any:
        assert self._on_add is not None
        if self._add_takes_flag:
            return self._on_add(change.object, is_initial=change.is_initial)
        return self._on_add(change.object)

    def _call_on_delete(self, change: Deleted[T]) -> Any:
        assert self._on_delete is not None
        if self._delete_takes_flag:
            return self._on_delete(change.object, final_state_known=change.final_state_known)
        return self._on_delete(change.object)


def filtered(change: Change[T], accepts: Callable[[T], bool]) -> Change[T] | None:
    """The change for somebody who sees only what is accepted: an update may be the coming or going of an object."""
    if isinstance(change, Updated):
        is_seen, was_seen = accepts(change.object), accepts(change.old)
        if is_seen and not was_seen:
            return Added(change.object)
        if was_seen and not is_seen:
            return Deleted(change.old)
        return change if is_seen else None
    return change if accepts(change.object) else None


def _takes(function: Callable[..., Any] | None, name: str) -> bool:
    if function is None:
        return False
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):
        return False  # a builtin that does not tell
    return parameter is not None and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _name_of(functions: list[Callable[..., Any]]) -> str:
    names = [getattr(each, "__qualname__", type(each).__name__) for each in functions]
    owners = {name.rpartition(".")[0] for name in names}
    owner = owners.pop() if len(owners) == 1 and len(names) > 1 else ""
    return owner if owner and not owner.endswith("<locals>") else "+".join(names)
