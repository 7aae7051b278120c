"""Keeps the status of PodDisruptionBudgets, from which the server decides whether a pod may be evicted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import ReplicaSet, StatefulSet
from listwatch.models.core_v1 import Pod
from listwatch.models.policy_v1 import PodDisruptionBudget
from listwatch.selectors import LabelSelector
from listwatch.simulation.controllers.rollout_state import absolute
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, is_ready, timestamp

__all__ = ["DisruptionBudgets"]

_FORGET = timedelta(minutes=2)


class DisruptionBudgets:
    """Reconciles the status of PodDisruptionBudgets."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self.controller: Controller[PodDisruptionBudget] = Controller(
            self,
            for_=PodDisruptionBudget,
            watches=[
                Watch(Pod, keys=self._budgets_of),
                Watch(ReplicaSet, keys=lambda _: None),
                Watch(StatefulSet, keys=lambda _: None),
            ],
            name="disruption-controller",
            clock=clock,
        )

    def _budgets_of(self, pod: Pod) -> Iterator[PodDisruptionBudget]:
        for each in self.controller.lister(PodDisruptionBudget).namespace(pod.namespace).list():
            if _selector(each).matches(pod.labels):
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[PodDisruptionBudget]) -> None:
        budget = context.get()
        if budget is None:
            return
        selector = _selector(budget)
        pods = [
            pod
            for pod in context.lister(Pod).namespace(budget.namespace).list()
            if selector.matches(pod.labels) and not is_finished(pod)
        ]
        now = self._clock.now()
        disrupted: dict[str, JSON] = {
            pod.name: timestamp(at)
            for pod in pods
            if (at := budget.status.disrupted_pods.get(pod.name)) is not None
            and pod.metadata.deletion_timestamp is None
            and now - at < _FORGET
        }
        healthy = sum(
            is_ready(pod) and pod.metadata.deletion_timestamp is None and pod.name not in disrupted for pod in pods
        )
        expected, desired = self._amounts(budget, pods, context)
        allowed = max(0, healthy - desired) if expected else 0
        reason = "SufficientPods" if allowed else "InsufficientPods"
        status: JSONObject = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": budget.metadata.generation,
            "conditions": [_condition(budget, reason, timestamp(now))],
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        budgets = context.client.policy_v1.poddisruptionbudgets(budget.namespace)
        try:
            await write_status(budgets, budget, status, checked=True)  # an eviction in between changes the numbers
        except (NotFoundError, ConflictError):
            return

    def _amounts(
        self, budget: PodDisruptionBudget, pods: list[Pod], context: ReconcileContext[PodDisruptionBudget]
    ) -> tuple[int, int]:
        """The number of pods that are expected, and of those that have to be healthy."""
        minimum, maximum = budget.spec.min_available, budget.spec.max_unavailable
        if isinstance(minimum, int):
            return len(pods), minimum
        expected = self._expected(pods, context)
        if maximum is not None:
            return expected, max(0, expected - absolute(maximum, expected, up=True))
        return expected, absolute(minimum, expected, up=True)

    def _expected(self, pods: list[Pod], context: ReconcileContext[PodDisruptionBudget]) -> int:
        """The replicas of the sets that own the pods; a pod without one counts for itself."""
        sizes: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            found: ReplicaSet | StatefulSet | None = None
            if owner is not None and owner.kind == "ReplicaSet":
                found = context.indexer(ReplicaSet).get(ObjectKey(pod.namespace, owner.name))
            elif owner is not None and owner.kind == "StatefulSet":
                found = context.indexer(StatefulSet).get(ObjectKey(pod.namespace, owner.name))
            if found is None:
                sizes[pod.uid] = 1
            else:
                sizes[found.uid] = 1 if found.spec.replicas is None else found.spec.replicas
        return sum(sizes.values())


def _condition(budget: PodDisruptionBudget, reason: str, now: str) -> JSONObject:
    status = "True" if reason == "SufficientPods" else "False"
    known = next((each for each in budget.status.conditions if each.type == "DisruptionAllowed"), None)
    since = known.last_transition_time if known is not None and known.status == status else None
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": "",
        "observedGeneration": budget.metadata.generation,
        "lastTransitionTime": timestamp(since) if since is not None else now,
    }


def _selector(budget: PodDisruptionBudget) -> LabelSelector:
    if budget.spec.selector is None:
        return LabelSelector.nothing()
    return LabelSelector.from_dict(budget.spec.selector.to_dict())
