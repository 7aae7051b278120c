"""What `replica_state.py` decides and what it learns: requests and their outcomes, and instructions for the replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from listwatch.sharding.protocol.group_records import Record
from listwatch.sharding.protocol.shard_events import ShardEvent

__all__ = [
    "Action",
    "CancelShard",
    "FailureKind",
    "Gone",
    "Outcome",
    "Prefetch",
    "Refuse",
    "Relist",
    "Request",
    "RequestFailure",
    "SharedIdentity",
    "StopAll",
    "Verb",
]

Verb = Literal["create", "read", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request for the Lease of one record; an update carries the version that it replaces.

    Exactly one outcome must be reported, within the request timeout.
    """

    number: int
    verb: Verb
    record: Record


FailureKind = Literal["missing", "conflict", "forbidden", "damaged", "unknown"]
"""The Lease does not exist; it has changed or exists already; not permitted; it has no record of the group; or the
outcome is not known."""


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """A request was rejected, or got no response."""

    kind: FailureKind
    message: str = ""


Outcome = Record | RequestFailure
"""The state of the record after the request, or why there is none."""


@dataclass(frozen=True, slots=True)
class Relist:
    """List the Leases again: the watch does not report what this replica wrote."""


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Load the objects of these shards, which this replica will own when it is active."""

    shards: frozenset[int]


@dataclass(frozen=True, slots=True)
class StopAll:
    """The session is over: cancel all reconciles, and report when none runs."""

    session: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CancelShard:
    """Cancel the reconciles of a shard that is being drained."""

    shard: int
    token: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """This replica cannot take part in the group."""

    message: str
    is_forbidden: bool = False


@dataclass(frozen=True, slots=True)
class SharedIdentity:
    """Another replica that runs has the same identity: it renews this session."""

    session: str


@dataclass(frozen=True, slots=True)
class Gone:
    """This replica has left the group; nothing more follows."""


Action = Request | Relist | Prefetch | StopAll | CancelShard | Refuse | SharedIdentity | Gone | ShardEvent
