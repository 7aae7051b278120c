"""Decodes the response in an AdmissionReview, with the errors of kube-apiserver for values of another type."""

from __future__ import annotations

import base64
import binascii

from listwatch.json_value import JSON, JSONObject
from listwatch.server.codec.scalars import json_type
from listwatch.server.codec.typed_decoding import StrictErrors, UnmarshalError, decode_as
from listwatch.server.schema.schema import Schema

__all__ = ["decode_response"]

_TEXTS = {"uid": "types.UID", "patchType": "v1.PatchType"}
_STRUCT = "AdmissionResponse"
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def decode_response(tree: JSON, schema: Schema) -> JSONObject:
    """Return the known fields of an AdmissionResponse that are set; raises UnmarshalError."""
    if not isinstance(tree, dict):
        shown = f"{json_type(tree)} into Go struct field AdmissionReview.response"
        raise UnmarshalError(f"json: cannot unmarshal {shown} of type v1.{_STRUCT}")
    found: JSONObject = {}
    for name, value in tree.items():
        if value is None:
            continue
        match name:
            case "uid" | "patchType":
                found[name] = _typed(value, str, name, _TEXTS[name])
            case "allowed":
                found[name] = _typed(value, bool, name, "bool")
            case "patch":
                found[name] = _base64(_typed(value, str, name, "[]uint8"))
            case "warnings":
                _typed(value, list, name, "[]string")
                assert isinstance(value, list)
                found[name] = [_typed(each, str, name, "string") for each in value if each is not None]
            case "auditAnnotations":
                _typed(value, dict, name, "map[string]string")
                assert isinstance(value, dict)
                found[name] = {key: _typed(each, str, name, "string") for key, each in value.items()}
            case "status":
                path = (None, "AdmissionReview", "response"), _STRUCT, name
                found[name] = decode_as("meta.v1.Status", value, schema, StrictErrors(), path=path)
    return found


def _typed(value: JSON, type_: type, name: str, go_type: str) -> JSON:
    if isinstance(value, type_):
        return value
    field = f"{_STRUCT}.response.{name}"
    raise UnmarshalError(f"json: cannot unmarshal {json_type(value)} into Go struct field {field} of type {go_type}")


def _base64(patch: JSON) -> JSON:
    assert isinstance(patch, str)
    try:
        base64.b64decode(patch, validate=True)
    except (binascii.Error, ValueError):
        place = next((index for index, each in enumerate(patch) if each not in _BASE64), len(patch))
        raise UnmarshalError(f"illegal base64 data at input byte {place}") from None
    return patch
