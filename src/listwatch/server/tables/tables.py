"""Tables of objects: finds the columns of a resource, and encodes objects as rows.

definition of the kind, or of the custom resource ─▶ Printer ─▶ Table of an object, of a list, or of a watch event
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

import msgspec

from listwatch.errors import BadRequestError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, Resource
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.representations import INITIAL_EVENTS_END, PARTIAL_OBJECT, TABLE
from listwatch.server.crd.definitions import CustomVersion, Definitions
from listwatch.server.json_tree import object_at, text_at
from listwatch.server.openapi.definitions import TypeDescriptions
from listwatch.server.requests import APIRequest, Query
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.tables.columns import Column, Table

__all__ = ["Printer", "Tables"]

_COLUMNS, _NO_COLUMNS = b'"columnDefinitions":%s', b"null"
_SCALE = ("autoscaling", "Scale")

# Kinds whose cells are made of another version, which has the same fields under other names.
_PRINTED_AS = {
    ("events.k8s.io", "Event"): GroupVersionKind("", "v1", "Event"),
    ("autoscaling", "HorizontalPodAutoscaler"): GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
}
_STATUS_WITHOUT_TABLE = frozenset(
    {
        "apiservices.apiregistration.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "devicetaintrules.resource.k8s.io",
        "podgroups.scheduling.k8s.io",
        "resourceclaims.resource.k8s.io",
        "resourcepoolstatusrequests.resource.k8s.io",
    }
)
_ENUM_VALUES = re.compile(r"\n+Possible enum values:.*", re.DOTALL)

Describe: TypeAlias = Callable[[str, str], TypeDescriptions]
"""Returns the descriptions of a type, named by its package and its name."""
Included = Literal["None", "Metadata", "Object"]
_INCLUDED: Mapping[str, Included] = {"": "Metadata", "None": "None", "Metadata": "Metadata", "Object": "Object"}


@dataclass(frozen=True, slots=True)
class Printer:
    """Encodes objects of one resource as Tables. Equal printers make equal Tables at one time."""

    definition: Table = field(repr=False)
    columns: bytes = field(repr=False)
    """The encoded column definitions."""
    api_version: str
    include: Included
    printed_as: GroupVersionKind | None
    now: Callable[[], datetime] = field(repr=False)

    def table(self, rows: Iterable[bytes], metadata: JSONObject) -> bytes:
        """Encode a Table of encoded rows."""
        return self._encoded(rows, metadata, self.columns)

    def object_table(self, value: bytes) -> bytes:
        """Encode the Table of one encoded object."""
        return self._object_table(value, self.columns)

    def event_table(self, value: bytes) -> bytes:
        """Encode the Table of the object of a watch event, usually without columns: only the first event has them."""
        return self._object_table(value, self.columns if self.definition.repeats_columns else _NO_COLUMNS)

    def with_columns(self, line: bytes) -> bytes:
        """Add the columns to an encoded watch event."""
        return line.replace(_COLUMNS % _NO_COLUMNS, _COLUMNS % self.columns, 1)

    def _object_table(self, value: bytes, columns: bytes) -> bytes:
        tree = msgspec.json.decode(value)
        version = text_at(tree, "metadata", "resourceVersion")
        return self._encoded([self._row(value, tree)], {"resourceVersion": version} if version else {}, columns)

    def _encoded(self, rows: Iterable[bytes], metadata: JSONObject, columns: bytes) -> bytes:
        head = msgspec.json.encode({"kind": TABLE, "apiVersion": self.api_version, "metadata": metadata})
        joined = b",".join(rows)
        shown = b"null" if not joined and self.definition.null_if_empty else b"[%s]" % joined
        return b'%s,%s,"rows":%s}' % (head[:-1], _COLUMNS % columns, shown)

    def rows(self, values: Iterable[bytes]) -> list[bytes]:
        """Encode objects as rows."""
        return [self._row(value, msgspec.json.decode(value)) for value in values]

    def ordered(self, values: Sequence[bytes]) -> Sequence[bytes]:
        """Return the objects of a list in the order of their rows."""
        order = self.definition.order
        return sorted(values, key=lambda value: order(msgspec.json.decode(value))) if order else values

    def _row(self, value: bytes, tree: JSONObject) -> bytes:
        definition = self.definition
        # A bookmark, which has no name, has no fields to convert.
        printed = convert(tree, self.printed_as) if self.printed_as and text_at(tree, "metadata", "name") else tree
        row: JSONObject = {"cells": definition.row(printed, self.now())}
        if definition.conditions and (conditions := definition.conditions(printed)):
            row["conditions"] = conditions
        encoded = msgspec.json.encode({**row, "object": None if self.include == "Object" else self._included(tree)})
        return b"%s%s}" % (encoded[: -len(b"null}")], value) if self.include == "Object" else encoded

    def _included(self, tree: JSONObject) -> JSON:
        metadata = object_at(tree, "metadata")
        if self.include == "None" and INITIAL_EVENTS_END not in object_at(metadata, "annotations"):
            return None
        return {"kind": PARTIAL_OBJECT, "apiVersion": self.api_version, "metadata": metadata}


class Tables:
    """Finds the printers of resources."""

    def __init__(
        self, registry: Registry, definitions: Definitions, describe: Describe, now: Callable[[], datetime]
    ) -> None:
        self._registry = registry
        self._definitions = definitions
        self._describe = describe
        self._now = now
        self._custom: WeakKeyDictionary[CustomVersion, dict[str, Table]] = WeakKeyDictionary()
        self._columns: WeakKeyDictionary[Table, bytes] = WeakKeyDictionary()

    def offers(self, request: APIRequest) -> bool:
        """Whether the response to a request can be a Table."""
        match request.subresource:
            case "":
                return self._registry.traits(request.resource).stored or request.verb in ("get", "list")
            case "status":
                return str(request.resource.group_resource) not in _STATUS_WITHOUT_TABLE
            case subresource:
                return subresource == "scale"

    def printer(self, request: APIRequest, api_version: str) -> Printer:
        """Return the printer for a request in a version of meta.k8s.io; raises BadRequestError."""
        resource = request.resource
        kind = _SCALE if request.subresource == "scale" else (resource.group, resource.kind)
        printed_as = _PRINTED_AS.get(kind)
        custom = self._definitions.version(resource)
        definition = self._custom_table(custom, request.subresource) if custom else _table(kind, resource)
        columns = self._columns.get(definition)
        if columns is None:
            columns = self._columns[definition] = msgspec.json.encode([*map(self._header, definition.columns)])
        return Printer(definition, columns, api_version, _included(request.query), printed_as, self._now)

    def _custom_table(self, custom: CustomVersion, subresource: str) -> Table:
        tables = self._custom.setdefault(custom, {})
        if subresource not in tables:
            tables[subresource] = _new_custom_table(custom, subresource)
        return tables[subresource]

    def _header(self, column: Column) -> JSONObject:
        return {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": self._description(column),
            "priority": column.priority,
        }

    def _description(self, column: Column) -> str:
        described = column.description
        if isinstance(described, str):
            return described
        found = self._describe(described.package, described.type).fields.get(described.field, "")
        # Schemas list the values of an enumeration, columns do not.
        return _ENUM_VALUES.sub("", found)


def _table(kind: tuple[str, str], resource: Resource) -> Table:
    # Many servers never make a Table.
    from listwatch.server.tables.custom_columns import DEFAULT_CUSTOM_TABLE
    from listwatch.server.tables.kinds import BUILTIN_TABLES, DEFAULT_TABLE

    is_built_in = builtin_schema().type_of(resource.api_version, resource.kind) is not None
    return BUILTIN_TABLES.get(kind, DEFAULT_TABLE if is_built_in else DEFAULT_CUSTOM_TABLE)


def _new_custom_table(custom: CustomVersion, subresource: str) -> Table:
    from listwatch.server.tables.custom_columns import DEFAULT_CUSTOM_TABLE, custom_table, scale_table

    if subresource == "scale":
        return scale_table(has_status=bool(custom.scale and custom.scale.status_replicas))
    return custom_table(custom.printer_columns) if custom.printer_columns else DEFAULT_CUSTOM_TABLE


def _included(query: Query) -> Included:
    requested = query.text("includeObject")
    if requested not in _INCLUDED:
        raise BadRequestError(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{requested}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return _INCLUDED[requested]
