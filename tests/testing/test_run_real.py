"""The results that `make real` counts."""

from pathlib import Path

from tools.run_real import run

TESTS = """
import pytest

def test_passes(record_property):
    record_property("speed", "3 a second")

def test_fails():
    assert False

def test_is_skipped():
    pytest.skip("not today")

@pytest.fixture
def broken():
    yield
    assert False

def test_fails_afterwards(broken): ...
"""


def test_only_cases_that_passed_count(tmp_path: Path):
    (tmp_path / "test_it.py").write_text(TESTS)
    outcome = run("here", f"--rootdir={tmp_path}", str(tmp_path))
    assert outcome.passed == {"test_it.test_passes"}
    assert outcome.notes == ("speed: 3 a second",)
    assert not outcome.succeeded


def test_a_run_without_a_report_is_no_success(tmp_path: Path):
    outcome = run("nowhere", str(tmp_path / "nothing"))
    assert (outcome.passed, outcome.succeeded) == (frozenset(), False)
