"""Runs async tests and async fixtures, and fails a test that leaves a task, a socket or a thread behind.

A test and its async fixtures share one event loop of their own. What is left is looked for once, after the last fixture
has cleaned up. `test_conftest.py` sees this fail. PYTHONASYNCIODEBUG=1 shows where tasks were created; it doubles the
time of the tests.
"""

import asyncio
import contextlib
import functools
import gc
import inspect
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextvars import Context
from typing import Any

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs this way, and every program that a test interrupts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

EXAMPLES = int(os.environ.get("LISTWATCH_EXAMPLES", "40"))
"""How many examples of a property are tried, unless its test says otherwise."""

# Without a deadline: machines are shared, and a slow example is not a failure.
settings.register_profile("listwatch", deadline=None, max_examples=EXAMPLES)
settings.load_profile("listwatch")

HANGS_AFTER = 120.0
"""Seconds after which an async test is taken to hang, unless the marker `hangs_after` has another number of them."""

RELEASED_WITHIN = 3.0
"""Seconds for the clean-up of garbage-collected blocking objects, after which they count as leaked."""


class CheckedLoop(asyncio.SelectorEventLoop):
    """An event loop that raises RuntimeError if another thread uses it without `call_soon_threadsafe`.

    asyncio's debug mode does that too, and records a stack for each callback, which takes half of the time of a test.
    """

    _thread = 0

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        self._check()
        return super().call_soon(callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        self._check()
        return super().call_at(when, callback, *args, context=context)

    def run_forever(self) -> None:
        self._thread = threading.get_ident()
        try:
            super().run_forever()
        finally:
            self._thread = 0

    def _check(self) -> None:
        if self._thread and self._thread != threading.get_ident():
            raise RuntimeError("another thread has called a method of this event loop that is not thread-safe")


class WatchedLoop:
    """The event loop of one test, created when async code first runs. Reports tasks and errors that are left in it."""

    def __init__(self, hangs_after: float = HANGS_AFTER) -> None:
        self._hangs_after = hangs_after
        self._runner = asyncio.Runner(loop_factory=CheckedLoop)
        self._used = False
        self._unseen: list[str] = []

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if not self._used:
            self._used = True
            self._runner.get_loop().set_exception_handler(self._record_unretrieved_error)
        return self._runner.run(self._bounded(coroutine))

    def synchronous(self, function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self.run(function(*args, **kwargs))

        return run

    def close(self) -> list[str]:
        """Close the loop and return the tasks that were still running, and errors that were never retrieved."""
        if not self._used:
            return []
        with self._runner:
            left = self.run(_other_tasks())
        return [*(f"a task: {task}" for task in left), *self._unseen]

    async def _bounded(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        # Not a measurement: a test that waits forever must fail instead of hanging.
        async with asyncio.timeout(self._hangs_after):
            return await coroutine

    def _record_unretrieved_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._unseen.append(f"an error: {context['message']} {context.get('exception')!r}")


async def _other_tasks() -> list[str]:
    await asyncio.sleep(0)  # lets cancelled tasks end
    return [repr(task) for task in asyncio.all_tasks() - {asyncio.current_task()}]


class AsyncGeneratorFixture:
    """An async generator fixture that one task enters and exits, which task groups and timeouts require."""

    async def enter(self, generator: AsyncGenerator[Any, None]) -> Any:
        self._leaving = asyncio.Event()
        entered = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(generator, entered))
        await asyncio.wait({entered, self._task}, return_when=asyncio.FIRST_COMPLETED)
        return (self._task if self._task.done() else entered).result()

    async def leave(self) -> None:
        self._leaving.set()
        await self._task

    async def _hold(self, generator: AsyncGenerator[Any, None], entered: asyncio.Future[Any]) -> None:
        async for value in generator:
            entered.set_result(value)
            await self._leaving.wait()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    # Some tests wait for processes and sockets, and leave a processor idle.
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    # All that exists now stays until the end. Frozen, it is not visited by each of the collections during the tests.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    property_test = getattr(pyfuncitem.obj, "hypothesis", None)
    owner, name = (property_test, "inner_test") if property_test else (pyfuncitem, "obj")
    function = getattr(owner, name)
    with pytest.MonkeyPatch.context() as patch:
        if inspect.iscoroutinefunction(function):
            patch.setattr(owner, name, pyfuncitem.funcargs["watched_loop"].synchronous(function))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[None]:
    function = fixturedef.func

    def fixture_function(*args: Any, **kwargs: Any) -> Iterator[Any]:
        loop, fixture = request.getfixturevalue("watched_loop"), AsyncGeneratorFixture()
        yield loop.run(fixture.enter(function(*args, **kwargs)))
        loop.run(fixture.leave())

    with pytest.MonkeyPatch.context() as patch:
        if inspect.isasyncgenfunction(function):
            patch.setattr(fixturedef, "func", fixture_function)
        elif inspect.iscoroutinefunction(function):
            patch.setattr(fixturedef, "func", request.getfixturevalue("watched_loop").synchronous(function))
        return (yield)


@pytest.fixture(autouse=True)
def watched_loop(request: pytest.FixtureRequest) -> Iterator[WatchedLoop]:
    sockets, threads, references = _open_sockets(), _lasting_threads(), _loop_references()
    marker = request.node.get_closest_marker("hangs_after")
    loop = WatchedLoop(*marker.args) if marker else WatchedLoop()
    yield loop
    left = loop.close()
    if _loop_references() > references:
        # A client in the traceback of an expected error is garbage, but keeps the loop of the next test alive.
        gc.collect()
    if _loop_references() > references and not _released(references):
        left.append("a blocking object that was not closed")
    _join_ended_loops()
    left += [f"a socket: {_describe(fd)}" for fd, _inode in _open_sockets() - sockets]
    left += [f"a thread: {thread}" for thread in _lasting_threads() - threads]
    if left:
        pytest.fail("the test left behind\n  " + "\n  ".join(left), pytrace=False)


def _open_sockets() -> set[tuple[int, int]]:
    found = set()
    for fd in map(int, os.listdir("/dev/fd")):
        with contextlib.suppress(OSError):  # the listing's own descriptor is closed by now
            status = os.fstat(fd)
            if stat.S_ISSOCK(status.st_mode):
                found.add((fd, status.st_ino))
    return found


def _describe(fd: int) -> str:
    borrowed = socket.socket(fileno=fd)
    try:
        return repr(borrowed)
    finally:
        borrowed.detach()


def _loop_references() -> int:
    """The references of blocking objects to their event loop, of which a process has one."""
    module = sys.modules.get("listwatch.blocking.runtime.background")
    return module._BACKGROUND._references if module else 0


def _released(references: int) -> bool:
    """Whether the objects that were just garbage-collected have been cleaned up, in the thread of their loop."""
    ends = time.monotonic() + RELEASED_WITHIN
    while _loop_references() > references and time.monotonic() < ends:
        time.sleep(0.01)
    return _loop_references() <= references


def _join_ended_loops() -> None:
    """Wait for the loops that a garbage-collected object has ended, which close their sockets in their own threads."""
    module = sys.modules.get("listwatch.blocking.runtime.background")
    for thread in threading.enumerate() if module else []:
        if isinstance(thread, module.LoopThread) and thread is not module._BACKGROUND._thread:
            thread.join(RELEASED_WITHIN)


def _lasting_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if not thread.daemon}
