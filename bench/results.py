"""What a part of the bench found: printed as it comes, and kept in `bench/results/` as JSON and Markdown."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.runner import Figures, Promise, Race, kept, print_table

__all__ = ["FOLDER", "Report", "machine", "write"]

FOLDER = Path(__file__).parent / "results"


@dataclass
class Report:
    """One part: what was done, the figures, the tables, and what was promised."""

    name: str
    text: str
    race: Race | None = None
    races: dict[str, Race] = field(default_factory=dict)
    """Where there is more than one, by what was different."""
    notes: list[str] = field(default_factory=list)
    tables: list[tuple[str, str]] = field(default_factory=list)
    promises: Sequence[Promise] = ()

    def table(
        self, title: str, columns: Mapping[str, Callable[[Figures], str]], rows: Mapping[str, Figures], above: str = ""
    ) -> None:
        """Print a table and keep it."""
        print(f"\n{above or self.text}" if above or not self.tables else "")
        self.tables.append((above, print_table(title, columns, rows)))

    def conclude(self) -> bool:
        """Print the rest, and say whether all promises are kept."""
        for note in [*self.notes, *self._missing()]:
            print(f"  ({note})")
        return kept(self.promises)

    def markdown(self) -> str:
        parts = [f"## {self.name}", self.text[0].upper() + self.text[1:] + "."]
        for above, table in self.tables:
            parts += [f"**{above}**"] * bool(above) + [table]
        parts += ["\n".join(f"- {note}" for note in [*self.notes, *self._missing()])]
        parts += ["\n".join(f"- {promise}" for promise in self.promises)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def data(self) -> dict[str, Any]:
        races = self.races or ({"": self.race} if self.race else {})
        return {
            "races": {name: asdict(race) for name, race in races.items()},
            "promises": [{**asdict(promise), "is_kept": promise.is_kept} for promise in self.promises],
            "notes": self.notes,
        }

    def _missing(self) -> list[str]:
        races = [*self.races.values(), *([self.race] if self.race else [])]
        reasons = {name: reason for race in races for name, reason in race.missing.items()}
        return [f"{name} is missing: {reason}" for name, reason in reasons.items()]


def machine() -> dict[str, str]:
    """Where and when."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {_memory()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "go": _go_version(),
    }


def write(reports: Sequence[Report], command: str) -> None:
    """One JSON and one Markdown file for each part that was run; those of others stay as they are."""
    FOLDER.mkdir(exist_ok=True)
    where = machine()
    for each in reports:
        about = {"command": command, **where}
        text = json.dumps({**about, **each.data()}, indent=1, sort_keys=True, default=float)
        (FOLDER / f"{each.name}.json").write_text(text + "\n")
        described = ", ".join(f"{value}" for name, value in about.items() if name != "command")
        (FOLDER / f"{each.name}.md").write_text(f"`{command}` on {described}\n\n{each.markdown()}")


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
