"""The stubs of the models: what type checkers and editors read agrees with what Python runs."""

import ast
import importlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from listwatch import models
from tools.models.stub_code import descriptions_in

MODELS = Path(models.__file__).parent
STUBS = sorted(MODELS.glob("*.pyi"))

each_stub = pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.stem)


def classes_in(path: Path) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}


def fields_of(node: ast.ClassDef) -> dict[str, ast.AnnAssign]:
    return {ast.unparse(line.target): line for line in node.body if isinstance(line, ast.AnnAssign)}


def test_every_module_has_a_stub():
    assert [path.stem for path in STUBS] == sorted(path.stem for path in MODELS.glob("*_v*.py"))


@each_stub
def test_a_stub_has_the_classes_bases_fields_and_types_of_its_module(stub: Path):
    module = classes_in(stub.with_suffix(".py"))
    stubs = classes_in(stub)
    assert list(stubs) == list(module)
    for name, node in stubs.items():
        assert [*map(ast.unparse, node.bases)] == [*map(ast.unparse, module[name].bases)], name
        types = {field: ast.unparse(line.annotation) for field, line in fields_of(node).items()}
        assert types == {field: ast.unparse(line.annotation) for field, line in fields_of(module[name]).items()}, name


@each_stub
def test_a_stub_imports_what_its_types_name_from_where_the_module_does(stub: Path):
    def imports(path: Path) -> set[str]:
        nodes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
        return {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}

    assert imports(stub) <= imports(stub.with_suffix(".py"))
    used = {node.id for node in ast.walk(ast.parse(stub.read_text())) if isinstance(node, ast.Name)}
    unused = {name.rpartition(".")[2] for name in imports(stub)} - used
    assert stub.stem == "meta_v1" or unused == set()


@each_stub
def test_the_defaults_in_a_stub_are_those_of_new_values(stub: Path):
    module = importlib.import_module(f"listwatch.models.{stub.stem}")
    for name, node in classes_in(stub).items():
        struct = getattr(module, name)
        if issubclass(struct, msgspec.Struct):
            new: Any = struct()
            for field, line in fields_of(node).items():
                assert line.value is not None
                shown = ast.literal_eval(line.value)
                value = getattr(new, field)
                assert value == shown or (shown is ... and isinstance(value, msgspec.Struct)), (name, field)


@each_stub
def test_every_field_has_its_json_name_below_it(stub: Path):
    module = importlib.import_module(f"listwatch.models.{stub.stem}")
    for name, node in classes_in(stub).items():
        kind = getattr(module, name)
        if issubclass(kind, msgspec.Struct):
            wires = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
        else:
            wires = {field: each.wire for field, each in getattr(kind, "lazy_fields", {}).items()}
        for line, below in pairwise(node.body):
            if isinstance(line, ast.AnnAssign):
                assert isinstance(below, ast.Expr)
                assert f"JSON: `{wires[ast.unparse(line.target)]}`." in ast.literal_eval(below.value)


def test_nearly_every_field_has_a_description():
    # The API does not describe the fields of JSONSchemaProps, for example.
    described = descriptions_in(MODELS)
    fields = {
        (stub.stem, name, field)
        for stub in STUBS
        for name, node in classes_in(stub).items()
        for field in fields_of(node)
    }
    assert len([wire for _, _, wire in described if wire]) > 0.98 * len(fields)
    assert described["core_v1", "PodSpec", "nodeName"].startswith(
        "NodeName indicates in which node this pod is scheduled."
    )
    assert described["core_v1", "Pod", ""].startswith("Pod is a collection of containers that can run on a host.")
