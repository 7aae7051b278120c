"""Request bodies are decoded into objects, or rejected with the messages of the real server."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import APIError, BadRequestError, UnsupportedMediaTypeError
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import decode_body, decode_options
from listwatch.server.schema.schema import builtin_schema

SCHEMA = builtin_schema()
KINDS = {
    kind: GroupVersionKind.of(api_version, kind)
    for api_version, kind in [
        ("v1", "Pod"),
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "Service"),
        ("v1", "Event"),
        ("apps/v1", "Deployment"),
        ("coordination.k8s.io/v1", "Lease"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("example.com/v1", "Widget"),
    ]
}


def decode(body, kind="Pod", *, content_type="application/json", **options):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return decode_body(data, content_type, KINDS[kind], SCHEMA, **options)


def error_message(body, kind="Pod", **options):
    with pytest.raises(BadRequestError) as error:
        decode(body, kind, **options)
    return error.value.message


# --- Normalization ----------------------------------------------------------------------------------------------------


def test_kind_and_version_are_filled_in():
    assert decode({"metadata": {"name": "x"}}, "ConfigMap").tree == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "x"},
    }


def test_null_is_an_empty_object():
    assert decode(b"null", "ConfigMap").tree == {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}}


@pytest.mark.parametrize(
    ("kind", "sent", "stored"),
    [
        ("Pod", {"metadata": {"labels": {}, "finalizers": [], "annotations": None}}, {"metadata": {}}),
        ("Pod", {"spec": {"hostNetwork": False, "nodeName": "", "tolerations": []}}, {"spec": {}}),
        ("Pod", {"spec": {"automountServiceAccountToken": False}}, {"spec": {"automountServiceAccountToken": False}}),
        ("Pod", {"spec": {"securityContext": {}}}, {"spec": {"securityContext": {}}}),
        ("Pod", {"spec": {"runtimeClassName": ""}}, {"spec": {"runtimeClassName": ""}}),
        ("Pod", {"spec": {"containers": [{}]}}, {"spec": {"containers": [{"name": "", "resources": {}}]}}),
        ("Deployment", {"spec": {"replicas": 0, "paused": False}}, {"spec": {"replicas": 0}}),
        ("Service", {}, {"status": {"loadBalancer": {}}}),
        ("ConfigMap", {"data": {"a": "", "b": None}}, {"data": {"a": "", "b": ""}}),
        ("Secret", {"data": {"a": "YQ\n==\r\n"}}, {"data": {"a": "YQ=="}}),
        (
            "Event",
            {"firstTimestamp": "2024-01-01T00:30:00.5+01:00", "eventTime": "2024-01-01T00:00:00.000001Z"},
            {"firstTimestamp": "2023-12-31T23:30:00Z", "eventTime": "2024-01-01T00:00:00.000001Z"},
        ),
    ],
)
def test_an_object_is_normalized_as_the_api_writes_it(kind, sent, stored):
    tree = decode(sent, kind).tree
    for name, value in stored.items():
        if isinstance(value, dict):
            assert {key: tree[name].get(key) for key in value} == value
            assert tree[name].keys() - value.keys() <= {"containers", "selector", "strategy", "template"}
        else:
            assert tree[name] == value


def test_quantities_are_canonical():
    limits = {"cpu": "1000m", "memory": "1024Mi", "storage": 5, "ephemeral-storage": 1.5}
    tree = decode({"spec": {"containers": [{"resources": {"limits": limits}}]}}).tree
    assert tree["spec"]["containers"][0]["resources"]["limits"] == {
        "cpu": "1",
        "memory": "1Gi",
        "storage": "5",
        "ephemeral-storage": "1500m",
    }


@pytest.mark.parametrize(("field", "limit"), [("replicas", 2**31), ("generation", 2**63)])
def test_integers_have_as_many_bits_as_the_field(field, limit):
    def sent(value):
        return {"spec": {"replicas": value}} if field == "replicas" else {"metadata": {"generation": value}}

    for value in (-limit, limit - 1):
        tree = decode(sent(value), "Deployment").tree
        assert value in (tree["spec"].get("replicas"), tree["metadata"].get("generation"))
    for value in (-limit - 1, limit):
        assert f"cannot unmarshal number {value} into" in error_message(sent(value), "Deployment")


def test_a_null_element_is_the_zero_value():
    containers = [None, {"args": [None], "resources": {"limits": {"cpu": None}}}]
    spec = decode({"spec": {"containers": containers, "nodeSelector": {"a": None}}}).tree["spec"]
    assert spec["containers"] == [
        {"name": "", "resources": {}},
        {"name": "", "args": [""], "resources": {"limits": {"cpu": "0"}}},
    ]
    assert spec["nodeSelector"] == {"a": ""}


def test_zero_values_are_not_shared_between_objects():
    once, twice = decode({}, "Service").tree, decode({}, "Service").tree
    once["status"]["loadBalancer"]["ingress"] = []
    assert twice["status"] == {"loadBalancer": {}}


def test_an_unknown_kind_keeps_all_fields_and_has_typed_metadata():
    decoded = decode({"metadata": {"name": "w", "foo": 1, "labels": {}}, "spec": {"x": None, "y": []}}, "Widget")
    assert decoded.tree["metadata"] == {"name": "w"}
    assert decoded.tree["spec"] == {"x": None, "y": []}
    assert decoded.warnings == ('unknown field "metadata.foo"',)


def test_nested_schemas_are_decoded():
    props = {"properties": {"a": {"items": {"type": "string", "foo": 1}, "additionalProperties": True}}, "bar": 1}
    version = {"name": "v1", "schema": {"openAPIV3Schema": props}}
    decoded = decode({"spec": {"versions": [version]}}, "CustomResourceDefinition")
    found = decoded.tree["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert found == {"properties": {"a": {"items": {"type": "string"}, "additionalProperties": True}}}
    assert decoded.warnings == ('unknown field "spec.versions[0].schema.openAPIV3Schema.bar"',)


# --- Unknown and duplicate fields -------------------------------------------------------------------------------------

ODD = (
    b'{"spec":{"foo":1,"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"name":"a","bar":2},{"bar":3}]}}},'
    b'"x":{"y":1,"y":2},"metadata":{"labels":{"a":"1","a":"2"}}}'
)
PROBLEMS = (
    'unknown field "spec.foo"',
    'duplicate field "spec.replicas"',
    'unknown field "spec.template.spec.containers[0].bar"',
    'unknown field "spec.template.spec.containers[1].bar"',
    'unknown field "x"',
    'duplicate field "metadata.labels.a"',
)


def test_strict_decoding_rejects_unknown_and_duplicate_fields():
    assert error_message(ODD, "Deployment", field_validation="Strict") == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ' + ", ".join(PROBLEMS)
    )


@pytest.mark.parametrize(("strictness", "warnings"), [("Warn", PROBLEMS), ("", PROBLEMS), ("Ignore", ())])
def test_lenient_decoding_drops_unknown_and_duplicate_fields(strictness, warnings):
    decoded = decode(ODD, "Deployment", field_validation=strictness)
    assert decoded.warnings == warnings
    assert decoded.tree["spec"]["replicas"] == 2
    assert "foo" not in decoded.tree["spec"]
    assert "x" not in decoded.tree
    assert decoded.tree["metadata"]["labels"] == {"a": "2"}


def test_names_are_case_sensitive():
    assert decode({"Data": {"a": "b"}}, "ConfigMap").warnings == ('unknown field "Data"',)


def test_at_most_a_hundred_strict_errors_are_reported():
    assert len(decode({f"x{number}": 1 for number in range(200)}).warnings) == 100


@given(
    st.recursive(
        st.just('"\\u0022"') | st.just('"q\\""') | st.just("1"),
        lambda inner: st.lists(st.tuples(st.sampled_from(["a", "b", '\\"', "\\u0022"]), inner), max_size=4).map(
            lambda pairs: "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}"
        ),
        max_leaves=12,
    )
)
def test_a_duplicate_name_is_found_at_any_depth(text):
    duplicates = []

    def notice(pairs):
        duplicates.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(text, object_pairs_hook=notice)
    warnings = decode(f'{{"spec":{text}}}'.encode(), "Widget").warnings
    assert any("duplicate field" in warning for warning in warnings) == any(duplicates)


# --- Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        ("Pod", b"", "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
        ("Pod", b'{"a":', 'couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"a":)'),
        ("Pod", b'{"a":"x', "unexpected end of JSON input"),
        ("Pod", b"{x", "invalid character 'x' looking for beginning of object key string ({x)"),
        ("Pod", b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("Pod", b'{"a":[1 2]}', "invalid character '2' after array element"),
        ("Pod", b'{"a":{"b":[1]} 2}', "invalid character '2' after object key:value pair"),
        ("Pod", b'{"a" 1}', "invalid character '1' after object key"),
        ("Pod", b"{} x", "invalid character 'x' after top-level value"),
        ("Pod", b'{"a":"\n"}', "invalid character '\\n' in string literal"),
        ("Pod", b'{"a":"\\q"}', "invalid character 'q' in string escape code"),
        ("Pod", b'{"a":[1,]}', "invalid character ']' looking for beginning of value"),
        ("Pod", b'{"a":[1, \n]}', "invalid character ']' looking for beginning of value"),
        ("Pod", b"hello", "invalid character 'h' looking for beginning of value (68656c6c6f)"),
        ("Pod", b"'" * 40, "looking for beginning of value (" + "27" * 30 + " ...)"),
        ("Pod", b"\xff\xfe", "the object provided is unrecognized (must be of type Pod)"),
        ("Pod", b"[" * 100_000, "exceeded max depth"),
        ("Pod", b'{"a":' + b"9" * 5000 + b"}", "json: cannot unmarshal number into Go value of type float64"),
        ("Pod", b'{"a":1e999}', "the object provided is unrecognized (must be of type Pod)"),
        ("Pod", b'{"a":NaN}', "invalid character 'N' looking for beginning of value"),
        ("Pod", b'{"a":-Infinity}', "invalid character 'I' in numeric literal"),
        ("Pod", b'{"a":1e999}', "json: cannot unmarshal number into Go value of type float64"),
        ("Pod", b'{"a":' * 50_000, "exceeded max depth"),
        ("Pod", b"[1]", "json: cannot unmarshal array into Go value of type struct { APIVersion string"),
        ("Pod", b'{"kind":3}', "json: cannot unmarshal number into Go struct field .kind of type string"),
        ("Pod", b'{"apiVersion":"a/b/c"}', "unexpected GroupVersion string: a/b/c"),
    ],
)
def test_a_body_that_is_not_an_object_is_not_recognized(kind, body, message):
    found = error_message(body, kind)
    assert found.startswith(f"the object provided is unrecognized (must be of type {kind}): ")
    assert message in found


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (
            "Pod",
            {"apiVersion": "v1", "kind": "Service"},
            'Service in version "v1" cannot be handled as a Pod: '
            "converting (v1.Service) to (core.Pod): unknown conversion",
        ),
        (
            "Deployment",
            {"apiVersion": "v1", "kind": "Pod"},
            'Pod in version "v1" cannot be handled as a Deployment: '
            "converting (v1.Pod) to (apps.Deployment): unknown conversion",
        ),
        (
            "Pod",
            {"kind": "Foo"},
            'Foo in version "v1" cannot be handled as a Pod: '
            'no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            "Event",
            {"apiVersion": "events.k8s.io/v1"},
            "the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)",
        ),
        (
            "Widget",
            {"apiVersion": "example.com/v2"},
            "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)",
        ),
    ],
)
def test_an_object_of_another_kind_is_rejected(kind, body, message):
    assert error_message(body, kind) == message


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (
            "Deployment",
            {"spec": {"replicas": "x"}},
            "string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Deployment",
            {"spec": {"replicas": 1.5}},
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Deployment",
            {"spec": {"replicas": 2**31}},
            "number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "Deployment",
            {"spec": {"replicas": True}},
            "bool into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        ("Deployment", {"spec": "x"}, "string into Go struct field Deployment.spec of type v1.DeploymentSpec"),
        ("Pod", {"metadata": []}, "array into Go struct field Pod.metadata of type v1.ObjectMeta"),
        (
            "Pod",
            {"metadata": {"labels": {"a": 1}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            "Pod",
            {"metadata": {"labels": [1]}},
            "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            "Pod",
            {"metadata": {"finalizers": [1]}},
            "number into Go struct field ObjectMeta.metadata.finalizers of type string",
        ),
        (
            "Pod",
            {"metadata": {"creationTimestamp": 5}},
            "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            "Pod",
            {"spec": {"containers": {"a": 1}}},
            "object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            "Pod",
            {"spec": {"containers": ["a"]}},
            "string into Go struct field PodSpec.spec.containers of type v1.Container",
        ),
        (
            "Pod",
            {"spec": {"containers": [{"ports": [{"containerPort": "80"}]}]}},
            "string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            "Deployment",
            {"spec": {"strategy": {"rollingUpdate": {"maxSurge": []}}}},
            "array into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        ("Secret", {"data": {"a": 1}}, "number into Go struct field Secret.data of type []uint8"),
        ("Secret", {"immutable": "x"}, "string into Go struct field Secret.immutable of type bool"),
    ],
)
def test_a_field_of_another_type_is_rejected(kind, body, message):
    found = f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal {message}'
    assert error_message(body, kind) == found


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (
            "Pod",
            {"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("Pod", {"spec": {"overhead": {"cpu": True}}}, "quantities must match the regular expression"),
        (
            "Pod",
            {"metadata": {"creationTimestamp": "x"}},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
        ("Pod", {"metadata": {"creationTimestamp": "2024-02-30T00:00:00Z"}}, "parsing time"),
        (
            "Lease",
            {"spec": {"renewTime": "2024-01-01T00:00:00Z"}},
            'as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
        ),
        ("Secret", {"data": {"a": "x y"}}, "illegal base64 data at input byte 1"),
        ("Secret", {"data": {"a": "abc"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_a_scalar_with_an_invalid_format_is_rejected(kind, body, message):
    assert message in error_message(body, kind)


@pytest.mark.parametrize("content_type", ["text/plain", "application/protobuf", "application/xml"])
def test_an_unknown_media_type_is_not_supported(content_type):
    with pytest.raises(
        UnsupportedMediaTypeError, match="accepted media types include: application/json, application/yaml"
    ):
        decode(b"x", content_type=content_type)


@pytest.mark.parametrize("content_type", ["", "application/json; charset=utf-8", "Application/JSON"])
def test_json_is_accepted_with_parameters_and_without_a_media_type(content_type):
    assert decode({"metadata": {"name": "x"}}, content_type=content_type).tree["metadata"]["name"] == "x"


def test_an_error_does_not_contain_the_data_of_a_secret():
    assert "hush" not in error_message(b'{"data":{"a":"hush"', "Secret")
    assert "hush" not in error_message({"data": {"a": "hush!"}}, "Secret")


def test_too_deep_nesting_is_rejected():
    deep = b'{"spec":' + b'{"a":' * 600 + b"1" + b"}" * 601
    assert "exceeded max depth" in error_message(deep, "Widget")
    nested = b'{"spec":{"versions":[{"schema":{"openAPIV3Schema":' + b'{"not":' * 1500 + b"{}" + b"}" * 1500 + b"}}]}}"
    assert "exceeded max depth" in error_message(nested, "CustomResourceDefinition")


# --- YAML -------------------------------------------------------------------------------------------------------------

YAML = {"content_type": "application/yaml"}


def test_yaml_is_parsed_by_the_rules_of_the_server():
    text = b"metadata: {name: x}\ndata: {7: '2', time: 12:30, true: b, 2.5: c}\n---\nignored: document\n"
    assert decode(text, "ConfigMap", **YAML).tree["data"] == {"7": "2", "time": "12:30", "true": "b", "2.5": "c"}


@pytest.mark.parametrize("text", [b"12:30", b"2024-01-01", b"1_0x", b"0b"])
def test_yaml_scalars_that_are_neither_numbers_nor_booleans_are_strings(text):
    assert decode(b"data: {a: " + text + b"}", "ConfigMap", **YAML).tree["data"] == {"a": text.decode()}


@pytest.mark.parametrize("text", [b"5", b"1.5", b"yes", b"y", b"on", b"0x10"])
def test_yaml_numbers_and_booleans_are_not_strings(text):
    assert "cannot unmarshal" in error_message(b"data: {a: " + text + b"}", "ConfigMap", **YAML)


def test_duplicate_keys_in_yaml_are_reported():
    text = b"metadata: {name: x}\ndata:\n  a: b\n  a: c\n"
    decoded = decode(text, "ConfigMap", **YAML)
    assert decoded.tree["data"] == {"a": "c"}
    assert decoded.warnings == ('line 4: key "a" already set in map',)
    assert 'strict decoding error: yaml: unmarshal errors:\n  line 4: key "a" already set in map' in error_message(
        text, "ConfigMap", field_validation="Strict", **YAML
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: {b", "yaml: line 1: "),
        (b"a: @", "yaml: found character"),
        (b"a: !!python/object:x y", "yaml: "),
        (b"a: !!float .nan", "yaml: json: unsupported value: nan"),
        (b"? [a]\n: b", "yaml: "),
        (b"\x00", "yaml: "),
        (b"- a", "json: cannot unmarshal array"),
    ],
)
def test_invalid_yaml_is_rejected(text, message):
    assert message in error_message(text, **YAML)


def test_expansion_of_yaml_aliases_is_limited():
    bomb = b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (number, number, b",".join([b"*a%d" % (number - 1)] * 9)) for number in range(1, 9)
    )
    assert "excessive aliasing" in error_message(bomb, **YAML)


# --- Options ----------------------------------------------------------------------------------------------------------


def test_options_are_decoded():
    body = b'{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}'
    assert decode_options(body, "application/json", "DeleteOptions", SCHEMA)["preconditions"] == {"uid": "u"}
    assert decode_options(b"", "", "DeleteOptions", SCHEMA) == {}
    assert decode_options(b"null", "", "DeleteOptions", SCHEMA) == {}


@pytest.mark.parametrize("body", [b"x", b"[]", b'{"gracePeriodSeconds":"x"}'])
def test_invalid_options_are_rejected(body):
    with pytest.raises(BadRequestError):
        decode_options(body, "application/json", "DeleteOptions", SCHEMA)


# --- Random bodies ----------------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "data", "containers", "labels", "ports", "kind", "template"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.binary(max_size=60) | ANYTHING, st.sampled_from(sorted(KINDS)), st.sampled_from(["Strict", "Warn", "Ignore"]))
def test_random_bodies_are_decoded_or_rejected(body, kind, strictness):
    for content_type in ("application/json", "application/yaml"):
        with suppress(BadRequestError):
            decode(body, kind, content_type=content_type, field_validation=strictness)


@given(ANYTHING, st.sampled_from(sorted(KINDS)))
def test_a_decoded_object_decodes_to_itself(body, kind):
    try:
        tree = decode(body, kind).tree
    except APIError:
        return
    again = decode(tree, kind, field_validation="Strict")
    assert again.tree == tree


def test_an_invalid_quantity_is_reported_before_earlier_values_of_a_wrong_type():
    limits = {"limits": {"cpu": "a b"}}
    spec = {"hostname": 1, "containers": [{"name": "a", "stdin": "no", "resources": limits}]}
    assert "quantities must match" in error_message({"spec": spec})
    del limits["limits"]
    assert error_message({"spec": spec}).endswith(
        "json: cannot unmarshal number into Go struct field PodSpec.spec.hostname of type string"
    )
