"""The kinds and types of `scheduling.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class PriorityClass(
    Object,
    resource=Resource(
        "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("pc",),
    ),
):
    description: str | None = lazy(str | None)
    global_default: bool | None = lazy(bool | None)
    preemption_policy: str | None = lazy(str | None)
    value: int = lazy(int)


class PriorityClassList(ObjectList[PriorityClass], item=PriorityClass):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
