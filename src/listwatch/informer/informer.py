"""The plain informer: one source, one store, one handler, which is called inline.

Nothing lies between a change and the handler: while it runs, the store waits. `shared_informer.py` is for the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.cooperative import TimeSlice
from listwatch.errors import InformerStoppedError, SyncTimeoutError
from listwatch.informer.cancellation import cancel_and_wait, log_end, until_cancelled, waited_in_vain
from listwatch.informer.handlers import Change, Handler, HandlerFunctions
from listwatch.informer.list_watch import ListerWatcher, check_source
from listwatch.informer.processing import Processor
from listwatch.informer.reflector import Problem, Reflector, reporter
from listwatch.informer.transforms import lightest
from listwatch.informer.validation import check_number
from listwatch.objects.object import Object

__all__ = ["Informer"]

T = TypeVar("T", bound=Object)


class Informer(Generic[T]):
    """Keeps an indexed store equal to what a source holds, and calls one handler for each change, in order.

    What the handler raises goes to `on_problem`, and the next change is handled.
    """

    def __init__(
        self,
        source: ListerWatcher[T],
        kind: type[T],
        handler: Handler[T] | HandlerFunctions[T],
        *,
        resync: float = 0.0,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Callable[[T], T] | None = None,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        **reflector_options: Any,
    ) -> None:
        check_source(source, kind)
        check_number(resync, "resync is a number of seconds")
        self.name = kind.__name__
        self.indexer: Indexer[T] = Indexer(indexers=indexers, on_failure=lambda _name, _key, error: self._report(error))
        self._handler = handler if isinstance(handler, HandlerFunctions) else HandlerFunctions.of(handler)
        self._on_problem = reporter(on_problem)
        self._clock = clock or SystemClock()
        self._resync = resync
        self._ready = asyncio.Event()
        self._settled = asyncio.Event()
        """Set when it has synced, or stopped before that."""
        self._fifo: DeltaFIFO[T] = DeltaFIFO(
            transform=transform, on_ready=self._ready.set, on_dropped=lambda _, error: self._report(error)
        )
        self._reflector = Reflector(
            lightest(source, transform),
            kind,
            self._fifo,
            on_problem=on_problem,
            clock=clock,
            random=random,
            **reflector_options,
        )
        self._processor = Processor(self.indexer)
        self._main: asyncio.Task[None] | None = None
        self._has_started = self._is_stopped = False

    @property
    def has_synced(self) -> bool:
        """True once everything that was there at first has been handled."""
        return self._fifo.has_synced

    @property
    def last_sync_resource_version(self) -> str:
        return self._reflector.last_sync_resource_version

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError."""
        try:
            async with time_limit(self._clock, timeout):
                await self._settled.wait()
        except TimeoutError:
            failed = self._reflector.statistics()
            message = (
                f"the informer of {self.name} did not sync within {timeout} s: {failed.last_error or 'no answer yet'}"
            )
            raise SyncTimeoutError(message, attempts=failed.failures_in_a_row, last_error=failed.last_error) from None
        if not self.has_synced:
            raise InformerStoppedError(f"the informer of {self.name} stopped before it had synced")

    async def run(self) -> None:
        """Keep the store in step until cancelled."""
        if self._has_started:
            raise InformerStoppedError(f"the informer of {self.name} runs once: it was started before; make a new one")
        self._has_started = True
        async with asyncio.TaskGroup() as group:
            group.create_task(self._reflector.run(), name=f"reflector of {self.name}")
            group.create_task(self._process(), name=f"informer of {self.name}")
            if self._resync > 0:
                group.create_task(self._tell_again(), name=f"resync of {self.name}")
            await until_cancelled(then=self._stop)

    async def __aenter__(self) -> Self:
        self._main = asyncio.create_task(self.run(), name=f"informer {self.name}")
        self._main.add_done_callback(log_end("listwatch.informer"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._main is not None
        try:
            await cancel_and_wait(self._main)
        finally:
            self._stop()  # once more: a task that was cancelled before its first step never came to it

    def _stop(self) -> None:
        self._is_stopped = True
        self._settled.set()

    async def _process(self) -> None:
        time_slice = TimeSlice()
        while True:
            await self._ready.wait()
            self._ready.clear()
            while batch := self._fifo.pop_batch():
                for changes in self._processor.process(batch):
                    for change in changes:
                        await self._handle(change)
                        if self._is_stopped:
                            return
                        await time_slice.checkpoint()
                    await time_slice.checkpoint()
                self._fifo.processed(batch)
                if self._fifo.has_synced:
                    self._settled.set()

    async def _handle(self, change: Change[T]) -> None:
        try:
            awaitable = self._handler(change)
            if awaitable is not None:
                await awaitable
        except Exception as error:  # noqa: BLE001  # it is the user's function, and other changes are still to come
            self._report(error)
        except asyncio.CancelledError as error:
            self._report(waited_in_vain("the handler", error))

    async def _tell_again(self) -> None:
        await self._settled.wait()
        while True:
            await self._clock.sleep(self._resync)
            self._fifo.resync()

    def _report(self, error: Exception) -> None:
        self._on_problem(Problem(self.name, error, 0, 0.0))
