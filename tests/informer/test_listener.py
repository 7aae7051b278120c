"""One handler and its backlog."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.informer.settings import pod

from listwatch.cache.keys import key_of
from listwatch.informer.audience import Audience
from listwatch.informer.backlog import Backlog
from listwatch.informer.handlers import Added, Change, Deleted, HandlerFunctions, Updated
from listwatch.informer.listener import Listener
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock


def told(backlog: Backlog[Pod]) -> list[Change[Pod]]:
    return [backlog.popleft() for _ in range(len(backlog))]


def test_what_was_there_comes_before_what_happened() -> None:
    backlog: Backlog[Pod] = Backlog("somebody")
    backlog.extend([Deleted(pod("a", "11"))])
    backlog.begin_with([pod("a"), pod("b")])

    assert backlog.initial == 2
    assert [(type(each), each.object.name) for each in told(backlog)] == [(Added, "a"), (Added, "b"), (Deleted, "a")]
    assert backlog.initial == 0


def test_more_objects_than_the_bound_allows_are_not_folded_again_with_every_change() -> None:
    backlog: Backlog[Pod] = Backlog("somebody", max_pending=10)
    for number in range(100):
        backlog.extend([Added(pod(f"p{number}"))])
    assert len(backlog) == 100
    for number in range(50):
        backlog.extend([Updated(pod(f"p{number}", "2"), pod(f"p{number}"))])
    assert len(backlog) == 150  # they are not looked at before there are twice as many as after the last time
    for number in range(50, 100):
        backlog.extend([Updated(pod(f"p{number}", "2"), pod(f"p{number}"))])

    assert len(told(backlog)) < 150


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40),
    st.integers(min_value=1, max_value=5),
    st.integers(min_value=0, max_value=3),
)
def test_folded_changes_lead_to_the_same_state_by_a_legal_way(
    steps: list[tuple[str, bool]], bound: int, taken_after: int
) -> None:
    backlog: Backlog[Pod] = Backlog("somebody", max_pending=bound)
    there: dict[str, Pod] = {}
    seen: dict[str, str] = {}
    for version, (name, is_gone) in enumerate(steps, start=1):
        item, old = pod(name, str(version)), there.get(name)
        if is_gone and old is None:
            continue
        if is_gone:
            del there[name]
            backlog.extend([Deleted(item)])
        else:
            there[name] = item
            backlog.extend([Added(item) if old is None else Updated(item, old)])
        for _ in range(min(taken_after, len(backlog))):
            hear(seen, backlog.popleft())
    for change in told(backlog):
        hear(seen, change)

    assert seen == {key_of(item): item.resource_version for item in there.values()}


def hear(seen: dict[str, str], change: Change[Pod]) -> None:
    key = key_of(change.object)
    match change:
        case Added():
            assert key not in seen
        case Updated():
            assert key in seen
        case Deleted():
            del seen[key]
            return
    seen[key] = change.object.resource_version


def test_a_slow_handler_is_reported_once_where_that_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    backlog: Backlog[Pod] = Backlog("somebody", max_pending=2, overflow="report")
    with caplog.at_level(logging.WARNING):
        for number in range(10):
            backlog.extend([Added(pod(f"p{number}"))])

    assert [record.getMessage() for record in caplog.records] == ["somebody is slow: 3 changes are waiting for it"]
    assert len(backlog) == 10


async def run_for(listener: Listener[Pod]) -> None:
    task = asyncio.create_task(listener.run())
    await listener.caught_up.wait()
    listener.close()
    await task


async def test_a_failing_report_of_a_failure_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def fail(item: Pod) -> None:
        seen.append(item.name)
        raise ValueError(item.name)

    def fail_too(*_: object) -> None:
        raise RuntimeError("the report failed")

    listener: Listener[Pod] = Listener(HandlerFunctions(on_add=fail), on_failure=fail_too)
    listener.begin_with([pod("a"), pod("b")])
    listener.is_fed()
    await run_for(listener)

    assert seen == ["a", "b"]
    assert listener.statistics().failed == 2
    assert "the on_failure of" in caplog.text


async def test_of_what_was_there_a_filter_lets_some_pass_and_all_are_waited_for() -> None:
    seen: list[str] = []
    listener: Listener[Pod] = Listener(
        HandlerFunctions(on_add=lambda item: seen.append(item.name)), accepts=lambda item: item.name in ("p7", "p500")
    )
    listener.begin_with([pod(f"p{number}") for number in range(1000)])
    listener.is_fed()
    await run_for(listener)

    assert seen == ["p7", "p500"]
    assert listener.statistics().has_synced


async def test_a_handler_that_was_filtered_to_nothing_has_caught_up() -> None:
    listener: Listener[Pod] = Listener(HandlerFunctions(on_add=print), accepts=lambda _: False)
    listener.begin_with([pod("a")])
    listener.is_fed()
    assert not listener.caught_up.is_set()
    await run_for(listener)

    assert listener.statistics().handled == 0


class Watcher:
    def on_add(self, item: Any) -> None: ...
    def on_update(self, old: Any, new: Any) -> None: ...


def tidy(item: Any) -> None: ...


@pytest.mark.parametrize(
    ("functions", "name"),
    [
        (HandlerFunctions.of(Watcher()), "Watcher"),
        (HandlerFunctions(on_add=Watcher().on_add, on_update=Watcher().on_update), "Watcher"),
        (HandlerFunctions(on_add=tidy), "tidy"),
        (HandlerFunctions(on_add=tidy, on_delete=print), "tidy+print"),
        (HandlerFunctions(on_add=tidy, name="the broom"), "the broom"),
    ],
)
def test_a_handler_has_a_name_that_its_author_knows(functions: HandlerFunctions[Pod], name: str) -> None:
    assert functions.name == name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"on_add": print}, []),
        ({"on_update": lambda old, new: f"{old.name} → {new.name}"}, ["a → b"]),
        ({"on_delete": lambda item: item.name}, ["c"]),
    ],
)
def test_only_the_functions_that_were_given_are_called(given: dict[str, Any], expected: list[str]) -> None:
    called: list[str] = []
    functions = HandlerFunctions(**{name: _noting(each, called) for name, each in given.items()})

    for change in (Updated(pod("b"), pod("a")), Deleted(pod("c"))):
        assert functions(change) is None

    assert called == expected


def _noting(function: Callable[..., str], called: list[str]) -> Callable[..., None]:
    return lambda *items: called.append(function(*items))


class Flags:
    """Handler functions of several makes, which note the flags that they are given."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def asked_for(self, item: Pod, *, is_initial: bool, **_: Any) -> None:
        self.told.append(is_initial)

    def not_asked_for(self, *items: Pod, **options: Any) -> None:
        self.told.append(options)

    def of_no_name(self, item: Pod, is_initial: str = "mine", /) -> None:
        self.told.append(is_initial)


def test_flags_are_given_to_those_who_name_them_and_to_nobody_else() -> None:
    flags = Flags()
    for function in (flags.asked_for, wraps(flags.asked_for)(lambda *a, **k: flags.asked_for(*a, **k))):
        HandlerFunctions(on_add=function)(Added(pod("a"), is_initial=True))
    HandlerFunctions(on_add=flags.of_no_name)(Added(pod("a"), is_initial=True))
    functions = HandlerFunctions(on_add=flags.not_asked_for, on_delete=flags.not_asked_for)
    for change in (Added(pod("a")), Deleted(pod("a"))):
        functions(change)

    assert flags.told == [True, True, "mine", {}, {}]


class Deaf(Listener[Pod]):
    """Fails where a listener must not fail."""

    def tell(self, changes: Sequence[Change[Pod]]) -> None:
        raise ZeroDivisionError(f"{len(changes)} changes")


def test_who_cannot_be_told_is_reported_and_the_others_are_told() -> None:
    reports: list[Exception] = []
    audience: Audience[Pod] = Audience(list, VirtualClock(), reports.append)
    listeners = [Deaf(HandlerFunctions(on_add=print)), Listener(HandlerFunctions(on_add=print))]
    for listener in listeners:
        audience.join(listener, then=lambda: None)
    audience.tell([Added(pod("a"))])
    audience.tell_each(listeners, [Updated(pod("a"), pod("a"))])

    assert listeners[1].statistics().pending == 2
    assert len(reports) == 2
    assert str(reports[0]) == "print could not be told of 1 changes: ZeroDivisionError('1 changes')"
