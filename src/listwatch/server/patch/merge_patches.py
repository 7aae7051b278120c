"""JSON merge patches (RFC 7386), and strategic merge patches, which merge lists by the schema.

Directives of a strategic merge patch:

    {"$patch": "replace" | "delete"}             in a map: of the map; in an element: of the list, or of the element
    {"$retainKeys": [names]}                     members of the map that are not named are dropped
    {"$setElementOrder/ports": [elements]}       the order of a merged list, each element by its merge key
    {"$deleteFromPrimitiveList/args": [values]}  values to remove from a list of scalars

Invalid patches get the real server's response: BadRequest for some of them, but an error 500 for most.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from listwatch.errors import APIError, BadRequestError, InvalidError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import copied, go_text, go_type
from listwatch.server.schema.schema import FieldSchema, Schema, Shape

__all__ = ["StrategicMerge", "merge_patch"]

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder"
_DELETE = "$deleteFromPrimitiveList"
_BAD_FORMAT = {
    _RETAIN: "invalid patch format of retainKeys",
    _ORDER: "invalid patch format of setElementOrder list",
    _DELETE: "invalid patch format of primitive list",
}


def merge_patch(patch: JSON, tree: JSON) -> JSON:
    """Apply a JSON merge patch; neither argument is changed."""
    if not isinstance(tree, dict):
        return _without_nulls(patch)
    if not isinstance(patch, dict):
        return copied(patch)
    merged: JSONObject = {}
    for name, value in tree.items():
        if name not in patch:
            merged[name] = copied(value)
        elif patch[name] is not None:
            merged[name] = merge_patch(patch[name], value)
    added = {name: value for name, value in patch.items() if name not in tree and value is not None}
    return merged | {name: _without_nulls(value) for name, value in added.items()}


def _without_nulls(tree: JSON) -> JSON:
    """Return a copy without members that are null, at any depth; nulls in lists are kept."""
    match tree:
        case dict():
            return {name: _without_nulls(value) for name, value in tree.items() if value is not None}
        case list():
            return [_without_nulls(item) for item in tree]
        case _:
            return tree


class StrategicMerge:
    """Applies strategic merge patches to objects of a schema's types. Results may share parts with their arguments."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def merge(self, patch: JSONObject, tree: JSONObject, shape: Shape) -> JSONObject:
        """Apply a patch to a tree of a shape; neither argument is changed."""
        if _PATCH in patch:
            return _apply_directive(patch)
        merged, changes = _retained(patch, tree)
        for directive in [name for name in changes if name.startswith(_ORDER)]:
            self._merge_in_order(directive, changes, merged, shape)
        for name, value in changes.items():
            self._merge_member(name, value, merged, shape)
        return merged

    def _merge_member(self, name: str, value: JSON, merged: JSONObject, shape: Shape) -> None:
        if deleting := name.startswith(_DELETE):
            name = _target(name, _DELETE)
        if value is None:
            merged.pop(name, None)
        elif type(value) is type(merged.get(name)):
            merged[name] = self._merge_values(name, value, merged[name], shape, deleting=deleting)
        elif _is_directive(value):
            merged.pop(name, None)
        elif not deleting:
            merged[name] = _without_directives(_without_nulls(value))

    def _merge_values(self, name: str, value: JSON, current: JSON, shape: Shape, *, deleting: bool) -> JSON:
        if isinstance(value, dict) and isinstance(current, dict):
            field = self._field(name, shape)
            return value if "replace" in field.patch_strategies else self.merge(value, current, field.type)
        if isinstance(value, list) and isinstance(current, list):
            return self._merge_lists(value, current, self._list_field(name, shape), deleting=deleting)
        return value

    def _field(self, name: str, shape: Shape) -> FieldSchema:
        if shape.type != "ref":
            raise _server_error(f"merging an object in json but data type is not struct, instead is: {shape.type}")
        found = self._schema.type(shape.ref)
        if name not in found.fields:
            struct = found.name.rpartition(".")[2]
            raise _server_error(f'unable to find api field in struct {struct} for the json field "{name}"')
        return found.fields[name]

    def _list_field(self, name: str, shape: Shape) -> FieldSchema:
        field = self._field(name, shape)
        if field.type.items is None or field.type.type != "list":
            raise _server_error("expected slice or array type, but got: struct")
        return field

    def _merge_lists(self, patch: list[JSON], current: list[JSON], field: FieldSchema, *, deleting: bool) -> list[JSON]:
        if not deleting and "merge" not in field.patch_strategies:
            return patch
        if not patch and not current:
            return current
        if _element_type(current, patch) is dict:
            return self._merge_lists_of_maps(patch, current, field)
        if deleting:
            removed = set(map(_identity, patch))
            return [item for item in current if _identity(item) not in removed]
        union = list({_identity(item): item for item in [*current, *patch]}.values())
        return _in_order(union, patch, current, _identity)

    def _merge_lists_of_maps(self, patch: list[JSON], current: list[JSON], field: FieldSchema) -> list[JSON]:
        if not field.merge_key:
            raise _server_error("cannot merge lists without merge key for struct")
        key = _by_merge_key(field.merge_key)
        live, changes = _apply_element_directives(patch, current, field.merge_key)
        merged = list(live)
        places = {key(element): place for place, element in reversed(list(enumerate(merged)))}
        for element in changes:
            place = places.setdefault(key(element), len(merged))
            if place == len(merged):
                merged.append(element)
            else:
                merged[place] = self.merge(_map(element), _map(merged[place]), field.type.items or field.type)
        return _in_order(merged, changes, live, key)

    def _merge_in_order(self, directive: str, changes: JSONObject, merged: JSONObject, shape: Shape) -> None:
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
            items = _elements_without_directives(patch)
        else:
            items = self._merge_lists(patch, current, field, deleting=False)
        _element_type(current, patch)
        key = _by_merge_key(field.merge_key) if field.merge_key else _identity
        merged[name] = _in_order(items, order, current, key)
        changes.pop(name, None)


# --- Directives -------------------------------------------------------------------------------------------------------


def _apply_directive(patch: JSONObject) -> JSONObject:
    match patch[_PATCH]:
        case "replace":
            return {name: value for name, value in patch.items() if name != _PATCH}
        case "delete":
            return {}
        case other:
            raise _unknown_directive(other, patch)


def _retained(patch: JSONObject, tree: JSONObject) -> tuple[JSONObject, JSONObject]:
    """Return the members to start from, and the changes to apply to them, as new maps."""
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


def _apply_element_directives(patch: list[JSON], current: list[JSON], merge_key: str) -> tuple[list[JSON], list[JSON]]:
    """Return the elements to merge into, and the elements to merge."""
    changes = [element for element in patch if not _is_directive(element)]
    replaces = False
    key = _by_merge_key(merge_key)
    for element in [_map(each) for each in patch if _is_directive(each)]:
        match element[_PATCH]:
            case "delete":
                removed = key(element)
                current = [each for each in current if merge_key not in _map(each) or key(each) != removed]
            case "replace":
                replaces = True
            case "merge":
                raise _server_error("merging lists cannot yet be specified in the patch")
            case other:
                raise _unknown_directive(other, element)
    return (changes, []) if replaces else (current, changes)


def _check_order(patch: list[JSON], order: list[JSON], merge_key: str) -> None:
    """Check that the elements of a patch are in the order list, and in the same order."""
    if not patch or not order:
        return
    key = _by_merge_key(merge_key) if merge_key else _identity
    ordered = iter([key(element) for element in order])
    for element in patch:
        if not _is_directive(element) and key(element) not in ordered:
            raise _server_error(
                f"The order in patch list:\n{go_text(patch)}\n doesn't match {_ORDER} list:\n{go_text(order)}\n"
            )


def _target(directive: str, prefix: str) -> str:
    """Return the member that a directive such as `$setElementOrder/ports` is for."""
    start, slash, name = directive.partition("/")
    if not slash or start != prefix:
        raise BadRequestError(_BAD_FORMAT[prefix])
    return name


def _is_directive(value: JSON) -> bool:
    return isinstance(value, dict) and _PATCH in value


def _without_directives(value: JSON) -> JSON:
    """Return the value without maps that are directives, at any depth."""
    match value:
        case dict():
            return {name: _without_directives(each) for name, each in value.items() if not _is_directive(each)}
        case list():
            return _elements_without_directives(value)
        case _:
            return value


def _elements_without_directives(value: list[JSON]) -> list[JSON]:
    return [_without_directives(each) for each in value if not _is_directive(each)]


# --- List elements ----------------------------------------------------------------------------------------------------


def _element_type(*lists: list[JSON]) -> type:
    """Return the type of all elements; raises an error if they have several types, or are lists."""
    types = list(dict.fromkeys(type(element) for each in lists for element in each))
    if not types:
        raise _server_error("no elements in any of the given slices")
    if types[0] is list:
        raise InvalidError("the server rejected our request due to an error in our request")
    if len(types) > 1:
        raise _server_error(f"list element types are not identical: {go_text(list(lists))}")
    return types[0]


def _list(value: JSON) -> list[JSON]:
    if not isinstance(value, list):
        raise _server_error(f"expected a []interface {{}}, but received a {go_type(value)}")
    return value


def _map(value: JSON) -> JSONObject:
    if not isinstance(value, dict):
        raise _server_error(f"expected a map[string]interface {{}}, but received a {go_type(value)}")
    return value


def _identity(value: JSON) -> Hashable:
    """Return what identifies a scalar: true, 1 and "1" differ."""
    if isinstance(value, dict | list):
        raise _server_error(f"a {go_type(value)} cannot be compared: {go_text(value)}")
    return type(value), value


def _by_merge_key(merge_key: str) -> Callable[[JSON], Hashable]:
    def key(element: JSON) -> Hashable:
        found = _map(element)
        if merge_key not in found:
            raise _server_error(f"map: {go_text(found)} does not contain declared merge key: {merge_key}")
        return _identity(found[merge_key])

    return key


def _in_order(
    items: list[JSON], order: Iterable[JSON], live: Iterable[JSON], key: Callable[[JSON], Hashable]
) -> list[JSON]:
    """Sort the items named in `order` by it; the others keep their place relative to them."""
    wanted, present = _places(order, key), _places(live, key)
    named = sorted((item for item in items if key(item) in wanted), key=lambda item: wanted[key(item)])
    others = sorted((item for item in items if key(item) not in wanted), key=lambda item: present.get(key(item), 0))
    arranged: list[JSON] = []
    for item in named:
        # A new item has no place in the live list; only the order counts.
        place = present.get(key(item), -1)
        while others and present.get(key(others[0]), place) < place:
            arranged.append(others.pop(0))
        arranged.append(item)
    return arranged + others


def _places(elements: Iterable[JSON], key: Callable[[JSON], Hashable]) -> Mapping[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place, element in enumerate(elements):
        places.setdefault(key(element), place)
    return places


# --- Errors -----------------------------------------------------------------------------------------------------------


def _server_error(message: str) -> APIError:
    return APIError(message, status_code=500)


def _unknown_directive(directive: JSON, element: JSONObject) -> APIError:
    return _server_error(f"unknown patch type: {go_text(directive)} in map: {go_text(element)}")
