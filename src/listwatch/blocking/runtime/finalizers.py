"""Finalizers in blocking programs: `apply` and `cleanup` are plain functions and run in the caller's thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from listwatch.blocking.runtime.functions import finish
from listwatch.controller.finalizers import finalize as async_finalize
from listwatch.errors import UsageError

__all__ = ["finalize"]


def finalize(
    client: Any, item: Any, finalizer: str, *, apply: Callable[[Any], Any], cleanup: Callable[[Any], Any]
) -> Any:
    """Call `apply` or `cleanup` in this thread."""
    for function in (apply, cleanup):
        if inspect.iscoroutinefunction(function):
            raise UsageError(f"blocking.finalize calls plain functions; {function.__qualname__} is async")
    in_this_thread: Any = _AwaitableClient(client)
    return finish(async_finalize(in_this_thread, item, finalizer, apply=apply, cleanup=cleanup))


class _AwaitableClient:
    """A blocking client for asynchronous code that runs in the caller's thread."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def namespace(self, namespace: str) -> _AwaitableClient:
        return _AwaitableClient(self._client.namespace(namespace))

    async def patch(self, *arguments: Any, **options: Any) -> Any:
        return self._client.patch(*arguments, **options)
