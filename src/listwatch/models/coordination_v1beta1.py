"""The kinds and types of `coordination.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class LeaseCandidateSpec(Model):
    lease_name: str = field(default_factory=str)
    ping_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    binary_version: str = field(default_factory=str)
    emulation_version: str | None = None
    strategy: str = field(default_factory=str)


class LeaseCandidate(
    Object,
    resource=Resource(
        "coordination.k8s.io", "v1beta1", "LeaseCandidate", "leasecandidates", "leasecandidate",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: LeaseCandidateSpec = lazy(LeaseCandidateSpec)


class LeaseCandidateList(ObjectList[LeaseCandidate], item=LeaseCandidate):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
