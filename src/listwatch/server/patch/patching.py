"""Applies the patch of a PATCH request to an object, and decodes the result like a request body.

application/json-patch+json             `json_patch`     a list of operations
application/merge-patch+json            `merge_patches`  null deletes, maps merge, other values replace
application/strategic-merge-patch+json  `merge_patches`  lists merge by the schema as well; built-in kinds only
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from listwatch.errors import (
    BadRequestError,
    DecodeError,
    InvalidError,
    RequestEntityTooLargeError,
    UnsupportedMediaTypeError,
)
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.conversion_errors import conversion_error
from listwatch.server.codec.decoding import (
    Decoded,
    conversion_problem,
    decode_tree,
    kind_of,
    media_type,
    parse_json,
)
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError
from listwatch.server.crd.custom_decoding import decode_custom_tree
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.field_errors import invalid
from listwatch.server.internal_errors import internal_error
from listwatch.server.json_tree import copied, go_text, is_too_deep, object_at, text_at
from listwatch.server.patch.json_patch import MAX_OPERATIONS, JSONPatchError, Operation, apply_json_patch
from listwatch.server.patch.merge_patches import StrategicMerge, merge_patch
from listwatch.server.schema.schema import Schema, Shape

__all__ = ["APPLY_PATCH", "JSON_PATCH", "MERGE_PATCH", "STRATEGIC_MERGE_PATCH", "apply_patch", "check_patch_type"]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Patcher = Callable[[bytes, JSONObject], JSON]
"""Returns the patched tree for a patch and a tree, and changes neither."""


def check_patch_type(content_type: str, *, is_custom: bool) -> None:
    """Raise UnsupportedMediaTypeError for a patch that the resource does not support; apply patches are not checked."""
    supported = (JSON_PATCH, MERGE_PATCH, *(() if is_custom else (STRATEGIC_MERGE_PATCH,)))
    if media_type(content_type) not in supported:
        raise UnsupportedMediaTypeError(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join([*supported, APPLY_PATCH])
        )


def apply_patch(
    content_type: str,
    patch: bytes,
    tree: JSONObject,
    schema: Schema,
    *,
    field_validation: str = "Warn",
    custom: CustomVersion | None = None,
    needs_version: bool = True,
) -> Decoded:
    """Apply a patch to an object, which is not changed in place; `custom` is the definition of a custom resource.

    With `needs_version`, a patched object without apiVersion is treated as kube-apiserver treats it.
    """
    patching = _Patching(tree, schema, custom, needs_version=needs_version)
    patchers = patching.patchers()
    check_patch_type(content_type, is_custom=STRATEGIC_MERGE_PATCH not in patchers)
    try:
        return patching.finish(patchers[media_type(content_type)](patch, tree), field_validation)
    except RecursionError:
        raise BadRequestError("error decoding patch: exceeded max depth") from None


class _Patching:
    """One patch of one object, and the strict errors of both."""

    def __init__(self, tree: JSONObject, schema: Schema, custom: CustomVersion | None, *, needs_version: bool) -> None:
        self._custom = custom
        self._needs_version = needs_version
        self._kind = GroupVersionKind.of(text_at(tree, "apiVersion"), text_at(tree, "kind"))
        self._schema = schema
        self._type = schema.type_of(self._kind.api_version, self._kind.kind)
        self._errors = StrictErrors()
        # A strategic merge patch, which error messages show in place of the result.
        self._shown: JSONObject | None = None

    def patchers(self) -> dict[str, Patcher]:
        known: dict[str, Patcher] = {JSON_PATCH: self._json_patch, MERGE_PATCH: self._merge_patch}
        if self._type:
            shape = Shape(type="ref", ref=self._type.name)
            known[STRATEGIC_MERGE_PATCH] = lambda patch, tree: self._strategic_merge_patch(patch, tree, shape)
        return known

    def finish(self, patched: JSON, field_validation: str) -> Decoded:
        """Decode the patched object like a request body."""
        # The managedFields of an object are a few levels deeper than the object.
        content = {**patched, "metadata": None} if isinstance(patched, dict) else patched
        if is_too_deep(content):
            raise BadRequestError("error decoding patch: exceeded max depth")
        try:
            found = kind_of(patched, self._kind)
            self._check_has_kind(object_at(patched))
            if found != self._kind:
                self._reject_kind(found, object_at(patched))
            decoded = self._decode(object_at(patched), found)
        except UnmarshalError as error:
            raise self._error(patched, self._first_error(object_at(patched)) or str(error)) from None
        except DecodeError as error:
            raise self._error(patched, error.message) from None
        self._check_has_version(object_at(patched))
        if self._errors and field_validation == "Strict":
            raise self._error(patched, self._errors.message())
        return Decoded(decoded, () if field_validation == "Ignore" else self._errors.warnings())

    def _reject_kind(self, found: GroupVersionKind, patched: JSONObject) -> None:
        """Raise the error for a patch that changes the kind; custom objects are validated for it."""
        expected = self._kind
        if not self._custom:
            problem = conversion_problem(found, expected, self._schema)
            raise UnmarshalError(problem or f"a patch cannot change the version from {expected} to {found}")
        causes = [
            invalid(name, value, f"must be {wanted}")
            for name, value, wanted in (
                ("kind", found.kind, expected.kind),
                ("apiVersion", found.api_version, expected.api_version),
            )
            if value != wanted
        ]
        raise InvalidError.of(found.kind, text_at(patched, "metadata", "name"), causes, group=found.group)

    def _check_has_kind(self, patched: JSONObject) -> None:
        if self._custom and not patched.get("kind"):
            raise UnmarshalError(f"Object 'Kind' is missing in '{msgspec.json.encode(_sorted(patched)).decode()}'")

    def _check_has_version(self, patched: JSONObject) -> None:
        """Raise the error for a custom object without version; `_decode` treats that of a built-in one."""
        if self._custom and not patched.get("apiVersion"):
            raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")

    def _first_error(self, patched: JSONObject) -> str:
        """Return the first error in the order of names, in which the real server encodes the patched object."""
        try:
            self._decode(object_at(_sorted(patched)), self._kind)
        except UnmarshalError as error:
            return str(error)
        return ""

    def _decode(self, patched: JSONObject, kind: GroupVersionKind) -> JSONObject:
        if self._custom:
            return decode_custom_tree(patched, kind, self._custom, self._schema, self._errors)
        if self._needs_version and not patched.get("apiVersion"):
            # kube-apiserver decodes the object as one of its internal version, which has no field of these names.
            for name in sorted(patched.keys() - {"apiVersion", "kind"}):
                self._errors.add_unknown(None, name)
            patched = {}
        return decode_tree(patched, kind, self._schema, self._errors)

    def _json_patch(self, patch: bytes, tree: JSONObject) -> JSON:
        operations = _operations(self._read(patch), self._errors)
        self._errors[:] = [f"json patch {error}" for error in self._errors]
        try:
            return apply_json_patch(operations, tree)
        except JSONPatchError as problem:
            error = InvalidError("the server rejected our request due to an error in our request")
            # As in the real server, the response has no reason. It is a note on the exception, which the server logs.
            error.add_note(str(problem))
            raise error from None

    def _merge_patch(self, patch: bytes, tree: JSONObject) -> JSON:
        changes = self._read(patch)
        if changes is None:
            raise BadRequestError("Invalid JSON Patch")
        return merge_patch(_map(changes), tree)

    def _strategic_merge_patch(self, patch: bytes, tree: JSONObject, shape: Shape) -> JSON:
        changes = self._read(patch)
        self._shown = {} if changes is None else _map(changes)
        self._errors.converts_numbers = True
        merged = StrategicMerge(self._schema).merge(self._shown, tree, shape)
        # A strategic merge patch ignores the kind in the patch.
        return {**merged, "apiVersion": tree["apiVersion"], "kind": tree["kind"]}

    def _read(self, patch: bytes) -> JSON:
        try:
            changes = parse_json(patch, find_duplicates=True)
        except DecodeError as error:
            raise BadRequestError(f"error decoding patch: {error.message}") from None
        self._errors.add_duplicates(changes)
        # Patching needs plain dicts, not DuplicateMembers.
        return copied(changes) if self._errors else changes

    def _error(self, patched: JSON, why: str) -> InvalidError:
        if self._shown is None:
            shown = msgspec.json.encode(patched).decode()
        else:
            shown, why = go_text(self._shown), conversion_error(why)
        # The real server shows the whole object, but an error must not contain a secret.
        cause = invalid("patch", "<omitted>" if self._kind.kind == "Secret" else shown, why)
        return InvalidError.of("", "", [cause])


def _sorted(tree: JSON) -> JSON:
    if isinstance(tree, dict):
        return {name: _sorted(tree[name]) for name in sorted(tree)}
    return [_sorted(item) for item in tree] if isinstance(tree, list) else tree


def _map(changes: JSON) -> JSONObject:
    if not isinstance(changes, dict):
        raise _wrong_type(changes, "map[string]interface {}")
    return changes


def _operations(changes: JSON, errors: StrictErrors) -> list[Operation]:
    if not isinstance(changes, list | None):
        raise _wrong_type(changes, "[]handlers.jsonPatchOp")
    operations = changes or []
    if len(operations) > MAX_OPERATIONS:
        raise RequestEntityTooLargeError(
            "Request entity too large: The allowed maximum operations in a JSON patch "
            f"is {MAX_OPERATIONS}, got {len(operations)}"
        )
    return [_check_operation(operation, index, errors) for index, operation in enumerate(operations)]


def _check_operation(operation: JSON, index: int, errors: StrictErrors) -> Operation:
    if not isinstance(operation, dict):
        raise _wrong_type(operation, "handlers.jsonPatchOp")
    for name, value in operation.items():
        if name not in ("op", "path", "from", "value"):
            errors.add_unknown((None, "", index), name)
        elif name != "value" and not isinstance(value, str | None):
            raise BadRequestError(
                f"error decoding patch: json: cannot unmarshal {json_type(value)} "
                f"into Go struct field jsonPatchOp.{name} of type string"
            )
    return operation


def _wrong_type(value: JSON, expected: str) -> BadRequestError:
    return BadRequestError(
        f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go value of type {expected}"
    )
