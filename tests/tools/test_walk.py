import asyncio
import gc
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tools.tracer import Entered, Tracer, Walk
from tools.walk import WALKS, main

MODULE = "listwatch.traced_by_a_test"
SOURCE = """
class Value:
    def __init__(self):
        self.size = self.double

    @property
    def double(self):
        return sum(number for number in range(3))

async def outer(future):
    return await middle(future)

async def middle(future):
    result = await inner(future)
    while result:
        result = await inner(future)
    return called(result)

async def inner(future):
    return await future()

def called(value):
    return value
"""


@pytest.fixture
def code() -> SimpleNamespace:
    names: dict[str, Any] = {"__name__": MODULE}
    exec(SOURCE, names)
    return SimpleNamespace(**names)


MOST_MODULES = {"event": 12, "create": 26}
"""A reader of the code follows these walks, so they must not lead through more modules."""


def functions(walk: Walk) -> list[str]:
    return [entry.function for entry in walk.entries]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(list(arguments))
    return capsys.readouterr().out


async def test_a_coroutine_that_only_passes_control_on_is_not_entered(code: SimpleNamespace):
    loop = asyncio.get_running_loop()
    first, second = loop.create_future(), loop.create_future()
    futures = iter([first, second])

    def next_future() -> asyncio.Future[bool]:
        future = next(futures)
        if future is second:
            loop.call_soon(second.set_result, False)
        return future

    task = asyncio.create_task(code.outer(next_future))
    await asyncio.sleep(0)
    with Tracer() as tracer:
        first.set_result(True)
        await task
    assert functions(tracer.walk) == ["inner", "middle", "inner", "inner", "middle", "called", "outer"]


async def test_other_tasks_do_not_belong_to_a_walk(code: SimpleNamespace):
    async def unrelated() -> None:
        code.called(1)

    async def related(done: asyncio.Event) -> None:
        code.Value()
        done.set()

    done = asyncio.Event()
    with Tracer() as tracer:
        tasks = [asyncio.create_task(unrelated()), asyncio.create_task(related(done))]
        await done.wait()
    await asyncio.wait(tasks)
    assert functions(tracer.walk) == ["Value.__init__", "Value.double"]


def test_special_methods_and_properties_are_listed_but_not_counted(code: SimpleNamespace):
    async def trace() -> Walk:
        with Tracer() as tracer:
            code.called(code.Value())
        return tracer.walk

    walk = asyncio.run(trace())
    assert walk.entries == [
        Entered(MODULE, "Value.__init__", "special method"),
        Entered(MODULE, "Value.double", "property"),
        Entered(MODULE, "called"),
    ]
    assert [entry.function for entry in walk.functions] == ["called"]


def test_a_tracer_ends_with_the_call_of_its_last_function(code: SimpleNamespace):
    def handler() -> None:
        code.called(2)

    async def trace(end: Callable[[], None]) -> Walk:
        with Tracer(end=end) as tracer:
            code.called(1)
            end()
            code.called(3)
        return tracer.walk

    walk = asyncio.run(trace(handler))
    assert functions(walk) == ["called"]
    assert walk.end.endswith("handler")


def test_a_tracer_does_not_see_finalizers_that_the_garbage_collector_calls(code: SimpleNamespace):
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            code.called(0)

    async def trace() -> Walk:
        with Tracer() as tracer:
            code.called(1)
            Cycle()
            _ = [[] for _ in range(100_000)]
        return tracer.walk

    walk = asyncio.run(trace())
    assert gc.isenabled()
    gc.collect()
    assert [entry.function for entry in walk.entries] == ["called"]


def test_steps_to_a_module_entered_before_are_back_and_forth():
    walk = Walk([Entered("a", "f"), Entered("a", "g"), Entered("b", "h"), Entered("a", "f"), Entered("c", "i")])
    assert walk.steps == [("a", "b"), ("b", "a"), ("a", "c")]
    assert walk.steps_back == [("b", "a")]


@pytest.mark.parametrize(
    ("name", "first", "end"),
    [
        ("event", "listwatch.client.", "walk_event.<locals>.handler"),
        ("list", "listwatch.client.", ""),
        ("create", "listwatch.server.", ""),
        ("reconcile", "listwatch.client.", "walk_reconcile.<locals>.reconcile"),
    ],
)
def test_each_walk_leads_from_its_beginning_to_its_end(
    name: str, first: str, end: str, capsys: pytest.CaptureFixture[str]
):
    walk = json.loads(printed(capsys, name, "--json"))
    assert walk["modules"][0].startswith(first)
    assert walk["end"] == end
    assert len(walk["functions"]) > len(walk["modules"]) > 5
    assert len(walk["modules"]) <= MOST_MODULES.get(name, 100)
    assert walk["steps"] == walk["steps_back"] + len(walk["modules"]) - 1
    if name == "create":
        assert not [
            module for module in walk["modules"] if module.startswith(("listwatch.client", "listwatch.informer"))
        ]
    else:
        assert not [module for module in walk["modules"] if module.startswith("listwatch.server")]


def test_an_event_reaches_the_handler_last(capsys: pytest.CaptureFixture[str]):
    lines = printed(capsys, "event").splitlines()
    assert lines.index("→ walk_event.<locals>.handler") == lines.index("") - 1
    assert lines[-3].startswith("modules: ")


def test_there_is_a_walk_for_each_path():
    assert list(WALKS) == ["event", "list", "create", "reconcile"]
