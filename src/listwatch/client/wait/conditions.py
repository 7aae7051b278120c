"""Conditions for `wait_for`.

ready                                        the object is ready, as defined for its kind
created                                      the object exists
deleted                                      the object does not exist
condition("Available")                       the status condition is "True", or has the given status
jsonpath("{.status.phase}=Running")          a field has the value; without a value, the field exists

Also as strings: "ready", "created", "deleted", "condition=Available", "condition=Ready=False",
"jsonpath={.status.phase}=Running".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from listwatch import models
from listwatch.api.json_path import JSONPath
from listwatch.errors import UsageError
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.object import Object

__all__ = ["Condition", "condition", "created", "deleted", "describe_status", "jsonpath", "parse_condition", "ready"]

# A path may contain "=" inside its brackets.
_PATH_AND_VALUE = re.compile(r"(\{[^}]*\}|(?:\[[^\]]*\]|[^=\[])+)(?:=(.*))?", re.DOTALL)


class Condition(Protocol):
    """A predicate of an object, or of None if the object does not exist."""

    def __call__(self, obj: Object | None, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Created:
    def __call__(self, obj: Object | None) -> bool:
        return obj is not None

    def __str__(self) -> str:
        return "created"


@dataclass(frozen=True, slots=True)
class _Deleted:
    def __call__(self, obj: Object | None) -> bool:
        return obj is None

    def __str__(self) -> str:
        return "deleted"


@dataclass(frozen=True, slots=True)
class _HasCondition:
    type: str
    status: str = "True"

    def __call__(self, obj: Object | None) -> bool:
        return obj is not None and _condition(obj.to_dict(), self.type).get("status") == self.status

    def __str__(self) -> str:
        return f"condition {self.type}={self.status}"


@dataclass(frozen=True, slots=True)
class _HasValue:
    path: JSONPath
    value: str | None

    def __call__(self, obj: Object | None) -> bool:
        found = [] if obj is None else self.path.find(obj.to_dict())
        return bool(found) if self.value is None else any(_text(each) == self.value for each in found)

    def __str__(self) -> str:
        return f"jsonpath {self.path}" if self.value is None else f"jsonpath {self.path}={self.value}"


@dataclass(frozen=True, slots=True)
class _Ready:
    def __call__(self, obj: Object | None) -> bool:
        if obj is None or obj.metadata.deletion_timestamp is not None:
            return False
        tree = obj.to_dict()
        if is_ready := _READY.get((_group(obj.api_version), obj.kind)):
            return is_ready(tree)
        # A built-in kind without conditions, such as a ConfigMap, is ready as soon as it exists.
        if models.lookup(obj.api_version, obj.kind) and not _status(tree).get("conditions"):
            return True
        return _is_true("Ready", "Available")(tree)

    def __str__(self) -> str:
        return "ready"


ready: Condition = _Ready()
"""The object is ready: a Pod is Ready, a Deployment rolled out, a Job complete, a definition established."""

created: Condition = _Created()
"""The object exists."""

deleted: Condition = _Deleted()
"""The object does not exist."""


def condition(type: str, status: str = "True") -> Condition:
    """Return a condition: the object has a status condition of this type and status."""
    return _HasCondition(type, status)


def jsonpath(text: str) -> Condition:
    """Return a condition: a field has a value, as in `{.status.phase}=Running`; without a value, it exists."""
    matched = _PATH_AND_VALUE.fullmatch(text.strip())
    if matched is None:
        raise UsageError(f"invalid condition {text!r}: expected '{{PATH}}=VALUE' or '{{PATH}}'")
    path, value = matched.groups()
    return _HasValue(JSONPath(path), None if value is None else _unquoted(value))


def parse_condition(text: str) -> Condition:
    """Parse a condition in one of the forms above."""
    form, _, rest = text.partition("=")
    match form.strip().lower():
        case "ready" if not rest:
            return ready
        case "created" | "create" if not rest:
            return created
        case "deleted" | "delete" if not rest:
            return deleted
        case "condition" if rest:
            type_, _, status = rest.partition("=")
            return condition(type_, status or "True")
        case "jsonpath" if rest:
            return jsonpath(rest)
    forms = "'ready', 'created', 'deleted', 'condition=TYPE', 'condition=TYPE=STATUS' or 'jsonpath={PATH}=VALUE'"
    raise UsageError(f"invalid condition {text!r}: expected {forms}")


def describe_status(obj: Object) -> str:
    """The phase and the status conditions of an object in one line; empty if it has neither."""
    status = _status(obj.to_dict())
    phase, listed = status.get("phase"), status.get("conditions")
    conditions = [_describe(each) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    parts = [f"phase {phase}"] if isinstance(phase, str) else []
    return ", ".join(parts + conditions)


def _describe(condition: JSONObject) -> str:
    why = ": ".join(str(each) for each in (condition.get("reason"), condition.get("message")) if each)
    state = f"{condition.get('type')}={condition.get('status')}"
    return f"{state} ({why})" if why else state


# --- readiness by kind -----------------------------------------------------------------------------------------------


def _is_true(*types: str) -> Callable[[JSONObject], bool]:
    return lambda tree: any(_condition(tree, each).get("status") == "True" for each in types)


def _is_in_phase(*phases: str) -> Callable[[JSONObject], bool]:
    return lambda tree: _status(tree).get("phase") in phases


def _has_replicas(*counts: str) -> Callable[[JSONObject], bool]:
    """The controller has observed the latest generation, and each of these counts equals the desired replicas."""
    return lambda tree: (
        _is_observed(tree) and all(_status(tree).get(each, 0) == _desired_replicas(tree) for each in counts)
    )


def _is_daemon_set_ready(tree: JSONObject) -> bool:
    status = _status(tree)
    desired = status.get("desiredNumberScheduled", 0)
    counts = ("numberReady", "updatedNumberScheduled")
    return _is_observed(tree) and all(status.get(each, 0) == desired for each in counts)


def _is_service_ready(tree: JSONObject) -> bool:
    is_load_balancer = _mapping(tree.get("spec")).get("type") == "LoadBalancer"
    return not is_load_balancer or bool(_mapping(_status(tree).get("loadBalancer")).get("ingress"))


_READY: dict[tuple[str, str], Callable[[JSONObject], bool]] = {
    ("", "Pod"): _is_true("Ready"),
    ("", "Node"): _is_true("Ready"),
    ("", "Namespace"): _is_in_phase("Active"),
    ("", "PersistentVolume"): _is_in_phase("Available", "Bound"),
    ("", "PersistentVolumeClaim"): _is_in_phase("Bound"),
    ("", "ReplicationController"): _has_replicas("readyReplicas"),
    ("", "Service"): _is_service_ready,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _is_true("Established"),
    ("apiregistration.k8s.io", "APIService"): _is_true("Available"),
    ("apps", "DaemonSet"): _is_daemon_set_ready,
    ("apps", "Deployment"): _has_replicas("replicas", "updatedReplicas", "availableReplicas"),
    ("apps", "ReplicaSet"): _has_replicas("readyReplicas"),
    ("apps", "StatefulSet"): _has_replicas("replicas", "readyReplicas"),
    ("batch", "Job"): _is_true("Complete"),
}


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _mapping(value: JSON) -> JSONObject:
    return value if isinstance(value, dict) else {}


def _status(tree: JSONObject) -> JSONObject:
    return _mapping(tree.get("status"))


def _condition(tree: JSONObject, type_: str) -> JSONObject:
    found = _status(tree).get("conditions")
    conditions = found if isinstance(found, list) else []
    return next((each for each in conditions if isinstance(each, dict) and each.get("type") == type_), {})


def _is_observed(tree: JSONObject) -> bool:
    observed, latest = _status(tree).get("observedGeneration"), _mapping(tree.get("metadata")).get("generation")
    return (observed if isinstance(observed, int) else 0) >= (latest if isinstance(latest, int) else 0)


def _desired_replicas(tree: JSONObject) -> JSON:
    return _mapping(tree.get("spec")).get("replicas", 1)


def _text(value: JSON) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
