"""Translates the errors of msgspec into a reason and the path of the invalid field, for `DecodeError`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["DECODE_FAILURES", "name_keys", "reason_and_place", "reason_of"]

DECODE_FAILURES = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions that msgspec raises for bytes that it cannot decode."""

_MESSAGE = re.compile(r"(?P<reason>.*) - at (?:`key` in )?`\$(?P<place>[^`]*)`", re.DOTALL)
_STEP = re.compile(r"\.[^.\[]+|\[[^\]]*\]")
_LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_SURROGATE_MESSAGE = re.compile("truncated|hex escape|surrogate")
_MSGSPEC_PREFIXES = ("Expected ", "Invalid ", "Input ", "Integer ", "Number ", "Object ")


def reason_of(error: Exception, text: bytes = b"") -> str:
    """Why msgspec could not decode the text."""
    reason, _ = reason_and_place(error)
    # msgspec reports a lone surrogate in several ways, depending on what follows it.
    if _SURROGATE_MESSAGE.search(reason) and _LONE_SURROGATE.search(text):
        return "a string in it contains a lone surrogate"
    return reason


def reason_and_place(error: Exception) -> tuple[str, str]:
    """The reason, and the path such as `.containers[0].image`; empty if msgspec gives none."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply", ""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8", ""
    parsed = _MESSAGE.fullmatch(str(error))
    reason, place = parsed.groups() if parsed else (str(error), "")
    if reason.startswith(_MSGSPEC_PREFIXES):
        reason = reason[0].lower() + reason[1:].replace("`", "")
    return reason, place


def name_keys(place: str, tree: Any, same_error: Callable[[], bool]) -> str:
    """The path with the keys of maps, which msgspec reports as `[...]`. Modifies the tree to find them."""
    named = ""
    for step in _STEP.findall(place):
        if step == "[...]" and type(tree) is not dict:
            return place  # another type of mapping, which must not be modified
        key = (
            _find_invalid_key(tree, same_error) if step == "[...]" else step[1:] if step[0] == "." else int(step[1:-1])
        )
        named += f"[{key}]" if step == "[...]" else step
        tree = tree[key]
    return named


def _find_invalid_key(entries: dict[str, Any], same_error: Callable[[], bool]) -> str:
    # Binary search: a map may have thousands of entries, and be accessed repeatedly.
    candidates = list(entries.items())
    while len(candidates) > 1:
        half = candidates[: len(candidates) // 2]
        _keep(entries, half)
        candidates = half if same_error() else candidates[len(half) :]
    _keep(entries, candidates)
    return candidates[0][0]


def _keep(entries: dict[str, Any], kept: list[tuple[str, Any]]) -> None:
    entries.clear()
    entries.update(kept)
