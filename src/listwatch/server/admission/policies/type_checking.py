"""Checks the expressions of ValidatingAdmissionPolicies by the schemas of the kinds that they select.

A policy with problems is applied nevertheless; kube-controller-manager reports them in `status.typeChecking`.
"""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, Resource
from listwatch.server.admission.policies.expressions import Compiler, ExpressionError
from listwatch.server.cel.schema_types import DeclaredType, declared_type
from listwatch.server.json_tree import list_at, object_at, objects_at, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.openapi.definitions import BuiltinDefinitions, TypeDescriptions, custom_definition

__all__ = ["TypeChecker"]

_MAX_KINDS = 10
_INT_OR_STRING = "int-or-string"


class TypeChecker:
    """Checks the validations of policies."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._built_in: dict[tuple[GroupVersionKind, str], DeclaredType | None] = {}

    def warnings(self, spec: JSONObject) -> list[JSONObject]:
        """Return the expression warnings for the spec of a policy."""
        compilers = dict(self._compilers(spec))
        found: list[JSONObject] = []
        for index, validation in enumerate(objects_at(spec, "validations")):
            for field in ("expression", "messageExpression"):
                text = text_at(validation, field)
                if text and (problems := _problems(text, compilers)):
                    found.append({"fieldRef": f"spec.validations[{index}].{field}", "warning": "\n".join(problems)})
        return found

    def _compilers(self, spec: JSONObject) -> Iterator[tuple[GroupVersionKind, Compiler]]:
        """Yield each kind that the policy selects, with a compiler that knows its fields."""
        params = object_at(spec, "paramKind")
        group, _, version = text_at(params, "apiVersion").rpartition("/")
        params_type = self._type(GroupVersionKind(group, version, text_at(params, "kind")), "params")
        for kind in sorted(self._kinds(spec)):
            if found := self._type(kind, "object"):
                yield kind, Compiler(spec, object_=found, params=params_type)

    def _kinds(self, spec: JSONObject) -> set[GroupVersionKind]:
        """Return the kinds of rules without wildcards; those of subresources are not checked."""
        found: set[GroupVersionKind] = set()
        for rule in objects_at(spec, "matchConstraints", "resourceRules"):
            groups, versions = texts_at(rule, "apiGroups"), texts_at(rule, "apiVersions")
            plurals = [each for each in texts_at(rule, "resources") if not {"*", "/"} & {*each}]
            if any("*" in each for each in (*groups, *versions)):
                continue
            count = 0
            for group in sorted(groups):
                for version in sorted(versions):
                    for plural in sorted(plurals):
                        for kind in self._kinds_of(group, version, plural):
                            found.add(kind)
                            count += 1
                            if count == _MAX_KINDS:
                                return found
        return found

    def _kinds_of(self, group: str, version: str, plural: str) -> list[GroupVersionKind]:
        """Return the kinds of a resource; the core group stands for any group, as in the mapper of client-go."""
        registry = self._objects.registry
        groups = [group] if group else registry.groups()
        return [found.gvk for each in groups if (found := registry.lookup(each, version, plural))]

    def _type(self, kind: GroupVersionKind, name: str) -> DeclaredType | None:
        if not kind.kind:
            return None
        definitions = BuiltinDefinitions(self._objects.schema, version=3, describe=_not_described)
        if reference := definitions.refer(kind.api_version, kind.kind):
            if (kind, name) not in self._built_in:
                schema = _resolved(reference, definitions.found, ())
                self._built_in[kind, name] = declared_type(schema, name=f"{kind.kind}.{name}")
            return self._built_in[kind, name]
        resource = self._objects.registry.of_kind(kind.group, kind.kind)
        versions = self._objects.registry.equivalents(resource) if resource else []
        return next((self._custom_type(each, name, definitions) for each in versions if each.gvk == kind), None)

    def _custom_type(self, resource: Resource, name: str, definitions: BuiltinDefinitions) -> DeclaredType | None:
        version = self._objects.definitions.version(resource)
        if version is None:
            return None
        schema = custom_definition(resource, version.schema, definitions)
        return declared_type(_resolved(schema, definitions.found, ()), name=f"{resource.kind}.{name}")


def _problems(text: str, compilers: dict[GroupVersionKind, Compiler]) -> list[str]:
    found = []
    for kind, compiler in compilers.items():
        try:
            compiler.compile(text)
        except ExpressionError as error:
            shown = str(error).removeprefix("compilation failed: ")
            found.append(f"{kind.group}/{kind.version}, Kind={kind.kind}: {shown}\n")
    return found


def _not_described(_package: str, _name: str) -> TypeDescriptions:
    return TypeDescriptions()


def _resolved(schema: JSONObject, definitions: JSONObject, parents: tuple[str, ...]) -> JSONObject:
    """Return a schema with the referenced schemas in place of the references; recursive ones are left out."""
    for each in (schema, *(each for each in list_at(schema, "allOf") if isinstance(each, dict))):
        if reference := text_at(each, "$ref"):
            name = reference.rpartition("/")[2]
            return _resolved(object_at(definitions, name), definitions, (*parents, name)) if name not in parents else {}
    if text_at(schema, "format") == _INT_OR_STRING:
        return {**schema, "x-kubernetes-int-or-string": True}
    found = {**schema}
    for name in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(name), dict):
            found[name] = _resolved(inner, definitions, parents)
    if properties := object_at(schema, "properties"):
        resolved: dict[str, JSON] = {}
        for name, inner in properties.items():
            resolved[name] = _resolved(inner, definitions, parents) if isinstance(inner, dict) else inner
        found["properties"] = resolved
    return found
