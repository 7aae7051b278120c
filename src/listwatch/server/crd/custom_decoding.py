"""Decodes custom objects by their definition.

Unlike built-in ones, custom objects must declare their kind. The kind and their types are checked by validation, not
here.
"""

from __future__ import annotations

from listwatch.errors import BadRequestError, DecodeError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import Decoded, kind_of, parse_body, unhandled_error, unrecognized_error
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError, decode_unstructured
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.json_tree import object_at, text_at
from listwatch.server.schema.schema import Schema

__all__ = ["decode_custom_body", "decode_custom_tree"]


def decode_custom_body(
    body: bytes, content_type: str, version: CustomVersion, schema: Schema, *, field_validation: str = "Warn"
) -> Decoded:
    """Decode a body as an object of one version of a custom resource."""
    expected = version.resource.gvk
    try:
        tree, yaml_errors = parse_body(body, content_type, find_duplicates=field_validation != "Ignore")
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise unrecognized_error(expected, error.message, body) from None
    _check_has_kind(object_at(tree), body, expected)
    errors = StrictErrors(yaml_errors)
    try:
        decoded = decode_custom_tree(object_at(tree), found, version, schema, errors)
    except UnmarshalError as error:
        raise unhandled_error(found, expected, str(error)) from None
    _check_version(object_at(tree), expected)
    if errors and field_validation == "Strict":
        raise unhandled_error(found, expected, errors.message())
    return Decoded(decoded, () if field_validation == "Ignore" else errors.warnings())


def decode_custom_tree(
    tree: JSONObject,
    kind: GroupVersionKind,
    version: CustomVersion,
    schema: Schema,
    errors: StrictErrors,
    *,
    keep_nulls: bool = False,
) -> JSONObject:
    """Decode a tree as an object of that version; raises UnmarshalError. Dropped fields are added to `errors`."""
    found = {"kind": kind.kind, "apiVersion": kind.api_version, **decode_unstructured(tree, schema, errors)}
    version.normalize(found, errors, keep_nulls=keep_nulls)
    return found


def _check_has_kind(tree: JSONObject, body: bytes, expected: GroupVersionKind) -> None:
    if not text_at(tree, "kind"):
        why = f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'"
        raise unrecognized_error(expected, why, body)


def _check_version(tree: JSONObject, expected: GroupVersionKind) -> None:
    if (api_version := text_at(tree, "apiVersion")) != expected.api_version:
        raise BadRequestError(
            f"the API version in the data ({api_version}) does not match "
            f"the expected API version ({expected.api_version})"
        )
