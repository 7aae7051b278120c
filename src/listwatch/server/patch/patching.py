"""PATCH: the object as it is, and a patch of some media type, make the object as it shall be.

    application/json-patch+json             `json_patch`       operations, one after the other
    application/merge-patch+json            `merge_patch`      null deletes, maps merge, all else replaces
    application/strategic-merge-patch+json  `strategic_merge`  the same, and lists merge by the schema; built-in only

Others, such as apply, are handed in by those who know more than the object and the patch. What comes out has been read
like a body that a client sent: the types are right, and unknown fields are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from listwatch.errors import (
    BadRequestError,
    DecodeError,
    InvalidError,
    RequestEntityTooLargeError,
    UnsupportedMediaTypeError,
)
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import Decoded, decode_tree, kind_of, media_type, parse_json
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree, copied, go_text
from listwatch.server.patch.json_patch import MAX_OPERATIONS, Operation, apply_json_patch
from listwatch.server.patch.merge_patch import merge_patch
from listwatch.server.patch.strategic_merge import StrategicMerge
from listwatch.server.schema.schema import Schema, Shape

__all__ = ["APPLY_PATCH", "JSON_PATCH", "MERGE_PATCH", "STRATEGIC_MERGE_PATCH", "Patcher", "apply_patch"]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Patcher = Callable[[bytes, Tree], Tree]
"""Makes the patched tree of a patch and a tree, and changes neither."""


def apply_patch(
    content_type: str,
    patch: bytes,
    tree: Tree,
    schema: Schema,
    *,
    field_validation: str = "Warn",
    others: Mapping[str, Patcher] = MappingProxyType({}),
    custom: CustomVersion | None = None,
) -> Decoded:
    """What the patch makes of the tree, which stays as it is; the tree itself says of which kind it is.

    `others` are patchers by media type, for the types that are not known here. `custom` is what is known of a custom
    resource.
    """
    patching = _Patching(tree, schema, custom)
    patchers = {**patching.patchers(), **others}
    kind = media_type(content_type)
    if kind not in patchers:
        raise UnsupportedMediaTypeError(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(patchers)}"
        )
    try:
        return patching.finish(patchers[kind](patch, tree), field_validation)
    except RecursionError:
        raise BadRequestError("error decoding patch: exceeded max depth") from None


class _Patching:
    """One patch on its way to one object, and what a strict reader has to say about both."""

    def __init__(self, tree: Tree, schema: Schema, custom: CustomVersion | None) -> None:
        self._custom = custom
        self._kind = GroupVersionKind.of(tree["apiVersion"], tree["kind"])
        self._schema = schema
        self._type = schema.type_of(self._kind.api_version, self._kind.kind)
        self._problems = StrictErrors()
        self._shown: Tree = None  # a strategic merge patch, of which refusals speak rather than of its result

    def patchers(self) -> dict[str, Patcher]:
        known: dict[str, Patcher] = {JSON_PATCH: self._json_patched, MERGE_PATCH: self._merged}
        if self._type:
            shape = Shape(type="ref", ref=self._type.name)
            known[STRATEGIC_MERGE_PATCH] = lambda patch, tree: self._strategically_merged(patch, tree, shape)
        return known

    def finish(self, patched: Tree, field_validation: str) -> Decoded:
        """The patched object as if a client had sent it."""
        try:
            found = kind_of(patched, self._kind)
            if found != self._kind:
                raise UnmarshalError(f"{found} is not {self._kind}, and a patch cannot make it so")
            decoded = self._decoded(patched, found)
        except UnmarshalError as error:
            raise self._refusal(patched, self._first_misfit(patched) or str(error)) from None
        except DecodeError as error:
            raise self._refusal(patched, error.message) from None
        if self._problems and field_validation == "Strict":
            raise self._refusal(patched, self._problems.message())
        return Decoded(decoded, () if field_validation == "Ignore" else self._problems.warnings())

    def _first_misfit(self, patched: Tree) -> str:
        """What is wrong first in the order of names, in which the real server writes down what it has patched."""
        try:
            self._decoded(_sorted(patched), self._kind)
        except UnmarshalError as error:
            return str(error)
        return ""

    def _decoded(self, patched: Tree, kind: GroupVersionKind) -> Tree:
        if self._custom:
            return decode_custom_tree(patched, kind, self._custom, self._schema, self._problems)
        return decode_tree(patched, kind, self._schema, self._problems)

    def _json_patched(self, patch: bytes, tree: Tree) -> Tree:
        operations = _operations(self._read(patch), self._problems)
        self._problems[:] = [f"json patch {problem}" for problem in self._problems]
        return apply_json_patch(operations, tree)

    def _merged(self, patch: bytes, tree: Tree) -> Tree:
        changes = self._read(patch)
        if changes is None:
            raise BadRequestError("Invalid JSON Patch")
        return merge_patch(_map(changes), tree)

    def _strategically_merged(self, patch: bytes, tree: Tree, shape: Shape) -> Tree:
        changes = self._read(patch)
        self._shown = {} if changes is None else _map(changes)
        merged = StrategicMerge(self._schema).merge(self._shown, tree, shape)
        # This way of patching does not look at what the patch says about the kind.
        return {**merged, "apiVersion": tree["apiVersion"], "kind": tree["kind"]}

    def _read(self, patch: bytes) -> Tree:
        try:
            changes = parse_json(patch, find_duplicates=True)
        except DecodeError as error:
            raise BadRequestError(f"error decoding patch: {error.message}") from None
        self._problems.add_duplicates(changes)
        # Whoever patches expects plain maps, not those that know what they were given twice.
        return copied(changes) if self._problems else changes

    def _refusal(self, patched: Tree, why: str) -> InvalidError:
        shown = msgspec.json.encode(patched).decode() if self._shown is None else go_text(self._shown)
        # The real server shows all of it; a secret has no place in an error.
        cause = invalid("patch", "<omitted>" if self._kind.kind == "Secret" else shown, why)
        return InvalidError.of("", "", [cause])


def _sorted(tree: Tree) -> Tree:
    if isinstance(tree, dict):
        return {name: _sorted(tree[name]) for name in sorted(tree)}
    return [_sorted(item) for item in tree] if isinstance(tree, list) else tree


def _map(changes: Tree) -> dict[str, Tree]:
    if not isinstance(changes, dict):
        raise _wrong_type(changes, "map[string]interface {}")
    return changes


def _operations(changes: Tree, problems: StrictErrors) -> list[Operation]:
    if not isinstance(changes, list | None):
        raise _wrong_type(changes, "[]handlers.jsonPatchOp")
    operations = changes or []
    if len(operations) > MAX_OPERATIONS:
        raise RequestEntityTooLargeError(
            "Request entity too large: The allowed maximum operations in a JSON patch "
            f"is {MAX_OPERATIONS}, got {len(operations)}"
        )
    for index, operation in enumerate(operations):
        _check_operation(operation, index, problems)
    return operations


def _check_operation(operation: Tree, index: int, problems: StrictErrors) -> None:
    if not isinstance(operation, dict):
        raise _wrong_type(operation, "handlers.jsonPatchOp")
    for name, value in operation.items():
        if name not in ("op", "path", "from", "value"):
            problems.add_unknown((None, "", index), name)
        elif name != "value" and not isinstance(value, str | None):
            raise BadRequestError(
                f"error decoding patch: json: cannot unmarshal {json_type(value)} "
                f"into Go struct field jsonPatchOp.{name} of type string"
            )


def _wrong_type(value: Tree, expected: str) -> BadRequestError:
    return BadRequestError(
        f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go value of type {expected}"
    )
