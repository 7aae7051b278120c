"""The rules for ConfigMap, Secret, Namespace, LimitRange, ResourceQuota and Lease: what others are set up by."""

from __future__ import annotations

import binascii
from collections.abc import Mapping

from listwatch.errors import DecodeError
from listwatch.quantity import Quantity
from listwatch.server.codec.decoding import parse_json
from listwatch.server.field_errors import duplicate, forbidden, invalid, required, too_long
from listwatch.server.json_tree import Tree, child, children
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_changes,
    all_of,
    amount,
    at,
    at_least,
    changed,
    config_key,
    immutable,
    inside,
    qualified_name,
)
from listwatch.server.rules.metadata import standard_finalizer

__all__ = [
    "CONFIG_MAP",
    "LEASE",
    "LIMIT_RANGE",
    "NAMESPACE",
    "RESOURCE_QUOTA",
    "SECRET",
    "config_change",
    "secret_change",
]

_MAX_SIZE = 1024 * 1024


# --- config maps and secrets -----------------------------------------------------------------------------------------


def _keys(data: Tree, path: str) -> Causes:
    for key in data:
        for said in config_key(key):
            yield invalid(f"{path}[{key}]", key, said)


def _clear_keys(config: Tree, path: str) -> Causes:
    for key in config.get("data", {}).keys() & config.get("binaryData", {}).keys():
        yield invalid(inside(path, f"data[{key}]"), key, "duplicate of key present in binaryData")


def _size(config: Tree, _path: str) -> Causes:
    size = sum(len(text.encode()) for text in config.get("data", {}).values())
    size += sum(_decoded_size(text) for text in config.get("binaryData", {}).values())
    if size > _MAX_SIZE:
        yield too_long("[]", _MAX_SIZE)


def _secret_size(secret: Tree, path: str) -> Causes:
    if sum(_decoded_size(text) for text in secret.get("data", {}).values()) > _MAX_SIZE:
        yield too_long(inside(path, "data"), _MAX_SIZE)


def _decoded_size(text: str) -> int:
    return len(text) // 4 * 3 - text[-2:].count("=")


CONFIG_MAP = all_of(at("data", _keys), at("binaryData", _keys), _clear_keys, _size)


def _has(*keys: str) -> Check:
    def check(secret: Tree, path: str) -> Causes:
        for key in keys:
            if key not in secret.get("data", {}):
                yield required(inside(path, f"data[{key}]"))

    return check


def _has_one_of(*keys: str) -> Check:
    every = _has(*keys)
    return lambda secret, path: () if secret.get("data", {}).keys() & set(keys) else every(secret, path)


def _is_json(key: str) -> Check:
    def check(secret: Tree, path: str) -> Causes:
        if (text := secret.get("data", {}).get(key)) is not None:
            try:
                parse_json(binascii.a2b_base64(text), find_duplicates=False)
            except DecodeError as error:
                # What it says is the place where the text goes wrong, and nothing of what is around it.
                yield invalid(inside(path, f"data[{key}]"), "<secret contents redacted>", error.message)

    return check


def _names_account(secret: Tree, path: str) -> Causes:
    name = "kubernetes.io/service-account.name"
    if not (child(secret, "metadata", "annotations") or {}).get(name):
        yield required(inside(path, f"metadata.annotations[{name}]"))


_SECRET_TYPES: Mapping[str, Check] = {
    "kubernetes.io/service-account-token": _names_account,
    "kubernetes.io/dockercfg": all_of(_has(".dockercfg"), _is_json(".dockercfg")),
    "kubernetes.io/dockerconfigjson": all_of(_has(".dockerconfigjson"), _is_json(".dockerconfigjson")),
    "kubernetes.io/basic-auth": _has_one_of("username", "password"),
    "kubernetes.io/ssh-auth": _has("ssh-privatekey"),
    "kubernetes.io/tls": _has("tls.crt", "tls.key"),
}


def _secret_type(secret: Tree, path: str) -> Causes:
    if rule := _SECRET_TYPES.get(secret.get("type", "")):
        yield from rule(secret, path)


SECRET = all_of(at("data", _keys), _secret_size, _secret_type)


def config_change(new: Tree, old: Tree, path: str) -> Causes:
    """Once it is immutable, it is that for good."""
    if old.get("immutable"):
        said = "field is immutable when `immutable` is set"
        if not new.get("immutable"):
            yield forbidden(inside(path, "immutable"), said)
        for name in ("data", "binaryData"):
            if changed(new, old, name):
                yield forbidden(inside(path, name), said)


secret_change = all_changes(immutable("type"), config_change)


# --- namespaces and their limits -------------------------------------------------------------------------------------


def _namespace_finalizers(finalizers: Tree, path: str) -> Causes:
    for finalizer in finalizers:
        yield from (invalid(path, finalizer, said) for said in qualified_name(finalizer))
        yield from standard_finalizer(finalizer, path)


NAMESPACE = at("spec.finalizers", _namespace_finalizers)

_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def _limits(spec: Tree, path: str) -> Causes:
    seen: set[str] = set()
    for index, limit in enumerate(children(spec, "limits")):
        where, kind = f"{path}.limits[{index}]", limit.get("type", "")
        yield from (invalid(f"{where}.type", kind, said) for said in qualified_name(kind))
        if kind and kind not in _LIMIT_TYPES and "/" not in kind:
            yield invalid(f"{where}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield duplicate(f"{where}.type", kind)
        seen.add(kind)
        yield from _bounds(limit, where)


def _bounds(limit: Tree, path: str) -> Causes:
    """The least, what is asked for by default, what is allowed by default, and the most come in this order."""
    names = {"min": "min", "defaultRequest": "default request", "default": "default", "max": "max"}
    ordered = list(names.items())
    for index, (name, word) in enumerate(ordered):
        for other, other_word in ordered[index + 1 :]:
            for resource, value in limit.get(name, {}).items():
                bound = limit.get(other, {}).get(resource)
                if bound is not None and Quantity(value) > Quantity(bound):
                    said = f"{word} value {value} is greater than {other_word} value {bound}"
                    yield invalid(f"{path}.{name}[{resource}]", value, said)


LIMIT_RANGE = at("spec", _limits)

_QUOTA_RESOURCES = (
    *("cpu", "memory", "ephemeral-storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets"),
    *("configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)
_QUOTA_PREFIXES = ("requests.", "limits.", "count/", "hugepages-")


def _quota(spec: Tree, path: str) -> Causes:
    for name, value in spec.get("hard", {}).items():
        where = f"{path}.hard[{name}]"
        yield from (invalid(where, name, said) for said in qualified_name(name))
        if "/" not in name and name not in _QUOTA_RESOURCES and not name.startswith(_QUOTA_PREFIXES):
            yield invalid(where, name, "must be a standard resource type or fully qualified")
            yield invalid(where, name, "must be a standard resource for quota")
        yield from amount()(value, where)


_SCOPES = {
    *("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass"),
    *("CrossNamespacePodAffinity", "VolumeAttributesClass"),
}


def _scopes(scopes: Tree, path: str) -> Causes:
    if not set(scopes) <= _SCOPES:
        yield invalid(path, scopes, "unsupported scope")


RESOURCE_QUOTA = at("spec", _quota, at("scopes", _scopes))


# --- leases ----------------------------------------------------------------------------------------------------------

LEASE = at(
    "spec",
    at("leaseDurationSeconds", at_least(1, "must be greater than 0")),
    at("leaseTransitions", at_least(0)),
)
