"""The differ finds what differs between two servers, and nothing else. The servers here are two embedded ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from listwatch.errors import DecodeError, ServiceUnavailableError
from listwatch.server import Fail, Fault
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.differ.accepted import ACCEPTED
from listwatch.testing.differ.both_servers import compare_servers
from listwatch.testing.differ.comparison import Difference, Normal, differences
from listwatch.testing.differ.generation import generate
from listwatch.testing.differ.playing import Answer, Server
from listwatch.testing.differ.plays import Play, Request, read_plays, write_plays
from listwatch.testing.differ.report import Report

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
            pass  # to ask lets the server have a turn, in which it sees that its clients have gone


def answer(body: str, status: int = 200) -> Answer:
    return Answer(status, {"content-type": "application/json"}, body.encode())


def found(left: str, right: str) -> list[Difference]:
    return list(differences(answer(left), answer(right), (Normal(), Normal()), watched=False))


# --- comparison


def test_what_must_differ_does_not_count():
    body = (
        '{"metadata":{"uid":"00000000-0000-0000-0000-00000000000%s","resourceVersion":"%s","creationTimestamp":"%s"}}'
    )
    one = body % (1, 7, "2026-01-01T00:00:00Z")
    other = body % (2, 99, "2026-02-02T00:00:00Z")
    assert found(one, other) == []


def test_versions_are_compared_by_their_order():
    normal = (Normal(), Normal())
    first = answer('{"metadata":{"resourceVersion":"7"}}'), answer('{"metadata":{"resourceVersion":"99"}}')
    assert list(differences(*first, normal, watched=False)) == []
    second = answer('{"metadata":{"resourceVersion":"8"}}'), answer('{"metadata":{"resourceVersion":"99"}}')
    (difference,) = differences(*second, normal, watched=False)
    assert (difference.where, difference.left, difference.right) == (
        "metadata.resourceVersion",
        "version 2",
        "version 1",
    )


@pytest.mark.parametrize(
    ("left", "right", "where"),
    [
        ('{"spec":{"a":1}}', '{"spec":{"a":2}}', "spec.a"),
        ('{"spec":{"a":1}}', '{"spec":{}}', "spec.a"),
        ('{"spec":[{"a":1},{"a":1}]}', '{"spec":[{"a":1}]}', "spec[1]"),
        ('{"a":true}', '{"a":1}', "a"),
        ('{"a":""}', '{"a":null}', "a"),
    ],
)
def test_every_difference_of_a_body_is_found(left: str, right: str, where: str):
    (difference,) = found(left, right)
    assert (difference.what, difference.where) == ("body", where)


def test_a_status_is_compared_part_by_part():
    status = '{"kind":"Status","reason":"%s","message":"%s","details":{"name":"x","causes":[{"field":"%s"}]}}'
    left, right = status % ("Invalid", "no", "spec.a"), status % ("BadRequest", "never", "spec.b")
    assert [each.what for each in found(left, right)] == ["reason", "message", "causes"]


def test_managers_are_compared_whatever_the_second_they_wrote_in():
    body = '{"metadata":{"managedFields":[{"manager":"%s"},{"manager":"%s"}]}}'
    assert found(body % ("a", "b"), body % ("b", "a")) == []
    assert found(body % ("a", "b"), body % ("c", "a")) != []


def test_only_the_statuses_are_told_where_they_differ():
    (difference,) = differences(answer('{"message":"gone"}', 404), answer("{}"), (Normal(), Normal()), watched=False)
    assert (difference.what, difference.left, difference.right) == ("status", "404 gone", "200")


def test_bookmarks_of_a_watch_do_not_count_and_other_events_do():
    event = '{"type":"%s","object":{"metadata":{"resourceVersion":"%s"}}}'
    left = answer("\n".join([event % ("ADDED", 5), event % ("BOOKMARK", 9)]))
    same, other = answer(event % ("ADDED", 7)), answer(event % ("DELETED", 7))
    assert list(differences(left, same, (Normal(), Normal()), watched=True)) == []
    (difference,) = differences(left, other, (Normal(), Normal()), watched=True)
    assert (difference.what, difference.where) == ("events", "[0].type")


def test_every_accepted_difference_has_a_reason_and_none_accepts_a_status_or_everything():
    for each in ACCEPTED:
        assert each.reason
        assert each.what != "status" or (each.embedded, each.real) != (".*", ".*")
        assert (each.where, each.embedded, each.real) != (".*", ".*", ".*")


# --- plays


def test_a_seed_names_the_same_plays_for_ever_and_another_names_others():
    assert generate(60, number=5) == generate(60, number=5)
    assert generate(60, number=5) != generate(60, number=6)


def test_plays_are_read_back_as_they_were_written(tmp_path: Path):
    plays = generate(60, number=1)
    write_plays(tmp_path / "plays", plays)
    assert list(read_plays(tmp_path / "plays")) == plays


def test_a_line_that_is_no_play_is_named(tmp_path: Path):
    (tmp_path / "plays").write_text('{"requests":[]}\n{"requests":1}\n')
    with pytest.raises(DecodeError, match=r"plays: line 2 is none"):
        list(read_plays(tmp_path / "plays"))


# --- playing


def test_two_servers_of_a_kind_do_not_differ(servers: tuple[Server, Server]):
    report = compare_servers(generate(60, number=2), servers)
    assert report.found == {}, report.text()
    assert report.requests >= 60
    assert {200, 201, 404, 422} <= report.statuses.keys()


def test_a_request_speaks_of_what_its_own_server_answered(
    servers: tuple[Server, Server], threads: tuple[APIServerThread, APIServerThread]
):
    compare_servers([Play((CREATE,))], (servers[0], servers[0]))  # so that the versions of the two are apart
    body = {"metadata": {"name": "a", "resourceVersion": "${version configmaps/a}", "uid": "${uid configmaps/a}"}}
    play = Play((CREATE, Request(method="PUT", path=f"{MAPS}/a", body=body)))
    report = compare_servers([play], servers)
    assert (report.found, report.statuses) == ({}, {201: 1, 200: 1})


def test_a_server_that_answers_otherwise_is_found_out(
    servers: tuple[Server, Server], threads: tuple[APIServerThread, APIServerThread]
):
    fault = Fault(Fail(ServiceUnavailableError("not now")), verb="list", resource="configmaps")
    threads[1].faults.add(fault)
    try:
        play = Play((CREATE, Request(method="GET", path=MAPS), Request(method="GET", path=f"{MAPS}/a")))
        report = compare_servers([play], servers)
    finally:
        threads[1].faults.remove(fault)
    ((difference, _, place),) = (examples[0] for examples in report.found.values())
    assert (difference.what, difference.left, difference.right, place) == ("status", "200", "503 not now", 1)
    assert report.requests == 2, "what comes after two statuses that differ is not comparable"
    assert "GET /api/v1/namespaces/{namespace}/configmaps" in report.text()


def test_the_report_tells_each_kind_once():
    report = Report(titles=("one", "other"))
    play = Play((CREATE,))
    report.add(Difference("message", "", 'no "a"', "none"), play, 0)
    report.add(Difference("message", "", 'no "b"', "none"), play, 0)
    report.add(Difference("body", "spec.x", 1, 2), play, 0)
    assert "3 differences of 2 kinds" in report.text()
