"""Gathers differences by kind, so that a thousand of one kind are read as one, with the play that shows it first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from listwatch.testing.differ.accepted import reason_for
from listwatch.testing.differ.comparison import Difference
from listwatch.testing.differ.plays import Play

__all__ = ["Report"]

_NAMES_AND_NUMBERS = re.compile(r'"[^"]*"|\d+')


@dataclass
class Report:
    """What was played and what differed."""

    titles: tuple[str, str]
    requests: int = 0
    plays: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    """How often the first server answered with each."""
    found: dict[tuple[str, ...], list[tuple[Difference, Play, int]]] = field(default_factory=dict)
    """The differences that nobody has accepted, by kind, each with the play and the place in it."""
    accepted: Counter[str] = field(default_factory=Counter)
    """How often there was each of the others, by the reason."""

    def add(self, difference: Difference, play: Play, place: int) -> None:
        if reason := reason_for(difference):
            self.accepted[reason] += 1
            return
        said = (_NAMES_AND_NUMBERS.sub("…", str(side)) for side in (difference.left, difference.right))
        kind = (difference.what, difference.place, *said)
        self.found.setdefault(kind, []).append((difference, play, place))

    def text(self) -> str:
        """To be read by a person: the commonest first."""
        lines = [f"{self.requests:,} requests in {self.plays:,} plays: {self._shares()}"]
        most_common = sorted(self.found.values(), key=len, reverse=True)
        differing = sum(map(len, most_common))
        lines += [f"accepted, {count:,} ×: {reason}" for reason, count in self.accepted.most_common()]
        lines += [f"{differing:,} differences of {len(most_common):,} kinds" if differing else "no other difference"]
        for number, examples in enumerate(most_common, start=1):
            lines += ["", *_example(number, examples, self.titles)]
        return "\n".join(lines)

    def _shares(self) -> str:
        return ", ".join(f"{count:,} × {status}" for status, count in sorted(self.statuses.items()))


def _example(number: int, examples: Sequence[tuple[Difference, Play, int]], titles: Sequence[str]) -> list[str]:
    difference, play, place = min(examples, key=lambda example: example[2])
    width = max(map(len, titles))
    *before, request = play.requests[: place + 1]
    return [
        f"{number}. {difference.what} {difference.where} ({len(examples)} ×)",
        *(f"    after {earlier}  {_short(earlier.body, 100)}" for earlier in before[-3:]),
        f"    {request}  {_short(request.body)} {request.headers or ''}".rstrip(),
        *(
            f"      {title.ljust(width)}  {_short(said)}"
            for title, said in zip(titles, (difference.left, difference.right), strict=True)
        ),
    ]


def _short(tree: object, most: int = 500) -> str:
    text = "" if tree is None else str(tree)
    return text if len(text) <= most else text[:most] + "…"
