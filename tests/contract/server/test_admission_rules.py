"""Rules for webhook configurations, admission policies and their bindings."""

from typing import Any

import pytest
from tests.contract.server.api import API

PATH = "/apis/admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
WEBHOOK = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://127.0.0.1:1/hook"},
    "rules": [RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
Tree = dict[str, Any]


def refusal(api: API, plural: str, tree: Tree) -> str:
    """The message about the fields of an object, without the name of the object."""
    refused = api.post(f"{PATH}/{plural}", {"metadata": {"name": "a.example.com"}, **tree}, dryRun="All")
    return refused.failed(422, "Invalid")["message"].partition(" is invalid: ")[2]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "a"}, '.name: Invalid value: "a": should be a domain with at least three segments separated by dots'),
        ({"sideEffects": None}, ".sideEffects: Required value: must specify one of None, NoneOnDryRun"),
        (
            {"timeoutSeconds": 31},
            ".timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ),
        (
            {"admissionReviewVersions": ["v2"]},
            '.admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
        ),
        ({"failurePolicy": "Deny"}, '.failurePolicy: Unsupported value: "Deny": supported values: "Fail", "Ignore"'),
        (
            {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Equal"}]}},
            '.objectSelector.matchExpressions[0].operator: Invalid value: "Equal": not a valid selector operator',
        ),
        (
            {"rules": [{**RULE, "operations": ["CREATE", "*"]}]},
            '.rules[0].operations: Invalid value: ["CREATE","*"]: if \'*\' is present, must not specify other',
        ),
        (
            {"rules": [{**RULE, "resources": ["pods/*", "pods/status"]}]},
            ".rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify",
        ),
        ({"rules": [{**RULE, "scope": "All"}]}, '.rules[0].scope: Unsupported value: "All": supported values: "*", '),
        ({"clientConfig": {}}, ".clientConfig: Required value: exactly one of url or service is required"),
        (
            {"clientConfig": {"url": "https://host/path?query=1"}},
            '.clientConfig.url: Invalid value: "query=1": query parameters are not permitted in the URL',
        ),
        (
            {"clientConfig": {"service": {"namespace": "a", "name": "b", "path": "hook"}}},
            ".clientConfig.service.path: Invalid value: \"hook\": must start with a '/'",
        ),
        ({"matchConditions": [{"name": "a", "expression": "1"}]}, '.matchConditions[0].expression: Invalid value: "1"'),
    ],
)
@pytest.mark.parametrize("kind", ["validating", "mutating"])
def test_a_wrong_webhook_is_refused(api: API, kind: str, changes: Tree, problem: str):
    message = refusal(api, f"{kind}webhookconfigurations", {"webhooks": [{**WEBHOOK, **changes}]})
    assert f"webhooks[0]{problem}" in message


def test_the_names_of_webhooks_are_unique(api: API):
    message = refusal(api, "validatingwebhookconfigurations", {"webhooks": [WEBHOOK, WEBHOOK]})
    assert message == 'webhooks[1].name: Duplicate value: "a.example.com"'


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"matchConstraints": None}, "spec.matchConstraints: Required value"),
        (
            {"matchConstraints": {"resourceRules": [{}]}},
            "spec.matchConstraints.resourceRules[0].operations: Required value",
        ),
        (
            {"failurePolicy": "Deny"},
            'spec.failurePolicy: Unsupported value: "Deny": supported values: "Fail", "Ignore"',
        ),
        ({"paramKind": {"apiVersion": "v1"}}, "spec.paramKind.kind: Required value"),
        (
            {"variables": [{"name": "a-b", "expression": "1"}]},
            'spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier',
        ),
        ({"variables": [{"name": "a"}]}, "spec.variables[0].expression: Required value: expression is not specified"),
        (
            {"validations": [{"expression": "true", "message": "two\nlines"}]},
            'spec.validations[0].message: Invalid value: "two\\nlines": must not contain line breaks',
        ),
        (
            {"auditAnnotations": [{"key": "a b", "valueExpression": "'c'"}]},
            'spec.auditAnnotations[0].key: Invalid value: "a.example.com/a b": name part must consist of alphanumeric',
        ),
        (
            {"validations": [{"expression": "int('x') == 1"}]},
            "spec.validations[0].expression: Internal error: program instantiation failed: type conversion error from",
        ),
        (
            {"validations": [{"expression": "null"}]},
            'spec.validations[0].expression: Invalid value: "null": must evaluate to bool but got null_type',
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
            'spec.matchConditions[1].name: Duplicate value: "a"',
        ),
    ],
)
def test_a_wrong_policy_is_refused(api: API, changes: Tree, problem: str):
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}], **changes}
    assert problem in refusal(api, "validatingadmissionpolicies", {"spec": spec})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reinvocationPolicy": None}, "spec.reinvocationPolicy: Required value"),
        ({"mutations": [{"patchType": "Merge"}]}, 'spec.mutations[0].patchType: Unsupported value: "Merge"'),
        (
            {"mutations": [{"patchType": "JSONPatch"}]},
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
        ),
    ],
)
def test_a_wrong_mutation_is_refused(api: API, changes: Tree, problem: str):
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/data'}]"}}
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "reinvocationPolicy": "Never", "mutations": [mutation]}
    assert problem in refusal(api, "mutatingadmissionpolicies", {"spec": {**spec, **changes}})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"policyName": ""}, "spec.policyName: Required value"),
        (
            {"validationActions": []},
            "spec.validationActions: Required value: at least one validation action is required",
        ),
        ({"validationActions": ["Deny", "Warn"]}, "must not contain both Deny and Warn"),
        (
            {"validationActions": ["Log"]},
            'spec.validationActions[0]: Unsupported value: "Log": supported values: "Audit"',
        ),
        (
            {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
            "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
        ),
        ({"paramRef": {"name": "a"}}, "spec.paramRef.parameterNotFoundAction: Required value"),
    ],
)
def test_a_wrong_binding_is_refused(api: API, changes: Tree, problem: str):
    spec = {"policyName": "a.example.com", "validationActions": ["Deny"], **changes}
    assert problem in refusal(api, "validatingadmissionpolicybindings", {"spec": spec})
