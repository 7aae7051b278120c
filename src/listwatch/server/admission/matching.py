"""Decides which writes a policy, a binding or a webhook selects, and in which version of the resource."""

from __future__ import annotations

from listwatch.errors import SelectorError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.selectors import LabelSelector
from listwatch.server.admission.attributes import Attributes
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import Registry

__all__ = ["GROUP", "MatchError", "is_exempt", "matched_resource"]

GROUP = "admissionregistration.k8s.io"
_EXEMPT = frozenset(
    f"{kind}{plural}"
    for kind in ("validating", "mutating")
    for plural in ("admissionpolicies", "admissionpolicybindings", "webhookconfigurations")
)


class MatchError(Exception):
    """Criteria that cannot be evaluated."""


def is_exempt(request: APIRequest) -> bool:
    """Whether a write is not subject to policies and webhooks, because it may change or delete them."""
    return request.resource.group == GROUP and request.resource.plural in _EXEMPT


def matched_resource(criteria: JSONObject, attributes: Attributes, registry: Registry) -> Resource | None:
    """Return the resource in the version that the criteria select, None if they do not; raises MatchError.

    A rule that names the requested version counts more than an earlier one that names an equivalent one.
    """
    if not _matches_selectors(criteria, attributes):
        return None
    excluded, rules = objects_at(criteria, "excludeResourceRules"), objects_at(criteria, "resourceRules")
    exact = criteria.get("matchPolicy") == "Exact"
    if excluded and _first_match(excluded, attributes, registry, exact=exact):
        return None
    return _first_match(rules, attributes, registry, exact=exact) if rules else attributes.request.resource


def _first_match(
    rules: list[JSONObject], attributes: Attributes, registry: Registry, *, exact: bool
) -> Resource | None:
    requested = attributes.request.resource
    if any(_matches_rule(rule, attributes, requested) for rule in rules):
        return requested
    if exact:
        return None
    subresource = attributes.request.subresource
    equivalents = [
        each
        for each in registry.equivalents(requested)
        if each is not requested and (not subresource or each.subresource(subresource))
    ]
    matches = (each for rule in rules for each in equivalents if _matches_rule(rule, attributes, each))
    return next(matches, None)


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
        return any(_selects(selector, each) for each in candidates if "metadata" in each)
    return True


def _selects(selector: JSONObject, tree: JSONObject) -> bool:
    try:
        found = LabelSelector.from_dict(selector)
    except SelectorError as error:
        raise MatchError(str(error)) from None
    labels = object_at(tree, "metadata", "labels")
    return found.matches({name: value for name, value in labels.items() if isinstance(value, str)})


def _matches_rule(rule: JSONObject, attributes: Attributes, resource: Resource) -> bool:
    """Whether a rule selects a write, as one of this version of the resource."""
    request = attributes.request

    def contains(name: str, value: str) -> bool:
        return not {"*", value}.isdisjoint(texts_at(rule, name))

    names = texts_at(rule, "resourceNames")
    return (
        contains("operations", attributes.operation)
        and contains("apiGroups", resource.group)
        and contains("apiVersions", resource.version)
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
