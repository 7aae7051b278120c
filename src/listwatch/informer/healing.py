"""Reads damaged objects of a store again.

    access fails ──▶ reported ──▶ GET ──▶ same version, intact ──▶ stored, handlers are notified
                                   ├────▶ another version, or deleted: received by the watch, or else by a relist
                                   └────▶ the copy of the server is damaged too: kept, not read again

Only the head of a large object is decoded when it arrives, so damage of the rest is found when a part is accessed, in
any thread. Each version of an object is reported and read once. A source that cannot read single objects is relisted,
and so is one with many damaged objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from listwatch.clock import Clock
from listwatch.errors import (
    DecodeError,
    ForbiddenError,
    ListWatchError,
    MethodNotAllowedError,
    NotFoundError,
    UnauthorizedError,
)
from listwatch.informer.reflector.lister_watcher import ReadObject
from listwatch.keyed import Cached, LazilyDecoded, describe, lazily_decoded, namespace_in
from listwatch.wording import counted

__all__ = ["HealedSource", "Healer"]

T = TypeVar("T", bound=Cached)

_INTERVAL = 0.2
"""Seconds between two reads."""
_MANY = 20
"""With more damaged objects, one relist takes less than reading each of them."""
_MIN_RELIST_INTERVAL = 60.0
_CHANGE_TIMEOUT = 10.0
"""Seconds in which the watch has to receive the change of an object that has another version on the server."""
_READ_TIMEOUT = 30.0
_MAX_ATTEMPTS = 5
_MAX_REMEMBERED = 1000


class HealedSource(Protocol[T]):
    """One source of an informer: a `SourcePipeline`."""

    @property
    def scope(self) -> str | None: ...
    @property
    def read_object(self) -> ReadObject[T] | None: ...
    def replace_damaged(self, item: T) -> None: ...
    def relist(self, reason: ListWatchError) -> None: ...


class Healer(Generic[T]):
    """Reads the damaged objects of one informer again. `report` receives an error for each version of an object."""

    def __init__(
        self,
        kind: type[T],
        stored: Callable[[str], T | None],
        sources: Sequence[HealedSource[T]],
        *,
        clock: Clock,
        report: Callable[[ListWatchError], None],
        packed: bool = False,
    ) -> None:
        """`packed` if the store does not hold instances, so that those of damaged objects have to be held here."""
        self._kind = kind
        self._lazy = lazily_decoded(kind)
        self._stored = stored
        self._sources = sources
        self._clock = clock
        self._report = report
        self.damaged: MutableMapping[str, T] = {} if packed else WeakValueDictionary()
        """The damaged objects that were found, by key. An object that replaces one of them differs from it."""
        self._checking: set[str] = set()
        self._reported: dict[str, str] = {}  # the versions of damaged objects, by key
        self._pending: dict[str, T] = {}
        self._outdated: dict[str, T] = {}
        self._attempts = 0
        self._unreadable: set[int] = set()  # indexes of the sources whose objects cannot be read one by one
        self._relisted: dict[int, float] = {}  # when each source was relisted
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Heal the store until cancelled. Only lazily decoded objects can be damaged in the store."""
        if self._lazy is None:
            return
        self._loop = asyncio.get_running_loop()
        with self._lazy._observed_damage(self._on_damage):
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._pending or self._outdated:
                    if self._pending:
                        await self._heal_next()
                        await self._clock.sleep(_INTERVAL)
                    else:
                        await self._clock.sleep(_CHANGE_TIMEOUT)
                        self._check_outdated()

    # --- detection -----------------------------------------------------------------------------------------------

    def _on_damage(self, item: object, error: DecodeError) -> None:
        # In any thread. A damaged object may be accessed in a loop, so this is cheap once it is known.
        if not isinstance(item, self._kind) or self._loop is None:
            return
        key = item.cache_key
        if key in self._checking or self._reported.get(key) == item.resource_version:
            return
        self._checking.add(key)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._check, key, item, error)

    def _check(self, key: str, item: T, error: DecodeError) -> None:
        self._checking.discard(key)
        stored = self._stored(key)
        if stored is None or not _lazy(stored)._shares_bytes_with(_lazy(item)):
            return  # an object from elsewhere, or it was replaced meanwhile
        if self._reported.get(key) == stored.resource_version:
            return
        self._forget_replaced()
        self._release_replaced()
        self._reported[key] = stored.resource_version
        self.damaged[key] = self._pending[key] = stored
        reason = f"{error.message}; the object is read again from the server"
        self._report(DecodeError(reason, object_name=error.object_name, field=error.field))
        self._wake.set()

    def _forget_replaced(self) -> None:
        if len(self._reported) >= _MAX_REMEMBERED:
            for key, version in list(self._reported.items()):
                if (stored := self._stored(key)) is None or stored.resource_version != version:
                    del self._reported[key]

    def _release_replaced(self) -> None:
        for key, item in list(self.damaged.items()):
            if self._stored(key) is not item:
                self.damaged.pop(key, None)

    # --- reading again -------------------------------------------------------------------------------------------

    async def _heal_next(self) -> None:
        if len(self._pending) > _MANY:
            damaged, self._pending = self._pending, {}
            self._relist(damaged, f"{len(damaged)} objects are damaged")
            return
        key = next(iter(self._pending))
        item = self._pending.pop(key)
        if self._stored(key) is not item:
            return  # it was replaced meanwhile
        index = self._source_of(item)
        read = None if index in self._unreadable else self._sources[index].read_object
        if read is None:
            self._relist({key: item}, f"{describe(item)} is damaged")
            return
        try:
            async with asyncio.timeout(_READ_TIMEOUT):
                fresh = await read(namespace_in(key), key.rpartition("/")[2])
        except NotFoundError:
            self._outdated[key] = item
        except (ForbiddenError, UnauthorizedError, MethodNotAllowedError) as error:
            self._unreadable.add(index)
            self._relist({key: item}, f"{describe(item)} is damaged and cannot be read: {error}")
        except DecodeError:
            pass  # the copy of the server is damaged as well
        except Exception as error:  # noqa: BLE001  # a source may raise anything
            await self._retry(key, item, error)
        else:
            self._attempts = 0
            self._replace(key, item, fresh)

    def _replace(self, key: str, item: T, fresh: T) -> None:
        if fresh.resource_version != item.resource_version:
            self._outdated[key] = item
        elif self._stored(key) is item and _lazy(fresh)._damaged_parts() < _lazy(item)._damaged_parts():
            self._sources[self._source_of(item)].replace_damaged(fresh)

    async def _retry(self, key: str, item: T, error: Exception) -> None:
        self._attempts += 1
        if self._attempts >= _MAX_ATTEMPTS:
            self._attempts = 0
            self._relist({key: item}, f"{describe(item)} is damaged and cannot be read: {error}")
            return
        self._pending[key] = item
        await self._clock.sleep(2.0**self._attempts)

    def _check_outdated(self) -> None:
        outdated, self._outdated = self._outdated, {}
        remaining = {key: item for key, item in outdated.items() if self._stored(key) is item}
        if remaining:
            self._relist(
                remaining, f"the watch has not received the changes of {counted(len(remaining), 'damaged object')}"
            )

    def _relist(self, damaged: Mapping[str, T], reason: str) -> None:
        now = self._clock.monotonic()
        for key, item in damaged.items():
            index = self._source_of(item)
            if (last := self._relisted.get(index)) is None or now - last >= _MIN_RELIST_INTERVAL:
                self._relisted[index] = last = now
                self._sources[index].relist(DecodeError(f"{reason}; everything is listed again"))
            if last != now:
                self._outdated[key] = item  # it is checked again later

    def _source_of(self, item: T) -> int:
        scopes = [each.scope for each in self._sources]
        namespace = namespace_in(item.cache_key)
        return scopes.index(namespace) if namespace in scopes else 0


def _lazy(item: Cached) -> LazilyDecoded:
    return cast("LazilyDecoded", item)  # of the kind of the informer, which was checked
