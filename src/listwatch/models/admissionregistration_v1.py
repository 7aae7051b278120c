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


class WebhookClientConfig(Model):
    ca_bundle: bytes | None = None
    service: ServiceReference | None = None
    url: str | None = None


class MutatingWebhook(Model):
    admission_review_versions: list[str] = field(default_factory=required_list)
    client_config: WebhookClientConfig = field(default_factory=WebhookClientConfig)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)
    match_policy: str | None = None
    name: str = field(default_factory=str)
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    reinvocation_policy: str | None = None
    rules: list[RuleWithOperations] = field(default_factory=list)
    side_effects: str = field(default_factory=str)
    timeout_seconds: int | None = None


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


class RuleWithOperations(Model):
    api_groups: list[str] = field(default_factory=list)
    api_versions: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    scope: str | None = None


class ServiceReference(Model):
    name: str = field(default_factory=str)
    namespace: str = field(default_factory=str)
    path: str | None = None
    port: int | None = None


class TypeChecking(Model):
    expression_warnings: list[ExpressionWarning] = field(default_factory=list)


class ValidatingAdmissionPolicyBindingSpec(Model):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str = field(default_factory=str)
    validation_actions: list[str] = field(default_factory=required_list)


class ValidatingAdmissionPolicySpec(Model):
    audit_annotations: list[AuditAnnotation] = field(default_factory=list)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)
    match_constraints: MatchResources | None = None
    param_kind: ParamKind | None = None
    validations: list[Validation] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)


class ValidatingAdmissionPolicyStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    observed_generation: int | None = None
    type_checking: TypeChecking | None = None


class ValidatingWebhook(Model):
    admission_review_versions: list[str] = field(default_factory=required_list)
    client_config: WebhookClientConfig = field(default_factory=WebhookClientConfig)
    failure_policy: str | None = None
    match_conditions: list[MatchCondition] = field(default_factory=list)
    match_policy: str | None = None
    name: str = field(default_factory=str)
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    rules: list[RuleWithOperations] = field(default_factory=list)
    side_effects: str = field(default_factory=str)
    timeout_seconds: int | None = None


class Validation(Model):
    expression: str = field(default_factory=str)
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None


class Variable(Model):
    expression: str = field(default_factory=str)
    name: str = field(default_factory=str)


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
