"""The entry point of `listwatch`. It works without the extra `cli`, to print how to install it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_LIBRARIES = ("click", "rich")
_MISSING = "listwatch: the command line needs {}; install it with: pip install 'listwatch[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        from listwatch.cli.app import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _LIBRARIES:
            raise
        print(_MISSING.format(library), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
