"""The session of a replica, and what a replica is doing."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal

from listwatch.sharding.protocol.group_records import SessionRecord

__all__ = ["Phase", "Session"]


class Phase(Enum):
    """What a replica is doing."""

    CHECKING = "checking"
    """Reads the configuration of the group."""
    WAITING = "waiting"
    """Waits until no replica with another configuration is left."""
    CREATING = "creating"
    JOINING = "joining"
    """Has a session, and fills its caches."""
    ACTIVE = "active"
    LEAVING = "leaving"
    """Drains its shards."""
    STOPPING = "stopping"
    """The session is over: waits until no reconcile runs."""
    ENDING = "ending"
    """Writes that the session has ended, so that the others need not wait for its lease duration."""
    GONE = "gone"


@dataclass(slots=True)
class Session:
    """One uninterrupted life of a replica in its group. A session that has ended never comes back."""

    first_record: SessionRecord
    """What is written to create it."""
    begun: float
    record: SessionRecord | None = None
    """What was written last; None until it is created."""
    first_version: int = 0
    state: Literal["joining", "active", "leaving"] = "joining"
    renew_at: float = 0.0
    unseen: deque[tuple[int, float]] = field(default_factory=deque)
    """The versions of renewals that the view does not contain yet, and when they succeeded."""
    prefetch_until: float = math.inf
    blockers: dict[str, float] | None = None
    """Sessions of another configuration that were live when this one began; infinite, or when they are gone."""
    ending_since: float = 0.0

    @property
    def id(self) -> str:
        return self.first_record.session

    def next_record(self, weight: float) -> SessionRecord:
        """What to write next, instead of the last record: another program may have changed that."""
        last = self.record or self.first_record
        return replace(
            self.first_record, version=last.version, uid=last.uid, begun=last.begun, state=self.state, weight=weight
        )

    def unseen_since(self, version: int) -> float:
        """When the oldest renewal succeeded that a view of this version does not contain; infinite if there is none."""
        while self.unseen and self.unseen[0][0] <= version:
            self.unseen.popleft()
        return self.unseen[0][1] if self.unseen else math.inf
