"""Policies and priorities that exist in all generated scenarios. A policy matches objects with the label `policy`."""

from __future__ import annotations

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.scenarios import Request

__all__ = ["ADMISSION", "POLICIES", "PRIORITIES"]

_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"

PRIORITIES = ("differ-high", "differ-low", "system-node-critical", "missing")
_PRIORITY_CLASSES: tuple[JSONObject, ...] = (
    {"metadata": {"name": "differ-high"}, "value": 1000},
    {"metadata": {"name": "differ-low"}, "value": -5, "preemptionPolicy": "Never"},
)


def _validating(*validations: JSON, **spec: JSON) -> JSONObject:
    return {"validations": [*validations], **spec}


_VALIDATING: dict[str, JSONObject] = {
    "small": _validating({"expression": "!has(object.data) || object.data.size() < 2", "message": "too many keys"}),
    "named": _validating(
        {"expression": "object.metadata.name != 'b'", "messageExpression": "'not ' + object.metadata.name"},
        {"expression": "!has(object.metadata.labels.tier)", "reason": "Invalid"},
    ),
    "transition": _validating(
        {"expression": "oldObject == null || object.data == oldObject.data", "reason": "RequestEntityTooLarge"},
    ),
    "condition": _validating(
        {"expression": "false"},
        matchConditions=[{"name": "updates", "expression": "request.operation == 'UPDATE'"}],
    ),
    "error": _validating({"expression": "object.data.absent == 'x'"}),
    "ignored": _validating({"expression": "object.data.absent == 'x'"}, failurePolicy="Ignore"),
    "variables": _validating(
        {"expression": "variables.keys.all(key, key.startsWith('k'))", "messageExpression": "variables.text"},
        variables=[
            {"name": "keys", "expression": "has(object.data) ? object.data.map(key, key) : []"},
            {"name": "text", "expression": "string(variables.keys.size()) + ' keys'"},
        ],
    ),
    "warn": _validating({"expression": "has(object.immutable)", "message": "not immutable"}),
    "user": _validating(
        {
            "expression": "request.userInfo.groups.exists(group, group == 'system:masters') && !request.dryRun",
            "message": "only administrators, and no dry runs",
        },
    ),
    "namespaced": _validating({"expression": "!namespaceObject.metadata.name.startsWith('scenario')"}),
}
_MUTATING: dict[str, JSON] = {
    "label": [
        {
            "patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'added': 'yes'}}}"},
        }
    ],
    "patch": [
        {
            "patchType": "JSONPatch",
            "jsonPatch": {
                "expression": "[JSONPatch{op: 'add', path: '/metadata/annotations', "
                "value: {'by': object.metadata.name}}]"
            },
        }
    ],
    "broken": [
        {
            "patchType": "JSONPatch",
            "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/metadata/nowhere'}]"},
        }
    ],
    "twice": [
        {
            "patchType": "ApplyConfiguration",
            "applyConfiguration": {
                "expression": "Object{data: {'count': has(object.data) && 'count' in object.data ? "
                "object.data['count'] + 'x' : 'x'}}"
            },
        }
    ],
}
POLICIES = (*_VALIDATING, *_MUTATING)


def _constraints(label: str, *operations: JSON) -> JSON:
    return {
        "objectSelector": {"matchLabels": {"policy": label}},
        "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": [*operations], "resources": ["configmaps"]}
        ],
    }


def _policy_requests() -> list[Request]:
    requests: list[Request] = []
    for name, spec in _VALIDATING.items():
        actions: list[JSON] = ["Warn"] if name == "warn" else ["Deny"]
        constraints = _constraints(name, "CREATE", "UPDATE")
        requests += _created(
            "validating", name, {"matchConstraints": constraints, **spec}, {"validationActions": actions}
        )
    for name, mutations in _MUTATING.items():
        spec = {"mutations": mutations, "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded"}
        requests += _created("mutating", name, {"matchConstraints": _constraints(name, "CREATE", "UPDATE"), **spec}, {})
    return requests


def _created(sort: str, name: str, spec: JSONObject, binding: JSONObject) -> list[Request]:
    metadata: JSON = {"name": f"differ-{name}"}
    bound: JSON = {"policyName": f"differ-{name}", **binding}
    return [
        Request(
            method="POST",
            path=f"{_ADMISSION}/{sort}admissionpolicies",
            body={"metadata": metadata, "spec": spec},
        ),
        Request(
            method="POST",
            path=f"{_ADMISSION}/{sort}admissionpolicybindings",
            body={"metadata": metadata, "spec": bound},
        ),
    ]


def _probe(label: str, text: str) -> Request:
    """Wait until a policy is enforced; a real server compiles policies in the background."""
    body: JSON = {"metadata": {"name": "b", "labels": {"policy": label}}, "data": {"a": "1", "b": "2"}}
    path = "/api/v1/namespaces/{namespace}/configmaps"
    return Request(method="POST", path=path, query={"dryRun": "All"}, body=body, until=text)


ADMISSION = (
    *(Request(method="POST", path=_CLASSES, body=body) for body in _PRIORITY_CLASSES),
    *_policy_requests(),
    _probe("small", "too many keys"),
    _probe("named", "not b"),
    _probe("error", "no such key"),
    _probe("variables", "2 keys"),
    _probe("user", "no dry runs"),
    _probe("namespaced", "denied"),
    _probe("label", '"added"'),
    _probe("patch", '"by"'),
    _probe("broken", "differ-broken"),
    _probe("twice", '"count"'),
)
