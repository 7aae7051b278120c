"""Rules for CustomResourceDefinition. `definition_schemas` has those for the schemas in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_supported, required, too_many
from listwatch.server.json_tree import flag_at, list_at, object_at, objects_at, same, text_at, texts_at, value_at
from listwatch.server.rules.admission import webhook_client
from listwatch.server.rules.checks import Causes, all_updates, dns_1035_label, dns_subdomain, immutable
from listwatch.server.rules.definition_schemas import field_at, schema_rules

__all__ = ["definition_rules", "definition_update", "occurrences"]

# A limit of the embedded server: each version is sorted into all others, and served.
_MAX_VERSIONS = 100
_APPROVAL = "api-approved.kubernetes.io"
_POLICY = "https://github.com/kubernetes/enhancements/pull/1111"
_PROTECTED = re.compile(r"(.*\.)?(k8s|kubernetes)\.io")
_SIMPLE_PATH = re.compile(r"(\.[^.\[\]\s]+)+")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
# Errors in values that all versions share are reported at these fields of the spec, as in the real server.
_SHARED = {"schema": "validation", "subresources": "", "additionalPrinterColumns": "", "selectableFields": ""}


def definition_rules(tree: JSONObject, _path: str = "") -> Causes:
    spec, metadata = object_at(tree, "spec"), object_at(tree, "metadata")
    names = object_at(spec, "names")
    if metadata.get("name") != f"{names.get('plural', '')}.{spec.get('group', '')}":
        yield invalid("metadata.name", text_at(metadata, "name"), 'must be spec.names.plural+"."+spec.group')
    yield from _group(spec, metadata)
    yield from _scope_and_conversion(spec)
    yield from _names(names)
    yield from _versions(spec)
    yield from _stored_versions(tree)


def definition_update(new: JSONObject, old: JSONObject, _path: str = "") -> Iterable[StatusCause]:
    """Group and plural are immutable, because objects are stored by them; scope and kind once it is established."""
    conditions = objects_at(old, "status", "conditions")
    is_established = any(
        (condition.get("type"), condition.get("status")) == ("Established", "True") for condition in conditions
    )
    fields = ["spec.scope", "spec.names.kind"] if is_established else []
    return all_updates(*map(immutable, (*fields, "spec.group", "spec.names.plural")))(new, old, "")


def _group(spec: JSONObject, metadata: JSONObject) -> Causes:
    group = text_at(spec, "group")
    if not group:
        yield required("spec.group")
    elif problems := list(dns_subdomain(group)):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    if _PROTECTED.fullmatch(group) and not value_at(metadata, "annotations", _APPROVAL):
        detail = f'protected groups must have approval annotation "{_APPROVAL}"'
        yield required(f"metadata.annotations[{_APPROVAL}]", f"{detail}, see {_POLICY}")


def _scope_and_conversion(spec: JSONObject) -> Causes:
    yield from _one_of("spec.scope", text_at(spec, "scope"), ("Cluster", "Namespaced"))
    conversion = object_at(spec, "conversion")
    yield from _one_of("spec.conversion.strategy", text_at(conversion, "strategy"), ("None", "Webhook"))
    yield from _conversion_webhook(conversion)
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        yield invalid("spec.preserveUnknownFields", True, detail)


def _conversion_webhook(conversion: JSONObject) -> Causes:
    # The names of the fields are those of an older version of the API.
    path, versions_path = "spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"
    webhook = object_at(conversion, "webhook")
    config, versions = webhook.get("clientConfig"), texts_at(webhook, "conversionReviewVersions")
    if conversion.get("strategy") != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        if isinstance(config, dict):
            yield forbidden(path, why)
        if versions:
            yield forbidden(versions_path, why)
        return
    if isinstance(config, dict):
        yield from webhook_client(config, path)
    else:
        yield required(path, "required when strategy is set to Webhook")
    if not versions:
        yield required(versions_path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{versions_path}[{index}]", version, "duplicate version")
        else:
            yield from (invalid(f"{versions_path}[{index}]", version, each) for each in dns_1035_label(version))
    if not {"v1", "v1beta1"} & {*versions}:
        yield invalid(versions_path, versions, "must include at least one of v1, v1beta1")


def _one_of(field: str, value: str, supported: Sequence[str]) -> Causes:
    if not value:
        yield required(field)
    elif value not in supported:
        yield not_supported(field, value, supported)


def _names(names: JSONObject) -> Causes:
    for name in ("plural", "singular", "kind", "listKind"):
        if not names.get(name):
            yield required(f"spec.names.{name}")
    for name in ("plural", "singular"):
        yield from _label(f"spec.names.{name}", text_at(names, name))
    for name in ("shortNames", "categories"):
        for index, label in enumerate(texts_at(names, name)):
            yield from _label(f"spec.names.{name}[{index}]", label)
    for name in ("kind", "listKind"):
        kind = text_at(names, name)
        if kind and (problems := list(dns_1035_label(kind.lower()))):
            detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            yield invalid(f"spec.names.{name}", kind, detail)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")


def _label(field: str, value: str) -> Causes:
    if value and (problems := list(dns_1035_label(value))):
        yield invalid(field, value, ",".join(problems))


# --- versions ---------------------------------------------------------------------------------------------------------


def _versions(spec: JSONObject) -> Causes:
    versions = objects_at(spec, "versions")
    if len(versions) > _MAX_VERSIONS:
        yield too_many("spec.versions", len(versions), _MAX_VERSIONS)
        return
    shown: list[JSON] = [_shown(version) for version in versions]
    names = [text_at(version, "name") for version in versions]
    for index, name in enumerate(names):
        if problems := list(dns_1035_label(name)):
            yield invalid(f"spec.versions[{index}].name", name, ",".join(problems))
    if len(set(names)) != len(names):
        yield invalid("spec.versions", shown, "must contain unique version names")
    if sum(flag_at(version, "storage") for version in versions) != 1:
        yield invalid("spec.versions", shown, "must have exactly one version marked as storage version")
    for index, version in enumerate(versions):
        yield from _deprecation(version, f"spec.versions[{index}]")
    for name, rules in (
        ("schema", _schema),
        ("subresources", _subresources),
        ("additionalPrinterColumns", _columns),
        ("selectableFields", _selectable),
    ):
        for field, version in occurrences(versions, name):
            yield from rules(version, field)


def _shown(version: JSONObject) -> JSONObject:
    """Return a version as the real server prints it: with Go's field names, without fields moved to the spec."""
    flags = {name.capitalize(): bool(version.get(name)) for name in ("served", "storage", "deprecated")}
    moved = ("DeprecationWarning", "Schema", "Subresources", "AdditionalPrinterColumns", "SelectableFields")
    return {"Name": text_at(version, "name"), **flags, **dict.fromkeys(moved)}


def occurrences(versions: list[JSONObject], name: str) -> Iterator[tuple[str, JSONObject]]:
    """Yield the path and the version of each field to check: one for the spec if all versions have the same value."""
    first = versions[0].get(name) if versions else None
    if first is not None and all(same(version.get(name), first) for version in versions):
        yield f"spec.{_SHARED[name] or name}", versions[0]
        return
    for index, version in enumerate(versions):
        yield f"spec.versions[{index}].{name}", version


def _deprecation(version: JSONObject, path: str) -> Causes:
    warning = version.get("deprecationWarning")
    if warning is not None and not version.get("deprecated"):
        yield invalid(f"{path}.deprecationWarning", warning, "can only be set for deprecated versions")


def _schema(version: JSONObject, path: str) -> Causes:
    field = f"{path}.openAPIV3Schema"
    if value_at(version, "schema", "openAPIV3Schema") is None:
        yield required(field)
    else:
        yield from schema_rules(object_at(version, "schema", "openAPIV3Schema"), field)


def _subresources(version: JSONObject, path: str) -> Causes:
    if value_at(version, "subresources", "scale") is None:
        return
    scale = object_at(version, "subresources", "scale")
    for name, root in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        yield from _scale_path(text_at(scale, name), f"{path}.scale.{name}", (root,), is_required=True)
    roots = (".spec", ".status")
    yield from _scale_path(text_at(scale, "labelSelectorPath"), f"{path}.scale.labelSelectorPath", roots)


def _scale_path(json_path: str, field: str, roots: tuple[str, ...], *, is_required: bool = False) -> Causes:
    if not json_path:
        if is_required:
            yield required(field)
    elif not _SIMPLE_PATH.fullmatch(json_path):
        yield invalid(field, json_path, "must be a simple json path starting with .")
    elif not any(json_path.startswith(f"{root}.") for root in roots):
        yield invalid(field, json_path, f"should be a json path under {' or '.join(roots)}")


def _columns(version: JSONObject, path: str) -> Causes:
    for index, column in enumerate(objects_at(version, "additionalPrinterColumns")):
        field = f"{path}[{index}]"
        if not column.get("name"):
            yield required(f"{field}.name")
        if not column.get("type"):
            yield required(f"{field}.type", f"must be one of {','.join(_COLUMN_TYPES)}")
        elif column["type"] not in _COLUMN_TYPES:
            yield invalid(f"{field}.type", column["type"], f"must be one of {','.join(_COLUMN_TYPES)}")
        if (format_ := text_at(column, "format")) and format_ not in _COLUMN_FORMATS:
            yield invalid(f"{field}.format", format_, f"must be one of {','.join(_COLUMN_FORMATS)}")
        if not (json_path := text_at(column, "jsonPath")):
            yield required(f"{field}.JSONPath")
        elif not json_path.startswith("."):
            yield invalid(f"{field}.JSONPath", json_path, "must be a simple json path starting with .")


def _selectable(version: JSONObject, path: str) -> Causes:
    schema = object_at(version, "schema", "openAPIV3Schema")
    seen: set[str] = set()
    for index, selectable in enumerate(objects_at(version, "selectableFields")):
        field, json_path = f"{path}[{index}].jsonPath", text_at(selectable, "jsonPath")
        found = field_at(schema, json_path)
        if not json_path:
            yield required(field)
        elif found is None:
            yield invalid(field, json_path, "is an invalid path: does not refer to a valid field")
        elif found.get("type") not in ("string", "boolean", "integer"):
            detail = "must point to a field of type string, boolean or integer."
            yield invalid(field, json_path, f"{detail} Enum string fields and strings with formats are allowed.")
        elif json_path.startswith(".metadata."):
            yield forbidden(field, "must not point to fields in metadata")
        elif json_path in seen:
            yield duplicate(field, json_path)
        seen.add(json_path)


def _stored_versions(tree: JSONObject) -> Causes:
    stored = list_at(tree, "status", "storedVersions")
    versions = objects_at(tree, "spec", "versions")
    field = "status.storedVersions"
    if not stored:
        yield invalid(field, None, "must have at least one stored version")
        return
    for version in versions:
        if version.get("storage") and version.get("name") not in stored:
            yield invalid(field, stored, f"must have the storage version {version.get('name')}")
    known = {version.get("name") for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield invalid(f"{field}[{index}]", name, detail)
