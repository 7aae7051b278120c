"""The hand-written part of the blocking ListWatch: its functions may block, so each call runs in a new thread.

The threads are daemons: a function that never returns does not keep an informer from stopping.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial, wraps
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.keyed import Cached
from listwatch.sources.list_watch import ListWatch, check_functions

__all__ = ["FunctionSource", "ThreadedListWatch"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Cached)

_END: Any = object()


class FunctionSource(BlockingObject):
    """A source for blocking informers; an asynchronous ListWatch is valid there too."""

    _accepts_original: ClassVar[bool] = True

    def _open(self, original: object, *_: object) -> None:
        self._async = original  # it needs no loop before an informer uses it


class ThreadedListWatch(ListWatch[T]):
    """A ListWatch that calls plain functions in threads."""

    def __init__(self, *, list: Callable[..., object], watch: Callable[..., object], chunking: bool = True) -> None:
        check_functions(list, watch)
        super().__init__(list=_list_in_thread(list), watch=_watch_in_thread(watch), chunking=chunking)


def _list_in_thread(function: Callable[P, R]) -> Callable[P, Coroutine[object, object, R]]:
    @wraps(function)
    async def call(*arguments: P.args, **options: P.kwargs) -> R:
        return await _in_thread(partial(function, *arguments, **options))

    return call


def _watch_in_thread(function: Callable[..., object]) -> Callable[..., object]:
    @wraps(function)
    async def call(**options: object) -> object:
        opened = await _in_thread(partial(function, **options))
        return opened._async if isinstance(opened, BlockingObject) else _events(cast("Iterable[object]", opened))

    return call


async def _events(source: Iterable[R]) -> AsyncIterator[R]:
    events = iter(source)
    try:
        while (event := await _in_thread(partial(next, events, _END))) is not _END:
            yield event
    finally:
        with suppress(ValueError):  # a generator that still runs is closed when it is garbage-collected
            getattr(events, "close", lambda: None)()


async def _in_thread(function: Callable[[], R]) -> R:
    """Return the function's result; a cancellation does not wait for the function."""
    done: Future[R] = Future()
    context = copy_context()  # with the observer of the requests that the function makes
    threading.Thread(target=context.run, args=(_run, function, done), name="listwatch source", daemon=True).start()
    return await asyncio.wrap_future(done)


def _run(function: Callable[[], R], done: Future[R]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result(function())
    except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
        done.set_exception(error)
