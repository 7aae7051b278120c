"""Keeps secrets off the page: the data of Secrets, and tokens in errors."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator

from listwatch.json_value import JSON, JSONObject

__all__ = ["HIDDEN", "Redactor", "redacted_tree"]

HIDDEN = "<hidden>"

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DATA_FIELDS = ("data", "stringData")
_UNKNOWN_KINDS = ("", "object", "PartialObjectMetadata")
_EMBEDDED_SECRET = re.compile(r"""["']?\bkind["']?\s*:\s*["']?Secret\b""")
_MIN_COPY = 4
"""A value of a Secret that is shorter than this is not looked for in other strings: it would be found by chance."""

_MAX_TEXT = 1_000
_MAX_SEARCHED = 16_000
"""Characters of a text in which credentials are looked for; the rest is not shown."""


# --- texts ------------------------------------------------------------------------------------------------------------

# Each pattern has a group for the part that stays.
_PATTERNS = (
    re.compile(r"(\b(?:bearer|basic)\s+)[\w+/=.~:-]{6,}", re.IGNORECASE),
    re.compile(
        r"((?:\b|[_-])(?:(?:access|id|refresh|auth|api|session|client)?[_-]?(?:token|secret|password|passwd|apikey|api[_-]key)|"
        r"authorization)[\"']?\s*[=:]\s*[\"']?)(?!bearer\b|basic\b)[^\s\"'&,;]{3,}",
        re.IGNORECASE,
    ),
    re.compile(r"([a-z][a-z0-9+.-]*://)[^\s/@]+@", re.IGNORECASE),  # the user and the password in a URL
    re.compile(r"()\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"),  # JSON web tokens
    re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
)


class Redactor:
    """Removes credentials from texts: the known ones, and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first: one may be a part of another.
        self._secrets = sorted({each for each in secrets if len(each) >= _MIN_COPY}, key=len, reverse=True)

    def without_known(self, text: str) -> str:
        """The text without the known credentials."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def __call__(self, text: str) -> str:
        """The text without credentials, shortened."""
        text = self.without_known(text)[:_MAX_SEARCHED]
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\g<1>{HIDDEN}", text)
        return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"

    def error(self, error: BaseException | None) -> str:
        """The message of an error without credentials; empty for None."""
        return "" if error is None else self(str(error) or type(error).__name__)


# --- objects ----------------------------------------------------------------------------------------------------------


def redacted_tree(tree: JSON, *, is_secret: bool) -> JSON:
    """A copy of an object without the data of Secrets, also of those inside it, and without managedFields.

    `is_secret` is True if the object comes from a cache of Secrets. The data of an object whose kind is unknown is
    hidden as well.
    """
    if not isinstance(tree, dict):
        return tree
    kind = tree.get("kind")
    hides_data = is_secret or kind == "Secret" or not isinstance(kind, str) or kind in _UNKNOWN_KINDS
    copies = _values_of(tree) if hides_data else frozenset[str]()
    found = _redacted_mapping(tree, copies, hides_data=hides_data)
    if is_secret and not copies and isinstance(metadata := found.get("metadata"), dict):
        # Only metadata is cached: what is a copy of the data cannot be recognized.
        found["metadata"] = metadata | {
            name: _without_values(metadata[name]) for name in ("labels", "annotations") if name in metadata
        }
    return found


def _redacted(value: JSON, copies: frozenset[str]) -> JSON:
    match value:
        case dict():
            if value.get("kind") == "Secret":
                return _redacted_mapping(value, copies | _values_of(value), hides_data=True)
            return _redacted_mapping(value, copies, hides_data=False)
        case list():
            return [_redacted(each, copies) for each in value]
        case str():
            return _redacted_text(value, copies)
    return value


def _redacted_mapping(tree: JSONObject, copies: frozenset[str], *, hides_data: bool) -> JSONObject:
    found: JSONObject = {}
    for name, value in tree.items():
        if name == "managedFields":
            continue  # long, and those of a Secret may contain values
        if name == _LAST_APPLIED or (hides_data and name in _DATA_FIELDS):
            found[name] = _without_values(value)
        else:
            found[name] = _redacted(value, copies)
    return found


def _redacted_text(text: str, copies: frozenset[str]) -> str:
    if _EMBEDDED_SECRET.search(text):
        return f"<hidden: contains a Secret, {len(text)} characters>"
    for copy in copies:
        if copy in text:
            return HIDDEN
    return text


def _without_values(value: JSON) -> JSON:
    """The names of the fields without their values."""
    if isinstance(value, dict):
        return dict.fromkeys(value, HIDDEN)
    return None if value is None else HIDDEN


def _values_of(secret: JSONObject) -> frozenset[str]:
    """The values in a Secret, as they are and decoded, to recognize copies of them."""
    return frozenset(each for each in _texts_of(secret) if len(each) >= _MIN_COPY)


def _texts_of(secret: JSONObject) -> Iterator[str]:
    for name in _DATA_FIELDS:
        values = secret.get(name)
        for value in values.values() if isinstance(values, dict) else ():
            if isinstance(value, str):
                yield value
                if name == "data":
                    yield _decoded(value)


def _decoded(value: str) -> str:
    try:
        return b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
