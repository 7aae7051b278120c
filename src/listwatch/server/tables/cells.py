"""Functions that make the cells of a table. Each takes paths such as `spec.replicas`, and returns a cell function.

A cell function makes a cell of an object and the time. It accepts objects without any fields: a bookmark is such one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypeAlias

from listwatch.errors import SelectorError
from listwatch.json_value import JSON, JSONObject
from listwatch.quantity import format_quantity
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.tables.durations import since_text

__all__ = [
    "NONE",
    "UNSET",
    "Cell",
    "age",
    "condition_status",
    "condition_type",
    "count",
    "created_at",
    "flag",
    "fraction",
    "images",
    "joined",
    "labels",
    "labels_text",
    "limited",
    "names",
    "number",
    "of",
    "present",
    "quantity_text",
    "reference",
    "selector",
    "selector_text",
    "since",
    "text",
]

Cell: TypeAlias = Callable[[JSONObject, datetime], JSON]

NONE = "<none>"
UNSET = "<unset>"

_ZERO_TIME = "0001-01-01T00:00:00Z"


# --- Single values ----------------------------------------------------------------------------------------------------


def of(value: Callable[[JSONObject], JSON]) -> Cell:
    """Return a cell that does not depend on the time."""
    return lambda tree, now: value(tree)


def text(path: str, missing: str = "") -> Cell:
    """Return a cell with a string; `missing` replaces an empty or absent one."""
    names = path.split(".")
    return lambda tree, now: text_at(tree, *names) or missing


def present(path: str, missing: str = UNSET) -> Cell:
    """Return a cell with a string or number as text; `missing` replaces an absent one, but not an empty string."""
    names = path.split(".")

    def cell(tree: JSONObject, now: datetime) -> JSON:
        found = value_at(tree, *names)
        return missing if found is None else str(found)

    return cell


def number(path: str) -> Cell:
    names = path.split(".")
    return lambda tree, now: integer_at(tree, *names)


def flag(path: str, *, missing: bool = False) -> Cell:
    names = path.split(".")

    def cell(tree: JSONObject, now: datetime) -> JSON:
        found = value_at(tree, *names)
        return found if isinstance(found, bool) else missing

    return cell


def count(*paths: str) -> Cell:
    """Return a cell with the number of elements or members at these paths together."""
    split = [path.split(".") for path in paths]

    def cell(tree: JSONObject, now: datetime) -> JSON:
        found = (value_at(tree, *names) for names in split)
        return sum(len(each) for each in found if isinstance(each, dict | list))

    return cell


def fraction(part: str, whole: str) -> Cell:
    """Return a cell such as `1/3`."""
    upper, lower = part.split("."), whole.split(".")
    return lambda tree, now: f"{integer_at(tree, *upper)}/{integer_at(tree, *lower)}"


def reference(path: str) -> Cell:
    """Return a cell with the kind and name of a reference: `Deployment/web`."""
    names = path.split(".")
    return lambda tree, now: f"{text_at(tree, *names, 'kind')}/{text_at(tree, *names, 'name')}"


def quantity_text(value: JSON, missing: str) -> str:
    """Return a quantity in its canonical form."""
    return format_quantity(value) if isinstance(value, str | int) else missing


# --- Times ------------------------------------------------------------------------------------------------------------


def age(tree: JSONObject, now: datetime) -> JSON:
    """A cell with the age of the object."""
    return since_text(text_at(tree, "metadata", "creationTimestamp"), now)


def created_at(tree: JSONObject, now: datetime) -> JSON:
    """A cell with the time of the creation."""
    return text_at(tree, "metadata", "creationTimestamp") or _ZERO_TIME


def since(path: str, missing: str) -> Cell:
    """Return a cell with the time since a timestamp; `missing` replaces an absent one."""
    names = path.split(".")

    def cell(tree: JSONObject, now: datetime) -> JSON:
        found = text_at(tree, *names)
        return since_text(found, now) if found else missing

    return cell


# --- Several values ---------------------------------------------------------------------------------------------------


def joined(path: str, missing: str = "") -> Cell:
    """Return a cell with the strings of a list, separated by commas."""
    names = path.split(".")
    return lambda tree, now: ",".join(texts_at(tree, *names)) or missing


def names(path: str) -> Cell:
    """Return a cell with the names of the containers in a list."""
    return _members(path, "name")


def images(path: str) -> Cell:
    """Return a cell with the images of the containers in a list."""
    return _members(path, "image")


def _members(path: str, member: str) -> Cell:
    names = path.split(".")
    return lambda tree, now: ",".join(text_at(each, member) for each in objects_at(tree, *names))


def limited(texts: Sequence[str], limit: int, *, total: int | None = None, separator: str = ",") -> str:
    """Join the first texts, and say how many more there are."""
    total = len(texts) if total is None else total
    shown = separator.join(texts[:limit])
    return f"{shown} + {total - limit} more..." if len(texts) > limit else shown


def labels(path: str) -> Cell:
    """Return a cell with labels: `app=web,tier=1`."""
    names = path.split(".")
    return lambda tree, now: labels_text(object_at(tree, *names))


def labels_text(found: JSONObject) -> str:
    return ",".join(f"{name}={found[name]}" for name in sorted(found)) or NONE


def selector(path: str, *, empty: str = NONE, invalid: str = "<error>") -> Cell:
    """Return a cell with a label selector in its string form."""
    names = path.split(".")
    return lambda tree, now: selector_text(value_at(tree, *names), invalid=invalid) or empty


def selector_text(found: JSON, *, invalid: str) -> str:
    """Return the string form of a selector; empty if it selects nothing or everything."""
    try:
        return str(LabelSelector.from_dict(found)) if isinstance(found, dict) else ""
    except SelectorError:
        return invalid


# --- Conditions -------------------------------------------------------------------------------------------------------


def condition_status(tree: JSONObject, type_: str) -> str:
    """Return the status of the first condition of a type; empty if there is none."""
    found = (each for each in objects_at(tree, "status", "conditions") if each.get("type") == type_)
    return text_at(next(found, {}), "status")


def condition_type(tree: JSONObject, types: Iterable[str], missing: str) -> str:
    """Return the first of these types of which a condition is true."""
    return next((type_ for type_ in types if condition_status(tree, type_) == "True"), missing)
