"""Rules of custom resources: `x-kubernetes-validations`."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.definitions import DEFINITIONS, Widgets, definition, spec_of, version

SPEC = {"replicas": {"type": "integer"}, "max": {"type": "integer"}, "title": {"type": "string", "maxLength": 10}}


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    yield found
    found.remove()


def with_rules(*rules: dict[str, Any], **properties: Any) -> dict[str, Any]:
    schema = spec_of(**(properties or SPEC))
    schema["properties"]["spec"]["x-kubernetes-validations"] = list(rules)
    return version(schema=schema)


def create(widgets: Widgets, name: str = "a", **spec: Any) -> Any:
    kind = {"apiVersion": f"{widgets.group}/v1", "kind": "Widget"}
    return widgets.api.post(widgets.path(), {**kind, "metadata": {"name": name}, "spec": spec})


def causes(response: Any) -> list[tuple[str, str, str]]:
    assert response.status == 422, response.body
    return [(each["reason"], each["field"], each["message"]) for each in response.json["details"]["causes"]]


def test_a_rule_rejects_an_object_with_its_message(widgets: Widgets):
    rule = "self.replicas <= self.max"
    widgets.define(with_rules({"rule": rule}, {"rule": "self.replicas > 0", "message": " must be positive "}))
    assert create(widgets, replicas=1, max=2).status == 201
    assert causes(create(widgets, "b", replicas=3, max=2)) == [
        ("FieldValueInvalid", "spec", f"Invalid value: failed rule: {rule}")
    ]
    assert causes(create(widgets, "b", replicas=-1, max=2)) == [
        ("FieldValueInvalid", "spec", "Invalid value: must be positive")
    ]


def test_a_message_expression_a_reason_and_a_field_path_are_used(widgets: Widgets):
    rule = {
        "rule": "self.replicas <= self.max",
        "messageExpression": "'%d is more than %d'.format([self.replicas, self.max])",
        "reason": "FieldValueForbidden",
        "fieldPath": ".replicas",
    }
    widgets.define(with_rules(rule))
    assert causes(create(widgets, replicas=3, max=2)) == [
        ("FieldValueForbidden", "spec.replicas", "Forbidden: 3 is more than 2")
    ]


def test_a_rule_that_fails_names_the_error(widgets: Widgets):
    widgets.define(with_rules({"rule": "self.replicas <= self.max"}))
    message = 'Invalid value: "object": no such key: max evaluating rule: self.replicas <= self.max'
    assert causes(create(widgets, replicas=3)) == [("FieldValueInvalid", "spec", message)]


def test_a_transition_rule_compares_with_the_old_object(widgets: Widgets):
    optional = {"rule": "!oldSelf.hasValue() || self.title == oldSelf.value().title", "optionalOldSelf": True}
    widgets.define(with_rules({"rule": "self.replicas >= oldSelf.replicas", "message": "may only grow"}, optional))
    made = create(widgets, replicas=3, title="a").ok(201)
    made["spec"]["replicas"] = 2
    assert causes(widgets.api.put(widgets.path("a"), made)) == [
        ("FieldValueInvalid", "spec", "Invalid value: may only grow")
    ]
    made["spec"] = {"replicas": 4, "title": "b"}
    assert causes(widgets.api.put(widgets.path("a"), made)) == [
        ("FieldValueInvalid", "spec", f"Invalid value: failed rule: {optional['rule']}")
    ]
    made["spec"]["title"] = "a"
    assert widgets.api.put(widgets.path("a"), made).status == 200


def test_rules_of_elements_name_the_element(widgets: Widgets):
    element = {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self != 'bad'"}]}
    widgets.define(version(schema=spec_of(names={"type": "array", "maxItems": 5, "items": element})))
    assert causes(create(widgets, names=["good", "bad"])) == [
        ("FieldValueInvalid", "spec.names[1]", "Invalid value: \"bad\": failed rule: self != 'bad'")
    ]


def test_rules_are_not_checked_if_the_schema_rejects_the_object(widgets: Widgets):
    widgets.define(with_rules({"rule": "self.replicas < 0"}))
    found = causes(create(widgets, replicas="many"))
    assert [reason for reason, _, _ in found] == ["FieldValueTypeInvalid", "FieldValueInvalid"]
    assert "some validation rules were not checked because the object was invalid" in found[1][2]


def test_a_rule_only_warns_of_a_value_that_an_update_does_not_change(widgets: Widgets):
    widgets.define(version(schema=spec_of(**SPEC, old={"type": "string", "maxLength": 5})))
    made = create(widgets, replicas=3, old="bad").ok(201)

    def add_rule(tree: Any) -> None:
        schema = tree["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["old"]
        schema["x-kubernetes-validations"] = [{"rule": "self != 'bad'"}]

    widgets.redefine(add_rule, "v1")
    while create(widgets, "probe", old="bad").status == 201:
        widgets.api.delete(widgets.path("probe")).ok()
    made["spec"]["replicas"] = 4
    changed = widgets.api.put(widgets.path("a"), made)
    assert changed.status == 200
    assert any("spec.old: Invalid value" in warning for warning in changed.warnings)


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"rule": "self.color == 'red'"}, "compilation failed: ERROR: <input>:1:5: undefined field 'color'"),
        ({"rule": "self.replicas + 1"}, "cel expression must evaluate to a bool"),
        ({"rule": "self.replicas == 'a'"}, "found no matching overload for '_==_' applied to '(int, string)'"),
        ({"rule": ""}, "Required value: rule is not specified"),
        ({"rule": "true", "messageExpression": "1"}, "messageExpression must evaluate to a string"),
        ({"rule": "true", "fieldPath": ".color"}, "must be a valid path"),
        ({"rule": "true", "reason": "Other"}, 'Unsupported value: "Other": supported values: "FieldValueDuplicate"'),
        ({"rule": "true", "optionalOldSelf": True}, "may not be set if oldSelf is not used in rule"),
        ({"rule": "true\n"}, ""),
        ({"rule": "true &&\ntrue"}, "message must be specified if rule contains line breaks"),
    ],
)
def test_a_definition_with_a_bad_rule_is_rejected(widgets: Widgets, rule: dict[str, Any], problem: str):
    response = widgets.api.post(f"{DEFINITIONS}?dryRun=All", definition(widgets.group, with_rules(rule)))
    assert response.status == (422 if problem else 201)
    assert problem in response.json.get("message", "")


def test_a_definition_whose_rules_could_cost_too_much_is_rejected(widgets: Widgets):
    rule = {"rule": "self.names.all(x, self.names.all(y, x == y))"}
    names = {"type": "array", "items": {"type": "string"}}
    response = widgets.api.post(DEFINITIONS, definition(widgets.group, with_rules(rule, names=names)))
    assert response.status == 422
    assert "estimated rule cost exceeds budget by factor of more than 100x" in response.json["message"]
    small = {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 20}}
    widgets.define(with_rules(rule, names=small))


def test_an_evaluation_that_costs_too_much_ends_the_validation(widgets: Widgets):
    rule = {"rule": "self.names.all(x, self.names.all(y, self.names.all(z, x + y != z)))"}
    names = {"type": "array", "maxItems": 90, "items": {"type": "string", "maxLength": 3}}
    widgets.define(with_rules(rule, names=names))
    [(_, _, message)] = causes(create(widgets, names=[str(number) for number in range(100, 190)]))
    assert "operation cancelled: actual cost limit exceeded" in message
