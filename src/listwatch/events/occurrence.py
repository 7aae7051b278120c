"""An occurrence to record as an event: what happened, to which object, when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from listwatch.errors import UsageError

__all__ = ["EventType", "Occurrence", "Reference", "Source", "reference_to"]

EventType = Literal["Normal", "Warning"]
"""The type of a Kubernetes event."""

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
    """The program that records events, and its replica."""

    component: str
    instance: str


class Reference(NamedTuple):
    """A reference to an object, and optionally to a part of it."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """All but the resource version."""
        return (self.api_version, self.kind, self.namespace, self.name, self.uid, self.field_path)

    @property
    def event_namespace(self) -> str:
        """The namespace of events about the object."""
        return self.namespace or "default"

    def tree(self) -> dict[str, str]:
        return {wire: value for wire, value in zip(_WIRE_NAMES, self, strict=True) if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """Something that happened to an object; `name` is the name of its event."""

    name: str
    regarding: Reference
    type: EventType
    reason: str
    message: str
    at: datetime
    action: str = ""
    related: Reference | None = None
    annotations: Mapping[str, str] | None = None


def reference_to(obj: object) -> Reference:
    """The reference to an object, an ObjectReference, or a manifest."""
    if isinstance(obj, Reference):
        return obj
    if isinstance(obj, Mapping):
        found = {**obj, **(obj.get("metadata") or {})}
        reference = Reference(*(str(found.get(wire) or "") for wire in _WIRE_NAMES))
    else:
        reference = Reference(*(str(getattr(obj, name, None) or "") for name in _WIRE_NAMES.values()))
    if not (reference.kind and reference.name):
        raise UsageError(
            f"cannot record an event about {obj!r}, which has no kind or no name: "
            "pass an object, an ObjectReference or a manifest"
        )
    return reference
