"""The filter of a live table: words that the key of an object contains, and conditions on its labels."""

from __future__ import annotations

from collections.abc import Callable

from listwatch.errors import ListWatchError
from listwatch.objects.object import Object
from listwatch.selectors import parse_label_selector

__all__ = ["parse_filter"]

Matches = Callable[[Object], bool]


def parse_filter(text: str) -> Matches | None:
    """Return whether an object matches all words of the text; None for a text without words.

    A word is a part of `namespace/name`; `!word` excludes it; `app=web` and `app!=web` are conditions on labels. A
    condition that is not complete yet counts as a part of the name.
    """
    conditions = [_condition(word) for word in text.split()]
    if not conditions:
        return None
    if len(conditions) == 1:
        return conditions[0]
    return lambda item: all(matches(item) for matches in conditions)


def _condition(word: str) -> Matches:
    if "=" in word:
        try:
            selector = parse_label_selector(word)
            return lambda item: selector.matches(item.labels)
        except ListWatchError:
            pass  # it is still being written
    if word.startswith("!") and len(word) > 1:
        excluded = word[1:].lower()
        return lambda item: excluded not in item.cache_key
    wanted = word.lower()
    return lambda item: wanted in item.cache_key
