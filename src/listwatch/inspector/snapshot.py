"""What the page shows, as values: one `Snapshot` per update. Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

__all__ = [
    "ClientSnapshot",
    "ControllerSnapshot",
    "HandlerSnapshot",
    "InformerSnapshot",
    "LeadershipSnapshot",
    "ManagerSnapshot",
    "QueueSnapshot",
    "ReconcileSnapshot",
    "Snapshot",
    "SourceSnapshot",
]


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    """A value that is encoded as JSON under the names of its fields."""


class SourceSnapshot(_Value, frozen=True, kw_only=True):
    """One source of an informer: the whole cluster, or one namespace."""

    name: str
    state: str
    resource_version: str
    lists: int
    watches: int
    events: int
    skipped: int
    failures_in_a_row: int
    last_error: str
    last_contact: float | None


class HandlerSnapshot(_Value, frozen=True, kw_only=True):
    """One handler of an informer."""

    name: str
    pending: int
    handled: int
    failed: int
    coalesced: int
    has_synced: bool


class InformerSnapshot(_Value, frozen=True, kw_only=True):
    """One informer. `read_by` is how everything was read the last time: "list" or "stream"."""

    id: str
    name: str
    cluster: str
    """The name of its cluster in a manager of several; else empty."""
    kind: str
    state: str
    read_by: str
    resource_version: str
    objects: int
    bytes: int | None
    """The size of the objects as received; None until it was computed."""
    queued: int
    pending: int
    """The largest backlog of a handler."""
    events: int
    last_contact: float | None
    last_error: str
    """The last error since the start, also if the informer has recovered."""
    last_error_at: float | None
    failures_in_a_row: int
    sources: Sequence[SourceSnapshot]
    handlers: Sequence[HandlerSnapshot]


class QueueSnapshot(_Value, frozen=True, kw_only=True):
    """One work queue; durations are in seconds."""

    name: str
    depth: int
    processing: int
    readded: int
    delayed: int
    adds: int
    retries: int
    taken: int
    longest_running: float
    mean_wait: float
    mean_work: float
    is_shut_down: bool


class ReconcileSnapshot(_Value, frozen=True, kw_only=True):
    """One reconcile of a key. `duration` is None while it runs."""

    key: str
    attempt: int
    started: float
    waited: float
    """Seconds until the caches contained the key's own writes."""
    duration: float | None
    trigger: str
    result: str
    error: str
    next_try: float | None


class ControllerSnapshot(_Value, frozen=True, kw_only=True):
    """One controller and its queue."""

    name: str
    is_working: bool
    needs_leader: bool
    why_not_ready: str
    watches: Sequence[str]
    concurrency: int
    running: int
    succeeded: int
    requeued: int
    failed: int
    gave_up: int
    timed_out: int
    stale: int
    loop_stalls: int
    mean_duration: float
    longest_duration: float
    last_failure: str
    queue: QueueSnapshot
    recent: Sequence[ReconcileSnapshot]
    """The last reconciles, newest first; those that run come first."""


class LeadershipSnapshot(_Value, frozen=True, kw_only=True):
    """One candidate for a lease."""

    lock: str
    identity: str
    leader: str
    is_leader: bool
    transitions: int
    terms: int
    losses: int
    renewals: int
    failures_in_a_row: int
    last_error: str


class ClientSnapshot(_Value, frozen=True, kw_only=True):
    """The requests of one client: counts by method and status."""

    host: str
    attempts: Sequence[tuple[str, str, int]]
    retries: int
    throttled: int
    open_watches: int


class ManagerSnapshot(_Value, frozen=True, kw_only=True):
    """The state of a manager."""

    name: str
    is_leading: bool
    is_ready: bool
    is_stopping: bool


class Snapshot(_Value, frozen=True, kw_only=True):
    """The state of everything that an inspector shows."""

    now: float
    manager: ManagerSnapshot | None
    informers: Sequence[InformerSnapshot]
    controllers: Sequence[ControllerSnapshot]
    queues: Sequence[QueueSnapshot]
    leadership: Sequence[LeadershipSnapshot]
    clients: Sequence[ClientSnapshot]
