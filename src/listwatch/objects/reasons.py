"""Why something could not be read, and where in it: msgspec's answers in our words.

Everything else in this room builds on it; `errors.DecodeError` carries what it finds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["UNREADABLE", "name_keys", "reason_and_place", "reason_of"]

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""All that msgspec raises on bytes that it cannot read."""

_SAID = re.compile(r"(?P<reason>.*) - at (?:`key` in )?`\$(?P<place>[^`]*)`", re.DOTALL)
_STEP = re.compile(r"\.[^.\[]+|\[[^\]]*\]")
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_OF_HALF_PAIRS = re.compile("truncated|hex escape|surrogate")
_MSGSPECS_OWN = ("Expected ", "Invalid ", "Input ", "Integer ", "Number ", "Object ")


def reason_of(error: Exception, text: bytes = b"") -> str:
    """Why msgspec could not read the text."""
    reason, _ = reason_and_place(error)
    # It misses the second half of a pair in several ways, depending on what it finds there.
    if _OF_HALF_PAIRS.search(reason) and _HALF_PAIR.search(text):
        return "a string in it contains a lone surrogate"
    return reason


def reason_and_place(error: Exception) -> tuple[str, str]:
    """Why, and where as in `.containers[0].image`; empty where msgspec does not say."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply", ""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8", ""
    said = _SAID.fullmatch(str(error))
    reason, place = said.groups() if said else (str(error), "")
    if reason.startswith(_MSGSPECS_OWN):
        reason = reason[0].lower() + reason[1:].replace("`", "")
    return reason, place


def name_keys(place: str, tree: Any, same_fault: Callable[[], bool]) -> str:
    """The place with the key of each map, where msgspec only says `[...]`. Takes the tree apart to find them."""
    named = ""
    for step in _STEP.findall(place):
        if step == "[...]" and type(tree) is not dict:
            return place  # a mapping of another sort, which is not ours to take apart
        key = _culprit(tree, same_fault) if step == "[...]" else step[1:] if step[0] == "." else int(step[1:-1])
        named += f"[{key}]" if step == "[...]" else step
        tree = tree[key]
    return named


def _culprit(entries: dict[str, Any], same_fault: Callable[[], bool]) -> str:
    # By halves: a map may have many thousand entries, and somebody may touch it again and again.
    suspects = list(entries.items())
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        _keep(entries, half)
        suspects = half if same_fault() else suspects[len(half) :]
    _keep(entries, suspects)
    return suspects[0][0]


def _keep(entries: dict[str, Any], kept: list[tuple[str, Any]]) -> None:
    entries.clear()
    entries.update(kept)
