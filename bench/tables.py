"""Figures as people read them: tables with medians and spread, and whether what was promised is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.runner import Figures, Row

__all__ = ["Column", "Promise", "as_table", "number", "spread", "times"]

Column = tuple[str, Callable[[Figures], str]]
"""What stands above a column, and what stands in it."""


def number(title: str, name: str, style: str = ",.0f", *, factor: float = 1.0) -> Column:
    """A figure."""
    return title, lambda row: format(row[name] * factor, style) if name in row else "–"


def spread(title: str, name: str, style: str = ",.0f", *, factor: float = 1.0) -> Column:
    """A figure that may differ from round to round, and by how much: half of the way from the least to the most."""
    _, show = number(title, name, style, factor=factor)
    return title, lambda row: show(row) + _spread(row, name)


def times(name: str, reference: Figures, style: str = ".1f") -> Column:
    """A figure as a multiple of another's."""
    return "×", lambda row: format(row[name] / reference[name], style) if name in row and name in reference else "–"


def _spread(row: Figures, name: str) -> str:
    if not isinstance(row, Row) or name not in row.spread or not row[name]:
        return ""
    least, most = row.spread[name]
    return f" ±{(most - least) / 2 / row[name]:.0%}"


def as_table(title: str, columns: Sequence[Column], rows: Mapping[str, Figures]) -> str:
    """A table that reads as Markdown."""
    cells = [[name, *(show(figures) for _, show in columns)] for name, figures in rows.items()]
    header = [title, *(above for above, _ in columns)]
    widths = [max(2, *(len(line[place]) for line in [header, *cells])) for place in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join("| " + " | ".join(_aligned(line, widths)) + " |" for line in [header, rule, *cells])


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [line[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))]


@dataclass(frozen=True)
class Promise:
    """Something that is at least, or at most, so many times something else."""

    what: str
    found: float
    least: float | None = None
    most: float | None = None

    @property
    def is_kept(self) -> bool:
        return self.found >= self.least if self.least is not None else self.found <= (self.most or 0.0)

    def __str__(self) -> str:
        sign, limit = ("≥", self.least) if self.least is not None else ("≤", self.most)
        return f"{self.what}: {self.found:.2f} × (promised: {sign} {limit:.3g}){'' if self.is_kept else ' NOT KEPT'}"
