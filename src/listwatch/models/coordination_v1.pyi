"""The kinds and types of `coordination.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class LeaseSpec(Model):
    """LeaseSpec is a specification of a Lease."""
    acquire_time: MicroTime | None = None
    """acquireTime is a time when the current lease was acquired.

    JSON: `acquireTime`. Default: absent."""
    holder_identity: str | None = None
    """holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.

    JSON: `holderIdentity`. Default: absent."""
    lease_duration_seconds: int | None = None
    """leaseDurationSeconds is a duration that candidates for a lease need to wait to force acquire it. This is measured against the time of last observed renewTime.

    JSON: `leaseDurationSeconds`. Default: absent."""
    lease_transitions: int | None = None
    """leaseTransitions is the number of transitions of a lease between holders.

    JSON: `leaseTransitions`. Default: absent."""
    preferred_holder: str | None = None
    """PreferredHolder signals to a lease holder that the lease has a more optimal holder and should be given up. This field can only be set if Strategy is also set.

    JSON: `preferredHolder`. Default: absent."""
    renew_time: MicroTime | None = None
    """renewTime is a time when the current holder of a lease has last updated the lease.

    JSON: `renewTime`. Default: absent."""
    strategy: str | None = None
    """Strategy indicates the strategy for picking the leader for coordinated leader election. If the field is not specified, there is no active coordination for this lease. (Alpha) Using this field requires the CoordinatedLeaderElection feature gate to be enabled.

    JSON: `strategy`. Default: absent."""


class Lease(Object):
    """Lease defines a lease concept."""
    spec: LeaseSpec = ...
    """spec contains the specification of the Lease. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status

    JSON: `spec`. Default: `{}`."""


class LeaseList(ObjectList[Lease], item=Lease):
    """A list of objects, as returned by one request."""
