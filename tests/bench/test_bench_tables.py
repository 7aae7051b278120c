"""How figures are shown, and what the bench exits with."""

import json

import pytest
from bench.__main__ import measure
from bench.charts import draw
from bench.results import Report, write
from bench.runner import Effort, Race, Row
from bench.tables import Promise, as_table, number, spread, times
from bench.the_field import GO, GO_LISTING, reference


def reported(**options) -> Report:
    return Report("some", "some figures", **options)


def test_a_figure_of_several_rounds_is_a_median_with_its_spread():
    row = Row.of_rounds([{"sync": 80.0}, {"sync": 100.0}, {"sync": 110.0}])
    assert as_table("who", [spread("objects/s", "sync")], {"we": row}).splitlines()[-1] == "| we  |  100 ±15% |"


def test_a_figure_of_one_round_has_no_spread():
    row = Row.of_rounds([{"sync": 80.0}])
    assert as_table("who", [spread("objects/s", "sync")], {"we": row}).splitlines()[-1] == "| we  |        80 |"


def test_a_figure_that_was_not_measured_is_a_dash():
    columns = [number("objects/s", "sync"), times("sync", {"sync": 1.0})]
    assert as_table("who", columns, {"they": {}}).splitlines()[1:] == [
        "| ---- | --------: | -: |",
        "| they |         – |  – |",
    ]


def test_the_reference_is_the_better_of_two_ways_in_each_figure():
    rows = {GO: {"sync": 1.0, "peak": 5.0}, GO_LISTING: {"sync": 2.0, "peak": 7.0, "relist": 3.0}}
    assert reference(rows) == {"sync": 2.0, "peak": 5.0, "relist": 3.0}


@pytest.mark.parametrize(
    ("limit", "is_kept"), [({"least": 2.0}, True), ({"least": 2.1}, False), ({"most": 1.9}, False)]
)
def test_a_promise_is_kept_at_its_limit_and_not_beyond(limit, is_kept):
    assert Promise("speed", 2.0, **limit).is_kept is is_kept


def test_a_promise_that_is_not_kept_is_said_and_is_no_error(tmp_path, capsys):
    made = reported(promises=[Promise("speed", 1.0, least=2.0)])
    assert measure({"some": lambda _effort: made}, Effort(), tmp_path) == 0
    assert "0 of 1 promises are kept" in capsys.readouterr().out
    assert "NOT KEPT" in (tmp_path / "some.md").read_text()


def test_a_part_that_breaks_is_an_error_and_the_others_are_measured_all_the_same(tmp_path, capsys):
    def broken(_effort):
        raise RuntimeError("no luck")

    assert measure({"broken": broken, "some": lambda _effort: reported()}, Effort(), tmp_path) == 1
    assert "no luck" in capsys.readouterr().err
    assert (tmp_path / "some.json").exists()


def test_a_contender_that_fails_is_an_error(tmp_path):
    made = reported(races={"": Race(failed={"they": "it took longer than 150 s"})})
    assert measure({"some": lambda _effort: made}, Effort(), tmp_path) == 1
    assert "they is missing: it took longer than 150 s" in (tmp_path / "some.md").read_text()


def test_a_contender_that_cannot_run_here_is_said_and_is_no_error(tmp_path):
    made = reported(races={"": Race(left_out={"client-go": "there is no Go here to build it"})})
    assert measure({"some": lambda _effort: made}, Effort(), tmp_path) == 0
    assert "client-go is missing: there is no Go here to build it" in (tmp_path / "some.md").read_text()


@pytest.mark.parametrize(
    ("effort", "command"),
    [
        (Effort(), "make bench"),
        (Effort(full=True), "make bench-full"),
        (Effort(full=True, most_rounds=1, most_objects=1_000), "python -m bench --full --rounds 1 --objects 1000"),
    ],
)
def test_results_say_how_they_came_about(effort, command, tmp_path):
    measure({"some": lambda _effort: reported()}, effort, tmp_path)
    assert (tmp_path / "some.md").read_text().startswith(f"`{command}` on ")


def test_all_rounds_are_kept_beside_the_medians(tmp_path):
    rounds = [{"sync": 80.0}, {"sync": 100.0}]
    write(reported(races={"1000": Race({"we": Row.of_rounds(rounds)}, {"we": rounds})}), "make bench", tmp_path)
    race = json.loads((tmp_path / "some.json").read_text())["races"]["1000"]
    assert race["rows"] == {"we": {"sync": 90.0}}
    assert race["spread"] == {"we": {"sync": [80.0, 100.0]}}
    assert race["rounds"] == {"we": rounds}


def test_charts_are_drawn_of_what_was_measured_and_of_nothing_else(tmp_path):
    pytest.importorskip("matplotlib", reason="charts are drawn where there is matplotlib")
    rounds = [{"sync": 80.0, "events": 10.0}, {"sync": 100.0, "events": 11.0}]
    race = Race({"listwatch": Row.of_rounds(rounds)}, {"listwatch": rounds})
    write(Report("informers", "informers", races={"10000": race}), "make bench", tmp_path)
    assert draw(tmp_path) == ["informers-10000.png"]
    assert (tmp_path / "informers-10000.png").read_bytes().startswith(b"\x89PNG")
