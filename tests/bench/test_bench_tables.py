"""Tables, targets, written results and the exit code of the benchmarks."""

import json

import pytest
from bench.__main__ import run_parts
from bench.harness.contender_names import GO, GO_LISTING, reference
from bench.harness.runner import Comparison, Effort, Row
from bench.report.charts import draw
from bench.report.report import Report, write
from bench.report.tables import Target, as_table, number, spread, times


def make_report(**options) -> Report:
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


def test_the_reference_has_the_better_value_of_each_figure():
    rows = {GO: {"sync": 1.0, "peak": 5.0}, GO_LISTING: {"sync": 2.0, "peak": 7.0, "relist": 3.0}}
    assert reference(rows) == {"sync": 2.0, "peak": 5.0, "relist": 3.0}


@pytest.mark.parametrize(("limit", "is_met"), [({"least": 2.0}, True), ({"least": 2.1}, False), ({"most": 1.9}, False)])
def test_a_target_is_met_at_its_limit_and_not_beyond(limit, is_met):
    assert Target("speed", 2.0, **limit).is_met is is_met


def test_a_missed_target_is_reported_and_is_no_error(tmp_path, capsys):
    report = make_report(targets=[Target("speed", 1.0, least=2.0)])
    assert run_parts({"some": lambda _effort: report}, Effort(), tmp_path) == 0
    assert "0 of 1 targets are met" in capsys.readouterr().out
    assert "MISSED" in (tmp_path / "some.md").read_text()


def test_a_part_that_raises_is_an_error_and_the_others_still_run(tmp_path, capsys):
    def broken(_effort):
        raise RuntimeError("part failed")

    assert run_parts({"broken": broken, "some": lambda _effort: make_report()}, Effort(), tmp_path) == 1
    assert "part failed" in capsys.readouterr().err
    assert (tmp_path / "some.json").exists()


def test_a_contender_that_fails_is_an_error(tmp_path):
    report = make_report(comparisons={"": Comparison(failed={"they": "timed out after 150 s"})})
    assert run_parts({"some": lambda _effort: report}, Effort(), tmp_path) == 1
    assert "they is missing: timed out after 150 s" in (tmp_path / "some.md").read_text()


def test_a_contender_that_cannot_be_installed_is_reported_and_is_no_error(tmp_path):
    report = make_report(comparisons={"": Comparison(left_out={"client-go": "Go is not installed"})})
    assert run_parts({"some": lambda _effort: report}, Effort(), tmp_path) == 0
    assert "client-go is missing: Go is not installed" in (tmp_path / "some.md").read_text()


@pytest.mark.parametrize(
    ("effort", "command"),
    [
        (Effort(), "make bench"),
        (Effort(full=True), "make bench-full"),
        (Effort(full=True, max_rounds=1, max_objects=1_000), "python -m bench --full --rounds 1 --objects 1000"),
    ],
)
def test_results_begin_with_the_command_that_produced_them(effort, command, tmp_path):
    run_parts({"some": lambda _effort: make_report()}, effort, tmp_path)
    assert (tmp_path / "some.md").read_text().startswith(f"`{command}` on ")


def test_results_contain_all_rounds_and_the_medians(tmp_path):
    rounds = [{"sync": 80.0}, {"sync": 100.0}]
    write(
        make_report(comparisons={"1000": Comparison({"we": Row.of_rounds(rounds)}, {"we": rounds})}),
        "make bench",
        tmp_path,
    )
    comparison = json.loads((tmp_path / "some.json").read_text())["races"]["1000"]
    assert comparison["rows"] == {"we": {"sync": 90.0}}
    assert comparison["spread"] == {"we": {"sync": [80.0, 100.0]}}
    assert comparison["rounds"] == {"we": rounds}


def test_only_charts_with_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="charts need matplotlib")
    rounds = [{"sync": 80.0, "events": 10.0}, {"sync": 100.0, "events": 11.0}]
    comparison = Comparison({"listwatch": Row.of_rounds(rounds)}, {"listwatch": rounds})
    write(Report("informers", "informers", comparisons={"10000": comparison}), "make bench", tmp_path)
    assert draw(tmp_path) == ["informers-10000.png"]
    assert (tmp_path / "informers-10000.png").read_bytes().startswith(b"\x89PNG")
