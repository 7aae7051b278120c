"""The status of a Job: pure, over its pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.batch_v1 import Job
from listwatch.models.core_v1 import Pod
from listwatch.simulation.pod_state import timestamp

__all__ = [
    "INDEX",
    "TRACKING",
    "Conditions",
    "Ending",
    "ending_of",
    "format_indexes",
    "index_of",
    "is_job_finished",
    "parse_indexes",
    "retry_delay",
]

INDEX = "batch.kubernetes.io/job-completion-index"
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


def ending_of(job: Job, *, succeeded: int, failed: int, active: int, now: datetime) -> Ending | None:
    """How the Job ends now, if it does."""
    limit = 6 if job.spec.backoff_limit is None else job.spec.backoff_limit
    if failed > limit:
        return Ending(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    deadline, started = job.spec.active_deadline_seconds, job.status.start_time
    runs = started is not None and not job.spec.suspend
    if deadline is not None and started is not None and runs and (now - started).total_seconds() >= deadline:
        return Ending(False, "DeadlineExceeded", "Job was active longer than specified deadline")
    needed = job.spec.completions
    if (succeeded > 0 and active == 0) if needed is None else (succeeded >= needed and active == 0):
        text = "Reached expected number of succeeded pods"
        return Ending(True, "CompletionsReached", text)
    return None


def retry_delay(failures: Sequence[datetime], now: datetime) -> float:
    """The seconds before another pod is created after these consecutive failures."""
    if not failures:
        return 0.0
    delay: float = min(_FIRST_RETRY * 2 ** min(len(failures) - 1, 10), _MAX_RETRY)
    return max(0.0, delay - (now - max(failures)).total_seconds())


def index_of(pod: Pod) -> int:
    """The completion index of a pod; -1 if it has none."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdecimal() else -1


def parse_indexes(text: str | None) -> set[int]:
    """Read `0-2,5`."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found.update(range(int(first), int(last or first) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    """Write `0-2,5`."""
    parts: list[str] = []
    ordered = sorted(indexes)
    start = 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or ordered[end] != ordered[end - 1] + 1:
            run = ordered[start:end]
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}{',' if len(run) == 2 else '-'}{run[-1]}")
            start = end
    return ",".join(parts)


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
