"""The kinds and types of `coordination.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class LeaseSpec(Model):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(
    Object,
    resource=Resource(
        "coordination.k8s.io", "v1", "Lease", "leases", "lease",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: LeaseSpec = lazy(LeaseSpec)


class LeaseList(ObjectList[Lease], item=Lease):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
