"""Rules for webhook configurations, admission policies and their bindings, except for their expressions."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from listwatch.json_value import JSONObject
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_supported, required
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, texts_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    dns_1035_label,
    dns_subdomain,
    field_path,
    one_of,
    path_segment,
)
from listwatch.server.rules.metadata import selector

__all__ = [
    "MUTATING_BINDING",
    "VALIDATING_BINDING",
    "mutating_operations",
    "policy_match",
    "webhook_client",
    "webhooks",
]

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_ACTIONS = ("Audit", "Deny", "Warn")
_URL_FORM = "; desired format: https://host[/path]"
_EXCLUSIVE = "name and selector are mutually exclusive"


# --- Rules of webhooks and policies -----------------------------------------------------------------------------------


def _rule(rule: JSONObject, path: str) -> Causes:
    operations = texts_at(rule, "operations")
    yield from _alone(operations, f"{path}.operations", "operations")
    for index, each in enumerate(operations):
        if each not in _OPERATIONS:
            yield not_supported(f"{path}.operations[{index}]", each, _OPERATIONS)
    yield from _alone(texts_at(rule, "apiGroups"), f"{path}.apiGroups", "API groups")
    versions = texts_at(rule, "apiVersions")
    yield from _alone(versions, f"{path}.apiVersions", "API versions")
    yield from (required(f"{path}.apiVersions[{index}]") for index, each in enumerate(versions) if not each)
    yield from _resources(texts_at(rule, "resources"), f"{path}.resources")
    if (scope := rule.get("scope")) is not None and scope not in _SCOPES:
        yield not_supported(f"{path}.scope", scope, _SCOPES)


def _alone(values: Sequence[str], path: str, what: str) -> Causes:
    """A wildcard must be the only value."""
    if not values:
        yield required(path)
    if len(values) > 1 and "*" in values:
        yield invalid(path, values, f"if '*' is present, must not specify other {what}")


def _resources(resources: Sequence[str], path: str) -> Causes:
    if not resources:
        yield required(path)
    with_all_subresources: set[str] = set()
    of_all_resources: set[str] = set()
    has_plain = False
    for index, each in enumerate(resources):
        if not each:
            yield required(f"{path}[{index}]")
            continue
        resource, slash, subresource = each.partition("/")
        if not slash:
            has_plain = each != "*"
            continue
        if resource in with_all_subresources:
            yield invalid(f"{path}[{index}]", each, f"if '{resource}/*' is present, must not specify {each}")
        if subresource in of_all_resources:
            yield invalid(f"{path}[{index}]", each, f"if '*/{subresource}' is present, must not specify {each}")
        if subresource == "*":
            with_all_subresources.add(resource)
        if resource == "*":
            of_all_resources.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and has_plain:
        yield invalid(path, resources, "if '*' is present, must not specify other resources without subresources")


_SELECTORS = all_of(at("namespaceSelector", selector), at("objectSelector", selector))


# --- Webhooks ---------------------------------------------------------------------------------------------------------


def _webhook_name(name: str, path: str) -> Causes:
    if not name:
        yield required(path)
    elif problems := [*dns_subdomain(name)]:
        yield invalid(path, name, ",".join(problems))
    elif name.count(".") < 2:
        yield invalid(path, name, "should be a domain with at least three segments separated by dots")


def webhook_client(config: JSONObject, path: str) -> Causes:
    """The rule for the place of a webhook."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(str(url), f"{path}.url")
    else:
        yield from _service(object_at(service), f"{path}.service")


def _url(text: str, path: str) -> Causes:
    try:
        url = urlsplit(text)
        if text.startswith(":"):
            raise ValueError
    except ValueError:
        yield required(path, f'url must be a valid URL: parse "{text}": missing protocol scheme{_URL_FORM}')
        return
    user, _, host = url.netloc.rpartition("@")
    if url.scheme != "https":
        yield invalid(path, url.scheme, f"'https' is the only allowed URL scheme{_URL_FORM}")
    if not host:
        yield invalid(path, host, f"host must be specified{_URL_FORM}")
    if user:
        yield invalid(path, user, "user information is not permitted in the URL")
    if url.fragment:
        yield invalid(path, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield invalid(path, url.query, "query parameters are not permitted in the URL")


def _service(service: JSONObject, path: str) -> Causes:
    # As in kube-apiserver, the error of each field has the path of the other.
    if not text_at(service, "namespace"):
        yield required(f"{path}.name")
    if not text_at(service, "name"):
        yield required(f"{path}.namespace")
    port = integer_at(service, "port", default=443)
    if not 1 <= port <= 65535:
        yield invalid(f"{path}.port", port, "port is not valid: must be between 1 and 65535, inclusive")
    yield from _service_path(text_at(service, "path"), f"{path}.path")


def _service_path(text: str, path: str) -> Causes:
    if text in ("", "/"):
        return
    if text == "//":
        yield invalid(path, text, "segment[0] may not be empty")
        return
    if not text.startswith("/"):
        yield invalid(path, text, "must start with a '/'")
    for index, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            yield invalid(path, text, f"segment[{index}] may not be empty")
            continue
        yield from (invalid(path, text, f"segment[{index}]: {problem}") for problem in dns_subdomain(segment))


def _review_versions(versions: Sequence[str], path: str) -> Causes:
    if not versions:
        yield required(path, f"must specify one of {', '.join(_REVIEW_VERSIONS)}")
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
            continue
        seen.add(version)
        yield from (invalid(f"{path}[{index}]", version, problem) for problem in dns_1035_label(version))
    if seen.isdisjoint(_REVIEW_VERSIONS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")


_SETTINGS = all_of(
    at("failurePolicy", one_of("Fail", "Ignore")),
    at("matchPolicy", one_of("Equivalent", "Exact")),
)


def _webhook(webhook: JSONObject, path: str) -> Causes:
    yield from _webhook_name(text_at(webhook, "name"), f"{path}.name")
    for index, rule in enumerate(objects_at(webhook, "rules")):
        yield from _rule(rule, f"{path}.rules[{index}]")
    yield from _SETTINGS(webhook, path)
    side_effects = webhook.get("sideEffects")
    if side_effects is None:
        yield required(f"{path}.sideEffects", f"must specify one of {', '.join(_SIDE_EFFECTS)}")
    elif side_effects not in _SIDE_EFFECTS:
        yield not_supported(f"{path}.sideEffects", side_effects, _SIDE_EFFECTS)
    timeout = webhook.get("timeoutSeconds")
    if isinstance(timeout, int) and not 1 <= timeout <= 30:
        yield invalid(f"{path}.timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds")
    yield from _SELECTORS(webhook, path)
    yield from at("reinvocationPolicy", one_of("IfNeeded", "Never"))(webhook, path)
    yield from webhook_client(object_at(webhook, "clientConfig"), f"{path}.clientConfig")
    yield from _review_versions(texts_at(webhook, "admissionReviewVersions"), f"{path}.admissionReviewVersions")


def webhooks(configuration: JSONObject, path: str) -> Causes:
    """The rule for a webhook configuration; match conditions are checked with their expressions."""
    names: set[str] = set()
    for index, webhook in enumerate(objects_at(configuration, "webhooks")):
        place = field_path(path, f"webhooks[{index}]")
        yield from _webhook(webhook, place)
        name = text_at(webhook, "name")
        if name and name in names:
            yield duplicate(f"{place}.name", name)
        names.add(name)


# --- Policies and bindings --------------------------------------------------------------------------------------------


def policy_match(spec: JSONObject) -> Causes:
    """The rule for the parts of a policy that say what it applies to."""
    yield from at("failurePolicy", one_of("Fail", "Ignore"))(spec, "spec")
    if isinstance(kind := spec.get("paramKind"), dict):
        yield from _param_kind(kind, "spec.paramKind")
    if spec.get("matchConstraints") is None:
        yield required("spec.matchConstraints")
        return
    constraints = object_at(spec, "matchConstraints")
    yield from _match_resources(constraints, "spec.matchConstraints")
    if not objects_at(constraints, "resourceRules"):
        yield required("spec.matchConstraints.resourceRules")


def _param_kind(kind: JSONObject, path: str) -> Causes:
    api_version, name = text_at(kind, "apiVersion"), text_at(kind, "kind")
    group, _, version = api_version.rpartition("/")
    if not api_version:
        yield required(f"{path}.apiVersion")
    elif api_version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}")
    else:
        if group and (problems := [*dns_subdomain(group)]):
            yield invalid(f"{path}.apiVersion", group, ",".join(problems))
        if not version:
            yield invalid(f"{path}.apiVersion", api_version, "version must be specified")
        elif problems := [*dns_1035_label(version)]:
            yield invalid(f"{path}.apiVersion", version, ",".join(problems))
    if not name:
        yield required(f"{path}.kind")
    elif problems := [*dns_1035_label(name.lower())]:
        why = "may have mixed case, but should otherwise match: "
        yield invalid(f"{path}.kind", name, why + ",".join(problems))


def _match_resources(criteria: JSONObject, path: str) -> Causes:
    yield from at("matchPolicy", one_of("Equivalent", "Exact"))(criteria, path)
    yield from _SELECTORS(criteria, path)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(objects_at(criteria, field)):
            yield from _named_rule(rule, f"{path}.{field}[{index}]")


def _named_rule(rule: JSONObject, path: str) -> Causes:
    seen: set[str] = set()
    for index, name in enumerate(texts_at(rule, "resourceNames")):
        yield from (invalid(f"{path}.resourceNames[{index}]", name, problem) for problem in path_segment(name))
        if name in seen:
            yield duplicate(f"{path}.resourceNames[{index}]", name)
        seen.add(name)
    yield from _rule(rule, path)


def mutating_operations(criteria: JSONObject, path: str) -> Causes:
    """Deletions cannot be changed."""
    for rule in objects_at(criteria, "resourceRules"):
        for operation in texts_at(rule, "operations"):
            if operation not in _MUTATING_OPERATIONS:
                yield not_supported(f"{path}.resourceRules.operations", operation, _MUTATING_OPERATIONS)


def _binding(binding: JSONObject, path: str) -> Causes:
    spec, name = object_at(binding, "spec"), text_at(binding, "spec", "policyName")
    path = field_path(path, "spec")
    if not name:
        yield required(f"{path}.policyName")
    yield from (invalid(f"{path}.policyName", name, problem) for problem in (dns_subdomain(name) if name else ()))
    if isinstance(reference := spec.get("paramRef"), dict):
        yield from _param_reference(reference, f"{path}.paramRef")
    if isinstance(criteria := spec.get("matchResources"), dict):
        yield from _match_resources(criteria, f"{path}.matchResources")


def _param_reference(reference: JSONObject, path: str) -> Causes:
    name, labels = text_at(reference, "name"), reference.get("selector")
    if name:
        yield from (invalid(f"{path}.name", name, problem) for problem in path_segment(name))
        if labels is not None:
            yield forbidden(f"{path}.name", _EXCLUSIVE)
    if labels is not None:
        yield from selector(labels, f"{path}.selector")
        if name:
            yield forbidden(f"{path}.selector", _EXCLUSIVE)
    if not name and labels is None:
        yield required(path, "one of name or selector must be specified")
    action = text_at(reference, "parameterNotFoundAction")
    if not action:
        yield required(f"{path}.parameterNotFoundAction")
    elif action not in ("Deny", "Allow"):
        yield not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))


def _actions(binding: JSONObject, path: str) -> Causes:
    actions = texts_at(binding, "spec", "validationActions")
    path = field_path(path, "spec.validationActions")
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(f"{path}[{index}]", action, _ACTIONS)
        if action in actions[:index]:
            yield duplicate(f"{path}[{index}]", action)
    if {"Deny", "Warn"} <= {*actions}:
        why = "repeating the same validation failure information in the API response and headers serves no purpose"
        yield invalid(path, actions, f"must not contain both Deny and Warn ({why})")
    if not actions:
        yield required(path, "at least one validation action is required")


def _mutated_operations(binding: JSONObject, path: str) -> Causes:
    yield from mutating_operations(
        object_at(binding, "spec", "matchResources"), field_path(path, "spec.matchResources")
    )


VALIDATING_BINDING = all_of(_binding, _actions)
MUTATING_BINDING = all_of(_binding, _mutated_operations)
