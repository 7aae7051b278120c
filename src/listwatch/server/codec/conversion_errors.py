"""Translates errors of the JSON decoder to those of the converter with which kube-apiserver reads merged objects."""

from __future__ import annotations

import re

__all__ = ["conversion_error"]

_WRONG_TYPE = re.compile(
    r"json: cannot unmarshal (?P<found>\w+)(?: (?P<number>\S+))? into Go struct field \S+ of type (?P<expected>.+)"
)
_GO_KINDS = {"string": "string", "bool": "bool", "object": "map", "array": "slice"}
_SCALARS = {"string", "bool", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64"}


def conversion_error(why: str) -> str:
    """Return the error for a wrong type in an object that the real server decodes with a converter."""
    if why.startswith("illegal base64 data"):
        return f"error decoding from json: {why}"
    mismatch = _WRONG_TYPE.fullmatch(why)
    if not mismatch:
        return why
    expected, found = mismatch["expected"], _GO_KINDS.get(mismatch["found"], "int64")
    if mismatch["number"] and not mismatch["number"].lstrip("-").isdecimal():
        found = "float64"
    if expected.startswith("map["):
        return f"cannot restore map from {found}"
    if expected.startswith("[]"):
        return f"cannot restore slice from {found}"
    if expected not in _SCALARS:
        return f"cannot restore struct from: {found}"
    # Go could convert integers to strings and numbers to each other; the converter rejects that with this message.
    if (found == "int64" and expected == "string") or (found == "float64" and "int" in expected):
        return f"cannot convert {found} to {expected}"
    return f"unrecognized type: {expected}"
