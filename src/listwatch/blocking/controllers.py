"""Controllers for programs without an event loop: they run on the background loop, and reconcile in threads.

    with blocking.ClientSet(config) as client:
        manager = blocking.Manager(client)
        controller = manager.add(blocking.Controller(reconcile, for_=Deployment, owns=[Pod]))
        manager.run()                      until SIGTERM or Ctrl-C

A reconcile function is a plain one, and uses blocking clients. Functions for keys and predicates are called on the
loop, and must not wait.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

from listwatch.blocking.background import Lease
from listwatch.blocking.face import Face, Opened
from listwatch.blocking.informers import start_leased, stop_leased
from listwatch.cache.indexer import Indexer
from listwatch.cache.lister import Lister
from listwatch.controller import controller as controllers
from listwatch.controller import manager as managers
from listwatch.controller.signals import STOP_SIGNALS
from listwatch.controller.watches import K, KeyLike, Kind, Watch

__all__ = ["Controller", "Manager"]

C = TypeVar("C", bound=controllers.Controller[Any])

# ruff: noqa: D101  # their documentation is their twins'


class LeasedController(controllers.Controller[Any]):
    """A controller that keeps the background loop while it runs."""

    lease: Lease | None = None


class LeasedManager(managers.Manager):
    """A manager that does so."""

    lease: Lease | None = None


class Controller(
    Opened,
    twin=controllers.Controller,
    made_as=LeasedController,
    on_loop=True,
    without="informer",
):
    _closed_by: ClassVar[str] = "stop"

    def _open(self, *arguments: Any, **options: Any) -> None:
        super()._open(*arguments, **{name: _of_twins(value) for name, value in options.items()})

    # These are safe in any thread, and need not wait for the loop.

    def enqueue(self, key: KeyLike, *, after: float = 0.0, priority: int = 0) -> None:
        self._twin.enqueue(key, after=after, priority=priority)

    def get(self, key: KeyLike) -> Any:
        return self._twin.get(key)

    def lister(self, kind: Kind[K]) -> Lister[K]:
        lister: Lister[K] = self._twin.lister(kind)
        return lister

    def indexer(self, kind: Kind[K]) -> Indexer[K]:
        indexer: Indexer[K] = self._twin.indexer(kind)
        return indexer

    def start(self) -> None:
        start_leased(self)

    def stop(self) -> None:
        stop_leased(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Manager(Opened, twin=managers.Manager, made_as=LeasedManager, on_loop=True, without="factory"):
    _closed_by: ClassVar[str] = "stop"

    def run(self, *, handle_signals: bool = True) -> None:
        stopping = lambda: self._lease.call_soon(self._twin.stop_soon)  # noqa: E731  # what a signal does
        with _heard(stopping) if handle_signals else nullcontext():
            self._wait(lambda: self._twin.run(handle_signals=False), doing="Manager.run")

    def stop_soon(self) -> None:
        self._lease.call_soon(self._twin.stop_soon)

    def start(self) -> None:
        start_leased(self)

    def stop(self) -> None:
        stop_leased(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _of_twins(value: Any) -> Any:
    """Watches of blocking informers as watches of their twins; whatever else is given, as it is."""
    of: Any = value.of if isinstance(value, Watch) else None
    if isinstance(of, Face):
        return replace(value, of=of._twin)
    return type(value)(map(_of_twins, value)) if type(value) in (list, tuple) else value


@contextmanager
def _heard(action: Callable[[], None]) -> Iterator[None]:
    """Call the action for each signal by which the program is told to end; only its main thread hears them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, lambda *_: action()) for each in STOP_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
