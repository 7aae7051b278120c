"""Makes custom objects of what clients send, by their definition. `decoding` does it for the built-in kinds.

Their types are not looked at here: that is left to validation. But unlike built-in ones they have to say what they are.
"""

from __future__ import annotations

from listwatch.errors import BadRequestError, DecodeError, InvalidError
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.bodies import read_body
from listwatch.server.codec.decoding import Decoded, kind_of, unhandled, unrecognized
from listwatch.server.codec.strictness import Problems
from listwatch.server.codec.typed_readers import Unfit, read_unstructured
from listwatch.server.crd.definitions import CustomVersion
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree, child
from listwatch.server.schema.schema import Schema

__all__ = ["decode_custom", "read_custom"]


def decode_custom(
    body: bytes, content_type: str, version: CustomVersion, schema: Schema, *, field_validation: str = "Warn"
) -> Decoded:
    """The object that was sent where a custom resource is served."""
    expected = version.resource.gvk
    try:
        tree, complaints = read_body(body, content_type, find_repeats=field_validation != "Ignore")
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise unrecognized(expected, error.message, body) from None
    _check_kind(tree or {}, body, expected)
    problems = Problems(complaints)
    try:
        decoded = read_custom(tree or {}, found, version, schema, problems)
    except Unfit as error:
        raise unhandled(found, expected, str(error)) from None
    if problems and field_validation == "Strict":
        raise unhandled(found, expected, problems.message())
    return Decoded(decoded, () if field_validation == "Ignore" else problems.warnings())


def read_custom(
    tree: dict[str, Tree], kind: GroupVersionKind, version: CustomVersion, schema: Schema, problems: Problems
) -> dict[str, Tree]:
    """The tree as an object of that version, or Unfit; what is dropped on the way is added to the problems."""
    found = {"kind": kind.kind, "apiVersion": kind.api_version, **read_unstructured(tree, schema, problems)}
    version.read(found, problems)
    return found


def _check_kind(tree: dict[str, Tree], body: bytes, expected: GroupVersionKind) -> None:
    if not tree.get("kind"):
        why = f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'"
        raise unrecognized(expected, why, body)
    if tree.get("apiVersion", "") != expected.api_version:
        raise BadRequestError(
            f"the API version in the data ({tree.get('apiVersion', '')}) does not match "
            f"the expected API version ({expected.api_version})"
        )
    if tree["kind"] != expected.kind:
        cause = invalid("kind", tree["kind"], f"must be {expected.kind}")
        raise InvalidError.of(tree["kind"], child(tree, "metadata", "name") or "", [cause], group=expected.group)
