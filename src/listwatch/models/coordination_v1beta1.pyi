"""The kinds and types of `coordination.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class LeaseCandidateSpec(Model):
    """LeaseCandidateSpec is a specification of a Lease."""
    binary_version: str = ""
    """BinaryVersion is the binary version. It must be in a semver format without leading `v`. This field is required.

    JSON: `binaryVersion`. Required."""
    emulation_version: str | None = None
    """EmulationVersion is the emulation version. It must be in a semver format without leading `v`. EmulationVersion must be less than or equal to BinaryVersion. This field is required when strategy is "OldestEmulationVersion"

    JSON: `emulationVersion`. Default: absent."""
    lease_name: str = ""
    """LeaseName is the name of the lease for which this candidate is contending. The limits on this field are the same as on Lease.name. Multiple lease candidates may reference the same Lease.name. This field is immutable.

    JSON: `leaseName`. Required."""
    ping_time: MicroTime | None = None
    """PingTime is the last time that the server has requested the LeaseCandidate to renew. It is only done during leader election to check if any LeaseCandidates have become ineligible. When PingTime is updated, the LeaseCandidate will respond by updating RenewTime.

    JSON: `pingTime`. Default: absent."""
    renew_time: MicroTime | None = None
    """RenewTime is the time that the LeaseCandidate was last updated. Any time a Lease needs to do leader election, the PingTime field is updated to signal to the LeaseCandidate that they should update the RenewTime. Old LeaseCandidate objects are also garbage collected if it has been hours since the last renew. The PingTime field is updated regularly to prevent garbage collection for still active LeaseCandidates.

    JSON: `renewTime`. Default: absent."""
    strategy: str = ""
    """Strategy is the strategy that coordinated leader election will use for picking the leader. If multiple candidates for the same Lease return different strategies, the strategy provided by the candidate with the latest BinaryVersion will be used. If there is still conflict, this is a user error and coordinated leader election will not operate the Lease until resolved.

    JSON: `strategy`. Required."""


class LeaseCandidate(Object):
    """LeaseCandidate defines a candidate for a Lease object. Candidates are created such that coordinated leader election will pick the best leader from the list of candidates."""
    spec: LeaseCandidateSpec = ...
    """spec contains the specification of the Lease. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status

    JSON: `spec`. Required."""


class LeaseCandidateList(ObjectList[LeaseCandidate], item=LeaseCandidate):
    """A list of objects, as returned by one request."""
