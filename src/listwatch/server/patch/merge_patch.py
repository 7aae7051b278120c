"""JSON merge patches (RFC 7386): null deletes, objects merge, everything else replaces. Chosen by `patching`."""

from __future__ import annotations

from listwatch.server.json_tree import Tree, copied

__all__ = ["merge_patch", "without_nulls"]


def merge_patch(patch: Tree, tree: Tree) -> Tree:
    """What the patch makes of the tree; both stay as they are."""
    if not isinstance(tree, dict):
        return without_nulls(patch)
    if not isinstance(patch, dict):
        return copied(patch)
    merged = {}
    for name, value in tree.items():
        if name not in patch:
            merged[name] = copied(value)
        elif patch[name] is not None:
            merged[name] = merge_patch(patch[name], value)
    return merged | without_nulls({name: value for name, value in patch.items() if name not in tree})


def without_nulls(tree: Tree) -> Tree:
    """A copy without the members that are null, at any depth; a null in a list has a place and stays."""
    match tree:
        case dict():
            return {name: without_nulls(value) for name, value in tree.items() if value is not None}
        case list():
            return [without_nulls(item) for item in tree]
        case _:
            return tree
