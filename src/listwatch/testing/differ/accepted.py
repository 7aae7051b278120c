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
        embedded=".*cannot parse (label|field) selector.*",
    ),
    Accepted(
        "there is no protobuf in the embedded server, so it does not offer it",
        "message",
        embedded=".*406: Not Acceptable.*",
        real=".*application/vnd.kubernetes.protobuf.*",
    ),
    Accepted(
        "the real server tells where in etcd the object is, and there is no etcd in the embedded one",
        "message",
        embedded=r"Operation cannot be fulfilled on .*: Precondition failed: UID in precondition: .*",
        real=r".*: StorageError: invalid object, Code: 4, Key: /registry/.*: Precondition failed: UID in .*",
    ),
    Accepted(
        "a value that cannot be applied is shown, but not that of a Secret",
        "message",
        embedded=r"failed to create typed patch object \(.*Kind=Secret\): .*: expected \w+",
        real=r"failed to create typed patch object \(.*Kind=Secret\): .*: expected \w+.*, got .*",
    ),
    Accepted(
        "a body that cannot be read is shown, but not if it was to be a Secret",
        "message",
        embedded=r"the object provided is unrecognized \(must be of type Secret\): .* \(<omitted>\)",
        real=r"the object provided is unrecognized \(must be of type Secret\): .* \(.*\)",
    ),
    Accepted(
        "the status of a Service that is not there makes a Service of it on the real server, one without addresses",
        "status",
        embedded='404 services "[^"]*" not found',
        real="201",
    ),
    Accepted(
        "what is wrong with a JSON patch the embedded server gives as a cause; the real one keeps it to itself",
        "causes",
        where=r"\[\]",
        embedded=" : .*",
        real="absent",
    ),
    *(
        Accepted(
            "a value of the wrong type in a strategic merge patch is explained as in any other body; "
            "the real server has another reader for these, and that one's words",
            what,
            embedded=r".*patch.*Invalid value: .*: (json: cannot unmarshal .*|illegal base64 data .*)",
            real=r".*patch.*Invalid value: \"map\[.*: (cannot (restore|convert) .*|unrecognized type: \w+"
            r"|json: cannot unmarshal .*|error decoding from json: .*)",
        )
        for what in ("message", "causes")
    ),
    *(
        Accepted(
            "an object that cannot be patched so is shown, but a Secret is not",
            what,
            embedded='.*patch.*Invalid value: "<omitted>": .*',
            real='.*patch.*Invalid value: ".*": .*',
        )
        for what in ("message", "causes")
    ),
    *(
        Accepted(
            "Go's name for what is a string is not in the API's schema",
            what,
            embedded=".* of type string",
            real=r".* of type v\d\w*\.\w+",
        )
        for what in ("message", "causes")
    ),
)


def reason_for(difference: Difference) -> str | None:
    """Why a difference is accepted, if it is."""
    return next((each.reason for each in ACCEPTED if each.covers(difference)), None)
