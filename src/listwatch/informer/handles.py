"""What a factory hands out: a hold on an informer that others may share. `factory.py` keeps count."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from listwatch.cache.lister import Lister
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.objects.object import Object

__all__ = ["InformerGroup", "InformerHandle"]

T = TypeVar("T", bound=Object)


class InformerHandle(Generic[T]):
    """One user's hold on a shared informer, which stops when nobody holds it any more."""

    def __init__(self, informer: SharedIndexInformer[T], let_go: Callable[[], Awaitable[None]]) -> None:
        self._let_go = let_go
        self.is_released = False
        self.informer = informer

    def __repr__(self) -> str:
        return f"<InformerHandle, {'released' if self.is_released else 'held'}, on {self.informer!r}>"

    @property
    def lister(self) -> Lister[T]:
        return self.informer.lister

    async def release(self) -> None:
        """Let go; the last one to do so stops the informer."""
        if not self.is_released:
            self.is_released = True
            await self._let_go()


class InformerGroup:
    """The resources of one group-version, as `factory.core_v1`. `typed_groups.py` tells type checkers about them."""

    def __init__(self, name: str, find: Callable[[str], InformerHandle[Any]]) -> None:
        self._name = name
        self._find = find

    if not TYPE_CHECKING:  # checkers know what is there, and that nothing else is

        def __getattr__(self, plural):
            if plural.startswith("_"):
                raise AttributeError(plural)
            return self._find(f"{self._name}.{plural}")
