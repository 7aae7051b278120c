"""Calls the functions of webhooks: plain ones in threads, async ones in the event loop, each within a timeout."""

from __future__ import annotations

import asyncio
import inspect
import threading
from http import HTTPStatus

from listwatch.clock import Clock, time_limit
from listwatch.tasks.cancellation import is_being_cancelled
from listwatch.tasks.thread_calls import call_in_thread
from listwatch.webhooks.hooks import FunctionForm
from listwatch.webhooks.reviews.review_errors import ReviewError

__all__ = ["FunctionCalls"]


class FunctionCalls:
    """Counts the threads of functions, since a function that hangs cannot be stopped."""

    def __init__(self, clock: Clock, *, max_threads: int) -> None:
        self._clock = clock
        self._max_threads = max_threads
        self._threads: set[threading.Thread] = set()

    @property
    def threads(self) -> int:
        """The number of functions that run in threads, including those that exceeded their timeout."""
        return len(self._threads)

    async def call(self, form: FunctionForm, *arguments: object, timeout: float) -> object:
        """Call a function; raises what it raises, and ReviewError after the timeout."""
        try:
            async with time_limit(self._clock, timeout):
                try:
                    return await self._call(form, arguments[: form.arguments])
                except TimeoutError as error:
                    own = error  # of a request that the function has sent, for example
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            # Outside of this task, it would stop the event loop.
            raise RuntimeError(f"{form.name} raised {type(error).__name__}") from error
        except TimeoutError:
            raise ReviewError(
                f"{form.name} did not end within {timeout:g} s", status=HTTPStatus.GATEWAY_TIMEOUT
            ) from None
        raise own

    async def _call(self, form: FunctionForm, arguments: tuple[object, ...]) -> object:
        if form.is_async:
            result = form.function(*arguments)
        elif len(self._threads) >= self._max_threads:
            raise ReviewError(
                f"{len(self._threads)} functions of webhooks are still running",
                status=HTTPStatus.SERVICE_UNAVAILABLE,
            )
        else:
            result = await call_in_thread(
                form.function,
                *arguments,
                name=f"webhook {form.name}",
                on_start=self._threads.add,
                on_end=self._threads.discard,
            )
        if not inspect.isawaitable(result):
            return result
        try:
            return await result
        except asyncio.CancelledError:
            if is_being_cancelled():
                raise
            raise RuntimeError(f"{form.name} awaited something that was cancelled") from None
