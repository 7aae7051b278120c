"""Every measure of an informer, on a few objects of each kind, in the processes that the bench would use."""

import pytest
from bench.limits import bare_gets, bare_sockets
from bench.replay import replaying
from bench.replay_paths import LISTS
from bench.runner import Effort, race

COUNT = 60
FIGURES = {
    *("import", "baseline", "sync", "sync_cpu", "sync_stall", "sync_stall_cpu", "peak", "settled"),
    *("relist", "relist_cpu", "relist_stall", "relist_stall_cpu"),
    *("events", "events_cpu", "events_stall", "events_stall_cpu"),
    *("fields", "fields_cpu", "fields_stall", "fields_stall_cpu"),
    *("latency_1000_p50", "latency_1000_p99", "latency_1000_p999", "latency_1000_cpu"),
    *("reads_key", "reads_index", "reads_selector", "reads_key_cpu", "reads_index_cpu", "reads_selector_cpu"),
}


class Impatient(Effort):
    longest = 1.5


@pytest.mark.parametrize(
    ("resource", "prefix"), [("pods", ""), ("configmaps", LISTS), ("secrets", ""), ("widgets", LISTS)]
)
def test_each_measure_is_taken_of_each_kind_from_a_list_and_from_a_stream(resource, prefix):
    with replaying(COUNT, resource) as url:
        plan = {"url": url + prefix, "resource": resource, "count": COUNT, "events": 200, "fields": 100}
        more = {"rates": [(1_000, 50)], "reads": 0.02, "relist": True}
        result = race("bench.informer_run", {"listwatch": {**plan, **more}}, Effort(), rounds=1)
    assert result.failed == {}
    assert result.rows["listwatch"].keys() == FIGURES
    assert all(value >= 0 for value in result.rows["listwatch"].values())


def test_a_contender_that_does_not_get_what_it_waits_for_is_given_up():
    plan = {"url": "http://127.0.0.1:1", "count": 1, "events": 0, "rates": [], "reads": 0.0, "relist": False}
    result = race("bench.informer_run", {"listwatch": plan}, Impatient(), rounds=2)
    assert result.failed == {"listwatch": "it took longer than 2 s"}
    assert result.rows == {}


def test_no_second_round_begins_when_it_is_late():
    with replaying(COUNT) as url:
        plan = {"url": url, "count": COUNT, "events": 0, "rates": [], "reads": 0.0, "relist": False}
        result = race("bench.informer_run", {"listwatch": plan}, Effort(deadline=0.0), rounds=2)
    assert result.length == "1 round"


def test_some_take_part_in_one_round_only():
    with replaying(COUNT) as url:
        plan = {"url": url, "count": COUNT, "events": 0, "rates": [], "reads": 0.0, "relist": False}
        result = race("bench.informer_run", {"listwatch": plan}, Effort(), rounds=2, once=["listwatch"])
    assert len(result.rounds["listwatch"]) == 1


@pytest.mark.parametrize("resource", ["pods", "widgets"])
def test_bare_sockets_read_what_informers_read(resource):
    with replaying(COUNT, resource) as url:
        limit = bare_sockets(url, count=COUNT, events=500, resource=resource)
        assert bare_gets(url, requests=50, in_flight=4) > 0
    assert limit.keys() == {"list", "stream", "watch"}
    assert min(limit.values()) > 0
