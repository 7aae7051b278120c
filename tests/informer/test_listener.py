"""One handler and its backlog."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.informer.settings import pod

from listwatch.cache.keys import key_of
from listwatch.errors import UsageError
from listwatch.informer.handlers import Change, HandlerFunctions, ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.listener import Backlog, Listener
from listwatch.models.core_v1 import Pod


def taken(backlog: Backlog[Pod]) -> list[Change[Pod]]:
    return [change for _ in range(len(backlog)) for change in backlog.take(1)]


def test_replayed_objects_come_before_changes() -> None:
    backlog: Backlog[Pod] = Backlog("handler")
    backlog.extend([ObjectDeleted(pod("a", "11"))])
    backlog.replay([pod("a"), pod("b")])

    assert backlog.initial == 2
    assert [(type(each), each.object.name) for each in taken(backlog)] == [
        (ObjectAdded, "a"),
        (ObjectAdded, "b"),
        (ObjectDeleted, "a"),
    ]
    assert backlog.initial == 0


def test_more_objects_than_max_pending_are_not_coalesced_with_every_change() -> None:
    backlog: Backlog[Pod] = Backlog("handler", max_pending=10)
    for number in range(100):
        backlog.extend([ObjectAdded(pod(f"p{number}"))])
    assert len(backlog) == 100
    for number in range(50):
        backlog.extend([ObjectUpdated(pod(f"p{number}", "2"), pod(f"p{number}"))])
    assert len(backlog) == 150  # coalesced again only when the number has doubled since the last time
    for number in range(50, 100):
        backlog.extend([ObjectUpdated(pod(f"p{number}", "2"), pod(f"p{number}"))])

    assert len(taken(backlog)) < 150


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40),
    st.integers(min_value=1, max_value=5),
    st.integers(min_value=0, max_value=3),
)
def test_coalesced_changes_lead_to_the_same_state_in_valid_steps(
    steps: list[tuple[str, bool]], bound: int, taken_after: int
) -> None:
    backlog: Backlog[Pod] = Backlog("handler", max_pending=bound)
    present: dict[str, Pod] = {}
    seen: dict[str, str] = {}
    for version, (name, is_deleted) in enumerate(steps, start=1):
        item, old = pod(name, str(version)), present.get(name)
        if is_deleted and old is None:
            continue
        if is_deleted:
            del present[name]
            backlog.extend([ObjectDeleted(item)])
        else:
            present[name] = item
            backlog.extend([ObjectAdded(item) if old is None else ObjectUpdated(item, old)])
        for _ in range(min(taken_after, len(backlog))):
            see(seen, *backlog.take(1))
    for change in taken(backlog):
        see(seen, change)

    assert seen == {key_of(item): item.resource_version for item in present.values()}


def see(seen: dict[str, str], change: Change[Pod]) -> None:
    key = key_of(change.object)
    match change:
        case ObjectAdded():
            assert key not in seen
        case ObjectUpdated():
            assert key in seen
        case ObjectDeleted():
            del seen[key]
            return
    seen[key] = change.object.resource_version


def test_a_slow_handler_is_reported_once_with_overflow_report(caplog: pytest.LogCaptureFixture) -> None:
    backlog: Backlog[Pod] = Backlog("handler", max_pending=2, overflow="report")
    with caplog.at_level(logging.WARNING):
        for number in range(10):
            backlog.extend([ObjectAdded(pod(f"p{number}"))])

    assert [record.getMessage() for record in caplog.records] == ["Handler handler is slow: 3 changes are pending"]
    assert len(backlog) == 10


async def run_for(listener: Listener[Pod]) -> None:
    task = asyncio.create_task(listener.run())
    await listener.caught_up.wait()
    listener.close()
    await task


async def test_an_on_failure_that_raises_does_not_end_the_listener(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    def fail(item: Pod) -> None:
        seen.append(item.name)
        raise ValueError(item.name)

    def fail_too(*_: object) -> None:
        raise RuntimeError("the report failed")

    listener: Listener[Pod] = Listener(HandlerFunctions(on_add=fail), on_failure=fail_too)
    listener.replay([pod("a"), pod("b")])
    listener.mark_synced()
    await run_for(listener)

    assert seen == ["a", "b"]
    assert listener.statistics().failed == 2
    assert "on_failure of" in caplog.text


async def test_replayed_objects_are_filtered_and_the_listener_catches_up() -> None:
    seen: list[str] = []
    listener: Listener[Pod] = Listener(
        HandlerFunctions(on_add=lambda item: seen.append(item.name)), accepts=lambda item: item.name in ("p7", "p500")
    )
    listener.replay([pod(f"p{number}") for number in range(1000)])
    listener.mark_synced()
    await run_for(listener)

    assert seen == ["p7", "p500"]
    assert listener.statistics().has_synced


async def test_a_handler_whose_filter_rejects_everything_has_caught_up() -> None:
    listener: Listener[Pod] = Listener(HandlerFunctions(on_add=print), accepts=lambda _: False)
    listener.replay([pod("a")])
    listener.mark_synced()
    assert not listener.caught_up.is_set()
    await run_for(listener)

    assert listener.statistics().handled == 0


class PodHandler:
    def on_add(self, item: Any) -> None: ...
    def on_update(self, old: Any, new: Any) -> None: ...


def clean_up(item: Any) -> None: ...


@pytest.mark.parametrize(
    ("functions", "name"),
    [
        (HandlerFunctions.of(PodHandler()), "PodHandler"),
        (HandlerFunctions(on_add=PodHandler().on_add, on_update=PodHandler().on_update), "PodHandler"),
        (HandlerFunctions(on_add=clean_up), "clean_up"),
        (HandlerFunctions(on_add=clean_up, on_delete=print), "clean_up+print"),
        (HandlerFunctions(on_add=clean_up, name="custom name"), "custom name"),
    ],
)
def test_a_handler_is_named_after_its_class_or_functions(functions: HandlerFunctions[Pod], name: str) -> None:
    assert functions.name == name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"on_add": print}, []),
        ({"on_update": lambda old, new: f"{old.name} → {new.name}"}, ["a → b"]),
        ({"on_delete": lambda item: item.name}, ["c"]),
    ],
)
def test_only_given_functions_are_called(given: dict[str, Any], expected: list[str]) -> None:
    called: list[str] = []
    functions = HandlerFunctions(**{name: _recording(each, called) for name, each in given.items()})

    for change in (ObjectUpdated(pod("b"), pod("a")), ObjectDeleted(pod("c"))):
        assert functions(change) is None

    assert called == expected


def _recording(function: Callable[..., str], called: list[str]) -> Callable[..., None]:
    return lambda *items: called.append(function(*items))


class Flags:
    """Handler functions with different signatures, which record the flags that they receive."""

    def __init__(self) -> None:
        self.received: list[Any] = []

    def with_flag(self, item: Pod, *, is_initial: bool, **_: Any) -> None:
        self.received.append(is_initial)

    def with_any_keyword(self, *items: Pod, **options: Any) -> None:
        self.received.append(options)

    def with_positional_only(self, item: Pod, is_initial: str = "mine", /) -> None:
        self.received.append(is_initial)


def test_flags_are_passed_only_to_functions_that_have_a_parameter_of_that_name() -> None:
    flags = Flags()
    for function in (flags.with_flag, wraps(flags.with_flag)(lambda *a, **k: flags.with_flag(*a, **k))):
        HandlerFunctions(on_add=function)(ObjectAdded(pod("a"), is_initial=True))
    HandlerFunctions(on_add=flags.with_positional_only)(ObjectAdded(pod("a"), is_initial=True))
    functions = HandlerFunctions(on_add=flags.with_any_keyword, on_delete=flags.with_any_keyword)
    for change in (ObjectAdded(pod("a")), ObjectDeleted(pod("a"))):
        functions(change)

    assert flags.received == [True, True, "mine", {}, {}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"on_add": lambda: None}, r"on_add is .*<lambda>\(\), which cannot be called with \(item\)"),
        (
            {"on_add": lambda old, new: None},
            r"on_add is .*\(old, new\), which cannot be called with \(item\)",
        ),
        (
            {"on_update": lambda new: None},
            r"on_update is .*\(new\), which cannot be called with \(old, new\)",
        ),
        ({"on_delete": lambda *, item: None}, r"on_delete is .*which cannot be called with \(item\)"),
        ({"on_delete": "clean up"}, "on_delete is 'clean up', which is not callable; pass a function"),
        ({}, "the handler has no functions; pass on_add, on_update or on_delete"),
    ],
)
def test_functions_with_the_wrong_parameters_are_rejected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        HandlerFunctions(**given)


async def on_pod(item: Pod) -> None: ...


@pytest.mark.parametrize(
    "function", [print, on_pod, lambda *items: None, lambda item, client=None: None, partial(print, 1)]
)
def test_functions_that_accept_one_object_can_be_on_add(function: Any) -> None:
    assert HandlerFunctions(on_add=function).on_add is function


def test_a_decorated_function_is_checked_by_what_its_decorator_accepts() -> None:
    def with_client(function: Any) -> Any:
        @wraps(function)
        def call(item: Pod) -> None:
            function("client", item)

        return call

    @with_client
    def on_add(client: str, item: Pod) -> None: ...

    assert HandlerFunctions(on_add=on_add).name.endswith("on_add")
