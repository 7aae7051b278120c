"""Decides the next step of the rotation of the certificates in a Secret.

    current authority ──▶ next authority published ──▶ overlap ──▶ next becomes current, and issues the certificate

API servers trust the next authority before its first certificate is presented, and the previous one until it expires,
so that they trust the certificate in use at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from listwatch.webhooks.certificates.validity import Validity

__all__ = ["Action", "SecretFacts", "next_action"]

_RENEWAL = 3
"""A certificate is replaced when this part of its lifetime is left: a third."""


class Action(Enum):
    """The next step."""

    KEEP = auto()
    CREATE = auto()
    """Create an authority and a certificate; nothing of the Secret can be used."""
    PREPARE = auto()
    """Create the next authority, and publish it."""
    SWITCH = auto()
    """Make the next authority the current one, and issue a certificate with it."""
    ISSUE = auto()
    """Issue a certificate with the current authority."""


@dataclass(frozen=True, slots=True)
class SecretFacts:
    """What a Secret contains."""

    authority: Validity | None = None
    next_authority: Validity | None = None
    certificate: Validity | None = None
    """None if it is missing, of another authority, or for other hosts."""


def next_action(facts: SecretFacts, now: datetime, *, overlap: timedelta, is_published: bool) -> Action:
    """Return the next step; `is_published` is whether API servers trust all authorities of the Secret."""
    following = facts.next_authority
    has_following = following is not None and now < following.end
    if facts.authority is None or now >= facts.authority.end:
        return Action.SWITCH if has_following else Action.CREATE
    if following is not None and has_following:
        if is_published and now >= following.start + overlap:
            return Action.SWITCH
    elif _is_ending(facts.authority, now):
        return Action.PREPARE
    if facts.certificate is None or _is_ending(facts.certificate, now):
        return Action.ISSUE
    return Action.KEEP


def _is_ending(validity: Validity, now: datetime) -> bool:
    return validity.end - now < (validity.end - validity.start) / _RENEWAL
