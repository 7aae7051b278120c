"""Models inside objects: names, special values, and unusual forms that users and servers write."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.objects.widgets import (
    JSON,
    Claim,
    Part,
    Port,
    Rule,
    Schema,
    Widget,
    WidgetSpec,
    WidgetStatus,
    failure,
    widget,
)

from listwatch.errors import DecodeError, EncodeError
from listwatch.objects.declarations.model import Model
from listwatch.objects.fields import wire_name
from listwatch.objects.metadata import ManagedFieldsEntry, ObjectMeta, OwnerReference

# --- names and shapes ------------------------------------------------------------------------------------------------


def test_attributes_have_the_wire_names_of_the_api():
    meta = ObjectMeta(
        resource_version="1", owner_references=[OwnerReference(api_version="v1", kind="K", name="n", uid="u")]
    )
    assert meta.to_dict() == {
        "resourceVersion": "1",
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
    }
    assert ObjectMeta.from_dict(meta.to_dict()) == meta
    assert Port(number=80).to_dict() == {"containerPort": 80}
    assert [wire_name(name) for name in ("spec", "binary_data", "made_at_all")] == ["spec", "binaryData", "madeAtAll"]


def test_unset_fields_are_not_sent_except_those_that_the_api_requires():
    assert Part().to_dict() == {"name": ""}
    assert Rule().to_dict() == {"verbs": []}
    assert WidgetStatus().to_dict() == {"ready": 0}
    assert WidgetSpec(replicas=0, spare=Part()).to_dict() == {
        "replicas": 0,
        "parts": [],
        "main": {"name": ""},
        "spare": {"name": ""},
    }


def test_the_repr_of_a_model_has_the_fields_that_are_set():
    assert repr(Part(name="a", image="x")) == "Part(name='a', image='x')"


def test_a_model_rejects_unknown_attributes():
    with pytest.raises(TypeError, match="imgae"):
        Part(imgae="x")  # type: ignore[call-arg]  # the mistake
    with pytest.raises(AttributeError, match="imgae"):
        Part().imgae = "x"  # type: ignore[attr-defined]  # the mistake


@pytest.mark.parametrize("copied", [Part.copy, copy.deepcopy])
def test_a_copy_of_a_model_is_independent(copied: Callable[[Any], Any]):
    part = Part(name="a", ports=[Port(number=80)], limits={"cpu": "1"})
    twin = copied(part)
    assert twin == part
    twin.ports[0].number = 81
    twin.limits["cpu"] = "2"
    assert (part.ports[0].number, part.limits) == (80, {"cpu": "1"})


def test_a_copy_of_a_model_that_holds_objects_is_independent():
    spec = WidgetSpec.from_dict({"claims": [{"metadata": {"name": "c"}, "spec": {"image": "x", "later": 1}}]})
    twin = spec.copy()
    twin.claims[0].spec.image = "y"
    assert spec.claims[0].to_dict()["spec"] == {"image": "x", "later": 1}
    assert twin.claims[0].to_dict()["spec"] == {"image": "y", "later": 1}
    assert type(twin.claims[0]) is Claim


WORDS = st.text(max_size=3)


@given(st.builds(Part, name=WORDS, image=st.none() | WORDS, limits=st.dictionaries(WORDS, st.just("1"))))
def test_a_model_is_read_back_from_its_dict(part: Part):
    assert Part.from_dict(json.loads(json.dumps(part.to_dict()))) == part
    assert part.copy() == part


@given(JSON)
def test_any_tree_is_a_model_or_one_of_our_errors(tree: Any):
    for kind in (Part, WidgetSpec, ObjectMeta, Schema):
        fields = ("name", "ports", "parts", "labels", "items", "minimum", "limits", "byName")
        for each in (tree, dict.fromkeys(fields, tree), {name: [tree] for name in fields}):
            error = failure(kind.from_dict, each)
            assert error is None or str(error).startswith(f"{kind.__name__}: ")


def test_a_model_names_the_path_of_a_mismatch():
    with pytest.raises(DecodeError, match=r"Part: ports\[1\]\.containerPort: expected int, got str"):
        Part.from_dict({"ports": [{}, {"containerPort": "80"}]})
    with pytest.raises(DecodeError, match="Part: expected object, got int"):
        Part.from_dict(5)
    with pytest.raises(DecodeError, match="Part: limits: expected str, got int"):
        Part.from_dict({"limits": {5: "1"}})


def test_trees_of_other_containers_are_read_and_not_modified():
    tree = MappingProxyType({"byName": MappingProxyType({"a": {}, "b": {"ports": ({}, {"containerPort": "x"})}})})
    with pytest.raises(DecodeError, match=r"WidgetSpec: byName\[\.\.\.\]\.ports\[1\]\.containerPort: expected int"):
        WidgetSpec.from_dict(tree)


def test_an_invalid_entry_of_a_large_map_is_found_in_few_steps():
    entries: dict[str, Any] = {str(number): str(number) for number in range(20_000)}
    entries["12345"] = []
    with pytest.raises(DecodeError, match=r"WidgetSpec: selector\[12345\]: expected str, got array"):
        WidgetSpec.from_dict({"selector": entries})
    assert len(entries) == 20_000


def test_the_path_of_an_error_is_right_although_other_entries_are_invalid_too():
    tree = {"byName": {"a": {}, "b": {"image": 5}, "c": {"name": []}, "d": 5}}
    with pytest.raises(DecodeError, match=r"WidgetSpec: byName\[b\]\.image: expected str"):
        WidgetSpec.from_dict(tree)


# --- nulls and numbers -----------------------------------------------------------------------------------------------


def test_nulls_are_empty_wherever_they_are():
    spec = WidgetSpec.from_dict(
        {
            "parts": [None, {"name": None, "image": None, "ports": None, "limits": {"cpu": None}}],
            "main": None,
            "spare": None,
            "rules": [{"verbs": None, "resources": [None]}],
            "selector": {"a": None},
            "byName": {"a": None},
            "renewals": None,
            "claims": [None],
            "schema": {"items": [None, {"minimum": None}], "inside": None},
        }
    )
    assert spec.parts == [Part(), Part(limits={"cpu": "0"})]
    assert (spec.main, spec.spare) == (Part(), None)
    assert spec.rules == [Rule(resources=[""])]
    assert (spec.selector, spec.by_name, spec.renewals) == ({"a": ""}, {"a": Part()}, [])
    assert spec.claims[0].name == ""
    assert spec.schema == Schema(items=[Schema(), Schema()])


@pytest.mark.parametrize("part", ["metadata", "spec", "status", "data", "note", "madeAt", "rank"])
def test_a_part_that_is_null_reads_as_absent_and_is_sent_as_null(part: str):
    raw = widget(**{part: None})
    obj, absent = Widget.from_wire(raw), Widget.from_wire(widget())
    name = "made_at" if part == "madeAt" else part
    assert part == "metadata" or getattr(obj, name) == getattr(absent, name)
    assert obj.metadata.labels == {}
    assert obj.to_json() == raw


def test_nulls_in_metadata_are_empty():
    nulls = {"namespace": None, "labels": {"x": None}, "finalizers": None, "managedFields": [None]}
    meta = Widget.from_wire(widget(metadata={"name": "a", **nulls})).metadata
    assert (meta.namespace, meta.labels, meta.finalizers) == ("", {"x": ""}, [])
    assert meta.managed_fields == [ManagedFieldsEntry()]


def test_fields_that_a_user_requires_read_null_as_empty_but_must_be_there():
    class Strict(Model):
        count: int
        ratio: float
        on: bool
        raw: bytes
        names: list[str]
        either: int | str

    nothing = dict.fromkeys(["count", "ratio", "on", "raw", "names", "either"])
    assert Strict.from_dict(nothing) == Strict(count=0, ratio=0.0, on=False, raw=b"", names=[], either=0)
    with pytest.raises(DecodeError, match="Strict: object missing required field names"):
        Strict.from_dict({name: None for name in nothing if name != "names"})


@pytest.mark.parametrize(("number", "quantity"), [(1, "1"), (1.5, "1.5"), (0, "0"), (-2, "-2"), (1e21, "1e+21")])
def test_numbers_are_quantities(number: float, quantity: str):
    obj = Widget.from_wire(widget(spec={"size": number, "main": {"limits": {"cpu": number}}}, rank=number))
    assert (obj.spec.size, obj.spec.main.limits, obj.rank) == (quantity, {"cpu": quantity}, quantity)
    obj.spec.replicas = 1
    assert obj.to_dict()["spec"]["size"] == number


@pytest.mark.parametrize("wrong", [True, [], {}])
def test_nothing_else_is_a_quantity(wrong: Any):
    with pytest.raises(DecodeError, match=r"Widget default/web: spec\.size: expected str"):
        _ = Widget.from_wire(widget(spec={"size": wrong})).spec


def test_an_int_or_string_keeps_its_type():
    ports = [{"target": 80}, {"target": "http"}, {"target": None}]
    obj = Widget.from_wire(widget(spec={"main": {"ports": ports}}))
    assert [port.target for port in obj.spec.main.ports] == [80, "http", None]


def test_a_union_is_decoded_by_the_shape_of_the_value():
    schema = Schema.from_dict({"items": {"items": [{"kind": "a"}, {"items": {"kind": None}}]}, "minimum": 1})
    assert schema == Schema(items=Schema(items=[Schema(kind="a"), Schema(items=Schema())]), minimum=1.0)


def test_a_type_may_contain_itself():
    tree = {"inside": {"inside": {"inside": {"minimum": None}}}}
    obj = Widget.from_wire(widget(spec={"schema": tree}))
    assert obj.spec.schema == Schema(inside=Schema(inside=Schema(inside=Schema())))


# --- times -----------------------------------------------------------------------------------------------------------

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", MOMENT),
        ("2026-01-02T03:04:05.5Z", MOMENT.replace(microsecond=500_000)),
        ("2026-01-02T03:04:05.123456Z", MOMENT.replace(microsecond=123_456)),
        ("2026-01-02T03:04:05.123456789Z", MOMENT.replace(microsecond=123_457)),
        ("2026-01-02T05:04:05+02:00", MOMENT),
    ],
)
def test_times_are_aware_and_unchanged_times_are_sent_as_received(text: str, moment: datetime):
    raw = widget(spec={"since": text, "renewed": text, "renewals": [text]}, madeAt=text)
    obj = Widget.from_wire(raw)
    assert obj.spec.since == obj.spec.renewed == obj.spec.renewals[0] == obj.made_at == moment
    assert obj.spec.since.tzinfo is not None
    assert obj.to_json() == raw
    obj.spec.replicas = 1
    obj.spec.renewals.append(MOMENT)
    sent = obj.to_dict()["spec"]
    assert (sent["since"], sent["renewed"]) == (text, text)
    assert sent["renewals"] == [text, "2026-01-02T03:04:05.000000Z"]


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001  # hypothesis requires naive bounds
def test_a_time_that_was_set_is_read_back_as_it_was(moment: datetime):
    spec = WidgetSpec(since=moment, renewed=moment)
    assert WidgetSpec.from_dict(spec.to_dict()) == spec
    assert len(spec.to_dict()["renewed"].partition(".")[2]) == len("000000Z")


def test_times_are_sent_in_utc_and_micro_times_with_six_digits():
    there = timezone(timedelta(hours=2))
    moment = MOMENT.astimezone(there)
    spec = WidgetSpec(since=moment, renewed=moment, renewals=[moment.replace(microsecond=5)])
    assert spec.to_dict() == {
        "parts": [],
        "main": {"name": ""},
        "since": "2026-01-02T03:04:05Z",
        "renewed": "2026-01-02T03:04:05.000000Z",
        "renewals": ["2026-01-02T03:04:05.000005Z"],
    }


@pytest.mark.parametrize("field", ["since", "renewed", "anything"])
def test_a_time_without_a_zone_is_rejected(field: str):
    spec = WidgetSpec(**{field: datetime(2026, 1, 2)})  # noqa: DTZ001  # that is the mistake
    with pytest.raises(EncodeError, match=rf"WidgetSpec: {field}: a time needs a time zone, as in datetime\(2026"):
        spec.to_dict()


def test_a_time_that_utc_cannot_represent_is_rejected():
    edge = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    with pytest.raises(EncodeError, match="WidgetSpec: since: in UTC, this time is outside"):
        WidgetSpec(since=edge).to_dict()


def test_a_received_time_without_a_zone_does_not_prevent_other_changes():
    obj = Widget.from_wire(widget(spec={"since": "2026-01-02T03:04:05"}))
    assert obj.spec.since is not None
    obj.spec.replicas = 1
    assert obj.to_dict()["spec"] == {"since": "2026-01-02T03:04:05", "replicas": 1}


# --- bytes and raw JSON ----------------------------------------------------------------------------------------------


def test_secrets_are_bytes_in_python_and_base64_on_the_wire():
    obj = Widget.from_wire(widget(data={"a": "aGk=", "b": ""}))
    assert obj.data == {"a": b"hi", "b": b""}
    obj.data["c"] = bytes(range(256))
    assert obj.to_dict()["data"] | {"c": None} == {"a": "aGk=", "b": "", "c": None}
    assert Widget.from_json(obj.to_json()).data["c"] == bytes(range(256))


def test_no_error_repeats_a_value():
    for data in ({"a": "hunter2?"}, {"a": ["hunter2"]}, "hunter2"):
        with pytest.raises(DecodeError) as caught:
            _ = Widget.from_wire(widget(data=data)).data
        assert "hunter2" not in str(caught.value)


def test_managed_fields_stay_json_until_they_are_read():
    entry = {"manager": "m", "fieldsV1": {"f:spec": {"f:x": {}}}, "time": "2026-01-02T03:04:05Z"}
    obj = Widget.from_wire(
        widget(metadata={"name": "a", "managedFields": [entry, {"manager": "n", "fieldsV1": None}, {}]})
    )
    first, second, third = obj.metadata.managed_fields
    assert isinstance(first.fields_v1, msgspec.Raw)
    assert (first.fields, second.fields, third.fields) == ({"f:spec": {"f:x": {}}}, {}, {})
    assert first.to_dict() == entry
    assert ManagedFieldsEntry.from_dict(entry) == first == first.copy()
    obj.metadata.labels["x"] = "y"
    assert obj.to_dict()["metadata"]["managedFields"][0] == entry
    obj.metadata.managed_fields = []
    assert "managedFields" not in obj.to_dict()["metadata"]


def test_managed_fields_that_cannot_be_decoded_are_reported():
    raw = b'{"metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:x":"\xff"}}]}}'
    entry = Widget.from_wire(raw).metadata.managed_fields[0]
    with pytest.raises(DecodeError, match="managedFields of m: fieldsV1: it is not UTF-8"):
        _ = entry.fields


def test_read_only_mappings_may_be_put_into_a_model():
    spec = WidgetSpec(selector=MappingProxyType({"a": "b"}))  # type: ignore[arg-type]  # another mapping than a dict
    assert spec.to_dict()["selector"] == {"a": "b"}
    assert spec.copy().selector == {"a": "b"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"x": float("-inf")}]])
def test_numbers_that_json_does_not_have_are_rejected(value: Any):
    with pytest.raises(EncodeError, match=r"Schema: (minimum|items).*JSON cannot represent"):
        Schema(**{"items" if isinstance(value, list) else "minimum": value}).to_dict()
