"""Functions of strings, and of regular expressions."""

from __future__ import annotations

from functools import lru_cache

from listwatch.server.cel.declarations import Functions, function, method
from listwatch.server.cel.library.formatting import formatted, quoted_text
from listwatch.server.cel.type_system import BOOL, DYN, INT, STRING, list_of
from listwatch.server.cel.values import CELError, Value
from listwatch.server.regexp.matching import Regexp, TooMuchWorkError
from listwatch.server.regexp.parsing import RegexpSyntaxError, parse

__all__ = ["TEXTS"]

_STRINGS = list_of(STRING)
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_UPPER = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def _check_index(index: int, text: str) -> None:
    if not 0 <= index <= len(text):
        raise CELError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    _check_index(index, text)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CELError(f"index out of range: {offset}")
    return text.find(part, offset) if offset < len(text) else -1


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if offset is None:
        return text.rfind(part) if part else len(text)
    if not part:
        return offset
    if offset < 0:
        raise CELError(f"index out of range: {offset}")
    return text.rfind(part, 0, offset + len(part)) if offset < len(text) else -1


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        _check_index(start, text)
        return text[start:]
    if start > end:
        raise CELError(f"invalid substring range. start: {start}, end: {end}")
    _check_index(start, text)
    _check_index(end, text)
    return text[start:end]


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if not separator:
        parts = [*text]
        return parts if limit < 0 or len(parts) <= limit else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    return text.replace(old, new, limit)


def _join(parts: list[Value], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise CELError(f"join: invalid input: {part}")
    return separator.join(str(part) for part in parts)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Regexp:
    return Regexp(parse(pattern))


def _regexp(pattern: str, prefix: str = "") -> Regexp:
    try:
        return _compiled(pattern)
    except RegexpSyntaxError as error:
        raise CELError(f"{prefix}{error}") from None


def _too_costly() -> CELError:
    return CELError("the embedded server stopped a regular expression that takes too many steps")


def _matches(text: str, pattern: str) -> bool:
    try:
        return _regexp(pattern).search(text)
    except TooMuchWorkError:
        raise _too_costly() from None


def _find(text: str, pattern: str) -> str:
    found = _find_all(text, pattern, 1)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    regexp, found, start, last_end = _regexp(pattern, "Illegal regex: "), list[str](), 0, -1
    while start <= len(text) and len(found) != limit:
        try:
            span = regexp.find(text, start)
        except TooMuchWorkError:
            raise _too_costly() from None
        if span is None:
            break
        begin, end = span
        # As in Go, an empty match right after another match does not count.
        if not (begin == end == last_end):
            found.append(text[begin:end])
        last_end = end
        start = end + 1 if begin == end else end
    return found


TEXTS: Functions = {
    "contains": (method("contains_string", (STRING, STRING), BOOL, lambda text, part: part in text),),
    "startsWith": (method("starts_with_string", (STRING, STRING), BOOL, str.startswith),),
    "endsWith": (method("ends_with_string", (STRING, STRING), BOOL, str.endswith),),
    "matches": (
        function("matches", (STRING, STRING), BOOL, _matches),
        method("matches_string", (STRING, STRING), BOOL, _matches),
    ),
    "charAt": (method("string_char_at_int", (STRING, INT), STRING, _char_at),),
    "indexOf": (
        method("string_index_of_string", (STRING, STRING), INT, _index_of),
        method("string_index_of_string_int", (STRING, STRING, INT), INT, _index_of),
    ),
    "lastIndexOf": (
        method("string_last_index_of_string", (STRING, STRING), INT, _last_index_of),
        method("string_last_index_of_string_int", (STRING, STRING, INT), INT, _last_index_of),
    ),
    "lowerAscii": (method("string_lower_ascii", (STRING,), STRING, lambda text: text.translate(_LOWER)),),
    "upperAscii": (method("string_upper_ascii", (STRING,), STRING, lambda text: text.translate(_UPPER)),),
    "replace": (
        method("string_replace_string_string", (STRING, STRING, STRING), STRING, _replace),
        method("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, _replace),
    ),
    "split": (
        method("string_split_string", (STRING, STRING), _STRINGS, _split),
        method("string_split_string_int", (STRING, STRING, INT), _STRINGS, _split),
    ),
    "substring": (
        method("string_substring_int", (STRING, INT), STRING, _substring),
        method("string_substring_int_int", (STRING, INT, INT), STRING, _substring),
    ),
    "trim": (method("string_trim", (STRING,), STRING, lambda text: text.strip(_SPACES)),),
    "join": (
        method("list_join", (_STRINGS,), STRING, _join),
        method("list_join_string", (_STRINGS, STRING), STRING, _join),
    ),
    "format": (method("string_format", (STRING, list_of(DYN)), STRING, formatted),),
    "strings.quote": (function("strings_quote", (STRING,), STRING, quoted_text),),
    "find": (method("string_find_string", (STRING, STRING), STRING, _find),),
    "findAll": (
        method("string_find_all_string", (STRING, STRING), _STRINGS, _find_all),
        method("string_find_all_string_int", (STRING, STRING, INT), _STRINGS, _find_all),
    ),
    "jsonpatch.escapeKey": (
        function(
            "string_jsonpatch_escapeKey_string",
            (STRING,),
            STRING,
            lambda text: text.replace("~", "~0").replace("/", "~1"),
        ),
    ),
}
