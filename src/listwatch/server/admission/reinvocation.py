"""Which policies or webhooks are invoked again, because the object has changed after they have seen it."""

from __future__ import annotations

from collections.abc import Hashable

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import same

__all__ = ["Reinvocation"]


class Reinvocation:
    """The invocations of one plugin for one write, in the first round and in the second one.

    The plugins run a second time if a policy or webhook has changed the object. In that round, only those with the
    reinvocation policy `IfNeeded` are invoked, and only if the object was changed after them.
    """

    def __init__(self) -> None:
        self._is_second = False
        self._last: JSONObject | None = None
        self._invoked: set[Hashable] = set()
        self._due: set[Hashable] = set()
        self.has_changed = False
        """Whether the plugin has changed the object."""

    def start_second(self, new: JSONObject) -> None:
        """Start the second round, with the object as other plugins have changed it."""
        self._is_second = True
        if self._last is None or not same(self._last, new):
            self.require()

    def end(self, new: JSONObject) -> None:
        """End a round with this object."""
        self._last = new

    @property
    def round_(self) -> int:
        return int(self._is_second)

    def is_due(self, key: Hashable) -> bool:
        return not self._is_second or key in self._due

    def add(self, key: Hashable, *, changed: bool, if_needed: bool) -> None:
        """Record an invocation, and whether it has changed the object."""
        if changed:
            self.has_changed = True
            self.require()
        if if_needed:
            self._invoked.add(key)

    def require(self) -> None:
        """Let all that were invoked so far be invoked again in the second round."""
        self._due |= self._invoked
        self._invoked = set()
