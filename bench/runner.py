"""Runs contenders one after another, each in a process of its own, in interleaved rounds."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Figures", "measure", "missing", "print_table"]

Figures = dict[str, float]
"""What one process measured, by name."""


def measure(
    module: str, contenders: Sequence[str], *, rounds: int, arguments: Sequence[str] = ()
) -> dict[str, Figures]:
    """The median figures of each contender that runs here; one that does not is said and left out."""
    rows: dict[str, list[Figures]] = {name: [] for name in contenders}
    for turn in range(rounds):
        for name in contenders:
            print(f"\r  round {turn + 1} of {rounds}: {name:<32}", end="", file=sys.stderr, flush=True)
            figures = _run(module, name, arguments)
            if figures is not None:
                rows[name].append(figures)
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
    return {name: _median(found) for name, found in rows.items() if found}


def _run(module: str, name: str, arguments: Sequence[str]) -> Figures | None:
    command = [sys.executable, "-m", module, name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        print(f"\n  {name} did not run: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _median(rows: list[Figures]) -> Figures:
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def missing(rows: Mapping[str, Any], contenders: Sequence[str]) -> list[str]:
    """The contenders without figures."""
    return [name for name in contenders if name not in rows]


def print_table(title: str, columns: Mapping[str, Callable[[Figures], str]], rows: Mapping[str, Figures]) -> None:
    """A table that reads as Markdown."""
    cells = [[name, *(show(figures) for show in columns.values())] for name, figures in rows.items()]
    header = [title, *columns]
    widths = [max(len(line[place]) for line in [header, *cells]) for place in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    print()
    for line in [header, rule, *cells]:
        print(
            "| "
            + " | ".join(
                text.ljust(widths[0]) if not place else text.rjust(widths[place]) for place, text in enumerate(line)
            )
            + " |"
        )
