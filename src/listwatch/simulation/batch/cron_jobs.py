"""The controller of CronJobs: a Job each time that one is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from listwatch.clock import Clock
from listwatch.controller.controller import Controller
from listwatch.controller.object_fields.owners import owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.controller.watching.watches import Watch
from listwatch.errors import AlreadyExistsError, NotFoundError, UsageError
from listwatch.events.occurrence import EventType
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.models.batch_v1 import CronJob, Job
from listwatch.simulation.batch.cron_schedule import CronSchedule
from listwatch.simulation.batch.job_state import is_job_finished
from listwatch.simulation.controllers.pod_control import joined_index, owner_index
from listwatch.simulation.controllers.status_writing import write_status
from listwatch.simulation.options import SimulationOptions
from listwatch.simulation.pod_state import timestamp

__all__ = ["CronJobs"]

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MAX_MISSED = 100
_DELAY = 0.1


class CronJobs:
    """Reconciles CronJobs: schedules, concurrency policies, deadlines, history."""

    def __init__(self, options: SimulationOptions, clock: Clock) -> None:
        self._clock = clock
        self._records_events = options.events
        self.controller: Controller[CronJob] = Controller(
            self,
            for_=CronJob,
            owns=[Watch(Job, indexers={owner_index: joined_index})],
            name="cronjob-controller",
            clock=clock,
        )

    async def reconcile(self, key: ObjectKey, context: ReconcileContext[CronJob]) -> float | None:
        cron = context.get()
        if cron is None:
            return None
        jobs = context.indexer(Job).by_index(owner_index, cron.uid)
        active = [job for job in jobs if not is_job_finished(job)]
        await self._remove_history(cron, jobs, context)
        latest = cron.status.last_schedule_time
        wait = None
        if cron.metadata.deletion_timestamp is None and not cron.spec.suspend:
            try:
                schedule = CronSchedule.parse(cron.spec.schedule, _zone(cron))
            except (UsageError, ZoneInfoNotFoundError) as error:
                self._event(cron, "Warning", "InvalidSchedule", str(error), context)
            else:
                latest, created, wait = await self._start_due(cron, schedule, active, context)
                active += [] if created is None else [created]
        await self._update_status(cron, jobs, active, latest, context)
        return wait

    async def _start_due(
        self, cron: CronJob, schedule: CronSchedule, active: list[Job], context: ReconcileContext[CronJob]
    ) -> tuple[datetime | None, Job | None, float | None]:
        """Start the Job that is due; returns when one was last due, the Job, and the seconds until the next one."""
        now, latest = self._clock.now(), cron.status.last_schedule_time
        since = latest or cron.metadata.creation_timestamp or now
        limit = cron.spec.starting_deadline_seconds
        if limit is not None:
            since = max(since, now - timedelta(seconds=limit))
        due, missed = None, 0
        following = schedule.after(since)
        while following is not None and following <= now and missed < _MAX_MISSED:
            due, missed = following, missed + 1
            following = schedule.after(following)
        if missed == _MAX_MISSED:  # far behind: only the last due time counts
            while following is not None and following <= now:
                due, following = following, schedule.after(following)
        wait = None if following is None else (following - now).total_seconds() + _DELAY
        if due is None or due == latest:
            return latest, None, wait
        if cron.spec.concurrency_policy == "Forbid" and active:
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._event(cron, "Normal", "JobAlreadyActive", text, context)
            return latest, None, wait
        if cron.spec.concurrency_policy == "Replace":
            for job in active:
                await self._delete(cron, job, context)
            active.clear()
        return due, await self._create(cron, due, context), wait

    async def _create(self, cron: CronJob, due: datetime, context: ReconcileContext[CronJob]) -> Job | None:
        template = cron.to_dict()["spec"]["jobTemplate"]
        given: JSONObject = template.get("metadata") or {}
        annotations = given.get("annotations")
        metadata: JSONObject = {
            "name": f"{cron.name}-{int(due.timestamp()) // 60}",
            "annotations": {
                **(annotations if isinstance(annotations, dict) else {}),
                _SCHEDULED: timestamp(due.astimezone(_zone(cron))),
            },
            "ownerReferences": [owner_reference(cron).to_dict()],
        }
        if given.get("labels"):
            metadata["labels"] = given["labels"]
        body: JSONObject = {"metadata": metadata, "spec": template.get("spec")}
        try:
            created = await context.client.batch_v1.jobs(cron.namespace).create(body)
        except AlreadyExistsError:
            return None
        self._event(cron, "Normal", "SuccessfulCreate", f"Created job {created.name}", context)
        return created

    async def _delete(self, cron: CronJob, job: Job, context: ReconcileContext[CronJob]) -> None:
        try:
            jobs = context.client.batch_v1.jobs(job.namespace)
            await jobs.delete(job.name, uid=job.uid, propagation_policy="Background")
        except NotFoundError:
            return
        self._event(cron, "Normal", "SuccessfulDelete", f"Deleted job {job.name}", context)

    async def _remove_history(self, cron: CronJob, jobs: Sequence[Job], context: ReconcileContext[CronJob]) -> None:
        limits = {
            "Complete": cron.spec.successful_jobs_history_limit,
            "Failed": cron.spec.failed_jobs_history_limit,
        }
        for type, limit in limits.items():
            if limit is None:
                continue
            ended = [job for job in jobs if any(e.type == type and e.status == "True" for e in job.status.conditions)]
            ended.sort(key=lambda job: (str(job.status.start_time), job.name))
            for job in ended[: max(0, len(ended) - limit)]:
                if job.metadata.deletion_timestamp is None:
                    await self._delete(cron, job, context)

    async def _update_status(
        self,
        cron: CronJob,
        jobs: Sequence[Job],
        active: Sequence[Job],
        latest: datetime | None,
        context: ReconcileContext[CronJob],
    ) -> None:
        status: JSONObject = {}
        if active:
            references: list[JSON] = [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": job.name,
                    "namespace": job.namespace,
                    "uid": job.uid,
                    "resourceVersion": job.resource_version,
                }
                for job in active
            ]
            status["active"] = references
        if latest is not None:
            status["lastScheduleTime"] = timestamp(latest)
        ended = [job.status.completion_time for job in jobs if job.status.completion_time is not None]
        known_end = cron.status.last_successful_time
        if ended or known_end:
            status["lastSuccessfulTime"] = timestamp(max(each for each in (*ended, known_end) if each is not None))
        known: JSONObject = cron.to_dict().get("status") or {}
        if _comparable(status) == _comparable(known):
            return
        await write_status(context.client.batch_v1.cronjobs(cron.namespace), cron, status)

    def _event(
        self, cron: CronJob, type: EventType, reason: str, message: str, context: ReconcileContext[CronJob]
    ) -> None:
        if self._records_events:
            context.record_event(cron, type, reason, message)


def _comparable(status: JSONObject) -> tuple[JSON, JSON, frozenset[str]]:
    """A status without the versions of the active Jobs, which change all the time."""
    active = status.get("active")
    uids = (
        frozenset(str(each.get("uid")) for each in active if isinstance(each, dict))
        if isinstance(active, list)
        else frozenset()
    )
    return status.get("lastScheduleTime"), status.get("lastSuccessfulTime"), uids


def _zone(cron: CronJob) -> tzinfo:
    return ZoneInfo(cron.spec.time_zone) if cron.spec.time_zone else UTC
