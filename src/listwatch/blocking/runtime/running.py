"""Starting and stopping objects that run in the background: informers, factories, controllers, managers."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import ClassVar, Protocol, Self

from listwatch.blocking.runtime.background import LoopReference
from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.blocking.runtime.handler_thread import HandlerThread
from listwatch.tasks.callers import SelfWaitError

__all__ = ["Running"]


class _Runnable(Protocol):
    _running_loop: LoopReference | None
    """Keeps the background loop alive while the object runs, even if all blocking objects for it are deleted."""

    def start(self) -> None: ...
    def stop(self) -> Coroutine[object, object, None]: ...


class Running(BlockingObject):
    """An object with `start` and `stop`, which keeps the background loop alive in between."""

    _clean_up: ClassVar[str] = "stop"
    _async: _Runnable

    def _do_start(self) -> None:
        original = self._async
        self._call("start", original.start)
        if original._running_loop is None:
            original._running_loop = LoopReference(f"this {type(self).__name__}", original.stop)

    def _do_stop(self) -> None:
        loop = self._async._running_loop or self._loop
        if not loop.is_open:
            return
        if isinstance(threading.current_thread(), HandlerThread):
            # Stopping waits for handlers, and this thread runs one.
            loop.start(_stop(self._async), self._name_of("stop"))
            return
        try:
            loop.run(self._async.stop(), self._name_of("stop"))
        except SelfWaitError:
            raise  # it still runs
        except BaseException:
            self._release()
            raise
        self._release()

    def _release(self) -> None:
        _release(self._async)
        self._release_loop()

    def _do_enter(self) -> Self:
        self._do_start()
        return self

    def _do_exit(self) -> None:
        self._do_stop()


async def _stop(original: _Runnable) -> None:
    await original.stop()
    _release(original)


def _release(original: _Runnable) -> None:
    loop, original._running_loop = original._running_loop, None
    if loop is not None:
        loop.close()
