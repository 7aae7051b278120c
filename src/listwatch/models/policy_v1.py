"""The kinds and types of `policy/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import GroupVersionKind, Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class PodDisruptionBudgetSpec(Model):
    min_available: int | str | None = None
    selector: meta_v1.LabelSelector | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Model):
    observed_generation: int | None = None
    disrupted_pods: dict[str, datetime] = field(default_factory=dict)
    disruptions_allowed: int = field(default_factory=int)
    current_healthy: int = field(default_factory=int)
    desired_healthy: int = field(default_factory=int)
    expected_pods: int = field(default_factory=int)
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class Eviction(
    Object,
    gvk=GroupVersionKind("policy", "v1", "Eviction"),
):
    delete_options: meta_v1.DeleteOptions | None = lazy(meta_v1.DeleteOptions | None)


class PodDisruptionBudget(
    Object,
    resource=Resource(
        "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("pdb",),
        subresources=(
            Subresource("status", "policy", "v1", "PodDisruptionBudget", ("get", "patch", "update")),
        ),
    ),
):
    spec: PodDisruptionBudgetSpec = lazy(PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = lazy(PodDisruptionBudgetStatus)


class PodDisruptionBudgetList(ObjectList[PodDisruptionBudget], item=PodDisruptionBudget):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
