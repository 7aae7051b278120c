"""A write as admission sees it, and the criteria that select writes."""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.errors import SelectorError
from listwatch.json_value import JSONObject
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import Registry

__all__ = ["Attributes", "MatchError", "matches_criteria", "request_value"]

_OPERATIONS = {
    "create": "CREATE",
    "update": "UPDATE",
    "patch": "UPDATE",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}


class MatchError(Exception):
    """Criteria that cannot be evaluated."""


@dataclass(slots=True)
class Attributes:
    """One write: the request, and the object before and after it in the requested version."""

    request: APIRequest
    new: JSONObject | None
    old: JSONObject | None
    dry_run: bool
    namespace: JSONObject | None
    """The namespace of the object; None for objects without one."""

    @property
    def operation(self) -> str:
        # An update or an apply of a missing object creates it.
        if self.new is not None and self.old is None:
            return "CREATE"
        return _OPERATIONS.get(self.request.verb, "UPDATE") if self.new is None or self.old is None else "UPDATE"

    @property
    def name(self) -> str:
        return self.request.name or text_at(self.new or self.old or {}, "metadata", "name")

    @property
    def is_namespace(self) -> bool:
        return self.request.resource.group_resource == ("", "namespaces")


def request_value(attributes: Attributes) -> JSONObject:
    """Return the AdmissionRequest of a write, without its objects."""
    request = attributes.request
    resource, user = request.resource, request.user
    kind: JSONObject = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    plural: JSONObject = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    extra: JSONObject = {name: [*values] for name, values in user.extra.items()}
    info: JSONObject = {"username": user.name, "uid": user.uid, "groups": [*user.groups], "extra": extra}
    return {
        "kind": kind,
        "resource": plural,
        "subResource": request.subresource,
        "requestKind": {**kind},
        "requestResource": {**plural},
        "requestSubResource": request.subresource,
        "name": attributes.name,
        "namespace": request.namespace,
        "operation": attributes.operation,
        "userInfo": {name: value for name, value in info.items() if value},
        "dryRun": attributes.dry_run,
        "options": {},
    }


def matches_criteria(criteria: JSONObject, attributes: Attributes, registry: Registry) -> bool:
    """Whether the criteria of a policy or binding select a write; raises MatchError."""
    if not _matches_selectors(criteria, attributes):
        return False
    exact = criteria.get("matchPolicy") == "Exact"
    rules, excluded = objects_at(criteria, "resourceRules"), objects_at(criteria, "excludeResourceRules")
    if any(matches_rule(rule, attributes, registry, exact=exact) for rule in excluded):
        return False
    return not rules or any(matches_rule(rule, attributes, registry, exact=exact) for rule in rules)


def _matches_selectors(criteria: JSONObject, attributes: Attributes) -> bool:
    """Namespaces are selected by their own labels; objects without a namespace match every namespace selector."""
    namespace = criteria.get("namespaceSelector")
    if isinstance(namespace, dict) and namespace:
        labelled = (attributes.new or attributes.old) if attributes.is_namespace else attributes.namespace
        if labelled is not None and not _selects(namespace, labelled):
            return False
    selector = criteria.get("objectSelector")
    if isinstance(selector, dict) and selector:
        candidates = [each for each in (attributes.new, attributes.old) if each is not None]
        return any(_selects(selector, each) for each in candidates)
    return True


def _selects(selector: JSONObject, tree: JSONObject) -> bool:
    try:
        found = LabelSelector.from_dict(selector)
    except SelectorError as error:
        raise MatchError(str(error)) from None
    labels = object_at(tree, "metadata", "labels")
    return found.matches({name: value for name, value in labels.items() if isinstance(value, str)})


def matches_rule(rule: JSONObject, attributes: Attributes, registry: Registry, *, exact: bool) -> bool:
    """Whether a rule selects a write; without `exact`, also if it names another version of the resource."""
    request = attributes.request
    resource = request.resource

    def contains(name: str, value: str) -> bool:
        return not {"*", value}.isdisjoint(texts_at(rule, name))

    versions = texts_at(rule, "apiVersions")
    other = not exact and any(registry.lookup(resource.group, each, resource.plural) for each in versions)
    names = texts_at(rule, "resourceNames")
    return (
        contains("operations", attributes.operation)
        and contains("apiGroups", resource.group)
        and (contains("apiVersions", resource.version) or other)
        and _has_scope(text_at(rule, "scope"), is_namespaced=bool(request.namespace) and resource.namespaced)
        and (not names or attributes.name in names)
        and any(_names_resource(each, resource.plural, request.subresource) for each in texts_at(rule, "resources"))
    )


def _has_scope(scope: str, *, is_namespaced: bool) -> bool:
    return scope in ("", "*") or (scope == "Namespaced") == is_namespaced


def _names_resource(pattern: str, plural: str, subresource: str) -> bool:
    name, slash, sub = pattern.partition("/")
    if name not in ("*", plural):
        return False
    return sub in ("*", subresource) if slash else not subresource
