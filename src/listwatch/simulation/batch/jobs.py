"""The controller of Jobs: pods until enough of them have succeeded. `job_state.py` decides when a Job ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.batch_v1 import Job
from listwatch.models.core_v1 import Pod
from listwatch.selectors import LabelSelector
from listwatch.simulation.batch.job_state import (
    INDEX,
    TRACKING,
    Conditions,
    Ending,
    ending_of,
    format_indexes,
    index_of,
    is_job_finished,
    parse_indexes,
    retry_delay,
)
from listwatch.simulation.controllers.pod_control import (
    PodControl,
    is_active,
    joined_index,
    owner_index,
    pod_from_template,
)
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_finished, is_ready, timestamp

__all__ = ["Jobs"]


class Jobs:
    """Reconciles Jobs: completions, parallelism, indexes, retries, suspension, time to live."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self._counted: set[str] = set()
        self._failures: dict[str, list[datetime]] = {}
        self.controller: Controller[Job] = Controller(
            self,
            for_=Job,
            owns=[Watch(Pod, indexers={owner_index: joined_index})],
            watches=[Watch(Pod, keys=self._adopters, when=_is_orphan)],
            name="job-controller",
            clock=clock,
            concurrency=5,
        )

    def _adopters(self, pod: Pod) -> Iterator[Job]:
        for each in self.controller.lister(Job).namespace(pod.namespace).list():
            if _selector(each).matches(pod.labels):
                yield each

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[Job]) -> float | None:
        job = context.get()
        if job is None:
            await self._release_orphans(key, context)
            return None
        if job.spec.managed_by not in (None, "", "kubernetes.io/job-controller"):
            return None
        control = PodControl(context, job, events=self._records_events)
        pods = await control.claim(_selector(job))
        if is_job_finished(job):
            self._failures.pop(job.uid, None)
            await self._remove_finalizers([pod for pod in pods if TRACKING in pod.metadata.finalizers], context)
            return await self._expire(job, context)
        sync = _Sync(job, pods, control, context, self._clock.now(), counted=self._counted)
        try:
            return await sync.run(self._failures.setdefault(job.uid, []))
        finally:
            # Also if pods cannot be created: in a namespace that is being deleted, the others must end.
            await self._remove_finalizers(sync.finished, context)

    async def _release_orphans(self, key: ObjectKey, context: ReconcileContext[Job]) -> None:
        """The pods of a Job that is gone wait for their finalizer."""
        for pod in context.lister(Pod).namespace(key.namespace).list():
            owner = controller_of(pod)
            if owner is not None and (owner.kind, owner.name) == ("Job", key.name):
                await self._remove_finalizers([pod], context)

    async def _remove_finalizers(self, pods: Sequence[Pod], context: ReconcileContext[Job]) -> None:
        async def remove(pod: Pod) -> None:
            kept: list[JSON] = [each for each in pod.metadata.finalizers if each != TRACKING]
            change: JSONObject = {
                "metadata": {"uid": pod.uid, "resourceVersion": pod.resource_version, "finalizers": kept or None}
            }
            await context.client.core_v1.pods(pod.namespace).patch(pod.name, change, type="merge")
            self._counted.discard(pod.uid)

        tracked = [pod for pod in pods if TRACKING in pod.metadata.finalizers]
        results = await asyncio.gather(*map(remove, tracked), return_exceptions=True)
        for pod, error in zip(tracked, results, strict=True):
            if isinstance(error, NotFoundError):
                self._counted.discard(pod.uid)
            elif isinstance(error, BaseException):
                raise error

    async def _expire(self, job: Job, context: ReconcileContext[Job]) -> float | None:
        """Delete a finished Job at the end of its time to live."""
        ttl = job.spec.ttl_seconds_after_finished
        if ttl is None or job.metadata.deletion_timestamp is not None:
            return None
        ended = max(
            (each.last_transition_time for each in job.status.conditions if each.last_transition_time is not None),
            default=self._clock.now(),
        )
        left = ttl - (self._clock.now() - ended).total_seconds()
        if left > 0:
            return left
        try:
            jobs = context.client.batch_v1.jobs(job.namespace)
            await jobs.delete(job.name, uid=job.uid, propagation_policy="Foreground")
        except (NotFoundError, ConflictError):
            pass
        return None


class _Sync:
    """One reconcile of a Job that has not finished."""

    def __init__(
        self,
        job: Job,
        pods: list[Pod],
        control: PodControl,
        context: ReconcileContext[Job],
        now: datetime,
        *,
        counted: set[str],
    ) -> None:
        self._job = job
        self._control = control
        self._context = context
        self._now = now
        self._active = [pod for pod in pods if is_active(pod)]
        self._terminating = [
            pod for pod in pods if pod.metadata.deletion_timestamp is not None and not is_finished(pod)
        ]
        self.finished = [pod for pod in pods if is_finished(pod) and TRACKING in pod.metadata.finalizers]
        new = [pod for pod in self.finished if pod.uid not in counted]
        counted.update(pod.uid for pod in new)
        self._new_failures = sum(pod.status.phase == "Failed" for pod in new)
        self._is_indexed = job.spec.completion_mode == "Indexed"
        self._done = parse_indexes(job.status.completed_indexes)
        if self._is_indexed:
            self._done |= {index_of(pod) for pod in new if pod.status.phase == "Succeeded"} - {-1}
            self._succeeded = len(self._done)
        else:
            self._succeeded = (job.status.succeeded or 0) + len(new) - self._new_failures
        self._failed = (job.status.failed or 0) + self._new_failures
        self._new_successes = len(new) - self._new_failures
        self._conditions = Conditions(job, now)
        self._started = job.status.start_time

    async def run(self, failures: list[datetime]) -> float | None:
        """Create or delete pods, and update the status; returns the seconds until the next step is due."""
        job, wait = self._job, None
        if self._new_successes:
            failures.clear()
        failures += [self._now] * self._new_failures
        ending = self._recorded_ending() or ending_of(
            job, succeeded=self._succeeded, failed=self._failed, active=len(self._active), now=self._now
        )
        if ending is not None:
            await self._control.delete(self._active)
            self._terminating += self._active
            self._active = []
        elif job.metadata.deletion_timestamp is None:
            self._set_suspended()
            wait = await self._adjust(failures)
        await self._update_status(ending)
        deadline = job.spec.active_deadline_seconds
        if ending is None and deadline is not None and self._started is not None and not job.spec.suspend:
            left = max(0.0, deadline - (self._now - self._started).total_seconds())
            wait = left if wait is None else min(wait, left)
        return wait

    def _recorded_ending(self) -> Ending | None:
        """The ending that was decided before, while pods were still terminating."""
        for each in self._job.status.conditions:
            if each.type in ("SuccessCriteriaMet", "FailureTarget") and each.status == "True":
                return Ending(each.type == "SuccessCriteriaMet", each.reason or "", each.message or "")
        return None

    def _set_suspended(self) -> None:
        if self._job.spec.suspend:
            if self._conditions.set("Suspended", "True", "JobSuspended", "Job suspended"):
                self._control.event("Normal", "Suspended", "Job suspended")
                self._started = None
        elif self._conditions.status("Suspended") == "True":
            self._conditions.set("Suspended", "False", "JobResumed", "Job resumed")
            self._control.event("Normal", "Resumed", "Job resumed")
            self._started = self._now
        if self._started is None and not self._job.spec.suspend:
            self._started = self._now

    async def _adjust(self, failures: Sequence[datetime]) -> float | None:
        parallelism = 1 if self._job.spec.parallelism is None else self._job.spec.parallelism
        completions = self._job.spec.completions
        if self._job.spec.suspend:
            wanted = 0
        elif completions is None:
            wanted = len(self._active) if self._succeeded else parallelism
        else:
            wanted = max(0, min(parallelism, completions - self._succeeded))
        surplus = len(self._active) - wanted
        if surplus > 0:
            ordered = sorted(self._active, key=lambda pod: (is_ready(pod), str(pod.metadata.creation_timestamp)))
            await self._control.delete(ordered[:surplus])
            self._terminating += ordered[:surplus]
            self._active = ordered[surplus:]
            return None
        missing = -surplus
        if self._job.spec.pod_replacement_policy == "Failed":
            missing -= len(self._terminating)
        if missing <= 0:
            return None
        if (delay := retry_delay(failures, self._now)) > 0:
            return delay
        error = await self._control.create([*self._bodies(missing)])
        if error is not None:
            raise error
        return None

    def _bodies(self, count: int) -> Iterator[JSONObject]:
        template: JSONObject = self._job.to_dict()["spec"]["template"]
        taken = self._done | {index_of(pod) for pod in self._active}
        free = (index for index in range(self._job.spec.completions or 0) if index not in taken)
        for _ in range(count):
            body = pod_from_template(template, self._job)
            metadata, spec = body["metadata"], body["spec"]
            assert isinstance(metadata, dict)
            assert isinstance(spec, dict)
            finalizers = metadata.get("finalizers")
            metadata["finalizers"] = [*(finalizers if isinstance(finalizers, list) else []), TRACKING]
            if self._is_indexed:
                index = next(free, None)
                if index is None:
                    return
                _add_index(metadata, spec, index, self._job.name)
            yield body

    async def _update_status(self, ending: Ending | None) -> None:
        job, conditions = self._job, self._conditions
        status: JSONObject = {
            "active": len(self._active),
            "succeeded": self._succeeded,
            "failed": self._failed,
            "ready": sum(is_ready(pod) for pod in self._active),
            "terminating": len(self._terminating),
            "uncountedTerminatedPods": {},
        }
        status = {
            name: value for name, value in status.items() if value or name not in ("active", "succeeded", "failed")
        }
        if self._is_indexed and self._done:
            status["completedIndexes"] = format_indexes(self._done)
        if self._started is not None:
            status["startTime"] = timestamp(self._started)
        if ending is not None:
            self._end(ending, status)
        if conditions.listed:
            status["conditions"] = conditions.listed
        await write_status(self._context.client.batch_v1.jobs(job.namespace), job, status)

    def _end(self, ending: Ending, status: JSONObject) -> None:
        """Set the conditions of the end; the last one when no pod is left that terminates."""
        first, last = ("SuccessCriteriaMet", "Complete") if ending.succeeded else ("FailureTarget", "Failed")
        self._conditions.set(first, "True", ending.reason, ending.message)
        if self._terminating:
            return
        self._conditions.set(last, "True", ending.reason, ending.message)
        if ending.succeeded:
            status["completionTime"] = timestamp(self._now)
            self._control.event("Normal", "Completed", "Job completed")
        else:
            self._control.event("Warning", ending.reason, ending.message)


def _add_index(metadata: JSONObject, spec: JSONObject, index: int, job: str) -> None:
    for name in ("labels", "annotations"):
        present = metadata.get(name)
        metadata[name] = {**(present if isinstance(present, dict) else {}), INDEX: str(index)}
    metadata["generateName"] = f"{job}-{index}-"
    spec["hostname"] = f"{job}-{index}"
    for kind in ("containers", "initContainers"):
        containers = spec.get(kind)
        if isinstance(containers, list):
            spec[kind] = [_with_index(each) for each in containers]


def _with_index(container: JSON) -> JSON:
    assert isinstance(container, dict)
    present = container.get("env")
    variable: JSON = {
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}},
    }
    return {**container, "env": [*(present if isinstance(present, list) else []), variable]}


def _selector(job: Job) -> LabelSelector:
    return LabelSelector.from_dict(job.spec.selector.to_dict()) if job.spec.selector else LabelSelector.nothing()


def _is_orphan(_old: Pod | None, new: Pod | None) -> bool:
    return new is not None and controller_of(new) is None
