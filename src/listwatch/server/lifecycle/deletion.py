"""Decides what a deletion does to an object: nothing yet, a mark on it, or its end.

    finalizers pending     a mark: somebody has to clean up first
    a pod that runs        a mark: somebody has to stop it first
    a namespace            a mark: somebody has to empty it first
    else                   the end

`deleting` does it; `collector` follows with what depended on the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from listwatch.errors import ConflictError
from listwatch.meta import Resource
from listwatch.server.json_tree import Tree, child, copied
from listwatch.server.lifecycle.semantics import timestamp
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.schema.registry import Traits

__all__ = ["FOREGROUND", "ORPHAN", "Keep", "Mark", "Remove", "check_preconditions", "is_finished", "plan_deletion"]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"

# The oldest owners of pods leave them alone unless told otherwise.
_ORPHANING = frozenset({"replicationcontrollers", "jobs.batch"})


@dataclass(frozen=True, slots=True)
class Keep:
    """It is on its way out already, and this changes nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """It stays, with this on it, until somebody has done their part."""

    tree: Tree


@dataclass(frozen=True, slots=True)
class Remove:
    """It goes; if there is a mark, with that on it for a moment."""

    mark: Tree | None = None


Plan = Keep | Mark | Remove


def check_preconditions(tree: Tree, options: DeleteOptions, resource: Resource) -> None:
    """Raise ConflictError if it is not the object, or not the state of it, that was meant."""
    metadata = tree["metadata"]
    wanted = (
        ("UID", options.uid, metadata["uid"], "The object might have been deleted and then recreated"),
        (
            "ResourceVersion",
            options.resource_version,
            metadata["resourceVersion"],
            "The object might have been modified",
        ),
    )
    for name, asked, found, why in wanted:
        if asked not in (None, found):
            message = f"the {name} in the precondition ({asked}) does not match the {name} in record ({found}). {why}"
            raise ConflictError.of(resource.kind, metadata["name"], message, group=resource.group)


def plan_deletion(tree: Tree, options: DeleteOptions, resource: Resource, traits: Traits, now: datetime) -> Plan:
    """What to do with an object that is to be deleted; its preconditions were checked."""
    if resource.group_resource == ("", "namespaces"):
        return _plan_namespace(tree, options, resource, now)
    was_stopped = "deletionTimestamp" in tree["metadata"] and _has_no_grace(tree)
    if traits.graceful and not was_stopped:
        return _plan_graceful(copied(tree), options, resource, now)
    return _plan_plain(copied(tree), options, resource, now)


def is_finished(tree: Tree) -> bool:
    """True if an object that is being deleted waits for nobody any more."""
    metadata = tree["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    waits_to_be_empty = tree["kind"] == "Namespace" and child(tree, "spec", "finalizers")
    return _has_no_grace(tree) and not waits_to_be_empty


def _has_no_grace(tree: Tree) -> bool:
    return not tree["metadata"].get("deletionGracePeriodSeconds")


def _plan_plain(marked: Tree, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    metadata = marked["metadata"]
    _put_finalizers(metadata, options, resource)
    if "finalizers" not in metadata:
        return Remove()
    if "deletionTimestamp" not in metadata:
        _count_generation(metadata)
        metadata["deletionTimestamp"] = timestamp(now)
    metadata["deletionTimestamp"] = min(metadata["deletionTimestamp"], timestamp(now))
    metadata["deletionGracePeriodSeconds"] = 0
    return Mark(marked)


def _plan_graceful(pod: Tree, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    grace = _put_grace(pod, options, now)
    if grace is None:
        return Keep()
    _put_finalizers(pod["metadata"], options, resource)
    return Mark(pod) if grace or "finalizers" in pod["metadata"] else Remove(pod)


def _plan_namespace(tree: Tree, options: DeleteOptions, resource: Resource, now: datetime) -> Plan:
    """However empty it is, somebody has to see to it that it stays so until it is gone."""
    if "deletionTimestamp" in tree["metadata"]:
        waits = child(tree, "spec", "finalizers") or tree["metadata"].get("finalizers")
        return Keep() if waits else Remove()
    marked = copied(tree)
    _put_finalizers(marked["metadata"], options, resource)
    marked["metadata"]["deletionTimestamp"] = timestamp(now)
    marked["status"] = {**marked.get("status", {}), "phase": "Terminating"}
    return Mark(marked)


# --- The time that a pod has to stop ----------------------------------------------------------------------------------


def _put_grace(pod: Tree, options: DeleteOptions, now: datetime) -> int | None:
    """Put the time to stop on a pod, and return how long it is; None if what it has stays."""
    metadata = pod["metadata"]
    if "deletionTimestamp" in metadata:
        return _shortened(metadata, options, now)
    grace = _grace(pod, options)
    metadata["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
    metadata["deletionGracePeriodSeconds"] = grace
    _count_generation(metadata)
    return grace


def _shortened(metadata: dict[str, Tree], options: DeleteOptions, now: datetime) -> int | None:
    present = metadata["deletionGracePeriodSeconds"]
    grace = present if options.grace is None else _at_least_some(options.grace)
    if grace >= present:
        return None
    due = datetime.strptime(metadata["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    earlier = due - timedelta(seconds=present - grace)
    if earlier < now:
        # All of it is over, but who asked for some grace leaves the end to whoever stops the pod.
        earlier, grace = now, min(grace, 1)
    metadata["deletionTimestamp"] = timestamp(earlier)
    metadata["deletionGracePeriodSeconds"] = grace
    return grace


def _grace(pod: Tree, options: DeleteOptions) -> int:
    """How long a pod has to stop: no time at all if it runs nowhere."""
    if not child(pod, "spec", "nodeName") or child(pod, "status", "phase") in ("Failed", "Succeeded"):
        return 0
    asked = options.grace if options.grace is not None else child(pod, "spec", "terminationGracePeriodSeconds")
    return _at_least_some(asked or 0)


def _at_least_some(grace: int) -> int:
    return 1 if grace < 0 else grace


# --- Finalizers and the generation ------------------------------------------------------------------------------------


def _put_finalizers(metadata: dict[str, Tree], options: DeleteOptions, resource: Resource) -> None:
    """The finalizers that it has, with that of the policy that was asked for."""
    present = metadata.pop("finalizers", None) or []
    if finalizers := _finalizers(present, options, resource):
        metadata["finalizers"] = finalizers


def _finalizers(present: list[str], options: DeleteOptions, resource: Resource) -> list[str]:
    if resource.plural == "events":
        return present
    policy = _policy(present, options, resource)
    wanted = [*(each for each in present if each not in (ORPHAN, FOREGROUND)), *policy]
    return present if set(present) == set(wanted) else wanted


def _policy(present: list[str], options: DeleteOptions, resource: Resource) -> tuple[str, ...]:
    if options.orphan is not None:
        return (ORPHAN,) if options.orphan else ()
    if options.policy:
        return {"Orphan": (ORPHAN,), "Foreground": (FOREGROUND,)}.get(options.policy, ())
    for finalizer in present:
        if finalizer in (ORPHAN, FOREGROUND):
            return (finalizer,)
    return (ORPHAN,) if str(resource.group_resource) in _ORPHANING else ()


def _count_generation(metadata: dict[str, Tree]) -> None:
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1
