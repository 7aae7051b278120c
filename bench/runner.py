"""Runs contenders one after another, each in a process of its own, in interleaved rounds; prints tables."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environments import command_for, reason_missing

__all__ = ["Figures", "Promise", "Race", "kept", "measure", "missing", "print_table", "race"]

Figures = dict[str, float]
"""What one process measured, by name."""
Plan = Mapping[str, Any]

_LONGEST = 600.0
_ROOT = Path(__file__).parent.parent


@dataclass
class Race:
    """What came of some rounds: medians, the least and the most of each contender, and who is missing and why."""

    rows: dict[str, Figures] = field(default_factory=dict)
    spread: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Promise:
    """Something that is at least, or at most, so many times something else."""

    what: str
    found: float
    least: float | None = None
    most: float | None = None

    @property
    def is_kept(self) -> bool:
        return self.found >= self.least if self.least is not None else self.found <= (self.most or 0.0)

    def __str__(self) -> str:
        sign, limit = ("≥", self.least) if self.least is not None else ("≤", self.most)
        return f"{self.what}: {self.found:.2f} × (promised: {sign} {limit:.3g}){'' if self.is_kept else ' NOT KEPT'}"


def kept(promises: Sequence[Promise]) -> bool:
    """Print them, and say whether all are kept."""
    print()
    for promise in promises:
        print(f"  {promise}")
    return all(promise.is_kept for promise in promises)


def measure(
    module: str, contenders: Sequence[str], *, rounds: int, arguments: Sequence[str] = ()
) -> dict[str, Figures]:
    """The median figures of each contender that runs here, in this environment."""
    commands = {name: [sys.executable, "-m", module, name, *arguments] for name in contenders}
    return _run_rounds(commands, rounds).rows


def race(module: str, plans: Mapping[str, Plan], *, rounds: int) -> Race:
    """The figures of each contender, run in its own environment with a plan of its own."""
    left_out = {name: reason for name in plans if (reason := reason_missing(name))}
    commands = {
        name: [*command_for(name, module), json.dumps(plan)] for name, plan in plans.items() if name not in left_out
    }
    result = _run_rounds(commands, rounds)
    result.missing |= left_out
    return result


def _run_rounds(commands: Mapping[str, Sequence[str]], rounds: int) -> Race:
    found: dict[str, list[Figures]] = {name: [] for name in commands}
    result = Race()
    for turn in range(rounds):
        for name, command in commands.items():
            _progress(f"round {turn + 1} of {rounds}: {name}")
            figures = _run(command) if name not in result.missing else ""
            if isinstance(figures, dict):
                found[name].append(figures)
            elif figures:
                result.missing[name] = figures
                print(f"\r  {name} did not run: {figures}", file=sys.stderr)
    _progress("")
    for name, rows in found.items():
        if rows:
            result.rows[name] = {each: statistics.median(row[each] for row in rows) for each in rows[0]}
            result.spread[name] = {
                each: (min(row[each] for row in rows), max(row[each] for row in rows)) for each in rows[0]
            }
    return result


def _progress(text: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    if text or sys.stderr.isatty():
        print(f"  {text:<70}", end=end, file=sys.stderr, flush=True)


def _run(command: Sequence[str]) -> Figures | str:
    """What was measured, or why nothing was."""
    try:
        done = subprocess.run(
            command, cwd=_ROOT, env=_environment(), capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {_LONGEST:.0f} s"
    except OSError as error:
        return str(error)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed without a word"])[-1]
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _environment() -> dict[str, str]:
    """Modules are imported as everybody has them, compiled."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def missing(rows: Mapping[str, Any], contenders: Sequence[str]) -> list[str]:
    """The contenders without figures."""
    return [name for name in contenders if name not in rows]


def print_table(title: str, columns: Mapping[str, Callable[[Figures], str]], rows: Mapping[str, Figures]) -> str:
    """A table that reads as Markdown, also returned."""
    cells = [[name, *(show(figures) for show in columns.values())] for name, figures in rows.items()]
    header = [title, *columns]
    widths = [max(len(line[place]) for line in [header, *cells]) for place in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    table = "\n".join("| " + " | ".join(_aligned(line, widths)) + " |" for line in [header, rule, *cells])
    print(f"\n{table}")
    return table


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [line[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))]
