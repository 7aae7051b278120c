"""Keeps secrets out of representations and tracebacks. Error trackers record the local variables of all frames."""

from __future__ import annotations

from typing import TypeVar

import msgspec

__all__ = ["HiddenStruct", "without_frames"]

ErrorT = TypeVar("ErrorT", bound=BaseException)


class HiddenStruct(msgspec.Struct, frozen=True):
    """A struct that shows the names of the fields that are set, without their values."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(name for name, _ in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [(name, "<hidden>") for name in self.__struct_fields__ if getattr(self, name)]


def without_frames(error: ErrorT) -> ErrorT:
    """Remove the tracebacks of an error and of its causes, and return it.

    The frames below the caller hold tokens, headers and contents of files in local variables.
    """
    found: BaseException | None = error
    while found is not None:
        found.__traceback__ = None
        if found.__cause__ is not None or found.__suppress_context__:
            found.__context__ = None
        found = found.__cause__ or found.__context__
    return error
