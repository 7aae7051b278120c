"""CustomResourceDefinitions of classes.

`type_schemas.py` makes the schemas. The embedded server's rules check them, so that a definition that is returned is
accepted by servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from listwatch._exports import did_you_mean
from listwatch.generate.generate_error import GenerateError
from listwatch.generate.type_schemas import object_schema
from listwatch.json_value import JSON, JSONObject
from listwatch.models.apiextensions_v1 import CustomResourceDefinition
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.declarations.definition_options import Column, DefinitionOptions, guess_plural, options_of
from listwatch.server.custom_rules.definition_problems import definition_problems
from listwatch.server.rules.definition_schemas import schema_rules

__all__ = ["custom_resource_definitions"]

_SIMPLE_PATH = re.compile(r"(\.[A-Za-z_$][\w$-]*)+")
_METADATA_COLUMNS = {"creationTimestamp": "date", "deletionTimestamp": "date", "generation": "integer"}


def custom_resource_definitions(*classes: type[CustomResource]) -> list[CustomResourceDefinition]:
    """Return the definitions of classes: one for each kind, with a version for each class of it.

    Descriptions are docstrings: of a class, and strings or comments at its fields. GenerateError says what a
    schema cannot express, and where it is declared.
    """
    kinds: dict[tuple[str, str], list[type[CustomResource]]] = {}
    for cls in classes:
        if cls.gvk is None:
            raise GenerateError(cls.__name__, "it has no group, version and kind")
        kinds.setdefault((cls.gvk.group, cls.gvk.kind), []).append(cls)
    return [_definition(group, kind, versions) for (group, kind), versions in kinds.items()]


def _definition(group: str, kind: str, classes: list[type[CustomResource]]) -> CustomResourceDefinition:
    stored = _stored(kind, classes)
    options = options_of(stored)
    _check_versions(kind, classes, stored)
    plural = options.plural or guess_plural(kind)
    names: JSONObject = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": options.singular or kind.lower(),
    }
    if options.short_names:
        names["shortNames"] = [*options.short_names]
    if options.categories:
        names["categories"] = [*options.categories]
    metadata: JSONObject = {"name": f"{plural}.{group}"}
    if options.annotations:
        metadata["annotations"] = {**options.annotations}
    return CustomResourceDefinition.from_dict({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "names": names,
            "scope": options.scope,
            "versions": [_version(each, is_stored=each is stored) for each in classes],
        },
    })  # fmt: skip


def _stored(kind: str, classes: list[type[CustomResource]]) -> type[CustomResource]:
    # A later version inherits the options of its base, unless it has its own.
    marked = [each for each in classes if options_of(each).storage and not _inherits_options(each, classes)]
    if len(marked) == 1:
        return marked[0]
    if len(classes) == 1:
        return classes[0]
    names = ", ".join(each.__name__ for each in marked or classes)
    number = "several have" if marked else "none has"
    raise GenerateError(
        kind, f"it has several versions, and {number} storage=True ({names}); write @lw.crd(storage=True) at one"
    )


def _inherits_options(cls: type[CustomResource], classes: Iterable[type[CustomResource]]) -> bool:
    return any(base in cls.__mro__[1:] and options_of(base) is options_of(cls) for base in classes if base is not cls)


def _check_versions(kind: str, classes: list[type[CustomResource]], stored: type[CustomResource]) -> None:
    seen: dict[str, type[CustomResource]] = {}
    default, common = DefinitionOptions(), options_of(stored)
    for cls in classes:
        assert cls.gvk is not None
        if cls.gvk.version in seen:
            raise GenerateError(kind, f"{seen[cls.gvk.version].__name__} and {cls.__name__} both are {cls.gvk.version}")
        seen[cls.gvk.version] = cls
        options = options_of(cls)
        for name in ("plural", "singular", "short_names", "categories", "scope", "annotations"):
            given = getattr(options, name)
            if given not in (getattr(default, name), getattr(common, name)):
                raise GenerateError(
                    cls.__name__, f"{name} is {given!r}, but {stored.__name__}, the stored version, has another value"
                )


def _version(cls: type[CustomResource], *, is_stored: bool) -> JSONObject:
    assert cls.gvk is not None
    options = options_of(cls)
    schema = {**object_schema(cls), **options.schema}
    for cause in schema_rules(schema, "schema"):
        raise GenerateError(cls.__name__, f"{_path(cause.field)}: {cause.message}")
    _check_rules(cls, schema)
    tree: JSONObject = {"name": cls.gvk.version, "served": options.served, "storage": is_stored}
    if options.deprecated:
        tree["deprecated"] = True
        if isinstance(options.deprecated, str):
            tree["deprecationWarning"] = options.deprecated
    subresources: JSONObject = {}
    if options.status and "status" in _properties(schema):
        subresources["status"] = {}
    if options.scale:
        subresources["scale"] = _scale(cls, options, schema)
    if subresources:
        tree["subresources"] = subresources
    if options.columns:
        tree["additionalPrinterColumns"] = [_column(cls, each, schema) for each in options.columns]
    if options.selectable_fields:
        for path in options.selectable_fields:
            _field_at(cls, path, schema, "selectable_fields")
        tree["selectableFields"] = [{"jsonPath": each} for each in options.selectable_fields]
    tree["schema"] = {"openAPIV3Schema": schema}
    return tree


def _path(field: str) -> str:
    return re.sub(r"\.properties\[([^]]*)]", r".\1", field)


def _scale(cls: type[CustomResource], options: DefinitionOptions, schema: JSONObject) -> JSONObject:
    scale = options.scale
    assert scale is not None
    paths = {
        "specReplicasPath": scale.replicas,
        "statusReplicasPath": scale.status_replicas,
        "labelSelectorPath": scale.label_selector,
    }
    for path in filter(None, paths.values()):
        _field_at(cls, path, schema, "scale")
    return {name: path for name, path in paths.items() if path}


def _column(cls: type[CustomResource], column: Column, schema: JSONObject) -> JSONObject:
    tree: JSONObject = {
        "name": column.name,
        "type": column.type or _column_type(cls, column, schema),
        "jsonPath": column.path,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
    return {name: value for name, value in tree.items() if value}


def _column_type(cls: type[CustomResource], column: Column, schema: JSONObject) -> str:
    if not _SIMPLE_PATH.fullmatch(column.path):
        return "string"  # a filter, for example of conditions
    if column.path.startswith(".metadata."):
        return _METADATA_COLUMNS.get(column.path.split(".")[2], "string")
    found = _field_at(cls, column.path, schema, f"column {column.name}")
    if found.get("format") == "date-time":
        return "date"
    kind = found.get("type")
    return kind if kind in ("boolean", "integer", "number") and isinstance(kind, str) else "string"


def _field_at(cls: type[CustomResource], path: str, schema: JSONObject, what: str) -> JSONObject:
    """Return the schema of the field at a path such as .spec.ships; GenerateError if there is none."""
    if not path.startswith("."):
        raise GenerateError(cls.__name__, f"{what}: the path {path!r} must start with a dot, as in .spec.replicas")
    found: JSONObject = schema
    for name in path.split(".")[1:]:
        if found.get("x-kubernetes-preserve-unknown-fields") or isinstance(found.get("additionalProperties"), dict):
            return {}
        properties = _properties(found)
        inner = properties.get(name)
        if not isinstance(inner, dict):
            hint = did_you_mean(name, properties)
            raise GenerateError(cls.__name__, f"{what}: there is no field at {path}{hint}")
        found = inner
    return found


def _check_rules(cls: type[CustomResource], schema: JSONObject) -> None:
    """Raise GenerateError for a CEL rule that servers would reject: it does not compile, or could cost too much."""
    versions: JSON = [{"schema": {"openAPIV3Schema": schema}}]
    for cause in definition_problems({"spec": {"versions": versions}}, None):
        place = cause.field.partition("openAPIV3Schema")[2]
        raise GenerateError(cls.__name__, f"{_path(f'schema{place}')}: {cause.message}")


def _properties(schema: JSONObject) -> dict[str, JSON]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}
