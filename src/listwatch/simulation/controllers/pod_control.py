"""Creates, deletes, adopts and releases the pods of a workload."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from listwatch.controller.object_fields.owners import controller_of, owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.errors import APIError, ConflictError, ForbiddenError, NotFoundError
from listwatch.events.occurrence import EventType
from listwatch.json_value import JSON, JSONObject
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.pod_order_state import is_active

__all__ = [
    "PodControl",
    "joined_index",
    "owner_index",
    "pod_from_template",
    "template_hash",
]

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels, so that no words arise."""

_FNV_OFFSET, _FNV_PRIME = 2166136261, 16777619
_CONCURRENT = 32
"""Requests that one reconcile sends at a time."""

owner_index = "controller"
"""The name of the index of pods by the uid of their controller; those without one are under their namespace."""


def joined_index(item: Object) -> list[str]:
    """The value of `owner_index`: the uid of the controller, or `orphans/NAMESPACE`."""
    owner = controller_of(item)
    return [owner.uid if owner else f"orphans/{item.namespace}"]


def template_hash(text: bytes, collisions: int = 0) -> str:
    """A short name for the contents of a template, made like those of Kubernetes from an FNV hash."""
    value = _FNV_OFFSET
    for byte in text + (collisions.to_bytes(8, "little") if collisions else b""):
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))


def pod_from_template(template: JSONObject, owner: Object) -> JSONObject:
    """The pod that a template describes, owned by a workload and with a generated name."""
    given = template.get("metadata")
    metadata: JSONObject = {"generateName": f"{owner.name}-", "namespace": owner.namespace}
    if isinstance(given, dict):
        for name in ("labels", "annotations", "finalizers"):
            value = given.get(name)
            if isinstance(value, dict):
                metadata[name] = dict(value)
            elif isinstance(value, list):
                metadata[name] = list(value)
    metadata["ownerReferences"] = [owner_reference(owner).to_dict()]
    spec = template.get("spec")
    return {"metadata": metadata, "spec": dict(spec) if isinstance(spec, dict) else {}}


class PodControl:
    """Changes the pods of one owner, and records events about it."""

    def __init__(self, context: ReconcileContext[Object], owner: Object, *, events: bool) -> None:
        self._context = context
        self._owner = owner
        self._records_events = events
        self._pods = context.client.core_v1.pods(owner.namespace)

    async def create(self, bodies: Sequence[JSONObject]) -> tuple[list[Pod], APIError | None]:
        """Create pods in batches that double in size; stops with the first error. Returns the pods and the error."""
        created: list[Pod] = []
        done, batch = 0, 1
        while done < len(bodies):
            chunk = bodies[done : done + batch]
            results = await asyncio.gather(*(self._create(each) for each in chunk))
            created += [each for each in results if isinstance(each, Pod)]
            for each in results:
                if isinstance(each, APIError):
                    return created, each
            done += len(chunk)
            batch = min(batch * 2, _CONCURRENT)
        return created, None

    async def _create(self, body: JSONObject) -> Pod | APIError | None:
        try:
            created = await self._pods.create(body)
        except APIError as error:
            if isinstance(error, ForbiddenError) and "because it is being terminated" in str(error):
                return None  # the namespace ends, and the owner with it
            self.event("Warning", "FailedCreate", f"Error creating: {error}")
            return error
        self.event("Normal", "SuccessfulCreate", f"Created pod: {created.name}")
        return created

    async def delete(self, pods: Sequence[Pod]) -> None:
        """Delete pods; those that are gone already are ignored."""
        for start in range(0, len(pods), _CONCURRENT):
            await asyncio.gather(*(self._delete(each) for each in pods[start : start + _CONCURRENT]))

    async def _delete(self, pod: Pod) -> None:
        try:
            await self._pods.delete(pod.name, uid=pod.uid)
        except (NotFoundError, ConflictError):
            return
        self.event("Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def event(self, type: EventType, reason: str, message: str) -> None:
        """Record an event about the owner."""
        if self._records_events:
            self._context.record_event(self._owner, type, reason, message)

    async def claim(self, selector: LabelSelector, *, finalizer: str = "") -> list[Pod]:
        """The pods of the owner: those that it controls and selects, with orphans that it selects, adopted now.

        Adopted pods get the finalizer, and released ones lose it.
        """
        return await self.claim_selected(lambda pod: selector.matches(pod.labels), finalizer=finalizer)

    async def claim_selected(self, is_selected: Callable[[Pod], bool], *, finalizer: str = "") -> list[Pod]:
        """As `claim`, for callers that remember which pods their selector matches."""
        indexer = self._context.indexer(Pod)
        claimed: list[Pod] = []
        for pod in indexer.by_index(owner_index, self._owner.uid):
            if is_selected(pod):
                claimed.append(pod)
            elif pod.metadata.deletion_timestamp is None:
                await self._release(pod, finalizer)
        if self._owner.metadata.deletion_timestamp is None:
            for pod in indexer.by_index(owner_index, f"orphans/{self._owner.namespace}"):
                if is_selected(pod) and is_active(pod):
                    adopted = await self._adopt(pod, finalizer)
                    claimed += [] if adopted is None else [adopted]
        return claimed

    async def _adopt(self, pod: Pod, finalizer: str) -> Pod | None:
        references: list[JSON] = [each.to_dict() for each in pod.metadata.owner_references]
        references.append(owner_reference(self._owner).to_dict())
        finalizers = [*pod.metadata.finalizers, *([finalizer] if finalizer else [])]
        return await self._set_owners(pod, references, finalizers)

    async def _release(self, pod: Pod, finalizer: str) -> None:
        kept: list[JSON] = [e.to_dict() for e in pod.metadata.owner_references if e.uid != self._owner.uid]
        await self._set_owners(pod, kept, [each for each in pod.metadata.finalizers if each != finalizer])

    async def _set_owners(self, pod: Pod, references: list[JSON], finalizers: list[str]) -> Pod | None:
        metadata: JSONObject = {
            "uid": pod.uid,
            "resourceVersion": pod.resource_version,
            "ownerReferences": references or None,
        }
        if finalizers != [*pod.metadata.finalizers]:
            metadata["finalizers"] = [*finalizers] or None
        change: JSONObject = {"metadata": metadata}
        try:
            return await self._pods.patch(pod.name, change, type="merge")
        except (NotFoundError, ConflictError):
            return None  # another change of the pod leads here again
