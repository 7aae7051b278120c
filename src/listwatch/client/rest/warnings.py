"""What a server wants the author of a request to know: `Warning` headers of code 299, to a handler or the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator

from listwatch.client.config.client_config import ServerWarning

__all__ = ["WarningReporter", "parse_warnings"]

_log = logging.getLogger(__name__)

_FROM_THE_API = 299
# code agent "text" "date", and a comma if another follows
_WARNING = re.compile(
    r'\s*(?P<code>\d{3}) (?P<agent>[^\s,"]+) "(?P<text>(?:[^"\\]|\\.)*)"(?: "[^"]*")?\s*(?:,|$)', re.ASCII | re.DOTALL
)
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and what was not UTF-8
# A server that words each warning differently must not fill the memory.
_REMEMBERED = 1000


def parse_warnings(headers: Iterable[str]) -> list[ServerWarning]:
    """The warnings in these headers; where one cannot be read, the rest of its header is passed over."""
    return [warning for header in headers for warning in _parsed(header)]


def _parsed(header: str) -> Iterator[ServerWarning]:
    position = 0
    while position < len(header) and (found := _WARNING.match(header, position)):
        text = re.sub(r"\\(.)", r"\1", found["text"], flags=re.DOTALL)
        if _NO_TEXT.search(text):
            return
        yield ServerWarning(int(found["code"]), found["agent"], text)
        position = found.end()


class WarningReporter:
    """Tells a handler of every warning, or without one, the log of each warning once."""

    def __init__(self, handler: Callable[[ServerWarning], None] | None = None) -> None:
        self._handler = handler
        self._logged: dict[str, None] = {}

    def report(self, headers: Iterable[str]) -> tuple[ServerWarning, ...]:
        """Read the warnings that matter out of an answer's headers, and pass them on."""
        found = tuple(each for each in parse_warnings(headers) if each.code == _FROM_THE_API)
        for warning in found:
            self._pass_on(warning)
        return found

    def _pass_on(self, warning: ServerWarning) -> None:
        if self._handler is None:
            self._log_once(warning)
            return
        try:
            self._handler(warning)
        except Exception:  # noqa: BLE001  # a request that succeeded does not fail because of who hears of a warning
            _log.exception("the warning handler failed on: %s", warning.text)

    def _log_once(self, warning: ServerWarning) -> None:
        if warning.text in self._logged:
            return
        if len(self._logged) >= _REMEMBERED:
            self._logged.pop(next(iter(self._logged)))
        self._logged[warning.text] = None
        _log.warning("the API server warns: %s", warning.text)
