"""Generates one Python module per group-version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from listwatch.generate.python_names import attribute_names, wire_name
from listwatch.meta import GroupVersionKind, Resource, Subresource
from listwatch.objects import metadata
from listwatch.objects.declarations.model import Model
from listwatch.objects.fields import wire_name as part_name
from listwatch.objects.object import Object
from tools.models.definitions import MACHINERY, META, Definition, Field, Shape
from tools.models.json_order import json_order

_APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

# Definitions that are scalar values, and their Python types.
_VALUES = {
    f"{META}.Time": "datetime",
    f"{META}.MicroTime": "MicroTime",
    f"{META}.FieldsV1": "dict[str, Any]",
    f"{META}.Patch": "dict[str, Any]",
    f"{MACHINERY}api.resource.Quantity": "Quantity",
    f"{MACHINERY}runtime.RawExtension": "dict[str, Any]",
    f"{MACHINERY}util.intstr.IntOrString": "int | str",
    f"{_APIEXTENSIONS}.JSON": "Any",
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrArray": "JSONSchemaProps | list[JSONSchemaProps]",
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrBool": "JSONSchemaProps | bool",
    f"{_APIEXTENSIONS}.JSONSchemaPropsOrStringArray": "JSONSchemaProps | list[str]",
}
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "int-or-string": "int | str"}

# The values that the API writes for unset fields. A factory, because msgspec omits values that equal a plain default.
_ZEROS = {name: name for name in ("str", "int", "float", "bool", "bytes")}
_ZEROS |= {"int | str": "int", "Quantity": 'lambda: "0"'}

_METADATA_TYPES = tuple(name for name in metadata.__all__ if isinstance(getattr(metadata, name), type))
_BY_HAND = frozenset(f"{META}.{name}" for name in _METADATA_TYPES)
OF_MODEL = frozenset(dir(Model))
OF_OBJECT = frozenset(dir(Object)) - {"metadata"}
_IN_EVERY_KIND = frozenset({"apiVersion", "kind", "metadata"})
_NEVER_NONE = frozenset({"spec", "status", "template"})

_EMPTY = '"""Has no fields; its presence is the value."""'
LIST_DOCSTRING = '"""A list of objects, as returned by one request."""'

# Every word that is not an attribute name.
_USED_WORD = re.compile(r"\b[A-Za-z_]\w*\b(?!:)")
_IMPORTS: tuple[dict[str, tuple[str, ...]], ...] = (
    {"datetime": ("datetime",), "typing": ("Any",)},
    {"msgspec": ("field",)},
    {
        "listwatch._exports": ("only_classes",),
        "listwatch.meta": ("GroupVersionKind", "Resource", "Subresource"),
        "listwatch.models": (),
        metadata.__name__: _METADATA_TYPES,
        "listwatch.objects.declarations.model": ("MicroTime", "Model", "Quantity", "required_dict", "required_list"),
        "listwatch.objects.object": ("Object", "lazy"),
        "listwatch.objects.object_list": ("ObjectList",),
    },
)

_LINE_LENGTH = 120

Resources = Mapping[GroupVersionKind, Resource]


class ModuleWriter:
    """Writes the definitions of one module, and records the modules that they refer to."""

    def __init__(self, module: str, definitions: Mapping[str, Definition], resources: Resources, version: str) -> None:
        self._module = module
        self._all = definitions
        own = [each for each in definitions.values() if each.module == module]
        self._own = sorted(own, key=lambda each: each.name)
        self._resources = resources
        self._version = version
        self._imported_modules: set[str] = set()

    def text(self) -> str:
        """The whole module."""
        blocks = [
            *(self._struct(each) for each in self._structs()),
            *(self._kind(each) for each in self._own if each.is_object),
            *(self._list(each) for each in self._own if each.is_list),
        ]
        body = "\n\n\n".join([*blocks, *self._foot()])
        return "\n".join([*self._head(), *self._imports(body), "", body, ""])

    # --- the head ----------------------------------------------------------------------------------------------------

    def _head(self) -> Iterator[str]:
        versions = [each.gvk.api_version for each in self._own if each.is_object]
        title = versions[0] if versions else self._module.replace("_", "/")
        yield f'"""The kinds and types of `{title}` in Kubernetes {self._version}.'
        yield ""
        yield "Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it."
        yield '"""'
        yield ""
        yield "from __future__ import annotations"
        yield ""

    def _imports(self, body: str) -> Iterator[str]:
        words = set(_USED_WORD.findall(body))
        for group in _IMPORTS:
            lines = [_import(home, self._imported(home, names, words)) for home, names in group.items()]
            if any(lines):
                yield from (*filter(None, lines), "")

    def _imported(self, home: str, names: tuple[str, ...], words: set[str]) -> list[str]:
        if home == "listwatch.models":
            return sorted(self._imported_modules)
        if home == metadata.__name__:
            return [f"{name} as {name}" for name in names] if self._module == "meta_v1" else []
        return [name for name in names if name in words]

    def _foot(self) -> list[str]:
        return ["__getattr__ = only_classes(__name__)"]

    # --- nested types ------------------------------------------------------------------------------------------------

    def _structs(self) -> Iterator[Definition]:
        """Types by name, but each after the types of its defaults."""
        written: set[str] = set()

        def visit(definition: Definition) -> Iterator[Definition]:
            if definition.full_name not in written:
                written.add(definition.full_name)
                for each in definition.fields:
                    if self._is_value_struct(each) and each.shape.ref in structs:
                        yield from visit(structs[each.shape.ref])
                yield definition

        structs = {each.full_name: each for each in self._own if _is_struct(each)}
        for each in structs.values():
            yield from visit(each)

    def _struct(self, definition: Definition) -> str:
        attributes = attribute_names([each.wire for each in definition.fields], OF_MODEL)
        # In the order of servers, so that the decoder's search for the next field is short.
        places = {wire: place for place, wire in enumerate(json_order(self._module, definition.name))}
        fields = sorted(definition.fields, key=lambda each: places.get(each.wire, len(places)))
        lines = {attributes[each.wire]: self._field(attributes[each.wire], each) for each in fields}
        if "field" in lines:  # comes last, because it shadows the function `field` for the following lines
            lines["field"] = lines.pop("field")
        return class_text(f"{definition.name}(Model)", [*lines.values()] or [_EMPTY])

    def _field(self, attribute: str, field: Field) -> str:
        default = self._default(field)
        options = [] if wire_name(attribute) == field.wire else [f'name="{field.wire}"']
        if default is None:
            value = f"field(default=None, {options[0]})" if options else "None"
        else:
            value = f"field({', '.join([f'default_factory={default}', *options])})"
        return f"{attribute}: {self._field_annotation(field)} = {value}"

    def _field_annotation(self, field: Field) -> str:
        annotation = self._annotation(field.shape)
        return _optional(annotation) if self._default(field) is None else annotation

    def _default(self, field: Field) -> str | None:
        """The factory of the value of an unset field; None if that value is None."""
        annotation = self._annotation(field.shape)
        if annotation.startswith(("list[", "dict[")):
            container = annotation[:4]
            return f"required_{container}" if field.required else container
        if self._is_value_struct(field):
            return annotation
        return _ZEROS.get(annotation) if field.is_value else None

    def _is_value_struct(self, field: Field) -> bool:
        return field.is_value and field.shape.type == "ref" and field.shape.ref not in _VALUES

    # --- kinds -------------------------------------------------------------------------------------------------------

    def _kind(self, definition: Definition) -> str:
        lines = [self._part(attribute, each) for attribute, each in self._parts(definition)]
        return class_text(
            f"{definition.name}(\n    Object,\n    {self._description(definition)},\n)", lines or [_EMPTY]
        )

    def _parts(self, definition: Definition) -> Iterator[tuple[str, Field]]:
        """The fields that not every kind has, and their attributes."""
        parts = [each for each in definition.fields if each.wire not in _IN_EVERY_KIND]
        attributes = attribute_names([each.wire for each in parts], OF_OBJECT)
        return ((attributes[each.wire], each) for each in parts)

    def _part_annotation(self, field: Field) -> str:
        annotation = self._annotation(field.shape)
        is_optional = self._default(field) is None and field.wire not in _NEVER_NONE
        return _optional(annotation) if is_optional else annotation

    def _part(self, attribute: str, field: Field) -> str:
        annotation = self._part_annotation(field)
        wire = "" if part_name(attribute) == field.wire else f', wire="{field.wire}"'
        return f"{attribute}: {annotation} = lazy({annotation}{wire})"

    def _description(self, definition: Definition) -> str:
        resource = self._resources.get(definition.gvk)
        if resource is None:
            return f"gvk=GroupVersionKind({_quoted(definition.gvk)})"
        return f"resource={_resource(resource)}"

    def _list(self, definition: Definition) -> str:
        item = self._annotation(definition.item)
        return class_text(f"{definition.name}(ObjectList[{item}], item={item})", [LIST_DOCSTRING])

    # --- types -------------------------------------------------------------------------------------------------------

    def _annotation(self, shape: Shape) -> str:
        match shape:
            case Shape("list", items=Shape() as items):
                return f"list[{self._annotation(items)}]"
            case Shape("map", items=Shape() as items):
                return f"dict[str, {self._annotation(items)}]"
            case Shape("ref"):
                return _VALUES.get(shape.ref) or self._class_name(self._all[shape.ref])
            case Shape("string", format="byte"):
                return "bytes"
            case _:
                return _SCALARS.get(shape.type, "Any")

    def _class_name(self, definition: Definition) -> str:
        if definition.module == self._module:
            return definition.name
        self._imported_modules.add(definition.module)
        return f"{definition.module}.{definition.name}"


def _is_struct(definition: Definition) -> bool:
    known = definition.full_name in _VALUES or definition.full_name in _BY_HAND
    return not (known or definition.is_object or definition.is_list)


def class_text(header: str, body: list[str]) -> str:
    return "\n    ".join([f"class {header}:", *body])


def _optional(annotation: str) -> str:
    return annotation if annotation == "Any" else f"{annotation} | None"


def _import(home: str, names: list[str]) -> str:
    line = f"from {home} import {', '.join(names)}"
    if len(line) > _LINE_LENGTH:
        line = "\n".join([f"from {home} import (", *(f"    {name}," for name in names), ")"])
    return line if names else ""


def _resource(resource: Resource) -> str:
    names = (resource.group, resource.version, resource.kind, resource.plural, resource.singular)
    lines = ["Resource(", f"    {_quoted(names)},", f"    namespaced={resource.namespaced},"]
    for name in ("verbs", "short_names", "categories"):
        if values := getattr(resource, name):
            lines.append(f"    {name}={_tuple(values)},")
    if resource.subresources:
        below = [f"        {_subresource(each)}," for each in resource.subresources]
        lines += ["    subresources=(", *below, "    ),"]
    return "\n    ".join([*lines, ")"])


def _subresource(subresource: Subresource) -> str:
    names = (subresource.name, subresource.group, subresource.version, subresource.kind)
    return f"Subresource({_quoted(names)}, {_tuple(subresource.verbs)})"


def _tuple(names: tuple[str, ...]) -> str:
    return f"({_quoted(names)}{',' if len(names) == 1 else ''})"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
