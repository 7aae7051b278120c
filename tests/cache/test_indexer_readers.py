"""One thread writes, others read: each read returns a state that existed at some time during the read.

The first tests interrupt one side before every instruction and run the other side; the last ones use real threads.
"""

import sys
import threading
from collections.abc import Callable
from functools import cache
from itertools import count

import pytest
from tests.cache.pods import deleted, names, pod, updated

from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE, namespace_of


def node_of(item):
    return [item.spec.node_name]


def zone_of(item):
    return [item.labels["zone"]]


@cache  # pods are not changed here, and creating them dominates the run time
def pod_at(name, version):
    """Return a pod whose node and zone depend on its version; both are odd or even together."""
    return pod(name, version, node=f"n{version % 4}", labels={"zone": f"z{version % 2}"})


def filled():
    indexer = Indexer(indexers={NAMESPACE: namespace_of, "node": node_of, "zone": zone_of})
    indexer.replace([pod_at("a", 1), pod_at("b", 1), pod_at("c", 2)], "2")
    return indexer


# --- Step by step -----------------------------------------------------------------------------------------------------


def before_each_step(run: Callable[[], object], interrupt: Callable[[], object]) -> None:
    """Call `run`, and call `interrupt` before each bytecode instruction of the cache in it."""

    def trace(frame, event, _):
        if "/listwatch/cache/" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps.append(frame.f_lasti)
            interrupt()
        return trace

    steps: list[int] = []
    others = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 checks this frame before it traces others
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(others)
    assert steps


def shown(items):
    return sorted(f"{item.name}@{item.resource_version}" for item in items)


READS = {
    "get": lambda indexer: shown(filter(None, [indexer.get("default/a")])),
    "list": lambda indexer: shown(indexer.list()),
    "length": len,
    "version": lambda indexer: indexer.resource_version,
    "by_index, where it stays": lambda indexer: shown(indexer.by_index(NAMESPACE, "default")),
    "by_index, where it was": lambda indexer: shown(indexer.by_index("node", "n1")),
    "by_index, where it goes": lambda indexer: shown(indexer.by_index("node", "n2")),
    "by_indexes, where it was": lambda indexer: shown(indexer.by_indexes(node="n1", zone="z1")),
    "by_indexes, where it goes": lambda indexer: shown(indexer.by_indexes(zone="z0", node="n2")),
    "by_indexes, where it never was": lambda indexer: shown(indexer.by_indexes(node="n1", zone="z0")),
    "by_indexes, where it never is": lambda indexer: shown(indexer.by_indexes(node="n2", zone="z1")),
    "index_keys": lambda indexer: indexer.index_keys("node", "n1"),
    "repr": lambda indexer: repr(indexer).split(" @")[0],
}
CHANGES = {
    "an update in place": lambda indexer: indexer.update(pod_at("a", 5)),
    "an update that moves it": lambda indexer: indexer.update(pod_at("a", 2)),
    "an add": lambda indexer: indexer.add(pod_at("d", 2)),
    "a delete": lambda indexer: indexer.delete(pod_at("a", 1)),
    "a delete of the last one of its value": lambda indexer: indexer.delete(pod_at("c", 2)),
    "a replace": lambda indexer: indexer.replace([pod_at("a", 2), pod_at("e", 2)], "9"),
    "a replacement": lambda indexer: list(indexer.prepare_replace([pod_at("a", 2), pod_at("e", 2)], "9").commit()),
    "an index": lambda indexer: indexer.add_indexers({"late": node_of}),
    "a bookmark": lambda indexer: indexer.bookmark("7"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_reader_sees_the_state_before_or_after_a_change_at_every_step(read):
    for name, change in CHANGES.items():
        indexer, results = filled(), []
        before_each_step(lambda: change(indexer), lambda: results.append(read(indexer)))  # noqa: B023  # at once

        before, after = read(filled()), read(indexer)
        turn = next((number for number, result in enumerate(results) if result != before), len(results))
        assert results == [before] * turn + [after] * (len(results) - turn), name


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_returns_the_state_before_or_after_a_change_made_during_it(read):
    for name, change in CHANGES.items():
        changed = filled()
        change(changed)
        right = [read(filled()), read(changed)]
        assert all(result in right for result in results_with(change, read)), name


def results_with(change, read):
    """Yield the results of a read when the change is made before its first step, before its second, and so on."""
    for moment in count(1):
        indexer, results, steps = filled(), [], count(1)
        before_each_step(
            lambda: results.append(read(indexer)),  # noqa: B023  # at once
            lambda: change(indexer) if next(steps) == moment else None,  # noqa: B023  # at once
        )
        yield results[0]
        if next(steps) <= moment:
            return


def test_a_value_of_an_index_is_visible_as_long_as_an_object_has_it():
    indexer, seen = filled(), []

    before_each_step(
        lambda: indexer.update(pod_at("c", 3)), lambda: seen.append(tuple(sorted(indexer.index_values("node"))))
    )

    # The object is added to its new bucket before it is removed from the old one, which is then removed.
    assert list(dict.fromkeys(seen)) == [("n1", "n2"), ("n1", "n2", "n3"), ("n1", "n3")]


def test_the_version_changes_last():
    indexer, seen = filled(), []

    def write():
        indexer.add(pod_at("d", 7))
        indexer.apply([updated(pod_at("a", 8)), deleted(pod_at("b", 9))])
        indexer.delete(pod_at("d", 10))

    before_each_step(write, lambda: seen.append((indexer.resource_version, *shown(indexer.list()))))

    assert list(dict.fromkeys(seen)) == [
        ("2", "a@1", "b@1", "c@2"),
        ("2", "a@1", "b@1", "c@2", "d@7"),
        ("7", "a@1", "b@1", "c@2", "d@7"),
        ("7", "a@8", "b@1", "c@2", "d@7"),
        ("7", "a@8", "c@2", "d@7"),
        ("9", "a@8", "c@2", "d@7"),
        ("9", "a@8", "c@2"),
        ("10", "a@8", "c@2"),
    ]


def test_an_index_that_is_added_later_is_invisible_until_it_is_complete():
    indexer, seen = filled(), set()

    before_each_step(
        lambda: indexer.add_indexers({"late": namespace_of}),
        lambda: seen.add(len(indexer.by_index("late", "default")) if "late" in indexer.indexers else None),
    )

    assert seen == {None, 3}


# --- With threads -----------------------------------------------------------------------------------------------------

READERS = 3
POD_NAMES = [f"web-{number}" for number in range(20)]


@pytest.fixture
def busy_threads():
    """Switch threads as often as possible."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def while_writing(write: Callable[[], None], read: Callable[[], str]) -> set[str]:
    """Write while readers run from before the start until after the end; return the errors that they found."""
    complaints: set[str] = set()
    ready, finished = threading.Barrier(READERS + 1), threading.Event()

    def read_on():
        ready.wait()
        try:
            while not finished.is_set():
                complaints.add(read())
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what this looks for
            complaints.add(repr(error))

    readers = [threading.Thread(target=read_on) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    ready.wait()
    try:
        write()
    finally:
        finished.set()
        for reader in readers:
            reader.join()
    return complaints - {""}


def places(version):
    return [pod_at(name, version) for name in POD_NAMES]


@pytest.mark.usefixtures("busy_threads")
def test_no_thread_sees_a_part_of_a_list():
    indexer = Indexer(indexers={NAMESPACE: namespace_of})
    indexer.replace(places(0), "0")

    def write():
        for version in range(1, 100):
            indexer.replace(places(version), str(version))

    def read():
        for result in (indexer.list(), indexer.by_index(NAMESPACE, "default")):
            versions = {item.resource_version for item in result}
            if (len(result), len(versions)) != (len(POD_NAMES), 1):
                return f"{len(result)} pods of {len(versions)} lists"
        return ""

    assert while_writing(write, read) == set()


@pytest.mark.usefixtures("busy_threads")
def test_no_thread_misses_an_object_that_always_exists():
    indexer = Indexer(indexers={NAMESPACE: namespace_of, "node": node_of})
    indexer.replace(places(0), "0")

    def write():
        for version in range(1, 100):
            indexer.apply([updated(item) for item in places(version)])
            indexer.add(pod("comes", version, node="n0"))
            indexer.delete(pod("comes", version))

    def read():
        for result in (indexer.list(), indexer.by_index(NAMESPACE, "default"), indexer.by_indexes(namespace="default")):
            if missing := set(POD_NAMES) - set(names(result)):
                return f"missing: {missing}"
        return "" if len(indexer.index_keys(NAMESPACE, "default")) >= len(POD_NAMES) else "missing a key"

    assert while_writing(write, read) == set()
