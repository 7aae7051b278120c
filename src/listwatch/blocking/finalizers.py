"""Finalizers for programs without an event loop: `apply` and `cleanup` are plain, and called in the caller's thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from listwatch.blocking.clients import ResourceClient
from listwatch.blocking.face import spoken, waiting_function
from listwatch.blocking.waiting import finished
from listwatch.controller import finalizers
from listwatch.errors import UsageError

__all__ = ["add_finalizer", "finalize", "remove_finalizer"]

add_finalizer = waiting_function(finalizers.add_finalizer)
remove_finalizer = waiting_function(finalizers.remove_finalizer)


@wraps(finalizers.finalize)
def finalize(
    client: ResourceClient[Any],
    item: Any,
    finalizer: str,
    *,
    apply: Callable[[Any], Any],
    cleanup: Callable[[Any], Any],
) -> Any:
    for function in (apply, cleanup):
        if inspect.iscoroutinefunction(function):
            raise UsageError(f"blocking.finalize calls plain functions, and {function.__qualname__} is async")
    holding: Any = _HoldingClient(client)
    return finished(finalizers.finalize(holding, item, finalizer, apply=apply, cleanup=cleanup))


finalize.__doc__ = spoken(finalize.__doc__)


class _HoldingClient:
    """A client whose patch holds up the thread that it is called in."""

    def __init__(self, client: ResourceClient[Any]) -> None:
        self._client = client

    def namespace(self, namespace: str) -> _HoldingClient:
        return _HoldingClient(self._client.namespace(namespace))

    async def patch(self, *arguments: Any, **options: Any) -> Any:
        return self._client.patch(*arguments, **options)
