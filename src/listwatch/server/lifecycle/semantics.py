"""What a write makes of an object beyond what was asked: its identity, its times, its generation, its status.

`deletion` says the same of deletions, `verbs` calls both.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from listwatch.errors import APIError, BadRequestError, ConflictError, InvalidError, StatusCause
from listwatch.meta import GroupVersionKind, Resource
from listwatch.server.codec.decoding import decode_tree
from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree, child, copied, quoted, same
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import Traits
from listwatch.server.schema.schema import Schema

__all__ = [
    "begin_life",
    "carry_over",
    "check_identity",
    "check_name",
    "check_namespace",
    "check_version",
    "is_unchanged",
    "keep_all_but_status",
    "metadata_of",
    "problems_of_identity",
    "read_version",
    "timestamp",
]

# What only the server sets.
_SERVERS_OWN = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields")
_DELETION_MARKS = ("deletionTimestamp", "deletionGracePeriodSeconds")
_METADATA_OF_CLIENTS = ("labels", "annotations", "finalizers", "ownerReferences")

# These may be born with a status: whoever makes them knows it.
_WITH_STATUS_FROM_BIRTH = frozenset({"Node"})
# What of the metadata cannot change through the door of the status, where the rest can.
_KEPT_BY_STATUS = {"Deployment": ("labels",), "Pod": ("ownerReferences",)}
# What of the metadata counts for the generation, which else is about the rest.
_COUNTED_METADATA = {"Deployment": "annotations", "EndpointSlice": "labels"}
_NUMBER = re.compile(r"[0-9]+")


def metadata_of(tree: Tree) -> dict[str, Tree]:
    """The metadata of an object, made if it has none."""
    metadata: dict[str, Tree] = tree.setdefault("metadata", {})
    return metadata


def timestamp(moment: datetime) -> str:
    """As the API writes times: whole seconds of UTC."""
    # Several times as fast as strftime, which counts where every object gets one.
    return moment.isoformat()[:19] + "Z"


# --- Who is meant -----------------------------------------------------------------------------------------------------


def check_namespace(request: APIRequest, tree: Tree) -> None:
    """The namespace of the body is that of the URL, or is taken from there."""
    metadata = metadata_of(tree)
    found = metadata.pop("namespace", "")
    if not request.resource.namespaced:
        return
    if found and request.namespace and found != request.namespace:
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    if request.namespace:
        metadata["namespace"] = request.namespace


def check_name(request: APIRequest, tree: Tree) -> None:
    """The name of the body is that of the URL."""
    found = metadata_of(tree).get("name") or ""
    if not found:
        raise BadRequestError(
            f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        )
    if found != request.name:
        raise BadRequestError(f"the name of the object ({found}) does not match the name on the URL ({request.name})")


def check_identity(new: Tree, uid: str, resource: Resource) -> None:
    """Who says which object they replace do not mean another of its name; the uid is empty where there is none."""
    asked, name = metadata_of(new).get("uid") or "", metadata_of(new)["name"]
    if asked not in ("", uid):
        why = f"Precondition failed: UID in precondition: {asked}, UID in object meta: {uid}"
        raise ConflictError.of(resource.plural, name, why, group=resource.group)


def check_version(new: Tree, old: Tree, resource: Resource, traits: Traits) -> None:
    """Who writes has seen what is there, if it says what it has seen, or if it has to."""
    asked, name = read_version(new), old["metadata"]["name"]
    if not asked:
        if not traits.unconditional_update:
            cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise InvalidError.of(resource.plural, name, [cause], group=resource.group)
    elif asked != old["metadata"]["resourceVersion"]:
        raise ConflictError.of(resource.plural, name, group=resource.group)


def read_version(new: Tree) -> str:
    """What the writer has seen; empty if that does not matter to it."""
    asked: str = metadata_of(new).get("resourceVersion") or "0"
    if not _NUMBER.fullmatch(asked):
        # The real server takes it for a mistake of its own.
        raise _unexplained(f"strconv.ParseUint: parsing {quoted(asked)}: invalid syntax")
    return "" if asked == "0" else asked


def _unexplained(message: str) -> APIError:
    return APIError(message, status_code=500, reason="")


# --- Being made -------------------------------------------------------------------------------------------------------


def begin_life(tree: Tree, resource: Resource, traits: Traits, schema: Schema, *, uid: str, now: datetime) -> None:
    """What a new object gets from the server, and what it may not bring along."""
    metadata = metadata_of(tree)
    claimed = metadata.pop("resourceVersion", "")
    if claimed and _NUMBER.fullmatch(claimed) and int(claimed):
        raise _unexplained("resourceVersion should not be set on objects to be created")
    for name in metadata.keys() & _SERVERS_OWN:
        del metadata[name]
    metadata["uid"] = uid
    metadata["creationTimestamp"] = timestamp(now)
    if traits.has_generation:
        metadata["generation"] = 1
    if resource.subresource("status") and resource.kind not in _WITH_STATUS_FROM_BIRTH:
        _take("status", tree, _first_status(resource.gvk, schema, now))


def _first_status(kind: GroupVersionKind, schema: Schema, now: datetime) -> Tree:
    found: Tree = copied(_of_nothing(kind, schema))
    if kind.kind == "PersistentVolume":
        found["status"]["lastPhaseTransitionTime"] = timestamp(now)
    return found


@lru_cache(maxsize=256)
def _of_nothing(kind: GroupVersionKind, schema: Schema) -> Tree:
    """What is always there, of an object of that kind, even if nobody has said anything."""
    return decode_tree({}, kind, schema, StrictErrors())


# --- Being changed ----------------------------------------------------------------------------------------------------


def carry_over(new: Tree, old: Tree, resource: Resource, traits: Traits) -> None:
    """What an update cannot change: the identity, the times, and the status where that has a door of its own."""
    _keep_servers_own(metadata_of(new), old["metadata"])
    if resource.subresource("status"):
        _take("status", new, old)
    if resource.gvk.group_kind == ("", "Namespace"):
        _take("spec", new, old)  # its finalizers, which have a door of their own too
    if traits.has_generation and _wants_something_else(new, old, resource):
        metadata_of(new)["generation"] = old["metadata"].get("generation", 0) + 1


def keep_all_but_status(new: Tree, old: Tree, resource: Resource, traits: Traits) -> Tree:
    """What an update through the status door leaves: the new status, and of the metadata what that kind allows."""
    result = {**old, "metadata": {**metadata_of(new)}}
    _take("status", result, new)
    metadata = result["metadata"]
    _keep_servers_own(metadata, old["metadata"])
    kept = _METADATA_OF_CLIENTS if traits.status_is_alone else _KEPT_BY_STATUS.get(resource.kind, ())
    for name in kept:
        _take(name, metadata, old["metadata"])
    return result


def problems_of_identity(new: Tree, old: Tree) -> list[StatusCause]:
    """An update makes no other object of it, and does not delete it: that has a verb of its own."""
    found, before = metadata_of(new), old["metadata"]
    changed = [name for name in _DELETION_MARKS if name in found and name not in before]
    if found.get("uid", "") not in ("", before["uid"]):
        changed.insert(0, "uid")
    return [invalid(f"metadata.{name}", found[name], "field is immutable") for name in changed]


def is_unchanged(new: Tree, old: Tree) -> bool:
    """True if there is nothing to write: nobody is told of it, and the version stays."""
    return same(new, old)


def _keep_servers_own(metadata: dict[str, Tree], old: dict[str, Tree]) -> None:
    for name in (*_SERVERS_OWN, "uid", "generation", "resourceVersion"):
        _take(name, metadata, old)


def _take(name: str, target: Tree, source: Tree) -> None:
    if name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def _wants_something_else(new: Tree, old: Tree, resource: Resource) -> bool:
    aside = {"metadata", "apiVersion", "kind"} | ({"status"} if resource.subresource("status") else set())
    if any(not same(new.get(name), old.get(name)) for name in (new.keys() | old.keys()) - aside):
        return True
    counted = _COUNTED_METADATA.get(resource.kind, "")
    return bool(counted) and not same(child(new, "metadata", counted) or {}, child(old, "metadata", counted) or {})
