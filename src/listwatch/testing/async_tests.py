"""Runs an async test and its async fixtures in one event loop, for tests that no other plugin runs."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, Never, TypeVar

import pytest

__all__ = ["AsyncTestRunner"]

T = TypeVar("T")


class AsyncTestRunner:
    """The event loop of one test and its async fixtures, created when async code first runs."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, coroutine: Coroutine[object, Never, T]) -> T:
        return self._runner.run(coroutine)

    def close(self) -> None:
        """Cancel the remaining tasks and close the loop."""
        self._runner.close()

    def synchronous(self, function: Callable[..., Coroutine[object, Never, T]]) -> Callable[..., T]:
        """Return a plain function that runs a coroutine function in this loop."""

        @functools.wraps(function)
        def run(*args: object, **kwargs: object) -> T:
            return self.run(function(*args, **kwargs))

        return run

    def synchronous_fixture(self, function: Callable[..., Any], instance: object) -> Callable[..., object]:
        """Return a plain fixture function for an async one; `instance` is that of the class of the test, if any."""
        if inspect.ismethod(function) and type(function.__self__) is type(instance):
            function = function.__func__.__get__(instance)  # pytest does so for plain fixtures
        if not inspect.isasyncgenfunction(function):
            return self.synchronous(function)

        def generate(**kwargs: object) -> Iterator[object]:
            fixture = _GeneratorFixture(function(**kwargs), function.__name__)
            yield self.run(fixture.enter())
            self.run(fixture.leave())

        return generate


class _GeneratorFixture:
    """An async generator that one task enters and leaves, as task groups and timeouts require."""

    def __init__(self, generator: AsyncGenerator[object, None], name: str) -> None:
        self._generator = generator
        self._name = name

    async def enter(self) -> object:
        self._leaving = asyncio.Event()
        entered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(entered), name=f"fixture {self._name}")
        await asyncio.wait({entered, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not entered.done():
            self._task.result()
            pytest.fail(f"the async fixture {self._name!r} did not yield a value", pytrace=False)
        return entered.result()

    async def leave(self) -> None:
        self._leaving.set()
        await self._task

    async def _hold(self, entered: asyncio.Future[Any]) -> None:
        async for value in self._generator:
            if entered.done():
                pytest.fail(f"the async fixture {self._name!r} yielded more than once", pytrace=False)
            entered.set_result(value)
            await self._leaving.wait()
