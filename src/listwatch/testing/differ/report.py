"""Groups differences by kind, and shows one example of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from listwatch.testing.differ.accepted import reason_for
from listwatch.testing.differ.comparison import Difference
from listwatch.testing.differ.scenarios import Scenario

__all__ = ["Report"]

_CONTEXT = 100
_NAMES_AND_NUMBERS = re.compile(r'"[^"]*"|\d+')


@dataclass
class Report:
    """What was run, and what differed."""

    titles: tuple[str, str]
    requests: int = 0
    scenarios: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    """How often the first server responded with each status."""
    found: dict[tuple[str, ...], list[tuple[Difference, Scenario, int]]] = field(default_factory=dict)
    """The differences without an accepted reason, by kind, each with its scenario and the index of the request."""
    accepted: Counter[str] = field(default_factory=Counter)
    """How many differences were accepted, by reason."""

    def add(self, difference: Difference, scenario: Scenario, index: int) -> None:
        if reason := reason_for(difference, scenario.requests[index]):
            self.accepted[reason] += 1
            return
        values = (_NAMES_AND_NUMBERS.sub("…", str(value)) for value in (difference.left, difference.right))
        kind = (difference.aspect, difference.pattern, *values)
        self.found.setdefault(kind, []).append((difference, scenario, index))

    @property
    def differing(self) -> list[Scenario]:
        """The scenarios with differences that have no accepted reason, each once."""
        found = [scenario for examples in self.found.values() for _, scenario, _ in examples]
        return [scenario for index, scenario in enumerate(found) if scenario not in found[:index]]

    def text(self) -> str:
        """Format the report, the most frequent differences first."""
        lines = [f"{self.requests:,} requests in {self.scenarios:,} scenarios: {self._status_counts()}"]
        most_common = sorted(self.found.values(), key=len, reverse=True)
        differing = sum(map(len, most_common))
        lines += [f"accepted, {count:,} ×: {reason}" for reason, count in self.accepted.most_common()]
        lines += [f"{differing:,} differences of {len(most_common):,} kinds" if differing else "no other differences"]
        for number, examples in enumerate(most_common, start=1):
            lines += ["", *_example(number, examples, self.titles)]
        return "\n".join(lines)

    def _status_counts(self) -> str:
        return ", ".join(f"{count:,} × {status}" for status, count in sorted(self.statuses.items()))


def _example(number: int, examples: Sequence[tuple[Difference, Scenario, int]], titles: Sequence[str]) -> list[str]:
    difference, scenario, index = min(examples, key=lambda example: example[2])
    width = max(map(len, titles))
    *before, request = scenario.requests[: index + 1]
    return [
        f"{number}. {difference.aspect} {difference.path} ({len(examples)} ×)",
        *(f"    after {earlier}  {_short(earlier.body, 100)}" for earlier in before[-3:]),
        f"    {request}  {_short(request.body)} {request.headers or ''}".rstrip(),
        *(
            f"      {title.ljust(width)}  {value}"
            for title, value in zip(titles, _shortened(str(difference.left), str(difference.right)), strict=True)
        ),
    ]


def _shortened(left: str, right: str) -> tuple[str, str]:
    """Shorten two texts around their first difference."""
    differing = (index for index, (one, other) in enumerate(zip(left, right, strict=False)) if one != other)
    start = max(0, next(differing, min(len(left), len(right))) - _CONTEXT)
    mark = "…" if start else ""
    return mark + _short(left[start:]), mark + _short(right[start:])


def _short(tree: object, length: int = 500) -> str:
    text = "" if tree is None else str(tree)
    return text if len(text) <= length else text[:length] + "…"
