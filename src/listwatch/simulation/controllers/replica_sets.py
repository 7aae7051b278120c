"""The controllers of ReplicaSets and ReplicationControllers: as many pods as the spec says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from math import inf
from typing import NamedTuple

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import APIError, ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import ReplicaSet
from listwatch.models.core_v1 import Pod, ReplicationController
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.pod_control import PodControl, joined_index, owner_index, pod_from_template
from listwatch.simulation.controllers.pod_order_state import deletion_order, is_active, ready_since
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, is_ready, timestamp

__all__ = ["ReplicaSets"]

_BURST = 500
"""The pods that one reconcile creates or deletes at most."""

_LARGE = 500
_PAUSE_PER_POD = 0.0001
"""A set with many pods is counted at most so often: otherwise counting them would take all the time."""

Replicated = ReplicaSet | ReplicationController


class ReplicaSets:
    """Reconciles ReplicaSets, or with `kind` ReplicationControllers."""

    def __init__(
        self,
        options: SimulationOptions,
        clock: Clock,
        kind: type[ReplicaSet] | type[ReplicationController] = ReplicaSet,
    ) -> None:
        self._clock = clock
        self._kind = kind
        self._records_events = options.events
        self._members: dict[ObjectKey, _Members] = {}
        self.controller: Controller[Replicated] = Controller(
            self,
            for_=kind,
            owns=[Watch(Pod, indexers={owner_index: joined_index})],
            watches=[Watch(Pod, keys=self._adopters, when=_is_orphan)],
            name="replicaset-controller" if kind is ReplicaSet else "replication-controller",
            clock=clock,
            concurrency=5,
        )

    def _adopters(self, pod: Pod) -> Iterator[ObjectKey]:
        found: list[ReplicaSet] | list[ReplicationController]
        if self._kind is ReplicaSet:
            found = self.controller.lister(ReplicaSet).namespace(pod.namespace).list()
        else:
            found = self.controller.lister(ReplicationController).namespace(pod.namespace).list()
        for each in found:
            if _selector(each).matches(pod.labels):
                yield ObjectKey(each.namespace, each.name)

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Replicated]) -> float | None:
        owner = context.get()
        if owner is None:
            self._members.pop(key, None)
            return None
        members = self._members_of(key, owner)
        control = PodControl(context, owner, events=self._records_events)
        pods = members.facts_of(await control.claim_selected(lambda pod: members.fact(pod).is_selected))
        active = [each for each in pods if each.is_active]
        surplus = len(active) - _replicas(owner)
        if not surplus and (pause := self._pause(owner, members, len(active))):
            return pause
        error: APIError | None = None
        if owner.metadata.deletion_timestamp is None:
            error = await self._adjust(owner, [each.pod for each in active], surplus, control)
        now = self._clock.now()
        wait = await self._update_status(owner, pods, error, now, context)
        if error is not None:
            raise error
        return wait

    def _members_of(self, key: ObjectKey, owner: Replicated) -> _Members:
        known = self._members.get(key)
        if known is None or not known.are_of(owner):
            known = self._members[key] = _Members(owner)
        return known

    def _pause(self, owner: Replicated, members: _Members, count: int) -> float:
        if count < _LARGE or _observed(owner) != owner.metadata.generation:
            return 0.0
        now = self._clock.monotonic()
        left = members.counted + count * _PAUSE_PER_POD - now
        if left <= 0:
            members.counted = now
        return max(0.0, left)

    async def _adjust(self, owner: Replicated, active: list[Pod], surplus: int, control: PodControl) -> APIError | None:
        if surplus < 0:
            template = owner.to_dict()["spec"]["template"]
            body = pod_from_template(template, owner)
            _, error = await control.create([body] * min(-surplus, _BURST))
            return error
        if surplus > 0:
            ordered = deletion_order(active, active, self._clock.now())
            await control.delete(ordered[: min(surplus, _BURST)])
        return None

    async def _update_status(
        self,
        owner: Replicated,
        pods: list[_PodFacts],
        error: APIError | None,
        now: datetime,
        context: ReconcileContext[Replicated],
    ) -> float | None:
        active = [each for each in pods if each.is_active]
        waits = [
            _seconds_to_available(each, owner.spec.min_ready_seconds or 0, now) for each in active if each.is_ready
        ]
        status: JSONObject = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(each.is_fully_labeled for each in active),
            "readyReplicas": len(waits),
            "availableReplicas": sum(wait == 0.0 for wait in waits),
            "observedGeneration": owner.metadata.generation,
            "conditions": _conditions(owner, error, now, surplus=len(active) - _replicas(owner)),
        }
        if self._kind is ReplicaSet:
            status["terminatingReplicas"] = sum(each.is_terminating for each in pods)
        status = {name: value for name, value in status.items() if value or name in _ALWAYS}
        try:
            if isinstance(owner, ReplicaSet):
                await write_status(context.client.apps_v1.replicasets(owner.namespace), owner, status)
            else:
                await write_status(context.client.core_v1.replicationcontrollers(owner.namespace), owner, status)
        except (NotFoundError, ConflictError):
            return None
        return min((wait for wait in waits if wait), default=None)


_ALWAYS = ("replicas", "terminatingReplicas")


class _PodFacts(NamedTuple):
    """What is counted of one version of a pod."""

    pod: Pod
    is_selected: bool
    is_active: bool
    is_terminating: bool
    is_fully_labeled: bool
    is_ready: bool
    ready_since: datetime | None


class _Members:
    """The facts of the pods of one owner, which are read once from each version of a pod.

    Each change of one of 5,000 pods leads to a count of all of them.
    """

    def __init__(self, owner: Replicated) -> None:
        self._uid, self._generation = owner.uid, owner.metadata.generation
        self._selector = _selector(owner)
        self._labels = (owner.spec.template.metadata.labels if owner.spec.template else {}).items()
        self._facts: dict[int, _PodFacts] = {}
        self.counted = -inf
        """When the pods were counted."""

    def are_of(self, owner: Replicated) -> bool:
        """Whether the owner has the same selector and template."""
        return (self._uid, self._generation) == (owner.uid, owner.metadata.generation)

    def fact(self, pod: Pod) -> _PodFacts:
        known = self._facts.get(id(pod))  # kept with the pod, so no other object has this id
        if known is None:
            known = self._facts[id(pod)] = self._read(pod)
        return known

    def facts_of(self, pods: list[Pod]) -> list[_PodFacts]:
        """Return the facts of these pods, which are all that are left; those of other versions are forgotten."""
        found = [self.fact(pod) for pod in pods]
        self._facts = {id(each.pod): each for each in found}
        return found

    def _read(self, pod: Pod) -> _PodFacts:
        is_deleted = pod.metadata.deletion_timestamp is not None
        labels = pod.labels
        return _PodFacts(
            pod=pod,
            is_selected=self._selector.matches(labels),
            is_active=is_active(pod),
            is_terminating=is_deleted and not is_finished(pod),
            is_fully_labeled=self._labels <= labels.items(),
            is_ready=is_ready(pod),
            ready_since=ready_since(pod),
        )


def _seconds_to_available(pod: _PodFacts, minimum: int, now: datetime) -> float:
    """The seconds until a ready pod has been ready for long enough."""
    if not minimum or pod.ready_since is None:
        return 0.0
    return max(0.0, minimum - (now - pod.ready_since).total_seconds())


def _conditions(owner: Replicated, error: APIError | None, now: datetime, *, surplus: int) -> list[JSON]:
    present: list[JSON] = [each.to_dict() for each in owner.status.conditions if each.type != "ReplicaFailure"]
    known = [each.to_dict() for each in owner.status.conditions if each.type == "ReplicaFailure"]
    if error is None:
        return present
    failure: JSONObject = {
        "type": "ReplicaFailure",
        "status": "True",
        "lastTransitionTime": timestamp(now),
        "reason": "FailedCreate" if surplus < 0 else "FailedDelete",
        "message": str(error),
    }
    return [*present, *(known or [failure])]


def _replicas(owner: Replicated) -> int:
    return 1 if owner.spec.replicas is None else owner.spec.replicas


def _observed(owner: Replicated) -> int:
    return owner.status.observed_generation or 0


def _selector(owner: Replicated) -> LabelSelector:
    if isinstance(owner, ReplicationController):
        return LabelSelector.from_dict({"matchLabels": dict(owner.spec.selector)})
    return LabelSelector.from_dict(owner.spec.selector.to_dict())


def _is_orphan(_old: Pod | None, new: Pod | None) -> bool:
    return new is not None and controller_of(new) is None
