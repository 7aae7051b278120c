"""Formats values into strings: `"%s has %d".format([name, count])`."""

from __future__ import annotations

import json
import math
import re

from listwatch.server.cel.library.times import duration_text, timestamp_text
from listwatch.server.cel.values import CELError, Duration, Timestamp, TypeValue, Value, type_of

__all__ = ["formatted", "quoted_text"]

_CLAUSE = re.compile(r"%(?:\.([0-9]+))?(.)?", re.DOTALL)
_QUOTED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_PRECISION = 6


def quoted_text(text: str) -> str:
    """Escape a string so that it can be printed."""
    return '"' + "".join(_QUOTED.get(character, character) for character in text) + '"'


def formatted(pattern: str, arguments: list[Value]) -> str:
    """Raises CELError."""
    parts: list[str] = []
    position = index = 0
    while (at := pattern.find("%", position)) >= 0:
        parts.append(pattern[position:at])
        match = _CLAUSE.match(pattern, at)
        assert match is not None
        position = match.end()
        if match[2] is None:
            raise CELError("unexpected end of string")
        if match[2] == "%":
            parts.append("%")
            continue
        if index >= len(arguments):
            raise CELError(f"index {index} out of range")
        parts.append(_clause(match[2], int(match[1]) if match[1] else None, arguments[index]))
        index += 1
    return "".join([*parts, pattern[position:]])


def _clause(verb: str, precision: int | None, value: Value) -> str:
    match verb:
        case "s":
            return _text(value)
        case "d":
            return _decimal(value)
        case "f" | "e":
            return _fixed(verb, _PRECISION if precision is None else precision, value)
        case "b":
            if not isinstance(value, int):
                raise _wrong("only integers and bools can be formatted as binary", value)
            return format(int(value), "b")
        case "o":
            if not isinstance(value, int) or isinstance(value, bool):
                raise _wrong("octal clause can only be used on integers", value)
            return format(value, "o")
        case "x" | "X":
            return _hexadecimal(verb, value)
    raise CELError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _wrong(problem: str, value: Value) -> CELError:
    return CELError(f"error during formatting: {problem}, was given {_type_name(value)}")


def _type_name(value: Value) -> str:
    found = type_of(value)
    return found.kind if found.kind in ("list", "map") else str(found)


def _text(value: Value) -> str:
    match value:
        case None:
            return "null"
        case str():
            return value
        case bytes():
            return value.decode(errors="replace")
        case bool():
            return "true" if value else "false"
        case float():
            return _shortest(value)
        case int():
            return str(int(value))
        case list() | dict():
            return _nested(value)
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case TypeValue():
            return value.name
    problem = (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps"
    )
    raise _wrong(problem, value)


def _shortest(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)


def _nested(value: Value) -> str:
    """Format a value inside a list or map, as a literal."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes():
            return "b" + json.dumps(value.decode(errors="replace"), ensure_ascii=False)
        case list():
            return "[" + ", ".join(map(_nested, value)) + "]"
        case dict():
            entries = sorted(f"{_nested(key)}:{_nested(each)}" for key, each in value.items())
            return "{" + ", ".join(entries) + "}"
        case float() if math.isfinite(value):
            return f"{value:.{_PRECISION}f}"
        case float():
            return f'"{_shortest(value)}"'
        case Timestamp():
            return f'timestamp("{timestamp_text(value)}")'
        case Duration():
            return f'duration("{duration_text(value)}")'
    return _text(value)


def _decimal(value: Value) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    raise _wrong("decimal clause can only be used on integers", value)


def _fixed(verb: str, precision: int, value: Value) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        value = float(str(value))
    if not isinstance(value, float):
        name = "fixed-point" if verb == "f" else "scientific"
        raise _wrong(f"{name} clause can only be used on doubles", value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if verb == "f":
        return f"{value:.{precision}f}"
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    return f"{mantissa}\u202f×\u202f10{_superscript(exponent)}"


def _superscript(exponent: str) -> str:
    return f"{int(exponent):03d}" if exponent.startswith("-") else f"{int(exponent):02d}".translate(_SUPERSCRIPTS)


_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _hexadecimal(verb: str, value: Value) -> str:
    match value:
        case bool():
            pass
        case int():
            return format(int(value), verb)
        case str() | bytes():
            text = (value.encode() if isinstance(value, str) else value).hex()
            return text.upper() if verb == "X" else text
    raise _wrong("only integers, byte buffers, and strings can be formatted as hex", value)
