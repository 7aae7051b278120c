"""The controller of StatefulSets: pods with an ordinal, a stable name and their own claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of, owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, APIError, ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import ControllerRevision, StatefulSet
from listwatch.models.core_v1 import PersistentVolumeClaim, Pod
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.pod_control import PodControl, joined_index, owner_index, pod_from_template
from listwatch.simulation.controllers.revisions import HASH_LABEL, Revisions
from listwatch.simulation.controllers.rollout_state import absolute
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_available, is_finished, is_ready

__all__ = ["StatefulSets"]

_ORDINAL = re.compile(r"(.*)-([0-9]+)")
_ALWAYS = ("replicas", "collisionCount", "availableReplicas")


class StatefulSets:
    """Reconciles StatefulSets: ordered or parallel, rolling updates with a partition, claims."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self.controller: Controller[StatefulSet] = Controller(
            self,
            for_=StatefulSet,
            owns=[
                Watch(Pod, indexers={owner_index: joined_index}),
                Watch(ControllerRevision, indexers={owner_index: joined_index}),
            ],
            watches=[
                Watch(Pod, keys=self._adopters, when=_is_orphan),
                Watch(PersistentVolumeClaim, keys=lambda _: None),
            ],
            name="statefulset-controller",
            clock=clock,
        )

    def _adopters(self, pod: Pod) -> Iterator[StatefulSet]:
        for each in self.controller.lister(StatefulSet).namespace(pod.namespace).list():
            if _ordinal(each, pod) is not None and _selector(each).matches(pod.labels):
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[StatefulSet]) -> float | None:
        owner = context.get()
        if owner is None:
            return None
        control = PodControl(context, owner, events=self._records_events)
        pods = [pod for pod in await control.claim(_selector(owner)) if _ordinal(owner, pod) is not None]
        revisions = await Revisions.of(owner, context)
        step = _Step(owner, pods, revisions, control, context, self._clock.now())
        if owner.metadata.deletion_timestamp is None:
            await step.advance()
        await step.update_status()
        live = {pod.labels.get(HASH_LABEL, "") for pod in pods} | {owner.status.current_revision or ""}
        limit = 10 if owner.spec.revision_history_limit is None else owner.spec.revision_history_limit
        await revisions.truncate(limit, live, context)
        return step.wait


class _Step:
    """One reconcile of a StatefulSet."""

    def __init__(
        self,
        owner: StatefulSet,
        pods: list[Pod],
        revisions: Revisions,
        control: PodControl,
        context: ReconcileContext[StatefulSet],
        now: datetime,
    ) -> None:
        self._owner = owner
        self._revisions = revisions
        self._control = control
        self._context = context
        self._now = now
        self._pods = {ordinal: pod for pod in pods if (ordinal := _ordinal(owner, pod)) is not None}
        self._start = owner.spec.ordinals.start if owner.spec.ordinals and owner.spec.ordinals.start else 0
        self._end = self._start + (1 if owner.spec.replicas is None else owner.spec.replicas)
        self._ordered = owner.spec.pod_management_policy != "Parallel"
        self._minimum = owner.spec.min_ready_seconds or 0
        strategy = owner.spec.update_strategy
        self._rolling = strategy.rolling_update
        self._on_delete = strategy.type == "OnDelete"
        self._current = revisions.named(owner.status.current_revision)
        waits = [is_available(pod, self._minimum, now) for pod in pods]
        self.wait = min((each for each in waits if each), default=None)

    async def advance(self) -> None:
        """Create, delete or update pods; in order, one at a time, unless the policy is Parallel."""
        for ordinal in range(self._start, self._end):
            if await self._is_blocked_by(ordinal) and self._ordered:
                return
        for ordinal in sorted(self._pods, reverse=True):
            if self._start <= ordinal < self._end:
                continue
            pod = self._pods[ordinal]
            if pod.metadata.deletion_timestamp is None:
                if self._ordered and not self._is_available(pod) and not self._is_lowest_unavailable(ordinal):
                    return
                await self._control.delete([pod])
            if self._ordered:
                return
        if not self._on_delete:
            await self._update_pods()

    async def _is_blocked_by(self, ordinal: int) -> bool:
        """Create or replace a pod; True if those with larger ordinals have to wait for it."""
        pod = self._pods.get(ordinal)
        if pod is None:
            await self._create(ordinal)
            return True
        if is_finished(pod):
            if pod.metadata.deletion_timestamp is None:
                await self._control.delete([pod])
            return True
        if pod.status.phase == "Pending":
            await self._create_claims(ordinal)
        return pod.metadata.deletion_timestamp is not None or not self._is_available(pod)

    def _is_available(self, pod: Pod) -> bool:
        return pod.status.phase == "Running" and is_available(pod, self._minimum, self._now) == 0.0

    def _is_lowest_unavailable(self, ordinal: int) -> bool:
        return not any(other < ordinal and not self._is_available(pod) for other, pod in self._pods.items())

    async def _update_pods(self) -> None:
        """Delete pods of another revision, the largest ordinal first; they are created again with the new one."""
        partition = self._rolling.partition if self._rolling and self._rolling.partition else 0
        limit = 1
        if self._rolling and self._rolling.max_unavailable is not None:
            limit = max(1, absolute(self._rolling.max_unavailable, self._end - self._start, up=True))
        gone = [o for o, pod in self._pods.items() if not self._is_available(pod) or _is_terminating(pod)]
        for ordinal in range(self._end - 1, self._start + partition - 1, -1):
            pod = self._pods.get(ordinal)
            if pod is None or _is_terminating(pod):
                if len(gone) >= limit:
                    return
                continue
            if pod.labels.get(HASH_LABEL) != self._revisions.update.name:
                if ordinal not in gone and len(gone) >= limit:
                    return
                await self._control.delete([pod])
                gone = [*{*gone, ordinal}]
                if len(gone) >= limit:
                    return
            elif ordinal in gone and len(gone) >= limit:
                return

    # --- creation ----------------------------------------------------------------------------------------------------

    async def _create(self, ordinal: int) -> None:
        await self._create_claims(ordinal)
        revision = self._revision_of(ordinal)
        body = pod_from_template(Revisions.template_of(revision), self._owner)
        metadata, spec = body["metadata"], body["spec"]
        assert isinstance(metadata, dict)
        assert isinstance(spec, dict)
        name = f"{self._owner.name}-{ordinal}"
        labels = metadata.get("labels")
        metadata |= {
            "name": name,
            "labels": {
                **(labels if isinstance(labels, dict) else {}),
                "statefulset.kubernetes.io/pod-name": name,
                "apps.kubernetes.io/pod-index": str(ordinal),
                HASH_LABEL: revision.name,
            },
        }
        spec |= {"hostname": name}
        if self._owner.spec.service_name:
            spec["subdomain"] = self._owner.spec.service_name
        if volumes := self._volumes(ordinal, spec.get("volumes")):
            spec["volumes"] = volumes
        try:
            await self._context.client.core_v1.pods(self._owner.namespace).create(body)
        except AlreadyExistsError:
            return  # not of this set: it has to go first
        except APIError as error:
            text = f"create Pod {name} in StatefulSet {self._owner.name} failed error: {error}"
            self._control.event("Warning", "FailedCreate", text)
            raise
        text = f"create Pod {name} in StatefulSet {self._owner.name} successful"
        self._control.event("Normal", "SuccessfulCreate", text)

    def _revision_of(self, ordinal: int) -> ControllerRevision:
        """The revision that a pod is created with: the old one below the partition."""
        if self._on_delete or self._rolling is None or self._rolling.partition is None:
            return self._revisions.update
        return self._current if ordinal < self._start + self._rolling.partition else self._revisions.update

    def _volumes(self, ordinal: int, present: JSON) -> list[JSON]:
        names = [each.name for each in self._owner.spec.volume_claim_templates]
        volumes: list[JSON] = [
            {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-{self._owner.name}-{ordinal}"}}
            for name in names
        ]
        others = (
            [e for e in present if isinstance(e, dict) and e.get("name") not in names]
            if isinstance(present, list)
            else []
        )
        return [*volumes, *others]

    async def _create_claims(self, ordinal: int) -> None:
        claims = self._context.client.core_v1.persistentvolumeclaims(self._owner.namespace)
        for template in self._owner.spec.volume_claim_templates:
            name = f"{template.name}-{self._owner.name}-{ordinal}"
            if ObjectKey(self._owner.namespace, name) in self._context.indexer(PersistentVolumeClaim):
                continue
            body: JSONObject = template.to_dict()
            body.pop("status", None)
            metadata: JSONObject = {
                "name": name,
                "labels": {**template.labels, **(self._owner.spec.selector.match_labels or {})},
            }
            if template.metadata.annotations:
                metadata["annotations"] = {**template.metadata.annotations}
            policy = self._owner.spec.persistent_volume_claim_retention_policy
            if policy and policy.when_deleted == "Delete":
                metadata["ownerReferences"] = [owner_reference(self._owner).to_dict()]
            body["metadata"] = metadata
            try:
                await claims.create(body)
            except AlreadyExistsError:
                continue
            text = f"create Claim {name} Pod {self._owner.name}-{ordinal} in StatefulSet {self._owner.name} success"
            self._control.event("Normal", "SuccessfulCreate", text)

    # --- status ------------------------------------------------------------------------------------------------------

    async def update_status(self) -> None:
        owner, update = self._owner, self._revisions.update.name
        present = [pod for pod in self._pods.values() if not _is_terminating(pod)]
        current = self._current.name
        updated = sum(pod.labels.get(HASH_LABEL) == update for pod in present)
        ready = sum(pod.status.phase == "Running" and is_ready(pod) for pod in self._pods.values())
        replicas = len(self._pods)
        is_rolling = not self._on_delete
        if is_rolling and updated == ready == replicas == self._end - self._start:
            current = update
        status: JSONObject = {
            "observedGeneration": owner.metadata.generation,
            "replicas": replicas,
            "readyReplicas": ready,
            "availableReplicas": sum(self._is_available(pod) for pod in self._pods.values()),
            "currentReplicas": sum(pod.labels.get(HASH_LABEL) == current for pod in present),
            "updatedReplicas": updated,
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": self._revisions.collisions,
        }
        status = {name: value for name, value in status.items() if value or name in _ALWAYS}
        sets = self._context.client.apps_v1.statefulsets(owner.namespace)
        try:
            await write_status(sets, owner, status, keep=["conditions"])
        except (NotFoundError, ConflictError):
            return


def _ordinal(owner: StatefulSet, pod: Pod) -> int | None:
    found = _ORDINAL.fullmatch(pod.name)
    return int(found[2]) if found and found[1] == owner.name else None


def _selector(owner: StatefulSet) -> LabelSelector:
    return LabelSelector.from_dict(owner.spec.selector.to_dict())


def _is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _is_orphan(_old: Pod | None, new: Pod | None) -> bool:
    return new is not None and controller_of(new) is None
