"""The conditions of a Job, and when it retries. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.batch_v1 import Job
from listwatch.simulation.pod_state import timestamp

__all__ = ["TRACKING", "Conditions", "Ending", "RetryBackoff", "is_job_finished", "retry_delay"]

TRACKING = "batch.kubernetes.io/job-tracking"

_FIRST_RETRY, _MAX_RETRY = 10.0, 600.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a Job ends, as conditions of its status."""

    succeeded: bool
    reason: str
    message: str


def is_job_finished(job: Job) -> bool:
    """Whether a Job is complete or has failed."""
    return any(each.type in ("Complete", "Failed") and each.status == "True" for each in job.status.conditions)


def retry_delay(failures: int, last: datetime | None, now: datetime) -> float:
    """The seconds before another pod is created after so many consecutive failures."""
    if not failures or last is None:
        return 0.0
    delay: float = min(_FIRST_RETRY * 2 ** min(failures - 1, 10), _MAX_RETRY)
    return max(0.0, delay - (now - last).total_seconds())


@dataclass(frozen=True, slots=True)
class RetryBackoff:
    """The failures of a Job since its last success."""

    failures: int = 0
    last: datetime | None = None

    def after(self, successes: Iterable[datetime], failures: Iterable[datetime]) -> RetryBackoff:
        """The backoff after more pods have ended at these times."""
        last_success = max(successes, default=None)
        if last_success is not None:
            recent = [each for each in failures if each > last_success]
            return RetryBackoff(len(recent), max(recent, default=None))
        new = list(failures)
        return RetryBackoff(self.failures + len(new), max(new)) if new else self

    def delay(self, now: datetime) -> float:
        return retry_delay(self.failures, self.last, now)


class Conditions:
    """The conditions of a Job."""

    def __init__(self, job: Job, now: datetime) -> None:
        self.listed: list[JSON] = [each.to_dict() for each in job.status.conditions]
        self._now = timestamp(now)

    def status(self, type: str) -> str:
        found = [each for each in self.listed if isinstance(each, dict) and each["type"] == type]
        return str(found[0]["status"]) if found else ""

    def set(self, type: str, status: str, reason: str, message: str) -> bool:
        """Set a condition; returns whether its status changed."""
        if self.status(type) == status:
            return False
        condition: JSONObject = {
            "type": type,
            "status": status,
            "lastProbeTime": self._now,
            "lastTransitionTime": self._now,
            "reason": reason,
            "message": message,
        }
        places = [i for i, each in enumerate(self.listed) if isinstance(each, dict) and each["type"] == type]
        if places:
            self.listed[places[0]] = condition
        else:
            self.listed.append(condition)
        return True
