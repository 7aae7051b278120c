"""Looks at the numbers that a program gives, before anybody counts with them."""

from __future__ import annotations

from listwatch.errors import UsageError

__all__ = ["check_number"]


def check_number(given: object, wanted: str) -> None:
    """Refuse what is no number, as a text that was read from a file or from the environment."""
    if not isinstance(given, int | float):
        raise UsageError(f"{wanted}, not {given!r}")
