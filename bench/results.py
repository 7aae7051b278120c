"""What a part of the bench found: printed as it comes, and kept in `bench/results/` as JSON and Markdown."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.environments import versions
from bench.runner import Figures, Race
from bench.tables import Column, Promise, as_table

__all__ = ["FOLDER", "Report", "machine", "write"]


FOLDER = Path(__file__).parent / "results"


@dataclass
class Report:
    """One part: what was done, the figures, the tables, and what was promised."""

    name: str
    text: str
    races: dict[str, Race] = field(default_factory=dict)
    """By what was different."""
    notes: list[str] = field(default_factory=list)
    tables: list[tuple[str, str]] = field(default_factory=list)
    promises: Sequence[Promise] = ()

    def table(self, title: str, columns: Sequence[Column], rows: Mapping[str, Figures], above: str = "") -> None:
        """Print a table and keep it."""
        print(f"\n{above or self.text}" if above or not self.tables else "")
        table = as_table(title, columns, rows)
        print(f"\n{table}")
        self.tables.append((above, table))

    def conclude(self) -> None:
        """Print the rest."""
        for note in [*self.notes, *self._absent()]:
            print(f"  ({note})")
        print()
        for promise in self.promises:
            print(f"  {promise}")

    def failed(self) -> dict[str, str]:
        """Who did not run though they could have, and why."""
        return {name: reason for race in self.races.values() for name, reason in race.failed.items()}

    def markdown(self) -> str:
        parts = [f"## {self.name}", self.text[0].upper() + self.text[1:] + "."]
        for above, table in self.tables:
            parts += [f"**{above}**"] * bool(above) + [table]
        parts += ["\n".join(f"- {note}" for note in [*self.notes, *self._absent()])]
        parts += ["\n".join(f"- {promise}" for promise in self.promises)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def data(self) -> dict[str, Any]:
        return {
            "races": {name: _data_of(race) for name, race in self.races.items()},
            "promises": [{**asdict(promise), "is_kept": promise.is_kept} for promise in self.promises],
            "notes": self.notes,
        }

    def _absent(self) -> list[str]:
        left_out = {name: reason for race in self.races.values() for name, reason in race.left_out.items()}
        return [f"{name} is missing: {reason}" for name, reason in {**left_out, **self.failed()}.items()]


def _data_of(race: Race) -> dict[str, Any]:
    return {
        "rows": race.rows,
        "spread": {name: row.spread for name, row in race.rows.items()},
        "rounds": race.rounds,
        "missing": {**race.left_out, **race.failed},
    }


def machine() -> dict[str, str]:
    """Where and when."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {_memory()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "go": _go_version(),
    }


def _versions() -> str:
    return ", ".join(f"{name} {version}" for name, version in versions().items())


def write(made: Report, command: str, folder: Path = FOLDER) -> None:
    """One JSON and one Markdown file for a part that was run; those of others stay as they are."""
    folder.mkdir(exist_ok=True, parents=True)
    about = {"command": command, **machine()}
    text = json.dumps({**about, "versions": versions(), **made.data()}, indent=1, sort_keys=True, default=float)
    (folder / f"{made.name}.json").write_text(text + "\n")
    described = ", ".join(value for name, value in about.items() if name != "command")
    (folder / f"{made.name}.md").write_text(f"`{command}` on {described}; {_versions()}\n\n{made.markdown()}")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.processor()


def _memory() -> str:
    try:
        kilobytes = int(Path("/proc/meminfo").read_text().split()[1])
    except OSError:
        return "memory unknown"
    return f"{kilobytes / 2**20:.0f} GB"


def _go_version() -> str:
    try:
        done = subprocess.run(["go", "version"], capture_output=True, text=True, check=False)
    except OSError:
        return "no Go in the path"
    return done.stdout.strip().removeprefix("go version ")
