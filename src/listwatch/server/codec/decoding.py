"""Decodes request bodies: bytes to a JSON tree, and the tree to an object of the expected kind.

Types are checked, and unknown fields are dropped and reported. The result is normalized as the server writes it:
without nulls and empty optional values, with canonical times and quantities, and with the fields that are always
written. Equal objects therefore have equal trees, and an update that changes nothing can be detected.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec

from listwatch.errors import BadNameError, BadRequestError, DecodeError, UnsupportedMediaTypeError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import (
    DuplicateMembers,
    StrictErrors,
    UnmarshalError,
    decode_as,
    decode_unstructured,
)
from listwatch.server.json_tree import MAX_DEPTH, is_too_deep, object_at, quoted, text_at
from listwatch.server.schema.schema import Schema

__all__ = [
    "JSON_MEDIA_TYPE",
    "PROTOBUF_MEDIA_TYPE",
    "YAML_MEDIA_TYPE",
    "Decoded",
    "conversion_problem",
    "decode_body",
    "decode_options",
    "decode_tree",
    "go_name",
    "kind_of",
    "media_type",
    "parse_body",
    "parse_json",
    "unhandled_error",
    "unrecognized_error",
]

JSON_MEDIA_TYPE = "application/json"
YAML_MEDIA_TYPE = "application/yaml"
PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_KIND_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
SCHEME = "pkg/runtime/scheme.go:111"
_MAX_SHOWN = 30
_TOO_DEEP = "exceeded max depth"
# An escaped backslash, a pair of surrogates, or, as a group, a lone one.
_SURROGATE = re.compile(r"\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})")
# Messages of the standard library, and those of the real server.
_GO_MESSAGES = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Expecting ',' delimiter": "after object key:value pair",
    "Extra data": "after top-level value",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
}

_ESCAPED = {**{chr(code): f"\\{letter}" for code, letter in enumerate("abtnvfr", start=7)}, "'": "\\'", "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object, and the warnings for the client."""

    tree: JSONObject = field(repr=False)  # it may be a Secret
    warnings: tuple[str, ...] = ()


def decode_body(
    body: bytes, content_type: str, expected: GroupVersionKind, schema: Schema, *, field_validation: str = "Warn"
) -> Decoded:
    """Decode a body as an object of the expected kind; raises BadRequestError.

    `field_validation` is Strict, Warn or Ignore. Of a kind that is not in the schema, only the metadata are typed.
    Protobuf has no unknown fields to report.
    """
    if "protobuf" in content_type and media_type(content_type) == PROTOBUF_MEDIA_TYPE:
        return _decode_protobuf_body(body, expected, schema)
    try:
        tree, yaml_errors = parse_body(body, content_type, find_duplicates=field_validation != "Ignore")
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise unrecognized_error(expected, error.message, body) from None
    _check_kind(found, expected, schema)
    errors = StrictErrors(yaml_errors)
    try:
        decoded = decode_tree(object_at(tree), found, schema, errors)
    except UnmarshalError as error:
        raise unhandled_error(found, expected, str(error)) from None
    if errors and field_validation == "Strict":
        raise unhandled_error(found, expected, errors.message())
    return Decoded(decoded, () if field_validation == "Ignore" else errors.warnings())


def _decode_protobuf_body(body: bytes, expected: GroupVersionKind, schema: Schema) -> Decoded:
    try:
        found, raw = _open_protobuf(body, expected)
    except DecodeError as error:
        raise unrecognized_error(expected, error.message, body) from None
    _check_kind(found, expected, schema)
    try:
        return Decoded(decode_tree(_decode_protobuf(raw, found), found, schema, StrictErrors()))
    except DecodeError as error:
        raise unhandled_error(found, expected, error.message) from None
    except UnmarshalError as error:
        raise unhandled_error(found, expected, str(error)) from None


def _open_protobuf(body: bytes, expected: GroupVersionKind) -> tuple[GroupVersionKind, bytes]:
    """Return the kind and the message of a protobuf body; raises DecodeError."""
    # Most clients of an embedded server send JSON.
    from listwatch.protobuf.envelope import open_envelope

    opened = open_envelope(body)
    # As in Kubernetes' decoder, a malformed version counts as none.
    api_version = opened.api_version if opened.api_version.count("/") < 2 else ""
    return kind_of({"apiVersion": api_version, "kind": opened.kind}, expected), opened.raw


def _decode_protobuf(raw: bytes, kind: GroupVersionKind) -> JSONObject:
    from listwatch.protobuf.envelope import decode_message

    tree = decode_message(raw, kind.api_version, kind.kind)
    if is_too_deep(tree):
        raise DecodeError(_TOO_DEEP)
    return tree


def decode_tree(tree: JSONObject, kind: GroupVersionKind, schema: Schema, errors: StrictErrors) -> JSONObject:
    """Decode a tree as an object of a kind; raises UnmarshalError. Dropped fields are added to `errors`."""
    api_version = kind.api_version
    name = schema.kinds.get((api_version, kind.kind))
    found = decode_as(name, tree, schema, errors) if name else decode_unstructured(tree, schema, errors)
    return {"kind": kind.kind, "apiVersion": api_version, **found}


def decode_options(body: bytes, content_type: str, kind: str, schema: Schema) -> JSONObject:
    """Decode options sent as a body, such as DeleteOptions; an empty body gives no options."""
    if not body:
        return {}
    expected = GroupVersionKind("meta.k8s.io", "v1", kind)
    tree: JSON
    try:
        if media_type(content_type) == PROTOBUF_MEDIA_TYPE:
            found, raw = _open_protobuf(body, expected)
            tree = _decode_protobuf(raw, expected) if found.kind == kind else {}
        else:
            tree, _ = parse_body(body, content_type, find_duplicates=False)
            found = kind_of(tree, expected)
    except DecodeError as error:
        raise BadRequestError(error.message) from None
    if found.kind != kind:
        why = f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{SCHEME}"'
        raise BadRequestError(why)
    try:
        return decode_as(f"meta.v1.{kind}", object_at(tree), schema, StrictErrors())
    except UnmarshalError as error:
        raise BadRequestError(str(error)) from None


def kind_of(tree: JSON, expected: GroupVersionKind) -> GroupVersionKind:
    """Return the kind that a tree declares; what it leaves out is taken from the expected kind. Raises DecodeError."""
    if tree is None:
        tree = {}
    if isinstance(tree, dict) and _names(expected) == (tree.get("apiVersion"), tree.get("kind")):
        return expected  # the common case
    if not isinstance(tree, dict):
        raise DecodeError(_kind_error(f"{json_type(tree)} into Go value of type {_KIND_STRUCT}"))
    for name, value in tree.items():
        if name in ("apiVersion", "kind") and not isinstance(value, str | None):
            raise DecodeError(_kind_error(f"{json_type(value)} into Go struct field .{name} of type string"))
    api_version, kind = text_at(tree, "apiVersion"), text_at(tree, "kind")
    try:
        return GroupVersionKind.of(api_version or expected.api_version, kind or expected.kind)
    except BadNameError:
        raise DecodeError(f"unexpected GroupVersion string: {api_version}") from None


def _kind_error(mismatch: str) -> str:
    return f"couldn't get version/kind; json parse error: json: cannot unmarshal {mismatch}"


def _check_kind(found: GroupVersionKind, expected: GroupVersionKind, schema: Schema) -> None:
    if found == expected:
        return
    if why := conversion_problem(found, expected, schema):
        raise unhandled_error(found, expected, why)
    raise BadRequestError(
        f"the API version in the data ({found.api_version}) does not match "
        f"the expected API version ({expected.api_version})"
    )


def conversion_problem(found: GroupVersionKind, expected: GroupVersionKind, schema: Schema) -> str:
    """Return why an object of a kind cannot be read as one of a built-in kind; empty if only its version differs."""
    if schema.type_of(*_names(expected)) and not schema.type_of(*_names(found)):
        return f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{SCHEME}"'
    if found.kind != expected.kind:
        go_type = go_name(expected.group, expected.kind)
        return f"converting ({found.version}.{found.kind}) to ({go_type}): unknown conversion"
    return ""


def go_name(group: str, kind: str) -> str:
    """Return the Go type of a built-in kind, as the real server prints it."""
    package = "core" if group == "events.k8s.io" else group.partition(".")[0] or "core"
    return f"{package}.{kind}"


def _names(kind: GroupVersionKind) -> tuple[str, str]:
    return kind.api_version, kind.kind


def unhandled_error(found: GroupVersionKind, expected: GroupVersionKind, why: str) -> BadRequestError:
    return BadRequestError(
        f"{found.kind} in version {quoted(found.version)} cannot be handled as a {expected.kind}: {why}"
    )


def unrecognized_error(expected: GroupVersionKind, why: str, body: bytes) -> BadRequestError:
    shown = body[:_MAX_SHOWN].decode("utf-8", "replace") if body.startswith(b"{") else body[:_MAX_SHOWN].hex()
    summary = f"{shown} ..." if len(body) > _MAX_SHOWN else shown or "<empty>"
    if expected.kind == "Secret" and body:
        summary = "<omitted>"
    return BadRequestError(f"the object provided is unrecognized (must be of type {expected.kind}): {why} ({summary})")


# --- Bytes to JSON ----------------------------------------------------------------------------------------------------


def media_type(content_type: str) -> str:
    """Return the media type without parameters such as the charset."""
    return content_type.partition(";")[0].strip().lower()


def parse_body(body: bytes, content_type: str, *, find_duplicates: bool) -> tuple[JSON, list[str]]:
    """Parse JSON or YAML into a tree and the strict errors of the YAML parser; raises DecodeError."""
    match media_type(content_type):
        case "" | "application/json":
            return _parse_json_body(body, find_duplicates=find_duplicates), []
        case "application/yaml":
            # PyYAML is slow to import, and most clients send JSON.
            from listwatch.server.codec.yaml_decoding import parse_yaml

            return parse_yaml(body)
        case _:
            raise UnsupportedMediaTypeError(
                "the body of the request was in an unknown format - "
                f"accepted media types include: {JSON_MEDIA_TYPE}, {YAML_MEDIA_TYPE}, {PROTOBUF_MEDIA_TYPE}"
            )


def _parse_json_body(body: bytes, *, find_duplicates: bool) -> JSON:
    try:
        return parse_json(body, find_duplicates=find_duplicates)
    except DecodeError as error:
        # The message of the real server mentions the kind, because it decodes that first.
        raise DecodeError(f"couldn't get version/kind; json parse error: {error.message}") from None


def parse_json(body: bytes, *, find_duplicates: bool) -> JSON:
    """Parse JSON; raises DecodeError. With `find_duplicates`, objects with duplicate members are `DuplicateMembers`.

    The fast decoder does not report duplicates; they are detected by encoding the result and comparing. What is not
    Unicode in strings becomes U+FFFD, as in Go.
    """
    try:
        tree: JSON = msgspec.json.decode(body)
        if body.count(b"{") + body.count(b"[") > MAX_DEPTH and is_too_deep(tree):
            raise DecodeError(_TOO_DEEP)
        return _parse_pairs(body) if find_duplicates and _has_duplicates(body, tree) else tree
    except RecursionError:
        raise DecodeError(_TOO_DEEP) from None
    except (msgspec.DecodeError, ValueError):
        if (replaced := _in_unicode(body)) != body:
            try:
                return parse_json(replaced, find_duplicates=find_duplicates)
            except DecodeError as error:
                if error.message == _TOO_DEEP:
                    raise
        # Byte by byte, as the real server does: it reports a part of a multi-byte character as an invalid character.
        _raise_syntax_error(body.decode("latin-1"))


def _has_duplicates(body: bytes, tree: JSON) -> bool:
    # Each name and each string has two quotes, and quotes inside of them are escaped in the same way on both sides,
    # unless the body contains \u0022. So a lost name shows as two lost quotes.
    return b"\\u0022" in body or body.count(b'"') != msgspec.json.encode(tree).count(b'"')


def _parse_pairs(body: bytes) -> JSON:
    tree: JSON = json.loads(body, object_pairs_hook=_object_from_pairs)
    return tree


def _object_from_pairs(pairs: list[tuple[str, JSON]]) -> JSONObject:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    found = DuplicateMembers(members)
    found.pairs = pairs
    return found


def _raise_syntax_error(text: str) -> NoReturn:
    """Raise DecodeError with the real server's message for invalid JSON."""
    try:
        json.loads(text, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        if error.msg.startswith("Illegal trailing comma"):  # since Python 3.13, which points at the comma
            rest = rest[1:].lstrip(" \t\r\n")
        if not rest.strip() or error.msg.startswith("Unterminated string"):
            raise DecodeError("unexpected end of JSON input") from None
        character = rest[error.msg.startswith("Invalid \\escape") and len(rest) > 1]
        reason = _GO_MESSAGES.get(error.msg, "in string literal")
        if error.msg.startswith("Expecting ','") and _is_in_array(text[: error.pos]):
            reason = "after array element"
        raise DecodeError(f"invalid character {_go_character(character)} {reason}") from None
    except ValueError:
        # Python limits the digits of an integer.
        raise DecodeError("json: cannot unmarshal number into Go value of type float64") from None
    except RecursionError:
        raise DecodeError(_TOO_DEEP) from None
    raise DecodeError("json: cannot unmarshal number into Go value of type float64")


def _reject_constant(name: str) -> NoReturn:
    """Reject NaN and the infinities, which are not JSON."""
    if name.startswith("-"):
        raise DecodeError("invalid character 'I' in numeric literal")
    raise DecodeError(f"invalid character '{name[0]}' looking for beginning of value")


def _in_unicode(body: bytes) -> bytes:
    """Replace invalid bytes, each by one U+FFFD, and escapes of lone surrogates."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", body.decode("utf-8", "surrogateescape"))
    return _SURROGATE.sub(lambda found: found[0] if found[1] is None else "\\ufffd", text).encode()


def _is_in_array(text: str) -> bool:
    """Whether the innermost open bracket is that of an array."""
    depth = 0
    for character in reversed(re.sub(r'"(?:[^"\\]++|\\.)*+"', "", text)):
        depth += (character in "]}") - (character in "[{")
        if depth < 0:
            return character == "["
    return False


def _go_character(character: str) -> str:
    if character in _ESCAPED:
        return f"'{_ESCAPED[character]}'"
    if character.isprintable():
        return f"'{character}'"
    return f"'\\x{ord(character):02x}'" if character < "\x80" else f"'\\u{ord(character):04x}'"
