"""Computes the JSON patch (RFC 6902) between two values."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from listwatch.json_value import JSON, JSONObject

__all__ = ["make_json_patch"]

_MAX_COMPARISONS = 10_000
"""Lists with more pairs of differing elements are compared by position."""


def make_json_patch(before: JSON, after: JSON) -> list[JSONObject]:
    """Return the operations that change `before` into `after`."""
    return [*_changes("", before, after)]


def _changes(path: str, before: JSON, after: JSON) -> Iterator[JSONObject]:
    match before, after:
        case dict(), dict():
            yield from _object_changes(path, before, after)
        case list(), list():
            yield from _list_changes(path, before, after)
        case _ if not _same(before, after):
            yield {"op": "replace", "path": path, "value": after}


def _object_changes(path: str, before: JSONObject, after: JSONObject) -> Iterator[JSONObject]:
    for name, value in before.items():
        place = f"{path}/{_escaped(name)}"
        if name in after:
            yield from _changes(place, value, after[name])
        else:
            yield {"op": "remove", "path": place}
    for name, value in after.items():
        if name not in before:
            yield {"op": "add", "path": f"{path}/{_escaped(name)}", "value": value}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _same(one: JSON, other: JSON) -> bool:
    """Equality of JSON: unlike in Python, true is not 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case _:
            return isinstance(one, bool) == isinstance(other, bool) and one == other


# --- lists ------------------------------------------------------------------------------------------------------------


class _Step(Enum):
    KEEP = auto()
    CHANGE = auto()
    REMOVE = auto()
    ADD = auto()


def _list_changes(path: str, before: list[JSON], after: list[JSON]) -> Iterator[JSONObject]:
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if not _same(before[i], after[i])), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if not _same(before[-1 - i], after[-1 - i])), rest)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    index, i, j = start, 0, 0
    for step in _steps(old, new):
        place = f"{path}/{index}"
        match step:
            case _Step.REMOVE:
                yield {"op": "remove", "path": place}
                i += 1
                continue
            case _Step.ADD:
                yield {"op": "add", "path": place, "value": new[j]}
            case _Step.CHANGE if _are_versions(old[i], new[j]):
                yield from _changes(place, old[i], new[j])
            case _Step.CHANGE:
                yield {"op": "replace", "path": place, "value": new[j]}
        index += 1
        j += 1
        i += step is not _Step.ADD


def _are_versions(one: JSON, other: JSON) -> bool:
    """Whether an element was changed, not replaced by another: most elements of Kubernetes lists have a name."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.get("name") == other.get("name")
    return isinstance(one, list) and isinstance(other, list)


def _steps(old: list[JSON], new: list[JSON]) -> list[_Step]:
    """Return how to get from one list to the other with the fewest operations."""
    if len(old) * len(new) > _MAX_COMPARISONS:
        more = len(new) - len(old)
        return [*[_Step.CHANGE] * min(len(old), len(new)), *[_Step.ADD] * more, *[_Step.REMOVE] * -more]
    # costs[i][j] is the cost of turning old[i:] into new[j:].
    costs = [[2 * (len(old) - i + len(new) - j) for j in range(len(new) + 1)] for i in range(len(old) + 1)]
    pairs = {(i, j): _pair_cost(old[i], new[j]) for i in range(len(old)) for j in range(len(new))}
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = costs[i + 1][j + 1] + pairs[i, j]
            costs[i][j] = min(paired, costs[i + 1][j] + 2, costs[i][j + 1] + 2)
    steps, i, j = list[_Step](), 0, 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and costs[i][j] == costs[i + 1][j + 1] + pairs[i, j]:
            steps.append(_Step.CHANGE if pairs[i, j] else _Step.KEEP)
            i, j = i + 1, j + 1
        elif i < len(old) and costs[i][j] == costs[i + 1][j] + 2:
            steps.append(_Step.REMOVE)
            i += 1
        else:
            steps.append(_Step.ADD)
            j += 1
    return steps


def _pair_cost(one: JSON, other: JSON) -> int:
    if _same(one, other):
        return 0
    # Changing an element is preferred to replacing it by another, which costs less than a removal and an addition.
    return 2 if _are_versions(one, other) else 3
