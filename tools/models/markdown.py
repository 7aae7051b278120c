"""Renders the documentation of a model as Markdown: `python -m tools.models.markdown core_v1.PodSpec`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

from tools.models.stub_code import split_facts

MODELS = Path(__file__).parents[2] / "src" / "listwatch" / "models"


def class_names(module: str) -> list[str]:
    """The classes of a module such as `core_v1`, in the order of the stub."""
    return [node.name for node in _classes(module)]


def model_as_markdown(name: str, *, level: int = 2) -> str:
    """The heading, description and fields of a class such as `core_v1.PodSpec`."""
    module, _, class_name = name.partition(".")
    for node in _classes(module):
        if node.name == class_name:
            description = ast.get_docstring(node) or ""
            blocks = [f"{'#' * level} {class_name}", _paragraphs(description), *_fields(node)]
            return "\n\n".join(filter(None, blocks)) + "\n"
    raise LookupError(f"listwatch.models.{module} has no class {class_name}")


def _classes(module: str) -> Iterator[ast.ClassDef]:
    tree = ast.parse((MODELS / f"{module}.pyi").read_text(encoding="utf-8"))
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for statement, below in pairwise(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(below, ast.Expr):
            description, facts = split_facts(cleandoc(ast.literal_eval(below.value)))
            yield f"**`{ast.unparse(statement.target)}: {ast.unparse(statement.annotation)}`**  \n{facts}"
            yield _paragraphs(description)


def _paragraphs(text: str) -> str:
    """The API's text as Markdown: its lines end where they did, and characters that HTML uses are escaped."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return escaped.replace("\n\n", "\0").replace("\n", "  \n").replace("\0", "\n\n")


if __name__ == "__main__":
    print(model_as_markdown(sys.argv[1]), end="")
