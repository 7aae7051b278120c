"""The four kinds of patch, which of them fits what somebody wrote, and how it is sent.

JSON_PATCH             a list of operations
MERGE_PATCH            what is to be different; lists are replaced as a whole
STRATEGIC_MERGE_PATCH  the same, with lists merged by their keys; only built-in kinds know how
APPLY_PATCH            what a manager wants to be so: `ResourceClient.apply` sends it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from listwatch.api.requests import PATCH_TYPES
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
    "encode_patch",
    "fitting_type",
    "patch_type",
]


class PatchType(StrEnum):
    """How the server is to read a patch."""

    JSON = "json"
    MERGE = "merge"
    STRATEGIC = "strategic"
    APPLY = "apply"

    @property
    def content_type(self) -> str:
        return PATCH_TYPES[self]


JSON_PATCH = PatchType.JSON
MERGE_PATCH = PatchType.MERGE
STRATEGIC_MERGE_PATCH = PatchType.STRATEGIC
APPLY_PATCH = PatchType.APPLY

Patch = Object | Mapping[str, Any] | Sequence[Mapping[str, Any]] | bytes | str
"""A patch as Python has it, or already as the JSON to send."""


def fitting_type(patch: Patch, *, is_builtin: bool) -> PatchType:
    """The type that nothing is lost with: operations are a JSON patch, and only built-in kinds merge their lists."""
    match patch:
        case bytes() | str():
            raise RequestError("a patch that is already JSON could be of any type: say which, as in type=MERGE_PATCH")
        case Mapping() | Object():
            return STRATEGIC_MERGE_PATCH if is_builtin else MERGE_PATCH
        case Sequence():
            return JSON_PATCH
        case _:
            raise RequestError(f"a patch is a mapping, or a list of operations, not {patch!r}")


def patch_type(name: PatchType | str) -> PatchType:
    """The type of that name, as "merge"."""
    try:
        return PatchType(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in PatchType)
        raise RequestError(f"{name!r} is no type of patch: expected one of {known}") from None


def encode_patch(patch: Patch, type_: PatchType) -> bytes:
    """The body to send; refuses a patch that cannot be of that type."""
    match patch:
        case bytes():
            return patch
        case str():
            return patch.encode()
        case Object() if type_ is not JSON_PATCH:
            return patch.to_json()
    if isinstance(patch, Mapping | Object) is (type_ is JSON_PATCH):
        expected = "a list of operations" if type_ is JSON_PATCH else "a mapping of what is to be different"
        raise RequestError(f"a patch of type {type_.value!r} is {expected}, not {_article(patch)}")
    what = "a patch"
    return encode(finish(plain(patch, what=what), Any, what=what), what=what)


def _article(patch: Patch) -> str:
    return f"a {type(patch).__name__}"
