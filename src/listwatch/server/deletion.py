"""Decides what a deletion does to an object: nothing yet, a mark on it, or its end.

    finalizers pending     a mark: somebody has to clean up first
    a pod that runs        a mark: somebody has to stop it first
    else                   the end

`verbs` does it; `collector` follows with what depended on the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from listwatch.errors import ConflictError
from listwatch.meta import Resource
from listwatch.server.registry import Traits
from listwatch.server.semantics import timestamp
from listwatch.server.trees import Tree, child, copied
from listwatch.server.write_options import DeleteOptions

__all__ = ["FOREGROUND", "ORPHAN", "Keep", "Mark", "Remove", "check_preconditions", "is_finished", "plan_deletion"]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class Keep:
    """It is on its way out already, and this changes nothing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """It stays, with this on it, until somebody has done their part."""

    tree: Tree


@dataclass(frozen=True, slots=True)
class Remove:
    """It is gone."""


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


def plan_deletion(
    tree: Tree, options: DeleteOptions, resource: Resource, traits: Traits, now: datetime
) -> Keep | Mark | Remove:
    """What to do with an object that is to be deleted; its preconditions were checked."""
    marked = copied(tree)
    metadata = marked["metadata"]
    graceful = traits.graceful and _shorten_or_begin_grace(marked, options, now)
    if graceful is None:
        return Keep()
    finalizers = _finalizers(metadata.get("finalizers") or [], options, resource)
    metadata["finalizers"] = finalizers
    if not finalizers:
        del metadata["finalizers"]
    if not graceful:
        if finalizers or child(tree, "spec", "finalizers"):
            _mark_as_deleting(metadata, now)
            if resource.kind == "Namespace" and not resource.group:
                marked["status"] = {**marked.get("status", {}), "phase": "Terminating"}
            return Mark(marked)
        return Remove()
    return Mark(marked) if finalizers or metadata["deletionGracePeriodSeconds"] > 0 else Remove()


def is_finished(tree: Tree) -> bool:
    """True if an object that is being deleted waits for nobody any more."""
    metadata = tree["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds") and not _namespace_finalizers(tree)


def _namespace_finalizers(tree: Tree) -> Tree:
    return child(tree, "spec", "finalizers") if tree.get("kind") == "Namespace" else None


def _shorten_or_begin_grace(pod: Tree, options: DeleteOptions, now: datetime) -> bool | None:
    """True if the pod got a time to stop by; False if it needs none; None if it has one that stays."""
    metadata = pod["metadata"]
    if "deletionTimestamp" in metadata:
        return _shorten_grace(metadata, options, now)
    grace = _grace(pod, options)
    metadata["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
    metadata["deletionGracePeriodSeconds"] = grace
    _count_generation(metadata)
    return True


def _shorten_grace(metadata: dict[str, Tree], options: DeleteOptions, now: datetime) -> bool | None:
    present = metadata.get("deletionGracePeriodSeconds") or 0
    if present == 0:
        return False
    asked = options.grace
    if asked is None:
        return None
    grace = 1 if asked < 0 else asked
    if grace >= present:
        return None
    due = datetime.strptime(metadata["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    earlier = due - timedelta(seconds=present - grace)
    if earlier < now:
        earlier, grace = now, min(grace, 1)
    metadata["deletionTimestamp"] = timestamp(earlier)
    metadata["deletionGracePeriodSeconds"] = grace
    return True


def _grace(pod: Tree, options: DeleteOptions) -> int:
    """How long a pod has to stop: no time at all if it runs nowhere."""
    if not child(pod, "spec", "nodeName") or child(pod, "status", "phase") in ("Failed", "Succeeded"):
        return 0
    asked = options.grace if options.grace is not None else child(pod, "spec", "terminationGracePeriodSeconds")
    grace: int = asked or 0
    return 1 if grace < 0 else grace


def _finalizers(present: list[str], options: DeleteOptions, resource: Resource) -> list[str]:
    """The finalizers, with those of the policy that was asked for."""
    if resource.plural == "events":
        return present
    orphan, foreground = _policy(present, options, resource)
    kept = [each for each in present if each not in (ORPHAN, FOREGROUND)]
    return kept + [ORPHAN] * orphan + [FOREGROUND] * foreground


def _policy(present: list[str], options: DeleteOptions, resource: Resource) -> tuple[bool, bool]:
    if options.orphan is not None:
        return options.orphan, False
    if options.policy:
        return options.policy == "Orphan", options.policy == "Foreground"
    if ORPHAN in present or FOREGROUND in present:
        return ORPHAN in present, FOREGROUND in present and ORPHAN not in present
    # The oldest owners of pods leave them alone unless told otherwise.
    return str(resource.group_resource) in ("replicationcontrollers", "jobs.batch"), False


def _mark_as_deleting(metadata: dict[str, Tree], now: datetime) -> None:
    if "deletionTimestamp" not in metadata:
        _count_generation(metadata)
        metadata["deletionTimestamp"] = timestamp(now)
    metadata["deletionTimestamp"] = min(metadata["deletionTimestamp"], timestamp(now))
    metadata["deletionGracePeriodSeconds"] = 0


def _count_generation(metadata: dict[str, Tree]) -> None:
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1
