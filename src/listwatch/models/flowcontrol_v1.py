"""The kinds and types of `flowcontrol.apiserver.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch.meta import Resource, Subresource
from listwatch.objects.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class ExemptPriorityLevelConfiguration(Model, kw_only=True):
    lendable_percent: int | None = None
    nominal_concurrency_shares: int | None = None


class FlowDistinguisherMethod(Model, kw_only=True):
    type: str = field(default_factory=str)


class FlowSchemaCondition(Model, kw_only=True):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str = field(default_factory=str)


class PriorityLevelConfigurationReference(Model, kw_only=True):
    name: str = field(default_factory=str)


class FlowSchemaSpec(Model, kw_only=True):
    distinguisher_method: FlowDistinguisherMethod | None = None
    matching_precedence: int = field(default_factory=int)
    priority_level_configuration: PriorityLevelConfigurationReference = field(default_factory=PriorityLevelConfigurationReference)
    rules: list[PolicyRulesWithSubjects] = field(default_factory=list)


class FlowSchemaStatus(Model, kw_only=True):
    conditions: list[FlowSchemaCondition] = field(default_factory=list)


class GroupSubject(Model, kw_only=True):
    name: str = field(default_factory=str)


class LimitResponse(Model, kw_only=True):
    queuing: QueuingConfiguration | None = None
    type: str = field(default_factory=str)


class LimitedPriorityLevelConfiguration(Model, kw_only=True):
    borrowing_limit_percent: int | None = None
    lendable_percent: int | None = None
    limit_response: LimitResponse = field(default_factory=LimitResponse)
    nominal_concurrency_shares: int | None = None


class NonResourcePolicyRule(Model, kw_only=True):
    non_resource_urls: list[str] = field(default_factory=required_list, name="nonResourceURLs")
    verbs: list[str] = field(default_factory=required_list)


class PolicyRulesWithSubjects(Model, kw_only=True):
    non_resource_rules: list[NonResourcePolicyRule] = field(default_factory=list)
    resource_rules: list[ResourcePolicyRule] = field(default_factory=list)
    subjects: list[Subject] = field(default_factory=required_list)


class PriorityLevelConfigurationCondition(Model, kw_only=True):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str | None = None
    type: str = field(default_factory=str)


class PriorityLevelConfigurationSpec(Model, kw_only=True):
    exempt: ExemptPriorityLevelConfiguration | None = None
    limited: LimitedPriorityLevelConfiguration | None = None
    type: str = field(default_factory=str)


class PriorityLevelConfigurationStatus(Model, kw_only=True):
    conditions: list[PriorityLevelConfigurationCondition] = field(default_factory=list)


class QueuingConfiguration(Model, kw_only=True):
    hand_size: int = field(default_factory=int)
    queue_length_limit: int = field(default_factory=int)
    queues: int = field(default_factory=int)


class ResourcePolicyRule(Model, kw_only=True):
    api_groups: list[str] = field(default_factory=required_list)
    cluster_scope: bool | None = None
    namespaces: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=required_list)
    verbs: list[str] = field(default_factory=required_list)


class ServiceAccountSubject(Model, kw_only=True):
    name: str = field(default_factory=str)
    namespace: str = field(default_factory=str)


class Subject(Model, kw_only=True):
    group: GroupSubject | None = None
    kind: str = field(default_factory=str)
    service_account: ServiceAccountSubject | None = None
    user: UserSubject | None = None


class UserSubject(Model, kw_only=True):
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
