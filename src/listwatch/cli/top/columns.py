"""The columns of a live table, by the resource: what a cell shows, and what its column is sorted by.

A cell is read from the bytes of an object, so that an object which is only shown needs no more memory afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from listwatch.cli.output import age_of
from listwatch.errors import DecodeError
from listwatch.meta import Resource
from listwatch.objects.object import Object

__all__ = ["Column", "Row", "SortValue", "columns_for"]

SortValue = str | float
"""What a column is sorted by: the values of one column are all texts or all numbers."""

S = TypeVar("S", bound=msgspec.Struct)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_GOOD = frozenset({"Running", "Ready", "Active", "Bound", "Succeeded", "Complete", "Completed", "Available", "True"})
_WAITING = frozenset({"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Progressing", "Scheduled", ""})


@dataclass(frozen=True, slots=True)
class Row:
    """One object, and how often it changed since the table was opened."""

    item: Object
    changes: int
    changed_at: float | None
    """When it last changed, by the monotonic clock; None if it did not change."""
    now: datetime
    monotonic: float
    """The same moment as `now`, by the monotonic clock."""
    memo: dict[type[msgspec.Struct], msgspec.Struct] = field(default_factory=dict)
    """The parts of the object that were read already; a table keeps them for the visible rows."""


@dataclass(frozen=True, slots=True)
class Column:
    """A title, the text of a cell, and the value to sort by; without `sort` it is sorted by the text."""

    title: str
    text: Callable[[Row], str]
    sort: Callable[[Row], SortValue] | None = None
    style: Callable[[str], str] = lambda _: ""
    align: Literal["left", "right"] = "left"
    largest_first: bool = False
    """Whether `sort` orders the shown values from the largest to the smallest."""

    def sort_value(self, row: Row) -> SortValue:
        return self.text(row) if self.sort is None else self.sort(row)


# --- Reading parts of an object ---------------------------------------------------------------------------------------


class _Reason(msgspec.Struct):
    reason: str = ""


class _State(msgspec.Struct):
    waiting: _Reason | None = None
    terminated: _Reason | None = None


class _Container(msgspec.Struct, rename="camel"):
    ready: bool = False
    restart_count: int = 0
    state: _State = msgspec.field(default_factory=_State)


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _NodeInfo(msgspec.Struct, rename="camel"):
    kubelet_version: str = ""


class _Status(msgspec.Struct, rename="camel"):
    """The fields of a status that any of the columns shows."""

    phase: str = ""
    reason: str = ""
    conditions: list[_Condition] = msgspec.field(default_factory=list)
    container_statuses: list[_Container] = msgspec.field(default_factory=list)
    ready_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    succeeded: int = 0
    node_info: _NodeInfo = msgspec.field(default_factory=_NodeInfo)


class _Spec(msgspec.Struct, rename="camel"):
    """The fields of a spec that any of the columns shows."""

    node_name: str = ""
    replicas: int | None = None
    completions: int | None = None
    unschedulable: bool = False


class _Containers(msgspec.Struct):
    containers: list[msgspec.Raw] = msgspec.field(default_factory=list)


class _Metadata(msgspec.Struct, rename="camel"):
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


_DECODERS: dict[type[msgspec.Struct], msgspec.json.Decoder[msgspec.Struct]] = {
    each: msgspec.json.Decoder(each) for each in (_Status, _Spec, _Containers, _Metadata)
}
_WIRE_NAMES = {_Status: "status", _Spec: "spec", _Containers: "spec", _Metadata: "metadata"}


def _read(row: Row, kind: type[S]) -> S:
    """Read a part of an object. What has another type than in built-in kinds counts as missing."""
    found = row.memo.get(kind)
    if found is None:
        try:
            part = row.item.peek(_WIRE_NAMES[kind])
            found = _DECODERS[kind].decode(part) if isinstance(part, msgspec.Raw) else kind()
        except (DecodeError, msgspec.DecodeError):
            found = kind()
        row.memo[kind] = found
    assert isinstance(found, kind)
    return found


# --- Cells ------------------------------------------------------------------------------------------------------------


def _created(row: Row) -> str:
    return _read(row, _Metadata).creation_timestamp or ""


def _age(row: Row) -> str:
    return age_of(_created(row), row.now)


def _newest_first(row: Row) -> float:
    try:
        return -datetime.fromisoformat(_created(row)).timestamp()
    except ValueError:
        return 0.0


def _changed(row: Row) -> str:
    if row.changed_at is None:
        return ""
    seconds = row.monotonic - row.changed_at
    return (
        f"{seconds:.0f}s" if seconds < 100 else f"{seconds / 60:.0f}m" if seconds < 6000 else f"{seconds / 3600:.0f}h"
    )


def _pod_ready(row: Row) -> str:
    ready = sum(each.ready for each in _read(row, _Status).container_statuses)
    return f"{ready}/{len(_read(row, _Containers).containers)}"


def _pod_status(row: Row) -> str:
    if _read(row, _Metadata).deletion_timestamp:
        return "Terminating"
    status = _read(row, _Status)
    for container in status.container_statuses:
        for state in (container.state.waiting, container.state.terminated):
            if state is not None and state.reason:
                return _clean(state.reason)
    return _clean(status.reason or status.phase)


def _restarts(row: Row) -> int:
    return sum(each.restart_count for each in _read(row, _Status).container_statuses)


def _node_status(row: Row) -> str:
    ready = next((each.status for each in _read(row, _Status).conditions if each.type == "Ready"), "")
    state = {"True": "Ready", "False": "NotReady"}.get(ready, "Unknown")
    return f"{state},SchedulingDisabled" if _read(row, _Spec).unschedulable else state


def _replicas(name: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        wanted = _read(row, _Spec).replicas
        return f"{getattr(_read(row, _Status), name)}/{1 if wanted is None else wanted}"

    return text


def _daemons(row: Row) -> str:
    status = _read(row, _Status)
    return f"{status.number_ready}/{status.desired_number_scheduled}"


def _completions(row: Row) -> str:
    wanted = _read(row, _Spec).completions
    return f"{_read(row, _Status).succeeded}/{1 if wanted is None else wanted}"


def _any_status(row: Row) -> str:
    """The phase, or the first of the usual conditions that is true."""
    if _read(row, _Metadata).deletion_timestamp:
        return "Terminating"
    status = _read(row, _Status)
    if status.phase:
        return _clean(status.phase)
    states = {each.type: each.status for each in status.conditions}
    for name in ("Ready", "Available", "Complete", "Failed", "Established"):
        if name in states:
            return name if states[name] == "True" else f"Not{name}"
    return ""


def _clean(text: str) -> str:
    """The text without control characters, which could change the terminal."""
    return _CONTROL.sub("?", text)


def _status_style(text: str) -> str:
    return "green" if text in _GOOD else "yellow" if text in _WAITING else "red"


def _ready_style(text: str) -> str:
    ready, _, wanted = text.partition("/")
    return "" if ready == wanted else "yellow"


_NAMESPACE = Column("NAMESPACE", lambda row: row.item.namespace)
_NAME = Column("NAME", lambda row: row.item.name)
_AGE = Column("AGE", _age, _newest_first, align="right")
_CHANGES = Column(
    "CHANGES", lambda row: str(row.changes or ""), lambda row: -row.changes, align="right", largest_first=True
)
_CHANGED = Column("CHANGED", _changed, lambda row: -(row.changed_at or 0.0), align="right")
_STATUS = Column("STATUS", _any_status, style=_status_style)
_READY = Column("READY", _replicas("ready_replicas"), style=_ready_style, align="right")

_BY_RESOURCE: dict[tuple[str, str], tuple[Column, ...]] = {
    ("", "pods"): (
        Column("READY", _pod_ready, style=_ready_style, align="right"),
        Column("STATUS", _pod_status, style=_status_style),
        Column(
            "RESTARTS",
            lambda row: str(_restarts(row)),
            lambda row: -_restarts(row),
            align="right",
            largest_first=True,
        ),
        Column("NODE", lambda row: _clean(_read(row, _Spec).node_name)),
    ),
    ("", "nodes"): (
        Column("STATUS", _node_status, style=_status_style),
        Column("VERSION", lambda row: _clean(_read(row, _Status).node_info.kubelet_version)),
    ),
    ("apps", "deployments"): (_READY, Column("UPDATED", _replicas("updated_replicas"), align="right")),
    ("apps", "replicasets"): (_READY,),
    ("apps", "statefulsets"): (_READY,),
    ("apps", "daemonsets"): (Column("READY", _daemons, style=_ready_style, align="right"),),
    ("batch", "jobs"): (Column("COMPLETIONS", _completions, align="right"), _STATUS),
}


def columns_for(resource: Resource, *, metadata_only: bool) -> tuple[Column, ...]:
    """The columns of a table of this resource."""
    own = _BY_RESOURCE.get((resource.group, resource.plural), (_STATUS,))
    scope = (_NAMESPACE,) if resource.namespaced else ()
    return (*scope, _NAME, *(() if metadata_only else own), _CHANGES, _CHANGED, _AGE)
