"""What the server sets and preserves on objects of single kinds, in addition to `strategy`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind
from listwatch.server.json_tree import ensure_object, integer_at, object_at, same, value_at
from listwatch.server.requests import User

__all__ = ["KIND_STRATEGIES"]

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_NUMBER = re.compile(r"[0-9]+")


def _signing_request(new: JSONObject, old: JSONObject | None, user: User) -> None:
    """The spec has the user that created it, and only subresources change the request."""
    if old is not None:
        new["spec"] = old.get("spec", {})
        return
    spec = ensure_object(new, "spec")
    requester: JSONObject = {
        "username": user.name,
        "uid": user.uid,
        "groups": [*user.groups],
        "extra": {name: [*values] for name, values in user.extra.items()},
    }
    for name, value in requester.items():
        spec.pop(name, None)
        if value:
            spec[name] = value


def _daemon_set(new: JSONObject, old: JSONObject | None, user: User) -> None:
    """An annotation counts the changes of the template."""
    if old is None:
        count = max(_template_generation(new), 1)
    else:
        changed = not same(value_at(new, "spec", "template"), value_at(old, "spec", "template"))
        count = _template_generation(old) + changed
    ensure_object(new, "metadata", "annotations")[_TEMPLATE_GENERATION] = str(count)


def _template_generation(daemon_set: JSONObject) -> int:
    text = object_at(daemon_set, "metadata", "annotations").get(_TEMPLATE_GENERATION)
    return int(text) if isinstance(text, str) and _NUMBER.fullmatch(text) else 0


def _csi_driver(new: JSONObject, old: JSONObject | None, _user: User) -> None:
    """The generation counts the changes of the spec; a new driver has none."""
    if old is not None and not same(value_at(new, "spec"), value_at(old, "spec")):
        ensure_object(new, "metadata")["generation"] = integer_at(old, "metadata", "generation") + 1


KIND_STRATEGIES: Mapping[GroupKind, Callable[[JSONObject, JSONObject | None, User], None]] = {
    GroupKind("apps", "DaemonSet"): _daemon_set,
    GroupKind("certificates.k8s.io", "CertificateSigningRequest"): _signing_request,
    GroupKind("storage.k8s.io", "CSIDriver"): _csi_driver,
}
"""Functions of the new and the old object, which is None on create, and the user; they change the new one in place."""
