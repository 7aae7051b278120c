"""The options of managed certificates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from listwatch.errors import UsageError

__all__ = ["ManagedCertificates"]


@dataclass(frozen=True, slots=True)
class ManagedCertificates:
    """An authority and a certificate that the webhooks create in a Secret, and rotate; needs `listwatch[webhooks]`.

    All replicas share the Secret, whose name is by default that of the webhooks with `-webhook-certificates`, in the
    namespace of their Service or else of the client. It is read every `interval` seconds. A certificate is replaced
    when a third of its `validity` is left. When a third of `authority_validity` is left, the next authority is
    published; it replaces the current one after `overlap`.
    """

    secret: str = ""
    namespace: str = ""
    validity: timedelta = timedelta(days=90)
    authority_validity: timedelta = timedelta(days=365)
    overlap: timedelta = timedelta(days=1)
    interval: float = 60.0

    def __post_init__(self) -> None:
        if not timedelta(minutes=1) <= self.validity <= self.authority_validity:
            raise UsageError(f"validity={self.validity}: expected a minute or more, and not over authority_validity")
        if not timedelta() <= self.overlap < self.authority_validity / 3:
            raise UsageError(f"overlap={self.overlap}: expected less than a third of authority_validity")
        if not self.interval > 0:
            raise UsageError(f"interval={self.interval!r}: expected a number of seconds greater than 0")
