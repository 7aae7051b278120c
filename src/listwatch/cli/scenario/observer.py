"""Records what informers and their handlers see, for a live view and for the summary at the end."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from listwatch.clock import Clock
from listwatch.errors import GoneError
from listwatch.informer.reflector.problems import Problem
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object

__all__ = ["TOUCHED", "Act", "Observer", "SeenChange", "Verb", "status_of"]

Verb = Literal["ADDED", "MODIFIED", "DELETED"]

TOUCHED = "listwatch.demo/update"
"""The annotation that numbers the updates which change nothing else."""
_KEPT_CHANGES = 200
_KEPT_RATES = 120
_KEPT_ERRORS = 1000


@dataclass(frozen=True, slots=True)
class Act:
    """One part of the story, with the sentence that explains it."""

    title: str
    text: str
    max_lines: int = 40
    """How many of its changes are printed without a terminal."""


@dataclass(frozen=True, slots=True)
class SeenChange:
    """One notification of a handler."""

    seconds: float
    """Since the start of the story."""
    verb: Verb
    kind: str
    name: str
    detail: str = ""


class Observer:
    """Collects changes, problems and event rates; `acts` are known in advance."""

    def __init__(self, acts: Sequence[Act], clock: Clock) -> None:
        self.acts = tuple(acts)
        self.current = -1
        """The index of the current act; -1 before the first."""
        self.changes: deque[SeenChange] = deque(maxlen=_KEPT_CHANGES)
        self.counts: Counter[str] = Counter()
        self.relist_reasons: deque[Exception] = deque(maxlen=_KEPT_ERRORS)
        self.interruptions: deque[Exception] = deque(maxlen=_KEPT_ERRORS)
        self.rates: deque[float] = deque([0.0] * _KEPT_RATES, maxlen=_KEPT_RATES)
        """Events per second of the latest samples."""
        self.peak_backlog = 0
        self.on_change: Callable[[SeenChange], None] | None = None
        self._clock = clock
        self._started = clock.monotonic()
        self._sampled_at = self._started
        self._sampled_events = 0

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return self._clock.monotonic() - self._started

    def sample(self, *, events: int, backlog: int) -> None:
        """Record the total number of events so far, and the largest backlog of a handler."""
        now = self._clock.monotonic()
        if now > self._sampled_at:
            self.rates.append((events - self._sampled_events) / (now - self._sampled_at))
            self._sampled_at, self._sampled_events = now, events
        self.peak_backlog = max(self.peak_backlog, backlog)

    def report(self, problem: Problem) -> None:
        """Record a failed request: one that makes the reflector list again, or one after which it resumes."""
        (self.relist_reasons if isinstance(problem.error, GoneError) else self.interruptions).append(problem.error)

    # --- handlers ----------------------------------------------------------------------------------------------------

    def on_add(self, item: Object) -> None:
        self._record("ADDED", item, status_of(item))

    def on_update(self, old: Object, new: Object) -> None:
        before, after = status_of(old), status_of(new)
        touched = new.metadata.annotations.get(TOUCHED, "")
        if before != after:
            self._record("MODIFIED", new, f"{before} → {after}")
        else:
            self._record("MODIFIED", new, f"update {touched}" if touched else after)

    def on_delete(self, item: Object, *, final_state_known: bool) -> None:
        self._record("DELETED", item, "" if final_state_known else "missed; found by the relist")

    def _record(self, verb: Verb, item: Object, detail: str) -> None:
        self.counts[verb] += 1
        change = SeenChange(self.seconds, verb, item.kind, item.name, detail)
        self.changes.append(change)
        if self.on_change is not None:
            self.on_change(change)


def status_of(item: Object) -> str:
    """The state of an object in one or two words, as `kubectl get` shows it."""
    if isinstance(item, Pod):
        if item.metadata.deletion_timestamp:
            return "Terminating"
        waiting = [each.state.waiting for each in item.status.container_statuses]
        reason = next((each.reason for each in waiting if each is not None and each.reason), "")
        phase = item.status.phase or "Pending"
        return reason or ("Scheduled" if phase == "Pending" and item.spec.node_name else phase)
    status = getattr(item, "status", None)
    wanted = getattr(getattr(item, "spec", None), "replicas", None)
    return "" if wanted is None else f"{getattr(status, 'ready_replicas', None) or 0}/{wanted} ready"
