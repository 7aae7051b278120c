"""The `listwatch` command."""

from __future__ import annotations

import argparse
import asyncio
import sys

from listwatch._version import __version__

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="listwatch", description="client-go for Python")
    parser.add_argument("--version", action="version", version=f"listwatch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="run an informer against the embedded API server and print what it sees")
    parser.parse_args(arguments)
    # Imported here, so that `--help` is fast.
    from listwatch.cli.demo import demo

    try:
        asyncio.run(demo())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
