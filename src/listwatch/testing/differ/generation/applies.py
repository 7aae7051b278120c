"""Scenarios of server-side apply: several managers apply parts of one object, others update it, and conflicts arise."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.custom_samples import CUSTOM_KINDS
from listwatch.testing.differ.generation.objects import positions
from listwatch.testing.differ.generation.samples import KINDS, Kind
from listwatch.testing.differ.scenarios import Request, Scenario

__all__ = ["apply_scenarios"]

_MANAGERS = ("me", "you", "them")
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_KEYS = frozenset({"name", "key", "type", "containerPort", "port", "apiVersion", "kind", "op"})
"""Fields that identify an object or an item of a list."""


@st.composite
def apply_scenarios(draw: st.DrawFn) -> Scenario:
    kind = draw(st.sampled_from((*KINDS, *CUSTOM_KINDS, *CUSTOM_KINDS)))
    name = kind.names[0]
    steps = st.one_of(*[_applies(kind, name)] * 5, _updates(kind, name), _resets(kind, name), _reads(kind, name))
    return Scenario(tuple(draw(st.lists(steps, min_size=4, max_size=10))))


@st.composite
def _applies(draw: st.DrawFn, kind: Kind, name: str) -> Request:
    query = {"fieldManager": draw(st.sampled_from(_MANAGERS))}
    if draw(st.integers(0, 2)) == 0:
        query["force"] = "true"
    if draw(st.integers(0, 9)) == 0:
        query["dryRun"] = "All"
    path = f"{kind.path}/{name}"
    body = draw(_parts(kind, name))
    if "status" in kind.subresources and draw(st.integers(0, 4)) == 0:
        path += "/status"
        phase = draw(st.sampled_from(("True", "False")))
        body["status"] = {"conditions": [{"type": draw(st.sampled_from(("Ready", "Other"))), "status": phase}]}
    return Request(method="PATCH", path=path, query=query, headers=_APPLY, body=body)


@st.composite
def _parts(draw: st.DrawFn, kind: Kind, name: str) -> JSONObject:
    """The sample without some fields, with other values, and with more items in lists."""
    tree: JSONObject = {"apiVersion": kind.version, "kind": kind.kind, "metadata": {"name": name}}
    if not kind.namespaced:
        tree["metadata"] = {"name": name, "labels": {"scenario": "{namespace}"}}
    fields = copy.deepcopy(kind.fields)
    for _ in range(draw(st.integers(0, 4))):
        found = [(parent, key) for parent, key in positions(fields) if key not in _KEYS]
        if not found:
            break
        parent, key = draw(st.sampled_from(found))
        if isinstance(parent, list):
            _change_list(draw, parent, int(key))
        elif draw(st.booleans()):
            del parent[str(key)]
        else:
            parent[str(key)] = _other(parent[str(key)])
    if draw(st.booleans()):
        labels: JSON = {"app": draw(st.sampled_from(("web", "api"))), draw(st.sampled_from(("x", "y"))): "z"}
        tree["metadata"] = {"labels": labels, **_mapping(tree["metadata"])}
    return tree | fields


def _change_list(draw: st.DrawFn, items: list[JSON], index: int) -> None:
    how = draw(st.sampled_from(("remove", "add", "reverse", "duplicate")))
    if how == "remove":
        del items[index]
    elif how == "reverse":
        items.reverse()
    else:
        items.append(copy.deepcopy(items[index]) if how == "duplicate" else _other(items[index]))


def _other(value: JSON) -> JSON:
    """A value of the same type that differs; another key for the items of lists."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return {"ReadWriteOnce": "ReadOnlyMany", "red": "green", "green": "red", "Never": "Always"}.get(
                value, f"{value}2"
            )
        case list():
            return [_other(item) for item in value]
        case dict():
            changed = {name: _other(item) if name in _KEYS else copy.deepcopy(item) for name, item in value.items()}
            return changed if changed != value else {name: _other(item) for name, item in value.items()}
    return value


def _mapping(value: JSON) -> JSONObject:
    return value if isinstance(value, dict) else {}


@st.composite
def _updates(draw: st.DrawFn, kind: Kind, name: str) -> Request:
    """Another manager changes fields without applying, by a merge patch."""
    body = draw(_parts(kind, name))
    del body["apiVersion"], body["kind"]
    query = {"fieldManager": draw(st.sampled_from(("editor", "me")))}
    return Request(method="PATCH", path=f"{kind.path}/{name}", query=query, headers=_MERGE, body=body)


@st.composite
def _resets(draw: st.DrawFn, kind: Kind, name: str) -> Request:
    """Writes of managedFields: cleared, removed, or invalid."""
    entries: tuple[JSON, ...] = ([{}], [], None, [{"manager": "x", "operation": "Sometimes"}], "x")
    body: JSON = {"metadata": {"managedFields": copy.deepcopy(draw(st.sampled_from(entries)))}}
    return Request(method="PATCH", path=f"{kind.path}/{name}", headers=_MERGE, body=body)


def _reads(kind: Kind, name: str) -> st.SearchStrategy[Request]:
    return st.just(Request(method="GET", path=f"{kind.path}/{name}"))
