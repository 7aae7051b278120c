"""ValidatingAdmissionPolicies and MutatingAdmissionPolicies."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contract.server.api import API

PATH = "/apis/admissionregistration.k8s.io/v1"
MAPS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["configmaps"],
}


class Policies:
    """Creates policies that apply to one namespace, and deletes them."""

    def __init__(self, api: API, namespace: str) -> None:
        self.api = api
        self.name = f"policy-{secrets.token_hex(4)}"
        self._selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        self._made: list[str] = []

    def constraints(self, *rules: dict[str, Any]) -> dict[str, Any]:
        """Match constraints with these rules, and the one of the probe."""
        probed = {**MAPS, "operations": ["CREATE"]}
        return {"resourceRules": [probed, *rules], "namespaceSelector": self._selector}

    def create(self, kind: str, spec: dict[str, Any], binding: dict[str, Any] | None = None) -> None:
        """Create a policy and its binding, and return when it is enforced, which a condition for the probe shows."""
        rule = MAPS if kind == "validating" else {**MAPS, "operations": ["CREATE", "UPDATE"]}
        constraints = {"resourceRules": [rule], "namespaceSelector": self._selector}
        spec = {"matchConstraints": constraints, **spec}
        bound = {"policyName": self.name, **(binding or {})}
        for plural, body in (("policies", spec), ("policybindings", bound)):
            path = f"{PATH}/{kind}admission{plural}"
            self.api.post(path, {"metadata": {"name": self.name}, "spec": body}).ok(201)
            self._made.append(f"{path}/{self.name}")

    def validate(self, *validations: dict[str, Any], actions: tuple[str, ...] = ("Deny",), **spec: Any) -> None:
        binding = {"validationActions": list(actions), **spec.pop("binding", {})}
        is_other = "object == null || !has(object.metadata) || object.metadata.name != 'probe'"
        probe = {"expression": is_other, "message": "enforced"}
        self.create("validating", {"validations": [probe, *validations], **spec}, binding)
        self._wait(lambda response: "enforced" in response.body.decode() + str(response.warnings))

    def mutate(self, *mutations: dict[str, Any], **spec: Any) -> None:
        body = {"failurePolicy": "Fail", "reinvocationPolicy": "Never", "mutations": list(mutations), **spec}
        self.create("mutating", body)

    def _wait(self, is_enforced: Any) -> None:
        deadline = time.monotonic() + 20
        while True:
            response = self.api.post(f"{self.api.path('configmaps')}?dryRun=All", {"metadata": {"name": "probe"}})
            if is_enforced(response):
                return
            assert time.monotonic() < deadline, response.body

    def wait_until_mutated(self, is_mutated: Any) -> None:
        self._wait(lambda response: response.status != 201 or is_mutated(response.json))

    def remove(self) -> None:
        for path in reversed(self._made):
            self.api.delete(path).ok()


@pytest.fixture
def policies(api: API, namespace: str) -> Iterator[Policies]:
    found = Policies(api, namespace)
    yield found
    found.remove()


def create(api: API, name: str = "a", **data: str) -> Any:
    return api.post(api.path("configmaps"), {"metadata": {"name": name}, "data": data})


def test_a_policy_denies_what_does_not_hold(policies: Policies, api: API):
    policies.validate({"expression": "object == null || object.data.size() < 2"})
    assert create(api, a="1").status == 201
    denied = create(api, "b", a="1", b="2")
    why = f"ValidatingAdmissionPolicy '{policies.name}' with binding '{policies.name}' denied request: "
    why += "failed expression: object == null || object.data.size() < 2"
    assert (denied.status, denied.json["reason"]) == (422, "Invalid")
    assert denied.json["message"] == f'configmaps "b" is forbidden: {why}'
    assert denied.json["details"] == {"name": "b", "kind": "configmaps", "causes": [{"message": why}]}


def test_messages_and_reasons_are_those_of_the_validation(policies: Policies, api: API):
    policies.validate(
        {"expression": "object.data.a == '1'", "messageExpression": "'a is ' + object.data.a", "reason": "Forbidden"}
    )
    denied = create(api, a="2")
    assert denied.status == 403
    assert denied.json["message"].endswith("denied request: a is 2")


def test_variables_conditions_and_the_request_are_known(policies: Policies, api: API, namespace: str):
    policies.validate(
        {"expression": "variables.isSmall || request.operation != 'CREATE'"},
        {"expression": f"request.namespace == '{namespace}' && namespaceObject.metadata.name == '{namespace}'"},
        {"expression": "oldObject == null && request.resource.resource == 'configmaps'"},
        variables=[
            {"name": "count", "expression": "object.data.size()"},
            {"name": "isSmall", "expression": "variables.count < 2"},
        ],
        matchConditions=[{"name": "not-skipped", "expression": "object.metadata.name != 'skipped'"}],
    )
    assert create(api, a="1").status == 201
    assert create(api, "b", a="1", b="2").status == 422
    assert create(api, "skipped", a="1", b="2").status == 201


def test_params_are_read_from_the_object_of_the_binding(policies: Policies, api: API):
    create(api, "params", most="2").ok(201)
    reference = {"paramRef": {"name": "params", "parameterNotFoundAction": "Deny"}}
    policies.validate(
        {"expression": "object.data.size() <= int(params.data.most)"},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        binding=reference,
    )
    assert create(api, a="1").status == 201
    assert create(api, "b", a="1", b="2", c="3").status == 422


def test_missing_params_deny_if_the_binding_requires_them(policies: Policies, api: API):
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [{"expression": "params.data.a == 'b'"}],
    }
    reference = {"paramRef": {"name": "nothing", "parameterNotFoundAction": "Deny"}, "validationActions": ["Deny"]}
    policies.create("validating", spec, reference)
    policies.wait_until_mutated(lambda _: False)
    message = create(api).json["message"]
    assert message.endswith(
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    )


def test_an_expression_that_fails_denies_unless_failures_are_ignored(policies: Policies, api: API):
    policies.validate({"expression": "object.data.missing == 'a'"})
    message = create(api, a="1").json["message"]
    assert message.endswith("expression 'object.data.missing == 'a'' resulted in error: no such key: missing")


def test_ignored_failures_admit(policies: Policies, api: API):
    policies.validate({"expression": "object.data.missing == 'a'"}, failurePolicy="Ignore")
    assert create(api, a="1").status == 201


def test_warnings_admit(policies: Policies, api: API):
    policies.validate({"expression": "object.data.a == '1'", "message": "a should be 1"}, actions=("Warn", "Audit"))
    made = create(api, a="2")
    assert made.status == 201
    where = f"ValidatingAdmissionPolicy '{policies.name}' with binding '{policies.name}'"
    assert any(f"Validation failed for {where}: a should be 1" in warning for warning in made.warnings)


def test_deletions_are_validated(policies: Policies, api: API):
    create(api, keep="yes").ok(201)
    policies.validate({"expression": "request.operation != 'DELETE' || !has(oldObject.data.keep)"})
    assert api.delete(api.path("configmaps", "a")).status == 422
    assert api.get(api.path("configmaps", "a")).status == 200


def test_an_expression_uses_the_decision_of_the_authorizer(policies: Policies, api: API):
    policies.validate(
        {"expression": "authorizer.group('').resource('pods').namespace('default').check('create').allowed()"},
        {"expression": "authorizer.requestResource.check('get').allowed()"},
        {"expression": "authorizer.path('/healthz').check('get').allowed()"},
    )
    assert create(api).status == 201


def test_a_policy_adds_fields_with_an_apply_configuration(policies: Policies, api: API):
    expression = "Object{metadata: Object.metadata{labels: {'added': object.metadata.name}}, data: {'b': '2'}}"
    policies.mutate({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
    policies.wait_until_mutated(lambda tree: tree["metadata"].get("labels"))
    made = create(api, a="1").ok(201)
    assert made["metadata"]["labels"] == {"added": "a"}
    assert made["data"] == {"a": "1", "b": "2"}


def test_a_policy_changes_fields_with_a_json_patch(policies: Policies, api: API):
    expression = """[
        JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a/b': 'c'}},
        JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('d/e'), value: 'f'}
    ]"""
    policies.mutate({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
    policies.wait_until_mutated(lambda tree: tree["metadata"].get("annotations"))
    assert create(api).ok(201)["metadata"]["annotations"] == {"a/b": "c", "d/e": "f"}


def test_a_mutation_that_fails_denies(policies: Policies, api: API):
    expression = "[JSONPatch{op: 'remove', path: '/data/missing'}]"
    policies.mutate({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
    policies.wait_until_mutated(lambda _: False)
    denied = create(api, a="1")
    assert (denied.status, denied.json["reason"]) == (403, "Invalid")
    why = "JSON Patch: error in remove for path: '/data/missing': "
    why += "Unable to remove nonexistent key: missing: missing value"
    assert f"policy '{policies.name}' with binding '{policies.name}' denied request: {why}" in denied.json["message"]


def test_a_policy_is_invoked_again_after_its_own_change_if_needed(policies: Policies, api: API):
    expression = (
        "Object{data: {'count': has(object.data) && 'count' in object.data ? object.data['count'] + 'x' : 'x'}}"
    )
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    policies.mutate(mutation, reinvocationPolicy="IfNeeded")
    policies.wait_until_mutated(lambda tree: tree.get("data"))
    assert create(api).ok(201)["data"] == {"count": "xx"}


def test_a_json_patch_whose_test_fails_is_not_applied(policies: Policies, api: API):
    expression = """[
        JSONPatch{op: 'test', path: '/metadata/name', value: object.metadata.name == 'a' ? 'x' : object.metadata.name},
        JSONPatch{op: 'add', path: '/metadata/annotations', value: {'patched': 'yes'}}
    ]"""
    policies.mutate({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
    policies.wait_until_mutated(lambda tree: tree["metadata"].get("annotations"))
    assert "annotations" not in create(api, "a").ok(201)["metadata"]
    assert create(api, "b").ok(201)["metadata"]["annotations"] == {"patched": "yes"}


@pytest.mark.parametrize(
    ("validation", "problem"),
    [
        ({"expression": "object.a +"}, "compilation failed: ERROR: <input>:1:11: Syntax error"),
        ({"expression": "nope"}, "undeclared reference to 'nope'"),
        ({"expression": "params.a == 'b'"}, "undeclared reference to 'params'"),
        ({"expression": "request.nope == ''"}, "undefined field 'nope'"),
        ({"expression": "'a'"}, "must evaluate to bool but got string"),
        ({"expression": "true", "messageExpression": "1"}, "must evaluate to string but got int"),
        ({"expression": " "}, "expression is not specified"),
    ],
)
def test_a_policy_that_does_not_compile_is_rejected(api: API, validation: dict[str, str], problem: str):
    spec = {"matchConstraints": {"resourceRules": [MAPS]}, "validations": [validation]}
    body = {"metadata": {"name": "a"}, "spec": spec}
    response = api.post(f"{PATH}/validatingadmissionpolicies?dryRun=All", body)
    assert response.status == 422
    assert problem in response.json["message"]
