"""What a factory returns: a handle on a shared informer, and the handles of a group-version by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from listwatch._exports import unknown_attribute
from listwatch.cache.lister import Lister
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.keyed import Cached
from listwatch.models import attributes_of
from listwatch.objects.object import Object
from listwatch.tasks.callers import SelfWaitError

__all__ = ["InformerGroup", "InformerHandle"]

T = TypeVar("T", bound=Cached)


class InformerHandle(Generic[T]):
    """One user's handle on a shared informer. The informer stops when all of its handles are released."""

    def __init__(self, informer: SharedIndexInformer[T], release: Callable[[], Awaitable[None]]) -> None:
        self._release = release
        self.is_released = False
        self.informer = informer

    def __repr__(self) -> str:
        return f"<InformerHandle, {'released' if self.is_released else 'in use'}, on {self.informer!r}>"

    @property
    def lister(self) -> Lister[T]:
        """The cached objects, by name, namespace and selector."""
        return self.informer.lister

    async def release(self) -> None:
        """Release this handle; releasing the last one stops the informer."""
        if not self.is_released:
            self.is_released = True
            try:
                await self._release()
            except SelfWaitError:
                self.is_released = False
                raise


class InformerGroup:
    """The resources of one group-version, as `factory.core_v1`. The subclasses in `typed_groups.py` declare them."""

    def __init__(self, name: str, find: Callable[[str], InformerHandle[Object]]) -> None:
        self._name = name
        self._find = find

    def __repr__(self) -> str:
        return f"<informers of {self._name}>"

    if not TYPE_CHECKING:  # the subclasses declare the attributes

        def __getattr__(self, plural):
            if plural not in type(self).__annotations__:
                elsewhere = attributes_of(plural)
                raise unknown_attribute(f"the factory's {self._name}", plural, self.__dir__(), elsewhere=elsewhere)
            return self._find(f"{self._name}.{plural}")

        def __dir__(self):
            return sorted(type(self).__annotations__)
