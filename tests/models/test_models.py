"""The committed models: every kind, every type, and their tables."""

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect
from tests.models.samples import filled, objects

from listwatch import models
from listwatch.errors import DecodeError
from listwatch.meta import GroupVersion
from listwatch.models import apps_v1, core_v1, meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.server.schema.schema import Shape, TypeSchema, builtin_schema


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(models.__path__):
        if "_v" in found.name:
            yield importlib.import_module(f"listwatch.models.{found.name}")


def classes(base: type) -> list[type[Any]]:
    """Every class of the models below `base`, each in the module that defines it."""
    return [
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]


def full_name(cls: type) -> str:
    return f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"


KINDS = classes(Object)
LISTS = classes(ObjectList)
STRUCTS: dict[str, list[type[Model]]] = {}
for struct in classes(Model):
    STRUCTS.setdefault(struct.__module__.rpartition(".")[2], []).append(struct)

every_module = pytest.mark.parametrize("module", STRUCTS)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=full_name)
sampled = settings(
    max_examples=max(3, settings.default.max_examples // 20),
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def parts_of(obj: Object) -> dict[str, Any]:
    return {name: getattr(obj, name) for name in obj.lazy_fields}


# --- samples ---------------------------------------------------------------------------------------------------------


def test_there_are_models_of_all_kinds() -> None:
    bodies = [meta_v1.APIResourceList, meta_v1.DeleteOptions, meta_v1.Status, meta_v1.WatchEvent]
    assert len(KINDS) + len(LISTS) + len(bodies) == 200


@every_kind
@sampled
@given(data=st.data())
def test_bytes_read_and_written_again_mean_the_same(kind: type[Object], data: st.DataObject) -> None:
    body = data.draw(objects(kind)).to_json()
    read = kind.from_json(body)
    rebuilt = kind(**parts_of(read))  # from the decoded parts alone, without the received bytes
    again = json.loads(rebuilt.to_json())
    assert {name: again[name] for name in json.loads(body)} == json.loads(body)
    assert kind.from_json(rebuilt.to_json()).to_json() == rebuilt.to_json()
    assert json.loads(read.to_json()) == json.loads(body)


@pytest.mark.parametrize(
    ("struct", "first", "last"),
    [
        (core_v1.Container, ("name", "image", "command", "args", "workingDir", "ports"), "tty"),
        (core_v1.EphemeralContainer, ("name", "image", "command"), "targetContainerName"),  # inlines another struct
        (core_v1.PodSpec, ("volumes", "initContainers", "containers"), "evictionResponders"),
        (apps_v1.DeploymentSpec, ("replicas", "selector", "template", "strategy"), "progressDeadlineSeconds"),
    ],
)
def test_fields_are_in_the_order_in_which_servers_write_them(
    struct: type[msgspec.Struct], first: tuple[str, ...], last: str
) -> None:
    names = struct.__struct_encode_fields__
    assert names[: len(first)] == first
    assert names[-1] == last


@every_kind
@sampled
@given(data=st.data())
def test_an_object_made_a_dict_and_read_again_is_equal(kind: type[Object], data: st.DataObject) -> None:
    obj = data.draw(objects(kind))
    read = kind.from_dict(obj.to_dict())
    assert read == obj
    assert parts_of(read) == parts_of(obj)


@pytest.mark.parametrize("cls", LISTS, ids=full_name)
@sampled
@given(data=st.data())
def test_a_list_read_and_written_again_is_equal(cls: type[ObjectList[Any]], data: st.DataObject) -> None:
    page = cls(data.draw(st.lists(objects(cls.item), max_size=2)))
    assert cls.from_json(page.to_json()) == page
    assert page.kind == cls.__name__


@every_module
def test_every_field_of_every_type_goes_to_the_wire_and_back(module: str) -> None:
    for cls in STRUCTS[module]:
        value = filled(inspect.type_info(cls))
        tree = value.to_dict()
        set_fields = {field.encode_name for field in msgspec.structs.fields(cls) if getattr(value, field.name)}
        assert set_fields <= tree.keys(), cls
        assert cls.from_dict(tree) == value, cls


@every_module
def test_an_empty_value_of_a_type_can_be_encoded_and_decoded(module: str) -> None:
    for cls in STRUCTS[module]:
        assert cls.from_dict(cls().to_dict()) == cls.from_dict({}) == cls(), cls


# --- tables ----------------------------------------------------------------------------------------------------------


def test_each_resource_in_the_table_is_the_one_its_model_carries() -> None:
    for resource in models.resources():
        kind = models.lookup(resource.api_version, resource.kind)
        assert kind is not None, resource
        assert kind.resource == resource
        assert kind.__module__ == f"listwatch.models.{resource.attribute}"


def test_every_kind_is_found_by_its_name() -> None:
    for kind in KINDS:
        assert kind.gvk is not None
        assert models.lookup(kind.gvk.api_version, kind.gvk.kind) is kind


def test_an_unknown_kind_is_not_found() -> None:
    assert models.lookup("example.com/v1", "Pod") is None
    assert models.lookup("v1", "Deployment") is None
    assert models.lookup("v1", "PodSpec") is None
    assert models.lookup("v1", "Object") is None
    assert models.lookup("v1", "PodList") is None
    assert models.lookup("", "") is None


def test_resources_come_in_the_order_the_server_prefers() -> None:
    versions = list(dict.fromkeys(each.group_version for each in models.resources()))
    assert versions[0] == GroupVersion("", "v1")
    assert versions.index(GroupVersion("autoscaling", "v2")) < versions.index(GroupVersion("autoscaling", "v1"))


def test_a_resource_has_its_subresources_names_and_verbs() -> None:
    pods = core_v1.Pod.resource
    assert pods is not None
    assert (pods.plural, pods.singular, pods.short_names, pods.namespaced) == ("pods", "pod", ("po",), True)
    eviction = pods.subresource("eviction")
    assert eviction is not None
    assert (str(eviction.gvk), eviction.verbs) == ("policy/v1, Kind=Eviction", ("create",))


@pytest.mark.parametrize(
    ("run", "loaded"),
    [
        ("import listwatch.models.apps_v1", {"apps_v1", "core_v1", "meta_v1"}),
        ("import listwatch.models.meta_v1", {"meta_v1"}),
        ("import listwatch.models", set()),
        ("from listwatch import models; models.resources()", {"table"}),
        ("from listwatch import models; models.lookup('coordination.k8s.io/v1', 'Lease')",
         {"table", "coordination_v1"}),
        ("from listwatch import models; models.lookup('example.com/v1', 'Lease')", {"table"}),
    ],
)  # fmt: skip
def test_a_model_imports_only_the_modules_it_needs(run: str, loaded: set[str]) -> None:
    show = "import sys; print(*(name for name in sys.modules if name.startswith('listwatch.models.')))"
    shown = subprocess.run([sys.executable, "-c", f"{run}; {show}"], capture_output=True, text=True, check=True).stdout
    assert {name.removeprefix("listwatch.models.") for name in shown.split()} == loaded


# --- the server's schema ---------------------------------------------------------------------------------------------


# The Python type of each scalar of the API, and of each type that is a value.
VALUES = {
    "string": {inspect.StrType},
    "string byte": {inspect.BytesType},
    "integer": {inspect.IntType},
    "number": {inspect.FloatType},
    "boolean": {inspect.BoolType},
    "list": {inspect.ListType},
    "map": {inspect.DictType},
    "meta.v1.Time": {inspect.DateTimeType},
    "meta.v1.MicroTime": {inspect.DateTimeType},
    "meta.v1.FieldsV1": {inspect.RawType},
    "api.resource.Quantity": {inspect.StrType},
    "pkg.runtime.RawExtension": {inspect.DictType},
    "util.intstr.IntOrString": {inspect.IntType, inspect.StrType},
    "apiextensions.v1.JSON": {inspect.AnyType},
    "apiextensions.v1.JSONSchemaPropsOrArray": {inspect.StructType, inspect.ListType},
    "apiextensions.v1.JSONSchemaPropsOrBool": {inspect.StructType, inspect.BoolType},
    "apiextensions.v1.JSONSchemaPropsOrStringArray": {inspect.StructType, inspect.ListType},
    "core.v1.PersistentVolumeClaim": {inspect.CustomType},
}


@every_kind
def test_the_servers_schema_and_the_model_agree(kind: type[Object]) -> None:
    assert kind.gvk is not None
    schema = builtin_schema().type_of(kind.gvk.api_version, kind.gvk.kind)
    assert schema is not None
    parts = {part.wire: inspect.type_info(part.type) for part in kind.lazy_fields.values()}
    assert parts.keys() | {"apiVersion", "kind"} == schema.fields.keys()
    for wire, info in parts.items():
        compare(info, schema.fields[wire].type, frozenset())


def compare(info: inspect.Type, shape: Shape, above: frozenset[str]) -> None:
    """Check that the Python type matches the shape, including all nested fields."""
    found = alternatives(info)
    name = shape.ref or (f"string {shape.format}" if shape.format == "byte" else shape.type)
    assert {type(each) for each in found} == VALUES.get(name, {inspect.StructType}), (shape, above)
    match found[0], shape:
        case ((inspect.ListType(item_type=inner) | inspect.DictType(value_type=inner)), Shape(items=Shape() as items)):
            compare(inner, items, above)
        case inspect.StructType() as struct, Shape(ref=ref) if ref not in VALUES and ref not in above:
            compare_fields(struct, builtin_schema().type(ref), above | {ref})


def alternatives(info: inspect.Type) -> list[inspect.Type]:
    """The types of a value, without None."""
    if isinstance(info, inspect.Metadata):
        return alternatives(info.type)
    if isinstance(info, inspect.VarTupleType):  # structs store lists as tuples
        return [inspect.ListType(info.item_type)]
    if isinstance(info, inspect.UnionType):
        return [each for one in info.types if not isinstance(one, inspect.NoneType) for each in alternatives(one)]
    return [info]


def compare_fields(struct: inspect.StructType, schema: TypeSchema, above: frozenset[str]) -> None:
    assert {each.encode_name for each in struct.fields} == schema.fields.keys(), schema.name
    for each in struct.fields:
        compare(each.type, schema.fields[each.encode_name].type, above)


def test_every_reference_in_the_servers_schema_leads_somewhere() -> None:
    schema = builtin_schema()
    for name in schema.type_names():
        for field in schema.type(name).fields.values():
            shape: Shape | None = field.type
            while shape:
                assert not shape.ref or schema.type(shape.ref), (name, field.name)
                shape = shape.items


def test_the_servers_schema_has_the_merge_keys_of_containers_and_volumes() -> None:
    fields = builtin_schema().type("core.v1.PodSpec").fields
    assert (fields["containers"].merge_key, fields["containers"].patch_strategies) == ("name", ("merge",))
    assert fields["volumes"].patch_strategies == ("merge", "retainKeys")
    ports = builtin_schema().type("core.v1.Container").fields["ports"]
    assert (ports.list_type, ports.map_keys, ports.merge_key) == ("map", ("containerPort", "protocol"), "containerPort")
    assert builtin_schema().type("core.v1.ContainerPort").fields["protocol"].default == "TCP"
    assert builtin_schema().type("meta.v1.LabelSelector").map_type == "atomic"


# --- YAML ------------------------------------------------------------------------------------------------------------

MANIFESTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2}
---
---
apiVersion: example.com/v1
kind: Toy
metadata: {name: bear}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: b}}
"""


def test_yaml_becomes_models_where_the_kind_is_built_in() -> None:
    deployment, toy, config = models.load_yaml(MANIFESTS)
    assert isinstance(deployment, apps_v1.Deployment)
    assert deployment.spec.replicas == 2
    assert isinstance(toy, Unstructured)
    assert toy.kind == "Toy"
    assert isinstance(config, core_v1.ConfigMap)
    assert config.data == {"a": "b"}


@pytest.mark.parametrize("text", ["- 1", "a: b", "kind: Pod", "apiVersion: v1\nkind: {}", "text"])
def test_yaml_that_is_no_object_is_refused_by_its_number(text: str) -> None:
    with pytest.raises(DecodeError, match="YAML object 2"):
        models.load_yaml(f"apiVersion: v1\nkind: Pod\n---\n{text}")
