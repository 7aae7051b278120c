"""The kinds and types of `admissionregistration.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class ApplyConfiguration(Model):
    expression: str | None = None


class AuditAnnotation(Model):
    key: str = field(default_factory=str)
    value_expression: str = field(default_factory=str)


class ExpressionWarning(Model):
    field_ref: str = field(default_factory=str)
    warning: str = field(default_factory=str)


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


class WebhookClientConfig(Model):
    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: bytes | None = None


class MutatingWebhook(Model):
    name: str = field(default_factory=str)
    client_config: WebhookClientConfig = field(default_factory=WebhookClientConfig)
    rules: list[RuleWithOperations] = field(default_factory=list)
    failure_policy: str | None = None
    match_policy: str | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    side_effects: str = field(default_factory=str)
    timeout_seconds: int | None = None
    admission_review_versions: list[str] = field(default_factory=required_list)
    reinvocation_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)


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


class RuleWithOperations(Model):
    operations: list[str] = field(default_factory=list)
    api_groups: list[str] = field(default_factory=list)
    api_versions: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    scope: str | None = None


class ServiceReference(Model):
    namespace: str = field(default_factory=str)
    name: str = field(default_factory=str)
    path: str | None = None
    port: int | None = None


class TypeChecking(Model):
    expression_warnings: list[ExpressionWarning] = field(default_factory=list)


class ValidatingAdmissionPolicyBindingSpec(Model):
    policy_name: str = field(default_factory=str)
    param_ref: ParamRef | None = None
    match_resources: MatchResources | None = None
    validation_actions: list[str] = field(default_factory=required_list)


class ValidatingAdmissionPolicySpec(Model):
    param_kind: ParamKind | None = None
    match_constraints: MatchResources | None = None
    validations: list[Validation] = field(default_factory=list)
    failure_policy: str | None = None
    audit_annotations: list[AuditAnnotation] = field(default_factory=list)
    match_conditions: list[MatchCondition] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)


class ValidatingAdmissionPolicyStatus(Model):
    observed_generation: int | None = None
    type_checking: TypeChecking | None = None
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class ValidatingWebhook(Model):
    name: str = field(default_factory=str)
    client_config: WebhookClientConfig = field(default_factory=WebhookClientConfig)
    rules: list[RuleWithOperations] = field(default_factory=list)
    failure_policy: str | None = None
    match_policy: str | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    side_effects: str = field(default_factory=str)
    timeout_seconds: int | None = None
    admission_review_versions: list[str] = field(default_factory=required_list)
    match_conditions: list[MatchCondition] = field(default_factory=list)


class Validation(Model):
    expression: str = field(default_factory=str)
    message: str | None = None
    reason: str | None = None
    message_expression: str | None = None


class Variable(Model):
    name: str = field(default_factory=str)
    expression: str = field(default_factory=str)


class MutatingAdmissionPolicy(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", "mutatingadmissionpolicy",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    spec: MutatingAdmissionPolicySpec = lazy(MutatingAdmissionPolicySpec)


class MutatingAdmissionPolicyBinding(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    spec: MutatingAdmissionPolicyBindingSpec = lazy(MutatingAdmissionPolicyBindingSpec)


class MutatingWebhookConfiguration(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    webhooks: list[MutatingWebhook] = lazy(list[MutatingWebhook])


class ValidatingAdmissionPolicy(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", "validatingadmissionpolicy",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
        subresources=(
            Subresource("status", "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", ("get", "patch", "update")),
        ),
    ),
):
    spec: ValidatingAdmissionPolicySpec = lazy(ValidatingAdmissionPolicySpec)
    status: ValidatingAdmissionPolicyStatus = lazy(ValidatingAdmissionPolicyStatus)


class ValidatingAdmissionPolicyBinding(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    spec: ValidatingAdmissionPolicyBindingSpec = lazy(ValidatingAdmissionPolicyBindingSpec)


class ValidatingWebhookConfiguration(
    Object,
    resource=Resource(
        "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "validatingwebhookconfiguration",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("api-extensions",),
    ),
):
    webhooks: list[ValidatingWebhook] = lazy(list[ValidatingWebhook])


class MutatingAdmissionPolicyBindingList(ObjectList[MutatingAdmissionPolicyBinding], item=MutatingAdmissionPolicyBinding):
    """A list of objects, as returned by one request."""


class MutatingAdmissionPolicyList(ObjectList[MutatingAdmissionPolicy], item=MutatingAdmissionPolicy):
    """A list of objects, as returned by one request."""


class MutatingWebhookConfigurationList(ObjectList[MutatingWebhookConfiguration], item=MutatingWebhookConfiguration):
    """A list of objects, as returned by one request."""


class ValidatingAdmissionPolicyBindingList(ObjectList[ValidatingAdmissionPolicyBinding], item=ValidatingAdmissionPolicyBinding):
    """A list of objects, as returned by one request."""


class ValidatingAdmissionPolicyList(ObjectList[ValidatingAdmissionPolicy], item=ValidatingAdmissionPolicy):
    """A list of objects, as returned by one request."""


class ValidatingWebhookConfigurationList(ObjectList[ValidatingWebhookConfiguration], item=ValidatingWebhookConfiguration):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
