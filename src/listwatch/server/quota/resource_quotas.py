"""Enforces ResourceQuotas, and writes what is used into their status.

In a real cluster, an admission plug-in of kube-apiserver does the first, and kube-controller-manager the second.

    event of a namespace with quotas ─▶ usage of the object ─▶ totals of the quotas ─▶ status
    create or update ─▶ usage of the new object less that of the old one ─▶ ForbiddenError if it exceeds a quota
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from listwatch.errors import ConflictError, ForbiddenError, NotFoundError, SelectorError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.quantity import Quantity
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import object_at, objects_at, same, text_at, texts_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.quota.usage import CLAIMS, MEASURED, PODS, SERVICES, Usage, is_tracked, missing_requests, usage_of
from listwatch.server.requests import APIRequest, Query, Response, User
from listwatch.server.storage.values import Event, Stored

__all__ = ["ResourceQuotas"]

QUOTAS = "/resourcequotas"

_NAME = "resourcequota-controller"
_USER = User(f"system:serviceaccount:kube-system:{_NAME}", groups=("system:masters",))
_QUERY = Query.parse("fieldManager=kube-controller-manager")
_COUNT = "count/"
_ZERO = Quantity(0)

Place = tuple[str, ObjectKey]
"""The resource and the key of an object."""


@dataclass(slots=True)
class _Quota:
    """One ResourceQuota: its limits, its scopes, and how much is used."""

    name: str
    hard: dict[str, Quantity]
    scopes: list[JSONObject]
    tracked: dict[str, Quantity]
    """What is used, of all names that some resource tracks."""

    def covers(self, resource: str, usage: Usage) -> bool:
        """Whether the object is in all scopes of the quota; only pods and claims have scopes."""
        if self.scopes and resource not in (PODS, CLAIMS):
            return False
        return all(_is_in_scope(scope, usage) for scope in self.scopes)

    def relevant(self, resource: str) -> list[str]:
        return [name for name in self.hard if is_tracked(name, resource)]

    def add(self, resource: str, usage: Usage | None, sign: int) -> None:
        if usage is not None and self.covers(resource, usage):
            for name, amount in usage.amounts.items():
                if name in self.tracked:
                    self.tracked[name] += amount * sign


@dataclass(slots=True)
class _Namespace:
    """The quotas of a namespace, and what each of its objects uses."""

    quotas: dict[str, _Quota] = field(default_factory=dict)
    usages: dict[Place, Usage] = field(default_factory=dict)
    reserved: list[tuple[int, dict[str, dict[str, Quantity]]]] = field(default_factory=list)
    """What admitted requests will use, by quota, and the revision at which each was admitted. Events replace it."""


class ResourceQuotas:
    """The quotas of all namespaces; a server without quotas does nothing for them.

    Without `writes_status`, another controller writes the status of the quotas.
    """

    def __init__(
        self,
        objects: ObjectStore,
        now: Callable[[], datetime],
        respond: Callable[[APIRequest], Response],
        *,
        writes_status: bool = True,
    ) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._now = now
        self._respond = respond
        self._writes_status = writes_status
        self.namespaces: dict[str, _Namespace] = {}
        self._changed: set[str] = set()
        self._unsubscribe: Callable[[], None] | None = None
        objects.storage.subscribe(self._on_quota, resource=QUOTAS)
        self.recover()

    # --- What is used

    @property
    def has_pending(self) -> bool:
        return self._writes_status and bool(self._changed)

    def recover(self) -> None:
        """Read everything again."""
        self.namespaces = {}
        for namespace in {stored.key.namespace for stored in self._storage.scan(QUOTAS)}:
            self._read_namespace(namespace)

    def run_pending(self) -> None:
        """Write the status of the quotas whose usage has changed."""
        changed, self._changed = self._changed, set()
        for namespace in sorted(changed):
            if known := self.namespaces.get(namespace):
                for quota in known.quotas.values():
                    self._write_status(namespace, quota)

    def _on_quota(self, event: Event) -> None:
        if _has_changed_spec(event):
            self._read_namespace(event.key.namespace)
        else:
            # Its status may have been overwritten.
            self._changed.add(event.key.namespace)

    def _on_event(self, event: Event) -> None:
        known = self.namespaces.get(event.key.namespace)
        if known is None or event.resource == QUOTAS:
            return
        is_deleted = event.type == "DELETED"
        usage = None if is_deleted else usage_of(event.resource, decode_stored(event.stored), self._now())
        known.reserved.clear()
        if self._replace_usage(known, (event.resource, event.key), usage):
            self._changed.add(event.key.namespace)

    def _replace_usage(self, known: _Namespace, place: Place, usage: Usage | None) -> bool:
        """Return whether the usage of the object has changed."""
        old = known.usages.pop(place, None)
        if usage is not None:
            known.usages[place] = usage
        if old == usage:
            return False
        for quota in known.quotas.values():
            quota.add(place[0], old, -1)
            quota.add(place[0], usage, 1)
        return True

    def _read_namespace(self, namespace: str) -> None:
        """Count all objects of a namespace, after its quotas have changed."""
        stored = [*self._storage.scan(QUOTAS, namespace=namespace)]
        if not stored:
            self.namespaces.pop(namespace, None)
            if self._unsubscribe and not self.namespaces:
                self._unsubscribe()
                self._unsubscribe = None
            return
        self._unsubscribe = self._unsubscribe or self._storage.subscribe(self._on_event)
        known = self.namespaces[namespace] = _Namespace()
        known.quotas = {each.key.name: self._read_quota(each) for each in stored}
        now = self._now()
        for resource in self._storage.resources:
            for each in self._storage.scan(resource, namespace=namespace):
                self._replace_usage(known, (resource, each.key), usage_of(resource, decode_stored(each), now))
        self._changed.add(namespace)

    def _read_quota(self, stored: Stored) -> _Quota:
        spec = object_at(decode_stored(stored), "spec")
        hard = {name: Quantity(str(value)) for name, value in object_at(spec, "hard").items()}
        scopes: list[JSONObject] = [{"scopeName": name, "operator": "Exists"} for name in texts_at(spec, "scopes")]
        scopes += objects_at(spec, "scopeSelector", "matchExpressions")
        return _Quota(stored.key.name, hard, scopes, {name: _ZERO for name in hard if self._is_tracked(name)})

    def _is_tracked(self, name: str) -> bool:
        registry = self._objects.registry
        plural, _, group = name.removeprefix(_COUNT).partition(".")
        if name.startswith(_COUNT):
            return any(registry.lookup(group, version, plural) for version in registry.versions(group))
        return any(is_tracked(name, resource) for resource in MEASURED)

    def _write_status(self, namespace: str, quota: _Quota) -> None:
        stored = self._storage.get(QUOTAS, ObjectKey(namespace, quota.name))
        if stored is None:
            return
        tree = decode_stored(stored)
        used: dict[str, JSON] = {name: str(amount) for name, amount in quota.tracked.items()}
        status: JSONObject = {"hard": object_at(tree, "spec", "hard"), "used": used}
        if same(status, object_at(tree, "status")):
            return
        resource = self._objects.registry.by_storage_id(QUOTAS)
        request = APIRequest(
            "update",
            resource,
            namespace=namespace,
            name=quota.name,
            subresource="status",
            body=msgspec.json.encode({**tree, "status": status}),
            content_type="application/json",
            user=_USER,
            query=_QUERY,
            method="PUT",
        )
        try:
            self._respond(request)
        except (ConflictError, NotFoundError):  # another event follows
            return

    # --- Admission

    def check(self, request: APIRequest, new: JSONObject, old: JSONObject | None, *, dry_run: bool = False) -> None:
        """Raise ForbiddenError if the write exceeds a quota."""
        known = self.namespaces.get(request.namespace)
        if known is None:
            return
        resource = self._objects.target(request.resource).storage_id
        if not _is_charged(request, resource, new, old):
            return
        now = self._now()
        usage = usage_of(resource, new, now)
        before = usage_of(resource, old, now) if old is not None else None
        reserved = self._reserved(known)
        admitted: dict[str, dict[str, Quantity]] = {}
        for quota in known.quotas.values():
            relevant = quota.relevant(resource)
            if not relevant or not quota.covers(resource, usage):
                continue
            if resource == PODS and (problem := missing_requests(new, relevant)):
                raise _forbidden(request, new, f"failed quota: {quota.name}: {problem}")
            more = _difference(usage, before if before and quota.covers(resource, before) else None, relevant)
            _check_fits(request, new, quota, more, reserved.get(quota.name, {}))
            admitted[quota.name] = more
        if not dry_run:
            known.reserved.append((self._storage.revision, admitted))

    def _reserved(self, known: _Namespace) -> dict[str, dict[str, Quantity]]:
        """Return what requests use that were admitted and are not published yet. Those that failed wrote nothing."""
        known.reserved = [each for each in known.reserved if each[0] < self._storage.revision]
        totals: dict[str, dict[str, Quantity]] = {}
        for _, admitted in known.reserved:
            for name, amounts in admitted.items():
                total = totals.setdefault(name, {})
                for each, amount in amounts.items():
                    total[each] = total.get(each, _ZERO) + amount
        return totals


def _has_changed_spec(event: Event) -> bool:
    if event.previous is None or event.type == "DELETED":
        return True
    old, new = decode_stored(event.previous), decode_stored(event.stored)
    return not same(object_at(old, "spec"), object_at(new, "spec"))


def _is_charged(request: APIRequest, resource: str, new: JSONObject, old: JSONObject | None) -> bool:
    """Whether a write can change what an object uses."""
    if old is None:
        return not request.subresource
    if resource == PODS:
        return request.subresource == "resize" or (not request.subresource and _has_deadline(new) != _has_deadline(old))
    return not request.subresource and resource in (SERVICES, CLAIMS)


def _has_deadline(pod: JSONObject) -> bool:
    return object_at(pod, "spec").get("activeDeadlineSeconds") is not None


def _is_in_scope(scope: JSONObject, usage: Usage) -> bool:
    name, operator = text_at(scope, "scopeName"), text_at(scope, "operator")
    scope_name, classes = usage.classes
    if name != scope_name:
        return name in usage.scopes
    if operator == "Exists":
        return bool(classes)
    requirement: JSONObject = {"key": name, "operator": operator, "values": [*texts_at(scope, "values")]}
    try:
        selector = LabelSelector.from_dict({"matchExpressions": [requirement]})
    except SelectorError:
        return False
    return any(selector.matches({name: each}) for each in classes) if classes else selector.matches({})


def _difference(usage: Usage, before: Usage | None, names: Iterable[str]) -> dict[str, Quantity]:
    """Return how much more is used, of these names."""
    old = before.amounts if before else {}
    more = {name: usage.amounts[name] - old.get(name, _ZERO) for name in names if name in usage.amounts}
    return {name: amount for name, amount in more.items() if amount > _ZERO}


def _check_fits(
    request: APIRequest, new: JSONObject, quota: _Quota, more: Mapping[str, Quantity], reserved: Mapping[str, Quantity]
) -> None:
    used = {name: quota.tracked.get(name, _ZERO) + reserved.get(name, _ZERO) for name in more}
    exceeded = sorted(name for name, amount in more.items() if used[name] + amount > quota.hard[name])
    if exceeded:
        requested, present, limited = (_shown(exceeded, amounts) for amounts in (more, used, quota.hard))
        why = f"exceeded quota: {quota.name}, requested: {requested}, used: {present}, limited: {limited}"
        raise _forbidden(request, new, why)


def _shown(names: Iterable[str], amounts: Mapping[str, Quantity]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names)


def _forbidden(request: APIRequest, new: JSONObject, why: str) -> ForbiddenError:
    resource = request.resource
    return ForbiddenError.of(resource.plural, text_at(new, "metadata", "name"), why, group=resource.group)
