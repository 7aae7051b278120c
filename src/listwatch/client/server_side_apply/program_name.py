"""The name of the running program, as the field manager of what it applies."""

from __future__ import annotations

import sys
from pathlib import PurePath

__all__ = ["program_name"]

_UNKNOWN = "listwatch"
_MAX_LENGTH = 128  # of a field manager


def program_name(arguments: list[str] | None = None) -> str:
    """Return the name of the script or package that was started; `listwatch` in an interpreter or a notebook."""
    given = sys.argv if arguments is None else arguments
    path = PurePath(given[0]) if given and given[0] not in ("", "-", "-c", "-m") else None
    if path is None:
        return _UNKNOWN
    name = path.parent.name if path.name == "__main__.py" else path.name.removesuffix(".py").removesuffix(".exe")
    printable = "".join(each for each in name if each.isprintable())
    return printable[:_MAX_LENGTH] or _UNKNOWN
