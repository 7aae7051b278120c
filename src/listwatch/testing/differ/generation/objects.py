"""Hypothesis strategies for objects: variants of the samples, valid and invalid ones."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.samples import Kind

__all__ = ["changes", "metadata", "objects", "odd_values", "positions"]

LABELS = {"app": ("web", "api", ""), "tier": ("1", "2"), "example.com/team": ("x",)}


@st.composite
def objects(draw: st.DrawFn, kind: Kind, *, valid: bool = False) -> JSONObject:
    """An object like the sample; unless it must be valid, with changes that may make it invalid."""
    tree: JSONObject = {"apiVersion": kind.version, "kind": kind.kind, "metadata": draw(metadata(kind))}
    tree |= copy.deepcopy(kind.fields)
    if not valid:
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
            draw(changes(tree))
    return tree


@st.composite
def metadata(draw: st.DrawFn, kind: Kind) -> JSONObject:
    found: JSONObject = {"name": draw(st.sampled_from(kind.names))}
    labels: JSONObject = {} if kind.namespaced else {"scenario": "{namespace}"}
    if draw(st.booleans()):
        labels |= {key: draw(st.sampled_from(values)) for key, values in LABELS.items() if draw(st.booleans())}
    if labels:
        found["labels"] = labels
    if draw(st.integers(0, 5)) == 0:
        found["annotations"] = {"example.com/note": draw(st.sampled_from(("x", "", "long " * 20)))}
    if draw(st.integers(0, 9)) == 0:
        found["finalizers"] = ["example.com/hold"]
    return found


ODD: tuple[JSON, ...] = (
    None,
    "",
    "A B",
    "UPPER",
    "-1",
    "x" * 64,
    "x" * 254,
    0,
    -1,
    70_000,
    2**40,
    1.5,
    True,
    [],
    {},
    ["x"],
    {"x": "y"},
    "1Gi",
    "50%",
    "é",
)


# Copies, because later changes may modify a value in place.
odd_values = st.sampled_from(ODD).map(copy.deepcopy)


@st.composite
def changes(draw: st.DrawFn, tree: JSONObject) -> None:
    """Change one position of a tree: remove it, replace its value, duplicate it, or add an unknown field beside it."""
    parent, key = draw(st.sampled_from(positions(tree)))
    how = draw(st.sampled_from(("odd", "odd", "odd", "removed", "unknown", "duplicate")))
    if isinstance(parent, dict):
        if how == "removed":
            del parent[str(key)]
        else:
            parent["unheardOf" if how == "unknown" else str(key)] = draw(odd_values)
    elif how == "removed":
        del parent[int(key)]
    elif how == "duplicate":
        parent.append(copy.deepcopy(parent[int(key)]))
    else:
        parent[int(key)] = draw(odd_values)


def positions(tree: JSONObject | list[JSON]) -> list[tuple[JSONObject | list[JSON], str | int]]:
    """Return every container in a tree with each of its keys or indexes."""
    found: list[tuple[JSONObject | list[JSON], str | int]] = []
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        found.append((tree, key))
        if isinstance(value, dict | list):
            found += positions(value)
    return found
