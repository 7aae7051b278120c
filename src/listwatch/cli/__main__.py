"""The `listwatch` command."""

from __future__ import annotations

import argparse
import asyncio
import sys

from listwatch._version import __version__

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(prog="listwatch", description="client-go for Python")
    parser.add_argument("--version", action="version", version=f"listwatch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="show what an informer sees, on an API server in this process")
    parser.parse_args(arguments)
    # Imported where it is needed, so that `--help` answers at once.
    from listwatch.cli.demo import demo

    try:
        asyncio.run(demo())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
