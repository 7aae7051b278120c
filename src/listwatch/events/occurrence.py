"""What happened, to what, when: the values that `correlation.py` counts and `event_bodies.py` writes down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from listwatch.errors import UsageError

__all__ = ["EventType", "Occurrence", "Reference", "Source", "reference_to"]

EventType = Literal["Normal", "Warning"]

_WIRE_NAMES = {
    "apiVersion": "api_version",
    "kind": "kind",
    "namespace": "namespace",
    "name": "name",
    "uid": "uid",
    "resourceVersion": "resource_version",
    "fieldPath": "field_path",
}


class Source(NamedTuple):
    """Who tells: a program, and the one of its replicas that it is."""

    component: str
    instance: str


class Reference(NamedTuple):
    """Which object is meant, and optionally which part of it."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What stays the same while the object changes."""
        return (self.api_version, self.kind, self.namespace, self.name, self.uid, self.field_path)

    @property
    def home(self) -> str:
        """The namespace of events about it."""
        return self.namespace or "default"

    def tree(self) -> dict[str, str]:
        return {wire: value for wire, value in zip(_WIRE_NAMES, self, strict=True) if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """Something that happened to an object; `name` is that of the event, if it becomes one."""

    name: str
    regarding: Reference
    type: EventType
    reason: str
    message: str
    at: datetime
    action: str = ""
    related: Reference | None = None
    annotations: Mapping[str, str] | None = None


def reference_to(obj: Any) -> Reference:
    """The reference to an object, to what an ObjectReference names, or to a manifest's object."""
    if isinstance(obj, Reference):
        return obj
    if isinstance(obj, Mapping):
        found = {**obj, **(obj.get("metadata") or {})}
        reference = Reference(*(str(found.get(wire) or "") for wire in _WIRE_NAMES))
    else:
        reference = Reference(*(str(getattr(obj, name, None) or "") for name in _WIRE_NAMES.values()))
    if not (reference.kind and reference.name):
        raise UsageError(
            f"no event can be recorded about {obj!r}: its kind and its name must be known; "
            "give an object, an ObjectReference or a manifest"
        )
    return reference
