"""What a live table draws, and what its keys do."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console
from rich.text import Text

from listwatch.cli.screen import Screen, captured_log
from listwatch.cli.top.columns import columns_for
from listwatch.cli.top.rows import Rows
from listwatch.cli.top.table import _CURSOR, Status, Table
from listwatch.errors import DecodeError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object import Object
from listwatch.testing.clocks import VirtualClock

STATUS = Status("configmaps", "in all namespaces", 100, "watching", "7", 12.0)


class Setting:
    """A table of config maps on a small screen."""

    def __init__(self, count: int = 100, *, height: int = 14) -> None:
        self.clock = VirtualClock()
        self.items: dict[str, Object] = {}
        self.reads: list[str] = []
        assert ConfigMap.resource is not None
        self.rows = Rows(columns_for(ConfigMap.resource, metadata_only=True), self._get, clock=self.clock)
        self.table = Table(self.rows, clock=self.clock, yaml=lambda item: f"kind: {item.kind}\nname: {item.name}\n")
        self.height = height
        for number in range(count):
            self.put(f"m{number:03}")
        self.rows.refresh(1e9)

    def _get(self, key: str) -> Object | None:
        self.reads.append(key)
        return self.items.get(key)

    def put(self, name: str) -> None:
        item = ConfigMap.from_dict({"metadata": {"name": name, "namespace": "default"}})
        self.items[item.cache_key] = item
        self.rows.add(item.cache_key)

    def draw(self, *keys: str) -> list[str]:
        for key in keys:
            assert self.table.press(key)
        self.rows.refresh(1e9)
        return [line.plain for line in self.lines()]

    def lines(self) -> list[Text]:
        return self.table.lines(STATUS, width=80, height=self.height)

    def selected(self, *keys: str) -> str:
        """The name in the row of the cursor."""
        self.draw(*keys)
        marked = [line for line in self.lines() if any(span.style == _CURSOR for span in line.spans)]
        assert len(marked) == 1
        return marked[0].plain.split()[1]


def test_the_screen_has_its_height_and_no_line_is_wider() -> None:
    drawn = Setting().draw()
    assert len(drawn) == 14
    assert all(len(line) <= 80 for line in drawn)


def test_only_the_visible_rows_are_read() -> None:
    setting = Setting(5000)
    setting.reads.clear()
    setting.lines()
    assert len(setting.reads) == 14 - 4


def test_the_cursor_moves_by_rows_pages_and_to_the_ends() -> None:
    setting = Setting()
    assert setting.selected() == "m000"
    assert setting.selected("down", "j") == "m002"
    assert setting.selected("up") == "m001"
    assert setting.selected("page down") == "m010"
    assert setting.selected("end") == "m099"
    assert setting.selected("down") == "m099"
    assert setting.selected("home", "up") == "m000"


def test_the_cursor_stays_on_its_object_when_rows_are_added_before_it() -> None:
    setting = Setting()
    assert setting.selected("down", "down") == "m002"
    setting.put("a-new-one")
    assert setting.selected() == "m002"


def test_a_cursor_at_the_top_stays_at_the_top() -> None:
    setting = Setting()
    setting.draw()
    setting.put("a-new-one")
    assert setting.selected() == "a-new-one"


def test_a_filter_is_written_after_a_slash_and_removed_with_escape() -> None:
    setting = Setting()
    drawn = setting.draw("/", "m", "0", "9")
    assert "filter m09█" in drawn[1]
    assert sum("m09" in line for line in drawn[3:]) == 10
    assert "10 shown" in drawn[0]
    assert "filter m0█" in setting.draw("backspace")[1]
    assert "filter m0 " in setting.draw("enter")[1] + " "
    assert "filter" not in setting.draw("escape")[1]


def test_the_arrows_select_the_column_to_sort_by() -> None:
    setting = Setting()
    assert "sorted by NAMESPACE ▲" in setting.draw()[1]
    assert "sorted by NAME ▲" in setting.draw("right")[1]
    assert "sorted by AGE ▲" in setting.draw("left", "left")[1]
    assert "sorted by AGE ▼" in setting.draw("r")[1]
    assert "sorted by CHANGES ▲" in setting.draw("left", "left")[1]  # reversed: the fewest changes first
    assert "sorted by CHANGES ▼" in setting.draw("r")[1]


def test_enter_shows_the_object_at_the_cursor_and_q_returns_to_the_table() -> None:
    setting = Setting()
    drawn = setting.draw("down", "enter")
    assert drawn[2:4] == [" kind: ConfigMap", " name: m001"]
    assert "m001" in setting.selected("q")


def test_an_object_that_cannot_be_shown_says_why() -> None:
    setting = Setting()

    def fail(_item: Object) -> str:
        raise DecodeError("broken", object_name="ConfigMap default/m000")

    setting.table._yaml = fail
    assert "cannot be shown" in setting.draw("enter")[2]


def test_q_ends_the_table() -> None:
    assert not Setting().table.press("q")


def test_an_empty_table_can_be_drawn_and_moved_in() -> None:
    setting = Setting(0)
    assert len(setting.draw("down", "end", "page up", "enter", "r", "right")) == 14


def test_an_object_that_was_just_deleted_is_drawn_by_its_key() -> None:
    setting = Setting(3)
    del setting.items["default/m001"]
    assert any("default/m001" in line for line in setting.draw())


def test_a_long_name_is_cut_off() -> None:
    setting = Setting(0)
    setting.put("n" * 200)
    drawn = setting.draw()
    assert any("nnn…" in line for line in drawn)


@pytest.mark.parametrize("height", [1, 2, 4, 5])
def test_a_low_screen_can_be_drawn(height: int) -> None:
    assert len(Setting(height=height).draw("down")) <= height


def test_warnings_of_the_log_are_passed_on_instead_of_being_written_over_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines: list[str] = []
    with captured_log(lines.append):
        logging.getLogger("listwatch.informer").warning("lost %s", "a connection")
        logging.getLogger("listwatch.informer").info("not important")
    assert lines == ["lost a connection"]
    assert "connection" not in capsys.readouterr().err


def test_only_lines_that_changed_are_written_to_the_terminal() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, force_terminal=True, width=80, height=14, color_system="standard"))
    setting = Setting()
    assert screen.draw(setting.lines()) == 14
    assert screen.draw(setting.lines()) == 0
    out.truncate(0)
    setting.table.press("down")
    assert screen.draw(setting.lines()) == 2
    assert out.getvalue().count("\x1b[K") == 2
