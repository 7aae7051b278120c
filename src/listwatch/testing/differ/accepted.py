"""The accepted differences, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from listwatch.testing.differ.comparison import Difference
from listwatch.testing.differ.scenarios import Request

__all__ = ["ACCEPTED", "Accepted", "accepted_list", "reason_for"]


@dataclass(frozen=True)
class Accepted:
    """Accepts differences of one kind: patterns for the path, for the value of each server, and for the request."""

    reason: str
    aspect: str
    path: str = ".*"
    embedded: str = ".*"
    real: str = ".*"
    request: str = ".*"
    when: Callable[[str, str], bool] = lambda _embedded, _real: True
    """Whether two values that match the patterns are accepted."""

    def covers(self, difference: Difference, request: Request) -> bool:
        left, right = str(difference.left), str(difference.right)
        patterns = ((self.path, difference.pattern), (self.embedded, left), (self.real, right), (self.request, request))
        is_covered = difference.aspect == self.aspect and all(
            re.fullmatch(pattern, str(text), re.DOTALL) for pattern, text in patterns
        )
        return is_covered and self.when(left, right)


_QUOTA = re.compile(r" quota: ([^,:]*)")


def _name_other_quotas(embedded: str, real: str) -> bool:
    return _QUOTA.findall(embedded)[:1] != _QUOTA.findall(real)[:1]


_GENERATION = re.compile(r'("generation": |^)(\d+)')


def _has_higher_generation(embedded: str, real: str) -> bool:
    """Whether nothing differs but the generation, which is higher on the real server."""
    lower, higher = _GENERATION.search(embedded), _GENERATION.search(real)
    is_all = _GENERATION.sub("", embedded) == _GENERATION.sub("", real)
    return bool(is_all and lower and higher and int(lower[2]) < int(higher[2]))


_WRONG_TYPE = (
    r".*patch.*Invalid value: \"map\[.*: (cannot (restore|convert) .*|unrecognized type: \w+"
    r"|json: cannot unmarshal .*|error decoding from json: .*)"
)

_NOT_ALLOWED = "(pod updates may not change fields|.* is immutable after creation|existing ephemeral containers)"

ACCEPTED = (
    Accepted(
        "the real server names the etcd key of the object; the embedded one has no etcd",
        "message",
        embedded=r"Operation cannot be fulfilled on .*: Precondition failed: UID in precondition: .*",
        real=r".*: StorageError: invalid object, Code: 4, Key: /.*: Precondition failed: UID in .*",
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
        "a status update of a missing Service creates a Service without addresses on the real server, if it is valid",
        "status",
        embedded='404 services "[^"]*" not found',
        real=r'201|422 Service "[^"]*" is invalid: .*|500 failed to create typed patch object .*',
        request=r".*/services/[^/]*/status.*",
    ),
    *(
        Accepted(
            "the real server allocates an address of a Service before it validates the name",
            aspect,
            real=r".*failed to allocate IP: IPAddress\.networking\.k8s\.io .* spec\.parentRef\.name.*|absent",
            request=r"POST .*/services(\?.*)?",
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the real server stores a new PersistentVolumeClaim without its phase, and writes it with the first update",
            aspect,
            path=path,
            embedded=f".*{version}.*",
            real=f".*{version}.*",
            request=r".*/persistentvolumeclaims.*",
        )
        for aspect, path, version in (
            ("body", r".*resourceVersion", r"version \d+"),
            ("events", r".*resourceVersion", r"version \d+"),
            ("message", ".*", r'"resourceVersion": "version \d+"'),
            ("causes", ".*", r'"resourceVersion": "version \d+"'),
        )
    ),
    Accepted(
        "the first of several quotas that an object does not fit into: the real server reads them in a random order",
        "message",
        embedded=r".* is forbidden: (failed|exceeded) quota: .*",
        real=r".* is forbidden: (failed|exceeded) quota: .*",
        when=_name_other_quotas,
    ),
    Accepted(
        "the embedded server has the schemas of 1.37, which requires the actions of the binding of a policy",
        "body",
        path=r".*f:validationActions\.\.",
        embedded="absent",
    ),
    Accepted(
        "the real server reads the fields of an applied object in a random order, up to one that is not declared",
        "message",
        embedded=r"failed to create typed patch object \(.*\): .*field not declared in schema",
        real=r"failed to create typed patch object \(.*\): .*field not declared in schema",
    ),
    Accepted(
        "a custom object whose deletion an update completes is returned without the defaults of the stored version",
        "body",
        path=r"spec\.(steps\[.*\]\.retries|color)",
        embedded="3|red",
        real="absent",
    ),
    *(
        Accepted(
            "the empty rules of a role have no manager: decoding does not distinguish an empty list from none",
            "body",
            path=path,
            embedded="absent",
            real=real,
            request=r".*/(cluster)?roles.*",
        )
        for path, real in (
            (r".*metadata\.managedFields(\[\])?", r".*'fieldsV1': \{'f:rules': \{\}\}.*"),
            (r".*fieldsV1\.f:rules", r"\{\}"),
        )
    ),
    *(
        Accepted(
            "an empty list in an update of a NetworkPolicy or of webhooks increments the generation on the real "
            "server: decoding does not distinguish it from none",
            aspect,
            path=path,
            embedded=shown,
            real=shown,
            request=r".*/(networkpolicies|(mutating|validating)webhookconfigurations).*",
            when=_has_higher_generation,
        )
        for aspect, path, shown in (
            ("body", r".*metadata\.generation", r"\d+"),
            ("events", r".*metadata\.generation", r"\d+"),
            ("message", ".*", r'.*"generation": \d+.*'),
            ("causes", ".*", r'.*"generation": \d+.*'),
        )
    ),
    *(
        Accepted(
            "an empty map is shown as null where it is printed in a message: decoding drops empty maps",
            aspect,
            embedded=r".*(Unsupported|Invalid) value: null: .*",
            real=r".*(Unsupported|Invalid) value: \{\}: .*",
        )
        for aspect in ("message", "causes")
    ),
    *(
        Accepted(
            "the real server adds a comparison of Go structs to the message about a change that is not allowed",
            aspect,
            embedded=rf".*Forbidden: {_NOT_ALLOWED}.*",
            real=rf".*Forbidden: {_NOT_ALLOWED}.*\n@@ .*",
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


def accepted_list() -> str:
    """Return the reasons as a list in Markdown, each with the aspects of responses in which servers may differ."""
    aspects: dict[str, dict[str, None]] = {}
    for accepted in ACCEPTED:
        aspects.setdefault(accepted.reason, {})[accepted.aspect] = None
    lines = (f"- {reason[0].upper()}{reason[1:]} ({', '.join(found)}).\n" for reason, found in aspects.items())
    return "".join(lines)


def reason_for(difference: Difference, request: Request) -> str | None:
    """Return why a difference between the responses to a request is accepted; None if it is not."""
    return next((accepted.reason for accepted in ACCEPTED if accepted.covers(difference, request)), None)
