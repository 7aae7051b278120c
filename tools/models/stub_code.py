"""Generates one stub per group-version: the classes of a module with the API's descriptions.

Type checkers and editors read the stub in place of the module. Python does not, so the descriptions cost nothing at run
time.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import indent

from listwatch.generate.python_names import attribute_names
from tools.models.definitions import Definition, Field
from tools.models.python_code import LIST_DOCSTRING, OF_MODEL, ModuleWriter, Resources, class_text

Descriptions = Mapping[tuple[str, str, str], str]
"""The description of a field by module, class and wire name, as ("core_v1", "PodSpec", "nodeName"); "" is the class."""

# The value that an unset field has at run time, by the factory that makes it.
_VALUES = {
    "str": '""',
    "int": "0",
    "float": "0.0",
    "bool": "False",
    "bytes": 'b""',
    'lambda: "0"': '"0"',
    "list": "[]",
    "required_list": "[]",
    "dict": "{}",
    "required_dict": "{}",
}
_DOCSTRING = re.compile(r'^ {4}""".*?(?<!\\)"""$', re.DOTALL | re.MULTILINE)
_FACTS = "JSON: `"
"""How the last paragraph of a field's docstring starts. The API does not write it."""


class StubWriter(ModuleWriter):
    """Writes the stub of one module."""

    def __init__(
        self,
        module: str,
        definitions: Mapping[str, Definition],
        resources: Resources,
        version: str,
        descriptions: Descriptions,
    ) -> None:
        super().__init__(module, definitions, resources, version)
        self._descriptions = descriptions

    def _head(self) -> Iterator[str]:
        *text, future, _ = super()._head()
        assert future.startswith("from __future__")  # stubs need no such import
        yield from text

    def _foot(self) -> list[str]:
        return []

    def _imports(self, body: str) -> Iterator[str]:
        return super()._imports(_DOCSTRING.sub("", body))

    def _struct(self, definition: Definition) -> str:
        attributes = attribute_names([each.wire for each in definition.fields], OF_MODEL)
        lines = [
            line for each in definition.fields for line in self._documented(definition, attributes[each.wire], each)
        ]
        return class_text(f"{definition.name}(Model)", [*self._class_docstring(definition), *lines] or ["..."])

    def _kind(self, definition: Definition) -> str:
        lines = [
            line
            for attribute, each in self._parts(definition)
            for line in self._documented(definition, attribute, each, is_part=True)
        ]
        return class_text(f"{definition.name}(Object)", [*self._class_docstring(definition), *lines] or ["..."])

    def _list(self, definition: Definition) -> str:
        item = self._annotation(definition.item)
        return class_text(f"{definition.name}(ObjectList[{item}], item={item})", [LIST_DOCSTRING])

    def _class_docstring(self, definition: Definition) -> Iterator[str]:
        if text := self._descriptions.get((self._module, definition.name, "")):
            yield _docstring(text)

    def _documented(
        self, definition: Definition, attribute: str, field: Field, *, is_part: bool = False
    ) -> Iterator[str]:
        annotation = self._part_annotation(field) if is_part else self._field_annotation(field)
        default = self._default(field)
        value = "..." if is_part else "None" if default is None else _VALUES.get(default, "...")
        yield f"{attribute}: {annotation} = {value}"
        text = self._descriptions.get((self._module, definition.name, field.wire), "")
        yield _docstring("\n\n".join(filter(None, [text, _facts(field)])))


def descriptions_of(definitions: Mapping[str, Definition]) -> dict[tuple[str, str, str], str]:
    """The descriptions in the schemas of a server."""
    found = {}
    for each in definitions.values():
        texts = {"": each.description, **{field.wire: field.description for field in each.fields}}
        found |= {(each.module, each.name, wire): text.strip() for wire, text in texts.items() if text.strip()}
    return found


def descriptions_in(folder: Path) -> dict[tuple[str, str, str], str]:
    """The descriptions in the stubs of a folder."""
    found = {}
    for path in folder.glob("*.pyi"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for wire, text in _texts(node):
                    found[path.stem, node.name, wire] = text
    return found


def _texts(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The description of the class, under the name "", and those of its fields by wire name."""
    if text := ast.get_docstring(node, clean=False):
        yield "", _undented(text)
    for statement, below in pairwise(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(below, ast.Expr):
            text, facts = _split_facts(_undented(ast.literal_eval(below.value)))
            if text:
                yield facts.removeprefix(_FACTS).partition("`")[0], text


def _undented(docstring: str) -> str:
    """The text as it was before it was written; `cleandoc` would remove the indentation of its lists."""
    return docstring.replace("\n    ", "\n")


def _split_facts(docstring: str) -> tuple[str, str]:
    """The description of a field, and the paragraph that this generator adds to it."""
    text, mark, facts = docstring.rpartition(_FACTS)
    return text.strip(), mark + facts


def _facts(field: Field) -> str:
    """The JSON name of a field, whether it is required, and what the server sets if it is absent."""
    facts = [f"{_FACTS}{field.wire}`."]
    if field.enum:
        facts.append(f"One of {', '.join(f'`{each}`' for each in field.enum)}.")
    if field.required:
        facts.append("Required.")
    elif field.defaults_to_zero:
        facts.append(f"Default: `{json.dumps(field.default)}`.")
    elif field.has_default:
        facts.append(f"Default: `{json.dumps(field.default)}`, set by the server.")
    else:
        facts.append("Default: absent.")
    return " ".join(facts)


def _docstring(text: str) -> str:
    escaped = text.expandtabs(4).replace("\\", "\\\\").replace('"""', '\\"""')
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    first, end, rest = escaped.partition("\n")
    return f'"""{first}{end}{indent(rest, "    ")}"""'
