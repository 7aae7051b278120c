"""The kinds and types of `admissionregistration.k8s.io/v1alpha1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class ApplyConfiguration(Model):
    expression: str | None = None


class JSONPatch(Model):
    expression: str | None = None


class MatchCondition(Model):
    name: str = field(default_factory=str)
    expression: str = field(default_factory=str)


class MatchResources(Model):
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    resource_rules: list[NamedRuleWithOperations] = field(default_factory=list)
    exclude_resource_rules: list[NamedRuleWithOperations] = field(default_factory=list)
    match_policy: str | None = None


class MutatingAdmissionPolicyBindingSpec(Model):
    policy_name: str | None = None
    param_ref: ParamRef | None = None
    match_resources: MatchResources | None = None


class MutatingAdmissionPolicySpec(Model):
    param_kind: ParamKind | None = None
    match_constraints: MatchResources | None = None
    variables: list[Variable] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)
    reinvocation_policy: str | None = None


class Mutation(Model):
    patch_type: str = field(default_factory=str)
    apply_configuration: ApplyConfiguration | None = None
    json_patch: JSONPatch | None = None


class NamedRuleWithOperations(Model):
    resource_names: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    api_groups: list[str] = field(default_factory=list)
    api_versions: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    scope: str | None = None


class ParamKind(Model):
    api_version: str | None = None
    kind: str | None = None


class ParamRef(Model):
    name: str | None = None
    namespace: str | None = None
    selector: meta_v1.LabelSelector | None = None
    parameter_not_found_action: str | None = None


class Variable(Model):
    name: str = field(default_factory=str)
    expression: str = field(default_factory=str)


class MutatingAdmissionPolicy(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1alpha1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", "mutatingadmissionpolicy",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    spec: MutatingAdmissionPolicySpec = lazy(MutatingAdmissionPolicySpec)


class MutatingAdmissionPolicyBinding(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1alpha1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    spec: MutatingAdmissionPolicyBindingSpec = lazy(MutatingAdmissionPolicyBindingSpec)


class MutatingAdmissionPolicyBindingList(ObjectList[MutatingAdmissionPolicyBinding], item=MutatingAdmissionPolicyBinding):
    """A list of objects, as returned by one request."""


class MutatingAdmissionPolicyList(ObjectList[MutatingAdmissionPolicy], item=MutatingAdmissionPolicy):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
