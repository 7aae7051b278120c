"""The rules for CustomResourceDefinitions. `structural` has those for the schemas in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child, children, same
from listwatch.server.rules.checks import IMMUTABLE, Causes, dns_1035_label, dns_subdomain
from listwatch.server.rules.structural import field_at, schema_rules

__all__ = ["definition_change", "definition_rules"]

_APPROVAL = "api-approved.kubernetes.io"
_POLICY = "https://github.com/kubernetes/enhancements/pull/1111"
_PROTECTED = re.compile(r"(.*\.)?(k8s|kubernetes)\.io")
_SIMPLE_PATH = re.compile(r"(\.[^.\[\]\s]+)+")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
# What the versions say alike, the real server takes for said of all of them, and complains about there.
_SHARED = {"schema": "validation", "subresources": "", "additionalPrinterColumns": "", "selectableFields": ""}


def definition_rules(tree: Tree, _path: str = "") -> Causes:
    spec, metadata = tree.get("spec", {}), tree["metadata"]
    names = spec.get("names", {})
    if metadata.get("name") != f"{names.get('plural', '')}.{spec.get('group', '')}":
        yield invalid("metadata.name", metadata.get("name", ""), 'must be spec.names.plural+"."+spec.group')
    yield from _group(spec, metadata)
    yield from _scope_and_conversion(spec)
    yield from _names(names)
    yield from _versions(spec)
    yield from _stored_versions(tree)


def definition_change(new: Tree, old: Tree, _path: str = "") -> Causes:
    """Names that objects are stored under stay; the others stay once it was established."""
    conditions = children(old, "status", "conditions")
    is_established = any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions)
    places = [["scope"], ["names", "kind"]] if is_established else []
    for place in (*places, ["group"], ["names", "plural"]):
        value = child(new, "spec", *place)
        if not same(value, child(old, "spec", *place)):
            yield invalid(".".join(["spec", *place]), value, IMMUTABLE)


def _group(spec: Tree, metadata: Tree) -> Causes:
    group = spec.get("group", "")
    if not group:
        yield required("spec.group")
    elif problems := list(dns_subdomain(group)):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    if _PROTECTED.fullmatch(group) and not child(metadata, "annotations", _APPROVAL):
        why = f'protected groups must have approval annotation "{_APPROVAL}"'
        yield required(f"metadata.annotations[{_APPROVAL}]", f"{why}, see {_POLICY}")


def _scope_and_conversion(spec: Tree) -> Causes:
    yield from _one_of("spec.scope", spec.get("scope", ""), ("Cluster", "Namespaced"))
    conversion = spec.get("conversion", {})
    yield from _one_of("spec.conversion.strategy", conversion.get("strategy", ""), ("None", "Webhook"))
    if conversion.get("strategy") == "Webhook" and not conversion.get("webhook"):
        yield required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")
    if spec.get("preserveUnknownFields"):
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid("spec.preserveUnknownFields", True, why)


def _one_of(place: str, value: str, supported: Sequence[str]) -> Causes:
    if not value:
        yield required(place)
    elif value not in supported:
        yield not_supported(place, value, supported)


def _names(names: Tree) -> Causes:
    for name in ("plural", "singular", "kind", "listKind"):
        if not names.get(name):
            yield required(f"spec.names.{name}")
    for name in ("plural", "singular"):
        yield from _label(f"spec.names.{name}", names.get(name, ""))
    for name in ("shortNames", "categories"):
        for index, each in enumerate(names.get(name, ())):
            yield from _label(f"spec.names.{name}[{index}]", each)
    for name in ("kind", "listKind"):
        said = names.get(name, "")
        if said and (problems := list(dns_1035_label(said.lower()))):
            why = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            yield invalid(f"spec.names.{name}", said, why)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")


def _label(place: str, value: str) -> Causes:
    if value and (problems := list(dns_1035_label(value))):
        yield invalid(place, value, ",".join(problems))


# --- Versions ---------------------------------------------------------------------------------------------------------


def _versions(spec: Tree) -> Causes:
    versions = spec.get("versions", [])
    shown = [_shown(each) for each in versions]
    names = [each.get("name", "") for each in versions]
    for index, name in enumerate(names):
        if problems := list(dns_1035_label(name)):
            yield invalid(f"spec.versions[{index}].name", name, ",".join(problems))
    if len(set(names)) != len(names):
        yield invalid("spec.versions", shown, "must contain unique version names")
    if sum(bool(each.get("storage")) for each in versions) != 1:
        yield invalid("spec.versions", shown, "must have exactly one version marked as storage version")
    for index, version in enumerate(versions):
        yield from _deprecation(version, f"spec.versions[{index}]")
    for name, rules in (
        ("schema", _schema),
        ("subresources", _subresources),
        ("additionalPrinterColumns", _columns),
        ("selectableFields", _selectable),
    ):
        for place, version in _said_of_versions(versions, name):
            yield from rules(version, place)


def _shown(version: Tree) -> Tree:
    """As the real server shows it: by Go's names, and with what was moved to all versions gone."""
    flags = {name.capitalize(): bool(version.get(name)) for name in ("served", "storage", "deprecated")}
    gone = ("DeprecationWarning", "Schema", "Subresources", "AdditionalPrinterColumns", "SelectableFields")
    return {"Name": version.get("name", ""), **flags, **dict.fromkeys(gone)}


def _said_of_versions(versions: list[Tree], name: str) -> Iterator[tuple[str, Tree]]:
    first = versions[0].get(name) if versions else None
    if first is not None and all(same(each.get(name), first) for each in versions):
        yield f"spec.{_SHARED[name] or name}", versions[0]
        return
    for index, version in enumerate(versions):
        yield f"spec.versions[{index}].{name}", version


def _deprecation(version: Tree, path: str) -> Causes:
    warning = version.get("deprecationWarning")
    if warning is not None and not version.get("deprecated"):
        yield invalid(f"{path}.deprecationWarning", warning, "can only be set for deprecated versions")


def _schema(version: Tree, path: str) -> Causes:
    place = f"{path}.openAPIV3Schema"
    schema = child(version, "schema", "openAPIV3Schema")
    if schema is None:
        yield required(place)
    else:
        yield from schema_rules(schema, place)


def _subresources(version: Tree, path: str) -> Causes:
    scale = child(version, "subresources", "scale")
    if scale is None:
        return
    for name, root in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        yield from _scale_path(scale.get(name, ""), f"{path}.scale.{name}", (root,), is_required=True)
    roots = (".spec", ".status")
    yield from _scale_path(scale.get("labelSelectorPath", ""), f"{path}.scale.labelSelectorPath", roots)


def _scale_path(said: str, place: str, roots: tuple[str, ...], *, is_required: bool = False) -> Causes:
    if not said:
        if is_required:
            yield required(place)
    elif not _SIMPLE_PATH.fullmatch(said):
        yield invalid(place, said, "must be a simple json path starting with .")
    elif not any(said.startswith(f"{root}.") for root in roots):
        yield invalid(place, said, f"should be a json path under {' or '.join(roots)}")


def _columns(version: Tree, path: str) -> Causes:
    for index, column in enumerate(children(version, "additionalPrinterColumns")):
        place = f"{path}[{index}]"
        if not column.get("name"):
            yield required(f"{place}.name")
        if not column.get("type"):
            yield required(f"{place}.type", f"must be one of {','.join(_COLUMN_TYPES)}")
        elif column["type"] not in _COLUMN_TYPES:
            yield invalid(f"{place}.type", column["type"], f"must be one of {','.join(_COLUMN_TYPES)}")
        if not column.get("jsonPath"):
            yield required(f"{place}.JSONPath")
        elif not column["jsonPath"].startswith("."):
            yield invalid(f"{place}.JSONPath", column["jsonPath"], "must be a simple json path starting with .")


def _selectable(version: Tree, path: str) -> Causes:
    schema, seen = child(version, "schema", "openAPIV3Schema") or {}, set()
    for index, each in enumerate(children(version, "selectableFields")):
        place, said = f"{path}[{index}].jsonPath", each.get("jsonPath", "")
        found = field_at(schema, said)
        if not said:
            yield required(place)
        elif found is None:
            yield invalid(place, said, "is an invalid path: does not refer to a valid field")
        elif found.get("type") not in ("string", "boolean", "integer"):
            why = "must point to a field of type string, boolean or integer."
            yield invalid(place, said, f"{why} Enum string fields and strings with formats are allowed.")
        elif said.startswith(".metadata."):
            yield forbidden(place, "must not point to fields in metadata")
        elif said in seen:
            yield type(required(place))("FieldValueDuplicate", f'Duplicate value: "{said}"', place)
        seen.add(said)


def _stored_versions(tree: Tree) -> Causes:
    stored = child(tree, "status", "storedVersions") or []
    versions = child(tree, "spec", "versions") or []
    place = "status.storedVersions"
    if not stored:
        yield invalid(place, None, "must have at least one stored version")
        return
    for version in versions:
        if version.get("storage") and version.get("name") not in stored:
            yield invalid(place, stored, f"must have the storage version {version.get('name')}")
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(f"{place}[{index}]", name, why)
