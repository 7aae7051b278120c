"""The exit codes of `listwatch`."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """What an exit code means; docs/command-line.md documents them."""

    OK = 0
    FAILED = 1
    """The server rejected the request, or the command failed otherwise."""
    USAGE = 2
    """An unknown command, option or resource, or an invalid argument."""
    NO_CLUSTER = 3
    """No cluster is configured, or it cannot be reached."""
    DENIED = 4
    """The credentials were not accepted, or do not permit the request."""
    INTERRUPTED = 130
    """Ctrl-C."""
