"""Classes of CustomResourceDefinitions: they import, have the types of the schema, and give the same definition."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.generate.checks import schema_of
from tests.generate.example import Example
from tests.generate.varied_classes import (
    EXAMPLES,
    Defaults,
    Documented,
    Embedded,
    Enums,
    Free,
    Limits,
    Names,
    Nested,
    Optionals,
    Rules,
    Scalars,
    Scaled,
)

import listwatch as lw
from listwatch.generate import custom_resource_definitions, model_modules
from listwatch.json_value import JSONObject


class Importer:
    """Imports sources from files, as a program does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.imported: list[str] = []

    def __call__(self, source: str) -> ModuleType:
        name = f"generated_{len(self.imported)}"
        file = self._folder / f"{name}.py"
        file.write_text(source, encoding="utf-8")
        module = ModuleType(name)
        module.__file__ = str(file)
        sys.modules[name] = module
        self.imported.append(name)
        exec(compile(source, file, "exec"), vars(module))
        return module


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Importer]:
    importer = Importer(tmp_path)
    yield importer
    for name in importer.imported:
        del sys.modules[name]


def definition_of(spec: JSONObject, **more: Any) -> JSONObject:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ships.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "ships", "singular": "ship", "kind": "Ship", "listKind": "ShipList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}, **more}},
                }
            ],
        },
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.classes[0].__name__)
def test_classes_of_a_definition_give_the_same_definition(example: Example, load: Importer):
    [definition] = custom_resource_definitions(*example.classes)
    modules = [load(each.source) for each in model_modules([definition.to_dict()])]
    kind = definition.spec.names.kind
    by_version = {getattr(each, kind).gvk.version: getattr(each, kind) for each in modules}
    again = custom_resource_definitions(*(by_version[each.name] for each in definition.spec.versions))
    assert [each.to_dict() for each in again] == [definition.to_dict()]


def test_generated_classes_read_and_write_objects(load: Importer):
    spec: JSONObject = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "crew": {"type": "array", "items": {"type": "object", "properties": {"age": {"type": "integer"}}}},
            "leavesAt": {"type": "string", "format": "date-time"},
            "class": {"type": "string", "enum": ["frigate", "sloop"]},
            "clusterIPs": {"type": "array", "items": {"type": "string"}},
        },
    }
    [module] = model_modules([definition_of(spec)])
    ship = load(module.source)
    assert (module.name, module.kinds) == ("example_v1", ("Ship",))
    obj = ship.Ship(
        metadata=lw.ObjectMeta(name="a"),
        spec=ship.ShipSpec(name="Anna", crew=[ship.ShipSpecCrew(age=3)], class_="sloop", cluster_ips=["1"]),
    )
    assert obj.to_dict()["spec"] == {"name": "Anna", "crew": [{"age": 3}], "class": "sloop", "clusterIPs": ["1"]}
    assert ship.Ship.from_dict(obj.to_dict()) == obj
    assert '"""What it is called."""' in module.source


def test_keywords_without_a_python_type_are_kept(load: Importer):
    spec: JSONObject = {
        "type": "object",
        "properties": {
            "port": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535},
            "host": {"type": "string", "format": "hostname", "nullable": True},
            "free": {"type": "object", "properties": {"a": {"type": "string"}},
                     "x-kubernetes-preserve-unknown-fields": True},
            "either": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                       "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "nothing": {"type": "object"},
        },
    }  # fmt: skip
    [module] = model_modules([definition_of(spec)])
    assert schema_of(load(module.source).Ship)["properties"]["spec"] == spec


def test_equal_schemas_become_one_class(load: Importer):
    address: JSONObject = {"type": "object", "properties": {"street": {"type": "string"}}}
    spec: JSONObject = {
        "type": "object",
        "properties": {
            "from": {**address, "description": "Where it comes from."},
            "to": {**address, "description": "Where it goes to."},
        },
    }
    [module] = model_modules([definition_of(spec)])
    assert module.source.count("(lw.Model)") == 2
    assert schema_of(load(module.source).Ship)["properties"]["spec"] == spec


def test_lenient_classes_read_what_the_schema_does_not_allow(load: Importer):
    spec: JSONObject = {
        "type": "object",
        "properties": {
            "color": {"type": "string", "enum": ["red"]},
            "size": {"type": "integer", "maximum": 3},
        },
    }
    [module] = model_modules([definition_of(spec)], lenient=True)
    ship = load(module.source).Ship.from_dict({"spec": {"color": "blue", "size": 5}})
    assert (ship.spec.color, ship.spec.size) == ("blue", 5)
    [strict] = model_modules([definition_of(spec)])
    with pytest.raises(lw.errors.DecodeError, match=r"spec.color: invalid enum value 'blue'"):
        load(strict.source).Ship.from_dict({"spec": {"color": "blue", "size": 5}}).spec.color  # noqa: B018  # decodes


def test_groups_with_the_same_first_label_have_different_modules():
    one, other = definition_of({"type": "object"}), definition_of({"type": "object"})
    other["spec"] = {**other["spec"], "group": "example.org"}  # type: ignore[dict-item]  # it is an object
    assert [each.name for each in model_modules([one, other])] == ["example_com_v1", "example_org_v1"]
    assert [each.name for each in model_modules([one, other], group="example.org")] == ["example_v1"]


CHECKED = (Scalars, Defaults, Optionals, Enums, Limits, Nested, Names, Free, Embedded, Scaled, Rules, Documented)


def test_the_module_that_type_checkers_check_is_generated():
    # tests/typechecking runs mypy and pyright on it.
    definitions = [each.to_dict() for each in custom_resource_definitions(*CHECKED)]
    [module] = model_modules(definitions)
    file = Path(__file__).parents[1] / "typechecking" / "generated_models.py"
    assert file.read_text(encoding="utf-8") == module.source
