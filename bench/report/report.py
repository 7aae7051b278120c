"""The report of a part: printed while it runs, and written to `bench/results/` as JSON and Markdown."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.harness.environments import versions
from bench.harness.runner import Comparison, Figures
from bench.report.tables import Column, Target, as_table

__all__ = ["FOLDER", "Report", "machine", "write"]


FOLDER = Path(__file__).parent.parent / "results"


@dataclass
class Report:
    """The comparisons, tables, notes and targets of one part."""

    name: str
    text: str
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    """By what distinguishes them, such as the number of objects."""
    notes: list[str] = field(default_factory=list)
    tables: list[tuple[str, str]] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def table(self, title: str, columns: Sequence[Column], rows: Mapping[str, Figures], above: str = "") -> None:
        """Print a table and add it to the report."""
        print(f"\n{above or self.text}" if above or not self.tables else "")
        table = as_table(title, columns, rows)
        print(f"\n{table}")
        self.tables.append((above, table))

    def print_notes_and_targets(self) -> None:
        for note in [*self.notes, *self._absent()]:
            print(f"  ({note})")
        print()
        for target in self.targets:
            print(f"  {target}")

    def failed(self) -> dict[str, str]:
        """Contenders that started and failed, with the reasons."""
        return {name: reason for comparison in self.comparisons.values() for name, reason in comparison.failed.items()}

    def markdown(self) -> str:
        parts = [f"## {self.name}", self.text[0].upper() + self.text[1:] + "."]
        for above, table in self.tables:
            parts += [f"**{above}**"] * bool(above) + [table]
        parts += ["\n".join(f"- {note}" for note in [*self.notes, *self._absent()])]
        parts += ["\n".join(f"- {target}" for target in self.targets)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def data(self) -> dict[str, Any]:
        return {
            "races": {name: _data_of(comparison) for name, comparison in self.comparisons.items()},
            "promises": [{**asdict(target), "is_kept": target.is_met} for target in self.targets],
            "notes": self.notes,
        }

    def _absent(self) -> list[str]:
        left_out = {
            name: reason for comparison in self.comparisons.values() for name, reason in comparison.left_out.items()
        }
        return [f"{name} is missing: {reason}" for name, reason in {**left_out, **self.failed()}.items()]


def _data_of(comparison: Comparison) -> dict[str, Any]:
    return {
        "rows": comparison.rows,
        "spread": {name: row.spread for name, row in comparison.rows.items()},
        "rounds": comparison.rounds,
        "missing": {**comparison.left_out, **comparison.failed},
    }


def machine() -> dict[str, str]:
    """The date, the machine and the versions of its software."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {_memory()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "go": _go_version(),
    }


def _versions() -> str:
    return ", ".join(f"{name} {version}" for name, version in versions().items())


def write(report: Report, command: str, folder: Path = FOLDER) -> None:
    """Write the JSON and the Markdown file of a part; the files of other parts are not touched."""
    folder.mkdir(exist_ok=True, parents=True)
    about = {"command": command, **machine()}
    text = json.dumps({**about, "versions": versions(), **report.data()}, indent=1, sort_keys=True, default=float)
    (folder / f"{report.name}.json").write_text(text + "\n")
    described = ", ".join(value for name, value in about.items() if name != "command")
    (folder / f"{report.name}.md").write_text(f"`{command}` on {described}; {_versions()}\n\n{report.markdown()}")


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
        return "no Go on the PATH"
    return done.stdout.strip().removeprefix("go version ")
