"""The session of a replica, and what a replica is doing."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
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

    id: str
    begun: float
    record: SessionRecord | None = None
    first_version: int = 0
    state: Literal["joining", "active", "leaving"] = "joining"
    renew_at: float = 0.0
    unseen: deque[tuple[int, float]] = field(default_factory=deque)
    """The versions of renewals that the view does not contain yet, and when they succeeded."""
    prefetch_until: float = math.inf
    blockers: dict[str, float] | None = None
    """Sessions of another configuration that were live when this one began; infinite, or when they are gone."""
    ending_since: float = 0.0
