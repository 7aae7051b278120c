"""The results of a part: what passed, what failed, and what does not apply, with reasons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["FOLDER", "Outcome", "Result", "Suite", "read_suites", "write_suites"]

Outcome = Literal["passed", "failed", "not applicable"]

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Result:
    """The outcome of one test on the embedded server."""

    name: str
    outcome: Outcome
    reason: str = ""
    """Why it failed or does not apply."""
    expected: bool = True
    """False for a failure without a known reason, and for a success where a failure was expected."""
    details: str = ""
    """The message of a failure; printed, not kept."""


@dataclass(frozen=True)
class Suite:
    """The results of one test suite."""

    title: str
    version: str
    results: tuple[Result, ...]
    on_real_server: dict[str, int] = field(default_factory=dict)
    """The numbers of outcomes on the real server, where the suite ran on it, too."""

    def count(self, outcome: Outcome) -> int:
        return Counter(result.outcome for result in self.results)[outcome]

    @property
    def unexpected(self) -> list[Result]:
        return [result for result in self.results if not result.expected]

    def __str__(self) -> str:
        counts = ", ".join(f"{self.count(each)} {each}" for each in ("passed", "failed", "not applicable"))
        return f"{self.title} {self.version}: {counts}"


def write_suites(part: str, suites: Iterable[Suite], folder: Path = FOLDER) -> None:
    """Store the results of a part, from which the documentation is written."""
    folder.mkdir(exist_ok=True)
    kept = [asdict(suite) for suite in suites]
    for suite in kept:
        suite["results"] = sorted(
            (
                {key: value for key, value in result.items() if value and key not in ("details", "expected")}
                for result in suite["results"]
            ),
            key=lambda result: result["name"],
        )
    (folder / f"{part}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def read_suites(part: str, folder: Path = FOLDER) -> list[Suite]:
    """The stored results of a part; empty if it never ran."""
    path = folder / f"{part}.json"
    if not path.exists():
        return []
    return [
        Suite(**{**suite, "results": tuple(Result(**result) for result in suite["results"])})
        for suite in json.loads(path.read_text())
    ]
