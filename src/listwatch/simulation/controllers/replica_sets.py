"""The controllers of ReplicaSets and ReplicationControllers: as many pods as the spec says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

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
from listwatch.simulation.controllers.pod_order_state import deletion_order, is_active
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_available, is_ready, timestamp

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
        self._counted: dict[str, float] = {}
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
            return None
        control = PodControl(context, owner, events=self._records_events)
        pods = await control.claim(_selector(owner))
        active = [pod for pod in pods if is_active(pod)]
        surplus = len(active) - _replicas(owner)
        if not surplus and (pause := self._pause(owner, len(active))):
            return pause
        error: APIError | None = None
        if owner.metadata.deletion_timestamp is None:
            error = await self._adjust(owner, active, surplus, control)
        now = self._clock.now()
        wait = await self._update_status(owner, pods, active, error, now, context)
        if error is not None:
            raise error
        return wait

    def _pause(self, owner: Replicated, count: int) -> float:
        if count < _LARGE or _observed(owner) != owner.metadata.generation:
            return 0.0
        now = self._clock.monotonic()
        left = self._counted.get(owner.uid, -1e9) + count * _PAUSE_PER_POD - now
        if left <= 0:
            self._counted[owner.uid] = now
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
        pods: list[Pod],
        active: list[Pod],
        error: APIError | None,
        now: datetime,
        context: ReconcileContext[Replicated],
    ) -> float | None:
        labels = owner.spec.template.metadata.labels if owner.spec.template else {}
        minimum = owner.spec.min_ready_seconds or 0
        waits = [is_available(pod, minimum, now) for pod in active]
        status: JSONObject = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(labels.items() <= pod.labels.items() for pod in active),
            "readyReplicas": sum(is_ready(pod) for pod in active),
            "availableReplicas": sum(wait == 0.0 for wait in waits),
            "observedGeneration": owner.metadata.generation,
            "conditions": _conditions(owner, error, now, surplus=len(active) - _replicas(owner)),
        }
        if self._kind is ReplicaSet:
            status["terminatingReplicas"] = sum(
                pod.metadata.deletion_timestamp is not None and not is_active(pod) and not _is_over(pod) for pod in pods
            )
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


def _is_over(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


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
