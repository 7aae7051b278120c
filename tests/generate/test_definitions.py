"""CustomResourceDefinitions of classes: what servers accept, what is expressed, and errors for what cannot be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta
from tests.generate import varied_classes
from tests.generate.checks import check_accepted, kind_with, schema_of, types_of
from tests.generate.example import Example
from tests.generate.varied_classes import EXAMPLES

import listwatch as lw
from listwatch.generate import GenerateError, custom_resource_definitions
from listwatch.models.apiextensions_v1 import JSONSchemaProps
from listwatch.server import APIServer


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.classes[0].__name__)
async def test_the_embedded_server_accepts_the_definition_and_validates_with_it(example: Example):
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await check_accepted(client, example)


def test_docstrings_and_comments_become_descriptions():
    schema = schema_of(varied_classes.Documented)
    fields = schema["properties"]["spec"]["properties"]
    assert schema["description"] == "A kind with descriptions."
    assert schema["properties"]["spec"]["description"] == "The specification."
    assert {name: each.get("description") for name, each in fields.items()} == {
        "below": 'A string below the field.\n\nIt may have "quotes", a backslash \\ and several paragraphs.',
        "beside": "a comment beside the field",
        "above": "a comment above the field, of two lines",
        "meta": "A description.",
        "inner": "Another description of an inner value.",
    }


def test_a_default_has_only_what_the_defaults_inside_it_do_not_add():
    middle = schema_of(varied_classes.Nested)["properties"]["spec"]["properties"]["middle"]
    assert middle["default"] == {}
    assert middle["properties"]["inner"]["default"] == {"size": 4}


def test_a_status_has_no_default_of_its_own():
    assert "default" not in schema_of(varied_classes.Status)["properties"]["status"]


def test_the_type_of_a_column_is_that_of_its_field():
    [definition] = custom_resource_definitions(varied_classes.Scaled)
    columns = definition.spec.versions[0].additional_printer_columns
    assert {each.name: each.type for each in columns} == {
        "Replicas": "integer",
        "Ready": "integer",
        "Available": "string",
        "Age": "date",
    }


def test_a_default_that_changes_with_time_is_not_in_the_schema():
    numbers = iter(range(10))

    class Spec(lw.Model):
        number: int = lw.field(default_factory=lambda: next(numbers))

    class Numbered(lw.CustomResource, group="a.example.com", version="v1", kind="Numbered"):
        spec: Spec = Spec()

    spec = schema_of(Numbered)["properties"]["spec"]
    assert "default" not in spec["properties"]["number"]
    assert "required" not in spec


# --- what cannot be expressed ----------------------------------------------------------------------------------------


class Tree(lw.Model):
    children: list[Tree] = lw.field(default_factory=list)


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (str | list[str], "Odd.value: a schema gives a value one type, so str | list[str] cannot be expressed"),
        (Tree, "Tree.children: Tree contains itself, which a schema cannot express"),
        (JSONSchemaProps, "Odd.value: apiextensions.v1.JSONSchemaProps contains itself"),
        (Literal[1, "two"], "Odd.value: the values of an enum are of one type, str or int"),
        (dict[Literal["a", "b"], int], "Odd.value: a schema cannot restrict the keys of a map; write dict[str, int]"),
        (Annotated[str, Meta(pattern="(?=a)")], "Odd: schema.value.pattern: Invalid value"),
        (Annotated[list[str], Meta(extra_json_schema={"x-kubernetes-list-type": "map"})], "Odd: schema.value"),
        (Annotated[str, lw.rule("self.size() > 'a'")], "Odd: schema.value.x-kubernetes-validations[0].rule: Invalid"),
        (
            Annotated[list[str], lw.rule("self.all(a, self.all(b, a != b))")],
            "Odd: schema.value.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget",
        ),
    ],
)  # fmt: skip
def test_a_type_without_a_structural_schema_is_an_error_that_names_the_field(annotation: Any, reason: str):
    with pytest.raises(GenerateError) as caught:
        custom_resource_definitions(kind_with(annotation))
    assert str(caught.value).startswith(reason)


def test_there_are_fifty_varied_kinds():
    assert len({each.classes[0].gvk for each in EXAMPLES}) >= 50


@pytest.mark.parametrize("module", ["core_v1", "resource_v1", "apiregistration_v1", "internal_v1alpha1"])
def test_every_type_of_the_models_can_be_a_field(module: str):
    types = types_of(module)
    assert types
    for each in types:
        custom_resource_definitions(kind_with(each))


def test_a_path_without_a_field_suggests_a_similar_one():
    @lw.crd(columns=[lw.Column("Region", ".spec.regoin")])
    class Odd(lw.CustomResource, group="a.example.com", version="v1", kind="Odd"):
        spec: varied_classes.ClusterSpec

    with pytest.raises(GenerateError, match=r"column Region: there is no field at \.spec\.regoin; did you mean region"):
        custom_resource_definitions(Odd)


def test_several_versions_need_one_that_is_stored():
    class One(lw.CustomResource, group="a.example.com", version="v1", kind="Odd"): ...

    class Two(lw.CustomResource, group="a.example.com", version="v2", kind="Odd"): ...

    with pytest.raises(GenerateError, match=r"none has storage=True \(One, Two\); write @lw.crd\(storage=True\)"):
        custom_resource_definitions(One, Two)


def test_versions_with_different_scopes_are_an_error():
    @lw.crd(storage=True)
    class One(lw.CustomResource, group="a.example.com", version="v1", kind="Odd"): ...

    @lw.crd(scope="Cluster")
    class Two(lw.CustomResource, group="a.example.com", version="v2", kind="Odd"): ...

    with pytest.raises(GenerateError, match="Two: scope is 'Cluster', but One, the stored version, has another value"):
        custom_resource_definitions(One, Two)


def test_the_decorator_without_parentheses_is_an_error_that_says_so():
    with pytest.raises(TypeError, match=r"write @lw\.crd\(\)"):

        @lw.crd  # type: ignore[arg-type]  # the mistake
        class Odd(lw.CustomResource, group="a.example.com", version="v1", kind="Odd"): ...


def test_a_string_instead_of_a_list_is_an_error():
    with pytest.raises(TypeError, match=r"write short_names=\['fl'\]"):
        lw.crd(short_names="fl")


def test_a_class_without_source_has_no_descriptions_of_fields(tmp_path: Path):
    module = type(sys)("sourceless")
    sys.modules["sourceless"] = module
    try:
        exec(  # a class of an interactive session
            "import listwatch as lw\n"
            'class S(lw.Model):\n    "The spec."\n    a: str = ""\n    "A field."\n'
            'class K(lw.CustomResource, group="a.b", version="v1", kind="K"):\n    spec: S = S()\n',
            vars(module),
        )
        spec = schema_of(module.K)["properties"]["spec"]
    finally:
        del sys.modules["sourceless"]
    assert spec["description"] == "The spec."
    assert "description" not in spec["properties"]["a"]
