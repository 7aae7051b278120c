"""Custom resources: their declaration, their fields, and the message for each mistake."""

import importlib
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypedDict

import msgspec
import pytest

import listwatch as lw
from listwatch.errors import DecodeError, EncodeError
from listwatch.models.core_v1 import PodSpec
from listwatch.models.meta_v1 import Condition
from listwatch.objects import MicroTime

if TYPE_CHECKING:
    from somewhere import Elsewhere


class Mode(StrEnum):
    FAST = "Fast"
    SLOW = "Slow"


class Engine(lw.Model):
    power: int = 100
    fuel: Literal["diesel", "sail"] = "diesel"


class Route(lw.Model):
    port: str
    next: "Route | None" = None  # refers to the class itself


class FleetSpec(lw.Model):
    region: str
    ships: Annotated[int, msgspec.Meta(ge=1, le=100)] = 3
    cluster_ip: str | None = lw.field(default=None, name="clusterIP")
    from_: str | None = None
    load: lw.Quantity = lw.Quantity("1Gi")
    reserve: lw.Quantity | None = None
    since: datetime | None = None
    renewed: MicroTime | None = None
    engine: Engine = Engine()
    tags: list[str] = []  # noqa: RUF012  # each value has its own list
    limits: dict[str, lw.Quantity] = {}  # noqa: RUF012  # the same
    mode: Mode = Mode.SLOW
    first: Route | None = None
    pod: PodSpec | None = None
    port: int | str = 80
    secret: bytes = b""
    anything: Any = None


class FleetStatus(lw.Model):
    ready: int = 0
    conditions: list[Condition] = lw.field(default_factory=list)


class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
    spec: FleetSpec
    status: FleetStatus = FleetStatus()
    motto: str | None = lw.field(default=None, name="slogan")
    GREETING: ClassVar[str] = "ahoy"

    @property
    def is_ready(self) -> bool:
        return self.status.ready >= self.spec.ships


def fleet(**parts: Any) -> Fleet:
    """A fleet as a server sends it."""
    content = {
        "apiVersion": "example.com/v1",
        "kind": "Fleet",
        "metadata": {"name": "north", "namespace": "sea"},
        **parts,
    }
    return Fleet.from_wire(json.dumps(content).encode())


# --- fields ----------------------------------------------------------------------------------------------------------


def test_a_new_object_sends_its_kind_its_fields_and_their_defaults():
    new = Fleet(metadata=lw.ObjectMeta(name="north"), spec=FleetSpec(region="eu"))
    assert new.to_dict() == {
        "apiVersion": "example.com/v1",
        "kind": "Fleet",
        "metadata": {"name": "north"},
        "spec": {
            "region": "eu",
            "ships": 3,
            "load": "1Gi",
            "engine": {"power": 100, "fuel": "diesel"},
            "mode": "Slow",
            "port": 80,
            "secret": "",
        },
    }


def test_fields_are_decoded_with_their_types_and_json_names():
    spec = {
        "region": "eu",
        "ships": 7,
        "clusterIP": "10.0.0.1",
        "from": "harbour",
        "load": "500Mi",
        "reserve": 2,
        "since": "2026-01-02T03:04:05Z",
        "renewed": "2026-01-02T03:04:05.000006Z",
        "engine": {"power": 1, "fuel": "sail"},
        "tags": ["a"],
        "limits": {"cpu": "500m"},
        "mode": "Fast",
        "first": {"port": "Kiel", "next": {"port": "Oslo"}},
        "pod": {"nodeName": "n1"},
        "port": "http",
        "secret": "aGk=",
        "anything": [1, {"a": None}],
    }
    found = fleet(spec=spec, slogan="forward")
    assert (found.spec.cluster_ip, found.spec.from_, found.motto) == ("10.0.0.1", "harbour", "forward")
    assert found.spec.load + lw.Quantity("24Mi") == lw.Quantity("524Mi")
    assert (found.spec.reserve, found.spec.limits) == (lw.Quantity(2), {"cpu": lw.Quantity("0.5")})
    assert found.spec.since == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found.spec.engine == Engine(power=1, fuel="sail")
    assert found.spec.mode is Mode.FAST
    assert found.spec.first is not None
    assert found.spec.first.next == Route(port="Oslo")
    assert found.spec.pod is not None
    assert found.spec.pod.node_name == "n1"
    assert (found.spec.port, found.spec.secret, found.spec.anything) == ("http", b"hi", [1, {"a": None}])
    rebuilt = Fleet(metadata=found.metadata, spec=found.spec, motto=found.motto).to_dict()
    assert rebuilt["spec"] == {**spec, "reserve": "2", "pod": {"nodeName": "n1", "containers": []}}
    assert rebuilt["slogan"] == "forward"


def test_a_change_sends_only_what_changed_and_keeps_unknown_fields_and_spellings():
    found = fleet(spec={"region": "eu", "load": "1024Mi", "later": 1.50})
    assert (found.spec.load, found.spec.ships) == (lw.Quantity("1Gi"), 3)
    found.spec.region = "us"
    assert json.loads(found.to_json())["spec"] == {"region": "us", "load": "1024Mi", "later": 1.50}
    found.spec.load = lw.Quantity("2Gi")
    assert json.loads(found.to_json())["spec"] == {"region": "us", "load": "2Gi", "later": 1.50}


def test_a_field_that_is_set_to_its_default_is_sent():
    found = fleet(spec={"region": "eu", "ships": 7})
    found.spec.ships = 3
    assert found.to_dict()["spec"] == {"region": "eu", "ships": 3}
    assert Engine(power=100).to_dict() == {"power": 100, "fuel": "diesel"}


def test_defaults_are_not_shared():
    one, other = FleetSpec(region="a"), FleetSpec(region="b")
    one.engine.power = 1
    one.tags.append("x")
    one.limits["cpu"] = lw.Quantity(1)
    assert (other.engine.power, other.tags, other.limits) == (100, [], {})
    first, second = (Fleet(spec=FleetSpec(region="a")) for _ in range(2))
    first.status.ready = 5
    assert (second.status.ready, Fleet(spec=FleetSpec(region="a")).status.ready) == (0, 0)
    assert first.to_dict()["status"] == {"ready": 5}


class Crew(lw.Model):
    names: list[str] = lw.field(default_factory=list[str], name="crewNames")
    ranks: dict[str, int] = lw.field(default_factory=dict[str, int])


def test_a_factory_with_element_types_is_as_one_without():
    crew = Crew()
    assert (crew.names, crew.ranks, crew.to_dict()) == ([], {}, {})
    crew.names.append("ann")
    assert crew.to_dict() == {"crewNames": ["ann"]}
    assert Crew().names == []


def test_an_absent_field_with_a_default_reads_as_the_default_and_is_not_sent():
    found = fleet(spec={"region": "eu"})
    assert (found.status, found.motto, found.is_ready) == (FleetStatus(), None, False)
    assert found.to_dict().keys() == {"apiVersion", "kind", "metadata", "spec"}


def test_a_required_field_that_the_server_did_not_send_is_an_error_on_access():
    with pytest.raises(DecodeError) as caught:
        _ = fleet().spec
    assert str(caught.value) == (
        "Fleet sea/north: spec: it is missing; if it may be absent, declare `spec: FleetSpec | None = None`"
    )
    with pytest.raises(DecodeError, match="Fleet sea/north: spec: object missing required field region"):
        _ = fleet(spec={"ships": 3}).spec
    assert fleet().name == "north"


class Plain(lw.CustomResource, group="example.com", version="v1", kind="Plain"):
    spec: Engine
    data: dict[str, str] = {}  # noqa: RUF012  # each object has its own


def test_a_required_field_is_sent_even_if_it_equals_an_empty_value():
    assert Plain(spec=Engine()).to_dict()["spec"] == {"power": 100, "fuel": "diesel"}
    assert Plain(spec=Engine()).copy().to_dict()["spec"] == {"power": 100, "fuel": "diesel"}
    received = Plain.from_dict({"metadata": {"name": "a"}})
    assert received.spec == Engine()
    assert "spec" not in received.to_dict()


def test_the_constructor_needs_the_required_fields():
    with pytest.raises(TypeError) as caught:
        Fleet()  # type: ignore[call-arg]  # the mistake
    assert str(caught.value) == (
        "Fleet needs spec: pass Fleet(spec=...), or give the field a default in the class, such as "
        "`spec: FleetSpec = FleetSpec()` or `spec: FleetSpec | None = None`"
    )
    with pytest.raises(TypeError, match="Missing required argument 'region'"):
        FleetSpec()  # type: ignore[call-arg]  # the mistake


def test_constraints_are_checked_when_an_object_is_sent_and_when_it_is_read():
    with pytest.raises(EncodeError, match=r"Fleet without a name: spec.ships: expected int <= 100"):
        Fleet(spec=FleetSpec(region="eu", ships=101)).to_dict()
    with pytest.raises(DecodeError, match=r"Fleet sea/north: spec.ships: expected int >= 1"):
        _ = fleet(spec={"region": "eu", "ships": 0}).spec
    with pytest.raises(DecodeError, match=r"Fleet sea/north: spec.load: .*'1Gx'"):
        _ = fleet(spec={"region": "eu", "load": "1Gx"}).spec
    with pytest.raises(DecodeError, match=r"spec.load: expected a quantity such as '500m', got bool"):
        _ = fleet(spec={"region": "eu", "load": True}).spec
    with pytest.raises(EncodeError, match=r"spec.since: a time needs a time zone"):
        Fleet(spec=FleetSpec(region="eu", since=datetime(2026, 1, 1))).to_dict()  # noqa: DTZ001  # the mistake


class Window(lw.Model):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


class Gate(lw.CustomResource, group="example.com", version="v1", kind="Gate"):
    spec: Window


def test_a_model_may_check_its_fields_together():
    with pytest.raises(ValueError, match="low is above high"):
        Window(low=2, high=1)
    with pytest.raises(DecodeError, match="Gate without a name: spec: low is above high"):
        _ = Gate.from_wire(b'{"spec":{"low":2,"high":1}}').spec


def test_null_reads_as_the_default_and_in_a_required_field_as_an_empty_value():
    found = fleet(spec={"region": None, "load": None, "tags": None, "reserve": None}, status=None)
    assert (found.spec.region, found.spec.load, found.spec.tags, found.spec.reserve) == (
        "",
        lw.Quantity("1Gi"),
        [],
        None,
    )
    assert Loaded.from_dict({"spec": None}).spec == lw.Quantity(0)
    assert found.status == FleetStatus()


class Loaded(lw.CustomResource, group="example.com", version="v1", kind="Loaded"):
    spec: lw.Quantity


def test_a_copy_is_independent_and_equal():
    found = fleet(spec={"region": "eu", "load": "1Gi", "limits": {"cpu": "1"}})
    twin = found.copy()
    assert twin == found
    assert twin.spec.load == lw.Quantity("1Gi")
    twin.spec.limits["cpu"] = lw.Quantity(2)
    assert found.spec.limits == {"cpu": lw.Quantity(1)}


def test_a_later_version_inherits_the_fields_and_may_add_some():
    class FleetV2(Fleet, group="example.com", version="v2", kind="Fleet"):
        flag: str = ""

    new = FleetV2(spec=FleetSpec(region="eu"), flag="blue")
    assert (new.api_version, new.to_dict()["flag"]) == ("example.com/v2", "blue")
    assert FleetV2.from_dict({"spec": {"region": "eu"}}).flag == ""
    assert "flag" not in Fleet.lazy_fields


def test_only_the_documented_names_are_public():
    ours = {"spec", "status", "motto", "is_ready", "GREETING"}
    assert {name for name in dir(Fleet) if not name.startswith("_")} - ours == {
        name for name in dir(lw.Object) if not name.startswith("_")
    }


# --- mistakes in the class statement ---------------------------------------------------------------------------------

STATEMENT = 'write `class Bad(lw.CustomResource, group="example.com", version="v1", kind="Bad")`'


def declare(base: type = lw.CustomResource, name: str = "Bad", /, **keywords: Any) -> type:
    return type(base)(name, (base,), {"__module__": __name__, "__qualname__": name}, **keywords)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, f"class Bad needs group and version and kind; {STATEMENT}"),
        (
            {"group": "ships.io", "kind": "Boat"},
            "class Bad needs version; "
            'write `class Bad(lw.CustomResource, group="ships.io", version="v1", kind="Boat")`',
        ),
        (
            {"gvk": ("ships.io", "v2", "Boat")},
            "class Bad: CustomResource has no keyword gvk=; "
            'write `class Bad(lw.CustomResource, group="ships.io", version="v2", kind="Boat")`',
        ),
        (
            {"gvk": lw.GroupVersionKind("ships.io", "v2", "Boat")},
            "class Bad: CustomResource has no keyword gvk=; "
            'write `class Bad(lw.CustomResource, group="ships.io", version="v2", kind="Boat")`',
        ),
        (
            {"group": "example.com", "version": "v1", "kind": "Bad", "plural": "bads"},
            f"class Bad: CustomResource has no keyword plural=; names and scope are read from the server; {STATEMENT}",
        ),
        (
            {"group": "example.com/v1", "version": "v1", "kind": "Bad"},
            f"class Bad: 'example.com/v1' is not a valid group; {STATEMENT}",
        ),
        (
            {"group": "example", "version": "v1", "kind": "Bad"},
            f"class Bad: 'example' is not a valid group; {STATEMENT}",
        ),
        (
            {"group": "example.com", "version": "V1", "kind": "Bad"},
            f"class Bad: 'V1' is not a valid version; {STATEMENT}",
        ),
        ({"group": "example.com", "version": 1, "kind": "Bad"}, f"class Bad: 1 is not a valid version; {STATEMENT}"),
        (
            {"group": "example.com", "version": "v1", "kind": "my bad"},
            f"class Bad: 'my bad' is not a valid kind; {STATEMENT}",
        ),
    ],
)
def test_a_wrong_class_statement_is_an_error_with_the_right_one(keywords: dict[str, Any], message: str):
    with pytest.raises(TypeError) as caught:
        declare(**keywords)
    assert str(caught.value) == message


def test_a_kind_based_on_object_is_an_error_that_names_custom_resource():
    advice = STATEMENT.replace("write", "declare a kind of your own as")
    with pytest.raises(TypeError) as caught:
        declare(lw.Object, gvk=("example.com", "v1", "Bad"))
    assert str(caught.value) == f"class Bad: gvk=('example.com', 'v1', 'Bad') is not a GroupVersionKind; {advice}"

    with pytest.raises(TypeError) as caught:

        class Bad(lw.Object):
            spec: FleetSpec

    assert str(caught.value) == f"Bad.spec is an annotation and no field; {advice}"


# --- mistakes in fields ----------------------------------------------------------------------------------------------


def field_of(hint: Any, default: Any = msgspec.NODEFAULT, name: str = "spec") -> type:
    """A custom resource with one field."""
    body = {"__module__": __name__, "__qualname__": "Bad", "__annotations__": {name: hint}}
    if default is not msgspec.NODEFAULT:
        body[name] = default
    return type(lw.CustomResource)("Bad", (lw.CustomResource,), body, group="example.com", version="v1", kind="Bad")


@dataclass
class Data:
    a: int = 0


class Typed(TypedDict):
    a: int


class Named(NamedTuple):
    a: int


class Ordinary:
    a: int = 0


class Foreign(msgspec.Struct):
    a: int = 0


@pytest.mark.parametrize("hint", [Data, Typed, Named, Ordinary, Foreign])
@pytest.mark.parametrize("wrap", [lambda hint: hint, lambda hint: hint | None, lambda hint: list[hint]])
def test_a_struct_must_be_a_model(hint: Any, wrap: Any):
    name = hint.__name__
    with pytest.raises(TypeError) as caught:
        field_of(wrap(hint))
    assert str(caught.value) == f"Bad.spec: {name} is not a Model; write `class {name}(lw.Model):`"


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (set[str], "Bad.spec: JSON has no set; declare a list"),
        (tuple[int, str], "Bad.spec: JSON has no tuple; declare a list"),
        (timedelta, "Bad.spec: JSON has no timedelta; declare a str such as '1h30m', as Kubernetes writes durations"),
        (date, "Bad.spec: JSON has no date; declare a datetime with a time zone, or a str"),
        (Decimal | None, "Bad.spec: JSON has no decimal; declare a Quantity, or a str"),
        (dict[int, str], "Bad.spec: the keys of a JSON object are strings; write `dict[str, ...]`"),
        (list[dict[str, set[str]]], "Bad.spec: JSON has no set; declare a list"),
    ],
)
def test_a_type_that_json_does_not_have_is_an_error(hint: Any, message: str):
    with pytest.raises(TypeError) as caught:
        field_of(hint)
    assert str(caught.value) == message


def test_a_union_of_two_models_is_an_error():
    with pytest.raises(TypeError) as caught:
        field_of(list[Engine | Route])
    assert str(caught.value) == (
        "Bad.spec: the models in Engine | Route cannot be distinguished in JSON; "
        "declare one model with the fields of both, or a dict[str, Any]"
    )


@pytest.mark.parametrize(
    ("hint", "default", "message"),
    [
        (str, None, "Bad.spec: the default is None, but the type does not allow it; write `spec: ... | None = None`"),
        (
            FleetSpec,
            None,
            "Bad.spec: the default is None, but the type does not allow it; write `spec: ... | None = None`",
        ),
        (int, "3", "Bad.spec: the default '3' is not of the declared type: expected int, got str"),
        (Engine, [], "Bad.spec: the default [] is not of the declared type: expected object, got array"),
    ],
)
def test_a_default_of_another_type_is_an_error(hint: Any, default: Any, message: str):
    with pytest.raises(TypeError) as caught:
        field_of(hint, default)
    assert str(caught.value) == message


def test_lazy_is_an_error_that_says_to_leave_it_out():
    from listwatch.objects.fields import lazy

    with pytest.raises(TypeError) as caught:
        field_of(FleetSpec, lazy(FleetSpec))
    assert str(caught.value) == "Bad.spec: a field of a custom resource needs no lazy(); write `spec: FleetSpec`"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "labels",
            "Bad.labels: objects have an attribute of this name; "
            "write `labels_: ... = field(name=\"labels\")` for the JSON name 'labels'",
        ),
        (
            "copy",
            "Bad.copy: objects have an attribute of this name; "
            "write `copy_: ... = field(name=\"copy\")` for the JSON name 'copy'",
        ),
        ("metadata", "Bad.metadata: every object has its metadata; remove this line"),
        ("kind", "Bad.kind: pass kind= in the class statement, and remove this line"),
        ("api_version", "Bad.api_version: pass group= and version= in the class statement, and remove this line"),
        ("_cache", "Bad._cache: the name of a field cannot start with an underscore"),
    ],
)
def test_a_name_that_objects_use_is_an_error(name: str, message: str):
    with pytest.raises(TypeError) as caught:
        field_of(str, name=name)
    assert str(caught.value) == message


def test_the_suggested_name_works():
    class Good(lw.CustomResource, group="example.com", version="v1", kind="Good"):
        labels_: str = lw.field(default="", name="labels")

    assert Good(labels_="x").to_dict()["labels"] == "x"
    assert Good.from_dict({"labels": "y"}).labels_ == "y"


def test_a_value_without_an_annotation_is_an_error():
    with pytest.raises(TypeError) as caught:

        class Bad(lw.CustomResource, group="example.com", version="v1", kind="Bad"):
            size = 3

    assert str(caught.value) == "Bad.size has no annotation, so it is no field; write `size: int = 3`"

    with pytest.raises(TypeError) as caught:

        class BadSpec(lw.Model):
            size = lw.field(name="SIZE")

    assert str(caught.value) == "BadSpec.size has no annotation, so it is no field; write `size: ... = field(...)`"


def test_a_field_of_a_model_cannot_be_named_like_a_method():
    with pytest.raises(TypeError) as caught:

        class BadSpec(lw.Model):
            copy: bool = False

    assert str(caught.value) == (
        "BadSpec.copy: models have a method of this name; "
        "write `copy_: ... = field(name=\"copy\")` for the JSON name 'copy'"
    )


def test_an_annotation_that_cannot_be_resolved_is_an_error():
    with pytest.raises(TypeError) as caught:

        class Bad(lw.CustomResource, group="example.com", version="v1", kind="Bad"):
            spec: "Elsewhere"

    assert str(caught.value) == (
        "Bad.spec: the annotation 'Elsewhere' cannot be resolved, because Elsewhere is not defined; "
        "define or import Elsewhere above Bad, and not under `if TYPE_CHECKING`"
    )


class Dangling(lw.Model):
    where: "Elsewhere | None" = None


def test_an_annotation_of_a_nested_model_that_cannot_be_resolved_is_an_error():
    with pytest.raises(TypeError) as caught:
        field_of(Dangling)
    assert str(caught.value) == (
        "Dangling.where: the annotation 'Elsewhere | None' cannot be resolved, because Elsewhere is not defined; "
        "define or import Elsewhere at the top level of the module, above Bad"
    )


class Wrong(lw.Model):
    size: int = "3"  # type: ignore[assignment]  # the mistake


class Optional(lw.Model):
    size: int = None  # type: ignore[assignment]  # the mistake


class Nested(lw.Model):
    inner: list[Optional] = lw.field(default_factory=list)


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (Wrong, "Wrong.size: the default '3' is not of the declared type: expected int, got str"),
        (
            Nested,
            "Optional.size: the default is None, but the type does not allow it; write `size: ... | None = None`",
        ),
    ],
)
def test_mistakes_in_nested_models_are_found_when_the_resource_is_declared(hint: Any, message: str):
    with pytest.raises(TypeError) as caught:
        field_of(hint)
    assert str(caught.value) == message


FUTURE = """
from __future__ import annotations

import typing as t

import listwatch as lw


class Engine(lw.Model):
    power: int = 3
    tags: list[str] = []
    LIMIT: t.ClassVar[int] = 9


class ShipSpec(lw.Model):
    engines: list[Engine] = []
    engine: Engine = Engine()
    tug: ShipSpec | None = None


class Ship(lw.CustomResource, group="example.com", version="v1", kind="Ship"):
    spec: ShipSpec
    status: ShipSpec | None = None
    escort: Ship | None = None
    names: t.ClassVar[list[str]] = ["Ada"]
"""


def test_annotations_may_be_strings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ships.py").write_text(FUTURE)
    monkeypatch.syspath_prepend(tmp_path)
    ships = importlib.import_module("ships")
    spec = ships.ShipSpec(engines=[ships.Engine(power=4)], tug=ships.ShipSpec())
    ship = ships.Ship(spec=spec, escort=ships.Ship(spec=ships.ShipSpec()))
    found = ships.Ship.from_json(ship.to_json())
    assert found == ship
    assert (found.spec.engines[0].tags, found.spec.tug.engine.power, found.escort.spec.engine.power) == ([], 3, 3)
    assert (ships.Engine.LIMIT, ships.Ship.names) == (9, ["Ada"])


def test_local_classes_and_forward_references_to_them_are_resolved():
    class LocalSpec(lw.Model):
        size: int = 1

    class Local(lw.CustomResource, group="example.com", version="v1", kind="Local"):
        spec: "LocalSpec"
        parents: "list[Local]" = []  # noqa: RUF012  # each object has its own

    found = Local.from_dict({"spec": {"size": 2}, "parents": [{"metadata": {"name": "a"}, "spec": {}}]})
    assert (found.spec.size, found.parents[0].name) == (2, "a")
