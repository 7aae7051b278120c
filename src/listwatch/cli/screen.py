"""Writes lines to a terminal in full-screen mode; only those that differ from the last frame."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.color import ColorSystem
from rich.console import Console
from rich.text import Text

__all__ = ["Screen", "captured_log"]

_SYSTEMS = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


class Screen:
    """The screen of a terminal, within `console.screen()`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._colors = _SYSTEMS.get(console.color_system or "")
        self._written: list[str] = []
        self._size = (0, 0)

    def draw(self, lines: Sequence[Text]) -> int:
        """Show these lines; returns the number of lines that were written."""
        size = (self._console.width, self._console.height)
        if size != self._size:
            self._size, self._written = size, []
        encoded = [self._encode(line) for line in lines[: size[1]]]
        before = self._written + [""] * (len(encoded) - len(self._written))
        changed = [number for number, line in enumerate(encoded) if line != before[number] or not self._written]
        if changed:
            # One write per frame: the terminal does not show a part of it.
            self._console.file.write("".join(f"\x1b[{number + 1};1H{encoded[number]}\x1b[K" for number in changed))
            self._console.file.flush()
        self._written = encoded
        return len(changed)

    def _encode(self, line: Text) -> str:
        return "".join(
            segment.style.render(segment.text, color_system=self._colors) if segment.style else segment.text
            for segment in line.render(self._console)
        )


class _LogReporter(logging.Handler):
    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        self._report(record.getMessage())


@contextmanager
def captured_log(report: Callable[[str], None]) -> Iterator[None]:
    """Pass warnings of the log to `report` within this block; written to the terminal, they would damage the screen."""
    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = [_LogReporter(report)]
    try:
        yield
    finally:
        root.handlers[:] = before
