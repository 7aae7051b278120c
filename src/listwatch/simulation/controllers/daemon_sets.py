"""The controller of DaemonSets: one pod on each node that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import ControllerRevision, DaemonSet
from listwatch.models.core_v1 import Node, Pod
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.pod_control import PodControl, joined_index, owner_index, pod_from_template
from listwatch.simulation.controllers.revisions import HASH_LABEL, Revisions
from listwatch.simulation.controllers.rollout_state import absolute
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_available, is_finished, is_ready
from listwatch.simulation.scheduling.node_choice import matches_node, untolerated

__all__ = ["DaemonSets"]

_PREFIX = "node.kubernetes.io/"
_EXECUTED = ("not-ready", "unreachable")
_SCHEDULED = ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")


class DaemonSets:
    """Reconciles DaemonSets: pods for nodes, rolling updates with maxUnavailable or maxSurge."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self.controller: Controller[DaemonSet] = Controller(
            self,
            for_=DaemonSet,
            owns=[
                Watch(Pod, indexers={owner_index: joined_index}),
                Watch(ControllerRevision, indexers={owner_index: joined_index}),
            ],
            watches=[
                Watch(Node, keys=lambda _: self._all(), when=_may_matter),
                Watch(Pod, keys=self._adopters, when=_is_orphan),
            ],
            name="daemonset-controller",
            clock=clock,
        )

    def _all(self) -> Iterator[DaemonSet]:
        yield from self.controller.indexer(DaemonSet)

    def _adopters(self, pod: Pod) -> Iterator[DaemonSet]:
        for each in self.controller.lister(DaemonSet).namespace(pod.namespace).list():
            if _selector(each).matches(pod.labels):
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[DaemonSet]) -> float | None:
        owner = context.get()
        if owner is None:
            return None
        control = PodControl(context, owner, events=self._records_events)
        pods = await control.claim(_selector(owner))
        revisions = await Revisions.of(owner, context)
        step = _Step(owner, pods, [*context.indexer(Node)], revisions, control, self._clock.now())
        if owner.metadata.deletion_timestamp is None:
            await step.advance()
        await self._update_status(owner, step.status(), context)
        live = {revisions.update.name, *(f"{owner.name}-{pod.labels.get(HASH_LABEL, '')}" for pod in pods)}
        limit = 10 if owner.spec.revision_history_limit is None else owner.spec.revision_history_limit
        await revisions.truncate(limit, live, context)
        return step.wait

    async def _update_status(self, owner: DaemonSet, status: JSONObject, context: ReconcileContext[DaemonSet]) -> None:
        try:
            sets = context.client.apps_v1.daemonsets(owner.namespace)
            await write_status(sets, owner, status, keep=["conditions"])
        except (NotFoundError, ConflictError):
            return


@dataclass(slots=True)
class _OnNode:
    """The pods of a DaemonSet on one node, of the current template and of others."""

    node: str
    new: Pod | None = None
    old: Pod | None = None


class _Step:
    """One reconcile of a DaemonSet."""

    def __init__(
        self,
        owner: DaemonSet,
        pods: Sequence[Pod],
        nodes: Sequence[Node],
        revisions: Revisions,
        control: PodControl,
        now: datetime,
    ) -> None:
        self._owner = owner
        self._revisions = revisions
        self._control = control
        self._now = now
        self._minimum = owner.spec.min_ready_seconds or 0
        self._template: JSONObject = owner.to_dict()["spec"]["template"]
        self._sample = Pod.from_dict({"apiVersion": "v1", "kind": "Pod", **self._body("")})
        self._by_node: dict[str, list[Pod]] = {}
        for pod in pods:
            self._by_node.setdefault(_target(pod), []).append(pod)
        self._wanted = [node.name for node in nodes if self._should_run(node)]
        self._kept = {node.name for node in nodes if self._should_continue(node)}
        waits = [is_available(pod, self._minimum, now) for pod in pods]
        self.wait = min((each for each in waits if each), default=None)

    def _should_run(self, node: Node) -> bool:
        tolerations, taints = self._sample.spec.tolerations, node.spec.taints
        return self._should_continue(node) and untolerated(tolerations, taints, ("NoSchedule",)) is None

    def _should_continue(self, node: Node) -> bool:
        return (
            matches_node(_without_target(self._sample), node)
            and untolerated(self._sample.spec.tolerations, node.spec.taints, ("NoExecute",)) is None
        )

    async def advance(self) -> None:
        """Create missing pods, delete those that are too many or have failed, then update some."""
        missing: list[str] = []
        excess: list[Pod] = []
        for name in self._wanted:
            present = self._by_node.get(name, [])
            failed = [pod for pod in present if is_finished(pod) and pod.metadata.deletion_timestamp is None]
            excess += failed
            alive = [pod for pod in present if pod not in failed and pod.metadata.deletion_timestamp is None]
            if not present:
                missing.append(name)
            for generation in (True, False):  # one pod of the current template, and one of an older one
                several = sorted(
                    (pod for pod in alive if self._is_new(pod) == generation),
                    key=lambda pod: str(pod.metadata.creation_timestamp),
                )
                excess += several[1:]
        for name, pods in self._by_node.items():
            if name not in self._kept and name:
                excess += [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        if self._owner.spec.update_strategy.type != "OnDelete":
            surge_nodes, outdated = self._updates()
            missing += surge_nodes
            excess += outdated
        await self._control.delete([*{pod.uid: pod for pod in excess}.values()])
        _, error = await self._control.create([self._body(name) for name in missing])
        if error is not None:
            raise error

    def _updates(self) -> tuple[list[str], list[Pod]]:
        """The nodes that get a second pod now, and the pods of older templates that can go."""
        rolling = self._owner.spec.update_strategy.rolling_update
        total = len(self._wanted)
        surge = absolute(rolling.max_surge, total, up=True) if rolling else 0
        limit = absolute(rolling.max_unavailable, total, up=True) if rolling else 1
        pairs = [pair for name in self._wanted if (pair := self._pair(name)) is not None]
        if surge:
            done = [pair.old for pair in pairs if pair.old and pair.new and self._is_available(pair.new)]
            running = sum(pair.new is not None and not self._is_available(pair.new) for pair in pairs)
            waiting = [pair.node for pair in pairs if pair.old and not pair.new]
            broken = [pair.node for pair in pairs if pair.old and not pair.new and not self._is_available(pair.old)]
            free = [name for name in waiting if name not in broken][: max(0, surge - running)]
            return [*broken, *free], done
        outdated = [pair.old for pair in pairs if pair.old and not pair.new]
        broken_pods = [pod for pod in outdated if not self._is_available(pod)]
        unavailable = total - sum(any(self._is_available(pod) for pod in (pair.old, pair.new) if pod) for pair in pairs)
        healthy = [pod for pod in outdated if pod not in broken_pods]
        return [], [*broken_pods, *healthy[: max(0, limit - unavailable)]]

    def _pair(self, node: str) -> _OnNode | None:
        pair = _OnNode(node)
        for pod in self._by_node.get(node, []):
            if pod.metadata.deletion_timestamp is None and not is_finished(pod):
                if self._is_new(pod):
                    pair.new = pod
                else:
                    pair.old = pod
        return pair

    def _is_new(self, pod: Pod) -> bool:
        return pod.labels.get(HASH_LABEL) == self._revisions.update_hash

    def _is_available(self, pod: Pod) -> bool:
        return is_available(pod, self._minimum, self._now) == 0.0

    def status(self) -> JSONObject:
        """The status that follows from the pods that were found."""
        current = ready = available = updated = misplaced = 0
        for name, pods in self._by_node.items():
            if name not in self._wanted:
                misplaced += bool(pods) and name not in self._kept
                continue
            current += 1
            first = sorted(pods, key=lambda pod: (not is_ready(pod), str(pod.metadata.creation_timestamp)))[0]
            if is_ready(first):
                ready += 1
                available += self._is_available(first)
            updated += any(self._is_new(pod) and pod.metadata.deletion_timestamp is None for pod in pods)
        desired = len(self._wanted)
        status: JSONObject = {
            "currentNumberScheduled": current,
            "numberMisscheduled": misplaced,
            "desiredNumberScheduled": desired,
            "numberReady": ready,
        }
        optional: JSONObject = {
            "observedGeneration": self._owner.metadata.generation,
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
            "numberUnavailable": desired - available,
            "collisionCount": self._revisions.collisions,
        }
        return status | {name: value for name, value in optional.items() if value}

    def _body(self, node: str) -> JSONObject:
        """The pod for a node: it is bound to that node, and tolerates the taints of nodes that are not ready."""
        body = pod_from_template(self._template, self._owner)
        metadata, spec = body["metadata"], body["spec"]
        assert isinstance(metadata, dict)
        assert isinstance(spec, dict)
        labels = metadata.get("labels")
        generation = self._owner.metadata.annotations.get("deprecated.daemonset.template.generation", "")
        metadata["labels"] = {
            **(labels if isinstance(labels, dict) else {}),
            HASH_LABEL: self._revisions.update_hash,
            **({"pod-template-generation": generation} if generation else {}),
        }
        spec["affinity"] = _affinity(spec.get("affinity"), node)
        tolerations = spec.get("tolerations")
        added = [*((name, "NoExecute") for name in _EXECUTED), *((name, "NoSchedule") for name in _SCHEDULED)]
        if spec.get("hostNetwork"):
            added.append(("network-unavailable", "NoSchedule"))
        own: list[JSON] = [
            {"key": f"{_PREFIX}{name}", "operator": "Exists", "effect": effect} for name, effect in added
        ]
        spec["tolerations"] = [*(tolerations if isinstance(tolerations, list) else []), *own]
        return body


def _affinity(given: JSON, node: str) -> JSONObject:
    """The affinity of the template with the name of the node, in place of its required node affinity terms."""
    affinity = dict(given) if isinstance(given, dict) else {}
    present = affinity.get("nodeAffinity")
    node_affinity = dict(present) if isinstance(present, dict) else {}
    field: JSONObject = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = required.get("nodeSelectorTerms") if isinstance(required, dict) else None
    pinned: list[JSON] = [
        {**term, "matchFields": [field]}
        for term in (terms if isinstance(terms, list) else [{}])
        if isinstance(term, dict)
    ]
    node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": pinned}
    return {**affinity, "nodeAffinity": node_affinity}


def _without_target(sample: Pod) -> Pod:
    """The sample pod without the name of a node."""
    pod = sample.copy()
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if affinity is not None and required is not None:
        required.node_selector_terms = [term for term in required.node_selector_terms if term.match_expressions]
        for term in required.node_selector_terms:
            term.match_fields = []
        if not required.node_selector_terms:
            affinity.required_during_scheduling_ignored_during_execution = None
    return pod


def _target(pod: Pod) -> str:
    """The node of a pod: the one that it has, or is to have."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in required.node_selector_terms if required else ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.values:
                return field.values[0]
    return ""


def _selector(owner: DaemonSet) -> LabelSelector:
    return LabelSelector.from_dict(owner.spec.selector.to_dict())


def _may_matter(old: Node | None, new: Node | None) -> bool:
    if old is None or new is None:
        return True
    return (old.labels, old.spec) != (new.labels, new.spec)


def _is_orphan(_old: Pod | None, new: Pod | None) -> bool:
    return new is not None and controller_of(new) is None
