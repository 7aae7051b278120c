"""Pages about the models for the documentation site: the classes and fields of each group-version, from its stub.

The tables are HTML, since the descriptions of the API contain characters that Markdown would interpret.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

__all__ = ["model_page", "model_pages"]

_FRONT = "---\nsearch: {exclude: true}\n---\n"  # thousands of fields would hide what a search looks for
_NAME = re.compile(r"(?:(\w+_v\w+)\.)?([A-Z]\w+)")


def model_pages(folder: Path) -> dict[str, str]:
    """The page of each stub, by the name of its module."""
    return {stub.stem: model_page(stub.stem, stub.read_text()) for stub in sorted(folder.glob("*_v*.pyi"))}


def model_page(module: str, stub: str) -> str:
    tree = ast.parse(stub)
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    kinds = [name for name, each in classes.items() if _base(each) == "Object"]
    others = [name for name, each in classes.items() if _base(each) not in ("Object", "ObjectList")]
    about = (ast.get_docstring(tree) or "").partition("\n")[0]
    lines = [f"{_FRONT}# {module}", "", about, ""]
    if kinds:
        lines += [f"```python\nfrom listwatch.models.{module} import {min(kinds)}\n```", ""]
    for name in (*sorted(kinds), *sorted(others)):
        lines += [f"## {name} {{ #{name} }}", "", *_class(classes[name], {*classes}), ""]
    return "\n".join(lines)


def _class(model: ast.ClassDef, local: set[str]) -> Iterator[str]:
    yield f"<p>{_text(ast.get_docstring(model) or '')}</p>"
    rows = [_row(field, below, local) for field, below in pairwise(model.body) if isinstance(field, ast.AnnAssign)]
    if rows:
        yield ""
        yield f'<table class="fields"><tbody>{"".join(rows)}</tbody></table>'


def _row(field: ast.AnnAssign, below: ast.stmt, local: set[str]) -> str:
    assert isinstance(field.target, ast.Name)
    text = ""
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
        text = str(below.value.value)
    hint = _NAME.sub(lambda found: _link(found, local), escape(ast.unparse(field.annotation)))
    return f"<tr><td><code>{field.target.id}</code><br><code>{hint}</code></td><td>{_text(text)}</td></tr>"


def _link(name: re.Match[str], local: set[str]) -> str:
    module, kind = name.groups()
    if module:
        return f'<a href="{module}.html#{kind}">{kind}</a>'
    return f'<a href="#{kind}">{kind}</a>' if kind in local else kind


def _text(text: str) -> str:
    """A description on one line, without the blank lines at which Markdown would end the table."""
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    return re.sub("`([^`]+)`", r"<code>\1</code>", "<br>".join(escape(each) for each in paragraphs if each))


def _base(model: ast.ClassDef) -> str:
    return ast.unparse(model.bases[0]).partition("[")[0] if model.bases else ""
