"""Makes the world match the objects: one function, called for each object that changed, or whose belongings did.

    change ─▶ sources ─▶ keys ─▶ WorkQueue ─▶ workers ─▶ reconcile(key)
                                    ▲                        │
                                    └── later, or again ─────┘

    controller = Controller(reconcile, for_=Deployment, owns=[Pod], client=client)
    await controller.run()

`manager` runs several of them, one replica at a time.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any, Self

from listwatch.cache.indexer import Indexer
from listwatch.cache.lister import Lister
from listwatch.clock import Clock, SystemClock
from listwatch.controller.caches import Caches, as_watch, several
from listwatch.controller.loop_watchdog import watched_loop
from listwatch.controller.reconciler import Reconcile
from listwatch.controller.reports import ControllerStatistics, Counts, Failure, Reporter
from listwatch.controller.tasks import run_unless
from listwatch.controller.triggers import Every, KeyLike, key_from, keys_from
from listwatch.controller.workers import Workers
from listwatch.errors import UsageError
from listwatch.informer.cancellation import log_end
from listwatch.informer.factory import SharedInformerFactory, SourceMaker, checked_namespaces
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import ObjectKey
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.queue_state import check_delay
from listwatch.workqueue.rate_limiters import ItemLimiter

__all__ = ["Controller"]


class Controller:
    """Calls `reconcile` with the key of every object that may need work; never twice at once for one key.

    `for_`, `owns` and `watches` say whose changes lead to which keys: classes, pairs of apiVersion and kind, informers,
    or a `Watch` of one with more to say; `watches` also takes `Every`, a timer. `reconcile` takes an ObjectKey, is
    async or plain, which then runs in a thread, and returns None, or the seconds after which to be called again. What
    it raises is retried later and later; PermanentError is not. After `timeout` seconds it is cancelled. What it wrote
    is in the caches before it is called for that key again, or `cache_patience` seconds have passed.

    It runs once: in a Manager, or alone with a `client`, as `async with controller` or `await controller.run()`.
    """

    def __init__(
        self,
        reconcile: Reconcile,
        *,
        for_: Any = None,
        owns: Sequence[Any] = (),
        watches: Sequence[Any] = (),
        name: str = "",
        concurrency: int = 4,
        timeout: float | None = 300.0,
        client: SourceMaker | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        resync: float = 0.0,
        limiter: ItemLimiter[ObjectKey] | None = None,
        sync_timeout: float | None = 120.0,
        cache_patience: float = 30.0,
        grace: float = 30.0,
        needs_leader: bool = True,
        held_up_after: float = 1.0,
        on_failure: Callable[[Failure], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if namespace and namespaces:
            raise UsageError("give either one namespace or several namespaces, not both")
        main = None if for_ is None else as_watch(for_)
        self.name = name or (getattr(reconcile, "__qualname__", "controller") if main is None else main.title)
        self.needs_leader = needs_leader
        self._clock = clock or SystemClock()
        self._client = client
        self._places = checked_namespaces(namespaces) or ((namespace,) if namespace else ())
        self._resync = resync
        self._sync_timeout = sync_timeout
        self._grace = grace
        self._held_up_after = held_up_after
        self._counts = Counts()
        self._report = Reporter(self.name, on_failure)
        self._queue: WorkQueue[ObjectKey] = WorkQueue(name=self.name, limiter=limiter, clock=self._clock)
        self._timers = [each for each in several(watches, "watches") if isinstance(each, Every)]
        self._caches = Caches(
            main, owns, watches, name=self.name, enqueue=self._put, report=self._trigger_failed, clock=self._clock
        )
        self._workers = Workers(
            reconcile,
            self._queue,
            self._caches.sources,
            concurrency=concurrency,
            timeout=timeout,
            cache_patience=cache_patience,
            counts=self._counts,
            report=self._report,
            clock=self._clock,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._main: asyncio.Task[None] | None = None
        self._working: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        doing = "stopping" if self._workers.stopping.is_set() else "working" if self.is_working else "not working"
        return f"<Controller {self.name}, {doing}: {len(self._queue)} waiting, {len(self.under_way)} under way>"

    # --- for programs ------------------------------------------------------------------------------------------------

    def enqueue(self, key: KeyLike, *, after: float = 0.0, priority: int = 0) -> None:
        """Have a key reconciled, now or later, for reasons of your own; from any thread."""
        check_delay(key, after)
        self._put([key_from(key)], priority, after)

    def get(self, key: KeyLike) -> Any:
        """The cached object of a key, of the kind that this controller is for; None if there is none."""
        return self._caches.main.indexer.get(key_from(key))

    def informer(self, of: Any) -> SharedIndexInformer[Any]:
        """The informer of something that it watches."""
        return self._caches.informer(of)

    def lister(self, of: Any) -> Lister[Any]:
        """What is cached of something that it watches, by name, namespace and selector."""
        return self.informer(of).lister

    def indexer(self, of: Any) -> Indexer[Any]:
        """What is cached of something that it watches, by key and by index."""
        return self.informer(of).indexer

    @property
    def is_working(self) -> bool:
        """Whether its workers are there: the caches are filled and, if it needs to, it leads."""
        return self._workers.is_working

    @property
    def is_ready(self) -> bool:
        """Whether everything that it watches is in its caches; a replica that does not lead can be ready to."""
        return self._caches.is_ready

    def why_not_ready(self) -> str | None:
        """What a program should know while it waits; None once it is ready."""
        return self._caches.why_not_ready()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until the caches are filled, and all that is there is in the queue; raises SyncTimeoutError."""
        await self._caches.wait_for_sync(timeout)

    def statistics(self) -> ControllerStatistics:
        return self._workers.statistics()

    # --- alone -------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Watch and reconcile until cancelled, or until `stop`."""
        self.begin()
        factory = None
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.close)
            stack.enter_context(watched_loop(self.was_held_up, patience=self._held_up_after))
            if self._client is not None:
                factory = SharedInformerFactory(self._client, resync=self._resync, clock=self._clock)
                await stack.enter_async_context(factory)
            self.open(factory, ("",))
            await self._work_until_stopped()

    async def _work_until_stopped(self) -> None:
        self._working = asyncio.create_task(self.work(), name=f"workers of {self.name}")
        try:
            await asyncio.wait([self._working])
        finally:
            self._working.cancel()
            await asyncio.wait([self._working])
        if not self._working.cancelled():
            self._working.result()

    def start(self) -> None:
        """Run in the background until `stop`; starting what runs does nothing."""
        if self._main is None or self._main.done():
            self._check_is_new()
            self._main = asyncio.create_task(self.run(), name=f"controller {self.name}")
            self._main.add_done_callback(log_end("listwatch.controller"))

    async def stop(self) -> None:
        """Begin nothing more, give what is under way `grace` seconds to end, and cancel what is left then.

        Of a controller in a manager, this is the manager's to do.
        """
        running = self._working or self._main
        if running is None:
            return
        self.stop_taking()
        await self.wait_finished(self._grace)
        running.cancel()
        await asyncio.wait([self._main or running])
        if self._main is not None and not self._main.cancelled():
            self._main.result()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # --- for a manager -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Let its one run begin, in this loop; a second one is refused before it could disturb the first."""
        self._check_is_new()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def _check_is_new(self) -> None:
        if self._loop is not None or self._workers.stopping.is_set():
            raise UsageError(f"the controller {self.name} runs once: it was started before; make a new one")

    def open(self, factory: SharedInformerFactory | None, places: tuple[str, ...]) -> None:
        """Listen to its informers: from now on keys come in."""
        self._caches.open(factory, self._places or places)

    async def close(self) -> None:
        """Listen no more."""
        await self._caches.close()

    async def work(self) -> None:
        """Reconcile what comes in, when the caches are filled, until cancelled or until it is not to take any more."""
        if not await run_unless(self._workers.stopping, self.wait_for_sync(self._sync_timeout)):
            return
        timers = [asyncio.create_task(self._keep_time(each), name=f"timer of {self.name}") for each in self._timers]
        try:
            await self._workers.run()
        finally:
            for timer in timers:
                timer.cancel()
            if timers:
                await asyncio.wait(timers)

    def stop_taking(self) -> None:
        """Begin with no other key."""
        self._workers.stop_taking()

    async def wait_finished(self, timeout: float | None = None) -> bool:
        """Wait until nothing is under way; False if that took too long."""
        return await self._workers.wait_finished(timeout)

    @property
    def under_way(self) -> list[ObjectKey]:
        """The keys that are being reconciled."""
        return self._workers.under_way

    @property
    def has_left_some(self) -> bool:
        """Whether, when all is over, a reconcile runs on that could not be cancelled."""
        return self._workers.has_left_some

    def was_held_up(self, task: asyncio.Task[Any] | None, place: str) -> None:
        """Report that the event loop is held up, if one of ours does that; called in another thread."""
        self._workers.was_held_up(task, place)

    # --- keys --------------------------------------------------------------------------------------------------------

    def _put(self, keys: Iterable[ObjectKey], priority: int, after: float = 0.0) -> None:
        if self._loop is None or threading.get_ident() == self._thread:
            self._add(keys, priority, after)
        else:
            with suppress(RuntimeError):  # the loop is closed, and nobody reconciles any more
                self._loop.call_soon_threadsafe(self._add, keys, priority, after)

    def _add(self, keys: Iterable[ObjectKey], priority: int, after: float) -> None:
        for key in keys:
            if after > 0:
                self._queue.add_after(key, after, priority=priority)
            else:
                self._queue.add(key, priority=priority)

    async def _keep_time(self, timer: Every) -> None:
        while True:
            await self._clock.sleep(timer.interval)
            try:
                self._put(keys_from(timer.keys() if timer.keys else self._caches.keys()), LOW_PRIORITY)
            except BaseException as error:  # noqa: BLE001  # it is the user's function, and plain: nobody cancels it
                self._trigger_failed(error, f"the timer of {timer.interval} s failed")

    def _trigger_failed(self, error: BaseException, doing: str) -> None:
        self._counts.trigger_failures += 1
        self._report(doing, error)
