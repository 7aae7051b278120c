"""Makes objects of what clients send, as the API server's decoder does: `bodies` reads the bytes, this the meaning.

Types are checked, unknown fields are dropped and reported, and what comes out is written as the server writes it:
without nulls and empty optional values, with canonical times and quantities, and with the fields that are always there.
So objects that say the same are the same, and an update that changes nothing can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.errors import BadNameError, BadRequestError, DecodeError
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.bodies import read_body
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.strictness import Problems
from listwatch.server.codec.typed_readers import Unfit, read_as, read_unstructured
from listwatch.server.json_tree import Tree, quoted
from listwatch.server.schema.schema import Schema

__all__ = [
    "Decoded",
    "decode_object",
    "decode_options",
    "go_name",
    "kind_of",
    "read_object",
    "unhandled",
    "unrecognized",
]

_KIND_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_SCHEME = "pkg/runtime/scheme.go:111"
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object, and what its sender is warned about."""

    tree: Tree
    warnings: tuple[str, ...] = ()


def decode_object(
    body: bytes, content_type: str, expected: GroupVersionKind, schema: Schema, *, field_validation: str = "Warn"
) -> Decoded:
    """The object that was sent where `expected` is served; raises BadRequestError for one that cannot be that.

    `field_validation` is Strict, Warn or Ignore. A kind that is not built in is only read as JSON with metadata.
    """
    try:
        tree, complaints = read_body(body, content_type, find_repeats=field_validation != "Ignore")
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise unrecognized(expected, error.message, body) from None
    _check_kind(found, expected, schema)
    problems = Problems(complaints)
    try:
        decoded = read_object(tree or {}, found, schema, problems)
    except Unfit as error:
        raise unhandled(found, expected, str(error)) from None
    if problems and field_validation == "Strict":
        raise unhandled(found, expected, problems.message())
    return Decoded(decoded, () if field_validation == "Ignore" else problems.warnings())


def read_object(tree: dict[str, Tree], kind: GroupVersionKind, schema: Schema, problems: Problems) -> dict[str, Tree]:
    """The tree as an object of that kind, or Unfit; what is dropped on the way is added to the problems."""
    known = schema.type_of(kind.api_version, kind.kind)
    found = read_as(known.name, tree, schema, problems) if known else read_unstructured(tree, schema, problems)
    return {"kind": kind.kind, "apiVersion": kind.api_version, **found}


def decode_options(body: bytes, content_type: str, kind: str, schema: Schema) -> Tree:
    """Options that came as a body, such as DeleteOptions; nothing at all for an empty one."""
    if not body:
        return {}
    expected = GroupVersionKind("meta.k8s.io", "v1", kind)
    try:
        tree, _ = read_body(body, content_type, find_repeats=False)
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise BadRequestError(error.message) from None
    if found.kind != kind:
        why = f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{_SCHEME}"'
        raise BadRequestError(why)
    try:
        return read_as(f"meta.v1.{kind}", tree or {}, schema, Problems())
    except Unfit as error:
        raise BadRequestError(str(error)) from None


def kind_of(tree: Tree, expected: GroupVersionKind) -> GroupVersionKind:
    """What the tree says it is, completed by what is expected of it."""
    if tree is None:
        tree = {}
    if isinstance(tree, dict) and _names(expected) == (tree.get("apiVersion"), tree.get("kind")):
        return expected  # as nearly always
    if not isinstance(tree, dict):
        raise DecodeError(_no_kind(f"{json_type(tree)} into Go value of type {_KIND_STRUCT}"))
    for name, value in tree.items():
        if name in ("apiVersion", "kind") and not isinstance(value, str | None):
            raise DecodeError(_no_kind(f"{json_type(value)} into Go struct field .{name} of type string"))
    api_version, kind = tree.get("apiVersion") or "", tree.get("kind") or ""
    try:
        return GroupVersionKind.of(api_version or expected.api_version, kind or expected.kind)
    except BadNameError:
        raise DecodeError(f"unexpected GroupVersion string: {api_version}") from None


def _no_kind(mismatch: str) -> str:
    return f"couldn't get version/kind; json parse error: json: cannot unmarshal {mismatch}"


def _check_kind(found: GroupVersionKind, expected: GroupVersionKind, schema: Schema) -> None:
    if found == expected:
        return
    if schema.type_of(*_names(expected)) and not schema.type_of(*_names(found)):
        why = f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{_SCHEME}"'
        raise unhandled(found, expected, why)
    if found.kind != expected.kind:
        home = go_name(expected.group, expected.kind)
        why = f"converting ({found.version}.{found.kind}) to ({home}): unknown conversion"
        raise unhandled(found, expected, why)
    raise BadRequestError(
        f"the API version in the data ({found.api_version}) does not match "
        f"the expected API version ({expected.api_version})"
    )


def go_name(group: str, kind: str) -> str:
    """What the real server's own code calls a built-in kind."""
    package = "core" if group == "events.k8s.io" else group.partition(".")[0] or "core"
    return f"{package}.{kind}"


def _names(kind: GroupVersionKind) -> tuple[str, str]:
    return kind.api_version, kind.kind


def unhandled(found: GroupVersionKind, expected: GroupVersionKind, why: str) -> BadRequestError:
    return BadRequestError(
        f"{found.kind} in version {quoted(found.version)} cannot be handled as a {expected.kind}: {why}"
    )


def unrecognized(expected: GroupVersionKind, why: str, body: bytes) -> BadRequestError:
    shown = body[:_SHOWN].decode("utf-8", "replace") if body.startswith(b"{") else body[:_SHOWN].hex()
    summary = f"{shown} ..." if len(body) > _SHOWN else shown or "<empty>"
    if expected.kind == "Secret" and body:
        summary = "<omitted>"
    return BadRequestError(f"the object provided is unrecognized (must be of type {expected.kind}): {why} ({summary})")
