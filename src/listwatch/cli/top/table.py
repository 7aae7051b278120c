"""A live table: where the cursor is, what each key does, and the lines of the screen. Only visible rows are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from listwatch.cli.top.columns import Column, Row
from listwatch.cli.top.filters import parse_filter
from listwatch.cli.top.rows import Rows
from listwatch.clock import Clock
from listwatch.errors import ListWatchError
from listwatch.objects.object import Object

__all__ = ["Status", "Table"]

_HELP = " ↑↓ PgUp PgDn move   ←→ sort   r reverse   / filter   Enter show   p pause   q quit"
_WIDEST = 40
_CURSOR = "bold on grey30"
_FIXED_LINES = 4  # title, order, headers, help


@dataclass(frozen=True, slots=True)
class Status:
    """What the first line shows of the informer."""

    title: str
    where: str
    objects: int
    state: str
    resource_version: str
    rate: float
    """Events per second."""
    problem: str = ""


class Table:
    """Draws a window of the rows. `yaml` returns the text that Enter shows."""

    def __init__(self, rows: Rows, *, clock: Clock, yaml: Callable[[Object], str]) -> None:
        self.is_paused = False
        self._rows = rows
        self._clock = clock
        self._yaml = yaml
        self._cursor = 0
        self._selected = ""  # the key at the cursor
        self._offset = 0
        self._height = 0  # of the rows
        self._widths: dict[str, int] = {}  # the largest so far, so that columns do not jump
        self._filter = ""
        self._is_editing = False
        self._shown: list[str] | None = None  # the lines of one object
        self._visible: dict[str, Row] = {}  # the rows of the last frame

    @property
    def filter(self) -> str:
        return self._filter

    @filter.setter
    def filter(self, text: str) -> None:
        self._filter = text
        self._cursor = self._offset = 0
        self._selected = ""
        self._rows.filter(parse_filter(text))

    # --- keys --------------------------------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        """Do what a key stands for; returns False if it ends the table."""
        if self._is_editing:
            self._edit(key)
        elif self._shown is not None and key in ("q", "escape", "enter", "left"):
            self._shown, self._offset = None, 0
        elif key == "q":
            return False
        else:
            self._command(key)
        return True

    def _edit(self, key: str) -> None:
        if key in ("enter", "up", "down"):
            self._is_editing = False
        elif key == "escape":
            self._is_editing, self.filter = False, ""
        elif key == "clear":
            self.filter = ""
        elif key == "backspace":
            self.filter = self._filter[:-1]
        elif len(key) == 1:
            self.filter = self._filter + key

    def _command(self, key: str) -> None:
        page = max(self._height - 1, 1)
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -page, "page down": page, " ": page}
        ends = {"home": 0, "g": 0, "end": len(self._rows), "G": len(self._rows)}
        if key in steps:
            self._move_to(self._position + steps[key])
        elif key in ends:
            self._move_to(ends[key] if self._shown is None else len(self._shown) * bool(ends[key]))
        elif self._shown is not None:
            return
        elif key in ("left", "right"):
            columns = self._rows.columns
            place = columns.index(self._rows.sorted_by) + (1 if key == "right" else -1)
            self._rows.sort(columns[place % len(columns)])
        elif key == "r":
            self._rows.is_reversed = not self._rows.is_reversed
            self._move_to(0)
        elif key == "/":
            self._is_editing = True
        elif key == "escape":
            self.filter = ""
        elif key == "p":
            self.is_paused = not self.is_paused
        elif key == "enter":
            self._show()

    @property
    def _position(self) -> int:
        return self._cursor if self._shown is None else self._offset

    def _move_to(self, position: int) -> None:
        if self._shown is not None:
            self._offset = max(min(position, len(self._shown) - self._height), 0)
            return
        self._cursor = max(min(position, len(self._rows) - 1), 0)
        self._selected = next(iter(self._rows.window(self._cursor, 1)), "") if self._cursor else ""

    def _show(self) -> None:
        key = next(iter(self._rows.window(self._cursor, 1)), "")
        row = self._rows.row(key, self._clock.now())
        if row is not None:
            try:
                self._shown = self._yaml(row.item).splitlines()
            except ListWatchError as error:
                self._shown = [f"{key} cannot be shown: {error}"]
            self._offset = 0

    # --- drawing -----------------------------------------------------------------------------------------------------

    def lines(self, status: Status, *, width: int, height: int) -> list[Text]:
        """The lines of the screen, `height` of them at most."""
        self._height = max(height - _FIXED_LINES, 1)
        drawn = [_title(status, len(self._rows)), self._order_line(status)]
        if self._shown is None:
            drawn += self._rows_lines(width)
        else:
            drawn += [Text(f" {line}") for line in self._shown[self._offset : self._offset + self._height + 1]]
        drawn += [Text()] * (height - 1 - len(drawn))
        drawn = drawn[: height - 1]
        drawn.append(Text(_HELP, style="dim"))
        for line in drawn:
            line.truncate(width, overflow="ellipsis")
        return drawn

    def _order_line(self, status: Status) -> Text:
        rows = self._rows
        line = Text.assemble(" sorted by ", (f"{rows.sorted_by.title} {self._arrow()}", "bold"))
        if rows.progress < 1:
            line.append(f"  {100 * rows.progress:.0f} %", "yellow")
        if self._filter or self._is_editing:
            line.append("   filter ").append(self._filter, "bold cyan")
            line.append("█" if self._is_editing else "", "cyan")
        if self.is_paused:
            line.append("   paused", "bold yellow")
        if status.problem:
            line.append(f"   {status.problem}", "red")
        return line

    def _arrow(self) -> str:
        return "▼" if self._rows.is_reversed != self._rows.sorted_by.largest_first else "▲"

    def _rows_lines(self, width: int) -> list[Text]:
        self._follow_selected()
        keys = self._rows.window(self._offset, self._height)
        now = self._clock.now()
        before = self._visible
        rows = [self._rows.row(key, now, before.get(key)) for key in keys]
        self._visible = {key: row for key, row in zip(keys, rows, strict=True) if row is not None}
        cells = [self._cells(row, key) for row, key in zip(rows, keys, strict=True)]
        widths = self._fit(cells, width)
        drawn = [self._header(widths)]
        for number, (row, texts) in enumerate(zip(rows, cells, strict=True)):
            line = self._line(row, texts, widths)
            if self._offset + number == self._cursor:
                line.pad_right(max(width - line.cell_len, 0))
                line.stylize(_CURSOR)
            drawn.append(line)
        return drawn

    def _follow_selected(self) -> None:
        """Keep the cursor on its object when rows move; at the top it stays at the top."""
        if self._selected and (position := self._rows.position(self._selected)) is not None:
            self._cursor = position
        self._cursor = max(min(self._cursor, len(self._rows) - 1), 0)
        self._offset = max(min(self._offset, self._cursor), self._cursor - self._height + 1, 0)
        self._offset = min(self._offset, max(len(self._rows) - self._height, 0))

    def _cells(self, row: Row | None, key: str) -> list[str]:
        if row is None:  # deleted, and not yet removed from the order
            return [key if column.title == "NAME" else "" for column in self._rows.columns]
        return [column.text(row) for column in self._rows.columns]

    def _fit(self, cells: Sequence[Sequence[str]], width: int) -> list[int]:
        """The widths of the columns; the names get what the others leave, if it is too little."""
        columns = self._rows.columns
        for number, column in enumerate(columns):
            widest = max((cell_len(texts[number]) for texts in cells), default=0)
            limit = _WIDEST if column.title != "NAME" else width
            self._widths[column.title] = max(self._widths.get(column.title, len(column.title) + 1), min(widest, limit))
        widths = [self._widths[column.title] for column in columns]
        excess = sum(widths) + 2 * len(widths) - width
        if excess > 0:
            name = next(number for number, column in enumerate(columns) if column.title == "NAME")
            widths[name] = max(widths[name] - excess, 12)
        return widths

    def _header(self, widths: Sequence[int]) -> Text:
        line = Text(style="bold")
        for column, width in zip(self._rows.columns, widths, strict=True):
            is_sorted = column is self._rows.sorted_by
            title = f"{column.title}{self._arrow() if is_sorted else ''}"
            line.append(f" {_aligned(title, width, column)} ", "cyan" if is_sorted else "")
        return line

    def _line(self, row: Row | None, texts: Sequence[str], widths: Sequence[int]) -> Text:
        line = Text(style="" if row is not None else "dim")
        for column, text, width in zip(self._rows.columns, texts, widths, strict=True):
            line.append(f" {_aligned(text, width, column)} ", column.style(text) if row is not None else "")
        return line


def _aligned(text: str, width: int, column: Column) -> str:
    missing = width - cell_len(text)
    if missing < 0:
        return set_cell_size(text, width - 1) + "…"
    return " " * missing + text if column.align == "right" else text + " " * missing


def _title(status: Status, shown: int) -> Text:
    is_watching = status.state == "watching"
    line = Text.assemble((f" {status.title} ", "bold black on cyan"), f" {status.where}  ")
    line.append(f"{status.objects:,} objects", "bold")
    if shown != status.objects:
        line.append(f", {shown:,} shown")
    line.append("  ● ", "green" if is_watching else "red").append(status.state, "green" if is_watching else "red")
    return line.append(f" @{status.resource_version}", "dim").append(f"  {status.rate:,.0f} events/s")
