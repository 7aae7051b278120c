"""Makes a blocking class of an asynchronous one. There is no second implementation: each call goes to the twin.

    class ClientSet(Connected, twin=client_set.ClientSet): ...

gives it every public name of its twin, with the same signature and documentation: a coroutine becomes a call that
waits, an asynchronous iterator one for plain loops, and what has a face of its own is handed out with it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from types import FunctionType
from typing import Any, ClassVar, Generic, Self, TypeVar

from listwatch.blocking.background import Lease
from listwatch.errors import UsageError

__all__ = ["Face", "Items", "Opened", "faced", "leased", "spoken", "waiting_function"]

T = TypeVar("T")

_BLOCKING_NAMES = {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__"}
_SPECIAL_NAMES = {"__call__", "__enter__", "__exit__"}

_PLAIN_WORDS = {
    "async with": "with",
    "async for": "for",
    "await ": "",
    "to be awaited": "called",
    ", or awaits one": "",
    "an asynchronous iterator": "an iterator",
}

# What makes a face, and is of no use to those who have one.
_FOR_FACES_ALONE = {"left_out", "name_for", "over", "takes_twins", "twin_class"}

_FACES: dict[type, type[Face]] = {}


def spoken(text: str | None) -> str | None:
    """Documentation without the words of asynchronous programs."""
    if text is None:
        return None
    for word, other in _PLAIN_WORDS.items():
        text = text.replace(word, other)
    return text


class Face:
    """What programs without an event loop see of an asynchronous object, its twin.

    `on_loop` is for twins that are used in the loop's thread alone; others are thread-safe but for their coroutines.
    """

    twin_class: ClassVar[type]
    left_out: ClassVar[frozenset[str]] = frozenset()
    takes_twins: ClassVar[bool] = False
    """Whether a twin that a program made is as good as a face."""
    _on_loop: ClassVar[bool] = False

    _twin: Any
    _lease: Any  # a Lease; None for what is only given to others

    def __init_subclass__(cls, *, twin: type | None = None, on_loop: bool = False, without: str = "") -> None:
        super().__init_subclass__()
        if twin is None:
            return
        cls.twin_class = twin
        cls.left_out = frozenset(without.split())
        cls._on_loop = on_loop
        cls.__doc__ = spoken(twin.__doc__)
        _FACES[twin] = cls
        for its_name, member in vars(twin).items():
            name = cls.name_for(its_name)
            if name is None or not isinstance(member, FunctionType | property | cached_property | classmethod):
                continue
            own = vars(cls).get(name)
            if own is None:
                setattr(cls, name, _turned(member, name, on_loop=on_loop))
            else:
                own.__doc__ = spoken(member.__doc__)

    @classmethod
    def name_for(cls, name: str) -> str | None:
        """What a member of the twin is called here; None if it is not for programs."""
        if name == "aclose" and hasattr(cls.twin_class, "close"):
            return None
        name = _BLOCKING_NAMES.get(name, name)
        is_public = not name.startswith("_") or name in _SPECIAL_NAMES
        return name if is_public and name not in cls.left_out else None

    @classmethod
    def over(cls, twin: Any, lease: Lease | None) -> Self:
        """The face of something that was made by its own kind."""
        face = cls.__new__(cls)
        face._twin, face._lease = twin, lease
        return face

    def __getattr__(self, name: str) -> Any:
        if self.name_for(name) != name:
            raise AttributeError(f"a blocking {type(self).__name__} has no {name!r}")
        if not self._on_loop or name in vars(self._twin):
            return faced(getattr(self._twin, name), self)
        return self._call(lambda: getattr(self._twin, name), doing=self._doing(name))

    def __dir__(self) -> list[str]:
        here = {*super().__dir__(), *filter(None, map(self.name_for, dir(self._twin)))}
        return sorted(here - _FOR_FACES_ALONE)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Face) and self._twin is other._twin

    def __hash__(self) -> int:
        return id(self._twin)

    def __repr__(self) -> str:
        return f"<blocking {repr(self._twin).removeprefix('<')}"

    def _doing(self, name: str) -> str:
        return f"{type(self).__name__}.{name}"

    def _wait(self, make: Callable[[], Awaitable[Any]], *, doing: str) -> Any:
        return faced(self._lease.wait(make, doing=doing), self)

    def _call(self, function: Callable[[], Any], *, doing: str) -> Any:
        """Call it in the loop's thread."""

        async def call() -> Any:
            return function()

        return self._wait(call, doing=doing)


class Opened(Face):
    """A face that programs make: over what they give it, or with a lease of its own that it closes."""

    _made_as: ClassVar[type | None] = None
    _closed_by: ClassVar[str] = "aclose"

    def __init_subclass__(cls, *, made_as: type | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if made_as is not None:
            cls._made_as = made_as
        if "twin" in options and "__init__" in vars(cls.twin_class):
            cls.__init__ = _made(vars(cls.twin_class)["__init__"])  # type: ignore[method-assign]  # with its signature

    def _open(self, *arguments: Any, **options: Any) -> None:
        given, named = _twins_of(arguments, options)
        self._twin = (self._made_as or self.twin_class)(*given, **named)
        lent = _lent(arguments, options)
        self._owns_lease = lent is None
        self._lease = lent or Lease(f"this {type(self).__name__}", getattr(self._twin, self._closed_by))

    def _give_back(self) -> None:
        if vars(self).get("_owns_lease"):
            self._lease.close()


class Items(Generic[T]):
    """What an asynchronous iterator gives, with one waiting for each; it is closed when nobody has it any more."""

    def __init__(self, items: AsyncIterator[T], lease: Lease) -> None:
        self._items = items
        self._lease = lease

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            item: T = self._lease.wait(lambda: anext(self._items), doing="Items.__next__")
        except StopAsyncIteration:
            raise StopIteration from None
        return item


def faced(value: Any, owner: Face) -> Any:
    """What a program gets in place of what a twin gave."""
    if value is owner._twin:
        return owner
    face = next((_FACES[each] for each in type(value).__mro__ if each in _FACES), None)
    if face is not None:
        return face.over(value, owner._lease)
    return Items(value, owner._lease) if inspect.isasyncgen(value) else value


def waiting_function(function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    """The blocking form of a function whose first argument is a client, or another source of objects."""

    @wraps(function)
    def wait(source: Any, *arguments: Any, **options: Any) -> Any:
        with leased(source, function.__name__) as lease:
            return lease.wait(lambda: function(_twin_of(source), *arguments, **options), doing=function.__name__)

    wait.__doc__ = spoken(function.__doc__)
    return wait


@contextmanager
def leased(source: Any, user: str) -> Iterator[Lease]:
    """The lease that a source comes with, or one for the time being."""
    _check_is_blocking(source, user)
    lent = _lease_of(source)
    if lent is not None:
        yield lent
        return
    lease = Lease(user, _nothing)
    try:
        yield lease
    finally:
        lease.close()


def _check_is_blocking(source: Any, user: str) -> None:
    faces = [_FACES[each] for each in type(source).__mro__ if each in _FACES]
    if faces and not faces[0].takes_twins:
        raise UsageError(
            f"blocking.{user} was given {source!r}, which is asynchronous: make it with listwatch.blocking"
        )


async def _nothing() -> None:
    """What is left to do for those who leave nothing behind."""


def _turned(member: Any, name: str, *, on_loop: bool) -> Any:
    if isinstance(member, property | cached_property):
        return property(lambda self: faced(getattr(self._twin, name), self), doc=spoken(member.__doc__))
    if isinstance(member, classmethod):
        return classmethod(_making(member.__func__, name))
    method = _waiting(member, name) if inspect.iscoroutinefunction(member) else _passing(member, name, on_loop=on_loop)
    method.__doc__ = spoken(member.__doc__)
    method.__signature__ = _signature(member)  # type: ignore[attr-defined]  # where `inspect` looks for it
    return method


def _waiting(method: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Any]:
    @wraps(method)
    def wait(self: Face, *arguments: Any, **options: Any) -> Any:
        given, named = _twins_of(arguments, options)
        return self._wait(lambda: method(self._twin, *given, **named), doing=self._doing(name))

    return wait


def _passing(method: Callable[..., Any], name: str, *, on_loop: bool) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Face, *arguments: Any, **options: Any) -> Any:
        given, named = _twins_of(arguments, options)
        if on_loop:
            return self._call(lambda: method(self._twin, *given, **named), doing=self._doing(name))
        return faced(method(self._twin, *given, **named), self)

    return call


def _making(maker: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(maker)
    def make(cls: type[Face], *arguments: Any, **options: Any) -> Any:
        given, named = _twins_of(arguments, options)
        return cls.over(getattr(cls.twin_class, name)(*given, **named), _lent(arguments, options))

    make.__doc__ = spoken(maker.__doc__)
    return make


def _made(constructor: Callable[..., None]) -> Callable[..., None]:
    @wraps(constructor)
    def __init__(self: Opened, *arguments: Any, **options: Any) -> None:  # noqa: N807  # it becomes one
        self._open(*arguments, **options)

    return __init__


def _signature(method: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(method)
    returned = signature.return_annotation
    if isinstance(returned, str):
        returned = returned.replace("AsyncIterator", "Iterator")
    return signature.replace(return_annotation=returned)


def _twins_of(arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return [_twin_of(each) for each in arguments], {name: _twin_of(each) for name, each in options.items()}


def _twin_of(value: Any) -> Any:
    """What a twin is given in place of a face, of several of them or of a mapping to them."""
    match value:
        case list():
            return [_one_twin_of(each) for each in value]
        case tuple() if type(value) is tuple:  # others are values with names, as keys
            return tuple(_one_twin_of(each) for each in value)
        case dict():
            return {name: _one_twin_of(each) for name, each in value.items()}
        case _:
            return _one_twin_of(value)


def _one_twin_of(value: Any) -> Any:
    return value._twin if isinstance(value, Face) else value


def _lent(arguments: tuple[Any, ...], options: dict[str, Any]) -> Lease | None:
    """The lease of the first of them that has one."""
    return next(filter(None, map(_lease_of, (*arguments, *options.values()))), None)


def _lease_of(value: Any) -> Lease | None:
    if isinstance(value, dict):
        return next(filter(None, map(_lease_of, value.values())), None)
    return value._lease if isinstance(value, Face) else None
