"""The fields that the server sets or preserves when an object is created or updated, and the related checks.

This is what kube-apiserver calls the strategy of a resource. `deletion` has the rules of deletions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from listwatch.errors import (
    APIError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StatusCause,
    StatusDetails,
)
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.quantity import Quantity
from listwatch.server.codec.decoding import decode_tree
from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import (
    copied,
    ensure_object,
    integer_at,
    object_at,
    objects_at,
    quoted,
    same,
    text_at,
    texts_at,
    value_at,
)
from listwatch.server.requests import APIRequest
from listwatch.server.schema.registry import Traits
from listwatch.server.schema.schema import Schema
from listwatch.server.storage.storage import Storage

__all__ = [
    "NAMESPACES",
    "NOT_READY",
    "Environment",
    "IDGenerator",
    "add_tolerations",
    "check_name",
    "check_namespace",
    "check_namespace_accepts",
    "check_namespace_deletable",
    "check_resource_version",
    "check_uid",
    "complete_new",
    "complete_updated",
    "immutable_metadata_problems",
    "metadata_of",
    "prepare_for_create",
    "prepare_for_status_update",
    "prepare_for_update",
    "requested_version",
    "timestamp",
]

NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_TOLERATION_SECONDS = 300
NAMESPACES = "/namespaces"
"""The resource of namespaces in the storage."""

# Metadata that only the server sets.
_SERVER_METADATA = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields")
_DELETION_MARKS = ("deletionTimestamp", "deletionGracePeriodSeconds")
_CLIENT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")

# Kinds that may be created with a status.
_CREATED_WITH_STATUS = frozenset({"Node"})
# Metadata that the status subresource cannot change; it can change the rest.
_KEPT_BY_STATUS = {"Deployment": ("labels",), "Pod": ("ownerReferences",)}
# Metadata whose change increments the generation, which otherwise depends on the rest of the object.
_GENERATION_METADATA = {"Deployment": "annotations", "EndpointSlice": "labels"}
_NUMBER = re.compile(r"[0-9]+")

# Without vowels, so that no words appear by chance; as kube-apiserver's.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
# The bits of a random (version 4) UUID that are fixed.
_VERSION_4 = 4 << 76 | 8 << 60
_FREE_BITS = ~(0xF << 76 | 0xC << 60)

_PERMANENT_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})

_COMPUTE_RESOURCES = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Environment:
    """The inputs of a write that vary: the time, new uids, and random suffixes for generated names."""

    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    name_suffix: Callable[[], str]


class IDGenerator:
    """Generates uids and name suffixes from random bits, which a seed makes reproducible."""

    def __init__(self, random_bits: Callable[[int], int]) -> None:
        self._random_bits = random_bits

    def uid(self) -> str:
        # As uuid4, in a fifth of the time: every response and every new object gets one.
        digits = f"{self._random_bits(128) & _FREE_BITS | _VERSION_4:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def name_suffix(self) -> str:
        return "".join(_SUFFIX_LETTERS[self._random_bits(32) % len(_SUFFIX_LETTERS)] for _ in range(5))


def metadata_of(tree: JSONObject) -> JSONObject:
    """Return the metadata of an object; it is added if it is missing."""
    metadata = tree.get("metadata")
    return metadata if isinstance(metadata, dict) else ensure_object(tree, "metadata")


def timestamp(moment: datetime) -> str:
    """Format a time as the API does: whole seconds of UTC."""
    # Several times as fast as strftime, which matters because every object gets one.
    return moment.isoformat()[:19] + "Z"


# --- The request and its object ---------------------------------------------------------------------------------------


def check_namespace(request: APIRequest, tree: JSONObject) -> None:
    """Check the namespace of the body against that of the URL, and set it from there."""
    metadata = metadata_of(tree)
    found = metadata.pop("namespace", "")
    if not request.resource.namespaced:
        return
    if found and request.namespace and found != request.namespace:
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    if request.namespace:
        metadata["namespace"] = request.namespace


def check_name(request: APIRequest, tree: JSONObject) -> None:
    """Check the name of the body against that of the URL."""
    found = metadata_of(tree).get("name") or ""
    if not found:
        raise BadRequestError(
            f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        )
    if found != request.name:
        raise BadRequestError(f"the name of the object ({found}) does not match the name on the URL ({request.name})")


def check_uid(new: JSONObject, uid: str, resource: Resource) -> None:
    """Raise ConflictError if the update names another uid; `uid` is empty if the object does not exist."""
    requested = text_at(new, "metadata", "uid")
    if requested not in ("", uid):
        why = f"Precondition failed: UID in precondition: {requested}, UID in object meta: {uid}"
        raise ConflictError.of(resource.plural, text_at(new, "metadata", "name"), why, group=resource.group)


def check_resource_version(new: JSONObject, old: JSONObject, resource: Resource, traits: Traits) -> None:
    """Raise ConflictError if the update is based on another version; some resources require one."""
    requested, name = requested_version(new), text_at(old, "metadata", "name")
    if not requested:
        if not traits.unconditional_update:
            cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise InvalidError.of(resource.plural, name, [cause], group=resource.group)
    elif requested != text_at(old, "metadata", "resourceVersion"):
        raise ConflictError.of(resource.plural, name, group=resource.group)


def requested_version(new: JSONObject) -> str:
    """Return the resourceVersion that an update is based on; empty if it applies to any."""
    requested = text_at(new, "metadata", "resourceVersion") or "0"
    if not _NUMBER.fullmatch(requested):
        # kube-apiserver responds with an internal error.
        raise _internal_error(f"strconv.ParseUint: parsing {quoted(requested)}: invalid syntax")
    return "" if requested == "0" else requested


def _internal_error(message: str) -> APIError:
    return APIError(message, status_code=500, reason="")


# --- Namespaces -------------------------------------------------------------------------------------------------------


def check_namespace_accepts(storage: Storage, request: APIRequest, tree: JSONObject) -> None:
    """Raise an APIError if the namespace of a new object does not exist or is being deleted."""
    if not request.resource.namespaced or not request.namespace:
        return
    namespace = storage.get(NAMESPACES, ObjectKey("", request.namespace))
    if namespace is None:
        raise NotFoundError.of("namespaces", request.namespace)
    # No other field of a Namespace has this name, and decoding it for every create would be slow.
    if b'"deletionTimestamp":' in namespace.value:
        raise _terminating(request, text_at(tree, "metadata", "name"))


def check_namespace_deletable(request: APIRequest) -> None:
    """Raise ForbiddenError for namespaces that cannot be deleted."""
    if request.resource.group_resource == ("", "namespaces") and request.name in _PERMANENT_NAMESPACES:
        raise ForbiddenError.of("namespaces", request.name, "this namespace may not be deleted")


def _terminating(request: APIRequest, name: str) -> ForbiddenError:
    resource, namespace = request.resource, request.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = StatusCause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
    details = StatusDetails(name=name, group=resource.group, kind=resource.plural, causes=(cause,))
    return ForbiddenError(ForbiddenError.of(resource.plural, name, why, group=resource.group).message, details=details)


# --- Create -----------------------------------------------------------------------------------------------------------


def prepare_for_create(
    tree: JSONObject,
    resource: Resource,
    traits: Traits,
    schema: Schema,
    *,
    uid: str,
    now: datetime,
    dry_run: bool = False,
) -> None:
    """Set what the server sets on a new object, and drop what a client cannot set.

    As in kube-apiserver, the storage rejects a resourceVersion, so that a dry run returns it.
    """
    metadata = metadata_of(tree)
    claimed = "" if dry_run else metadata.pop("resourceVersion", "")
    if isinstance(claimed, str) and _NUMBER.fullmatch(claimed) and int(claimed):
        raise _internal_error("resourceVersion should not be set on objects to be created")
    for name in _SERVER_METADATA:
        metadata.pop(name, None)
    metadata["uid"] = uid
    metadata["creationTimestamp"] = timestamp(now)
    if traits.has_generation:
        metadata["generation"] = 1
    if resource.subresource("status") and resource.kind not in _CREATED_WITH_STATUS:
        _copy_member("status", tree, _initial_status(resource.gvk, schema, now))


def _initial_status(kind: GroupVersionKind, schema: Schema, now: datetime) -> JSONObject:
    found = copied(_empty_object(kind, schema))
    if kind.kind == "PersistentVolume":
        ensure_object(found, "status")["lastPhaseTransitionTime"] = timestamp(now)
    return found


@lru_cache(maxsize=256)
def _empty_object(kind: GroupVersionKind, schema: Schema) -> JSONObject:
    """Return the fields that every object of the kind has."""
    return decode_tree({}, kind, schema, StrictErrors())


def complete_new(tree: JSONObject) -> None:
    """Set, in place, the fields of some kinds that depend on name and uid; called again if the name changes."""
    complete = _COMPLETIONS.get(str(tree["kind"]))
    if complete and text_at(tree, "apiVersion").rpartition("/")[0] == complete[0]:
        complete[1](tree)


def _complete_namespace(namespace: JSONObject) -> None:
    # The controller that empties the namespace removes this finalizer; no update can restore it.
    ensure_object(namespace, "spec")["finalizers"] = [
        *dict.fromkeys([*texts_at(namespace, "spec", "finalizers"), "kubernetes"])
    ]
    name = text_at(namespace, "metadata", "name")
    ensure_object(namespace, "metadata", "labels")["kubernetes.io/metadata.name"] = name


def _complete_job(job: JSONObject) -> None:
    """Select the pods of a Job by its uid, unless it has a selector."""
    spec, metadata = ensure_object(job, "spec"), metadata_of(job)
    if spec.get("manualSelector"):
        return
    own = {"controller-uid": text_at(metadata, "uid"), "job-name": text_at(metadata, "name")}
    labels = own | {f"batch.kubernetes.io/{name}": value for name, value in own.items()}
    template = ensure_object(spec, "template", "metadata")
    given, inherited = metadata.get("labels"), template.get("labels")
    template["labels"] = {**object_at(template, "labels"), **labels}
    # kube-apiserver shares one map of labels between both, unless it has copied the Job to generate a name.
    if given is None or (given is inherited and not metadata.get("generateName")):
        metadata["labels"] = template["labels"]
    ensure_object(spec, "selector", "matchLabels")["batch.kubernetes.io/controller-uid"] = own["controller-uid"]


def _complete_device_taint(rule: JSONObject) -> None:
    taint = ensure_object(rule, "spec", "taint")
    taint.setdefault("timeAdded", text_at(rule, "metadata", "creationTimestamp"))


def _complete_pod(pod: JSONObject) -> None:
    pod["status"] = {"phase": "Pending", "qosClass": _quality_of_service(ensure_object(pod, "spec"))}


def _quality_of_service(spec: JSONObject) -> str:
    guaranteed, burstable = True, False
    for container in [*objects_at(spec, "containers"), *objects_at(spec, "initContainers")]:
        limits, requests = _compute_amounts(container, "limits"), _compute_amounts(container, "requests")
        burstable = burstable or bool(limits or requests)
        guaranteed = guaranteed and limits.keys() == {*_COMPUTE_RESOURCES} and limits == requests
    return "Guaranteed" if guaranteed else "Burstable" if burstable else "BestEffort"


def _compute_amounts(container: JSONObject, name: str) -> dict[str, Quantity]:
    amounts = object_at(container, "resources", name)
    found = {key: Quantity(str(value)) for key, value in amounts.items() if key in _COMPUTE_RESOURCES}
    return {key: quantity for key, quantity in found.items() if quantity > 0}


def add_tolerations(pod: JSONObject) -> None:
    """Let a pod stay for five minutes on a node that is not ready or unreachable."""
    spec = ensure_object(pod, "spec")
    present = objects_at(spec, "tolerations")
    tolerations: list[JSON] = [*present]
    for taint in (NOT_READY, _UNREACHABLE):
        if not any(_tolerates(toleration, taint) for toleration in present):
            tolerations.append(
                {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_SECONDS}
            )
    spec["tolerations"] = tolerations


def _tolerates(toleration: JSONObject, taint: str) -> bool:
    return toleration.get("key", "") in ("", taint) and toleration.get("effect", "") in ("", "NoExecute")


# By kind: the group, and the function.
_COMPLETIONS: Mapping[str, tuple[str, Callable[[JSONObject], None]]] = {
    "Namespace": ("", _complete_namespace),
    "Pod": ("", _complete_pod),
    "Job": ("batch", _complete_job),
    "DeviceTaintRule": ("resource.k8s.io", _complete_device_taint),
}


# --- Update -----------------------------------------------------------------------------------------------------------


def complete_updated(tree: JSONObject, old: JSONObject) -> None:
    """Restore, in place, what the server has set on a Pod and an update may lack."""
    if (tree["apiVersion"], tree["kind"]) != ("v1", "Pod"):
        return
    spec, before = ensure_object(tree, "spec"), object_at(old, "spec")
    for name in ("priority", "preemptionPolicy"):
        if name in before:
            spec.setdefault(name, before[name])


def prepare_for_update(new: JSONObject, old: JSONObject, resource: Resource, traits: Traits) -> None:
    """Preserve what an update cannot change: identity, times, and what only a subresource can change."""
    metadata, before = metadata_of(new), metadata_of(old)
    _keep_server_metadata(metadata, before)
    if resource.subresource("status"):
        _copy_member("status", new, old)
    if resource.gvk.group_kind == ("", "Namespace"):
        _copy_member("spec", new, old)  # its finalizers, which the finalize subresource changes
    if traits.has_generation and _changes_generation(new, old, resource):
        metadata["generation"] = integer_at(before, "generation") + 1


def prepare_for_status_update(new: JSONObject, old: JSONObject, resource: Resource, traits: Traits) -> JSONObject:
    """Return the old object with the new status, and with the metadata that a status update of the kind can change."""
    metadata, before = {**metadata_of(new)}, metadata_of(old)
    result: JSONObject = {**old, "metadata": metadata}
    _copy_member("status", result, new)
    _keep_server_metadata(metadata, before)
    for name in _CLIENT_METADATA if traits.has_isolated_status else _KEPT_BY_STATUS.get(resource.kind, ()):
        _copy_member(name, metadata, before)
    if resource.kind == "Pod" and not resource.group:
        _keep_pod_status(result, old)
    return result


def _keep_pod_status(pod: JSONObject, old: JSONObject) -> None:
    """Keep what a status update of a pod leaves out: its quality of service, and the observed generations."""
    before, status = object_at(old, "status"), {**object_at(pod, "status")}
    for name in ("qosClass", "observedGeneration"):
        if not status.get(name) and before.get(name):
            status[name] = before[name]
    generations: dict[str, list[JSON]] = {}
    for condition in reversed(objects_at(before, "conditions")):
        generations.setdefault(text_at(condition, "type"), []).append(condition.get("observedGeneration"))
    conditions: list[JSON] = []
    for condition in objects_at(status, "conditions"):
        known = generations.get(text_at(condition, "type"))
        generation = known.pop() if known else None
        conditions.append(
            condition
            if condition.get("observedGeneration") or not generation
            else {**condition, "observedGeneration": generation}
        )
    if conditions:
        status["conditions"] = conditions
    pod["status"] = status


def immutable_metadata_problems(new: JSONObject, old: JSONObject) -> list[StatusCause]:
    """An update can change neither the name, which admission may have changed, nor the uid or marks of a deletion."""
    found, before = metadata_of(new), metadata_of(old)
    changed = ["name"] if found.get("name") != before.get("name") else []
    if found.get("uid", "") not in ("", before["uid"]):
        changed.append("uid")
    changed += [name for name in _DELETION_MARKS if name in found and name not in before]
    return [invalid(f"metadata.{name}", found[name], "field is immutable") for name in changed]


def _keep_server_metadata(metadata: JSONObject, old: JSONObject) -> None:
    for name in (*_SERVER_METADATA, "uid", "generation", "resourceVersion"):
        _copy_member(name, metadata, old)


def _copy_member(name: str, target: JSONObject, source: JSONObject) -> None:
    if name in source:
        target[name] = source[name]
    else:
        target.pop(name, None)


def _changes_generation(new: JSONObject, old: JSONObject, resource: Resource) -> bool:
    aside = {"metadata", "apiVersion", "kind"} | ({"status"} if resource.subresource("status") else set())
    if any(not same(new.get(name), old.get(name)) for name in (new.keys() | old.keys()) - aside):
        return True
    counted = _GENERATION_METADATA.get(resource.kind, "")
    if not counted:
        return False
    return not same(value_at(new, "metadata", counted) or {}, value_at(old, "metadata", counted) or {})
