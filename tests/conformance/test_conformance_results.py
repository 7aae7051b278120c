"""Results of `make conformance`: expectations, what is stored, and the page that is written."""

import json
from pathlib import Path

from conformance.expectations import Expectation, judged, skip_pattern, skipped
from conformance.ginkgo import _read
from conformance.report import PARTS, write_report
from conformance.results import Result, Suite, read_suites, write_suites

EXPECTED = (Expectation("Webhook", "needs pods"), Expectation("Policy", "no CEL", "failed", run=True))


def test_a_failure_is_expected_only_with_a_reason():
    assert judged("a Policy", passed=False, expectations=EXPECTED) == Result("a Policy", "failed", "no CEL")
    unknown = judged("a list", passed=False, expectations=EXPECTED, details="timed out")
    assert (unknown.expected, unknown.details) == (False, "timed out")


def test_a_success_is_unexpected_where_a_failure_was_expected():
    assert judged("a list", passed=True, expectations=EXPECTED).expected
    assert not judged("a Policy", passed=True, expectations=EXPECTED).expected


def test_only_what_does_not_apply_is_skipped():
    assert skip_pattern(EXPECTED) == "Webhook"
    assert skipped("a Webhook", EXPECTED) == Result("a Webhook", "not applicable", "needs pods")
    assert skipped("a spec", EXPECTED, "only on clouds") == Result("a spec", "not applicable", "only on clouds")


def write_empty_page(file: Path) -> None:
    names = ["figures", *PARTS]
    text = "\n".join(f"<!-- {name} -->\nold\n<!-- end of {name} -->" for name in names)
    file.write_text(f"# Conformance\n{text}\n")


SUITE = Suite(
    "kubectl, get",
    "v1.36.3",
    (
        Result("get b", "failed", "known | cause"),
        Result("get a", "passed"),
        Result("top", "not applicable", "no metrics"),
    ),
    {"passed": 3},
)


def test_stored_results_are_read_back_sorted(tmp_path: Path):
    write_suites("kubectl", [SUITE], tmp_path)
    [found] = read_suites("kubectl", tmp_path)
    assert [result.name for result in found.results] == ["get a", "get b", "top"]
    assert (found.count("passed"), found.count("failed"), found.on_real_server) == (1, 1, {"passed": 3})


def test_the_page_has_the_figures_and_what_did_not_pass(tmp_path: Path):
    file = tmp_path / "conformance.md"
    write_empty_page(file)
    write_suites("kubectl", [SUITE], tmp_path)
    write_report(file, tmp_path)
    page = file.read_text()
    assert "| kubectl, get | v1.36.3 | 3 | 1 | 1 | 1 |" in page
    assert "| get b | failed | known \\| cause |" in page
    assert "old" not in page
    write_report(file, tmp_path)
    assert file.read_text() == page


def test_specs_are_read_from_the_report_of_ginkgo(tmp_path: Path):
    specs = [
        {"ContainerHierarchyTexts": ["Client"], "LeafNodeText": "creates", "LeafNodeType": "It", "State": "passed"},
        {
            "ContainerHierarchyTexts": None,
            "LeafNodeText": "setup",
            "LeafNodeType": "BeforeSuite",
            "State": "failed",
            "Failure": {"Message": "no server"},
        },
        {"ContainerHierarchyTexts": None, "LeafNodeText": "", "LeafNodeType": "AfterSuite", "State": "passed"},
        {"ContainerHierarchyTexts": ["Client"], "LeafNodeText": "waits", "LeafNodeType": "It", "State": "skipped"},
    ]
    (tmp_path / "report.json").write_text(json.dumps([{"SpecReports": specs}]))
    creates, setup, waits = _read(tmp_path / "report.json")
    assert (creates.name, creates.passed, creates.ran) == ("Client creates", True, True)
    assert (setup.passed, setup.ran, setup.message) == (False, True, "no server")
    assert (waits.passed, waits.ran) == (False, False)
