"""Calls of plain functions in daemon threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context

__all__ = ["call_in_thread"]


async def call_in_thread(
    function: Callable[..., object],
    *arguments: object,
    name: str,
    on_start: Callable[[threading.Thread], object],
    on_end: Callable[[threading.Thread], object],
) -> object:
    """Call the function with this task's context in a daemon thread, for which the interpreter does not wait.

    A cancelled call continues in its thread. `on_end` is called there, when the function has returned.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()
    context = copy_context()

    def finish(result: object, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(function, *arguments)
        except BaseException as raised:  # noqa: BLE001  # raised in the awaiting task
            error = raised
        on_end(thread)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(finish, result, error)

    thread = threading.Thread(target=run, name=name, daemon=True)
    on_start(thread)
    thread.start()
    result, error = await done
    if error is not None:
        raise error
    return result
