"""The state of any object in a few words, for tables that the server does not make."""

from __future__ import annotations

from listwatch.json_value import JSON, JSONObject

__all__ = ["status_of"]

_CONDITIONS = ("Ready", "Available", "Established", "Complete", "Failed")


def status_of(tree: JSONObject) -> str:
    """Return the state of an object: its phase, why a container waits, its ready replicas, or its condition."""
    if _at(tree, "metadata", "deletionTimestamp"):
        return "Terminating"
    if tree.get("kind") == "Pod" and (reason := _waiting_reason(tree)):
        return reason
    phase = _at(tree, "status", "phase")
    if isinstance(phase, str):
        return phase
    if isinstance(desired := _at(tree, "spec", "replicas"), int):
        return f"{_at(tree, 'status', 'readyReplicas') or 0}/{desired} ready"
    return _condition(tree)


def _waiting_reason(pod: JSONObject) -> str:
    containers = _at(pod, "status", "containerStatuses")
    for container in containers if isinstance(containers, list) else []:
        for state in ("waiting", "terminated"):
            reason = _at(container, "state", state, "reason")
            if isinstance(reason, str) and reason:
                return reason
    return ""


def _condition(tree: JSONObject) -> str:
    conditions = _at(tree, "status", "conditions")
    found: dict[JSON, JSON] = {}
    for each in conditions if isinstance(conditions, list) else []:
        if isinstance(each, dict) and isinstance(each.get("type"), str):
            found[str(each["type"])] = each.get("status")
    for name in _CONDITIONS:
        match found.get(name):
            case "True":
                return name
            case "False" if name == "Ready":
                return "NotReady"
    return ""


def _at(tree: JSON, *path: str) -> JSON:
    for name in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(name)
    return tree
