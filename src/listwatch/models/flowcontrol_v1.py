"""The kinds and types of `flowcontrol.apiserver.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class ExemptPriorityLevelConfiguration(Model):
    nominal_concurrency_shares: int | None = None
    lendable_percent: int | None = None


class FlowDistinguisherMethod(Model):
    type: str = field(default_factory=str)


class FlowSchemaCondition(Model):
    type: str = field(default_factory=str)
    status: str | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class PriorityLevelConfigurationReference(Model):
    name: str = field(default_factory=str)


class FlowSchemaSpec(Model):
    priority_level_configuration: PriorityLevelConfigurationReference = field(default_factory=PriorityLevelConfigurationReference)
    matching_precedence: int = field(default_factory=int)
    distinguisher_method: FlowDistinguisherMethod | None = None
    rules: list[PolicyRulesWithSubjects] = field(default_factory=list)


class FlowSchemaStatus(Model):
    conditions: list[FlowSchemaCondition] = field(default_factory=list)


class GroupSubject(Model):
    name: str = field(default_factory=str)


class LimitResponse(Model):
    type: str = field(default_factory=str)
    queuing: QueuingConfiguration | None = None


class LimitedPriorityLevelConfiguration(Model):
    nominal_concurrency_shares: int | None = None
    limit_response: LimitResponse = field(default_factory=LimitResponse)
    lendable_percent: int | None = None
    borrowing_limit_percent: int | None = None


class NonResourcePolicyRule(Model):
    verbs: list[str] = field(default_factory=required_list)
    non_resource_urls: list[str] = field(default_factory=required_list, name="nonResourceURLs")


class PolicyRulesWithSubjects(Model):
    subjects: list[Subject] = field(default_factory=required_list)
    resource_rules: list[ResourcePolicyRule] = field(default_factory=list)
    non_resource_rules: list[NonResourcePolicyRule] = field(default_factory=list)


class PriorityLevelConfigurationCondition(Model):
    type: str = field(default_factory=str)
    status: str | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class PriorityLevelConfigurationSpec(Model):
    type: str = field(default_factory=str)
    limited: LimitedPriorityLevelConfiguration | None = None
    exempt: ExemptPriorityLevelConfiguration | None = None


class PriorityLevelConfigurationStatus(Model):
    conditions: list[PriorityLevelConfigurationCondition] = field(default_factory=list)


class QueuingConfiguration(Model):
    queues: int = field(default_factory=int)
    hand_size: int = field(default_factory=int)
    queue_length_limit: int = field(default_factory=int)


class ResourcePolicyRule(Model):
    verbs: list[str] = field(default_factory=required_list)
    api_groups: list[str] = field(default_factory=required_list)
    resources: list[str] = field(default_factory=required_list)
    cluster_scope: bool | None = None
    namespaces: list[str] = field(default_factory=list)


class ServiceAccountSubject(Model):
    namespace: str = field(default_factory=str)
    name: str = field(default_factory=str)


class Subject(Model):
    kind: str = field(default_factory=str)
    user: UserSubject | None = None
    group: GroupSubject | None = None
    service_account: ServiceAccountSubject | None = None


class UserSubject(Model):
    name: str = field(default_factory=str)


class FlowSchema(
    Object,
    resource=Resource(
        "flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", "flowschema",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", ("get", "patch", "update")),
        ),
    ),
):
    spec: FlowSchemaSpec = lazy(FlowSchemaSpec)
    status: FlowSchemaStatus = lazy(FlowSchemaStatus)


class PriorityLevelConfiguration(
    Object,
    resource=Resource(
        "flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", "prioritylevelconfiguration",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration", ("get", "patch", "update")),
        ),
    ),
):
    spec: PriorityLevelConfigurationSpec = lazy(PriorityLevelConfigurationSpec)
    status: PriorityLevelConfigurationStatus = lazy(PriorityLevelConfigurationStatus)


class FlowSchemaList(ObjectList[FlowSchema], item=FlowSchema):
    """A list of objects, as returned by one request."""


class PriorityLevelConfigurationList(ObjectList[PriorityLevelConfiguration], item=PriorityLevelConfiguration):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
