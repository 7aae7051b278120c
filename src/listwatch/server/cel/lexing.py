"""Splits the text of an expression into tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["CELSyntaxError", "Token", "tokens_of", "unquoted"]

_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\n\f]|//[^\n]*)+)
  | (?P<string>[bB]?[rR]?(?:\"{3}|'{3}|"|')|[rR][bB](?:\"{3}|'{3}|"|'))
  | (?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<operator>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "?",
    '"': '"',
    "'": "'",
    "`": "`",
}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)


class CELSyntaxError(Exception):
    """An expression that cannot be parsed."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True, slots=True)
class Token:
    """A part of the text."""

    kind: str
    """One of space string double uint int ident operator end."""
    text: str
    position: int


def tokens_of(text: str) -> list[Token]:
    """Return the tokens; the last one is `end`. Raises CELSyntaxError."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise CELSyntaxError(position, f"Syntax error: token recognition error at: '{text[position]}'")
        kind, end = match.lastgroup or "", match.end()
        if kind == "string":
            end = _end_of_string(text, position, match.group())
        if kind != "space":
            found.append(Token(kind, text[position:end], position))
        position = end
    found.append(Token("end", "<EOF>", position))
    return found


def _end_of_string(text: str, start: int, opening: str) -> int:
    quote = opening.lstrip("bBrR")
    is_raw = "r" in opening.lower()[: len(opening) - len(quote)]
    position = start + len(opening)
    while position < len(text):
        if text.startswith(quote, position):
            return position + len(quote)
        if text[position] in "\r\n" and len(quote) == 1:
            break
        position += 2 if text[position] == "\\" and not is_raw else 1
    raise CELSyntaxError(start, f"Syntax error: token recognition error at: '{text[start:]}'")


def unquoted(token: Token) -> str | bytes:
    """Return the value of a string or bytes token."""
    quote_at = next(index for index, character in enumerate(token.text) if character in "\"'")
    prefix, body = token.text[:quote_at].lower(), token.text[quote_at:]
    width = 3 if body[:3] in ('"""', "'''") else 1
    inner = body[width:-width]
    if "r" in prefix:
        return inner.encode() if "b" in prefix else inner
    return _bytes(inner, token) if "b" in prefix else _ESCAPE.sub(lambda match: _character(match, token), inner)


def _character(match: re.Match[str], token: Token) -> str:
    code = match.group(1)
    if code in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[code]
    if len(code) == 1:
        raise CELSyntaxError(token.position, "Syntax error: token recognition error at: '" + token.text + "'")
    number = int(code[1:], 16) if code[0] in "xXuU" else int(code, 8)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise CELSyntaxError(token.position, "invalid unicode code point")
    return chr(number)


def _bytes(inner: str, token: Token) -> bytes:
    """In bytes, \\x and octal escapes are single bytes; other characters are UTF-8."""
    parts: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(inner):
        parts.append(inner[position : match.start()].encode())
        code = match.group(1)
        if code[0] in "xX" and len(code) == 3:
            parts.append(bytes([int(code[1:], 16)]))
        elif len(code) == 3:
            parts.append(bytes([int(code, 8)]))
        elif code[0] in "uU" and len(code) > 1:
            raise CELSyntaxError(token.position, "unable to unescape string")
        else:
            parts.append(_character(match, token).encode())
        position = match.end()
    return b"".join([*parts, inner[position:].encode()])
