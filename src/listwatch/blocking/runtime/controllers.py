"""The hand-written part of Controller and Manager: they run on the background loop and reconcile in threads.

A reconcile function is a plain function that uses blocking clients. Functions for keys and predicates are called in the
loop's thread and must not block.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from listwatch.blocking.runtime.background import LoopReference
from listwatch.blocking.runtime.blocking_object import BlockingObject, wrap
from listwatch.blocking.runtime.running import Running
from listwatch.controller.controller import Controller
from listwatch.controller.manager import Manager
from listwatch.controller.process.signals import STOP_SIGNALS
from listwatch.controller.reconcile.context import ReconcileContext, ReconcileForm
from listwatch.controller.watching.watches import T, Watch
from listwatch.meta import ObjectKey

__all__ = ["RunningController", "RunningManager", "ThreadedController", "ThreadedManager"]

C = TypeVar("C", bound=BlockingObject)


class ThreadedController(Controller[T]):
    """A controller that keeps the background loop alive while it runs.

    Its reconcile function, if it is a plain one, gets a blocking context.
    """

    _running_loop: LoopReference | None = None
    _client_loop: LoopReference | None = None
    """For the client of the context."""

    def __init__(self, reconcile: Any, **options: Any) -> None:
        super().__init__(reconcile, **{name: _unwrap_watches(value) for name, value in options.items()})
        self._is_async = ReconcileForm.of(reconcile).is_async

    def _make_context(self, key: ObjectKey, attempt: int) -> ReconcileContext[T]:
        context = super()._make_context(key, attempt)
        made: ReconcileContext[T] = context if self._is_async else wrap(context, self._client_loop)
        return made


class ThreadedManager(Manager):
    """A manager that keeps the background loop alive while it runs."""

    _running_loop: LoopReference | None = None


class RunningController(Running):
    """The hand-written part of the blocking Controller."""

    def _open(self, original: object, *arguments: object) -> None:
        super()._open(original, *arguments)
        assert isinstance(original, ThreadedController)
        if not self._owns_loop:
            original._client_loop = self._loop


class RunningManager(Running):
    """The hand-written part of the blocking Manager."""

    _async: ThreadedManager

    def _do_add(self, controller: C) -> C:
        original = controller._async
        assert isinstance(original, ThreadedController)
        self._call("add", lambda: self._async.add(original))
        original._client_loop = original._client_loop or self._loop
        return controller

    def _do_run(self, *, handle_signals: bool) -> None:
        with _on_termination(self._do_stop_soon) if handle_signals else nullcontext():
            self._run(self._async.run(handle_signals=False))

    def _do_stop_soon(self) -> None:
        self._loop.call_soon(self._async.stop_soon)


def _unwrap_watches(value: Any) -> Any:
    """Replace the blocking informers of `Watch(informer)` by asynchronous ones, also in lists of watches."""
    if isinstance(value, Watch):
        informer = getattr(value.of, "_async", value.of)
        return replace(value, of=informer)
    return type(value)(map(_unwrap_watches, value)) if type(value) in (list, tuple) else value


@contextmanager
def _on_termination(action: Callable[[], None]) -> Iterator[None]:
    """Call the action for SIGTERM and SIGINT. Only the main thread can handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, lambda *_: action()) for each in STOP_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
