"""The kinds and types of `node.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import core_v1
from listwatch.objects.declarations.model import Model, Quantity
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class Overhead(Model):
    pod_fixed: dict[str, Quantity] = field(default_factory=dict)


class Scheduling(Model):
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: list[core_v1.Toleration] = field(default_factory=list)


class RuntimeClass(
    Object,
    resource=Resource(
        "node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "runtimeclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    handler: str = lazy(str)
    overhead: Overhead | None = lazy(Overhead | None)
    scheduling: Scheduling | None = lazy(Scheduling | None)


class RuntimeClassList(ObjectList[RuntimeClass], item=RuntimeClass):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
