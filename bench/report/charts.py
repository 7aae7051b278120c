"""Draws charts from the JSON files in `bench/results/`. `python -m bench.report.charts` draws them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report.report import FOLDER

__all__ = ["draw"]

_OURS, _GO, _OTHERS = "#2f6fde", "#00a29c", "#b9bec7"


@dataclass(frozen=True)
class Panel:
    """A bar chart of one figure of all contenders, the best on top."""

    figure: str
    title: str
    factor: float = 1.0
    is_less_better: bool = False


_INFORMERS = (
    Panel("sync", "objects/s to synced"),
    Panel("events", "events/s to a handler that reads metadata"),
    Panel("fields", "events/s to a handler that reads every part"),
    Panel("kept", "KB resident per object (less is better)", 1e-3, is_less_better=True),
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
_MEMORY = (
    Panel("kept", "KB resident per object (less is better)", 1e-3, is_less_better=True),
    Panel("touch_p50", "get and spec, p50, µs (less is better)", 1e6, is_less_better=True),
)
_MIXED = (
    Panel("sync", "objects/s to synced"),
    Panel("sync_cpu", "CPU s to synced (less is better)", is_less_better=True),
    Panel("kept", "KB resident per object (less is better)", 1e-3, is_less_better=True),
)
_REAL = (
    Panel("sync", "objects/s to synced"),
    Panel("sync_cpu", "CPU s of the client (less is better)", is_less_better=True),
    Panel("server_cpu", "CPU s of the server (less is better)", is_less_better=True),
)
_COUNTS = (1_000, 10_000, 100_000)


@dataclass(frozen=True)
class StoredComparison:
    """A comparison as stored in a JSON file: medians and their spread."""

    rows: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, Mapping[str, Sequence[float]]]


def draw(folder: Path = FOLDER) -> list[str]:
    """Draw the charts of all stored figures; return their file names, or none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("agg")
    parts = ("informers", "clients", "kinds", "memory", "mixed", "real")
    informers, clients, kinds, memory, mixed, real = (_comparisons(folder, name) for name in parts)
    charts = {
        **{f"informers-{n}.png": (f"informers, {n:,} pods", informers.get(f"{n}"), _INFORMERS) for n in _COUNTS},
        **{
            f"kinds-{name}.png": (f"informers, {_title(name)}", comparison, _INFORMERS)
            for name, comparison in kinds.items()
        },
        "latency.png": ("from the server to a handler, 10,000 pods", informers.get("10000"), _LATENCIES),
        "memory-pods.png": ("memory, pods of 4.5 KB", memory.get("pods"), _MEMORY),
        "memory-random-pods.png": ("memory, pods with high entropy", memory.get("random-pods"), _MEMORY),
        **{f"mixed-{name}.png": (_mixed_title(name), comparison, _MIXED) for name, comparison in mixed.items()},
        **{f"real-{n}.png": (f"a real kube-apiserver, {n:,} pods", real.get(f"{n}"), _REAL) for n in _COUNTS},
        "clients.png": ("clients", clients.get(""), _CLIENTS),
    }
    return [
        file
        for file, (title, comparison, panels) in charts.items()
        if comparison and _chart(folder / file, title, comparison, panels)
    ]


def _comparisons(folder: Path, name: str) -> dict[str, StoredComparison]:
    file = folder / f"{name}.json"
    comparisons: dict[str, Any] = json.loads(file.read_text())["races"] if file.exists() else {}
    return {
        name: StoredComparison(comparison["rows"], comparison.get("spread", {}))
        for name, comparison in comparisons.items()
    }


def _title(name: str) -> str:
    resource, _, count = name.rpartition("-")
    return f"{int(count):,} {'custom resources' if resource == 'widgets' else resource}"


def _mixed_title(name: str) -> str:
    indexed = name.removeprefix("indexed-")
    if indexed != name:
        return f"{int(indexed):,} pods with an index and a reader"
    return f"{int(name):,} objects of 20 kinds"


def _chart(file: Path, title: str, comparison: StoredComparison, panels: Sequence[Panel]) -> bool:
    """Draw one chart; return whether any of its figures exist."""
    from matplotlib import pyplot

    wanted = [panel for panel in panels if any(panel.figure in row for row in comparison.rows.values())]
    if not wanted:
        return False
    columns = 2 if len(wanted) == 4 else len(wanted)
    lines = -(-len(wanted) // columns)
    bars = max(sum(panel.figure in row for row in comparison.rows.values()) for panel in wanted)
    figure, axes = pyplot.subplots(
        lines,
        columns,
        figsize=((5.6 if columns < 3 else 4.2) * columns, 0.5 + (0.6 + 0.28 * bars) * lines),
        squeeze=False,
    )
    for axis, panel in zip(axes.flat, wanted, strict=False):
        _bars(axis, panel, comparison)
    for axis in axes.flat[len(wanted) :]:
        axis.set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    return True


def _bars(axis: Any, panel: Panel, comparison: StoredComparison) -> None:
    found = {name: row[panel.figure] * panel.factor for name, row in comparison.rows.items() if panel.figure in row}
    names = sorted(found, key=lambda name: found[name], reverse=not panel.is_less_better)
    ends = {
        name: comparison.spread.get(name, {}).get(panel.figure) or [comparison.rows[name][panel.figure]] * 2
        for name in names
    }
    below = [found[name] - ends[name][0] * panel.factor for name in names]
    above = [ends[name][1] * panel.factor - found[name] for name in names]
    style = {"elinewidth": 1.2, "ecolor": "#444444"}
    bars = axis.barh(names, [found[name] for name in names], color=_colours(names), xerr=[below, above], error_kw=style)
    axis.bar_label(bars, fmt=_format, fontsize=8, padding=3)
    axis.set_title(panel.title, fontsize=9)
    axis.invert_yaxis()
    axis.tick_params(labelsize=8)
    axis.set_xticks([])
    axis.set_xlim(0, max(each[1] for each in ends.values()) * panel.factor * 1.3)
    axis.spines[["top", "right", "bottom"]].set_visible(False)


def _format(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 1 else f"{value:.2f}"


def _colours(names: Sequence[str]) -> list[str]:
    return [
        _OURS if name.startswith("listwatch") else _GO if name.startswith("client-go") else _OTHERS for name in names
    ]


if __name__ == "__main__":
    print("\n".join(draw()) or "no charts: no results, or matplotlib is not installed")
