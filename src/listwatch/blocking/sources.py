"""Sources made of plain functions, which may wait for whatever they want: each call is made in a thread of its own.

    source = blocking.ListWatch(list=read_all, watch=follow)        for an informer, a RetryWatcher or `until`

The threads are daemons, so that a function that never returns keeps nobody from stopping.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial, wraps
from typing import Any, ClassVar, Generic, TypeVar

from listwatch.blocking.face import Face, Opened
from listwatch.informer import list_watch
from listwatch.objects.object import Object

__all__ = ["ListWatch"]

R = TypeVar("R")
T = TypeVar("T", bound=Object)

_END: Any = object()


class ListWatch(  # noqa: D101  # its documentation is its twin's
    Opened, Generic[T], twin=list_watch.ListWatch, without="list watch of_kind"
):
    takes_twins: ClassVar[bool] = True

    def _open(self, *, list: Any = None, watch: Any = None, **options: Any) -> None:
        list_watch.check_functions(list, watch)
        self._twin = list_watch.ListWatch(list=_listing(list), watch=_watching(watch), **options)
        self._lease = None


def _listing(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def listed(**options: Any) -> Any:
        return await _in_a_thread(partial(function, **options))

    return listed


def _watching(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def watched(**options: Any) -> Any:
        answer = await _in_a_thread(partial(function, **options))
        return answer._twin if isinstance(answer, Face) else _events(answer)

    return watched


async def _events(source: Iterable[Any]) -> AsyncIterator[Any]:
    events = iter(source)
    try:
        while (event := await _in_a_thread(partial(next, events, _END))) is not _END:
            yield event
    finally:
        with suppress(ValueError):  # a generator that still runs is closed when it is forgotten
            getattr(events, "close", lambda: None)()


async def _in_a_thread(function: Callable[[], R]) -> R:
    """What it returns; who is cancelled meanwhile does not wait for it."""
    done: Future[R] = Future()
    threading.Thread(target=_run, args=(function, done), name="listwatch source", daemon=True).start()
    return await asyncio.wrap_future(done)


def _run(function: Callable[[], R], done: Future[R]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result(function())
    except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
        done.set_exception(error)
