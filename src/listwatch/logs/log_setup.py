"""Shows the log of a program that has not set up logging: `LISTWATCH_LOG=debug python program.py`."""

from __future__ import annotations

import logging

__all__ = ["VARIABLE", "set_up_logging"]

VARIABLE = "LISTWATCH_LOG"

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(name)s: %(message)s"


def set_up_logging(level: str) -> None:
    """Set the level of the logger `listwatch`; add a handler for stderr if the program has none.

    A program that sets up logging later is not affected by the handler, which then writes nothing.
    """
    logger = logging.getLogger("listwatch")
    logger.setLevel(_LEVELS.get(level.strip().lower(), logging.INFO))
    if not logger.hasHandlers():
        handler = _FallbackHandler()
        handler.setFormatter(logging.Formatter(_FORMAT, datefmt="%H:%M:%S"))
        logger.addHandler(handler)
    if level.strip().lower() not in _LEVELS:
        choices = ", ".join(_LEVELS)
        logger.warning("%s=%s is not a level; info is used. Levels are: %s", VARIABLE, level, choices)


class _FallbackHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic for type checkers only
    """Writes to stderr as long as no other handler receives the records of listwatch."""

    def emit(self, record: logging.LogRecord) -> None:
        others = [*logging.getLogger().handlers, *logging.getLogger("listwatch").handlers]
        if not any(each is not self for each in others):
            super().emit(record)
