"""The kinds and types of `rbac.authorization.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class AggregationRule(Model):
    cluster_role_selectors: list[meta_v1.LabelSelector] = field(default_factory=list)


class PolicyRule(Model):
    verbs: list[str] = field(default_factory=required_list)
    api_groups: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    resource_names: list[str] = field(default_factory=list)
    non_resource_urls: list[str] = field(default_factory=list, name="nonResourceURLs")


class RoleRef(Model):
    api_group: str = field(default_factory=str)
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)


class Subject(Model):
    kind: str = field(default_factory=str)
    api_group: str | None = None
    name: str = field(default_factory=str)
    namespace: str | None = None


class ClusterRole(
    Object,
    resource=Resource(
        "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "clusterrole",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    aggregation_rule: AggregationRule | None = lazy(AggregationRule | None)
    rules: list[PolicyRule] = lazy(list[PolicyRule])


class ClusterRoleBinding(
    Object,
    resource=Resource(
        "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    role_ref: RoleRef = lazy(RoleRef)
    subjects: list[Subject] = lazy(list[Subject])


class Role(
    Object,
    resource=Resource(
        "rbac.authorization.k8s.io", "v1", "Role", "roles", "role",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    rules: list[PolicyRule] = lazy(list[PolicyRule])


class RoleBinding(
    Object,
    resource=Resource(
        "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "rolebinding",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    role_ref: RoleRef = lazy(RoleRef)
    subjects: list[Subject] = lazy(list[Subject])


class ClusterRoleBindingList(ObjectList[ClusterRoleBinding], item=ClusterRoleBinding):
    """A list of objects, as returned by one request."""


class ClusterRoleList(ObjectList[ClusterRole], item=ClusterRole):
    """A list of objects, as returned by one request."""


class RoleBindingList(ObjectList[RoleBinding], item=RoleBinding):
    """A list of objects, as returned by one request."""


class RoleList(ObjectList[Role], item=Role):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
