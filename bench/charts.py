"""Draws what was measured, from the files in `bench/results/`. Run as `python -m bench.charts`, it draws them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bench.results import FOLDER

__all__ = ["draw"]

_OURS, _GO, _OTHERS = "#2f6fde", "#00a29c", "#b9bec7"
_PANELS = {
    "sync": ("objects/s to synced", 1.0),
    "events": ("events/s to a handler that reads metadata", 1.0),
    "fields": ("events/s to a handler that reads every part", 1.0),
    "kept": ("KB resident for each object (less is better)", 1e-3),
}
_CLIENT_PANELS = {
    "list": ("list: pods/s", 1.0),
    "watch": ("watch: events/s", 1.0),
    "gets": ("GETs/s, 32 in flight", 1.0),
}

Rows = dict[str, dict[str, float]]


def draw() -> list[str]:
    """The charts of all that was measured; their names, or none where there is nothing to draw with."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("agg")
    drawn = []
    for name, count, panels in _wanted():
        if rows := _rows(name, count):
            title = f"{name}{f', {int(count):,} pods' if count else ''}"
            drawn.append(_chart(f"{name}{f'-{count}' if count else ''}.png", title, rows, panels))
    if latencies := _rows("informers", "10000"):
        drawn += _latencies("latency.png", latencies)
    return drawn


def _wanted() -> list[tuple[str, str, dict[str, tuple[str, float]]]]:
    return [("informers", count, _PANELS) for count in ("10000", "100000")] + [("clients", "", _CLIENT_PANELS)]


def _rows(name: str, count: str) -> Rows:
    file = FOLDER / f"{name}.json"
    races: dict[str, Any] = json.loads(file.read_text())["races"] if file.exists() else {}
    rows: Rows = races.get(count, {}).get("rows", {})
    for row in rows.values():
        if "settled" in row:
            row["kept"] = (row["settled"] - row["baseline"]) / int(count)
    return rows


def _chart(file: str, title: str, rows: Rows, panels: dict[str, tuple[str, float]]) -> str:
    from matplotlib import pyplot

    columns = 2 if len(panels) > 3 else 1
    lines = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(5.6 * columns, 0.6 + (0.5 + 0.28 * len(rows)) * lines))
    for axis, (name, (label, factor)) in zip(axes.flat, panels.items(), strict=True):
        measured = {contender: row[name] * factor for contender, row in rows.items() if name in row}
        _bars(axis, label, measured, least_first=name == "kept")
    figure.suptitle(title, fontsize=11)
    figure.tight_layout()
    figure.savefig(FOLDER / file, dpi=110)
    pyplot.close(figure)
    return file


def _bars(axis: Any, label: str, measured: dict[str, float], *, least_first: bool) -> None:
    """The best one on top."""
    names = sorted(measured, key=lambda name: measured[name], reverse=not least_first)
    bars = axis.barh(names, [measured[name] for name in names], color=_colours(names))
    axis.bar_label(bars, fmt=lambda value: f" {value:,.0f}" if value >= 100 else f" {value:,.1f}", fontsize=8)
    axis.set_title(label, fontsize=9)
    axis.invert_yaxis()
    axis.tick_params(labelsize=8)
    axis.set_xticks([])
    axis.margins(x=0.18)
    axis.spines[["top", "right", "bottom"]].set_visible(False)


def _latencies(file: str, rows: Rows) -> list[str]:
    from matplotlib import pyplot

    measured = {name: row for name, row in rows.items() if "latency_10_p50" in row}
    if not measured:
        return []
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 0.9 + 0.32 * len(measured)))
    for axis, rate in zip(axes, ("10", "1000", "10000"), strict=True):
        p99 = {name: row[f"latency_{rate}_p99"] * 1e3 for name, row in measured.items()}
        _bars(axis, f"p99 at {int(rate):,} events/s, ms", p99, least_first=True)
    figure.suptitle("from the server to a handler", fontsize=11)
    figure.tight_layout()
    figure.savefig(FOLDER / file, dpi=110)
    pyplot.close(figure)
    return [file]


def _colours(names: Sequence[str]) -> list[str]:
    return [
        _OURS if name.startswith("listwatch") else _GO if name.startswith("client-go") else _OTHERS for name in names
    ]


if __name__ == "__main__":
    print("\n".join(draw()) or "nothing to draw, or nothing to draw with")
