"""Runs contenders one after another, each in its own process, in interleaved rounds. `results.py` keeps the figures."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environments import command_for, reason_missing

__all__ = ["Effort", "Figures", "Race", "Row", "race", "race_here"]

Figures = dict[str, float]
"""What one process measured, by name."""
Plan = Mapping[str, Any]
Spread = dict[str, tuple[float, float]]

_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Effort:
    """How much to measure: what fits into eight minutes or all; with fewer rounds and objects, where that is wanted."""

    full: bool = False
    most_rounds: int = sys.maxsize
    most_objects: int = sys.maxsize
    deadline: float = math.inf
    """On time.monotonic(); no second or third round begins after it."""

    @property
    def command(self) -> str:
        """How to measure as much again."""
        limits = {"rounds": self.most_rounds, "objects": self.most_objects}
        options = [f"--{name} {limit}" for name, limit in limits.items() if limit < sys.maxsize]
        if not options:
            return "make bench-full" if self.full else "make bench"
        return " ".join(["python -m bench", *(["--full"] if self.full else []), *options])

    @property
    def longest(self) -> float:
        """Seconds after which a contender is given up."""
        return 600.0 if self.full else 150.0

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def rounds(self, usual: int, full: int) -> int:
        return full if self.full else usual


class Row(Figures):
    """The medians of one contender, and between what they lie."""

    def __init__(self, figures: Mapping[str, float], spread: Spread | None = None) -> None:
        super().__init__(figures)
        self.spread = spread or {}

    @classmethod
    def of_rounds(cls, rounds: Sequence[Figures]) -> Row:
        found = {name: [each[name] for each in rounds if name in each] for name in rounds[0]}
        spread = {name: (min(values), max(values)) for name, values in found.items() if len(values) > 1}
        # The longest stall is the longest of all rounds.
        summary = {name: max if "_stall" in name else statistics.median for name in found}
        return cls({name: summary[name](values) for name, values in found.items()}, spread)


@dataclass
class Race:
    """What came of some rounds; who was left out, because they cannot run here; and who has failed, and how."""

    rows: dict[str, Row] = field(default_factory=dict)
    rounds: dict[str, list[Figures]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def length(self) -> str:
        """How many rounds there were."""
        most = max(map(len, self.rounds.values()), default=0)
        return f"{most} round{'s' * (most != 1)}"

    def add(self, other: Race) -> None:
        """Take in another one."""
        self.rows |= other.rows
        self.rounds |= other.rounds
        self.left_out |= other.left_out
        self.failed |= other.failed


def race_here(
    module: str, contenders: Sequence[str], effort: Effort, *, rounds: int, arguments: Sequence[str] = ()
) -> Race:
    """The figures of each contender, all run in the environment that this runs in."""
    commands = {name: [sys.executable, "-m", module, name, *arguments] for name in contenders}
    return _run_rounds(commands, effort, rounds)


def race(module: str, plans: Mapping[str, Plan], effort: Effort, *, rounds: int, once: Collection[str] = ()) -> Race:
    """The figures of each contender, run in its own environment with a plan of its own; of some in one round only."""
    left_out = {name: reason for name in plans if (reason := reason_missing(name))}
    commands = {
        name: [*command_for(name, module), json.dumps(plan)] for name, plan in plans.items() if name not in left_out
    }
    result = _run_rounds(commands, effort, rounds, once)
    result.left_out |= left_out
    return result


def _run_rounds(commands: Mapping[str, Sequence[str]], effort: Effort, rounds: int, once: Collection[str] = ()) -> Race:
    result = Race()
    rounds = min(rounds, effort.most_rounds)
    for turn in range(rounds):
        if turn and effort.is_late:
            break
        for name, command in commands.items():
            if name in result.failed or (turn and name in once):
                continue
            _progress(f"round {turn + 1} of {rounds}: {name}")
            figures = _run(command, effort.longest)
            if isinstance(figures, dict):
                result.rounds.setdefault(name, []).append(figures)
            else:
                result.failed[name] = figures
                print(f"\r  {name} did not run: {figures}", file=sys.stderr)
    _progress("")
    result.rows = {name: Row.of_rounds(found) for name, found in result.rounds.items()}
    return result


def _progress(text: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    if text or sys.stderr.isatty():
        print(f"  {text:<70}", end=end, file=sys.stderr, flush=True)


def _run(command: Sequence[str], longest: float) -> Figures | str:
    """What was measured, or why nothing was."""
    try:
        done = subprocess.run(
            command, cwd=_ROOT, env=_environment(), capture_output=True, text=True, timeout=longest, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {longest:.0f} s"
    except OSError as error:
        return str(error)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed without a word"])[-1]
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _environment() -> dict[str, str]:
    """Modules are imported as everybody has them, compiled."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
