"""Finalizers in blocking programs: `apply` and `cleanup` are plain functions and run in the caller's thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.blocking.runtime.functions import finish
from listwatch.controller.object_fields.finalizers import finalize as async_finalize
from listwatch.errors import UsageError
from listwatch.objects.object import Object

__all__ = ["finalize"]

T = TypeVar("T", bound=Object)
R = TypeVar("R")


def finalize(
    client: BlockingObject, item: T, finalizer: str, *, apply: Callable[[T], R], cleanup: Callable[[T], object]
) -> R | None:
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

    async def patch(self, *arguments: object, **options: object) -> object:
        return self._client.patch(*arguments, **options)
