"""The kinds and types of `apiregistration.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class APIServiceCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class APIServiceSpec(Model):
    ca_bundle: bytes | None = None
    group: str | None = None
    group_priority_minimum: int = field(default_factory=int)
    insecure_skip_tls_verify: bool | None = field(default=None, name="insecureSkipTLSVerify")
    service: ServiceReference | None = None
    version: str | None = None
    version_priority: int = field(default_factory=int)


class APIServiceStatus(Model):
    conditions: list[APIServiceCondition] = field(default_factory=list)


class ServiceReference(Model):
    name: str | None = None
    namespace: str | None = None
    port: int | None = None


class APIService(
    Object,
    resource=Resource(
        "apiregistration.k8s.io", "v1", "APIService", "apiservices", "apiservice",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
        subresources=(
            Subresource("status", "apiregistration.k8s.io", "v1", "APIService", ("get", "patch", "update")),
        ),
    ),
):
    spec: APIServiceSpec = lazy(APIServiceSpec)
    status: APIServiceStatus = lazy(APIServiceStatus)


class APIServiceList(ObjectList[APIService], item=APIService):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
