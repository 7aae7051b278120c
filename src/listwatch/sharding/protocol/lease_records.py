"""Reads the records of a shard group from Leases, and writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from listwatch.objects.metadata import ObjectMeta
from listwatch.sharding.protocol.assignment import MAX_WEIGHT, MIN_WEIGHT
from listwatch.sharding.protocol.group_records import (
    ConfigRecord,
    Record,
    SessionRecord,
    SessionState,
    ShardRecord,
    config_name,
    session_name,
    shard_name,
)
from listwatch.sharding.protocol.replica_load import ReplicaLoad
from listwatch.sharding.protocol.shard_space import MAX_SHARDS
from listwatch.sharding.protocol.timing import MAX_LEASE_DURATION

if TYPE_CHECKING:
    from listwatch.models.coordination_v1 import Lease

__all__ = ["GROUP_LABEL", "fill_lease", "has_role", "name_of", "read_lease"]

GROUP_LABEL = "listwatch/shard-group"
_ROLE = "listwatch/role"
_ROLES = ("config", "member", "shard")
_STATES = ("joining", "active", "leaving", "ended")
_LARGEST = 2**31 - 2
"""The largest token and generation: the server rejects the next but one."""
_MAX_TEXT = 253
_MAX_VERSIONS = 1000


def name_of(record: Record, group: str) -> str:
    """The name of the Lease of a record."""
    match record:
        case SessionRecord(session=session):
            return session_name(group, session)
        case ShardRecord(generation=generation, shard=shard):
            return shard_name(group, generation, shard)
    return config_name(group)


def has_role(lease: Lease) -> bool:
    """Whether a Lease should have a record of a group: if `read_lease` finds none, it is damaged."""
    return lease.metadata.labels.get(_ROLE) in _ROLES


def read_lease(lease: Lease, group: str) -> Record | None:
    """The record in a Lease; None if it is none of the group's, or damaged.

    Other programs may have written it: its numbers and texts are limited to what a replica can write.
    """
    notes, spec = lease.metadata.annotations, lease.spec
    version, uid = int(lease.resource_version or 0), lease.uid
    try:
        match lease.metadata.labels.get(_ROLE):
            case "config" if lease.name == config_name(group):
                return ConfigRecord(
                    version,
                    uid,
                    text=_text(notes["listwatch/config"]),
                    digest=notes["listwatch/config-hash"],
                    generation=_count(notes["listwatch/generation"], least=1),
                    token_floor=_count(spec.lease_transitions or 0),
                    is_complete=notes.get("listwatch/complete") == "true",
                    written_by=_text(spec.holder_identity),
                    written_at=spec.acquire_time,
                )
            case "member" if lease.name.startswith(session_name(group, "")):
                state = notes["listwatch/state"]
                return SessionRecord(
                    version,
                    uid,
                    session=lease.name.removeprefix(session_name(group, "")),
                    identity=_text(spec.holder_identity),
                    state=cast(SessionState, state) if state in _STATES else "ended",
                    duration=_duration(spec.lease_duration_seconds or 0, least=1.0),
                    digest=notes["listwatch/config-hash"],
                    generation=_count(notes["listwatch/generation"], least=1),
                    weight=_weight(notes.get("listwatch/weight", "1")),
                    begun=spec.acquire_time,
                    renewed=spec.renew_time,
                    ended_by=_text(notes.get("listwatch/ended-by")),
                    load=ReplicaLoad.parse(notes.get("listwatch/load", "")),
                )
            case "shard":
                return _read_shard(lease, group, version, notes)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    return None


def _weight(text: str) -> float:
    """A weight that options allow. Any other one, or NaN, would make the quotas of all replicas fail."""
    return min(MAX_WEIGHT, max(MIN_WEIGHT, float(text)))  # in this order, NaN becomes the minimum


def _duration(value: str | float, *, least: float) -> float:
    """A lease duration in seconds. One that no replica writes counts as the longest: waiting longer is safe."""
    try:
        number = float(value)
    except ValueError:
        return MAX_LEASE_DURATION
    return number if least <= number <= MAX_LEASE_DURATION else MAX_LEASE_DURATION  # also for NaN


def _count(value: str | int, *, least: int = 0, most: int = _LARGEST) -> int:
    number = int(value)
    if not least <= number <= most:
        raise ValueError(f"{number} is not from {least} to {most}")
    return number


def _text(value: str | None) -> str:
    """A text for people, of limited length and without control characters."""
    return "".join(each if each.isprintable() else "?" for each in (value or "")[:_MAX_TEXT])


def _versions(text: str | None) -> dict[str, str] | None:
    """The released versions by resource; without those that no server assigns, which count as unknown."""
    if text is None:
        return None
    try:
        found = [*json.loads(text).items()]
    except (ValueError, AttributeError, RecursionError):
        return None
    return {
        key: version
        for key, version in found[:_MAX_VERSIONS]
        if isinstance(version, str) and version.isascii() and version.isdecimal() and len(version) <= 20
    }


def _read_shard(lease: Lease, group: str, version: int, notes: Mapping[str, str]) -> ShardRecord | None:
    texts = lease.name.removeprefix(f"{group}-").partition("-s-")
    generation, shard = _count(texts[0], least=1), _count(texts[2], most=MAX_SHARDS - 1)
    if lease.name != shard_name(group, generation, shard):
        return None
    identity, _, holder = (lease.spec.holder_identity or "").rpartition("/")
    return ShardRecord(
        version,
        lease.uid,
        generation=generation,
        shard=shard,
        holder=holder,
        identity=_text(identity or notes.get("listwatch/released-by")),
        previous=_text(notes.get("listwatch/previous-holder")),
        reason=_text(notes.get("listwatch/claim-reason")),
        token=_count(lease.spec.lease_transitions or 0),
        duration=_duration(notes.get("listwatch/lease-duration", "0"), least=0.0),
        acquired=lease.spec.acquire_time,
        released_versions=_versions(notes.get("listwatch/released-versions")),
        is_recreated=notes.get("listwatch/recreated") == "true",
    )


def fill_lease(lease: Lease, record: Record, group: str, namespace: str) -> None:
    """Write a record into an empty Lease, with the version and the uid that it replaces."""
    notes: dict[str, str] = {}
    spec = lease.spec
    match record:
        case ConfigRecord():
            role = "config"
            notes = {
                "listwatch/config": record.text,
                "listwatch/config-hash": record.digest,
                "listwatch/generation": str(record.generation),
                "listwatch/complete": "true" if record.is_complete else "false",
            }
            spec.holder_identity, spec.acquire_time = record.written_by, record.written_at
            spec.lease_transitions = record.token_floor
        case SessionRecord():
            role = "member"
            notes = {
                "listwatch/state": record.state,
                "listwatch/config-hash": record.digest,
                "listwatch/generation": str(record.generation),
                "listwatch/weight": repr(float(record.weight)).removesuffix(".0"),  # exact: what is read must equal it
                **({"listwatch/ended-by": record.ended_by} if record.ended_by else {}),
                **({"listwatch/load": record.load.text} if record.load and record.state != "ended" else {}),
            }
            spec.holder_identity, spec.lease_duration_seconds = record.identity, int(record.duration)
            spec.acquire_time, spec.renew_time = record.begun, record.renewed
        case ShardRecord():
            role = "shard"
            notes = {
                "listwatch/lease-duration": f"{record.duration:g}",
                **({"listwatch/previous-holder": record.previous} if record.previous else {}),
                **({"listwatch/claim-reason": record.reason} if record.reason else {}),
            }
            if record.released_versions is not None:
                notes["listwatch/released-versions"] = json.dumps(dict(record.released_versions), sort_keys=True)
            if record.is_recreated:
                notes["listwatch/recreated"] = "true"
            if record.identity and not record.holder:
                notes["listwatch/released-by"] = record.identity
            spec.holder_identity = f"{record.identity}/{record.holder}" if record.holder else ""
            spec.lease_transitions, spec.acquire_time = record.token, record.acquired
    lease.metadata = ObjectMeta(
        name=name_of(record, group),
        namespace=namespace,
        labels={GROUP_LABEL: group, _ROLE: role},
        annotations=notes,
    )
    if record.version:
        lease.metadata.resource_version = str(record.version)
        lease.metadata.uid = record.uid
