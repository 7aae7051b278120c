"""A client can get its own requests rejected, but cannot stop, crash or fill the server.

Each test attacks the server over HTTP. After each attack the fixture checks that the server still responds to others.
"""

import asyncio
import base64
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.server.caller import CONFIG_MAPS, Caller, Reply, config_map

from listwatch.objects.yaml.manifests import read_one
from listwatch.server import APIServer

Tree = Any

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
YAML = {"Content_Type": "application/yaml"}
MERGE = {"Content_Type": "application/merge-patch+json"}
JSON_PATCH = {"Content_Type": "application/json-patch+json"}
APPLY = {"Content_Type": "application/apply-patch+yaml"}
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server
        await check_alive(server)


@pytest.fixture
async def call(server: APIServer) -> AsyncIterator[Caller]:
    async with Caller(server) as call:
        yield call


async def check_alive(server: APIServer) -> None:
    """Another client can read and write."""
    async with asyncio.timeout(30), Caller(server) as call:
        await call.create("good", generateName="")
        reply = await call("GET", f"{CONFIG_MAPS}/good")
        assert reply.status == 200, reply.body
        await call.delete("good")


def message(reply: Reply) -> str:
    assert reply.json["kind"] == "Status", reply.body
    return reply.json["message"]


async def define(call: Caller, schema: Tree) -> Reply:
    """Create the definition of widgets with a schema for their spec."""
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    whole = {"type": "object", "properties": {"spec": schema}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return await call("POST", DEFINITIONS, {"metadata": {"name": "widgets.example.com"}, "spec": spec})


def widget(spec: Tree, name: str = "w") -> Tree:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def nested(depth: int, inner: bytes = b"1") -> bytes:
    return b'{"a":' * depth + inner + b"}" * depth


# --- Depth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b"{a: " * 30_000,
        b"- " * 60_000,
        b"? " * 60_000,
        b"[" * 60_000 + b"]" * 60_000,
        b"".join(b" " * depth + b"a:\n" for depth in range(1500)),
        b"a: &a " + b"[" * 1000 + b"*a" + b"]" * 1000,
    ],
    ids=["flow lists", "flow maps", "block lists", "complex keys", "closed lists", "block maps", "alias of itself"],
)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_yaml_that_nests_without_end_is_rejected(call: Caller, method: str, body: bytes):
    if method == "POST":
        reply = await call("POST", CONFIG_MAPS, body, **YAML)
    else:
        path = f"{CONFIG_MAPS}/x?fieldManager=me"
        reply = await call("PATCH", path, body, **APPLY)
    assert reply.status == 400
    assert "exceeded max depth" in message(reply)


async def test_the_aliases_of_a_yaml_body_cannot_expand_without_end(call: Caller):
    levels = b"a0: &a0 {x: 1}\n" + b"".join(
        b"a%d: &a%d {<<: [%s]}\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
    )
    reply = await call("POST", CONFIG_MAPS, levels, **YAML)
    assert reply.status == 400
    assert "excessive aliasing" in message(reply)
    recursive = await call("POST", CONFIG_MAPS, b"a: &a [*a]", **YAML)
    assert recursive.status == 400
    assert "anchor 'a' value contains itself" in message(recursive)


async def test_a_yaml_body_with_too_many_values_is_rejected_before_they_are_read(call: Caller):
    reply = await call("POST", CONFIG_MAPS, b"[" + b"a," * 1_000_000 + b"]", **YAML)
    assert reply.status == 400
    assert "more than 200000 values" in message(reply)


@pytest.mark.parametrize("depth", [245, 251, 993, 5_000, 200_000])
async def test_json_of_any_depth_is_stored_or_rejected(call: Caller, depth: int):
    assert (await define(call, ANYTHING)).status == 201
    body = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":%s}' % nested(depth)
    created = await call("POST", WIDGETS, body)
    if depth > 250:
        assert (created.status, "exceeded max depth" in message(created)) == (400, True)
        created = await call("POST", WIDGETS, widget({}))
    assert created.status == 201
    added = b'[{"op":"add","path":"/spec/b","value":%s}]' % nested(depth - 2)
    statuses = [
        (await call("PATCH", f"{WIDGETS}/w", b'{"spec":%s}' % nested(depth, b"2"), **MERGE)).status,
        (await call("PATCH", f"{WIDGETS}/w", added, **JSON_PATCH)).status,
        (await call("PATCH", f"{WIDGETS}/w?fieldManager=me&force=1", body, **APPLY)).status,
        (await call("PATCH", f"{WIDGETS}/w?fieldManager=you&force=1", body, **APPLY)).status,
    ]
    assert statuses == ([200] * 4 if depth <= 250 else [400] * 4)
    as_yaml = await call("GET", WIDGETS, Accept="application/yaml")
    assert (as_yaml.status, len(read_one(as_yaml.body)) if depth > 250 else 0) == (200, 4 if depth > 250 else 0)
    assert (await call("GET", f"{WIDGETS}?labelSelector=a!%3Db&fieldSelector=metadata.name!%3Dx")).status == 200
    assert (await call("DELETE", f"{WIDGETS}/w")).status == 200


async def test_patches_cannot_nest_an_object_deeper_step_by_step(call: Caller):
    assert (await define(call, ANYTHING)).status == 201
    assert (await call("POST", WIDGETS, widget({}))).status == 201
    path = "/spec"
    statuses = []
    for _ in range(5):
        patch = b'[{"op":"add","path":"%s/a","value":%s}]' % (path.encode(), nested(100))
        statuses.append((await call("PATCH", f"{WIDGETS}/w", patch, **JSON_PATCH)).status)
        path += "/a" * 100
    assert statuses == [200, 200, 400, 422, 422]
    doubling = json.dumps([{"op": "copy", "from": "/spec", "path": "/spec/b"}] * 100).encode()
    assert (await call("PATCH", f"{WIDGETS}/w", doubling, **JSON_PATCH)).status in (400, 422)
    assert (await call("GET", f"{WIDGETS}/w")).status == 200
    assert (await call("DELETE", f"{WIDGETS}/w")).status == 200


@pytest.mark.parametrize("kind", ["properties", "items", "additionalProperties", "allOf", "anyOf", "not"])
@pytest.mark.parametrize("levels", [60, 115, 5_000])
async def test_schemas_of_any_depth_are_stored_or_rejected(call: Caller, kind: str, levels: int):
    schema: Tree = {"type": "object"}
    wrap: Callable[[Tree], Tree] = {
        "properties": lambda inner: {"type": "object", "properties": {"a": inner}},
        "items": lambda inner: {"type": "array", "items": inner},
        "additionalProperties": lambda inner: {"type": "object", "additionalProperties": inner},
        "allOf": lambda inner: {"allOf": [inner]},
        "anyOf": lambda inner: {"anyOf": [inner]},
        "not": lambda inner: {"not": inner},
    }[kind]
    is_junction = kind in ("allOf", "anyOf", "not")
    text = '{"minProperties":0}' if is_junction else '{"type":"object"}'
    marker = json.dumps(wrap("INNER"))
    before, after = marker.split('"INNER"')
    text = before * levels + text + after * levels
    schema = json.loads(text) if levels < 300 else "DEEP"
    outer = {"type": "object", "allOf": [schema]} if is_junction else schema
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    whole = {"type": "object", "properties": {"spec": outer}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    body = json.dumps({"metadata": {"name": "widgets.example.com"}, "spec": spec}).replace('"DEEP"', text)
    reply = await call("POST", DEFINITIONS, body.encode())
    assert reply.status in ((201,) if levels == 60 else (201, 400)), reply.body[:300]
    if reply.status == 201:
        created = await call("POST", WIDGETS, widget({} if kind != "items" else []))
        assert created.status in (201, 422), created.body[:300]


# --- Regular expressions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 50_000 + "!"),
        ("^(a|aa)+$", "a" * 50_000 + "!"),
        ("(x+x+)+y", "x" * 50_000),
        ("^(a?){500}a{500}$", "a" * 499),
        ("(.*)(.*)(.*)(.*)(.*)(.*)[^a]$", "a" * 50_000),
    ],
)
async def test_patterns_are_matched_in_linear_time(call: Caller, pattern: str, text: str):
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    assert (await define(call, schema)).status == 201
    async with asyncio.timeout(20):
        reply = await call("POST", WIDGETS, widget({"a": text}))
    assert reply.status == 422
    assert "should match" in message(reply)


async def test_a_pattern_that_takes_too_many_steps_is_a_clear_error(call: Caller):
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a|b)*a(a|b){900}c"}}}
    assert (await define(call, schema)).status == 201
    text = "".join("ab"[number * number % 7 % 2] for number in range(200_000))
    reply = await call("POST", WIDGETS, widget({"a": text}))
    assert reply.status == 413
    assert "it takes too many steps" in message(reply)


async def test_many_strings_cannot_each_take_the_steps_of_one_search(call: Caller):
    # Each text has other threads after each of its characters, so that no transition is found in the cache.
    pattern = "a" + "[ab]{1000}" * 4 + "c"
    await define(call, {"type": "array", "items": {"type": "string", "pattern": pattern}})
    texts = ["".join(random.Random(seed).choices("ab", k=1000)) for seed in range(1000)]
    reply = await call("POST", WIDGETS, widget(texts))
    assert (reply.status, reply.json["reason"]) == (413, "RequestEntityTooLarge")
    assert "too many steps" in message(reply)


async def test_the_versions_of_a_definition_are_limited(call: Caller):
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [{"name": f"v{i + 1}", "served": True, "storage": i == 0, "schema": schema} for i in range(101)]
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    reply = await call("POST", DEFINITIONS, {"metadata": {"name": "widgets.example.com"}, "spec": spec})
    assert reply.status == 422
    assert "spec.versions: Too many: 101: must have at most 100 items" in message(reply)


async def test_a_schema_cannot_multiply_the_work_of_a_validation(call: Caller):
    alternatives = [{"required": [f"a{number}"]} for number in range(3_000)]
    schema = {
        "type": "array",
        "items": {"type": "object", "anyOf": alternatives, "additionalProperties": {"type": "string"}},
    }
    assert (await define(call, schema)).status == 201
    reply = await call("POST", WIDGETS, widget([{"a2999": ""}] * 50_000))
    assert reply.status == 413
    assert "use a smaller object, or a simpler schema" in message(reply)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a++", "invalid nested repetition operator: `++`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        (r"a\Z", r"invalid escape sequence: `\Z`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[a", "missing closing ]: `[a`"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("(" * 100_000, "expression nests too deeply"),
        ("a" * 100_000, "expression too large"),
        ("(?P<n-m>a)", "invalid named capture: `(?P<n-m>`"),
        (r"\x{}", r"invalid escape sequence: `\x{}`"),
    ],
)
async def test_a_pattern_that_go_does_not_accept_is_rejected_with_its_error(call: Caller, pattern: str, problem: str):
    reply = await define(call, {"type": "string", "pattern": pattern})
    assert reply.status == 422
    assert f"must be a valid regular expression, but isn't: error parsing regexp: {problem}" in message(reply)


# --- Sizes ------------------------------------------------------------------------------------------------------------


async def test_an_error_does_not_repeat_a_long_option_for_each_of_its_characters(call: Caller):
    await call.create("a")
    reply = await call("PATCH", f"{CONFIG_MAPS}/a?fieldManager={'%01' * 20_000}", b"{}", **MERGE)
    assert (reply.status, len(reply.body) < 1_000_000) == (422, True)


async def test_an_error_names_a_bounded_number_of_problems(call: Caller):
    labels = {f"not valid {number}": "x" for number in range(30_000)}
    reply = await call("POST", CONFIG_MAPS, config_map("a", labels=labels))
    assert (reply.status, len(reply.json["details"]["causes"])) == (422, 1001)
    assert "further problems are not reported" in message(reply)


async def test_an_error_does_not_repeat_a_long_name_for_each_problem_inside_of_it(call: Caller):
    schema = {"type": "object", "additionalProperties": {"type": "object", "properties": {}}}
    assert (await define(call, schema)).status == 201
    inside = {f"f{number}": 1 for number in range(20_000)}
    async with asyncio.timeout(30):
        reply = await call("POST", f"{WIDGETS}?fieldValidation=Strict", widget({"n" * 1_000_000: inside}))
    assert (reply.status, len(reply.body) < 1_000_000) == (400, True)
    reply = await call("POST", WIDGETS, widget({"n" * 1_000_000: inside}))
    assert reply.status == 201
    assert sum(map(len, reply.headers.getall("Warning"))) < 8_000


async def test_whitespace_in_an_invalid_selector_is_skipped_in_linear_time(call: Caller):
    async with asyncio.timeout(20):
        reply = await call("GET", f"{CONFIG_MAPS}?labelSelector=%3D{'+' * 200_000}")
    assert (reply.status, message(reply)) == (400, "found '=', expected: !, identifier, or 'end of string'")


async def test_names_in_a_policy_are_compared_in_linear_time(call: Caller):
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    names = [f"n{number}" for number in range(150_000)]
    matched = {"resourceRules": [{**rule, "resourceNames": [*names, "n0"]}]}
    spec = {"matchConstraints": matched, "validations": [{"expression": "true"}]}
    async with asyncio.timeout(20):
        reply = await call(
            "POST", f"{ADMISSION}/validatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec}
        )
    assert reply.status == 422
    assert 'resourceNames[150000]: Duplicate value: "n0"' in message(reply)


async def test_tolerations_of_an_updated_pod_are_compared_in_linear_time(call: Caller):
    spec = {
        "containers": [{"name": "a", "image": "b"}],
        "tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(40_000)],
    }
    assert (await call("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})).status == 201
    change = [{"op": "replace", "path": "/spec/tolerations/39999/key", "value": "other"}]
    async with asyncio.timeout(20):
        reply = await call("PATCH", f"{PODS}/p", json.dumps(change).encode(), **JSON_PATCH)
    assert reply.status == 422
    assert "existing toleration can not be modified" in message(reply)


async def test_roles_that_aggregate_each_other_are_selected_once(call: Caller):
    labels = {"aggregated": "yes"}
    rule = {"clusterRoleSelectors": [{"matchLabels": labels}]}
    part = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    assert (await call("POST", ROLES, {"metadata": {"name": "part", "labels": labels}, "rules": [part]})).status == 201
    async with asyncio.timeout(20):
        for number in range(60):
            role = {"metadata": {"name": f"sum{number}", "labels": labels}, "aggregationRule": rule}
            assert (await call("POST", ROLES, role)).status == 201
        found = await call("GET", f"{ROLES}/sum59")
    assert found.json["rules"] == [part]


async def test_the_terms_of_a_selector_are_limited(call: Caller):
    for selector in (
        "fieldSelector=" + ",".join(f"metadata.name!%3D{number}" for number in range(1_100)),
        "labelSelector=" + ",".join(f"a!%3D{number}" for number in range(1_100)),
    ):
        reply = await call("GET", f"{CONFIG_MAPS}?{selector}")
        assert (reply.status, "more than 1000 terms" in message(reply)) == (400, True)
    values = ",".join(map(str, range(5_000)))
    assert (await call("GET", f"{CONFIG_MAPS}?labelSelector=a+in+({values})")).status == 200


# --- Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [b"1" * 5_000, b"1e400", b"NaN", b"-Infinity", b'"\\ud800"', b'"\xff"', b'"\xed\xa0\x80"', b'{"\\ud800":1}'],
    ids=["digits", "exponent", "NaN", "infinity", "lone surrogate", "not UTF-8", "encoded surrogate", "in a name"],
)
async def test_values_that_json_or_unicode_does_not_have_never_hide_other_objects(call: Caller, value: bytes):
    assert (await define(call, ANYTHING)).status == 201
    assert (await call("POST", WIDGETS, widget({}, name="other"))).status == 201
    body = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":%s}}' % value
    assert (await call("POST", WIDGETS, body)).status in (201, 400)
    for accept in ("application/json", "application/yaml"):
        listed = await call("GET", WIDGETS, Accept=accept)
        assert (listed.status, b"name: other" in listed.body or b'"name":"other"' in listed.body) == (200, True)


@pytest.mark.parametrize(
    "token",
    [
        {"v": "meta.k8s.io/v1", "rv": 10**100, "start": "a"},
        {"v": "meta.k8s.io/v1", "rv": 2**63 - 1, "start": "a"},
        {"v": "meta.k8s.io/v1", "rv": -(10**30), "start": "\0"},
        {"v": "meta.k8s.io/v1", "rv": 1.5, "start": "a"},
        {"v": "meta.k8s.io/v1", "rv": 5, "start": "\ud800"},
        {"v": "meta.k8s.io/v1", "rv": 5, "start": "../../etc"},
        [[]],
    ],
)
async def test_a_forged_continue_token_is_not_an_internal_error(call: Caller, token: Tree):
    text = base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")
    reply = await call("GET", f"{CONFIG_MAPS}?limit=1&continue={text}")
    assert reply.status in (200, 400, 410, 504)


async def test_owners_in_a_cycle_are_deleted(call: Caller):
    first, second = await call.create("first"), await call.create("second")
    for each, owner in ((first, second), (second, first)):
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}
        reference |= {"uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
        patch = json.dumps({"metadata": {"ownerReferences": [reference]}}).encode()
        assert (await call("PATCH", f"{CONFIG_MAPS}/{each['metadata']['name']}", patch, **MERGE)).status == 200
    reply = await call("DELETE", f"{CONFIG_MAPS}/first", {"propagationPolicy": "Foreground"})
    assert reply.status == 200
    assert {(await call("GET", f"{CONFIG_MAPS}/{name}")).status for name in ("first", "second")} == {404}
