"""The controller of HorizontalPodAutoscalers, for a load that they declare. `autoscaling_state.py` decides."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.apps_v1 import Deployment, ReplicaSet, StatefulSet
from listwatch.models.autoscaling_v2 import HorizontalPodAutoscaler
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.selectors import parse_label_selector
from listwatch.simulation.controllers.autoscaling_state import (
    MetricsError,
    Sizes,
    limited,
    recommend,
    stabilized,
)
from listwatch.simulation.controllers.pod_order_state import is_active
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_ready, timestamp
from listwatch.simulation.scheduling.node_choice import requests_of

__all__ = ["HorizontalAutoscalers"]

_INTERVAL = 15.0
_KINDS: dict[str, type[Object]] = {"Deployment": Deployment, "ReplicaSet": ReplicaSet, "StatefulSet": StatefulSet}


class HorizontalAutoscalers:
    """Scales the targets of HorizontalPodAutoscalers every 15 seconds."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self._history: dict[ObjectKey, list[tuple[datetime, int]]] = {}
        self.controller: Controller[HorizontalPodAutoscaler] = Controller(
            self,
            for_=Watch(HorizontalPodAutoscaler, when=_is_changed),
            watches=[Watch(Pod, keys=lambda _: None)],
            name="horizontal-pod-autoscaler",
            clock=clock,
        )

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[HorizontalPodAutoscaler]) -> float | None:
        autoscaler = context.get()
        if autoscaler is None:
            self._history.pop(key, None)
            return None
        target = autoscaler.spec.scale_target_ref
        conditions = _Conditions(autoscaler, self._clock.now())
        status: JSONObject = {"desiredReplicas": 0}
        kind = _KINDS.get(target.kind)
        try:
            if kind is None:
                raise NotFoundError(f"scales of the kind {target.kind} are not simulated")
            resource = context.client.resource(kind, namespace=key.namespace)
            scale = await resource.get_scale(target.name)
        except NotFoundError as error:
            text = f"the HPA controller was unable to get the target's current scale: {error.message}"
            conditions.set("AbleToScale", "False", "FailedGetScale", text)
        else:
            text = "the HPA controller was able to get the target's current scale"
            conditions.set("AbleToScale", "True", "SucceededGetScale", text)
            sizes = self._sizes(key.namespace, scale.status.selector or "", scale.spec.replicas or 0, context)
            status = {"desiredReplicas": sizes.current}
            if scale.status.replicas:
                status["currentReplicas"] = scale.status.replicas
            await self._scale(autoscaler, resource, sizes, status, conditions, context)
        status["conditions"] = conditions.listed
        try:
            autoscalers = context.client.resource(HorizontalPodAutoscaler, namespace=key.namespace)
            await write_status(autoscalers, autoscaler, status, keep=("lastScaleTime",))
        except (NotFoundError, ConflictError):
            return None
        return _INTERVAL

    def _sizes(
        self, namespace: str, selector: str, current: int, context: ReconcileContext[HorizontalPodAutoscaler]
    ) -> Sizes:
        parsed = parse_label_selector(selector)
        pods = [
            pod
            for pod in context.lister(Pod).namespace(namespace).list()
            if parsed.matches(pod.labels) and is_active(pod)
        ]
        requests: dict[str, Decimal] = requests_of(pods[0]) if pods else {}
        return Sizes(current, sum(map(is_ready, pods)), requests)

    async def _scale(
        self,
        autoscaler: HorizontalPodAutoscaler,
        resource: ResourceClient[Object],
        sizes: Sizes,
        status: JSONObject,
        conditions: _Conditions,
        context: ReconcileContext[HorizontalPodAutoscaler],
    ) -> None:
        """Scale the target, and fill in the status."""
        if not sizes.current:
            text = "scaling is disabled since the replica count of the target is zero"
            conditions.set("ScalingActive", "False", "ScalingDisabled", text)
            return
        try:
            recommendation = recommend(autoscaler, sizes)
        except MetricsError as error:
            text = f"the HPA was unable to compute the replica count: {error}"
            conditions.set("ScalingActive", "False", error.reason, text)
            self._event(context, autoscaler, "Warning", error.reason, str(error))
            return
        text = f"the HPA was able to successfully calculate a replica count from {recommendation.metric}"
        conditions.set("ScalingActive", "True", "ValidMetricFound", text)
        now = self._clock.now()
        history = self._history.setdefault(ObjectKey(autoscaler.namespace, autoscaler.name), [])
        replicas = stabilized(autoscaler, history, now, recommendation.replicas)
        history[:] = [*history[-240:], (now, recommendation.replicas)]
        if replicas > recommendation.replicas:
            text = "recent recommendations were higher than current one, applying the highest recent recommendation"
            conditions.set("AbleToScale", "True", "ScaleDownStabilized", text)
        else:
            conditions.set("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
        replicas, limit = limited(autoscaler, sizes.current, replicas)
        conditions.set("ScalingLimited", *limit)
        status["currentMetrics"] = [*recommendation.statuses]
        status["desiredReplicas"] = replicas
        if replicas == sizes.current:
            return
        await resource.patch_scale(autoscaler.spec.scale_target_ref.name, {"spec": {"replicas": replicas}})
        text = f"the HPA controller was able to update the target scale to {replicas}"
        conditions.set("AbleToScale", "True", "SucceededRescale", text)
        status["lastScaleTime"] = timestamp(now)
        direction = "above" if replicas > sizes.current else "below"
        reason = f"{recommendation.metric} {direction} target" if direction == "above" else "All metrics below target"
        self._event(context, autoscaler, "Normal", "SuccessfulRescale", f"New size: {replicas}; reason: {reason}")

    def _event(
        self,
        context: ReconcileContext[HorizontalPodAutoscaler],
        autoscaler: HorizontalPodAutoscaler,
        type: str,
        reason: str,
        message: str,
    ) -> None:
        if self._records_events:
            context.record_event(autoscaler, "Warning" if type == "Warning" else "Normal", reason, message)


def _is_changed(old: HorizontalPodAutoscaler | None, new: HorizontalPodAutoscaler | None) -> bool:
    """The status does not count: each scale of the target is at least an interval after the last one."""
    if old is None or new is None:
        return True
    return (old.uid, old.spec, old.metadata.annotations) != (new.uid, new.spec, new.metadata.annotations)


class _Conditions:
    """The conditions of an autoscaler; the time of one changes with its status."""

    def __init__(self, autoscaler: HorizontalPodAutoscaler, now: datetime) -> None:
        self.listed: list[JSON] = [each.to_dict() for each in autoscaler.status.conditions]
        self._now = timestamp(now)

    def set(self, type: str, status: str, reason: str, message: str) -> None:
        old = next((each for each in self.listed if isinstance(each, dict) and each["type"] == type), None)
        since = old["lastTransitionTime"] if old is not None and old["status"] == status else self._now
        new: JSONObject = {"type": type, "status": status, "reason": reason, "message": message}
        new["lastTransitionTime"] = since
        if old is None:
            self.listed.append(new)
        else:
            self.listed[self.listed.index(old)] = new
