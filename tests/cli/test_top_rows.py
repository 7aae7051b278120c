"""The order of a live table: sorted and filtered step by step."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cli.top.columns import Column, columns_for
from listwatch.cli.top.filters import parse_filter
from listwatch.cli.top.keyboard import split_keys
from listwatch.cli.top.rows import Rows
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.testing.clocks import VirtualClock

FOREVER = 1e9

NAME = Column("NAME", lambda row: row.item.name)
SIZE = Column("SIZE", lambda row: row.item.labels["size"], lambda row: int(row.item.labels["size"]))
CHANGES = Column("CHANGES", lambda row: str(row.changes), lambda row: -row.changes)


def made(name: str, size: int = 0, namespace: str = "default") -> ConfigMap:
    return ConfigMap.from_dict({"metadata": {"name": name, "namespace": namespace, "labels": {"size": str(size)}}})


class Setting:
    """Rows over a dict of objects."""

    def __init__(self, items: Iterable[Object] = ()) -> None:
        self.clock = VirtualClock()
        self.items: dict[str, Object] = {}
        self.rows = Rows([NAME, SIZE, CHANGES], self.items.get, clock=self.clock)
        for item in items:
            self.items[item.cache_key] = item
            self.rows.add(item.cache_key)
        self.rows.refresh(FOREVER)

    def put(self, item: Object) -> None:
        self.items[item.cache_key] = item
        self.rows.change(item.cache_key)

    def remove(self, key: str) -> None:
        del self.items[key]
        self.rows.remove(key)

    def names(self) -> list[str]:
        self.rows.refresh(FOREVER)
        return [key.partition("/")[2] for key in self.rows.window(0, len(self.rows))]


def test_rows_are_sorted_by_the_first_column() -> None:
    assert Setting([made("b"), made("c"), made("a")]).names() == ["a", "b", "c"]


def test_another_column_sorts_by_its_value_and_not_by_its_text() -> None:
    setting = Setting([made("a", 10), made("b", 9), made("c", 100)])
    setting.rows.sort(SIZE)
    assert setting.names() == ["b", "a", "c"]


def test_a_reversed_window_starts_at_the_other_end() -> None:
    setting = Setting([made(name) for name in "abcde"])
    setting.rows.is_reversed = True
    assert setting.names() == ["e", "d", "c", "b", "a"]
    assert setting.rows.window(1, 2) == ["default/d", "default/c"]
    assert setting.rows.window(4, 10) == ["default/a"]
    assert setting.rows.position("default/d") == 1


def test_a_changed_object_moves_to_its_new_place() -> None:
    setting = Setting([made("a", 1), made("b", 2), made("c", 3)])
    setting.rows.sort(SIZE)
    setting.names()
    setting.put(made("a", 9))
    assert setting.names() == ["b", "c", "a"]


def test_a_deleted_object_is_no_longer_shown() -> None:
    setting = Setting([made("a"), made("b")])
    setting.remove("default/a")
    assert setting.names() == ["b"]
    assert setting.rows.position("default/a") is None


def test_the_object_with_the_most_changes_comes_first() -> None:
    setting = Setting([made("a"), made("b")])
    setting.rows.sort(CHANGES)
    setting.names()
    setting.put(made("b"))
    assert setting.names() == ["b", "a"]
    for _ in range(2):
        setting.put(made("a"))
    assert setting.names() == ["a", "b"]


def test_a_filter_hides_what_does_not_match_and_shows_what_begins_to_match() -> None:
    setting = Setting([made("a", 1), made("b", 2)])
    setting.rows.filter(lambda item: item.labels["size"] == "2")
    assert setting.names() == ["b"]
    setting.put(made("a", 2))
    setting.put(made("b", 1))
    assert setting.names() == ["a"]


def test_the_present_order_is_shown_until_the_next_one_is_complete() -> None:
    setting = Setting([made(f"n{number:03}", 1000 - number) for number in range(300)])
    before = setting.names()
    setting.rows.sort(SIZE)
    setting.rows.refresh(-1.0)  # one slice
    assert 0 < setting.rows.progress < 1
    assert [key.partition("/")[2] for key in setting.rows.window(0, 300)] == before
    assert setting.names() == before[::-1]
    assert setting.rows.progress == 1


def test_an_object_that_changes_while_the_next_order_is_built_is_in_its_place() -> None:
    setting = Setting([made(f"n{number:03}", number) for number in range(300)])
    setting.rows.sort(SIZE)
    setting.rows.refresh(-1.0)
    setting.put(made("n000", 5000))
    setting.remove("default/n001")
    assert setting.names() == [*(f"n{number:03}" for number in range(2, 300)), "n000"]


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(-1, 5)), max_size=200), st.booleans())
def test_the_order_is_that_of_sorting_everything(steps: list[tuple[str, int]], at_once: bool) -> None:
    setting = Setting()
    setting.rows.sort(SIZE)
    for name, size in steps:
        if size >= 0:
            setting.put(made(name, size))
        elif f"default/{name}" in setting.items:
            setting.remove(f"default/{name}")
        if not at_once:
            setting.rows.refresh(FOREVER)
    wanted = sorted(setting.items.values(), key=lambda item: (int(item.labels["size"]), item.cache_key))
    assert setting.names() == [item.name for item in wanted]


def test_many_moved_rows_are_merged_into_the_others() -> None:
    setting = Setting([made(f"n{number:04}", number) for number in range(1000)])
    setting.rows.sort(SIZE)
    setting.names()
    for number in range(0, 1000, 3):
        setting.put(made(f"n{number:04}", 2000 - number))
    wanted = sorted(setting.items.values(), key=lambda item: (int(item.labels["size"]), item.cache_key))
    assert setting.names() == [item.name for item in wanted]


# --- filters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("web", True),
        ("WEB", True),
        ("prod/", True),
        ("web db", False),
        ("!db", True),
        ("!web", False),
        ("app=web", True),
        ("app=db", False),
        ("app!=db", True),
        ("web app=web", True),
        ("=", False),
    ],
)
def test_a_filter_matches_parts_of_the_key_and_labels(text: str, matches: bool) -> None:
    item = ConfigMap.from_dict({"metadata": {"name": "web-0", "namespace": "prod", "labels": {"app": "web"}}})
    condition = parse_filter(text)
    assert condition is not None
    assert condition(item) is matches


def test_a_text_without_words_is_no_filter() -> None:
    assert parse_filter("  ") is None


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ("jq", ["j", "q"]),
        ("\x1b[A\x1b[B", ["up", "down"]),
        ("\x1b[5~\x1b[6~", ["page up", "page down"]),
        ("\x1b", ["escape"]),
        ("\x1bx", ["escape", "x"]),
        ("\x1b[1;5Cx", ["x"]),
        ("ü\r\x7f", ["ü", "enter", "backspace"]),
        ("\x00\x07", []),
    ],
)
def test_what_a_terminal_sends_is_split_into_keys(sent: str, keys: list[str]) -> None:
    assert list(split_keys(sent)) == keys


# --- columns ----------------------------------------------------------------------------------------------------------


def cells(kind: type[Object], tree: dict[str, object], *, metadata_only: bool = False) -> dict[str, str]:
    item = Unstructured.from_wire(kind.from_dict(tree).to_json())
    assert kind.resource is not None
    rows = Rows(
        columns_for(kind.resource, metadata_only=metadata_only), {item.cache_key: item}.get, clock=VirtualClock()
    )
    row = rows.row(item.cache_key, VirtualClock().now())
    assert row is not None
    shown = {column.title: column.text(row) for column in rows.columns}
    for column in rows.columns:
        column.sort_value(row)
    return shown


def test_a_pod_shows_its_ready_containers_its_state_and_its_restarts() -> None:
    waiting = {"name": "a", "ready": False, "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    running = {"name": "b", "ready": True, "restartCount": 1, "state": {"running": {}}}
    tree = {
        "metadata": {"name": "web-0", "namespace": "default"},
        "spec": {"nodeName": "n1", "containers": [{"name": "a"}, {"name": "b"}]},
        "status": {"phase": "Running", "containerStatuses": [waiting, running]},
    }
    shown = cells(Pod, tree)
    assert (shown["READY"], shown["STATUS"], shown["RESTARTS"], shown["NODE"]) == ("1/2", "CrashLoopBackOff", "4", "n1")


def test_a_pod_that_was_never_restarted_has_zero_restarts() -> None:
    assert cells(Pod, {"metadata": {"name": "web-0", "namespace": "default"}})["RESTARTS"] == "0"


def test_a_deployment_shows_its_ready_replicas() -> None:
    tree = {"metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"readyReplicas": 2}}
    assert cells(Deployment, tree)["READY"] == "2/3"


def test_a_cluster_scoped_object_has_no_namespace_column() -> None:
    shown = cells(Node, {"metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    assert "NAMESPACE" not in shown
    assert shown["STATUS"] == "Ready"


def test_a_status_of_another_form_is_an_empty_cell() -> None:
    item = Unstructured({"apiVersion": "x/v1", "kind": "Pod", "metadata": {"name": "a"}, "status": "odd", "spec": 7})
    assert Pod.resource is not None
    rows = Rows(columns_for(Pod.resource, metadata_only=False), {"a": item}.get, clock=VirtualClock())
    row = rows.row("a", VirtualClock().now())
    assert row is not None
    assert [column.text(row) for column in rows.columns if column.title == "STATUS"] == [""]


def test_control_characters_of_a_status_do_not_reach_the_terminal() -> None:
    shown = cells(Pod, {"metadata": {"name": "a"}, "status": {"phase": "\x1b[2Jowned"}})
    assert "\x1b" not in shown["STATUS"]


def test_metadata_has_no_columns_of_a_status() -> None:
    assert set(cells(Pod, {"metadata": {"name": "a"}}, metadata_only=True)) == {
        "NAMESPACE",
        "NAME",
        "CHANGES",
        "CHANGED",
        "AGE",
    }
