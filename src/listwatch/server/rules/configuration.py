"""Rules for ConfigMap, Secret, Namespace, LimitRange, ResourceQuota and Lease."""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence

from listwatch.errors import DecodeError, StatusCause
from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.codec.decoding import parse_json
from listwatch.server.field_errors import duplicate, forbidden, invalid, required, too_long
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    all_updates,
    at,
    at_least,
    changed,
    config_key,
    field_path,
    immutable,
    qualified_name,
    quantity,
)
from listwatch.server.rules.metadata import standard_finalizer

__all__ = [
    "CONFIG_MAP",
    "LEASE",
    "LIMIT_RANGE",
    "NAMESPACE",
    "RESOURCE_QUOTA",
    "SECRET",
    "config_update",
    "secret_update",
]

_MAX_SIZE = 1024 * 1024


# --- config maps and secrets -----------------------------------------------------------------------------------------


def _keys(data: JSONObject, path: str) -> list[StatusCause]:
    causes: list[StatusCause] = []
    for key in data:
        if problems := config_key(key):
            causes += [invalid(f"{path}[{key}]", key, each) for each in problems]
    return causes


def _distinct_keys(config: JSONObject, path: str) -> Sequence[StatusCause]:
    if not config.get("binaryData"):
        return ()
    both = object_at(config, "data").keys() & object_at(config, "binaryData").keys()
    why = "duplicate of key present in binaryData"
    return [invalid(field_path(path, f"data[{key}]"), key, why) for key in both]


def _size(config: JSONObject, _path: str) -> Sequence[StatusCause]:
    texts = [text for text in object_at(config, "data").values() if isinstance(text, str)]
    size = sum(map(len, texts))
    if 4 * size > _MAX_SIZE:  # it may be too large in UTF-8
        size = sum(len(text.encode()) for text in texts)
    if config.get("binaryData"):
        size += _decoded_size(config, "binaryData")
    return [too_long("[]", _MAX_SIZE)] if size > _MAX_SIZE else ()


def _secret_size(secret: JSONObject, path: str) -> Causes:
    if _decoded_size(secret, "data") > _MAX_SIZE:
        yield too_long(field_path(path, "data"), _MAX_SIZE)


def _decoded_size(tree: JSONObject, field: str) -> int:
    """Return the size of the base64 values of a map, decoded."""
    texts = (text for text in object_at(tree, field).values() if isinstance(text, str))
    return sum(len(text) // 4 * 3 - text[-2:].count("=") for text in texts)


CONFIG_MAP = all_of(at("data", _keys), at("binaryData", _keys), _distinct_keys, _size)


def _has(*keys: str) -> Check:
    def check(secret: JSONObject, path: str) -> Causes:
        for key in keys:
            if key not in object_at(secret, "data"):
                yield required(field_path(path, f"data[{key}]"))

    return check


def _has_any_of(*keys: str) -> Check:
    all_keys = _has(*keys)
    return lambda secret, path: () if object_at(secret, "data").keys() & set(keys) else all_keys(secret, path)


def _is_json(key: str) -> Check:
    def check(secret: JSONObject, path: str) -> Causes:
        if value_at(secret, "data", key) is not None:
            try:
                parse_json(binascii.a2b_base64(text_at(secret, "data", key)), find_duplicates=False)
            except DecodeError as error:
                # The message has the position of the error, and nothing of the secret.
                yield invalid(field_path(path, f"data[{key}]"), "<secret contents redacted>", error.message)

    return check


def _names_service_account(secret: JSONObject, path: str) -> Causes:
    name = "kubernetes.io/service-account.name"
    if not value_at(secret, "metadata", "annotations", name):
        yield required(field_path(path, f"metadata.annotations[{name}]"))


_SECRET_TYPES: Mapping[str, Check] = {
    "kubernetes.io/service-account-token": _names_service_account,
    "kubernetes.io/dockercfg": all_of(_has(".dockercfg"), _is_json(".dockercfg")),
    "kubernetes.io/dockerconfigjson": all_of(_has(".dockerconfigjson"), _is_json(".dockerconfigjson")),
    "kubernetes.io/basic-auth": _has_any_of("username", "password"),
    "kubernetes.io/ssh-auth": _has("ssh-privatekey"),
    "kubernetes.io/tls": _has("tls.crt", "tls.key"),
}


def _secret_type(secret: JSONObject, path: str) -> Causes:
    if rule := _SECRET_TYPES.get(text_at(secret, "type")):
        yield from rule(secret, path)


SECRET = all_of(at("data", _keys), _secret_size, _secret_type)


def config_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """An immutable object stays so, with its data."""
    if old.get("immutable"):
        detail = "field is immutable when `immutable` is set"
        if not new.get("immutable"):
            yield forbidden(field_path(path, "immutable"), detail)
        for name in ("data", "binaryData"):
            if changed(new, old, name):
                yield forbidden(field_path(path, name), detail)


secret_update = all_updates(immutable("type", missing=""), config_update)


# --- namespaces and their limits -------------------------------------------------------------------------------------


def _namespace_finalizers(finalizers: list[str], path: str) -> Causes:
    for finalizer in finalizers:
        yield from (invalid(path, finalizer, detail) for detail in qualified_name(finalizer))
        yield from standard_finalizer(finalizer, path)


NAMESPACE = at("spec.finalizers", _namespace_finalizers)

_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def _limits(spec: JSONObject, path: str) -> Causes:
    seen: set[str] = set()
    for index, limit in enumerate(objects_at(spec, "limits")):
        field, kind = f"{path}.limits[{index}]", text_at(limit, "type")
        yield from (invalid(f"{field}.type", kind, detail) for detail in qualified_name(kind))
        if kind and kind not in _LIMIT_TYPES and "/" not in kind:
            yield invalid(f"{field}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield duplicate(f"{field}.type", kind)
        seen.add(kind)
        yield from _bounds(limit, field)


def _bounds(limit: JSONObject, path: str) -> Causes:
    """The bounds must be in this order: min, default request, default, max."""
    is_pod, is_claim = (text_at(limit, "type") == kind for kind in ("Pod", "PersistentVolumeClaim"))
    parts = ("max", "min") if is_pod else ("max", "min", "default", "defaultRequest")
    if is_pod:
        for name in ("default", "defaultRequest"):
            if object_at(limit, name):
                yield forbidden(f"{path}.{name}", "may not be specified when `type` is 'Pod'")
    if is_claim and not any("storage" in object_at(limit, name) for name in ("min", "max")):
        why = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", why)
    for resource in sorted({key for name in (*parts, _RATIO) for key in object_at(limit, name)}):
        amounts = {name: Quantity(text) for name in (*parts, _RATIO) if (text := text_at(limit, name, resource))}
        for low, high, shown, field, texts in _ORDERED_BOUNDS:
            if low in amounts and high in amounts and amounts[low] > amounts[high]:
                detail = f"{texts[0]} value {amounts[low]} is greater than {texts[1]} value {amounts[high]}"
                yield invalid(f"{path}.{field}[{resource}]", str(amounts[shown]), detail)
        yield from _ratio(amounts, f"{path}.{_RATIO}[{resource}]")


_RATIO = "maxLimitRequestRatio"
# The lower and the higher bound, the one whose value is shown, the field, and the words for both.
_ORDERED_BOUNDS = (
    ("min", "max", "min", "min", ("min", "max")),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", ("min", "default request")),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", ("default request", "max")),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", ("default request", "default limit")),
    ("min", "default", "min", "default", ("min", "default")),
    ("default", "max", "max", "default", ("default", "max")),
)


def _ratio(amounts: Mapping[str, Quantity], path: str) -> Causes:
    ratio = amounts.get(_RATIO)
    if ratio is None:
        return
    if ratio < 1:
        yield invalid(path, str(ratio), f"ratio {ratio} is less than 1")
    lowest, highest = amounts.get("min"), amounts.get("max")
    if not lowest or highest is None:  # no ratio exceeds that of a minimum of zero
        return
    limit = float(highest.value / lowest.value)
    if float(ratio.value) > limit:
        yield invalid(path, str(ratio), f"ratio {ratio} is greater than max/min = {limit:f}")


LIMIT_RANGE = at("spec", _limits)

_QUOTA_RESOURCES = (
    *("cpu", "memory", "ephemeral-storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets"),
    *("configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)
_COUNTED = _QUOTA_RESOURCES[3:]
_QUOTA_PREFIXES = ("requests.", "limits.", "count/", "hugepages-")


def _quota(spec: JSONObject, path: str) -> Causes:
    for name, value in object_at(spec, "hard").items():
        field = f"{path}.hard[{name}]"
        problems = [*qualified_name(name)]
        yield from (invalid(field, name, detail) for detail in problems)
        if "/" not in name and name not in _QUOTA_RESOURCES and not name.startswith(_QUOTA_PREFIXES):
            if not problems:
                yield invalid(field, name, "must be a standard resource type or fully qualified")
            yield invalid(field, name, "must be a standard resource for quota")
        found = [*quantity()(value, field)]
        yield from found
        if not found and name in _COUNTED and (amount := Quantity(str(value))).value % 1:
            yield invalid(field, str(amount), "must be an integer")


_SCOPES = {
    *("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass"),
    *("CrossNamespacePodAffinity", "VolumeAttributesClass"),
}


_POD_QUOTA = frozenset({"pods"})
_COMPUTE_QUOTA = frozenset({f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory")})
_STORAGE_QUOTA = frozenset({"persistentvolumeclaims", "requests.storage"})
# The standard resources that a scope can be applied to, if not those of pods.
_SCOPED: Mapping[str, frozenset[str]] = {"BestEffort": _POD_QUOTA, "VolumeAttributesClass": _STORAGE_QUOTA}
_STANDARD_QUOTA = frozenset(
    {*_QUOTA_RESOURCES, *_COMPUTE_QUOTA, "requests.storage", "requests.ephemeral-storage", "limits.ephemeral-storage"}
)
_CONFLICTING_SCOPES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


def _scopes(spec: JSONObject, path: str) -> Causes:
    scopes, field = texts_at(spec, "scopes"), f"{path}.scopes"
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid(field, scopes, "unsupported scope")
        for name in sorted(_STANDARD_QUOTA & object_at(spec, "hard").keys()):
            if scope in _SCOPES and name not in _SCOPED.get(scope, _POD_QUOTA | _COMPUTE_QUOTA):
                yield invalid(field, scopes, "unsupported scope applied to resource")
    for pair in _CONFLICTING_SCOPES:
        if pair <= {*scopes}:
            yield invalid(field, scopes, "conflicting scopes")


_UNCLASSED = _SCOPES - {"PriorityClass", "VolumeAttributesClass"}
_ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def _scope_selector(spec: JSONObject, path: str) -> Causes:
    expressions, field = objects_at(spec, "scopeSelector", "matchExpressions"), f"{path}.scopeSelector.matchExpressions"
    for expression in expressions:
        scope, operator = text_at(expression, "scopeName"), text_at(expression, "operator")
        values = texts_at(expression, "values")
        if scope not in _SCOPES:
            yield invalid(f"{field}.scopeName", scope, "unsupported scope")
        for name in sorted(_STANDARD_QUOTA & object_at(spec, "hard").keys()):
            if scope in _SCOPES and name not in _SCOPED.get(scope, _POD_QUOTA | _COMPUTE_QUOTA):
                yield invalid(field, _shown_selector(expressions), "unsupported scope applied to resource")
        if scope in _UNCLASSED and operator != "Exists":
            yield invalid(f"{field}.operator", operator, _ONLY_EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{field}.values", why)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                yield invalid(f"{field}.values", values, why)
        else:
            yield invalid(f"{field}.operator", operator, "not a valid selector operator")
    for pair in _CONFLICTING_SCOPES:
        if pair <= {text_at(each, "scopeName") for each in expressions}:
            yield invalid(field, None, "conflicting scopes")


def _shown_selector(expressions: list[JSONObject]) -> JSONObject:
    """A selector with the names of kube-apiserver's Go fields."""
    names = {"ScopeName": "scopeName", "Operator": "operator", "Values": "values"}
    return {"MatchExpressions": [{field: each.get(name) for field, name in names.items()} for each in expressions]}


RESOURCE_QUOTA = at("spec", _quota, _scopes, _scope_selector)


# --- leases ----------------------------------------------------------------------------------------------------------

LEASE = at(
    "spec",
    at("leaseDurationSeconds", at_least(1, "must be greater than 0")),
    at("leaseTransitions", at_least(0)),
)
