"""Tables of the figures of informers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.harness.contender_names import reference
from bench.harness.runner import Figures
from bench.report.report import Report
from bench.report.tables import Column, number, spread, times

__all__ = ["kept", "latency_tables", "syncing", "tables"]

_READS = {"key": "by key", "index": "by index", "selector": "by selector"}


def tables(report: Report, rows: Mapping[str, Figures], limit: Figures, *, count: int, above: str) -> None:
    """Tables of sync, relist and events; the last rows are what a bare socket reads of the same bytes."""
    for row in rows.values():
        row["kept"] = kept(row, count)
    best = reference(rows)
    bare = {"bare socket, stream": {"sync": limit["stream"]}, "bare socket, list": {"sync": limit["list"]}}
    report.table("to synced", _syncing(best, count), {**rows, **bare}, above)
    again = {name: row for name, row in rows.items() if "relist" in row}
    if again:
        report.table("relist, unchanged", _relisting(best, count), again)
    report.table("events", _events(best), {**rows, "bare socket": {"events": limit["watch"]}})


def kept(row: Figures, count: int) -> float:
    """Bytes resident for each object."""
    return (row["settled"] - row["baseline"]) / count


def syncing(best: Figures) -> list[Column]:
    """Columns of the rate of the sync and its cost."""
    return [
        spread("objects/s", "sync"),
        times("sync", best, ".2f"),
        spread("CPU s", "sync_cpu", ".2f"),
        times("sync_cpu", best, ".2f"),
        number("peak MB", "peak", factor=1e-6),
        times("peak", best, ".2f"),
        number("KB/object", "kept", ".1f", factor=1e-3),
        times("kept", best, ".2f"),
    ]


def _syncing(best: Figures, count: int) -> list[Column]:
    return [
        *syncing(best),
        ("freed", lambda row: f"{(row['released'] - row['baseline']) / count / 1e3:.1f}" if "released" in row else "–"),
        number("heap", "heap", ".1f", factor=1e-3 / count),
        _stall("sync"),
        number("import ms", "import", factor=1e3),
    ]


def _relisting(best: Figures, count: int) -> list[Column]:
    return [
        spread("seconds", "relist", ".2f"),
        times("relist", best, ".2f"),
        ("objects/s", lambda row: f"{count / row['relist']:,.0f}"),
        number("CPU s", "relist_cpu", ".2f"),
        times("relist_cpu", best, ".2f"),
        _stall("relist"),
    ]


def _events(best: Figures) -> list[Column]:
    return [
        spread("events/s", "events"),
        times("events", best),
        number("µs CPU", "events_cpu", factor=1e6),
        _stall("events"),
        spread("every part", "fields"),
        times("fields", best),
        number("µs CPU", "fields_cpu", factor=1e6),
        _stall("fields"),
    ]


def _stall(name: str) -> Column:
    def show(row: Figures) -> str:
        if f"{name}_stall" not in row:
            return "–"
        return f"{row[f'{name}_stall'] * 1e3:,.0f} ({row[f'{name}_stall_cpu'] * 1e3:,.0f})"

    return "stall ms", show


def latency_tables(report: Report, rows: Mapping[str, Figures], limit: Figures, rates: Sequence[int]) -> None:
    """Tables of the latencies at each rate, and of reads of the cache during writes."""
    best = reference(rows)
    measured = {name: row for name, row in rows.items() if f"latency_{rates[0]}_p50" in row} | {"bare socket": limit}
    report.table("latency, ms", [column for rate in rates for column in _latency(rate, best)], measured)
    reading = {name: row for name, row in rows.items() if "reads_key" in row}
    report.table("reads/s during writes", [column for way in _READS for column in _reads(way, best)], reading)


def _latency(rate: int, best: Figures) -> list[Column]:
    name = f"latency_{rate}"
    return [
        number(f"{rate:,}/s: p50", f"{name}_p50", ".2f", factor=1e3),
        spread("p99", f"{name}_p99", ".2f", factor=1e3),
        times(f"{name}_p99", best, ".2f"),
        number("p99.9", f"{name}_p999", ".2f", factor=1e3),
        number("µs CPU", f"{name}_cpu", factor=1e6),
    ]


def _reads(way: str, best: Figures) -> list[Column]:
    name = f"reads_{way}"
    return [
        spread(_READS[way], name),
        times(name, best, ".2f"),
        number("µs CPU", f"{name}_cpu", ",.2f", factor=1e6),
    ]
