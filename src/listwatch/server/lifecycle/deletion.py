"""Deletes objects: decides whether a deletion marks an object or removes it, and does that.

    finalizers pending     marked, until they are removed
    a pod that runs        marked, for its grace period
    a namespace            marked, until it is empty
    a definition           marked, until its objects are deleted
    else                   removed

`garbage_collector` deletes what depends on the object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from listwatch.errors import ConflictError, ForbiddenError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.server.crd.definitions import DEFINITIONS
from listwatch.server.json_tree import copied, integer_at, object_at, same, text_at, texts_at, value_at
from listwatch.server.lifecycle.definition_lifecycle import mark_definition
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import metadata_of, timestamp
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.requests import Admission, APIRequest
from listwatch.server.schema.registry import Traits
from listwatch.server.storage.values import Stored

__all__ = ["FOREGROUND", "ORPHAN", "Deleter", "Keep", "Mark", "Remove", "check_preconditions", "plan_deletion"]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"

# The oldest owners of pods orphan them by default.
_ORPHANING = frozenset({"replicationcontrollers", "jobs.batch"})


@dataclass(frozen=True, slots=True)
class Keep:
    """The object is being deleted already; nothing changes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The object stays, marked as being deleted."""

    tree: JSONObject = field(repr=False)  # it may be a Secret


@dataclass(frozen=True, slots=True)
class Remove:
    """The object is removed; if there is a mark, it is written first."""

    mark: JSONObject | None = field(default=None, repr=False)


Plan = Keep | Mark | Remove

_PRIORITY_CLASSES = "scheduling.k8s.io/priorityclasses"
_SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")


class DeletionPolicies(Protocol):
    """Rejects deletions."""

    @property
    def active(self) -> bool:
        """Whether there are any policies."""

    def validate(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None, *, dry_run: bool) -> None:
        """Raises an APIError."""


class Deleter:
    """Deletes single objects, for requests and for the controllers of the server."""

    def __init__(self, objects: ObjectStore, admission: Sequence[Admission], now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._admission = admission
        self._now = now
        self.policies: DeletionPolicies | None = None

    def admit(self, request: APIRequest, existing: Stored, *, dry_run: bool) -> None:
        """Let admission functions, policies and webhooks check a deletion; raises an APIError or WebhookNeededError."""
        target = self._objects.target(request.resource)
        seen = self._objects.load(existing, target) if target.is_converted else decode_stored(existing)
        for admit in self._admission:
            admit(request, None, seen)
        if self.policies and self.policies.active:
            requested = self._objects.in_version(seen, request.resource)
            self.policies.validate(request, None, requested, dry_run=dry_run)

    def delete(
        self, request: APIRequest, existing: Stored, options: DeleteOptions, *, is_admitted: bool = False
    ) -> tuple[Stored, bool]:
        """Delete an object or mark it; returns its last state and whether it is removed."""
        objects, dry_run = self._objects, options.dry_run
        target, old = objects.target(request.resource), decode_stored(existing)
        check_preconditions(old, options, target.stored_as)
        if target.storage_id == _PRIORITY_CLASSES and existing.key.name in _SYSTEM_CLASSES:
            why = "this is a system priority class and cannot be deleted"
            raise ForbiddenError.of("priorityclasses", existing.key.name, why, group="scheduling.k8s.io")
        if not is_admitted:
            self.admit(request, existing, dry_run=dry_run)
        if target.storage_id == DEFINITIONS and "deletionTimestamp" not in metadata_of(old):
            return objects.update(DEFINITIONS, existing, mark_definition(old, self._now()), dry_run=dry_run), False
        match plan_deletion(old, options, target.stored_as, target.traits, self._now()):
            case Keep():
                return existing, False
            case Mark(tree):
                if not same(tree, old):
                    existing = objects.update(target.storage_id, existing, tree, dry_run=dry_run)
                return existing, False
            case Remove(mark):
                if mark:
                    existing = objects.update(target.storage_id, existing, mark, dry_run=dry_run)
                return objects.remove(target.storage_id, existing, dry_run=dry_run), True


def check_preconditions(tree: JSONObject, options: DeleteOptions, resource: Resource) -> None:
    """Raise ConflictError if the object has another uid or resourceVersion than the request requires."""
    required = (
        ("UID", options.uid, "uid", "The object might have been deleted and then recreated"),
        ("ResourceVersion", options.resource_version, "resourceVersion", "The object might have been modified"),
    )
    for name, expected, member, why in required:
        found = text_at(tree, "metadata", member)
        if expected not in (None, found):
            message = (
                f"the {name} in the precondition ({expected}) does not match the {name} in record ({found}). {why}"
            )
            raise ConflictError.of(resource.kind, text_at(tree, "metadata", "name"), message, group=resource.group)


def plan_deletion(tree: JSONObject, options: DeleteOptions, resource: Resource, traits: Traits, now: datetime) -> Plan:
    """Decide what happens to an object whose preconditions hold."""
    if resource.group_resource == ("", "namespaces"):
        return _plan_namespace(tree, options, resource, now)
    metadata = metadata_of(tree)
    is_stopped = "deletionTimestamp" in metadata and not metadata.get("deletionGracePeriodSeconds")
    if traits.graceful and not is_stopped:
        return _plan_graceful(copied(tree), options, resource, now)
    return _plan_plain(copied(tree), options, resource, now)


def _plan_plain(marked: JSONObject, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    metadata = metadata_of(marked)
    _set_finalizers(metadata, options, resource)
    if "finalizers" not in metadata:
        return Remove()
    if "deletionTimestamp" not in metadata:
        _increment_generation(metadata)
        metadata["deletionTimestamp"] = timestamp(now)
    metadata["deletionTimestamp"] = min(text_at(metadata, "deletionTimestamp"), timestamp(now))
    metadata["deletionGracePeriodSeconds"] = 0
    return Mark(marked)


def _plan_graceful(pod: JSONObject, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    grace = _set_grace_period(pod, options, now)
    if grace is None:
        return Keep()
    metadata = metadata_of(pod)
    _set_finalizers(metadata, options, resource)
    return Mark(pod) if grace or "finalizers" in metadata else Remove(pod)


def _plan_namespace(tree: JSONObject, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    """Even an empty namespace is marked first, so that nothing is created in it before it is removed."""
    if "deletionTimestamp" in metadata_of(tree):
        waits = value_at(tree, "spec", "finalizers") or value_at(tree, "metadata", "finalizers")
        return Keep() if waits else Remove()
    marked = copied(tree)
    metadata = metadata_of(marked)
    _set_finalizers(metadata, options, resource)
    metadata["deletionTimestamp"] = timestamp(now)
    marked["status"] = {**object_at(marked, "status"), "phase": "Terminating"}
    return Mark(marked)


# --- The grace period of a pod ----------------------------------------------------------------------------------------


def _set_grace_period(pod: JSONObject, options: DeleteOptions, now: datetime) -> int | None:
    """Set the grace period of a pod and return it in seconds; None if the current one is kept."""
    metadata = metadata_of(pod)
    if "deletionTimestamp" in metadata:
        return _shorten_grace_period(metadata, options, now)
    grace = _grace_period(pod, options)
    metadata["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
    metadata["deletionGracePeriodSeconds"] = grace
    _increment_generation(metadata)
    return grace


def _shorten_grace_period(metadata: JSONObject, options: DeleteOptions, now: datetime) -> int | None:
    present = integer_at(metadata, "deletionGracePeriodSeconds")
    grace = present if options.grace is None else _not_negative(options.grace)
    if grace >= present:
        return None
    due = datetime.strptime(text_at(metadata, "deletionTimestamp"), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    earlier = due - timedelta(seconds=present - grace)
    if earlier < now:
        # The period is over; unless it was set to 0, the kubelet still has to confirm that the pod has stopped.
        earlier, grace = now, min(grace, 1)
    metadata["deletionTimestamp"] = timestamp(earlier)
    metadata["deletionGracePeriodSeconds"] = grace
    return grace


def _grace_period(pod: JSONObject, options: DeleteOptions) -> int:
    """The period is 0 for a pod that is not scheduled or has finished."""
    if not text_at(pod, "spec", "nodeName") or text_at(pod, "status", "phase") in ("Failed", "Succeeded"):
        return 0
    requested = options.grace if options.grace is not None else integer_at(pod, "spec", "terminationGracePeriodSeconds")
    return _not_negative(requested)


def _not_negative(grace: int) -> int:
    return 1 if grace < 0 else grace


# --- Finalizers and the generation ------------------------------------------------------------------------------------


def _set_finalizers(metadata: JSONObject, options: DeleteOptions, resource: Resource) -> None:
    """Replace the finalizers of a propagation policy by those of the requested policy."""
    present = texts_at(metadata, "finalizers")
    metadata.pop("finalizers", None)
    if finalizers := _finalizers(present, options, resource):
        metadata["finalizers"] = [*finalizers]


def _finalizers(present: list[str], options: DeleteOptions, resource: Resource) -> list[str]:
    if resource.plural == "events":
        return present
    policy = _policy_finalizers(present, options, resource)
    wanted = [*(each for each in present if each not in (ORPHAN, FOREGROUND)), *policy]
    return present if set(present) == set(wanted) else wanted


def _policy_finalizers(present: list[str], options: DeleteOptions, resource: Resource) -> tuple[str, ...]:
    if options.orphan is not None:
        return (ORPHAN,) if options.orphan else ()
    if options.policy:
        return {"Orphan": (ORPHAN,), "Foreground": (FOREGROUND,)}.get(options.policy, ())
    for finalizer in present:
        if finalizer in (ORPHAN, FOREGROUND):
            return (finalizer,)
    return (ORPHAN,) if str(resource.group_resource) in _ORPHANING else ()


def _increment_generation(metadata: JSONObject) -> None:
    generation = integer_at(metadata, "generation")
    if generation > 0:
        metadata["generation"] = generation + 1
