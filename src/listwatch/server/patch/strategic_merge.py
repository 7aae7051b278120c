"""Strategic merge patches: merge patches that know from the schema which lists merge, and by which key.

    {"$patch": "replace" | "delete"}             in a map: of it; in an element: of the list, or of the element
    {"$retainKeys": [names]}                     members of the map that are not named are dropped
    {"$setElementOrder/ports": [elements]}       the order of a merged list, each element by its merge key
    {"$deleteFromPrimitiveList/args": [values]}  what to take out of a list of scalars

`patching` chooses between this and `merge_patch`. Patches that make no sense are answered as the real server answers
them: some are bad requests, and most are a plain error 500.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from listwatch.errors import APIError, BadRequestError, InvalidError
from listwatch.server.json_tree import Tree, go_text, go_type
from listwatch.server.patch.merge_patch import without_nulls
from listwatch.server.schema.schema import FieldSchema, Schema, Shape

__all__ = ["StrategicMerge"]

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder"
_DELETE = "$deleteFromPrimitiveList"
_BAD_FORMAT = {
    _RETAIN: "invalid patch format of retainKeys",
    _ORDER: "invalid patch format of setElementOrder list",
    _DELETE: "invalid patch format of primitive list",
}

Map = dict[str, Any]


class StrategicMerge:
    """Merges patches into objects of a schema's types. What comes out may share parts with what went in."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def merge(self, patch: Map, tree: Map, shape: Shape) -> Map:
        """What the patch makes of the tree, which is of that shape; both stay as they are."""
        if _PATCH in patch:
            return _directed(patch)
        merged, changes = _retained(patch, tree)
        for directive in [name for name in changes if name.startswith(_ORDER)]:
            self._merge_in_order(directive, changes, merged, shape)
        for name, value in changes.items():
            self._merge_member(name, value, merged, shape)
        return merged

    # --- members ---

    def _merge_member(self, name: str, value: Tree, merged: Map, shape: Shape) -> None:
        if deleting := name.startswith(_DELETE):
            name = _target(name, _DELETE)
        if value is None:
            merged.pop(name, None)
        elif type(value) is type(merged.get(name)):
            merged[name] = self._merge_values(name, value, merged[name], shape, deleting=deleting)
        elif _is_directive(value):
            merged.pop(name, None)
        elif not deleting:
            merged[name] = _plain(without_nulls(value))

    def _merge_values(self, name: str, value: Tree, current: Tree, shape: Shape, *, deleting: bool) -> Tree:
        match value:
            case dict():
                field = self._field(name, shape)
                return value if "replace" in field.patch_strategies else self.merge(value, current, field.type)
            case list():
                return self._merge_lists(value, current, self._list_field(name, shape), deleting=deleting)
            case _:
                return value

    def _field(self, name: str, shape: Shape) -> FieldSchema:
        if shape.type != "ref":
            raise _failed(f"merging an object in json but data type is not struct, instead is: {shape.type}")
        found = self._schema.type(shape.ref)
        if name not in found.fields:
            struct = found.name.rpartition(".")[2]
            raise _failed(f'unable to find api field in struct {struct} for the json field "{name}"')
        return found.fields[name]

    def _list_field(self, name: str, shape: Shape) -> FieldSchema:
        field = self._field(name, shape)
        if field.type.items is None or field.type.type != "list":
            raise _failed("expected slice or array type, but got: struct")
        return field

    # --- lists ---

    def _merge_lists(self, patch: list[Tree], current: list[Tree], field: FieldSchema, *, deleting: bool) -> list[Tree]:
        if not deleting and "merge" not in field.patch_strategies:
            return patch
        if not patch and not current:
            return current
        if _element_type(current, patch) is dict:
            return self._merge_lists_of_maps(patch, current, field)
        if deleting:
            gone = set(map(_identity, patch))
            return [item for item in current if _identity(item) not in gone]
        either = list({_identity(item): item for item in [*current, *patch]}.values())
        return _arranged(either, patch, current, _identity)

    def _merge_lists_of_maps(self, patch: list[Map], current: list[Map], field: FieldSchema) -> list[Tree]:
        if not field.merge_key:
            raise _failed("cannot merge lists without merge key for struct")
        key = _by_merge_key(field.merge_key)
        live, changes = _without_special_elements(patch, current, field.merge_key)
        merged = list(live)
        places = {key(element): place for place, element in reversed(list(enumerate(merged)))}
        for element in changes:
            place = places.setdefault(key(element), len(merged))
            if place == len(merged):
                merged.append(element)
            else:
                merged[place] = self.merge(element, merged[place], field.type.items or field.type)
        return _arranged(merged, changes, live, key)

    def _merge_in_order(self, directive: str, changes: Map, merged: Map, shape: Shape) -> None:
        order, name = _list(changes.pop(directive)), _target(directive, _ORDER)
        current = _list(merged[name]) if name in merged else []
        patch = _list(changes[name]) if name in changes else []
        field = self._list_field(name, shape)
        _check_order(patch, order, field.merge_key)
        if name not in merged and name not in changes:
            return
        if name not in changes:
            items = current
        elif name not in merged:
            items = _plain(patch)
        else:
            items = self._merge_lists(patch, current, field, deleting=False)
        _element_type(current, patch)
        key = _by_merge_key(field.merge_key) if field.merge_key else _identity
        merged[name] = _arranged(items, order, current, key)
        changes.pop(name, None)


# --- directives ------------------------------------------------------------------------------------------------------


def _directed(patch: Map) -> Map:
    match patch[_PATCH]:
        case "replace":
            return {name: value for name, value in patch.items() if name != _PATCH}
        case "delete":
            return {}
        case other:
            raise _unknown_directive(other, patch)


def _retained(patch: Map, tree: Map) -> tuple[Map, Map]:
    """The members to start from, and the changes to make; both are new maps."""
    if _RETAIN not in patch:
        return dict(tree), dict(patch)
    changes = {name: value for name, value in patch.items() if name != _RETAIN}
    names = patch[_RETAIN]
    if not isinstance(names, list):
        raise BadRequestError(_BAD_FORMAT[_RETAIN])
    for name, value in changes.items():
        if not (value is None or name in names or name.startswith((_DELETE, _ORDER))):
            raise BadRequestError(_BAD_FORMAT[_RETAIN])
    return {name: value for name, value in tree.items() if name in names}, changes


def _without_special_elements(patch: list[Map], current: list[Map], merge_key: str) -> tuple[list[Map], list[Map]]:
    """The elements that are left to merge into, and the elements to merge."""
    changes = [element for element in patch if not _is_directive(element)]
    replaces = False
    key = _by_merge_key(merge_key)
    for element in filter(_is_directive, patch):
        match element[_PATCH]:
            case "delete":
                gone = key(element)
                current = [each for each in current if merge_key not in each or key(each) != gone]
            case "replace":
                replaces = True
            case "merge":
                raise _failed("merging lists cannot yet be specified in the patch")
            case other:
                raise _unknown_directive(other, element)
    return (changes, []) if replaces else (current, changes)


def _check_order(patch: list[Tree], order: list[Tree], merge_key: str) -> None:
    """The elements of a patch must be among those that are put in order, and follow each other as they do there."""
    if not patch or not order:
        return
    key = _by_merge_key(merge_key) if merge_key else _identity
    ordered = iter([key(element) for element in order])
    for element in patch:
        if not _is_directive(element) and key(element) not in ordered:
            raise _failed(
                f"The order in patch list:\n{go_text(patch)}\n doesn't match {_ORDER} list:\n{go_text(order)}\n"
            )


def _target(directive: str, prefix: str) -> str:
    """The member that a directive such as `$setElementOrder/ports` is about."""
    start, slash, name = directive.partition("/")
    if not slash or start != prefix:
        raise BadRequestError(_BAD_FORMAT[prefix])
    return name


def _is_directive(value: Tree) -> bool:
    return isinstance(value, dict) and _PATCH in value


def _plain(value: Tree) -> Tree:
    """Without the maps, at any depth, that only say what to do."""
    match value:
        case dict():
            return {name: _plain(each) for name, each in value.items() if not _is_directive(each)}
        case list():
            return [_plain(each) for each in value if not _is_directive(each)]
        case _:
            return value


# --- elements --------------------------------------------------------------------------------------------------------


def _element_type(*lists: list[Tree]) -> type:
    """What all elements are: they must be of one type, and no lists."""
    types = list(dict.fromkeys(type(element) for each in lists for element in each))
    if not types:
        raise _failed("no elements in any of the given slices")
    if types[0] is list:
        raise InvalidError("the server rejected our request due to an error in our request")
    if len(types) > 1:
        raise _failed(f"list element types are not identical: {go_text(list(lists))}")
    return types[0]


def _list(value: Tree) -> list[Tree]:
    if not isinstance(value, list):
        raise _failed(f"expected a []interface {{}}, but received a {go_type(value)}")
    return value


def _identity(value: Tree) -> Hashable:
    """What tells one scalar from another; true, 1 and "1" are three."""
    if isinstance(value, dict | list):
        raise _failed(f"a {go_type(value)} cannot be compared: {go_text(value)}")
    return type(value), value


def _by_merge_key(merge_key: str) -> Callable[[Tree], Hashable]:
    def key(element: Tree) -> Hashable:
        if not isinstance(element, dict):
            raise _failed(f"expected a map[string]interface {{}}, but received a {go_type(element)}")
        if merge_key not in element:
            raise _failed(f"map: {go_text(element)} does not contain declared merge key: {merge_key}")
        return _identity(element[merge_key])

    return key


def _arranged(
    items: list[Tree], order: Iterable[Tree], live: Iterable[Tree], key: Callable[[Tree], Hashable]
) -> list[Tree]:
    """The items that `order` names as it names them; the others where they were, relative to those."""
    asked, lived = _places(order, key), _places(live, key)
    named = sorted((item for item in items if key(item) in asked), key=lambda item: asked[key(item)])
    others = sorted((item for item in items if key(item) not in asked), key=lambda item: lived.get(key(item), 0))
    arranged = []
    for item in named:
        # A new item has no place among those that lived; it goes right where its order puts it.
        place = lived.get(key(item), -1)
        while others and lived.get(key(others[0]), place) < place:
            arranged.append(others.pop(0))
        arranged.append(item)
    return arranged + others


def _places(elements: Iterable[Tree], key: Callable[[Tree], Hashable]) -> Mapping[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place, element in enumerate(elements):
        places.setdefault(key(element), place)
    return places


# --- refusals --------------------------------------------------------------------------------------------------------


def _failed(message: str) -> APIError:
    return APIError(message, status_code=500)


def _unknown_directive(directive: Tree, element: Map) -> APIError:
    return _failed(f"unknown patch type: {go_text(directive)} in map: {go_text(element)}")
