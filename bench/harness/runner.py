"""Runs contenders one after another, each in its own process, in interleaved rounds."""

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

from bench.harness.environments import command_for, reason_missing

__all__ = ["Comparison", "Effort", "Figures", "Row", "compare", "compare_commands", "compare_here"]

Figures = dict[str, float]
"""The figures that one process measured, by name."""
Plan = Mapping[str, Any]
Spread = dict[str, tuple[float, float]]

_ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Effort:
    """How much to measure: what takes a quarter of an hour, or all; optionally with fewer rounds and objects."""

    full: bool = False
    max_rounds: int = sys.maxsize
    max_objects: int = sys.maxsize
    deadline: float = math.inf
    """On time.monotonic(); after it only first rounds start."""

    @property
    def command(self) -> str:
        """The command that measures the same again."""
        limits = {"rounds": self.max_rounds, "objects": self.max_objects}
        options = [f"--{name} {limit}" for name, limit in limits.items() if limit < sys.maxsize]
        if not options:
            return "make bench-full" if self.full else "make bench"
        return " ".join(["python -m bench", *(["--full"] if self.full else []), *options])

    @property
    def timeout(self) -> float:
        """Seconds after which a contender is stopped and counted as failed."""
        return 600.0 if self.full else 150.0

    @property
    def is_past_deadline(self) -> bool:
        return time.monotonic() > self.deadline

    def rounds(self, usual: int, full: int) -> int:
        return full if self.full else usual


class Row(Figures):
    """The medians of one contender over its rounds, and their spread (minimum and maximum)."""

    def __init__(self, figures: Mapping[str, float], spread: Spread | None = None) -> None:
        super().__init__(figures)
        self.spread = spread or {}

    @classmethod
    def of_rounds(cls, rounds: Sequence[Figures]) -> Row:
        found = {name: [each[name] for each in rounds if name in each] for name in rounds[0]}
        spread = {name: (min(values), max(values)) for name, values in found.items() if len(values) > 1}
        # A stall is reported as the longest of all rounds.
        summary = {name: max if "_stall" in name else statistics.median for name in found}
        return cls({name: summary[name](values) for name, values in found.items()}, spread)


@dataclass
class Comparison:
    """The figures of several contenders; with the contenders that were skipped or failed, and the reasons."""

    rows: dict[str, Row] = field(default_factory=dict)
    rounds: dict[str, list[Figures]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def length(self) -> str:
        """The number of rounds, as text."""
        most = max(map(len, self.rounds.values()), default=0)
        return f"{most} round{'s' * (most != 1)}"

    def add(self, other: Comparison) -> None:
        """Add the contenders of another comparison."""
        self.rows |= other.rows
        self.rounds |= other.rounds
        self.left_out |= other.left_out
        self.failed |= other.failed


def compare_here(
    module: str, contenders: Sequence[str], effort: Effort, *, rounds: int, arguments: Sequence[str] = ()
) -> Comparison:
    """Run every contender in the environment of this process."""
    commands = {name: [sys.executable, "-m", module, name, *arguments] for name in contenders}
    return _run_rounds(commands, effort, rounds)


def compare(
    module: str, plans: Mapping[str, Plan], effort: Effort, *, rounds: int, once: Collection[str] = ()
) -> Comparison:
    """Run every contender in its own environment, with its own plan; those in `once` only in the first round."""
    left_out = {name: reason for name in plans if (reason := reason_missing(name))}
    commands = {
        name: [*command_for(name, module), json.dumps(plan)] for name, plan in plans.items() if name not in left_out
    }
    result = _run_rounds(commands, effort, rounds, once)
    result.left_out |= left_out
    return result


def compare_commands(
    commands: Mapping[str, Sequence[str]], effort: Effort, *, rounds: int, left_out: Mapping[str, str]
) -> Comparison:
    """Run every contender by its command, except those that are left out."""
    present = {name: command for name, command in commands.items() if name not in left_out}
    result = _run_rounds(present, effort, rounds)
    result.left_out |= left_out
    return result


def _run_rounds(
    commands: Mapping[str, Sequence[str]], effort: Effort, rounds: int, once: Collection[str] = ()
) -> Comparison:
    result = Comparison()
    rounds = min(rounds, effort.max_rounds)
    for number in range(rounds):
        if number and effort.is_past_deadline:
            break
        for name, command in commands.items():
            if name in result.failed or (number and name in once):
                continue
            _progress(f"round {number + 1} of {rounds}: {name}")
            figures = _run(command, effort.timeout)
            if isinstance(figures, dict):
                result.rounds.setdefault(name, []).append(figures)
            else:
                result.failed[name] = figures
                print(f"\r  {name} failed: {figures}", file=sys.stderr)
    _progress("")
    result.rows = {name: Row.of_rounds(found) for name, found in result.rounds.items()}
    return result


def _progress(text: str) -> None:
    end = "\r" if sys.stderr.isatty() else "\n"
    if text or sys.stderr.isatty():
        print(f"  {text:<70}", end=end, file=sys.stderr, flush=True)


def _run(command: Sequence[str], timeout: float) -> Figures | str:
    """Run a contender; return its figures, or the reason why it failed."""
    try:
        done = subprocess.run(
            command, cwd=_ROOT, env=_environment(), capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return f"timed out after {timeout:.0f} s"
    except OSError as error:
        return str(error)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode} without error output"])[-1]
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _environment() -> dict[str, str]:
    """The environment without PYTHONDONTWRITEBYTECODE: import times are those of compiled modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
