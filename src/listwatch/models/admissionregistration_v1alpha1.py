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
    expression: str = field(default_factory=str)
    name: str = field(default_factory=str)


class MatchResources(Model):
    exclude_resource_rules: list[NamedRuleWithOperations] = field(default_factory=list)
    match_policy: str | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    resource_rules: list[NamedRuleWithOperations] = field(default_factory=list)


class MutatingAdmissionPolicyBindingSpec(Model):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str | None = None


class MutatingAdmissionPolicySpec(Model):
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)
    match_constraints: MatchResources | None = None
    mutations: list[Mutation] = field(default_factory=list)
    param_kind: ParamKind | None = None
    reinvocation_policy: str | None = None
    variables: list[Variable] = field(default_factory=list)


class Mutation(Model):
    apply_configuration: ApplyConfiguration | None = None
    json_patch: JSONPatch | None = None
    patch_type: str = field(default_factory=str)


class NamedRuleWithOperations(Model):
    api_groups: list[str] = field(default_factory=list)
    api_versions: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    resource_names: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    scope: str | None = None


class ParamKind(Model):
    api_version: str | None = None
    kind: str | None = None


class ParamRef(Model):
    name: str | None = None
    namespace: str | None = None
    parameter_not_found_action: str | None = None
    selector: meta_v1.LabelSelector | None = None


class Variable(Model):
    expression: str = field(default_factory=str)
    name: str = field(default_factory=str)


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
