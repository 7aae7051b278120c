"""Holds an object until what was made for it outside of the cluster is cleaned up.

    await finalize(widgets, widget, "example.com/bucket", apply=make_bucket, cleanup=remove_bucket)

The finalizer is there before `apply` does anything, and goes only after `cleanup` has succeeded; between the two, the
object cannot vanish. Both may be async or plain. `add_finalizer` and `remove_finalizer` are the two steps alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import NotFoundError, UsageError
from listwatch.objects.object import Object

__all__ = ["add_finalizer", "finalize", "has_finalizer", "is_being_deleted", "remove_finalizer"]

T = TypeVar("T", bound=Object)


def is_being_deleted(item: Object) -> bool:
    """Whether somebody asked for its end, and only finalizers or its grace period still hold it."""
    return item.metadata.deletion_timestamp is not None


def has_finalizer(item: Object, finalizer: str) -> bool:
    return finalizer in item.metadata.finalizers


async def finalize(
    client: ResourceClient[T],
    item: T,
    finalizer: str,
    *,
    apply: Callable[[T], Any],
    cleanup: Callable[[T], Any],
) -> Any:
    """Call `apply` with an object that has the finalizer, or `cleanup` with one that is to go; what `apply` returns.

    An object that is to go and has no finalizer of ours is left alone: others hold it.
    """
    if not is_being_deleted(item):
        return await _called(apply, await add_finalizer(client, item, finalizer))
    if has_finalizer(item, finalizer):
        await _called(cleanup, item)
        await remove_finalizer(client, item, finalizer)
    return None


async def add_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> T:
    """The object with this finalizer; ConflictError if it was changed since it was read."""
    _check(finalizer)
    if has_finalizer(item, finalizer):
        return item
    if is_being_deleted(item):
        raise UsageError(f"{item.describe()} is being deleted: nothing can hold it any more")
    return await _write(client, item, [*item.metadata.finalizers, finalizer])


async def remove_finalizer(client: ResourceClient[T], item: T, finalizer: str) -> None:
    """Let the object go; ConflictError if it was changed since it was read. One that is gone already is fine."""
    if not has_finalizer(item, finalizer):
        return
    try:
        await _write(client, item, [each for each in item.metadata.finalizers if each != finalizer])
    except NotFoundError:
        return


async def _write(client: ResourceClient[T], item: T, finalizers: list[str]) -> T:
    # With its version: somebody else's finalizer must not be taken away, nor put back.
    change = {"metadata": {"resourceVersion": item.resource_version, "uid": item.uid, "finalizers": finalizers}}
    return await client.namespace(item.namespace).patch(item.name, change, type="merge")


def _check(finalizer: str) -> None:
    domain, slash, name = finalizer.partition("/")
    if not (domain and slash and name):
        raise UsageError(f"{finalizer!r} is no name for a finalizer: expected 'your.domain/name'")


async def _called(function: Callable[[T], Any], item: T) -> Any:
    answer = function(item)
    return await answer if inspect.isawaitable(answer) else answer
