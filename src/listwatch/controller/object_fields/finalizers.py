"""Finalizers: keep an object until what was created for it outside the cluster is cleaned up.

    await finalize(widgets, widget, "example.com/bucket", apply=make_bucket, cleanup=remove_bucket)

The finalizer is added before `apply` is called, and removed only after `cleanup` has succeeded; in between, the object
cannot disappear. Both may be async or plain. `add_finalizer` and `remove_finalizer` are the two steps alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import NotFoundError, UsageError
from listwatch.objects.object import Object

__all__ = ["add_finalizer", "finalize", "has_finalizer", "is_being_deleted", "remove_finalizer"]

ObjectT = TypeVar("ObjectT", bound=Object)
R = TypeVar("R")


def is_being_deleted(item: Object) -> bool:
    """Whether the object was deleted and only its finalizers or its grace period keep it."""
    return item.metadata.deletion_timestamp is not None


def has_finalizer(item: Object, finalizer: str) -> bool:
    """Whether the object has this finalizer."""
    return finalizer in item.metadata.finalizers


@overload
async def finalize(
    client: ResourceClient[ObjectT],
    item: ObjectT,
    finalizer: str,
    *,
    apply: Callable[[ObjectT], Awaitable[R]],
    cleanup: Callable[[ObjectT], object],
) -> R | None: ...
@overload
async def finalize(
    client: ResourceClient[ObjectT],
    item: ObjectT,
    finalizer: str,
    *,
    apply: Callable[[ObjectT], R],
    cleanup: Callable[[ObjectT], object],
) -> R | None: ...
async def finalize(
    client: ResourceClient[ObjectT],
    item: ObjectT,
    finalizer: str,
    *,
    apply: Callable[[ObjectT], R | Awaitable[R]],
    cleanup: Callable[[ObjectT], object],
) -> R | None:
    """Add the finalizer and call `apply`; or, if the object is being deleted, call `cleanup` and remove the finalizer.

    Both functions receive the current object. Returns what `apply` returned; None for an object that is being deleted.
    An object that is being deleted and does not have this finalizer is ignored.
    """
    if not is_being_deleted(item):
        return await _called(apply, await add_finalizer(client, item, finalizer))
    if has_finalizer(item, finalizer):
        await _called(cleanup, item)
        await remove_finalizer(client, item, finalizer)
    return None


async def add_finalizer(client: ResourceClient[ObjectT], item: ObjectT, finalizer: str) -> ObjectT:
    """Add the finalizer, and return the object; raises ConflictError if it was changed since it was read."""
    _check(finalizer)
    if has_finalizer(item, finalizer):
        return item
    if is_being_deleted(item):
        raise UsageError(f"{item.describe()} is being deleted: no finalizer can be added")
    return await _write(client, item, [*item.metadata.finalizers, finalizer])


async def remove_finalizer(client: ResourceClient[ObjectT], item: ObjectT, finalizer: str) -> None:
    """Remove the finalizer, if the object has it; raises ConflictError if the object was changed since it was read."""
    if not has_finalizer(item, finalizer):
        return
    try:
        await _write(client, item, [each for each in item.metadata.finalizers if each != finalizer])
    except NotFoundError:
        return


async def _write(client: ResourceClient[ObjectT], item: ObjectT, finalizers: list[str]) -> ObjectT:
    # With the resourceVersion: a merge patch replaces the list, and must not undo concurrent changes of it.
    change = {"metadata": {"resourceVersion": item.resource_version, "uid": item.uid, "finalizers": finalizers}}
    return await client.namespace(item.namespace).patch(item.name, change, type="merge")


def _check(finalizer: str) -> None:
    domain, slash, name = finalizer.partition("/")
    if not (domain and slash and name):
        raise UsageError(f"{finalizer!r} is not a valid finalizer: expected 'your.domain/name'")


async def _called(function: Callable[[ObjectT], R | Awaitable[R]], item: ObjectT) -> R:
    result = function(item)
    return await result if isinstance(result, Awaitable) else result
