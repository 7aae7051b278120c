"""The progress of a Job that has not finished: what its pods mean for it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from listwatch.models.batch_v1 import Job
from listwatch.models.core_v1 import Pod
from listwatch.simulation.batch.job_indexes_state import (
    FAILURES,
    IGNORED_FAILURES,
    failures_of,
    index_of,
    parse_indexes,
)
from listwatch.simulation.batch.job_policies_state import (
    failure_verdict,
    is_failed,
    only_replaces_failed,
    success_message,
)
from listwatch.simulation.batch.job_state import TRACKING, Ending, retry_delay
from listwatch.simulation.controllers.pod_order_state import deletion_order, is_active
from listwatch.simulation.pod_state import is_finished

__all__ = ["JobProgress", "ended_at"]

_NO_LIMIT = 2**31 - 1


class JobProgress:
    """The pods of a Job by what is to be done about them, and its counters.

    `counted` has the uids of pods whose end is in the status already, and whose finalizer is still to be removed.
    """

    def __init__(self, job: Job, pods: Sequence[Pod], now: datetime, *, counted: Collection[str] = ()) -> None:
        self._job = job
        self._now = now
        self._pods = pods
        self.is_indexed = job.spec.completion_mode == "Indexed"
        self._per_index = job.spec.backoff_limit_per_index
        self.active = [pod for pod in pods if is_active(pod)]
        self.terminating = [pod for pod in pods if pod.metadata.deletion_timestamp is not None and not is_finished(pod)]
        self._tracked = [pod for pod in pods if TRACKING in pod.metadata.finalizers]
        self._new = [pod for pod in self._tracked if pod.uid not in counted and self._has_valid_index(pod)]
        self.new_successes = [pod for pod in self._new if pod.status.phase == "Succeeded"]
        self.new_failures = [pod for pod in self._new if is_failed(job, pod)]
        self.done = parse_indexes(job.status.completed_indexes, below=job.spec.completions)
        self.failed_indexes: set[int] | None = None
        if self.is_indexed:
            self.done |= {index_of(pod) for pod in self.new_successes}
            if self._per_index is not None:
                self.failed_indexes = parse_indexes(job.status.failed_indexes, below=job.spec.completions)
                self.failed_indexes |= {index_of(pod) for pod in self.new_failures if self._fails_index(pod)}
        self.replaced_later = self._last_failures() if self._per_index is not None else {}

    def _has_valid_index(self, pod: Pod) -> bool:
        return not self.is_indexed or 0 <= index_of(pod) < (self._job.spec.completions or 0)

    def _fails_index(self, pod: Pod) -> bool:
        verdict = failure_verdict(self._job, pod)
        return verdict.action == "FailIndex" or (verdict.counts and failures_of(pod) >= (self._per_index or 0))

    def _last_failures(self) -> dict[int, Pod]:
        """By index, the failed pod that a new one will replace: it is kept until then, as it has the count."""
        settled = self.done | (self.failed_indexes or set()) | {index_of(pod) for pod in self.active}
        found: dict[int, Pod] = {}
        for pod in sorted(self.new_failures, key=lambda pod: (_all_failures(pod), ended_at(pod))):
            if index_of(pod) not in settled:
                found[index_of(pod)] = pod
        return found

    # --- counters ----------------------------------------------------------------------------------------------------

    @property
    def succeeded(self) -> int:
        if self.is_indexed:
            return len(self.done)
        return (self._job.status.succeeded or 0) + len(self.new_successes)

    def _failed_now(self) -> int:
        return (self._job.status.failed or 0) + sum(failure_verdict(self._job, pod).counts for pod in self.new_failures)

    def to_release(self, ending: Ending | None) -> list[Pod]:
        """The pods whose finalizer is to be removed, because they are counted or are not counted at all."""
        if ending is not None or self._job.metadata.deletion_timestamp is not None:
            return self._tracked
        waiting = {pod.uid for pod in self.replaced_later.values()}
        return [
            pod
            for pod in self._tracked
            if pod.status.phase == "Succeeded" or (is_failed(self._job, pod) and pod.uid not in waiting)
        ]

    def failed(self, ending: Ending | None) -> int:
        """The failed pods for the status; if the Job fails, the pods that are left count as failed."""
        released = {pod.uid for pod in self.to_release(ending)}
        count = self._job.status.failed or 0
        for pod in self._new:
            if pod.uid not in released or pod.status.phase == "Succeeded":
                continue
            if is_failed(self._job, pod) or (ending is not None and not ending.succeeded):
                count += failure_verdict(self._job, pod).counts
        return count

    # --- the end -----------------------------------------------------------------------------------------------------

    def ending(self) -> Ending | None:
        """How the Job ends now, whatever its active pods do; None if it does not."""
        return self._recorded_ending() or self._failure() or self._index_failure() or self._policy_success()

    def completion(self, active: int) -> Ending | None:
        """How the Job ends because enough pods have succeeded, if so many are still active."""
        needed = self._job.spec.completions
        is_enough = self.succeeded > 0 if needed is None else self.succeeded >= needed
        if not is_enough or active:
            return None
        return Ending(True, "CompletionsReached", "Reached expected number of succeeded pods")

    def _recorded_ending(self) -> Ending | None:
        """The ending that was decided before, while pods were still terminating."""
        for each in self._job.status.conditions:
            if each.type in ("SuccessCriteriaMet", "FailureTarget") and each.status == "True":
                return Ending(each.type == "SuccessCriteriaMet", each.reason or "", each.message or "")
        return None

    def _failure(self) -> Ending | None:
        job = self._job
        for pod in self._pods:
            if job.spec.pod_failure_policy and is_failed(job, pod):
                verdict = failure_verdict(job, pod)
                if verdict.action == "FailJob":
                    return Ending(False, "PodFailurePolicy", verdict.message)
        default = 6 if self._per_index is None else _NO_LIMIT
        limit = default if job.spec.backoff_limit is None else job.spec.backoff_limit
        if self._failed_now() > limit or self._restarts_exceed(limit):
            return Ending(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        deadline, started = job.spec.active_deadline_seconds, job.status.start_time
        if deadline is None or started is None or job.spec.suspend:
            return None
        if (self._now - started).total_seconds() >= deadline:
            return Ending(False, "DeadlineExceeded", "Job was active longer than specified deadline")
        return None

    def _restarts_exceed(self, limit: int) -> bool:
        """Whether containers were restarted too often, if the pods restart them."""
        if self._job.spec.template.spec.restart_policy != "OnFailure":
            return False
        restarts = sum(
            each.restart_count
            for pod in self._pods
            if pod.status.phase in ("Running", "Pending")
            for each in (*pod.status.init_container_statuses, *pod.status.container_statuses)
        )
        return restarts >= max(limit, 1)

    def _index_failure(self) -> Ending | None:
        failed, limit = self.failed_indexes, self._job.spec.max_failed_indexes
        if failed is None:
            return None
        if limit is not None and len(failed) > limit:
            text = "Job has exceeded the specified maximal number of failed indexes"
            return Ending(False, "MaxFailedIndexesExceeded", text)
        if failed and len(failed) + len(self.done) >= (self._job.spec.completions or 0):
            return Ending(False, "FailedIndexes", "Job has failed indexes")
        return None

    def _policy_success(self) -> Ending | None:
        text = success_message(self._job, self.done) if self.is_indexed else ""
        return Ending(True, "SuccessPolicy", text) if text else None

    # --- pods --------------------------------------------------------------------------------------------------------

    def surplus(self) -> list[Pod]:
        """The active pods that are to be deleted: too many, twice the same index, or none that the Job has."""
        rest, found = self.active, list[Pod]()
        if self.is_indexed:
            kept: dict[int, Pod] = {}
            for pod in deletion_order(self.active, (), self._now):
                if self._has_valid_index(pod):
                    kept[index_of(pod)] = pod
            rest = [*kept.values()]
            found = [pod for pod in self.active if pod not in rest]
        missing = len(self.active) - self._wanted() - len(found)
        return found if missing <= 0 else [*found, *deletion_order(rest, (), self._now)[:missing]]

    def _wanted(self) -> int:
        parallelism = 1 if self._job.spec.parallelism is None else self._job.spec.parallelism
        completions = self._job.spec.completions
        if self._job.spec.suspend:
            return 0
        if completions is None:
            return len(self.active) if self.succeeded else parallelism
        return max(0, min(parallelism, completions - self.succeeded))

    def missing(self) -> int:
        """How many pods are to be created."""
        terminating = len(self.terminating) if only_replaces_failed(self._job) else 0
        return max(0, self._wanted() - terminating - len(self.active))

    def indexes_to_add(self, count: int) -> tuple[list[int], float]:
        """The next indexes without a pod, or the seconds until the first of them may be retried."""
        taken = self.done | {index_of(pod) for pod in self.active} | (self.failed_indexes or set())
        if only_replaces_failed(self._job):
            taken |= {index_of(pod) for pod in self.terminating}
        free = [index for index in range(self._job.spec.completions or 0) if index not in taken][:count]
        waits = {index: self._retry_delay(index) for index in free}
        ready = [index for index, wait in waits.items() if wait <= 0]
        return ready, 0.0 if ready else min(waits.values(), default=0.0)

    def _retry_delay(self, index: int) -> float:
        if (last := self.replaced_later.get(index)) is None:
            return 0.0
        return retry_delay(_all_failures(last) + 1, ended_at(last), self._now)

    def failure_counts(self, index: int) -> dict[str, str]:
        """The annotations of a new pod with the failures of its index, if the Job has a limit for each index."""
        if self._per_index is None:
            return {}
        failures, ignored = 0, 0
        if (last := self.replaced_later.get(index)) is not None:
            counts = failure_verdict(self._job, last).counts
            failures = failures_of(last) + counts
            ignored = failures_of(last, IGNORED_FAILURES) + (not counts)
        return {FAILURES: str(failures), **({IGNORED_FAILURES: str(ignored)} if ignored else {})}


def _all_failures(pod: Pod) -> int:
    return failures_of(pod) + failures_of(pod, IGNORED_FAILURES)


def ended_at(pod: Pod) -> datetime:
    """When a failed pod ended: its last container, its readiness, its deletion, or its creation."""
    ends = [
        each.state.terminated.finished_at if each.state.terminated else None for each in pod.status.container_statuses
    ]
    if ends and all(ends):
        return max(end for end in ends if end is not None)
    for each in pod.status.conditions:
        if each.type == "Ready" and each.status == "False" and each.last_transition_time is not None:
            return each.last_transition_time
    if (deleted := pod.metadata.deletion_timestamp) is not None:
        return deleted - timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
    created = pod.metadata.creation_timestamp
    assert created is not None
    return created
