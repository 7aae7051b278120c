"""The requests of one replica that are in progress, and which records have to be read before they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from listwatch.sharding.protocol.group_records import Record, RecordKey, key_of
from listwatch.sharding.protocol.replica_actions import Outcome, Request, RequestFailure, Verb

__all__ = ["RequestBook"]

MAX_REQUESTS = 8


@dataclass(frozen=True, slots=True)
class _Pending:
    request: Request
    sent: float


class RequestBook:
    """At most one request per record, and a few in all. A record is read again after a write that did not succeed.

    A request without a response may still be executed later, so the state of its record is not known until then.
    """

    def __init__(self, emit: Callable[[Request], None], *, retry_delay: float, jitter: Callable[[], float]) -> None:
        self._emit = emit
        self._retry_delay = retry_delay
        self._jitter = jitter
        self._pending: dict[RecordKey, _Pending] = {}
        self._unread: set[RecordKey] = set()
        self._retry_at: dict[RecordKey, float] = {}
        self._number = 0

    def __len__(self) -> int:
        return len(self._pending)

    def is_pending(self, key: RecordKey) -> bool:
        return key in self._pending

    def next_retry(self, now: float) -> list[float]:
        return [at for at in self._retry_at.values() if at > now]

    def send(self, verb: Verb, record: Record, now: float, *, is_urgent: bool = False) -> bool:
        """Send a request, or a read if the record has to be read first; False if it has to wait.

        An urgent request does not count against the limit.
        """
        key = key_of(record)
        if key in self._pending or now < self._retry_at.get(key, now):
            return False
        if not is_urgent and len(self._pending) >= MAX_REQUESTS:
            return False
        self._number += 1
        request = Request(self._number, "read" if key in self._unread else verb, record)
        self._pending[key] = _Pending(request, now)
        self._emit(request)
        return True

    def finish(self, request: Request, outcome: Outcome, now: float) -> float | None:
        """A request has an outcome; returns when it was sent, or None if it is not in progress."""
        key = key_of(request.record)
        pending = self._pending.get(key)
        if pending is None or pending.request.number != request.number:
            return None
        del self._pending[key]
        self._retry_at.pop(key, None)
        match outcome:
            case RequestFailure(kind="conflict"):
                self._unread.add(key)
            case RequestFailure(kind="unknown" | "forbidden" | "damaged"):
                self._unread.add(key)
                self._retry_at[key] = now + self._retry_delay * (1 + 0.2 * self._jitter())
            case _:
                self._unread.discard(key)
        return pending.sent

    def must_read(self, key: RecordKey) -> None:
        """Read this record before it is written again."""
        self._unread.add(key)

    def forget(self) -> None:
        """Ignore the outcomes of all requests in progress."""
        self._pending.clear()
