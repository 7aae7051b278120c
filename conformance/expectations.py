"""What does not apply to the embedded server or is known to fail on it, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.results import Outcome, Result

__all__ = ["CONTROLLER_RUNTIME", "KUBERNETES", "Expectation", "judged", "skip_pattern"]


@dataclass(frozen=True)
class Expectation:
    """Tests whose names match the pattern do not apply, or fail, for this reason."""

    pattern: str
    reason: str
    applies: bool = False
    """False: the tests are not run. True: they are run, and fail."""

    def matches(self, name: str) -> bool:
        return re.search(self.pattern, name) is not None


_NEEDS_PODS = "needs running pods, on the real server as well"

KUBERNETES: tuple[Expectation, ...] = (
    Expectation(r"Aggregator .*Sample API Server", _NEEDS_PODS),
    Expectation(r"CustomResourceConversionWebhook", _NEEDS_PODS),
    Expectation(r"AdmissionWebhook", _NEEDS_PODS),
)
CONTROLLER_RUNTIME: tuple[Expectation, ...] = ()


def skip_pattern(expectations: Iterable[Expectation]) -> str:
    """A regular expression for the tests that are not run."""
    return "|".join(each.pattern for each in expectations if not each.applies)


def judged(name: str, *, passed: bool, expectations: Iterable[Expectation], details: str = "") -> Result:
    """The result of a test that ran: a failure needs a reason, and a success must have none."""
    known = next((each for each in expectations if each.applies and each.matches(name)), None)
    outcome: Outcome = "passed" if passed else "failed"
    if passed:
        return Result(
            name, outcome, expected=known is None, details=f"expected to fail: {known.reason}" if known else ""
        )
    return Result(name, outcome, reason=known.reason if known else "", expected=known is not None, details=details)
