"""Every measurement of an informer, with a few objects of each resource, in the processes of a benchmark run."""

import pytest
from bench.harness.runner import Effort, compare
from bench.replay.bare_socket import bare_gets, bare_sockets
from bench.replay.paths import LISTS
from bench.replay.replay_server import replaying

COUNT = 60
FIGURES = {
    *("import", "baseline", "sync", "sync_cpu", "sync_stall", "sync_stall_cpu", "peak", "settled"),
    *("settled_anonymous", "settled_mapped", "baseline_anonymous", "baseline_mapped"),
    *("relist", "relist_cpu", "relist_stall", "relist_stall_cpu"),
    *("events", "events_cpu", "events_stall", "events_stall_cpu"),
    *("fields", "fields_cpu", "fields_stall", "fields_stall_cpu"),
    *("latency_1000_p50", "latency_1000_p99", "latency_1000_p999", "latency_1000_cpu"),
    *("reads_key", "reads_index", "reads_selector", "reads_key_cpu", "reads_index_cpu", "reads_selector_cpu"),
}


class ShortTimeout(Effort):
    timeout = 1.5


@pytest.mark.parametrize(
    ("resource", "prefix"), [("pods", ""), ("configmaps", LISTS), ("secrets", ""), ("widgets", LISTS)]
)
def test_every_figure_is_measured_for_each_resource_from_a_list_and_from_a_stream(resource, prefix):
    with replaying(COUNT, resource) as url:
        plan = {"url": url + prefix, "resource": resource, "count": COUNT, "events": 200, "fields": 100}
        more = {"rates": [(1_000, 50)], "reads": 0.02, "relist": True}
        result = compare("bench.informers.run", {"listwatch": {**plan, **more}}, Effort(), rounds=1)
    assert result.failed == {}
    assert result.rows["listwatch"].keys() == FIGURES
    assert all(value >= 0 for value in result.rows["listwatch"].values())


def test_a_contender_that_waits_forever_is_stopped_after_the_timeout():
    plan = {"url": "http://127.0.0.1:1", "count": 1, "events": 0, "rates": [], "reads": 0.0, "relist": False}
    result = compare("bench.informers.run", {"listwatch": plan}, ShortTimeout(), rounds=2)
    assert result.failed == {"listwatch": "timed out after 2 s"}
    assert result.rows == {}


def test_no_second_round_starts_after_the_deadline():
    with replaying(COUNT) as url:
        plan = {"url": url, "count": COUNT, "events": 0, "rates": [], "reads": 0.0, "relist": False}
        result = compare("bench.informers.run", {"listwatch": plan}, Effort(deadline=0.0), rounds=2)
    assert result.length == "1 round"


def test_a_contender_in_once_runs_in_one_round_only():
    with replaying(COUNT) as url:
        plan = {"url": url, "count": COUNT, "events": 0, "rates": [], "reads": 0.0, "relist": False}
        result = compare("bench.informers.run", {"listwatch": plan}, Effort(), rounds=2, once=["listwatch"])
    assert len(result.rounds["listwatch"]) == 1


@pytest.mark.parametrize("resource", ["pods", "widgets"])
def test_bare_sockets_read_the_responses_that_informers_read(resource):
    with replaying(COUNT, resource) as url:
        limit = bare_sockets(url, count=COUNT, events=500, resource=resource)
        assert bare_gets(url, requests=50, in_flight=4) > 0
    assert limit.keys() == {"list", "stream", "watch"}
    assert min(limit.values()) > 0
