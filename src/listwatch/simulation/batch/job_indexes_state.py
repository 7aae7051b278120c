"""The indexes of an Indexed Job: how they are written, and what the annotations of its pods say. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.models.core_v1 import Pod

__all__ = ["FAILURES", "IGNORED_FAILURES", "INDEX", "failures_of", "format_indexes", "index_of", "parse_indexes"]

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"


def index_of(pod: Pod) -> int:
    """The completion index of a pod; -1 if it has none."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdecimal() else -1


def failures_of(pod: Pod, annotation: str = FAILURES) -> int:
    """How many pods of the same index had failed before this one."""
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else 0


def parse_indexes(text: str | None, *, below: int | None = None) -> set[int]:
    """Read `0-2,5`; with `below`, only smaller indexes."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            end = int(last or first) + 1
            found.update(range(int(first), end if below is None else min(end, below)))
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
