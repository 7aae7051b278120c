"""Sets of characters, as sorted ranges of code points, and the named sets of Go's regular expressions."""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain, groupby

__all__ = [
    "ANY",
    "PERL_CLASSES",
    "POSIX_CLASSES",
    "Ranges",
    "complement",
    "contains",
    "normalized",
    "unicode_class",
    "variants",
]

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of code points, sorted and disjoint."""

_DIGITS, _UPPER, _LOWER = (48, 57), (65, 90), (97, 122)

ANY: Ranges = ((0, sys.maxunicode),)
PERL_CLASSES: dict[str, Ranges] = {
    "d": (_DIGITS,),
    "s": ((9, 10), (12, 13), (32, 32)),
    "w": (_DIGITS, _UPPER, (95, 95), _LOWER),
}
POSIX_CLASSES: dict[str, Ranges] = {
    "alnum": (_DIGITS, _UPPER, _LOWER),
    "alpha": (_UPPER, _LOWER),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": (_DIGITS,),
    "graph": ((33, 126),),
    "lower": (_LOWER,),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": (_UPPER,),
    "word": PERL_CLASSES["w"],
    "xdigit": (_DIGITS, (65, 70), (97, 102)),
}

# Characters that are equal without regard to case, besides those that str.upper and str.lower map to each other.
_ORBITS = ("kK\u212a", "sS\u017f", "\u00e5\u00c5\u212b", "\u00df\u1e9e", "\u03c9\u03a9\u2126", "\u03c3\u03c2\u03a3")
_OTHER_VARIANTS = {character: frozenset(orbit) for orbit in _ORBITS for character in orbit}

# Scripts whose characters can be recognized by the names of the characters.
_SCRIPTS = {
    "Arabic": ("ARABIC ",),
    "Armenian": ("ARMENIAN ",),
    "Cyrillic": ("CYRILLIC ",),
    "Devanagari": ("DEVANAGARI ",),
    "Georgian": ("GEORGIAN ",),
    "Greek": ("GREEK ",),
    "Han": ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "CJK RADICAL", "KANGXI RADICAL"),
    "Hangul": ("HANGUL ",),
    "Hebrew": ("HEBREW ",),
    "Hiragana": ("HIRAGANA ",),
    "Katakana": ("KATAKANA ",),
    "Latin": ("LATIN ",),
    "Thai": ("THAI ",),
}
_SUBCATEGORIES = {"C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps"}
_CATEGORIES = {*_SUBCATEGORIES, *(first + second for first, all_ in _SUBCATEGORIES.items() for second in all_)}


def normalized(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the union of ranges in any order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found, start = [], 0
    for low, high in normalized(ranges):
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= sys.maxunicode:
        found.append((start, sys.maxunicode))
    return tuple(found)


def contains(ranges: Ranges, character: str) -> bool:
    code = ord(character)
    index = bisect_right(ranges, (code, sys.maxunicode)) - 1
    return index >= 0 and code <= ranges[index][1]


def variants(character: str) -> frozenset[str]:
    """Return the characters that are equal without regard to case."""
    found = {character, *(each for each in (character.lower(), character.upper()) if len(each) == 1)}
    return _OTHER_VARIANTS.get(character, frozenset()) | found


def unicode_class(name: str) -> Ranges | None:
    """Return the characters of a general category or a script; None if there is none of that name."""
    if name == "Any":
        return ANY
    if name in _CATEGORIES:
        return normalized(chain.from_iterable(each for key, each in _categories().items() if key.startswith(name)))
    return _scripts().get(name) if name in _SCRIPTS else None


@lru_cache(maxsize=1)
def _categories() -> dict[str, Ranges]:
    """Return the characters of all general categories, in one pass, which takes some time."""
    return _grouped(unicodedata.category)


@lru_cache(maxsize=1)
def _scripts() -> dict[str, Ranges]:
    names = {prefix: script for script, prefixes in _SCRIPTS.items() for prefix in prefixes}
    first_words = {prefix.split()[0]: prefix for prefix in names}

    def script_of(character: str) -> str:
        name = unicodedata.name(character, "")
        if name.partition(" ")[0] not in first_words:
            return ""
        return next((script for prefix, script in names.items() if name.startswith(prefix)), "")

    return _grouped(script_of)


def _grouped(group_of: Callable[[str], str]) -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    for group, codes in groupby(range(sys.maxunicode + 1), key=lambda code: group_of(chr(code))):
        first, *_, last = [*codes] * 2
        found.setdefault(group, []).append((first, last))
    return {group: tuple(ranges) for group, ranges in found.items()}
