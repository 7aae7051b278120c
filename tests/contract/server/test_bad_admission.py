"""Invalid admission: policies without params or beyond the cost limit, invalid responses of webhooks and schemas."""

import base64
import json
import secrets
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.definitions import DEFINITIONS, definition, version
from tests.contract.server.https_hooks import PlainAnswer
from tests.contract.server.test_policies import PATH, Policies, create
from tests.contract.server.test_webhooks import Hooks

Tree = dict[str, Any]


@pytest.fixture
def policies(api: API, namespace: str) -> Iterator[Policies]:
    found = Policies(api, namespace)
    yield found
    found.remove()


@pytest.fixture
def hooks(api: API, namespace: str, tmp_path: Path) -> Iterator[Hooks]:
    found = Hooks(api, namespace, tmp_path)
    yield found
    found.close()


# --- Policies ---------------------------------------------------------------------------------------------------------


def test_a_binding_of_a_missing_policy_has_no_effect(api: API):
    name = f"policy-{secrets.token_hex(4)}"
    spec = {"policyName": "missing", "validationActions": ["Deny"]}
    path = f"{PATH}/validatingadmissionpolicybindings"
    api.post(path, {"metadata": {"name": name}, "spec": spec}).ok(201)
    try:
        create(api).ok(201)
    finally:
        api.delete(f"{path}/{name}").ok()


def test_params_of_an_unknown_kind_deny(policies: Policies, api: API):
    kind = {"apiVersion": "nothing.example.com/v1", "kind": "Nothing"}
    reference = {"name": "a", "parameterNotFoundAction": "Deny"}
    spec = {"paramKind": kind, "validations": [{"expression": "params.a == 'b'"}]}
    policies.create("validating", spec, {"validationActions": ["Deny"], "paramRef": reference})
    policies._wait(lambda response: response.status != 201)
    denied = create(api).failed(422, "Invalid")
    why = "failed to configure policy: failed to find resource referenced by paramKind"
    shown = "'nothing.example.com/v1, Kind=Nothing'"
    where = f"ValidatingAdmissionPolicy '{policies.name}' denied request"
    assert denied["message"] == f'configmaps "a" is forbidden: {where}: {why}: {shown}'


def test_an_expression_that_costs_too_much_denies(policies: Policies, api: API):
    policies.validate({"expression": "!has(object.data) || object.data.a.contains(object.data.a)"})
    create(api, a="x" * 100).ok(201)
    denied = create(api, "b", a="x" * 20_000).failed(422, "Invalid")
    assert "operation cancelled: actual cost limit exceeded" in denied["message"]
    denied = create(api, "b", a="x" * 100_000).failed(422, "Invalid")
    assert "validation failed due to running out of cost budget" in denied["message"]


def test_an_apply_configuration_may_not_replace_atomic_fields(policies: Policies, api: API):
    owner = "Object.metadata.ownerReferences{uid: 'u', name: 'n', kind: 'k', apiVersion: 'v1'}"
    selector = "Object.spec.selector{matchLabels: {'a': 'b'}}"
    allowed = f"Object{{metadata: Object.metadata{{ownerReferences: [{owner}]}}}}"
    policies.mutate({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": allowed}})
    policies.wait_until_mutated(lambda tree: tree["metadata"].get("ownerReferences"))
    other = Policies(api, api.namespace)
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    constraints = {"resourceRules": [rule], "namespaceSelector": other._selector}
    expression = f"Object{{spec: Object.spec{{selector: {selector}}}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    spec = {"matchConstraints": constraints, "failurePolicy": "Fail", "reinvocationPolicy": "Never"}
    other.create("mutating", {**spec, "mutations": [mutation]})
    try:
        denied = until_denied(api, other)
    finally:
        other.remove()
    atomic = "may not mutate atomic arrays, maps or structs: .spec.selector"
    why = f"error applying patch: invalid ApplyConfiguration: {atomic}"
    assert denied["message"] == f"policy '{other.name}' with binding '{other.name}' denied request: {why}"


def until_denied(api: API, policies: Policies) -> Tree:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    path = f"{api.path('deployments', version='apps/v1')}?dryRun=All"
    for _ in range(2000):
        response = api.post(path, {"metadata": {"name": "a"}, "spec": spec})
        if response.status == 403:
            return response.json
    raise AssertionError("the policy is not enforced")


# --- Webhooks ---------------------------------------------------------------------------------------------------------


def json_patch(*operations: Any) -> Tree:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def test_a_webhook_that_hangs_fails_the_request(hooks: Hooks, api: API):
    def hang(_: Tree) -> Tree:
        hooks.released.wait(20)
        return {}

    hooks.add("validating", hang, timeoutSeconds=1)
    failed = create(api)
    hooks.released.set()
    message = failed.failed(500, "InternalError")["message"]
    name = f"{hooks.name}.example.com"
    assert message.startswith(
        f'Internal error occurred: failed calling webhook "{name}": failed to call webhook: Post '
    )
    assert "context deadline exceeded" in message


def test_a_request_that_waits_longer_than_its_timeout_fails(hooks: Hooks, api: API):
    def hang(_: Tree) -> Tree:
        hooks.released.wait(20)
        return {}

    hooks.add("validating", hang, timeoutSeconds=10, failurePolicy="Ignore")
    failed = api.post(api.path("configmaps"), {"metadata": {"name": "a"}}, timeout="1s")
    hooks.released.set()
    assert failed.status == 504
    assert json.loads(failed.body)["message"] == "Timeout: request did not complete within the allotted timeout"


def test_webhooks_that_hang_are_waited_for_at_the_same_time(hooks: Hooks, api: API):
    # Each waits for the other one.
    met = threading.Barrier(2, timeout=20)

    def meet(_: Tree) -> Tree:
        met.wait()
        return {}

    hooks.add_all("validating", [("/first", meet, {}), ("/second", meet, {})])
    create(api).ok(201)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"", "0-length response with status code: 200 and content type: application/json"),
        (
            b"[]",
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of",
        ),
        (b"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (
            {"allowed": "yes"},
            "cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of",
        ),
        (
            {"warnings": "one"},
            "cannot unmarshal string into Go struct field AdmissionResponse.response.warnings of",
        ),
        ({"auditAnnotations": {"a": 1}}, "struct field AdmissionResponse.response.auditAnnotations of type string"),
        (
            {"status": {"code": "403"}},
            "cannot unmarshal string into Go struct field Status.response.status.code of",
        ),
        ({"patch": 5}, "cannot unmarshal number into Go struct field AdmissionResponse.response.patch of type []uint8"),
        (PlainAnswer(404, "404 page not found"), "the server could not find the requested resource"),
        (PlainAnswer(403, "go away"), "go away"),
        (
            PlainAnswer(500, 'a "b"'),
            'an error on the server ("a \\"b\\"") has prevented the request from succeeding',
        ),
        (PlainAnswer(503, ""), "the server is currently unable to handle the request"),
        (
            b'{"apiVersion": "admission.k8s.io/v2", "kind": "AdmissionReview"}',
            'no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" in scheme',
        ),
    ],
)
@pytest.mark.parametrize("kind", ["mutating", "validating"])
def test_a_response_that_cannot_be_read_fails_the_request(hooks: Hooks, api: API, kind: str, answer: Any, problem: str):
    hooks.add(kind, lambda _: answer)
    failed = create(api).failed(500, "InternalError")
    why = f'failed calling webhook "{hooks.name}.example.com": failed to call webhook: '
    message = failed["message"]
    assert message.startswith(f"Internal error occurred: {why}{problem}") or problem in message
    assert failed["details"] == {"causes": [{"message": message.removeprefix("Internal error occurred: ")}]}


def test_a_webhook_that_does_not_listen_fails_the_request(hooks: Hooks, api: API):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    hooks.add_all(
        "validating",
        [("/hook", lambda _: {}, {}), ("/other", lambda _: {}, {"clientConfig": {"url": f"https://{address}/hook"}})],
    )
    message = create(api).failed(500, "InternalError")["message"]
    post = f'Post "https://{address}/hook?timeout=10s"'
    assert message.endswith(f"failed to call webhook: {post}: dial tcp {address}: connect: connection refused")


def test_a_deletion_cannot_be_patched(hooks: Hooks, api: API):
    create(api).ok(201)
    hooks.add("mutating", lambda _: json_patch({"op": "add", "path": "/data", "value": {}}))
    message = api.delete(api.path("configmaps", "a")).failed(500, "InternalError")["message"]
    why = "attempted to modify the object, which is not supported for this operation"
    assert message == f'Internal error occurred: admission webhook "{hooks.name}.example.com" {why}'


@pytest.mark.parametrize(
    ("answer", "code", "problem"),
    [
        (json_patch({"op": "replace", "path": "/kind", "value": "Secret"}), 500, "Internal error occurred: "),
        (
            json_patch({"op": "replace", "path": "/metadata", "value": "none"}),
            500,
            "json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
        ),
        (json_patch({"op": "add", "path": "/data", "value": {"a b": "c"}}), 422, 'ConfigMap "a" is invalid: data[a b]'),
        ({**json_patch({"op": "test"}), "patchType": "Strategic"}, 500, 'unsupported patch type "Strategic"'),
        (
            {"patchType": "JSONPatch", "patch": "e30="},
            500,
            "received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type",
        ),
        (
            {"patchType": "JSONPatch", "patch": "e3!="},
            500,
            "illegal base64 data at input byte 2",
        ),
        ({"patchType": "JSONPatch"}, 500, "webhook returned response.patchType but not response.patch"),
    ],
)
def test_a_patch_that_breaks_the_object_fails_the_request(
    hooks: Hooks, api: API, answer: Tree, code: int, problem: str
):
    hooks.add("mutating", lambda _: answer)
    failed = create(api, a="1")
    assert (failed.status, problem in failed.json["message"]) == (code, True), failed.json
    assert api.get(api.path("configmaps", "a")).status == 404


def test_a_patch_may_change_the_name_of_a_new_object(hooks: Hooks, api: API):
    hooks.add("mutating", lambda _: json_patch({"op": "replace", "path": "/metadata/name", "value": "b"}))
    assert create(api, a="1").ok(201)["metadata"]["name"] == "b"
    assert api.get(api.path("configmaps", "b")).status == 200


def test_a_validating_webhook_may_not_patch(hooks: Hooks, api: API):
    hooks.add("validating", lambda _: json_patch({"op": "add", "path": "/data", "value": {}}))
    failed = create(api)
    assert failed.status == 500
    why = "received invalid webhook response: validating webhook may not return response.patch"
    assert failed.json["message"].endswith(why)


# --- Definitions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "field", "problem"),
    [
        ({"properties": {"spec": {"type": "object"}}}, "type", "Required value: must not be empty at the root"),
        ({"type": "array", "items": {"type": "string"}}, "type", 'Invalid value: "array": must be object at the root'),
        ({"type": "object", "properties": {"a": {}}}, "properties[a].type", "Required value: must not be empty for "),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
            "properties[a].pattern",
            'Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp',
        ),
        (
            {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
            "properties[a].default",
            'Invalid value: "string":  in body must be of type integer: "string"',
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            "properties[a].items",
            "Required value: must be specified",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
            "properties[a].items",
            "Forbidden: items must be a schema object and not an array",
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/definitions/a"}}},
            "properties[a].$ref",
            "Forbidden: $ref is not supported",
        ),
    ],
)
def test_a_definition_with_a_broken_schema_is_refused(api: API, schema: Tree, field: str, problem: str):
    group = f"g{secrets.token_hex(4)}.example.com"
    status = api.post(f"{DEFINITIONS}?dryRun=All", definition(group, version("v1", schema))).failed(422, "Invalid")
    found = {cause["field"]: cause["message"] for cause in status["details"]["causes"]}
    path = f"spec.validation.openAPIV3Schema.{field}"
    assert path in found, found
    assert found[path].startswith(problem)
