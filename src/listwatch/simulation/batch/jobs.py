"""The controller of Jobs: pods until enough of them have succeeded. `job_progress_state.py` decides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import controller_of
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import APIError, ConflictError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.batch_v1 import Job
from listwatch.models.core_v1 import Pod
from listwatch.selectors import LabelSelector
from listwatch.simulation.batch.job_indexes_state import INDEX, format_indexes
from listwatch.simulation.batch.job_progress_state import JobProgress, ended_at
from listwatch.simulation.batch.job_state import TRACKING, Conditions, Ending, RetryBackoff, is_job_finished
from listwatch.simulation.controllers.pod_control import (
    PodControl,
    joined_index,
    owner_index,
    pod_from_template,
)
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import is_ready, timestamp

__all__ = ["Jobs"]


class Jobs:
    """Reconciles Jobs: completions, parallelism, indexes, retries, suspension, time to live."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self._counted: set[str] = set()
        self._backoffs: dict[str, RetryBackoff] = {}
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
        pods = await control.claim(_selector(job), finalizer=TRACKING)
        if is_job_finished(job):
            self._backoffs.pop(job.uid, None)
            await self._remove_finalizers(pods, context)
            return await self._expire(job, context)
        return await self._sync(job, pods, control, context)

    async def _sync(
        self, job: Job, pods: list[Pod], control: PodControl, context: ReconcileContext[Job]
    ) -> float | None:
        now = self._clock.now()
        progress = JobProgress(job, pods, now, counted=self._counted)
        backoff = self._backoffs.get(job.uid, RetryBackoff()).after(
            map(ended_at, progress.new_successes), map(ended_at, progress.new_failures)
        )
        sync = _Sync(job, progress, control, now)
        wait = await sync.adjust_pods(backoff)
        jobs = context.client.batch_v1.jobs(job.namespace)
        released = progress.to_release(sync.ending)
        if released or sync.ending is None or progress.terminating:
            await write_status(jobs, job, sync.status())
            self._backoffs[job.uid] = backoff
            self._counted.update(pod.uid for pod in released)
            await self._remove_finalizers(released, context)
        if (final := sync.final_status()) is not None:
            await write_status(jobs, job, final)
        if sync.error is not None:
            raise sync.error
        return wait

    async def _release_orphans(self, key: ObjectKey, context: ReconcileContext[Job]) -> None:
        """The pods of a Job that is gone wait for their finalizer."""
        for pod in context.lister(Pod).namespace(key.namespace).list():
            owner = controller_of(pod)
            if owner is not None and (owner.kind, owner.name) == ("Job", key.name):
                await self._remove_finalizers([pod], context)

    async def _remove_finalizers(self, pods: Sequence[Pod], context: ReconcileContext[Job]) -> None:
        async def remove(pod: Pod) -> None:
            # Without the version: the kubelet may have changed the status meanwhile.
            change: JSONObject = {"metadata": {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING]}}
            await context.client.core_v1.pods(pod.namespace).patch(pod.name, change, type="strategic")
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

    def __init__(self, job: Job, progress: JobProgress, control: PodControl, now: datetime) -> None:
        self._job = job
        self._progress = progress
        self._control = control
        self._now = now
        self._conditions = Conditions(job, now)
        self._started = job.status.start_time
        self.ending: Ending | None = None
        self.error: APIError | None = None

    async def adjust_pods(self, backoff: RetryBackoff) -> float | None:
        """Create or delete pods; returns the seconds until the next step is due."""
        job, progress, wait = self._job, self._progress, None
        self.ending = progress.ending()
        if self.ending is not None:
            await self._delete(progress.active)
            return None
        if job.metadata.deletion_timestamp is None:
            if surplus := progress.surplus():
                await self._delete(surplus)
            else:
                wait = await self._create_missing(backoff)
        self.ending = progress.completion(len(progress.active))
        if self.ending is None and job.metadata.deletion_timestamp is None:
            self._set_suspended()
        deadline = job.spec.active_deadline_seconds
        if self.ending is None and deadline is not None and self._started is not None and not job.spec.suspend:
            left = max(0.0, deadline - (self._now - self._started).total_seconds())
            wait = left if wait is None else min(wait, left)
        return wait

    async def _delete(self, pods: Sequence[Pod]) -> None:
        await self._control.delete(pods)
        gone = {pod.uid for pod in pods}
        self._progress.terminating += pods
        self._progress.active = [pod for pod in self._progress.active if pod.uid not in gone]

    async def _create_missing(self, backoff: RetryBackoff) -> float | None:
        progress, template = self._progress, self._job.to_dict()["spec"]["template"]
        missing = progress.missing()
        if not missing:
            return None
        if self._job.spec.backoff_limit_per_index is None and (wait := backoff.delay(self._now)) > 0:
            return wait
        indexes: Sequence[int | None] = [None] * missing
        if progress.is_indexed:
            indexes, wait = progress.indexes_to_add(missing)
            if not indexes:
                return wait or None
        bodies = [_pod(self._job, template, index, progress) for index in indexes]
        created, self.error = await self._control.create(bodies)
        progress.active += created
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

    def status(self) -> JSONObject:
        """The status, with the condition that announces the end."""
        progress = self._progress
        counters: JSONObject = {
            "active": len(progress.active),
            "succeeded": progress.succeeded,
            "failed": progress.failed(self.ending),
        }
        status: JSONObject = {name: value for name, value in counters.items() if value}
        status["ready"] = sum(is_ready(pod) for pod in progress.active)
        status["terminating"] = len(progress.terminating)
        status["uncountedTerminatedPods"] = {}
        if progress.is_indexed and progress.done:
            status["completedIndexes"] = format_indexes(progress.done)
        if progress.failed_indexes is not None:
            status["failedIndexes"] = format_indexes(progress.failed_indexes)
        if self._started is not None:
            status["startTime"] = timestamp(self._started)
        if self.ending is not None:
            first = "SuccessCriteriaMet" if self.ending.succeeded else "FailureTarget"
            self._conditions.set(first, "True", self.ending.reason, self.ending.message)
        if self._conditions.listed:
            status["conditions"] = [*self._conditions.listed]
        return status

    def final_status(self) -> JSONObject | None:
        """The status with the last condition; None while the Job goes on, or pods are terminating."""
        if self.ending is None or self._progress.terminating:
            return None
        last = "Complete" if self.ending.succeeded else "Failed"
        self._conditions.set(last, "True", self.ending.reason, self.ending.message)
        status = self.status()
        if self.ending.succeeded:
            status["completionTime"] = timestamp(self._now)
            self._control.event("Normal", "Completed", "Job completed")
        else:
            self._control.event("Warning", self.ending.reason, self.ending.message)
        return status


def _pod(job: Job, template: JSONObject, index: int | None, progress: JobProgress) -> JSONObject:
    body = pod_from_template(template, job)
    metadata, spec = body["metadata"], body["spec"]
    assert isinstance(metadata, dict)
    assert isinstance(spec, dict)
    finalizers = metadata.get("finalizers")
    metadata["finalizers"] = [*(finalizers if isinstance(finalizers, list) else []), TRACKING]
    if index is not None:
        _add_index(metadata, spec, index, job.name)
        annotations = metadata["annotations"]
        assert isinstance(annotations, dict)
        annotations.update(progress.failure_counts(index))
    return body


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
