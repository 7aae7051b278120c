"""Takes part in coordinated leader election: the API server elects the leader among LeaseCandidates.

Each candidate has a LeaseCandidate with its version. Before an election, the server writes `pingTime`, and running
candidates respond with `renewTime`. The server then writes the name of the leader into the Lease. To replace a
leader, it writes `preferredHolder`.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock, time_limit
from listwatch.errors import ConflictError, ListWatchError, NotFoundError, UsageError
from listwatch.logs.folded_log import FoldedLog, cause_of_text
from listwatch.objects.metadata import ObjectMeta

if TYPE_CHECKING:
    from listwatch.models.coordination_v1beta1 import LeaseCandidate

__all__ = ["CandidateRegistration"]

_log = logging.getLogger("listwatch.leaderelection")

_STRATEGY = "OldestEmulationVersion"
_NAME = re.compile(r"(?!\.\.?$)[-._a-zA-Z0-9]{1,253}")
_VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


class CandidateRegistration:
    """The LeaseCandidate of one candidate: created, renewed when the server writes `pingTime`, and deleted."""

    def __init__(
        self, rest: RESTClient, *, lease: str, namespace: str, identity: str, version: str, clock: Clock
    ) -> None:
        if not _VERSION.fullmatch(version):
            raise UsageError(f"candidate_version={version!r}: expected a semantic version, such as 1.4.0")
        if not _NAME.fullmatch(identity):
            raise UsageError(
                f"identity={identity!r}: with candidate_version=, it is the name of a LeaseCandidate; "
                "use letters, digits, '-', '_' and '.' only"
            )
        from listwatch.models.coordination_v1beta1 import LeaseCandidate

        assert LeaseCandidate.resource is not None
        resource = ResourceClient(rest, LeaseCandidate, LeaseCandidate.resource)
        self._candidates: ResourceClient[LeaseCandidate] = resource.namespace(namespace)
        self._lease = lease
        self._identity = identity
        self._version = version
        self._clock = clock
        self._failure_log = FoldedLog(_log, clock)
        self._is_created = False
        self.is_served = True
        """False once the server has responded that it has no LeaseCandidates."""

    async def maintain(self, timeout: float) -> None:
        """Create the object, or respond to the server; failures are logged, not raised."""
        if not self.is_served:
            return
        try:
            async with time_limit(self._clock, timeout):
                await self._respond()
        except ConflictError as error:
            _log.debug("The server wrote the candidate %s first: %s", self._identity, error, extra=self._fields)
        except (ListWatchError, OSError, TimeoutError) as error:
            self._failure_log.log(
                logging.WARNING,
                cause_of_text(error),
                "Cannot write the LeaseCandidate %s: %s; the server may elect another candidate",
                self._identity,
                error,
                fields={**self._fields, "reason": str(error)},
            )

    async def remove(self, timeout: float) -> None:
        """Delete the object, so that this candidate is not elected; if that fails, the server deletes it later."""
        if not self._is_created:
            return
        self._is_created = False
        try:
            async with time_limit(self._clock, timeout):
                await self._candidates.delete(self._identity)
        except (ListWatchError, OSError, TimeoutError) as error:
            _log.debug("Cannot delete the LeaseCandidate %s: %s", self._identity, error, extra=self._fields)

    @property
    def _fields(self) -> dict[str, object]:
        return {"lease": self._lease, "identity": self._identity}

    async def _respond(self) -> None:
        try:
            found = await self._candidates.get(self._identity)
        except NotFoundError:
            await self._create()
            return
        self._is_created = True
        spec = found.spec
        if spec.ping_time is not None and (spec.renew_time is None or spec.renew_time < spec.ping_time):
            renewed = found.copy()
            # The clocks of the server and of this host may differ.
            renewed.spec.renew_time = max(self._clock.now(), spec.ping_time)
            await self._candidates.update(renewed)

    async def _create(self) -> None:
        candidate = self._candidates.kind(metadata=ObjectMeta(name=self._identity))
        candidate.spec.lease_name = self._lease
        candidate.spec.binary_version = candidate.spec.emulation_version = self._version
        candidate.spec.strategy = _STRATEGY
        candidate.spec.renew_time = self._clock.now()
        try:
            await self._candidates.create(candidate)
        except NotFoundError:
            self.is_served = False
            message = "The server has no LeaseCandidates: the candidates for the lease %s elect the leader themselves"
            _log.info(message, self._lease, extra=self._fields)
        else:
            self._is_created = True
