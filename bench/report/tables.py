"""Tables of figures with their spread, and performance targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.harness.runner import Figures, Row

__all__ = ["Column", "Target", "as_table", "number", "spread", "times"]

Column = tuple[str, Callable[[Figures], str]]
"""The title of a column, and the function that formats its cells."""


def number(title: str, name: str, style: str = ",.0f", *, factor: float = 1.0) -> Column:
    """A figure."""
    return title, lambda row: format(row[name] * factor, style) if name in row else "–"


def spread(title: str, name: str, style: str = ",.0f", *, factor: float = 1.0) -> Column:
    """A figure with its spread: half of the range between the minimum and the maximum of the rounds."""
    _, show = number(title, name, style, factor=factor)
    return title, lambda row: show(row) + _spread(row, name)


def times(name: str, reference: Figures, style: str = ".1f") -> Column:
    """The ratio of a figure to that of a reference."""
    return "×", lambda row: format(row[name] / reference[name], style) if name in row and name in reference else "–"


def _spread(row: Figures, name: str) -> str:
    if not isinstance(row, Row) or name not in row.spread or not row[name]:
        return ""
    least, most = row.spread[name]
    return f" ±{(most - least) / 2 / row[name]:.0%}"


def as_table(title: str, columns: Sequence[Column], rows: Mapping[str, Figures]) -> str:
    """A Markdown table."""
    cells = [[name, *(show(figures) for _, show in columns)] for name, figures in rows.items()]
    header = [title, *(above for above, _ in columns)]
    widths = [max(2, *(len(line[place]) for line in [header, *cells])) for place in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join("| " + " | ".join(_aligned(line, widths)) + " |" for line in [header, rule, *cells])


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [line[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))]


@dataclass(frozen=True)
class Target:
    """A measured ratio, and its lower or upper limit."""

    what: str
    found: float
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        return self.found >= self.least if self.least is not None else self.found <= (self.most or 0.0)

    def __str__(self) -> str:
        sign, limit = ("≥", self.least) if self.least is not None else ("≤", self.most)
        return f"{self.what}: {self.found:.2f} × (target: {sign} {limit:.3g}){'' if self.is_met else ' MISSED'}"
