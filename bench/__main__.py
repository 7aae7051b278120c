"""`python -m bench [part …]`: the usual parts, or those named. Exits with 1 if a promise does not hold."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime

from bench import clients, objects, server

PARTS = {"objects": objects.report, "server": server.report, "clients": clients.report}
USUAL = ("objects", "server")
"""What runs when nothing is named; the clients take many minutes, most of them spent by others."""


def main(names: list[str]) -> int:
    unknown = set(names) - PARTS.keys()
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    today = datetime.now(UTC).date()
    print(f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}, {today}\n")
    held = [PARTS[name]() for name in names or USUAL]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
