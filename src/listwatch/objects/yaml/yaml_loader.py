"""Loads untrusted YAML: no document can overflow the stack or expand its aliases without a limit.

PyYAML's C composer recurses for each level of nesting and overflows the stack of the process at about 30,000 levels.
The loader here composes the nodes of a document from the parser's events in a loop. Imported on first use, because
PyYAML is slow to import.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError

__all__ = ["AliasExpansionError", "BoundedLoader", "NestingError", "RecursiveAliasError"]

_MAX_ALIAS_EXPANSION = 1_000_000
_LOADERS: Any = (Composer, yaml.CSafeLoader) if yaml.__with_libyaml__ else (yaml.SafeLoader,)


Event = Any
"""An event of the parser. The stubs of PyYAML have two classes of marks, that of events and that of nodes."""


class NestingError(ComposerError):
    """A document has too many levels."""


class AliasExpansionError(ComposerError):
    """The aliases of a document stand for far more data than its text."""


class RecursiveAliasError(ComposerError):
    """An alias is inside the node that it refers to; `problem_mark` is the place of that node."""


class BoundedLoader(*_LOADERS):  # type: ignore[misc]  # depends on how PyYAML was built
    """A safe loader that composes without recursion, up to a depth, with a bounded expansion of aliases."""

    max_depth = 400
    """The levels of nesting that are accepted. The functions that process the result use recursion."""
    max_nodes = sys.maxsize
    """The scalars, lists and mappings that a text may have; composing one takes several microseconds."""

    def __init__(self, text: str | bytes) -> None:
        _LOADERS[-1].__init__(self, text)
        Composer.__init__(self)
        self._nodes = self._size = 0
        self._limit = 2 * len(text) + _MAX_ALIAS_EXPANSION
        # The expanded size of each anchored node; None while the node is open.
        self._sizes: dict[yaml.Node, int | None] = {}

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        """Compose the node that the next events describe."""
        # Each open collection, its size before, and for a mapping the key whose value is next.
        stack: list[tuple[yaml.CollectionNode, int, list[yaml.Node]]] = []
        while True:
            event: Event = self.get_event()
            node: yaml.Node
            if isinstance(event, yaml.ScalarEvent):
                node = self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                node = self._aliased(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                stack.append((self._open(event, len(stack)), self._size, []))
                continue
            else:
                node, before, _ = stack.pop()
                node.end_mark = event.end_mark
                if node in self._sizes:
                    self._sizes[node] = self._size - before + 1
                self._grow(1, event)
            if not stack:
                return node
            collection, _, key = stack[-1]
            if isinstance(collection, yaml.SequenceNode):
                collection.value.append(node)
            elif key:
                collection.value.append((key.pop(), node))
            else:
                key.append(node)

    def _scalar(self, event: Event) -> yaml.ScalarNode:
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolve(yaml.ScalarNode, event.value, event.implicit)
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark, style=event.style)
        size = 1 + len(event.value)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
            self._sizes[node] = size
        self._grow(size, event)
        return node

    def _open(self, event: Event, depth: int) -> yaml.CollectionNode:
        if depth >= self.max_depth:
            raise NestingError(None, None, "exceeded max depth", event.start_mark)
        kind = yaml.SequenceNode if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingNode
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolve(kind, None, event.implicit)
        node = kind(tag, [], event.start_mark, None, flow_style=event.flow_style)
        if event.anchor is not None:
            # YAML allows to redefine an anchor, unlike PyYAML's composer.
            self.anchors[event.anchor] = node
            self._sizes[node] = None
        return node

    def _aliased(self, event: Event) -> yaml.Node:
        node: yaml.Node | None = self.anchors.get(event.anchor)
        if node is None:
            raise ComposerError(None, None, f"found undefined alias {event.anchor!r}", event.start_mark)
        size = self._sizes[node]
        if size is None:
            raise RecursiveAliasError(None, None, f"anchor {event.anchor!r} value contains itself", node.start_mark)
        self._grow(size, event)
        return node

    def _grow(self, size: int, event: Event) -> None:
        self._nodes += 1
        if self._nodes > self.max_nodes:
            raise ComposerError(None, None, f"document has more than {self.max_nodes} values", event.start_mark)
        self._size += size
        if self._size > self._limit:
            raise AliasExpansionError(None, None, "document contains excessive aliasing", event.start_mark)
