"""The kinds and types of `batch/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import core_v1, meta_v1, scheduling_v1alpha3
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class JobSpec(Model):
    parallelism: int | None = None
    completions: int | None = None
    active_deadline_seconds: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    selector: meta_v1.LabelSelector | None = None
    manual_selector: bool | None = None
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    ttl_seconds_after_finished: int | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    pod_replacement_policy: str | None = None
    managed_by: str | None = None
    scheduling: JobSchedulingConfiguration | None = None


class JobTemplateSpec(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: JobSpec = field(default_factory=JobSpec)


class CronJobSpec(Model):
    schedule: str = field(default_factory=str)
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str | None = None
    suspend: bool | None = None
    job_template: JobTemplateSpec = field(default_factory=JobTemplateSpec)
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None


class CronJobStatus(Model):
    active: list[core_v1.ObjectReference] = field(default_factory=list)
    last_schedule_time: datetime | None = None
    last_successful_time: datetime | None = None


class JobCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class JobSchedulingConfiguration(Model):
    scheduling_policy: scheduling_v1alpha3.WorkloadPodGroupSchedulingPolicy | None = None
    scheduling_constraints: scheduling_v1alpha3.WorkloadPodGroupSchedulingConstraints | None = None
    disruption_mode: scheduling_v1alpha3.WorkloadPodGroupDisruptionMode | None = None
    resource_claims: list[scheduling_v1alpha3.WorkloadPodGroupResourceClaim] = field(default_factory=list)


class JobStatus(Model):
    conditions: list[JobCondition] = field(default_factory=list)
    start_time: datetime | None = None
    completion_time: datetime | None = None
    active: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    terminating: int | None = None
    completed_indexes: str | None = None
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: int | None = None


class PodFailurePolicy(Model):
    rules: list[PodFailurePolicyRule] = field(default_factory=required_list)


class PodFailurePolicyOnExitCodesRequirement(Model):
    container_name: str | None = None
    operator: str = field(default_factory=str)
    values: list[int] = field(default_factory=required_list)


class PodFailurePolicyOnPodConditionsPattern(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)


class PodFailurePolicyRule(Model):
    action: str = field(default_factory=str)
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: list[PodFailurePolicyOnPodConditionsPattern] = field(default_factory=list)


class SuccessPolicy(Model):
    rules: list[SuccessPolicyRule] = field(default_factory=required_list)


class SuccessPolicyRule(Model):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class UncountedTerminatedPods(Model):
    succeeded: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class CronJob(
    Object,
    resource=Resource(
        "batch", "v1", "CronJob", "cronjobs", "cronjob",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("cj",),
        categories=("all",),
        subresources=(
            Subresource("status", "batch", "v1", "CronJob", ("get", "patch", "update")),
        ),
    ),
):
    spec: CronJobSpec = lazy(CronJobSpec)
    status: CronJobStatus = lazy(CronJobStatus)


class Job(
    Object,
    resource=Resource(
        "batch", "v1", "Job", "jobs", "job",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        categories=("all",),
        subresources=(
            Subresource("status", "batch", "v1", "Job", ("get", "patch", "update")),
        ),
    ),
):
    spec: JobSpec = lazy(JobSpec)
    status: JobStatus = lazy(JobStatus)


class CronJobList(ObjectList[CronJob], item=CronJob):
    """A list of objects, as returned by one request."""


class JobList(ObjectList[Job], item=Job):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
