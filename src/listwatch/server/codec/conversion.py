"""One object, several versions: it is stored in one of them and read and written in any.

Most kinds look the same in all their versions, and only their apiVersion is written anew. Where the shapes differ a
converter is entered in a table: `autoscaler_conversion` holds the larger ones, and others may register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.meta import GroupVersionKind
from listwatch.server.codec.autoscaler_conversion import autoscaler_to_v1, autoscaler_to_v2
from listwatch.server.json_tree import Tree

__all__ = ["ConversionTable", "Converter", "convert"]

Converter = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes the fields of one version of those of another, and changes nothing in place; apiVersion and kind come later."""

_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_REPORTER = ("reportingComponent", "reportingInstance")


class ConversionTable:
    """How to get from one kind to another; who finds no entry has nothing to do but to write the new apiVersion."""

    def __init__(self) -> None:
        self._converters: dict[tuple[GroupVersionKind, GroupVersionKind], Converter] = {}

    def register(self, origin: GroupVersionKind, target: GroupVersionKind, converter: Converter) -> None:
        self._converters[origin, target] = converter

    def convert(self, tree: dict[str, Any], target: GroupVersionKind) -> dict[str, Any]:
        """The object as the target kind; the tree itself if it is that already, else a new one that may share parts."""
        if tree["apiVersion"] == target.api_version and tree["kind"] == target.kind:
            return tree
        origin = GroupVersionKind.of(tree["apiVersion"], tree["kind"])
        converter = self._converters.get((origin, target))
        found = converter(tree) if converter else tree
        return {**found, "kind": target.kind, "apiVersion": target.api_version}


def builtin_conversions() -> ConversionTable:
    """A table with what the built-in kinds need."""
    table = ConversionTable()
    event, newer_event = (GroupVersionKind(group, "v1", "Event") for group in ("", "events.k8s.io"))
    table.register(event, newer_event, _event_to_newer)
    table.register(newer_event, event, _event_to_older)
    v1, v2 = (GroupVersionKind("autoscaling", version, "HorizontalPodAutoscaler") for version in ("v1", "v2"))
    table.register(v1, v2, autoscaler_to_v2)
    table.register(v2, v1, autoscaler_to_v1)
    return table


def convert(tree: Tree, target: GroupVersionKind) -> Tree:
    """A built-in object, or one whose versions look the same, as the target kind."""
    return _BUILTIN.convert(tree, target)


def _event_to_newer(event: dict[str, Any]) -> dict[str, Any]:
    # The newer version does not write these two when they are empty, the older one does.
    found = {name: value for name, value in event.items() if value or name not in _REPORTER}
    return {_EVENT_FIELDS.get(name, name): value for name, value in found.items()}


def _event_to_older(event: dict[str, Any]) -> dict[str, Any]:
    names = {newer: older for older, newer in _EVENT_FIELDS.items()}
    return dict.fromkeys(_REPORTER, "") | {names.get(name, name): value for name, value in event.items()}


_BUILTIN = builtin_conversions()
