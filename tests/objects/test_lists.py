"""The lists inside objects are stored as tuples until they are read, without an effect on behaviour."""

from __future__ import annotations

import copy
import gc
import inspect
import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import field
from tests.objects.widgets import Part, Port, Rule, Widget, WidgetSpec, at_once, widget

from listwatch.errors import DecodeError, EncodeError
from listwatch.models.core_v1 import Pod, PodSpec
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.untracked import is_supported

SPEC = {"parts": [{"name": "a", "ports": [{"containerPort": 80}]}], "rules": [{"verbs": ["get"]}], "renewals": []}


def read_all(value: Any) -> Any:
    """Read every field of every struct, as a debugger would."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            read_all(getattr(value, name))
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        read_all(each)
    return value


# --- reading and changing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [WidgetSpec(), WidgetSpec.from_dict({}), WidgetSpec.from_dict(SPEC)])
def test_every_read_of_a_list_gives_the_same_list(spec: WidgetSpec):
    for name in ("parts", "rules", "renewals", "claims"):
        assert type(getattr(spec, name)) is list
        assert getattr(spec, name) is getattr(spec, name)


def test_elements_added_to_a_list_are_kept_and_sent():
    obj = Widget.from_wire(widget(spec=SPEC))
    obj.spec.rules.append(Rule(verbs=["put"]))
    obj.spec.claims += []
    obj.spec.parts[0].ports.insert(0, Port(number=79))
    obj.metadata.finalizers.append("example.com/f")
    sent = obj.to_dict()
    assert [rule["verbs"] for rule in sent["spec"]["rules"]] == [["get"], ["put"]]
    assert [port["containerPort"] for port in sent["spec"]["parts"][0]["ports"]] == [79, 80]
    assert sent["metadata"]["finalizers"] == ["example.com/f"]


def test_a_list_belongs_to_its_object_also_after_the_object_was_encoded():
    obj = Widget.from_wire(widget(spec={"replicas": 1}))
    rules = obj.spec.rules
    obj.spec.replicas = 2
    assert obj.to_dict()["spec"] == {"replicas": 2}
    rules.append(Rule(verbs=["get"]))
    assert obj.to_dict()["spec"] == {"replicas": 2, "rules": [{"verbs": ["get"]}]}
    rules.clear()
    assert obj.to_dict()["spec"] == {"replicas": 2}


def test_a_list_that_was_set_is_returned_itself():
    ports = [Port(number=80)]
    part = Part(ports=ports)
    assert part.ports is ports
    part.ports = replaced = []
    assert part.ports is replaced
    part.ports = (Port(number=81),)  # type: ignore[assignment]  # as some do
    assert part.ports == [Port(number=81)]


def test_a_deleted_list_raises_attribute_error():
    part = Part()
    del part.ports
    with pytest.raises(AttributeError):
        _ = part.ports


def test_another_value_in_place_of_a_list_is_sent_unchanged_or_rejected():
    obj = Widget.from_wire(widget(spec=SPEC))
    obj.spec.rules = None  # type: ignore[assignment]  # as some do
    assert obj.spec.rules is None
    assert obj.to_dict()["spec"] == SPEC | {"rules": None}
    obj.spec.rules = 5  # type: ignore[assignment]  # an invalid value
    with pytest.raises(EncodeError, match=r"Widget default/web: spec\.rules: expected array, got int"):
        obj.to_json()


def test_the_error_of_an_invalid_element_has_its_path():
    with pytest.raises(DecodeError, match=r"Widget default/web: spec\.rules\[1\]\.verbs\[0\]: expected str, got int"):
        _ = Widget.from_wire(widget(spec={"rules": [{}, {"verbs": [5]}]})).spec
    with pytest.raises(DecodeError, match=r"Widget default/web: spec\.rules: expected array, got object"):
        _ = Widget.from_wire(widget(spec={"rules": {}})).spec


def test_lists_are_matched_as_lists():
    match WidgetSpec.from_dict(SPEC):
        case WidgetSpec(parts=[Part(name=name, ports=[Port(number=number)])], rules=[_], claims=[]):
            assert (name, number) == ("a", 80)
        case other:
            pytest.fail(f"no match: {other}")


# --- reads without effects -------------------------------------------------------------------------------------------


def test_reading_a_list_does_not_change_the_encoded_object():
    for raw in (widget(spec=SPEC), widget(spec={"main": {}, "replicas": 1}), widget()):
        obj = Widget.from_wire(raw)
        read_all(obj.spec), read_all(obj.metadata)
        assert obj.to_json() == raw
        obj.spec.replicas = 5
        assert obj.to_dict()["spec"] == {
            **json.loads(raw).get("spec", {"parts": [], "main": {"name": ""}}),
            "replicas": 5,
        }


def test_a_required_list_is_sent_empty_whether_it_was_read_or_not():
    assert Rule().to_dict() == read_all(Rule()).to_dict() == {"verbs": []}
    assert Rule.from_dict({"verbs": [], "resources": []}).to_dict() == {"verbs": []}


def test_empty_lists_inside_untyped_values_are_kept():
    tree = {"verbs": [[], {"resources": []}], "resources": []}
    spec = WidgetSpec(anything={"rule": read_all(Rule()), "tree": tree, "tuple": ({}, ())})
    assert spec.to_dict()["anything"] == {"rule": {"verbs": []}, "tree": tree, "tuple": [{}, []]}


def test_equality_of_models_does_not_depend_on_which_lists_were_read():
    one, other = WidgetSpec.from_dict(SPEC), WidgetSpec.from_dict(SPEC)
    read_all(one)
    assert one == other
    assert (one != other) is False
    assert WidgetSpec() == read_all(WidgetSpec())
    assert [read_all(WidgetSpec())] == [WidgetSpec()]
    read_all(other).parts[0].ports.append(Port())
    assert one != other
    assert WidgetSpec(rules=[Rule()]) != WidgetSpec()
    assert Part() != Port()


def kept(value: msgspec.Struct) -> list[type]:
    """The types in which the fields are stored, which only msgspec shows."""
    return [type(each) for each in msgspec.structs.astuple(value)]


def test_a_comparison_converts_no_list():
    one, other = WidgetSpec.from_dict(SPEC), WidgetSpec.from_dict(SPEC)
    read_all(one)
    before = kept(one), kept(other)
    assert one == other
    assert (kept(one), kept(other)) == before


def test_models_are_equal_while_another_thread_reads_their_lists():
    moment, moments = 0, 1
    while moment < moments:
        one, other = read_all(WidgetSpec.from_dict(SPEC)), WidgetSpec.from_dict(SPEC)
        same, moments = compared(one, other, moment)
        assert same, f"they differ if the lists are read at step {moment} of {moments}"
        moment += 1
    assert moments > 1


def compared(one: Any, other: Any, moment: int) -> tuple[bool, int]:
    """Whether both are equal if the lists of `other` are read at one step of it, and the number of steps."""
    moments = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal moments
        if moments == moment:
            read_all(other)
        moments += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        same = one == other
    finally:
        sys.settrace(before)
    return same, moments


class CountingValue:
    """Counts how often it is compared, and equals nothing."""

    times = 0

    def __eq__(self, other: object) -> bool:
        self.times += 1
        return False

    __hash__ = None  # type: ignore[assignment]  # not hashable


class Level(Model):
    names: list[str] = field(default_factory=list)
    below: Any = None


def test_a_difference_deep_inside_is_compared_once():
    counted = CountingValue()
    one, other = Level(below=counted), Level(below=CountingValue())
    for _ in range(10):
        one, other = Level(below=one), Level(below=other)
    assert other.names == []
    assert one != other
    assert counted.times == 1


@given(st.lists(st.tuples(st.sampled_from(["parts", "rules", "claims"]), st.booleans())))
def test_neither_order_nor_number_of_reads_matters(reads: list[tuple[str, bool]]):
    pair = WidgetSpec.from_dict(SPEC), WidgetSpec.from_dict(SPEC)
    for name, second in reads:
        getattr(pair[second], name)
        assert pair[0] == pair[1]
    assert pair[0].to_dict() == pair[1].to_dict() == WidgetSpec.from_dict(SPEC).to_dict()


@pytest.mark.parametrize("read", [read_all, lambda value: value])
def test_a_copy_has_lists_of_its_own(read: Any):
    spec = read(WidgetSpec.from_dict(SPEC))
    for twin in (spec.copy(), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert twin == spec
        twin.parts[0].ports.append(Port())
        twin.claims.append(None)
        assert (len(spec.parts[0].ports), spec.claims) == (1, [])
    assert copy.copy(spec) == spec
    assert msgspec.structs.replace(spec, replicas=1).rules == spec.rules


def test_a_model_prints_its_lists_unless_they_are_empty():
    assert repr(read_all(Part.from_dict({"name": "a"}))) == repr(Part(name="a")) == "Part(name='a')"
    assert repr(Rule.from_dict({"resources": ["pods"]})) == "Rule(verbs=[], resources=['pods'])"
    part = Part()
    part.ports.append(part)  # type: ignore[arg-type]  # it holds itself
    assert repr(part) == "Part(name='', ports=[...])"


def test_msgspec_decodes_and_encodes_models_directly():
    raw = b'{"verbs":["get"],"resources":["pods"]}'
    rule = msgspec.json.decode(raw, type=Rule)
    assert msgspec.json.encode(rule) == msgspec.json.encode(read_all(rule)) == raw
    assert msgspec.json.encode(msgspec.json.decode(b'{"resources":[]}', type=Rule)) == b'{"verbs":[]}'
    assert msgspec.convert({"resources": ["pods"]}, Rule).resources == ["pods"]


def test_help_shows_lists():
    assert str(inspect.signature(Rule)) == "(*, verbs: list[str] = [], resources: list[str] = [])"
    assert "either: list[str] | dict[str, list[int]] = <factory>" in str(inspect.signature(Ours))
    assert "groups: list[list[str]] = [], " in str(inspect.signature(Ours))
    assert "groups: list[list[str]] = <factory>, " in str(inspect.signature(Theirs))


# --- one's own types -------------------------------------------------------------------------------------------------


class Ours(Model, kw_only=False):
    names: list[str]
    groups: list[list[str]] = field(default_factory=list)
    either: list[str] | dict[str, list[int]] = field(default_factory=list)
    maybe: list[str] | None = None
    short: list[int] = []  # noqa: RUF012  # msgspec makes one for each
    needed: list[dict[str, int]] = field(default_factory=required_list, name="NEEDED")


class Theirs(Ours, frozen=True, kw_only=True):
    groups: list[list[str]] = field(default_factory=required_list)
    more: list[str] = field(default_factory=list)


def test_user_defined_models_may_have_lists_of_any_type():
    ours = Ours(["a"], [["b"]])
    assert (ours.names, ours.groups, ours.either, ours.maybe, ours.short, ours.needed) == (
        ["a"],
        [["b"]],
        [],
        None,
        [],
        [],
    )
    ours.either.append("x"), ours.needed.append({"y": 1})  # type: ignore[arg-type]  # of other types
    wire = {"names": ["a"], "groups": [["b"]], "either": ["x"], "NEEDED": [{"y": 1}]}
    assert ours.to_dict() == wire
    assert Ours.from_dict(wire) == ours
    assert read_all(Ours([])).to_dict() == {"names": [], "NEEDED": []}


def test_a_subclass_may_redeclare_lists_and_be_frozen():
    theirs = Theirs(["a"], more=["m"])
    assert read_all(theirs).to_dict() == {"names": ["a"], "groups": [], "NEEDED": [], "more": ["m"]}
    assert Theirs.from_dict({"names": ["a"], "groups": [["g"]]}).groups == [["g"]]
    with pytest.raises(AttributeError):
        theirs.more = []  # type: ignore[misc]  # the mistake


class Named(Model):
    names: list[str] = field(default_factory=list)


class FrozenNamed(Named, frozen=True):
    pass


class GuardedNamed(Named):
    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError(f"{name} is read-only")


@pytest.mark.parametrize("kind", [Named, FrozenNamed, GuardedNamed])
def test_lists_of_classes_that_cannot_be_assigned_to_are_changed_in_place(kind: type[Named]):
    made = kind.from_dict({"names": ["a"]})

    made.names.append("b")

    assert made.names == ["a", "b"]
    assert made.names is made.names


class Overridden(Named):
    if not TYPE_CHECKING:

        @property
        def names(self) -> list[str]:
            return [*super().names, "extra"]


def test_the_first_read_of_a_list_is_like_all_later_ones():
    made = Overridden.from_dict({"names": ["a"]})

    assert [made.names for _ in range(3)] == [["a", "extra"]] * 3


class Complete(Model, omit_defaults=False, repr_omit_defaults=False):
    names: list[str] = field(default_factory=list)


def test_a_model_without_omit_defaults_sends_and_prints_empty_lists():
    for complete in (Complete(), read_all(Complete()), Complete.from_dict({})):
        assert complete.to_dict() == {"names": []}
        assert repr(complete) == "Complete(names=[])"


class Ordered(Model, order=True):
    numbers: list[int] = field(default_factory=list)


class OrderedToo(Ordered):
    more: list[int] = field(default_factory=list)


class Frozen(Model, frozen=True, kw_only=False):
    numbers: list[int] = field(default_factory=list)


@pytest.mark.parametrize("kind", [Ordered, OrderedToo])
def test_ordered_models_compare_the_same_whichever_lists_were_read(kind: Any):
    one, other = kind.from_dict({"numbers": [1], "more": [1]}), kind.from_dict({"numbers": [2]})
    for read in (one, other):
        assert one < other
        assert not one >= other
        read_all(read)
    assert one < other


def test_frozen_models_with_lists_have_no_hash_whether_they_were_read_or_not():
    for frozen in (Frozen([1]), Frozen.from_dict({"numbers": [1]}), read_all(Frozen.from_dict({"numbers": [1]}))):
        with pytest.raises(TypeError, match="unhashable type: 'list'"):
            hash(frozen)


class Unequal(Model, eq=False, kw_only=False):
    numbers: list[int] = field(default_factory=list)


def test_models_without_equality_are_equal_only_to_themselves():
    one = Unequal([1])
    assert one == one  # that is the question
    assert (one == Unequal([1])) is False


@pytest.mark.parametrize("options", [{}, {"frozen": True, "order": True}, {"gc": True, "weakref": True, "dict": True}])
def test_models_can_be_defined_by_a_call(options: dict[str, Any]):
    fields = [("name", str), ("part_names", list[str], field(default_factory=list))]
    made: Any = msgspec.defstruct("Made", fields, bases=(Model,), **options)
    assert made.from_dict({"name": "a", "partNames": ["p"]}) == made("a", ["p"])
    assert made("a").part_names == []
    assert made("a").to_dict() == {"name": "a"}
    assert gc.is_tracked(made("a")) is options.get("gc", False)
    assert msgspec.defstruct("Empty", [], bases=(Model,))().to_dict() == {}  # type: ignore[attr-defined]  # the bases have it
    with pytest.raises(TypeError, match="Missing required argument 'name'"):
        made()


def test_a_model_cannot_declare_slots():
    with pytest.raises(TypeError, match="__slots__"):
        type(Model)("Slotted", (Model,), {"__slots__": ("a",), "__qualname__": "Slotted"})


class Clashing(Model, kw_only=True):
    tuple: str = ""
    names: list[str] = field(default_factory=list)


class Slots(Model, kw_only=True):
    names: list[str] = field(default_factory=list)
    _names_slot: list[int] = field(default_factory=list)


def test_fields_may_have_any_name():
    assert Clashing.from_dict({"names": ["a"], "tuple": "t"}) == Clashing(names=["a"], tuple="t")
    slots = Slots(names=["a"], _names_slot=[1])
    assert (slots.names, slots._names_slot) == (["a"], [1])
    assert Slots.from_dict(slots.to_dict()) == slots


class Redeclared(Ours, kw_only=True):
    groups: tuple[str, ...] = ()  # type: ignore[assignment]  # another type than in the base
    needed: dict[str, int] = field(default_factory=dict)  # type: ignore[assignment]  # the same


class RedeclaredAgain(Redeclared, kw_only=True):
    groups: list[str] = field(default_factory=list)  # type: ignore[assignment]  # the same


def test_a_subclass_may_redeclare_a_list_as_another_type():
    redeclared = Redeclared.from_dict({"names": [], "groups": ["a"], "needed": {"a": 1}})
    assert (redeclared.groups, redeclared.needed) == (("a",), {"a": 1})
    assert Redeclared([]).groups == ()
    assert RedeclaredAgain.from_dict({"names": [], "groups": ["a"]}).groups == ["a"]
    assert Ours([], [["a"]]).groups == [["a"]]


def test_a_field_that_redeclares_a_list_keeps_its_data():
    # msgspec before 0.22 drops it without an error: the base class has a property where the new field has its slot.
    tree = {"names": [], "needed": {"a": 1}}
    assert Redeclared.from_dict(tree).needed == {"a": 1}
    assert Redeclared.from_dict(tree).to_dict()["needed"] == {"a": 1}
    assert Redeclared(names=[], needed={"a": 1}).needed == {"a": 1}


class WithOwnProperty(Ours, kw_only=True):
    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)

    @property
    def groups(self) -> list[list[str]]:  # type: ignore[override]  # of the program
        return [["of the program"]]


class InheritsOwnProperty(WithOwnProperty, kw_only=True):
    pass


@pytest.mark.parametrize("kind", [WithOwnProperty, InheritsOwnProperty])
def test_a_property_of_a_program_that_hides_a_list_is_inherited(kind: type[Ours]):
    assert kind.from_dict({"names": [], "groups": [["a"]]}).groups == [["of the program"]]


# --- the collector and threads ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not is_supported, reason="this interpreter does not track changed dicts again")
def test_no_part_of_an_object_is_tracked_after_all_parts_were_read():
    body = {"containers": [{"name": "a", "env": [{"name": "b"}]}], "volumes": [{"name": "v", "emptyDir": {}}]}
    metadata = {"name": "p", "ownerReferences": [{"name": "o"}], "managedFields": [{"manager": "m"}]}
    pods = [Pod.from_wire(json.dumps({"metadata": metadata, "spec": body}).encode()) for _ in range(20)]
    for part in (PodSpec(), pods[0].spec, pods[0].metadata, pods[0].status):  # objects that are created once
        read_all(part)
    gc.collect()
    before = len(gc.get_objects())
    for pod in pods:
        read_all(pod.spec), read_all(pod.metadata), read_all(pod.status)
    gc.collect()
    assert len(gc.get_objects()) - before < len(pods)


def test_concurrent_reads_of_a_list_return_the_same_list():
    metas = [ObjectMeta.from_dict({"finalizers": ["a"]}) for _ in range(5000)]
    found: list[list[list[str]]] = []
    at_once([lambda: found.append([meta.finalizers for meta in metas])] * 4)
    for each in found:
        assert all(one is meta.finalizers for one, meta in zip(each, metas, strict=True))
