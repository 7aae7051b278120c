"""The merge of received, decoded and current values, which keeps the fields that no model knows."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import JSON, MAPS, Part, Rule, Widget, WidgetSpec, compact, widget

from listwatch.objects.json.merge import merge
from listwatch.objects.unstructured import Unstructured


def merged(came: Any, seen: Any, now: Any) -> Any:
    raw = came if isinstance(came, bytes) else compact(came)
    return json.loads(msgspec.json.encode(merge(msgspec.Raw(raw), seen, now)))


def changed(spec: dict[str, Any], change: Callable[[WidgetSpec], None]) -> dict[str, Any]:
    """What is sent for a spec that was read as a model, changed and written."""
    obj = Widget.from_wire(widget(spec=spec))
    change(obj.spec)
    sent: dict[str, Any] = obj.to_dict()["spec"]
    return sent


# --- what must hold of any merge -------------------------------------------------------------------------------------


@given(JSON, JSON)
def test_unchanged_values_are_sent_as_the_received_bytes(came: Any, seen: Any):
    raw = msgspec.Raw(compact(came))
    assert merge(raw, seen, seen) is raw


@given(JSON, JSON)
def test_without_unknown_fields_the_current_value_is_sent(came: Any, now: Any):
    assert merged(came, came, now) == now


@given(st.lists(MAPS, max_size=4), st.data())
def test_without_unknown_fields_reordered_lists_are_sent(came: list[Any], data: st.DataObject):
    now = data.draw(st.permutations(came).map(lambda items: items[1:]) | st.lists(st.sampled_from(came or [{}]) | MAPS))
    assert merged(came, came, now) == now


@given(MAPS, MAPS, MAPS)
def test_unknown_entries_of_a_map_are_kept_and_the_rest_is_current(known: dict, unknown: dict, now: dict):
    unseen = {f"later {name}": value for name, value in unknown.items()}
    assert merged({**known, **unseen}, known, now) == {**now, **unseen}


@given(st.lists(st.tuples(st.integers(0, 5), JSON), max_size=5, unique_by=lambda pair: pair[0]), st.data())
def test_unknown_fields_of_named_elements_move_with_them(named: list, data: st.DataObject):
    came = [{"name": str(name), "later": later} for name, later in named]
    seen = [{"name": str(name)} for name, _ in named]
    now = data.draw(st.permutations(seen).map(lambda items: items[: data.draw(st.integers(0, 5))]))
    now = [{**each, **data.draw(st.sampled_from([{}, {"image": "x"}]))} for each in [*now, {"name": "new"}]]
    later = {each["name"]: {"later": each["later"]} for each in came}
    assert merged(came, seen, now) == [{**later.get(each["name"], {}), **each} for each in now]


def test_a_number_equals_neither_a_boolean_nor_another_spelling():
    assert merged({"a": 1}, {"a": 1}, {"a": True}) == {"a": True}
    assert merged({"a": False}, {"a": False}, {"a": 0})["a"] is not False
    assert merge(msgspec.Raw(b'{"a":[1]}'), {"a": [1]}, {"a": [1.0]}) == {"a": [1.0]}
    assert changed({"anything": 1}, lambda spec: setattr(spec, "anything", True))["anything"] is True


# --- each level ------------------------------------------------------------------------------------------------------


def test_unknown_fields_survive_at_every_level():
    spec = {
        "later": 1.50,
        "main": {"name": "m", "later": {"a": [None]}},
        "parts": [{"name": "a", "later": "x", "ports": [{"containerPort": 80, "later": 5}]}],
        "byName": {"one": {"later": 6, "name": "n"}},
    }

    def change(now: WidgetSpec) -> None:
        now.replicas = 1
        now.main.image = "changed"
        now.parts[0].ports[0].name = "http"
        now.by_name["one"].image = "changed"

    assert changed(spec, change) == {
        "later": 1.5,
        "main": {"name": "m", "later": {"a": [None]}, "image": "changed"},
        "parts": [{"name": "a", "later": "x", "ports": [{"containerPort": 80, "later": 5, "name": "http"}]}],
        "byName": {"one": {"later": 6, "name": "n", "image": "changed"}},
        "replicas": 1,
    }


def test_fields_beside_a_change_keep_their_bytes():
    raw = (
        b'{"metadata":{"name":"a"},"spec":{"later":[1.50,"\\u00e9"],"replicas":1,"size":1.0,"selector":null,'
        b'"parts":[{"name":"a","x":1E2},{"name":"b","x":1e2}],"since":"2026-01-02T03:04:05.123456789Z"}}'
    )
    obj = Widget.from_wire(raw)
    obj.spec.parts[1].image = "new"
    obj.spec.replicas = None
    sent = raw.replace(b'"replicas":1,', b"").replace(b'"x":1e2}', b'"x":1e2,"image":"new"}')
    assert obj.to_json() == b'{"apiVersion":"example.com/v1","kind":"Widget",' + sent[1:]


PARTS = [{"name": name, "image": f"{name}:1", "later": name} for name in "abc"]


def part(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": f"{name}:1", "later": name, **more}


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        (lambda parts: parts.reverse(), [part("c"), part("b"), part("a")]),
        (lambda parts: parts.pop(0), [part("b"), part("c")]),
        (lambda parts: parts.insert(1, Part(name="n")), [part("a"), {"name": "n"}, part("b"), part("c")]),
        (lambda parts: parts.clear(), []),
        (lambda parts: setattr(parts[1], "image", "new"), [part("a"), part("b", image="new"), part("c")]),
        (lambda parts: setattr(parts[1], "name", "new"), [part("a"), {"name": "new", "image": "b:1"}, part("c")]),
        (lambda parts: parts.__setitem__(1, Part(name="b")), [part("a"), {"name": "b", "later": "b"}, part("c")]),
        (lambda parts: parts.append(Part(name="a", image="a:1")), [*PARTS, {"name": "a", "image": "a:1"}]),
        (lambda parts: (parts.pop(0), setattr(parts[0], "image", "new")), [part("b", image="new"), part("c")]),
        (lambda parts: parts.extend(parts[:1]), [*PARTS, {"name": "a", "image": "a:1"}]),
    ],
)
def test_named_elements_keep_their_unknown_fields(change: Callable[[Any], Any], sent: list[Any]):
    assert changed({"parts": PARTS}, lambda spec: change(spec.parts))["parts"] == sent


def test_an_element_is_matched_by_any_identifying_field():
    ports = [{"name": "http", "containerPort": 80, "later": 1}, {"name": "dns", "containerPort": 53, "later": 2}]

    def change(spec: WidgetSpec) -> None:
        spec.parts[0].ports[0].name = "web"
        spec.parts[0].ports[1].number = 5353

    sent = changed({"parts": [{"name": "a", "ports": ports}]}, change)["parts"][0]["ports"]
    assert [(each["name"], each["containerPort"], each["later"]) for each in sent] == [("web", 80, 1), ("dns", 5353, 2)]


def test_elements_that_share_a_name_are_distinguished_by_the_rest():
    came = [{"name": "data", "mountPath": path, "later": path} for path in ("/a", "/b")]
    seen = [{"name": "data", "mountPath": path} for path in ("/a", "/b")]
    assert merged(came, seen, [{**seen[1], "readOnly": True}]) == [{**came[1], "readOnly": True}]


def test_ports_of_one_number_are_distinguished_by_their_protocol():
    seen = [{"port": 53, "protocol": protocol} for protocol in ("TCP", "UDP")]
    came = [{**each, "later": each["protocol"]} for each in seen]
    assert merged(came, seen, [{**seen[1], "nodePort": 1}]) == [{**came[1], "nodePort": 1}]


RULES = [{"verbs": [verb], "later": verb} for verb in ("get", "list", "watch")]


@pytest.mark.parametrize(
    ("change", "later"),
    [
        (lambda rules: rules[1].verbs.append("x"), ["get", "list", "watch"]),
        (lambda rules: rules.reverse(), ["watch", "list", "get"]),
        (lambda rules: rules.pop(1), ["get", "watch"]),
        (lambda rules: rules.insert(0, Rule(verbs=["new"])), [None, "get", "list", "watch"]),
        # One was changed and another removed: the values do not show which of the two this is.
        (lambda rules: (rules.pop(0), rules[0].verbs.append("x")), [None, "watch"]),
    ],
)
def test_elements_without_a_name_are_matched_by_equality_or_order(change: Any, later: list[Any]):
    sent = changed({"rules": RULES}, lambda spec: change(spec.rules))["rules"]
    assert [each.get("later") for each in sent] == later


def test_a_replaced_struct_keeps_its_unknown_fields_and_a_removed_one_does_not():
    assert changed({"spare": {"name": "a", "later": 1}}, lambda spec: setattr(spec, "spare", Part(name="b"))) == {
        "spare": {"name": "b", "later": 1}
    }
    assert changed({"spare": {"name": "a", "later": 1}}, lambda spec: setattr(spec, "spare", None)) == {}


# --- nulls and zeros -------------------------------------------------------------------------------------------------


def test_unchanged_nulls_are_sent_back():
    spec = {
        "parts": None,
        "selector": None,
        "main": None,
        "replicas": None,
        "rules": [None, {"verbs": None}],
        "later": None,
    }
    assert changed(spec, lambda spec: setattr(spec, "size", "1")) == {**spec, "size": "1"}


def test_a_null_that_was_filled_is_sent_filled():
    def change(spec: WidgetSpec) -> None:
        spec.parts.append(Part(name="a"))
        spec.selector["x"] = "y"
        spec.main.name = "m"

    assert changed({"parts": None, "selector": None, "main": None}, change) == {
        "parts": [{"name": "a"}],
        "selector": {"x": "y"},
        "main": {"name": "m"},
    }


def test_zero_values_that_the_model_adds_are_no_change():
    assert changed({"byName": {"a": {}}}, lambda spec: setattr(spec, "replicas", 0)) == {
        "byName": {"a": {}},
        "replicas": 0,
    }


def test_a_field_set_to_none_is_sent_as_null_or_omitted():
    assert changed({"replicas": 1, "selector": {"a": "b"}}, lambda spec: setattr(spec, "replicas", None)) == {
        "selector": {"a": "b"}
    }
    assert changed({"selector": {"a": "b"}}, lambda spec: setattr(spec, "selector", {})) == {}
    assert changed({"selector": {"a": "b"}}, lambda spec: setattr(spec, "selector", None)) == {"selector": None}


def test_nested_objects_keep_unknown_fields_and_get_no_kind():
    claims = [{"metadata": {"name": "c", "later": 1}, "spec": {"name": "p", "later": 2}, "later": 3}]

    def change(spec: WidgetSpec) -> None:
        spec.claims[0].spec.image = "new"
        spec.claims[0].metadata.labels["x"] = "y"

    assert changed({"claims": claims}, lambda spec: setattr(spec, "replicas", 1)) == {"claims": claims, "replicas": 1}
    assert changed({"claims": claims}, change)["claims"] == [
        {
            "metadata": {"name": "c", "later": 1, "labels": {"x": "y"}},
            "spec": {"name": "p", "later": 2, "image": "new"},
            "later": 3,
        }
    ]


# --- the same for objects without a model ----------------------------------------------------------------------------


def test_an_unstructured_object_keeps_the_bytes_beside_a_change():
    raw = b'{"kind":"W","metadata":{"name":"a"},"spec":{"a":1.50,"b":[1e2,{"c":"\\u0041"}],"d":1}}'
    obj = Unstructured.from_wire(raw)
    obj["spec"]["d"] = 2
    obj["spec"]["b"].append(3)
    assert obj.to_json() == raw.replace(b'"d":1', b'"d":2').replace(b"}],", b"},3],")


@given(MAPS, MAPS)
def test_an_unstructured_object_sends_its_current_mapping(came: dict, now: dict):
    obj = Unstructured.from_wire(compact({"metadata": {"name": "a"}, "spec": came}))
    obj["spec"].clear()
    obj["spec"].update(now)
    assert json.loads(obj.to_json())["spec"] == now
