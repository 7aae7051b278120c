"""Warnings of the API server: `Warning` headers with code 299, passed to a handler or logged."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator

from listwatch.client.config.client_config import ServerWarning

__all__ = ["WarningReporter", "parse_warnings"]

_log = logging.getLogger("listwatch.client")

_API_WARNING = 299
# code agent "text" "date", followed by a comma if there is another one
_WARNING = re.compile(
    r'\s*(?P<code>\d{3}) (?P<agent>[^\s,"]+) "(?P<text>(?:[^"\\]|\\.)*)"(?: "[^"]*")?\s*(?:,|$)', re.ASCII | re.DOTALL
)
_INVALID_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters and bytes that are not UTF-8
# Bounds the memory if all warnings of a server differ.
_MAX_REMEMBERED = 1000


def parse_warnings(headers: Iterable[str]) -> list[ServerWarning]:
    """Return the warnings in these headers. After an invalid one, the rest of its header is skipped."""
    return [warning for header in headers for warning in _parse_header(header)]


def _parse_header(header: str) -> Iterator[ServerWarning]:
    position = 0
    while position < len(header) and (found := _WARNING.match(header, position)):
        text = re.sub(r"\\(.)", r"\1", found["text"], flags=re.DOTALL)
        if _INVALID_TEXT.search(text):
            return
        yield ServerWarning(int(found["code"]), found["agent"], text)
        position = found.end()


class WarningReporter:
    """Passes every warning to a handler. Without a handler, logs each text once."""

    def __init__(self, handler: Callable[[ServerWarning], None] | None = None) -> None:
        self._handler = handler
        self._logged: dict[str, None] = {}

    def report(self, headers: Iterable[str]) -> tuple[ServerWarning, ...]:
        """Report the warnings with code 299 in the headers of a response, and return them."""
        found = tuple(each for each in parse_warnings(headers) if each.code == _API_WARNING)
        for warning in found:
            self._notify(warning)
        return found

    def _notify(self, warning: ServerWarning) -> None:
        if self._handler is None:
            self._log_once(warning)
            return
        try:
            self._handler(warning)
        except Exception:  # noqa: BLE001  # a successful request does not fail because of a warning handler
            _log.exception("The warning handler failed on: %s", warning.text, extra={"warning": warning.text})

    def _log_once(self, warning: ServerWarning) -> None:
        if warning.text in self._logged:
            return
        if len(self._logged) >= _MAX_REMEMBERED:
            self._logged.pop(next(iter(self._logged)))
        self._logged[warning.text] = None
        _log.warning("The API server warns: %s", warning.text, extra={"agent": warning.agent})
