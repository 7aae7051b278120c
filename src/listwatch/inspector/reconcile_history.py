"""The last reconciles of a controller, by key. Recorded only while an inspector shows them."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from listwatch.clock import Clock
from listwatch.inspector.snapshot import ReconcileSnapshot
from listwatch.meta import ObjectKey

__all__ = ["ReconcileHistory", "ReconcileRecord", "Trigger"]

RUNNING = "running"

_PER_KEY = 10
_MAX_KEYS = 1_000
_MAX_RECENT = 100
_MAX_TRIGGERS = 10_000
_MAX_ERROR = 4_000
"""Characters of an error that are kept."""


class Trigger(NamedTuple):
    """What enqueued a key: a change of an object, or a timer."""

    what: str
    """Such as "added", "updated" or "timer"."""
    source: str = ""
    """The watched kind."""
    key: str = ""
    resource_version: str = ""

    def __str__(self) -> str:
        version = f" @{self.resource_version}" if self.resource_version else ""
        return f"{self.source} {self.key}{version} {self.what}" if self.source else self.what


@dataclass(slots=True)
class ReconcileRecord:
    """One reconcile; it runs while `result` is "running"."""

    key: ObjectKey
    attempt: int
    trigger: Trigger
    merged: int
    """How many further changes the trigger stands for."""
    started: float
    waited: float
    since: float
    """When it started, by the monotonic clock."""
    duration: float | None = None
    result: str = RUNNING
    error: str = ""
    next_try: float | None = None

    def snapshot(self) -> ReconcileSnapshot:
        more = f" (and {self.merged} more changes)" if self.merged else ""
        return ReconcileSnapshot(
            key=str(self.key),
            attempt=self.attempt,
            started=self.started,
            waited=self.waited,
            duration=self.duration,
            trigger=f"{self.trigger}{more}",
            result=self.result,
            error=self.error,
            next_try=self.next_try,
        )


class ReconcileHistory:
    """The last reconciles of each key, in bounded memory: those of the keys that were not reconciled for long go first.

    `note` may be called in any thread, everything else in that of the event loop.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_key: OrderedDict[ObjectKey, deque[ReconcileRecord]] = OrderedDict()
        self._recent: deque[ReconcileRecord] = deque(maxlen=_MAX_RECENT)
        self._running: dict[ObjectKey, ReconcileRecord] = {}
        self._triggers: dict[ObjectKey, tuple[Trigger, int]] = {}
        self._has_dropped = False

    # --- recording ---------------------------------------------------------------------------------------------------

    def note(self, keys: Iterable[ObjectKey], trigger: Trigger) -> None:
        """Record why these keys are enqueued; the last reason counts."""
        triggers = self._triggers
        for key in keys:
            if (before := triggers.get(key)) is not None:
                triggers[key] = (trigger, before[1] + 1)
            elif len(triggers) < _MAX_TRIGGERS:
                triggers[key] = (trigger, 0)
            else:
                self._has_dropped = True

    def start(self, key: ObjectKey, *, attempt: int, waited: float) -> ReconcileRecord:
        """Record that a reconcile starts, after it waited for the key's own writes."""
        trigger, merged = self._triggers.pop(key) if key in self._triggers else (self._default_trigger(key), 0)
        now = self._clock.now().timestamp()
        record = ReconcileRecord(key, attempt, trigger, merged, now, waited, self._clock.monotonic())
        self._running[key] = record
        return record

    def finish(
        self, record: ReconcileRecord, result: str, error: BaseException | None = None, *, delay: float | None = None
    ) -> None:
        """Record the outcome; `delay` is the time until the key is reconciled again, if that is scheduled."""
        record.duration = self._clock.monotonic() - record.since
        record.result = result
        if error is not None:
            record.error = f"{type(error).__name__}: {error}"[:_MAX_ERROR]
        if delay is not None:
            record.next_try = self._clock.now().timestamp() + delay
        self._running.pop(record.key, None)
        self._recent.append(record)
        records = self._by_key.get(record.key)
        if records is None:
            records = self._by_key[record.key] = deque(maxlen=_PER_KEY)
            if len(self._by_key) > _MAX_KEYS:
                self._by_key.popitem(last=False)
        else:
            self._by_key.move_to_end(record.key)
        records.append(record)

    def _default_trigger(self, key: ObjectKey) -> Trigger:
        """The trigger of a key that was enqueued without a change."""
        last = self._by_key[key][-1] if key in self._by_key else None
        if last is not None and last.next_try is not None:
            return Trigger("requeue" if last.result == "requeued" else "retry")
        return Trigger("not recorded" if self._has_dropped else "enqueue()")

    # --- reading -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._by_key)

    def recent(self, limit: int) -> list[ReconcileRecord]:
        """Those that run, and then the last ones, newest first."""
        return [*islice(self._running.values(), limit), *islice(reversed(self._recent), limit)][:limit]

    def of_key(self, key: ObjectKey) -> list[ReconcileRecord]:
        """The reconciles of one key, newest first."""
        running = self._running.get(key)
        return [*([running] if running else []), *reversed(self._by_key.get(key, ()))]

    def of_text(self, key: str) -> list[ReconcileRecord]:
        """The reconciles of the key that prints as this text, newest first."""
        found = next((each for each in [*self._running, *self._by_key] if str(each) == key), None)
        return [] if found is None else self.of_key(found)

    def keys_with(self, text: str, limit: int) -> list[ObjectKey]:
        """The keys that contain a text, those that were reconciled last first."""
        found = (key for key in [*self._running, *reversed(self._by_key)] if text in str(key))
        return [*islice(dict.fromkeys(found), limit)]
