"""What one can wait for: ready-made conditions on an object, or on its absence. `waiting.py` waits.

ready                                        it does what it is there for, as far as its kind says so
deleted                                      it is not there
condition("Available")                       its status has that condition, and it is "True", or what else is given
jsonpath("{.status.phase}=Running")          something in it has that value; without one, is there at all

Also as text: "ready", "deleted", "condition=Available", "condition=Ready=False", "jsonpath={.status.phase}=Running".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from listwatch import models
from listwatch.api.json_path import JSONPath
from listwatch.errors import UsageError
from listwatch.objects.object import Object

__all__ = ["Condition", "condition", "deleted", "jsonpath", "parse_condition", "ready"]

Tree = Mapping[str, Any]

# A path may have the sign in its own brackets.
_PATH_AND_VALUE = re.compile(r"(\{[^}]*\}|(?:\[[^\]]*\]|[^=\[])+)(?:=(.*))?", re.DOTALL)


class Condition(Protocol):
    """Is true or not of an object; of None, where there is no object."""

    def __call__(self, obj: Object | None, /) -> bool: ...


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
        # A built-in kind that says nothing about itself, as a ConfigMap, is there for being there.
        if models.lookup(obj.api_version, obj.kind) and not _status(tree).get("conditions"):
            return True
        return _is_true("Ready", "Available")(tree)

    def __str__(self) -> str:
        return "ready"


ready: Condition = _Ready()
"""It does what it is there for: a Pod is Ready, a Deployment is rolled out, a Job is complete, a CRD is served."""

deleted: Condition = _Deleted()
"""It is not there, or not any more."""


def condition(type: str, status: str = "True") -> Condition:
    """Its status has a condition of that type and status."""
    return _HasCondition(type, status)


def jsonpath(text: str) -> Condition:
    """What the path leads to has that value, as in `{.status.phase}=Running`; without one, it leads to something."""
    matched = _PATH_AND_VALUE.fullmatch(text.strip())
    if matched is None:
        raise UsageError(f"{text!r} is no condition: expected '{{PATH}}=VALUE' or '{{PATH}}'")
    path, value = matched.groups()
    return _HasValue(JSONPath(path), None if value is None else _unquoted(value))


def parse_condition(text: str) -> Condition:
    """A condition as text, in the forms above."""
    form, _, rest = text.partition("=")
    match form.strip().lower():
        case "ready" if not rest:
            return ready
        case "deleted" | "delete" if not rest:
            return deleted
        case "condition" if rest:
            type_, _, status = rest.partition("=")
            return condition(type_, status or "True")
        case "jsonpath" if rest:
            return jsonpath(rest)
    forms = "'ready', 'deleted', 'condition=TYPE', 'condition=TYPE=STATUS' or 'jsonpath={PATH}=VALUE'"
    raise UsageError(f"{text!r} is no condition: expected {forms}")


# --- what ready means ------------------------------------------------------------------------------------------------


def _is_true(*types: str) -> Callable[[Tree], bool]:
    return lambda tree: any(_condition(tree, each).get("status") == "True" for each in types)


def _is_in_phase(*phases: str) -> Callable[[Tree], bool]:
    return lambda tree: _status(tree).get("phase") in phases


def _has_all(*counts: str) -> Callable[[Tree], bool]:
    """Its controller has seen the latest change, and each of these numbers is as many replicas as there should be."""
    return lambda tree: _is_observed(tree) and all(_status(tree).get(each, 0) == _wanted(tree) for each in counts)


def _is_daemon_set_ready(tree: Tree) -> bool:
    status = _status(tree)
    wanted = status.get("desiredNumberScheduled", 0)
    counts = ("numberReady", "updatedNumberScheduled")
    return _is_observed(tree) and all(status.get(each, 0) == wanted for each in counts)


def _is_service_ready(tree: Tree) -> bool:
    is_balanced = tree.get("spec", {}).get("type") == "LoadBalancer"
    return not is_balanced or bool(_status(tree).get("loadBalancer", {}).get("ingress"))


_READY: dict[tuple[str, str], Callable[[Tree], bool]] = {
    ("", "Pod"): _is_true("Ready"),
    ("", "Node"): _is_true("Ready"),
    ("", "Namespace"): _is_in_phase("Active"),
    ("", "PersistentVolume"): _is_in_phase("Available", "Bound"),
    ("", "PersistentVolumeClaim"): _is_in_phase("Bound"),
    ("", "ReplicationController"): _has_all("readyReplicas"),
    ("", "Service"): _is_service_ready,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _is_true("Established"),
    ("apiregistration.k8s.io", "APIService"): _is_true("Available"),
    ("apps", "DaemonSet"): _is_daemon_set_ready,
    ("apps", "Deployment"): _has_all("replicas", "updatedReplicas", "availableReplicas"),
    ("apps", "ReplicaSet"): _has_all("readyReplicas"),
    ("apps", "StatefulSet"): _has_all("replicas", "readyReplicas"),
    ("batch", "Job"): _is_true("Complete"),
}


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _status(tree: Tree) -> Tree:
    return tree.get("status") or {}


def _condition(tree: Tree, type_: str) -> Tree:
    conditions = _status(tree).get("conditions") or ()
    return next((each for each in conditions if isinstance(each, dict) and each.get("type") == type_), {})


def _is_observed(tree: Tree) -> bool:
    return bool(_status(tree).get("observedGeneration", 0) >= tree.get("metadata", {}).get("generation", 0))


def _wanted(tree: Tree) -> int:
    replicas: int = tree.get("spec", {}).get("replicas", 1)
    return replicas


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
