"""Draws what was measured, from the files in `bench/results/`. Run as `python -m bench.charts`, it draws them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.results import FOLDER

__all__ = ["draw"]

_OURS, _GO, _OTHERS = "#2f6fde", "#00a29c", "#b9bec7"


@dataclass(frozen=True)
class Panel:
    """One figure of everybody, as bars; the best is on top."""

    figure: str
    title: str
    factor: float = 1.0
    is_less_better: bool = False


_INFORMERS = (
    Panel("sync", "objects/s to synced"),
    Panel("events", "events/s to a handler that reads metadata"),
    Panel("fields", "events/s to a handler that reads every part"),
    Panel("kept", "KB resident for each object (less is better)", 1e-3, is_less_better=True),
)
_CLIENTS = (
    Panel("list", "list: pods/s"),
    Panel("watch", "watch: events/s"),
    Panel("gets", "GETs/s, 32 in flight"),
)
_LATENCIES = tuple(
    Panel(f"latency_{rate}_p99", f"p99 at {rate:,} events/s, ms", 1e3, is_less_better=True)
    for rate in (10, 1_000, 10_000)
)
_COUNTS = (1_000, 10_000, 100_000)


@dataclass(frozen=True)
class Race:
    """What is kept of a race: medians, and between what they lie."""

    rows: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, Mapping[str, Sequence[float]]]


def draw(folder: Path = FOLDER) -> list[str]:
    """The charts of all that was measured; their names, or none where there is nothing to draw with."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("agg")
    informers, clients, kinds = (_races(folder, name) for name in ("informers", "clients", "kinds"))
    charts = {
        **{f"informers-{n}.png": (f"informers, {n:,} pods", informers.get(f"{n}"), _INFORMERS) for n in _COUNTS},
        **{f"kinds-{name}.png": (f"informers, {_said(name)}", race, _INFORMERS) for name, race in kinds.items()},
        "latency.png": ("from the server to a handler, 10,000 pods", informers.get("10000"), _LATENCIES),
        "clients.png": ("clients", clients.get(""), _CLIENTS),
    }
    return [
        file for file, (title, race, panels) in charts.items() if race and _chart(folder / file, title, race, panels)
    ]


def _races(folder: Path, name: str) -> dict[str, Race]:
    file = folder / f"{name}.json"
    races: dict[str, Any] = json.loads(file.read_text())["races"] if file.exists() else {}
    return {name: Race(race["rows"], race.get("spread", {})) for name, race in races.items()}


def _said(name: str) -> str:
    resource, _, count = name.rpartition("-")
    return f"{int(count):,} {'custom resources' if resource == 'widgets' else resource}"


def _chart(file: Path, title: str, race: Race, panels: Sequence[Panel]) -> bool:
    """Whether there was something to draw."""
    from matplotlib import pyplot

    wanted = [panel for panel in panels if any(panel.figure in row for row in race.rows.values())]
    if not wanted:
        return False
    columns = 2 if len(wanted) == 4 else len(wanted)
    lines = -(-len(wanted) // columns)
    bars = max(sum(panel.figure in row for row in race.rows.values()) for panel in wanted)
    figure, axes = pyplot.subplots(
        lines,
        columns,
        figsize=((5.6 if columns < 3 else 4.2) * columns, 0.5 + (0.6 + 0.28 * bars) * lines),
        squeeze=False,
    )
    for axis, panel in zip(axes.flat, wanted, strict=False):
        _bars(axis, panel, race)
    for axis in axes.flat[len(wanted) :]:
        axis.set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    return True


def _bars(axis: Any, panel: Panel, race: Race) -> None:
    found = {name: row[panel.figure] * panel.factor for name, row in race.rows.items() if panel.figure in row}
    names = sorted(found, key=lambda name: found[name], reverse=not panel.is_less_better)
    ends = {name: race.spread.get(name, {}).get(panel.figure) or [race.rows[name][panel.figure]] * 2 for name in names}
    below = [found[name] - ends[name][0] * panel.factor for name in names]
    above = [ends[name][1] * panel.factor - found[name] for name in names]
    style = {"elinewidth": 1.2, "ecolor": "#444444"}
    bars = axis.barh(names, [found[name] for name in names], color=_colours(names), xerr=[below, above], error_kw=style)
    axis.bar_label(bars, fmt=_shown, fontsize=8, padding=3)
    axis.set_title(panel.title, fontsize=9)
    axis.invert_yaxis()
    axis.tick_params(labelsize=8)
    axis.set_xticks([])
    axis.set_xlim(0, max(each[1] for each in ends.values()) * panel.factor * 1.3)
    axis.spines[["top", "right", "bottom"]].set_visible(False)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:.2f}"


def _colours(names: Sequence[str]) -> list[str]:
    return [
        _OURS if name.startswith("listwatch") else _GO if name.startswith("client-go") else _OTHERS for name in names
    ]


if __name__ == "__main__":
    print("\n".join(draw()) or "nothing to draw, or nothing to draw with")
