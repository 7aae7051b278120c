"""The base class of the blocking classes, and the conversions between them and the asynchronous classes.

A blocking object holds an asynchronous object and makes its calls on the background loop. The classes themselves are
generated: `tools/generate_blocking.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Self, TypeVar

from listwatch.blocking.runtime.background import LoopReference
from listwatch.errors import UsageError

__all__ = [
    "Attributes",
    "BlockingIterator",
    "BlockingObject",
    "LoopAttributes",
    "Source",
    "loop_for",
    "loop_of",
    "unwrap",
    "wrap",
]

R = TypeVar("R")
T = TypeVar("T")

_BLOCKING_CLASSES: dict[type, type[BlockingObject]] = {}


class BlockingObject:
    """Holds an asynchronous object and calls it on the background loop.

    Two blocking objects are equal if they hold the same asynchronous object.
    """

    _original: ClassVar[type]
    """The asynchronous class."""
    _accepts_original: ClassVar[bool] = False
    """Whether the asynchronous object itself is a valid argument where the blocking one is."""
    _clean_up: ClassVar[str] = "aclose"
    """The coroutine method of the asynchronous object that runs when this object is not closed before it is deleted."""

    _async: object
    _loop: LoopReference
    _owns_loop = False

    def __init__(self) -> None:
        raise TypeError(f"a blocking {type(self).__name__} is not created directly; other objects return it")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_original" in vars(cls):
            _BLOCKING_CLASSES[cls._original] = cls

    @classmethod
    def _wrap(cls, original: object, loop: LoopReference | None) -> Self:
        made = cls.__new__(cls)
        made._async = original
        if loop is not None:
            made._loop = loop
        return made

    def _open(self, original: object, *arguments: object) -> None:
        """Use the loop reference of an argument, or a new one that `close` or `stop` releases."""
        self._async = original
        shared = next((loop for each in arguments if (loop := loop_of(each)) is not None), None)
        self._owns_loop = shared is None
        self._loop = shared or LoopReference(f"this {type(self).__name__}", getattr(original, self._clean_up, _nothing))

    def _release_loop(self) -> None:
        if self._owns_loop:
            self._loop.close()

    def _run(self, coroutine: Coroutine[object, object, R]) -> R:
        return self._loop.run(coroutine, self._name_of(getattr(coroutine, "__name__", "")))

    def _call(self, name: str, function: Callable[[], R]) -> R:
        return self._loop.call(function, self._name_of(name))

    def _name_of(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _same(self, original: object) -> Self:
        """Return a blocking object of the same class; `self` for the same asynchronous object."""
        return self if original is self._async else self._wrap(original, self._loop)

    def _enter(self, coroutine: Coroutine[object, object, object]) -> Self:
        try:
            self._run(coroutine)
        except BaseException:
            self._release_loop()
            raise
        return self

    def _do_close(self) -> None:
        if self._loop.is_open:
            self._loop.run(self._async.aclose(), self._name_of("close"))  # type: ignore[attr-defined]  # it has one
            self._release_loop()

    # Hidden from type checkers: for them, a blocking object would be an asynchronous context manager of Never.
    if not TYPE_CHECKING:

        def __aenter__(self) -> NoReturn:
            name = type(self).__name__
            advice = f"write `with` instead of `async with`, or use listwatch.{name}"
            raise UsageError(f"blocking.{name} is blocking: {advice}")

        async def __aexit__(self, *_: object) -> None:
            """Is never called; Python looks for it before it calls `__aenter__`."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockingObject) and self._async is other._async

    def __hash__(self) -> int:
        return id(self._async)

    def __repr__(self) -> str:
        return f"<blocking {repr(self._async).removeprefix('<')}"


class Attributes(BlockingObject):
    """Attributes that the asynchronous object finds by name, such as `client.core_v1` and `client.core_v1.pods`."""

    if not TYPE_CHECKING:  # the generated classes declare them

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            value = wrap(self._find(name), self._loop)
            if not isinstance(value, BlockingObject):
                raise AttributeError(f"a blocking {type(self).__name__} has no attribute {name!r}")
            return value

        def _find(self, name):
            return getattr(self._async, name)

    def __dir__(self) -> list[str]:
        missing = {name for name in dir(self._original) if not hasattr(type(self), name)}
        found = {name for name in dir(self._async) if not name.startswith("_")}
        return sorted({*super().__dir__(), *(found - missing)})


class LoopAttributes(Attributes):
    """Attributes that are found in the loop's thread, because that creates something there."""

    if not TYPE_CHECKING:

        def _find(self, name):
            return self._call(name, lambda: getattr(self._async, name))


class Source(Generic[T]):
    """A blocking object that can be listed and watched: a client's resource, or a ListWatch."""


class BlockingIterator(Generic[T]):
    """Iterates over an asynchronous iterator."""

    def __init__(self, items: AsyncIterator[T], loop: LoopReference) -> None:
        self._items = items
        self._loop = loop

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            return self._loop.run(self._next(), "BlockingIterator.__next__")
        except StopAsyncIteration:
            raise StopIteration from None

    async def _next(self) -> T:
        return await anext(self._items)


def wrap(value: object, loop: LoopReference | None) -> Any:
    """Return the blocking object of an asynchronous one; other values unchanged."""
    for each in type(value).__mro__:
        if each in _BLOCKING_CLASSES:
            return _BLOCKING_CLASSES[each]._wrap(value, loop)
    return value


def unwrap(value: object) -> Any:
    """Return the asynchronous object of a blocking one, also within a list, tuple or dict; other values unchanged."""
    match value:
        case list():
            return [_unwrap_one(each) for each in value]
        case tuple() if type(value) is tuple:  # others are named tuples, such as keys
            return tuple(_unwrap_one(each) for each in value)
        case dict():
            return {name: _unwrap_one(each) for name, each in value.items()}
        case _:
            return _unwrap_one(value)


def _unwrap_one(value: object) -> object:
    if isinstance(value, BlockingObject):
        return value._async
    counterpart = next((_BLOCKING_CLASSES[each] for each in type(value).__mro__ if each in _BLOCKING_CLASSES), None)
    if counterpart is not None and not counterpart._accepts_original:
        raise UsageError(f"{value!r} is asynchronous; pass a blocking {counterpart.__name__}, from listwatch.blocking")
    return value


def loop_of(value: object) -> LoopReference | None:
    """Return the loop reference of a blocking object, or of the first one in a dict."""
    if isinstance(value, dict):
        return next((loop for each in value.values() if (loop := loop_of(each)) is not None), None)
    return getattr(value, "_loop", None) if isinstance(value, BlockingObject) else None


@contextmanager
def loop_for(value: object, name: str) -> Iterator[LoopReference]:
    """Use the loop reference of a blocking object, or a temporary one."""
    shared = loop_of(value)
    if shared is not None:
        yield shared
        return
    loop = LoopReference(name, _nothing)
    try:
        yield loop
    finally:
        loop.close()


async def _nothing() -> None:
    """Do nothing."""
