"""Writes `docs/reference.md`: every public name, by package, with the first sentence of its documentation.

    python -m tools.generate_reference

The public names of a package are its `__all__`. A class or function is described by its docstring, any other value by
the string literal below its assignment.
"""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"

PACKAGES = (
    "listwatch",
    "listwatch.client",
    "listwatch.informer",
    "listwatch.cache",
    "listwatch.workqueue",
    "listwatch.controller",
    "listwatch.webhooks",
    "listwatch.leaderelection",
    "listwatch.sharding",
    "listwatch.events",
    "listwatch.objects",
    "listwatch.generate",
    "listwatch.metrics",
    "listwatch.tracing",
    "listwatch.inspector",
    "listwatch.blocking",
    "listwatch.server",
    "listwatch.simulation",
    "listwatch.sources.etcd",
    "listwatch.testing",
)
MODULES = (
    "listwatch.errors",
    "listwatch.meta",
    "listwatch.selectors",
    "listwatch.quantity",
    "listwatch.backoff",
    "listwatch.clock",
)

INTRODUCTION = """# Reference

Every public name, by the package that exports it. Modules below these packages are private and may move at any time.
`listwatch.models` has one module per group-version, such as `listwatch.models.apps_v1`, with a class per kind.

This page is generated from the docstrings: `make reference`.
"""


def main() -> None:
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE}")


def page() -> str:
    sections = [INTRODUCTION, *(section(import_module(name)) for name in (*PACKAGES, *MODULES))]
    return "\n".join(sections)


def section(package: ModuleType) -> str:
    rows = [f"| `{name}` | {summary(package, name)} |" for name in sorted(public_names(package), key=str.lower)]
    heading = f"## {package.__name__}\n\n{first_sentence(package.__doc__ or '')}\n"
    return "\n".join([heading, "| name | what it is |", "| --- | --- |", *rows, ""])


def public_names(package: ModuleType) -> list[str]:
    """`__all__`; in a module without one, the classes and functions that it defines."""
    names = getattr(package, "__all__", None)
    if names is not None:
        return [name for name in names if name != "__version__"]
    return [
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == package.__name__
    ]


def summary(package: ModuleType, name: str) -> str:
    value = getattr(package, name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        text = inspect.getdoc(value) or ""
    else:
        text = _comment_of(package, name)
    if not text:
        raise LookupError(f"{package.__name__}.{name} has no docstring, nor a string below its assignment")
    return first_sentence(text).replace("|", "\\|")


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]


def _comment_of(package: ModuleType, name: str) -> str:
    homes = getattr(package, "_HOMES", {})
    module = import_module(homes.get(name, package.__name__))
    body = ast.parse(inspect.getsource(module)).body
    for statement, below in pairwise(body):
        if name in _assigned(statement) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            return str(below.value.value)
    return ""


def _assigned(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


if __name__ == "__main__":
    main()
