"""Fields that the schema does not have, as members of a JSON tree.

A newer server sends fields that this schema does not name. A tree can hold them beside the others, so that they survive
a change of the tree: under `UNKNOWN`, as a list of hexadecimal texts, one for each occurrence of the message that has
some. No field of the API has that name.
"""

from __future__ import annotations

from listwatch.json_value import JSON
from listwatch.protobuf.special_messages import SchemaValue

__all__ = ["UNKNOWN", "may_have_unknown", "numbered", "unnumbered", "without_unknown"]

UNKNOWN = "\0unknown"
"""The name of the member; for those of an inlined struct, the number of its field follows."""

_IN_JSON = b'"\\u0000unknown'

Tree = dict[str, SchemaValue]


def may_have_unknown(text: bytes) -> bool:
    """Whether a JSON text may have such members."""
    return _IN_JSON in text


def without_unknown(tree: JSON) -> JSON:
    """Return the tree without them; the same one if it has none."""
    match tree:
        case dict():
            return {name: without_unknown(value) for name, value in tree.items() if not name.startswith(UNKNOWN)}
        case list():
            return [without_unknown(each) for each in tree]
        case _:
            return tree


def numbered(inlined: Tree, number: int) -> Tree:
    """Rename the unknown fields of an inlined struct, so that they differ from those of the message around it."""
    if not any(name.startswith(UNKNOWN) for name in inlined):
        return inlined
    prefix = f"{UNKNOWN}{number}."
    return {
        prefix + name.removeprefix(UNKNOWN) if name.startswith(UNKNOWN) else name: value
        for name, value in inlined.items()
    }


def unnumbered(tree: Tree, number: int) -> Tree:
    """The inverse: the tree with the unknown fields of one inlined struct only."""
    if not any(name.startswith(UNKNOWN) for name in tree):
        return tree
    prefix, found = f"{UNKNOWN}{number}.", Tree()
    for name, value in tree.items():
        if not name.startswith(UNKNOWN):
            found[name] = value
        elif name.startswith(prefix):
            found[UNKNOWN + name.removeprefix(prefix)] = value
    return found
