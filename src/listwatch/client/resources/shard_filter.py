"""Keeps only the objects that a shard selector selects, whether or not the server has evaluated it.

Most servers ignore the parameter `shardSelector`. Those that evaluate it confirm that in `metadata.shardInfo` of a
list, but not in a watch, and some versions do not filter all watches. So each event is checked here.
"""

from __future__ import annotations

from typing import TypeVar

from listwatch.api.shard_selector import ShardSelector
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList

__all__ = ["ShardFilter"]

T = TypeVar("T", bound=Object)


class ShardFilter:
    """The filter of one selector; raises SelectorError for a malformed one."""

    def __init__(self, selector: str) -> None:
        self._selector = ShardSelector.parse(selector)
        self._by_uid = self._selector.field == "uid"

    def is_confirmed_by(self, listed: ObjectList[T]) -> bool:
        """Whether the server has evaluated the selector."""
        info = listed.metadata.shard_info
        return info is not None and info.selector == str(self._selector)

    def apply(self, listed: ObjectList[T]) -> ObjectList[T]:
        """Remove the other objects from a list, if the server has not done that."""
        if not self.is_confirmed_by(listed):
            listed.items = [item for item in listed.items if self.selects(item)]
        return listed

    def selects(self, item: Object) -> bool:
        return self._selector.matches(item.uid if self._by_uid else item.namespace)
