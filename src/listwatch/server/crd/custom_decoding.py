"""Makes custom objects of what clients send, by their definition. `decoding` does it for the built-in kinds.

Their types are not looked at here: that is left to validation. But unlike built-in ones they have to say what they are.
"""

from __future__ import annotations

from listwatch.errors import BadRequestError, DecodeError, InvalidError
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import Decoded, kind_of, parse_body, unhandled_error, unrecognized_error
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError, decode_unstructured
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree, child, object_at
from listwatch.server.schema.schema import Schema

__all__ = ["decode_custom", "read_custom"]


def decode_custom(
    body: bytes, content_type: str, version: CustomVersion, schema: Schema, *, field_validation: str = "Warn"
) -> Decoded:
    """The object that was sent where a custom resource is served."""
    expected = version.resource.gvk
    try:
        tree, complaints = parse_body(body, content_type, find_duplicates=field_validation != "Ignore")
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise unrecognized_error(expected, error.message, body) from None
    _check_kind(object_at(tree), body, expected)
    problems = StrictErrors(complaints)
    try:
        decoded = read_custom(object_at(tree), found, version, schema, problems)
    except UnmarshalError as error:
        raise unhandled_error(found, expected, str(error)) from None
    if problems and field_validation == "Strict":
        raise unhandled_error(found, expected, problems.message())
    return Decoded(decoded, () if field_validation == "Ignore" else problems.warnings())


def read_custom(
    tree: dict[str, Tree], kind: GroupVersionKind, version: CustomVersion, schema: Schema, problems: StrictErrors
) -> dict[str, Tree]:
    """The tree as an object of that version, or UnmarshalError; what is dropped on the way is added to the problems."""
    found = {"kind": kind.kind, "apiVersion": kind.api_version, **decode_unstructured(tree, schema, problems)}
    version.read(found, problems)
    return found


def _check_kind(tree: dict[str, Tree], body: bytes, expected: GroupVersionKind) -> None:
    if not tree.get("kind"):
        why = f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'"
        raise unrecognized_error(expected, why, body)
    if tree.get("apiVersion", "") != expected.api_version:
        raise BadRequestError(
            f"the API version in the data ({tree.get('apiVersion', '')}) does not match "
            f"the expected API version ({expected.api_version})"
        )
    if tree["kind"] != expected.kind:
        cause = invalid("kind", tree["kind"], f"must be {expected.kind}")
        raise InvalidError.of(tree["kind"], child(tree, "metadata", "name") or "", [cause], group=expected.group)
