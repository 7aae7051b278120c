"""The kinds and types of `lifecycle.k8s.io/v1alpha1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class EvictionPodReference(Model):
    name: str = field(default_factory=str)
    uid: str = field(default_factory=str)


class EvictionRequestPodReference(Model):
    name: str = field(default_factory=str)
    uid: str = field(default_factory=str)


class EvictionRequestTarget(Model):
    pod: EvictionRequestPodReference | None = None


class EvictionRequestSpec(Model):
    target: EvictionRequestTarget = field(default_factory=EvictionRequestTarget)
    requester: str = field(default_factory=str)
    intent: str = field(default_factory=str)


class EvictionRequestStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    observed_generation: int | None = None


class EvictionTarget(Model):
    pod: EvictionPodReference | None = None


class EvictionSpec(Model):
    target: EvictionTarget = field(default_factory=EvictionTarget)


class EvictionStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    observed_generation: int | None = None
    requesters: list[Requester] = field(default_factory=list)
    target_responders: list[TargetResponder] = field(default_factory=list)
    responders: list[ResponderStatus] = field(default_factory=list)


class Requester(Model):
    name: str = field(default_factory=str)
    intent: str = field(default_factory=str)


class ResponderStatus(Model):
    name: str = field(default_factory=str)
    start_time: datetime | None = None
    heartbeat_time: datetime | None = None
    expected_completion_time: datetime | None = None
    completion_time: datetime | None = None
    message: str | None = None


class TargetResponder(Model):
    name: str = field(default_factory=str)
    priority: int = field(default_factory=int)
    state: str = field(default_factory=str)


class Eviction(
    Object,
    resource=Resource(
        "lifecycle.k8s.io", "v1alpha1", "Eviction", "evictions", "eviction",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "lifecycle.k8s.io", "v1alpha1", "Eviction", ("get", "patch", "update")),
        ),
    ),
):
    spec: EvictionSpec = lazy(EvictionSpec)
    status: EvictionStatus = lazy(EvictionStatus)


class EvictionRequest(
    Object,
    resource=Resource(
        "lifecycle.k8s.io", "v1alpha1", "EvictionRequest", "evictionrequests", "evictionrequest",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "lifecycle.k8s.io", "v1alpha1", "EvictionRequest", ("get", "patch", "update")),
        ),
    ),
):
    spec: EvictionRequestSpec = lazy(EvictionRequestSpec)
    status: EvictionRequestStatus = lazy(EvictionRequestStatus)


class EvictionList(ObjectList[Eviction], item=Eviction):
    """A list of objects, as returned by one request."""


class EvictionRequestList(ObjectList[EvictionRequest], item=EvictionRequest):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
