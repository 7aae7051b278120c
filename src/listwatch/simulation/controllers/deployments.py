"""The controller of Deployments: ReplicaSets for revisions of the template. `rollout_state.py` decides their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of, owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, APIError, ConflictError, NotFoundError
from listwatch.events.occurrence import EventType
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment, ReplicaSet
from listwatch.models.core_v1 import Pod
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.deployment_status_state import Progress, next_status, seconds_to_deadline
from listwatch.simulation.controllers.pod_control import joined_index, owner_index, template_hash
from listwatch.simulation.controllers.rollout_state import (
    SetSize,
    absolute,
    new_set_size,
    proportional_sizes,
    reduced_old_sizes,
)
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions

__all__ = ["Deployments"]

_HASH = "pod-template-hash"
_PREFIX = "deployment.kubernetes.io/"
_REVISION = f"{_PREFIX}revision"
_HISTORY = f"{_PREFIX}revision-history"
_DESIRED = f"{_PREFIX}desired-replicas"
_MAX = f"{_PREFIX}max-replicas"
_NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    _REVISION,
    _HISTORY,
    _DESIRED,
    _MAX,
}


class Deployments:
    """Reconciles Deployments: rolling updates, Recreate, scaling, pausing, history."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self.controller: Controller[Deployment] = Controller(
            self,
            for_=Deployment,
            owns=[Watch(ReplicaSet, indexers={owner_index: joined_index})],
            # Recreate waits until the last old pod is gone.
            watches=[
                Watch(Pod, keys=self._deployment_of, when=_is_gone, indexers={owner_index: joined_index}),
                Watch(ReplicaSet, keys=self._adopters, when=_is_orphan),
            ],
            name="deployment-controller",
            clock=clock,
            concurrency=5,
        )

    def _deployment_of(self, pod: Pod) -> Iterator[ObjectKey]:
        owner = controller_of(pod)
        if owner is not None and owner.kind == "ReplicaSet":
            found = self.controller.indexer(ReplicaSet).get(ObjectKey(pod.namespace, owner.name))
            above = controller_of(found) if found is not None else None
            if above is not None and above.kind == "Deployment":
                yield ObjectKey(pod.namespace, above.name)

    def _adopters(self, item: ReplicaSet) -> Iterator[Deployment]:
        for each in self.controller.lister(Deployment).namespace(item.namespace).list():
            if _selector(each).matches(item.labels):
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Deployment]) -> float | None:
        deployment = context.get()
        if deployment is None:
            return None
        rollout = _Rollout(deployment, context, self._clock, events=self._records_events)
        await rollout.claim()
        try:
            return await rollout.advance()
        except (NotFoundError, ConflictError):
            return 0.0  # an object has changed since; its change is not in the cache yet


class _Rollout:
    """One reconcile of a Deployment."""

    def __init__(
        self, deployment: Deployment, context: ReconcileContext[Deployment], clock: Clock, *, events: bool
    ) -> None:
        self._deployment = deployment
        self._context = context
        self._clock = clock
        self._records_events = events
        self._sets = context.client.apps_v1.replicasets(deployment.namespace)
        self._template: JSONObject = deployment.to_dict()["spec"]["template"]
        self._new: ReplicaSet | None = None
        self._old: list[ReplicaSet] = []
        self._progress = Progress.NONE
        spec = deployment.spec
        self._desired = 1 if spec.replicas is None else spec.replicas
        rolling = spec.strategy.rolling_update
        self._is_recreate = spec.strategy.type == "Recreate"
        self._surge = absolute(rolling.max_surge, self._desired, up=True) if rolling else 0
        self._unavailable = absolute(rolling.max_unavailable, self._desired, up=False) if rolling else 0
        if rolling and not self._surge and not self._unavailable:
            self._unavailable = 1

    # --- ReplicaSets -------------------------------------------------------------------------------------------------

    async def claim(self) -> None:
        """Find the ReplicaSets of the Deployment; orphans that it selects are adopted."""
        deployment = self._deployment
        indexer = self._context.indexer(ReplicaSet)
        found = indexer.by_index(owner_index, deployment.uid)
        if deployment.metadata.deletion_timestamp is None:
            selector = _selector(deployment)
            for orphan in indexer.by_index(owner_index, f"orphans/{deployment.namespace}"):
                if selector.matches(orphan.labels) and orphan.metadata.deletion_timestamp is None:
                    reference: JSON = owner_reference(deployment).to_dict()
                    change = {"metadata": {"uid": orphan.uid, "ownerReferences": [reference]}}
                    found.append(await self._sets.patch(orphan.name, change, type="merge"))
        found.sort(key=lambda each: (str(each.metadata.creation_timestamp), each.name))
        wanted = _without_hash(self._template)
        self._new = next((each for each in found if _without_hash(_template(each)) == wanted), None)
        self._old = [each for each in found if each is not self._new]

    async def advance(self) -> float | None:
        """Do the next step of the rollout, and update the status."""
        deployment = self._deployment
        if deployment.metadata.deletion_timestamp is not None:
            return await self._update_status(estimate=False)
        if deployment.spec.paused or self._was_scaled():
            if self._new is not None:
                await self._update_new()
            await self._scale()
            return await self._update_status(estimate=False)
        if self._is_recreate:
            return await self._recreate()
        if self._new is None:
            await self._create_new()
        elif await self._update_new():
            pass
        elif not await self._resize_new() and not await self._resize_old():
            await self._remove_history()
        return await self._update_status(estimate=True)

    async def _recreate(self) -> float | None:
        active = [each for each in self._old if _size(each)]
        for each in active:
            await self._resize(each, 0)
        if not active and not self._old_pods_run():
            if self._new is None:
                await self._create_new()
            elif not await self._update_new():
                await self._resize(self._new, self._desired)
                await self._remove_history()
        return await self._update_status(estimate=True)

    def _old_pods_run(self) -> bool:
        if any(each.status.replicas for each in self._old):
            return True
        pods = self._context.indexer(Pod)
        return any(
            pod.status.phase not in ("Failed", "Succeeded")
            for each in self._old
            for pod in pods.by_index(owner_index, each.uid)
        )

    def _was_scaled(self) -> bool:
        return any(
            each.metadata.annotations.get(_DESIRED, str(self._desired)) != str(self._desired)
            for each in self._all()
            if _size(each)
        )

    def _all(self) -> list[ReplicaSet]:
        return [*self._old, *([] if self._new is None else [self._new])]

    # --- sizes -------------------------------------------------------------------------------------------------------

    async def _resize_new(self) -> bool:
        assert self._new is not None
        everything = sum(_size(each) for each in self._all())
        size = new_set_size(self._desired, self._surge, _size(self._new), everything)
        return await self._resize(self._new, size)

    async def _resize_old(self) -> bool:
        assert self._new is not None
        new, old = _set_size(self._new), [_set_size(each) for each in self._old]
        sizes = reduced_old_sizes(self._desired, self._unavailable, new, old)
        for each in self._old:
            if each.name in sizes:
                await self._resize(each, sizes[each.name])
        return bool(sizes)

    async def _scale(self) -> None:
        """Scale without a rollout: a single active set gets all replicas, several sets their share."""
        active = [each for each in self._all() if _size(each)]
        if len(active) <= 1:
            latest = [*active, *([] if self._new is None else [self._new]), *reversed(self._old)]
            if latest:
                await self._resize(latest[0], self._desired)
            return
        if self._new is not None and _size(self._new) == self._desired == self._new.status.available_replicas:
            for each in self._old:
                await self._resize(each, 0)
            return
        if not self._is_recreate:
            observed = self._deployment.status.replicas or 0
            sizes = proportional_sizes(self._desired, self._surge, observed, [_set_size(each) for each in active])
            for each in active:
                await self._resize(each, sizes[each.name], force=True)

    async def _resize(self, item: ReplicaSet, size: int, *, force: bool = False) -> bool:
        before = _size(item)
        notes = {_DESIRED: str(self._desired), _MAX: str(self._desired + self._surge)}
        if before == size and (not force or notes.items() <= item.metadata.annotations.items()):
            return False
        change: JSONObject = {
            "metadata": {"uid": item.uid, "resourceVersion": item.resource_version, "annotations": {**notes}},
            "spec": {"replicas": size},
        }
        await self._sets.patch(item.name, change, type="merge")
        if before != size:
            way = "up" if before < size else "down"
            self._event("Normal", "ScalingReplicaSet", f"Scaled {way} replica set {item.name} from {before} to {size}")
        return True

    # --- the new ReplicaSet ------------------------------------------------------------------------------------------

    async def _create_new(self) -> None:
        deployment = self._deployment
        collisions = deployment.status.collision_count or 0
        name_hash = template_hash(msgspec.json.encode(self._template, order="deterministic"), collisions)
        template = _with_hash(self._template, name_hash)
        selector = deployment.spec.selector.to_dict()
        selector["matchLabels"] = {**selector.get("matchLabels", {}), _HASH: name_hash}
        everything = sum(_size(each) for each in self._old)
        size = self._desired if self._is_recreate else new_set_size(self._desired, self._surge, 0, everything)
        revision = str(_latest_revision(self._old) + 1)
        metadata = template["metadata"]
        assert isinstance(metadata, dict)
        body: JSONObject = {
            "metadata": {
                "name": f"{deployment.name[: 252 - len(name_hash)]}-{name_hash}",
                "labels": metadata["labels"],
                "annotations": {
                    **self._copied_annotations(),
                    _REVISION: revision,
                    _DESIRED: str(self._desired),
                    _MAX: str(self._desired + self._surge),
                },
                "ownerReferences": [owner_reference(deployment).to_dict()],
            },
            "spec": {"replicas": size, "selector": selector, "template": template},
        }
        if deployment.spec.min_ready_seconds:
            body["spec"] = {**_object(body["spec"]), "minReadySeconds": deployment.spec.min_ready_seconds}
        try:
            self._new = await self._sets.create(body)
        except AlreadyExistsError:
            await self._count_collision(collisions)
            return
        except APIError as error:
            self._event("Warning", "ReplicaSetCreateError", f"Failed to create new replica set: {error}")
            raise
        if size:
            text = f"Scaled up replica set {self._new.name} from 0 to {size}"
            self._event("Normal", "ScalingReplicaSet", text)
        self._progress = Progress.CREATED
        await self._set_revision(revision)

    async def _count_collision(self, collisions: int) -> None:
        change = {"status": {"collisionCount": collisions + 1}}
        deployments = self._context.client.apps_v1.deployments(self._deployment.namespace)
        await deployments.patch(self._deployment.name, change, type="merge", subresource="status")

    async def _update_new(self) -> bool:
        """Bring revision and annotations of the new set up to date; returns whether it was written."""
        assert self._new is not None
        present = self._new.metadata.annotations
        wanted = self._copied_annotations()
        revision = _revision(self._new)
        latest = _latest_revision(self._old) + 1
        if revision < latest:
            wanted[_REVISION] = str(latest)
            if _REVISION in present:
                known = present.get(_HISTORY, "")
                wanted[_HISTORY] = f"{known},{revision}" if known else str(revision)
            revision = latest
        minimum = self._deployment.spec.min_ready_seconds or 0
        if wanted.items() <= present.items() and (self._new.spec.min_ready_seconds or 0) == minimum:
            await self._set_revision(str(revision))
            if not any(each.type == "Progressing" for each in self._deployment.status.conditions):
                self._progress = Progress.FOUND
            return False
        change: JSONObject = {
            "metadata": {"uid": self._new.uid, "annotations": {**wanted}},
            "spec": {"minReadySeconds": minimum},
        }
        self._new = await self._sets.patch(self._new.name, change, type="merge")
        await self._set_revision(str(revision))
        return False

    def _copied_annotations(self) -> dict[str, str]:
        given = self._deployment.metadata.annotations
        return {name: text for name, text in given.items() if name not in _NOT_COPIED}

    async def _set_revision(self, revision: str) -> None:
        if self._deployment.metadata.annotations.get(_REVISION) != revision:
            change = {"metadata": {"uid": self._deployment.uid, "annotations": {_REVISION: revision}}}
            deployments = self._context.client.apps_v1.deployments(self._deployment.namespace)
            await deployments.patch(self._deployment.name, change, type="merge")

    async def _remove_history(self) -> None:
        limit = self._deployment.spec.revision_history_limit
        status = self._deployment.status
        is_complete = status.updated_replicas == status.replicas == status.available_replicas == self._desired
        if limit is None or not (is_complete or self._desired == 0):
            return
        old = sorted((e for e in self._old if e.metadata.deletion_timestamp is None), key=_revision)
        for each in old[: max(0, len(old) - limit)]:
            if not each.status.replicas and not _size(each):
                await self._sets.delete(each.name, uid=each.uid)

    # --- status ------------------------------------------------------------------------------------------------------

    async def _update_status(self, *, estimate: bool) -> float | None:
        deployment, now = self._deployment, self._clock.now()
        status = next_status(
            deployment,
            self._new,
            self._all(),
            now,
            progress=self._progress,
            minimum=self._desired - self._unavailable,
            estimate=estimate,
        )
        await write_status(self._context.client.apps_v1.deployments(deployment.namespace), deployment, status)
        return seconds_to_deadline(deployment, status, now) if estimate else None

    def _event(self, type: EventType, reason: str, message: str) -> None:
        if self._records_events:
            self._context.record_event(self._deployment, type, reason, message)


# --- reading ----------------------------------------------------------------------------------------------------------


def _object(value: JSON) -> JSONObject:
    return value if isinstance(value, dict) else {}


def _size(item: ReplicaSet) -> int:
    return 1 if item.spec.replicas is None else item.spec.replicas


def _set_size(item: ReplicaSet) -> SetSize:
    limit = item.metadata.annotations.get(_MAX, "")
    return SetSize(
        item.name,
        _size(item),
        item.status.available_replicas or 0,
        (str(item.metadata.creation_timestamp), item.name),
        int(limit) if limit.isdecimal() else 0,
    )


def _revision(item: ReplicaSet) -> int:
    text = item.metadata.annotations.get(_REVISION, "")
    return int(text) if text.isdecimal() else 0


def _latest_revision(sets: Sequence[ReplicaSet]) -> int:
    return max(map(_revision, sets), default=0)


def _template(item: ReplicaSet) -> JSONObject:
    template: JSONObject = item.to_dict()["spec"]["template"]
    return template


def _without_hash(template: JSONObject) -> JSONObject:
    metadata = _object(template.get("metadata"))
    labels = {name: value for name, value in _object(metadata.get("labels")).items() if name != _HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _with_hash(template: JSONObject, name_hash: str) -> JSONObject:
    metadata = _object(template.get("metadata"))
    return {**template, "metadata": {**metadata, "labels": {**_object(metadata.get("labels")), _HASH: name_hash}}}


def _selector(deployment: Deployment) -> LabelSelector:
    return LabelSelector.from_dict(deployment.spec.selector.to_dict())


def _is_gone(_old: Pod | None, new: Pod | None) -> bool:
    return new is None


def _is_orphan(_old: ReplicaSet | None, new: ReplicaSet | None) -> bool:
    return new is not None and controller_of(new) is None
