"""The known differences, each with its reason: intended ones, and those that remain to be fixed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from listwatch.testing.differ.comparison import Difference

__all__ = ["ACCEPTED", "REMAINING", "Accepted", "reason_for"]


@dataclass(frozen=True)
class Accepted:
    """Accepts differences of one kind: patterns for the path and for the value of each server."""

    reason: str
    aspect: str
    path: str = ".*"
    embedded: str = ".*"
    real: str = ".*"

    def covers(self, difference: Difference) -> bool:
        return difference.aspect == self.aspect and all(
            re.fullmatch(pattern, str(text), re.DOTALL)
            for pattern, text in (
                (self.path, difference.pattern),
                (self.embedded, difference.left),
                (self.real, difference.right),
            )
        )


_WRONG_TYPE = (
    r".*patch.*Invalid value: \"map\[.*: (cannot (restore|convert) .*|unrecognized type: \w+"
    r"|json: cannot unmarshal .*|error decoding from json: .*)"
)

ACCEPTED = (
    Accepted(
        "an invalid selector is reported in listwatch's words, with the position of the error",
        "message",
        embedded=".*cannot parse (label|field) selector.*",
    ),
    Accepted(
        "the real server names the etcd key of the object; the embedded one has no etcd",
        "message",
        embedded=r"Operation cannot be fulfilled on .*: Precondition failed: UID in precondition: .*",
        real=r".*: StorageError: invalid object, Code: 4, Key: /registry/.*: Precondition failed: UID in .*",
    ),
    Accepted(
        "the embedded server does not show the values of a Secret that cannot be applied",
        "message",
        embedded=r"failed to create typed patch object \(.*Kind=Secret\): .*: expected \w+",
        real=r"failed to create typed patch object \(.*Kind=Secret\): .*: expected \w+.*, got .*",
    ),
    Accepted(
        "the embedded server does not show the body of a Secret that cannot be decoded",
        "message",
        embedded=r"the object provided is unrecognized \(must be of type Secret\): .* \(<omitted>\)",
        real=r"the object provided is unrecognized \(must be of type Secret\): .* \(.*\)",
    ),
    Accepted(
        "a status update of a missing Service creates a Service without addresses on the real server",
        "status",
        embedded='404 services "[^"]*" not found',
        real="201",
    ),
    Accepted(
        "the first of several quotas that a pod does not fit into: the real server reads them in a random order",
        "message",
        embedded=r".* is forbidden: (failed|exceeded) quota: .*",
        real=r".* is forbidden: (failed|exceeded) quota: .*",
    ),
    Accepted(
        "1.37, whose schemas the embedded server has, requires the actions of a binding",
        "body",
        path=r".*f:validationActions\.\.",
        embedded="absent",
    ),
    Accepted(
        "the real server checks the limits of a namespace in a random order",
        "message",
        embedded=r"pods .* is forbidden: \[.* per (Pod|Container) is .*\]",
        real=r"pods .* is forbidden: \[.* per (Pod|Container) is .*\]",
    ),
    *(
        Accepted(
            "the embedded server does not use the texts of the real server's library for JSON patches",
            aspect,
            embedded=".*denied request: JSON Patch: the server rejected our request.*",
            real=".*denied request: JSON Patch: error in .*",
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the embedded server reports where a time cannot be parsed only roughly",
            aspect,
            embedded=".*: parsing time .*",
            real=".*: parsing time .*",
        )
        for aspect in ("message", "causes")
    ),
    Accepted(
        "the real server reads the fields of an applied object in a random order, up to one that is not declared",
        "message",
        embedded=r"failed to create typed patch object \(.*\): .*",
        real=r"failed to create typed patch object \(.*\): .*",
    ),
    Accepted(
        "of several wrong values in a body, the real server reports a quantity or a time before wrong types",
        "message",
        embedded=r".* cannot be handled as a .*: json: cannot unmarshal .*",
        real=r".* cannot be handled as a .*: (quantities must match|parsing time) .*",
    ),
    Accepted(
        "the real server finds the conflicts of an applied object before it reads quantities and times",
        "status",
        embedded=r"500 failed to convert new object .*: (parsing time|quantities must match) .*",
        real=r"409 Apply failed with .*",
    ),
    Accepted(
        "the real server validates the mounts of a container before its resources and probes",
        "message",
        embedded=r"\w+(\.\w+)? .* is invalid: \[.*volumeMounts.*\]",
        real=r"\w+(\.\w+)? .* is invalid: \[.*volumeMounts.*\]",
    ),
    Accepted(
        "a custom object whose deletion an update completes is returned without the defaults of the stored version",
        "body",
        path=r"spec\.(steps\[.*\]\.retries|color)",
        embedded="3|red",
        real="absent",
    ),
    Accepted(
        "watches of a deprecated version do not carry its warning",
        "header",
        path="warning",
        embedded="absent",
        real="299 - .* is deprecated.*",
    ),
    Accepted(
        "the real server converts numbers of an applied object that are too large for their field",
        "status",
        embedded=r"500 failed to convert new object .*: unrecognized type: int\d+",
        real="20[01]",
    ),
    *(
        Accepted(
            "the real server adds a comparison of Go structs to the message about a change that is not allowed",
            aspect,
            embedded=r".*Forbidden: (pod updates may not change fields|.* is immutable after creation).*",
            real=r".*Forbidden: (pod updates may not change fields|.* is immutable after creation).*\n@@ .*",
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the first of several wrong types in a strategic merge patch: "
            "the real server reads the fields in the order of its Go types",
            aspect,
            embedded=_WRONG_TYPE,
            real=_WRONG_TYPE,
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the embedded server does not show a Secret that cannot be patched",
            aspect,
            embedded='.*patch.*Invalid value: "<omitted>": .*',
            real='.*patch.*Invalid value: ".*": .*',
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the schema of the API does not have the Go type of a string",
            aspect,
            embedded=r".* of type (\[\])?string",
            real=r".* of type (\[\])?v\d\w*\.\w+",
        )
        for aspect in ("message", "causes")
    ),
)


# Differences to fix: the real server is right.
REMAINING = (
    *(
        Accepted(
            "an empty capacity of a PersistentVolume is shown as null",
            aspect,
            embedded=r".*spec\.capacity.*Unsupported value: null: .*",
            real=r".*spec\.capacity.*Unsupported value: \{\}: .*",
        )
        for aspect in ("message", "causes")
    ),
    Accepted(
        "paths of custom resources that have no such method are not served: the real server requires a name or a body",
        "status",
        embedded="405 the server does not allow this method on the requested resource",
        real="400 name must be provided|415 .*",
    ),
    Accepted(
        "OPTIONS on a custom resource has another text",
        "message",
        embedded="the server does not allow this method on the requested resource",
        real=' is not supported on resources of kind ".*"',
    ),
    Accepted(
        "OPTIONS on a custom resource has no details",
        "details",
        path="group|kind",
        embedded="absent",
        real="differ.example.com|widgets|gadgets",
    ),
    Accepted(
        "the real server validates an applied status of a missing Service before it looks for the Service",
        "status",
        embedded='404 services "[^"]*" not found',
        real=r'422 Service "[^"]*" is invalid: .*',
    ),
    Accepted(
        "an applied value that cannot be converted: the namespace in the message",
        "message",
        embedded=r"failed to convert new object \(.*",
        real=r"failed to convert new object \(.*",
    ),
    Accepted(
        "the real server compares the requests of a container with its limits in a random order",
        "message",
        embedded=r"Pod .*resources\.requests: Invalid value: .*",
        real=r"Pod .*resources\.requests: Invalid value: .*",
    ),
)


def reason_for(difference: Difference) -> str | None:
    """Return why a difference is accepted; None if it is not."""
    return next((accepted.reason for accepted in (*ACCEPTED, *REMAINING) if accepted.covers(difference)), None)
