"""The public surface: documents and examples import from packages only, and every export is documented."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tools import generate_reference

ROOT = Path(__file__).parents[1]
PUBLIC = {*generate_reference.PACKAGES, *generate_reference.MODULES}
PUBLIC_BELOW = ("listwatch.models", "listwatch.sources")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))


def programs_of(path: Path) -> list[str]:
    text = path.read_text()
    return [text] if path.suffix == ".py" else re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def imported_modules(program: str) -> Iterator[str]:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    for node in ast.walk(compile(program, "program", "exec", flags=flags)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def is_public(module: str) -> bool:
    return module in PUBLIC or any(module == each or module.startswith(f"{each}.") for each in PUBLIC_BELOW)


@pytest.mark.parametrize("path", [*DOCUMENTS, *PROGRAMS], ids=lambda path: path.name)
def test_documents_and_examples_import_from_packages_only(path: Path):
    imported = {module for program in programs_of(path) for module in imported_modules(program)}
    private = {module for module in imported if module.split(".")[0] == "listwatch" and not is_public(module)}
    assert private == set(), f"{path.name} imports from private modules"


def test_a_private_import_is_found():
    assert list(imported_modules("from listwatch.client.rest.request import Request")) == [
        "listwatch.client.rest.request"
    ]
    assert not is_public("listwatch.client.rest.request")
    assert is_public("listwatch.models.core_v1")


@pytest.mark.parametrize("name", [*generate_reference.PACKAGES, *generate_reference.MODULES])
def test_the_exports_are_exactly_those_documented(name: str):
    sections = re.split(r"^## ", (ROOT / "docs" / "reference.md").read_text(), flags=re.MULTILINE)
    [section] = [section for section in sections if section.split("\n")[0] == name]
    documented = set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))
    assert documented == set(generate_reference.public_names(import_module(name)))


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs" / "reference.md").read_text() == generate_reference.page(), "run `make reference`"


@pytest.mark.parametrize("name", generate_reference.PACKAGES)
def test_no_export_is_shadowed_by_a_module_of_the_package(name: str):
    package = import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    shadowed = {each for each in modules & set(package.__all__) if package._HOMES[each] != f"{name}.{each}"}
    assert shadowed == set()
