"""The patch types of the API, the default type of a patch, and the encoding.

JSON_PATCH             a list of operations
MERGE_PATCH            the changed fields; lists are replaced as a whole
STRATEGIC_MERGE_PATCH  the changed fields; lists are merged by their keys; for built-in kinds only
APPLY_PATCH            the fields that a manager owns; `ResourceClient.apply` sends it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from listwatch.api.http_messages import PATCH_TYPES
from listwatch.errors import RequestError
from listwatch.objects.object import Object
from listwatch.objects.writing import encode, finish, plain

__all__ = [
    "APPLY_PATCH",
    "JSON_PATCH",
    "MERGE_PATCH",
    "STRATEGIC_MERGE_PATCH",
    "Patch",
    "PatchType",
    "PatchTypeLike",
    "default_patch_type",
    "encode_patch",
    "parse_patch_type",
]


class PatchType(StrEnum):
    """How the server interprets a patch."""

    JSON = "json"
    MERGE = "merge"
    STRATEGIC = "strategic"
    APPLY = "apply"

    @property
    def content_type(self) -> str:
        """The content type that names this patch type."""
        return PATCH_TYPES[self]


JSON_PATCH = PatchType.JSON
MERGE_PATCH = PatchType.MERGE
STRATEGIC_MERGE_PATCH = PatchType.STRATEGIC
APPLY_PATCH = PatchType.APPLY

PatchTypeLike = PatchType | Literal["json", "merge", "strategic", "apply"]
"""A patch type, or its short name."""

Patch = Object | Mapping[str, object] | Sequence[Mapping[str, object]] | bytes | str
"""A patch as Python objects, or as encoded JSON."""


def default_patch_type(patch: Patch, *, is_builtin: bool) -> PatchType:
    """Return the default type of a patch: lists are JSON patches, mappings are merge patches."""
    match patch:
        case bytes() | str():
            raise RequestError('the type of an encoded patch is unknown: pass `type`, for example type="merge"')
        case Mapping() | Object():
            return STRATEGIC_MERGE_PATCH if is_builtin else MERGE_PATCH
        case Sequence():
            return JSON_PATCH
        case _:
            raise RequestError(f"a patch must be a mapping or a list of operations, not {patch!r}")


def parse_patch_type(name: PatchTypeLike) -> PatchType:
    """Return the patch type of a name, such as "merge"."""
    try:
        return PatchType(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in PatchType)
        raise RequestError(f"unknown patch type {name!r}: pass one of {known}") from None


def encode_patch(patch: Patch, type_: PatchType) -> bytes:
    """Return the body of a patch request; RequestError if the patch does not fit the type."""
    match patch:
        case bytes():
            return patch
        case str():
            return patch.encode()
        case Object() if type_ is not JSON_PATCH:
            return patch.to_json()
    if isinstance(patch, Mapping | Object) is (type_ is JSON_PATCH):
        expected = "a list of operations" if type_ is JSON_PATCH else "a mapping of the changed fields"
        raise RequestError(f"a patch of type {type_.value!r} must be {expected}, not a {type(patch).__name__}")
    what = "the patch"
    return encode(finish(plain(patch, what=what), Any, what=what), what=what)
