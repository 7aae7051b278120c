"""The differ reports the differences between two servers, and nothing else. Both servers here are embedded ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from listwatch.errors import DecodeError, ServiceUnavailableError
from listwatch.server import Fail, Fault
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.differ.accepted import ACCEPTED, accepted_list, reason_for
from listwatch.testing.differ.comparison import Difference, Normalizer, differences
from listwatch.testing.differ.differ import compare_servers
from listwatch.testing.differ.generation.scenarios import generate
from listwatch.testing.differ.report import Report
from listwatch.testing.differ.runner import Response, Server
from listwatch.testing.differ.scenarios import Request, Scenario, read_scenarios, write_scenarios

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
CREATE = Request(method="POST", path=MAPS, body={"metadata": {"name": "a"}, "data": {"key": "value"}})


@pytest.fixture(scope="module")
def threads() -> Iterator[tuple[APIServerThread, APIServerThread]]:
    with APIServerThread() as one, APIServerThread() as other:
        yield one, other


@pytest.fixture
def servers(threads: tuple[APIServerThread, APIServerThread]) -> Iterator[tuple[Server, Server]]:
    one, other = threads
    yield Server("one", one.url, one.token), Server("other", other.url, other.token)
    for thread in threads:
        while thread.statistics().connections:
            pass  # each call runs on the server's loop, which then notices the closed connections


def response(body: str, status: int = 200) -> Response:
    return Response(status, {"content-type": "application/json"}, body.encode())


def found(left: str, right: str) -> list[Difference]:
    return list(differences(response(left), response(right), (Normalizer(), Normalizer()), watched=False))


# --- comparison


def test_uids_versions_and_times_are_normalized():
    body = (
        '{"metadata":{"uid":"00000000-0000-0000-0000-00000000000%s","resourceVersion":"%s","creationTimestamp":"%s"}}'
    )
    one = body % (1, 7, "2026-01-01T00:00:00Z")
    other = body % (2, 99, "2026-02-02T00:00:00Z")
    assert found(one, other) == []


def test_versions_are_compared_by_their_order():
    normalizers = (Normalizer(), Normalizer())
    first = response('{"metadata":{"resourceVersion":"7"}}'), response('{"metadata":{"resourceVersion":"99"}}')
    assert list(differences(*first, normalizers, watched=False)) == []
    second = response('{"metadata":{"resourceVersion":"8"}}'), response('{"metadata":{"resourceVersion":"99"}}')
    (difference,) = differences(*second, normalizers, watched=False)
    assert (difference.path, difference.left, difference.right) == (
        "metadata.resourceVersion",
        "version 2",
        "version 1",
    )


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        ('{"spec":{"a":1}}', '{"spec":{"a":2}}', "spec.a"),
        ('{"spec":{"a":1}}', '{"spec":{}}', "spec.a"),
        ('{"spec":[{"a":1},{"a":1}]}', '{"spec":[{"a":1}]}', "spec[1]"),
        ('{"a":true}', '{"a":1}', "a"),
        ('{"a":""}', '{"a":null}', "a"),
    ],
)
def test_every_difference_of_a_body_is_reported(left: str, right: str, path: str):
    (difference,) = found(left, right)
    assert (difference.aspect, difference.path) == ("body", path)


def test_the_parts_of_a_status_are_compared_separately():
    status = '{"kind":"Status","reason":"%s","message":"%s","details":{"name":"x","causes":[{"field":"%s"}]}}'
    left, right = status % ("Invalid", "no", "spec.a"), status % ("BadRequest", "never", "spec.b")
    assert [each.aspect for each in found(left, right)] == ["reason", "message", "causes"]


def test_managed_fields_are_compared_independently_of_their_order():
    body = '{"metadata":{"managedFields":[{"manager":"%s"},{"manager":"%s"}]}}'
    assert found(body % ("a", "b"), body % ("b", "a")) == []
    assert found(body % ("a", "b"), body % ("c", "a")) != []


@pytest.mark.parametrize(
    ("template", "parts"),
    [
        (
            'pods "a" is forbidden: [%s]',
            ("minimum cpu usage per Pod is 1, but request is 0", "cpu max limit to request ratio per Pod is 1"),
        ),
        (
            "Pod is invalid: [spec.a: x, %s, spec.z: y]",
            ("spec.c.resources.limits[cpu]: x", "spec.c.resources.requests: y"),
        ),
        ("Pod is invalid: [spec.a: x, %s]", ("spec.c.resources.limits[cpu]: x", "spec.c.resources.requests: y")),
        ("Pod is invalid: [%s]", ("spec.c.resources.limits[cpu]: x", "spec.c.resources.requests: y")),
    ],
    ids=["limits of a namespace", "resources", "resources at the end", "resources alone"],
)
def test_problems_that_the_real_server_finds_in_a_random_order_are_sorted(template: str, parts: tuple[str, str]):
    one, other = (json.dumps(template % ", ".join(order)) for order in (parts, parts[::-1]))
    status = '{"kind":"Status","message":%s}'
    assert found(status % one, status % other) == []
    assert found(status % one, status % json.dumps(template % parts[0])) != []


def test_the_lines_of_an_error_of_an_applied_object_are_sorted():
    status = '{"kind":"Status","message":"failed to create typed patch object (/a; v1): errors:\\n  %s\\n  %s"}'
    assert found(status % ("a", "b"), status % ("b", "a")) == []
    assert found(status % ("a", "b"), status % ("b", "c")) != []


def test_other_problems_are_compared_in_their_order():
    status = '{"kind":"Status","message":"Pod is invalid: [spec.%s: x, spec.%s: x]"}'
    assert found(status % ("a", "b"), status % ("b", "a")) != []


def test_only_the_status_is_reported_where_it_differs():
    (difference,) = differences(
        response('{"message":"gone"}', 404), response("{}"), (Normalizer(), Normalizer()), watched=False
    )
    assert (difference.aspect, difference.left, difference.right) == ("status", "404 gone", "200")


def test_the_events_of_a_watch_are_compared_without_bookmarks():
    event = '{"type":"%s","object":{"metadata":{"resourceVersion":"%s"}}}'
    left = response("\n".join([event % ("ADDED", 5), event % ("BOOKMARK", 9)]))
    same, other = response(event % ("ADDED", 7)), response(event % ("DELETED", 7))
    assert list(differences(left, same, (Normalizer(), Normalizer()), watched=True)) == []
    (difference,) = differences(left, other, (Normalizer(), Normalizer()), watched=True)
    assert (difference.aspect, difference.path) == ("events", "[0].type")


def test_every_accepted_difference_has_a_reason_and_none_accepts_a_status_or_everything():
    for each in ACCEPTED:
        assert each.reason
        assert each.aspect != "status" or (each.embedded, each.real) != (".*", ".*")
        assert (each.path, each.embedded, each.real) != (".*", ".*", ".*")


def test_a_difference_is_accepted_only_for_its_requests():
    claim = Request(method="GET", path="/api/v1/namespaces/{namespace}/persistentvolumeclaims/a")
    difference = Difference("body", "metadata.resourceVersion", "version 1", "version 2")
    assert reason_for(difference, claim)
    assert reason_for(difference, CREATE) is None


def test_messages_about_the_same_quota_are_compared():
    message = 'pods "a" is forbidden: exceeded quota: %s, requested: pods=1, used: pods=%s, limited: pods=1'
    assert reason_for(Difference("message", "", message % ("one", 1), message % ("two", 1)), CREATE)
    assert reason_for(Difference("message", "", message % ("one", 1), message % ("one", 2)), CREATE) is None


def test_only_the_generation_of_a_network_policy_may_be_higher_on_the_real_server():
    policy = Request(method="PATCH", path="/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/a")
    assert reason_for(Difference("body", "metadata.generation", 1, 2), policy)
    assert reason_for(Difference("body", "metadata.generation", 2, 1), policy) is None
    assert reason_for(Difference("body", "metadata.generation", 1, 2), CREATE) is None
    message = 'invalid: "{"generation": %s, "name": "%s"}"'
    assert reason_for(Difference("message", "", message % (1, "a"), message % (2, "a")), policy)
    assert reason_for(Difference("message", "", message % (1, "a"), message % (2, "b")), policy) is None


def test_the_accepted_differences_are_documented():
    text = (Path(__file__).parents[3] / "docs" / "real-servers.md").read_text()
    documented = text.partition("<!-- accepted differences -->\n")[2].partition("<!-- end of accepted differences -->")[
        0
    ]
    assert documented == accepted_list(), "print the list with: python -m listwatch.testing.differ --accepted"


# --- scenarios


def test_a_seed_generates_the_same_scenarios_again_and_another_seed_others():
    assert generate(60, seed=5) == generate(60, seed=5)
    assert generate(60, seed=5) != generate(60, seed=6)


def test_scenarios_are_read_as_they_were_written(tmp_path: Path):
    scenarios = generate(60, seed=1)
    write_scenarios(tmp_path / "scenarios", scenarios)
    assert list(read_scenarios(tmp_path / "scenarios")) == scenarios


def test_the_line_of_an_invalid_scenario_is_reported(tmp_path: Path):
    (tmp_path / "scenarios").write_text('{"requests":[]}\n{"requests":1}\n')
    with pytest.raises(DecodeError, match=r"scenarios: line 2 is not a scenario"):
        list(read_scenarios(tmp_path / "scenarios"))


# --- running


def test_two_embedded_servers_do_not_differ(servers: tuple[Server, Server]):
    report = compare_servers(generate(60, seed=2), servers)
    assert report.found == {}, report.text()
    assert report.requests >= 60
    assert {200, 201, 404, 422} <= report.statuses.keys()


def test_a_request_refers_to_the_responses_of_its_own_server(
    servers: tuple[Server, Server], threads: tuple[APIServerThread, APIServerThread]
):
    compare_servers([Scenario((CREATE,))], (servers[0], servers[0]))  # so that the versions of the two servers differ
    body = {"metadata": {"name": "a", "resourceVersion": "${version configmaps/a}", "uid": "${uid configmaps/a}"}}
    scenario = Scenario((CREATE, Request(method="PUT", path=f"{MAPS}/a", body=body)))
    report = compare_servers([scenario], servers)
    assert (report.found, report.statuses) == ({}, {201: 1, 200: 1})


def test_a_read_of_a_version_follows_a_list_that_refreshes_the_cache_of_a_real_server(
    servers: tuple[Server, Server], threads: tuple[APIServerThread, APIServerThread]
):
    scenario = Scenario((CREATE, Request(method="GET", path=f"{MAPS}/a", query={"resourceVersion": "0"})))
    before = len(threads[0].requests)
    report = compare_servers([scenario], servers)
    verbs = [each.verb for each in [*threads[0].requests][before:] if each.resource == "configmaps"]
    assert (verbs, report.requests) == (["create", "list", "get"], 2)


def test_a_different_response_is_reported(
    servers: tuple[Server, Server], threads: tuple[APIServerThread, APIServerThread]
):
    fault = Fault(Fail(ServiceUnavailableError("not now")), verb="list", resource="configmaps")
    threads[1].faults.add(fault)
    try:
        scenario = Scenario((CREATE, Request(method="GET", path=MAPS), Request(method="GET", path=f"{MAPS}/a")))
        report = compare_servers([scenario], servers)
    finally:
        threads[1].faults.remove(fault)
    ((difference, _, index),) = (examples[0] for examples in report.found.values())
    assert (difference.aspect, difference.left, difference.right, index) == ("status", "200", "503 not now", 1)
    assert report.requests == 2, "requests after a different status are not comparable"
    assert "GET /api/v1/namespaces/{namespace}/configmaps" in report.text()


def test_the_report_shows_each_kind_once():
    report = Report(titles=("one", "other"))
    scenario = Scenario((CREATE,))
    report.add(Difference("message", "", 'no "a"', "none"), scenario, 0)
    report.add(Difference("message", "", 'no "b"', "none"), scenario, 0)
    report.add(Difference("body", "spec.x", 1, 2), scenario, 0)
    assert "3 differences of 2 kinds" in report.text()
