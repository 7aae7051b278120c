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
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class APIServiceSpec(Model):
    service: ServiceReference | None = None
    group: str | None = None
    version: str | None = None
    insecure_skip_tls_verify: bool | None = field(default=None, name="insecureSkipTLSVerify")
    ca_bundle: bytes | None = None
    group_priority_minimum: int = field(default_factory=int)
    version_priority: int = field(default_factory=int)


class APIServiceStatus(Model):
    conditions: list[APIServiceCondition] = field(default_factory=list)


class ServiceReference(Model):
    namespace: str | None = None
    name: str | None = None
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
