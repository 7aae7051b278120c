"""The differences that stay, each with the reason why the embedded server is right to answer otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from listwatch.testing.differ.comparison import Difference

__all__ = ["ACCEPTED", "Accepted", "reason_for"]


@dataclass(frozen=True)
class Accepted:
    """Differences of one kind: patterns for the place and for what each server says there."""

    reason: str
    what: str
    where: str = ".*"
    embedded: str = ".*"
    real: str = ".*"

    def covers(self, difference: Difference) -> bool:
        return difference.what == self.what and all(
            re.fullmatch(pattern, str(text), re.DOTALL)
            for pattern, text in (
                (self.where, difference.place),
                (self.embedded, difference.left),
                (self.real, difference.right),
            )
        )


ACCEPTED = (
    Accepted(
        "a selector that cannot be read is explained in listwatch's own words, with the position",
        "message",
        embedded=".*cannot read (label|field) selector.*",
    ),
    Accepted(
        "there is no protobuf in the embedded server, so it does not offer it",
        "message",
        embedded=".*406: Not Acceptable.*",
        real=".*application/vnd.kubernetes.protobuf.*",
    ),
)


def reason_for(difference: Difference) -> str | None:
    """Why a difference is accepted, if it is."""
    return next((each.reason for each in ACCEPTED if each.covers(difference)), None)
