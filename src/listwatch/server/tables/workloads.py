"""The tables of workloads, except pods."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import flag_at, integer_at, objects_at, text_at, value_at
from listwatch.server.tables.cells import (
    NONE,
    UNSET,
    condition_type,
    count,
    fraction,
    images,
    labels,
    limited,
    names,
    number,
    of,
    present,
    quantity_text,
    reference,
    selector,
    since,
    text,
)
from listwatch.server.tables.columns import AGE, NAME, Column, FieldOfType, Table, described, wide
from listwatch.server.tables.durations import UNKNOWN, duration_text, seconds_between
from listwatch.server.tables.pods import PODS

__all__ = ["WORKLOADS"]


def _template(path: str) -> tuple[Column, Column]:
    containers = f"{path}.spec.containers"
    return (
        wide("Containers", names(containers), "Names of each container in the template."),
        wide("Images", images(containers), "Images referenced by each container in the template."),
    )


def _replicas(package: str, kind: str) -> tuple[Column, ...]:
    """Return the columns of a kind that keeps a number of equal pods."""
    return (
        NAME,
        Column("Desired", number("spec.replicas"), described(f"{package}.{kind}Spec.replicas"), "integer"),
        Column("Current", number("status.replicas"), described(f"{package}.{kind}Status.replicas"), "integer"),
        Column("Ready", number("status.readyReplicas"), described(f"{package}.{kind}Status.readyReplicas"), "integer"),
        AGE,
        *_template("spec.template"),
    )


# --- Jobs -------------------------------------------------------------------------------------------------------------


def _job_status(job: JSONObject) -> str:
    if ended := condition_type(job, ("Complete", "Failed"), ""):
        return ended
    if value_at(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    return condition_type(job, ("Suspended", "FailureTarget", "SuccessCriteriaMet"), "Running")


def _job_completions(job: JSONObject) -> str:
    succeeded, completions = integer_at(job, "status", "succeeded"), value_at(job, "spec", "completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = integer_at(job, "spec", "parallelism")
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: JSONObject, now: datetime) -> JSON:
    start, end = text_at(job, "status", "startTime"), text_at(job, "status", "completionTime")
    return duration_text(seconds_between(start, end or now)) if start else ""


def _suspended(cron_job: JSONObject) -> str:
    found = value_at(cron_job, "spec", "suspend")
    return str(found) if isinstance(found, bool) else UNSET


# --- Controller revisions ---------------------------------------------------------------------------------------------


def _controller(revision: JSONObject) -> str:
    owners = objects_at(revision, "metadata", "ownerReferences")
    owner = next((each for each in owners if flag_at(each, "controller")), None)
    if owner is None:
        return NONE
    group = text_at(owner, "apiVersion").rpartition("/")[0]
    kind = f"{text_at(owner, 'kind')}.{group}" if group else text_at(owner, "kind")
    return f"{kind.lower()}/{text_at(owner, 'name')}"


# --- Autoscalers ------------------------------------------------------------------------------------------------------

_MAX_METRICS = 2
_SOURCES: Mapping[JSON, str] = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metrics(autoscaler: JSONObject) -> str:
    specs, statuses = objects_at(autoscaler, "spec", "metrics"), objects_at(autoscaler, "status", "currentMetrics")
    pairs = [(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs)]
    return limited([_metric(spec, status) for spec, status in pairs], _MAX_METRICS, separator=", ") or NONE


def _metric(spec: JSONObject, status: JSONObject) -> str:
    """Return the current and the target value of a metric; each type prefers one of several kinds of values."""
    source = _SOURCES.get(spec.get("type"))
    if source is None:
        return "<unknown type>"
    target, current = value_at(spec, source, "target"), value_at(status, source, "current")
    average = value_at(target, "averageValue")
    match source:
        case "pods":
            return f"{_current(current, 'averageValue')}/{quantity_text(average, '<nil>')}"
        case "external" | "object" if average is not None:
            shown = quantity_text(value_at(current, "averageValue"), UNKNOWN)
            return f"{shown}/{quantity_text(average, '<nil>')} (avg)"
        case "external" | "object":
            return f"{_current(current, 'value')}/{quantity_text(value_at(target, 'value'), '<nil>')}"
    name = text_at(spec, source, "name")
    if average is not None:
        return f"{name}: {_current(current, 'averageValue')}/{quantity_text(average, '<nil>')}"
    used, wanted = (value_at(each, "averageUtilization") for each in (current, target))
    return f"{name}: {UNKNOWN if used is None else f'{used}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _current(current: JSON, name: str) -> str:
    return UNKNOWN if current is None else quantity_text(value_at(current, name), "<nil>")


# --- Tables -----------------------------------------------------------------------------------------------------------

_JOB_SELECTOR = described("batch.v1.JobSpec.selector")


def _autoscaler_field(name: str) -> FieldOfType:
    return described(f"autoscaling.v2.HorizontalPodAutoscaler{name}")


WORKLOADS: Mapping[tuple[str, str], Table] = {
    ("", "Pod"): PODS,
    ("", "PodTemplate"): Table(
        NAME,
        Column("Containers", names("template.spec.containers"), "Names of each container in the template."),
        Column("Images", images("template.spec.containers"), "Images referenced by each container in the template."),
        Column("Pod Labels", labels("template.metadata.labels"), "The labels for the pod template."),
    ),
    ("", "ReplicationController"): Table(
        *_replicas("core.v1", "ReplicationController"),
        wide("Selector", labels("spec.selector"), described("core.v1.ReplicationControllerSpec.selector")),
    ),
    ("apps", "ReplicaSet"): Table(
        *_replicas("apps.v1", "ReplicaSet"),
        wide("Selector", selector("spec.selector"), described("apps.v1.ReplicaSetSpec.selector")),
    ),
    ("apps", "Deployment"): Table(
        NAME,
        Column("Ready", fraction("status.readyReplicas", "spec.replicas"), "Number of the pod with ready state"),
        Column("Up-to-date", number("status.updatedReplicas"), described("apps.v1.DeploymentStatus.updatedReplicas")),
        Column(
            "Available", number("status.availableReplicas"), described("apps.v1.DeploymentStatus.availableReplicas")
        ),
        AGE,
        *_template("spec.template"),
        wide(
            "Selector",
            selector("spec.selector", empty="", invalid="<invalid>"),
            described("apps.v1.DeploymentSpec.selector"),
        ),
    ),
    ("apps", "StatefulSet"): Table(
        NAME,
        Column("Ready", fraction("status.readyReplicas", "spec.replicas"), "Number of the pod with ready state"),
        AGE,
        *_template("spec.template"),
    ),
    ("apps", "DaemonSet"): Table(
        NAME,
        *(
            Column(name, number(f"status.{field}"), described(f"apps.v1.DaemonSetStatus.{field}"), "integer")
            for name, field in (
                ("Desired", "desiredNumberScheduled"),
                ("Current", "currentNumberScheduled"),
                ("Ready", "numberReady"),
                ("Up-to-date", "updatedNumberScheduled"),
                ("Available", "numberAvailable"),
            )
        ),
        Column("Node Selector", labels("spec.template.spec.nodeSelector"), described("core.v1.PodSpec.nodeSelector")),
        AGE,
        *_template("spec.template"),
        wide("Selector", selector("spec.selector"), described("apps.v1.DaemonSetSpec.selector")),
    ),
    ("apps", "ControllerRevision"): Table(
        NAME,
        Column("Controller", of(_controller), "Controller of the object"),
        Column("Revision", number("revision"), described("apps.v1.ControllerRevision.revision")),
        AGE,
    ),
    ("batch", "Job"): Table(
        NAME,
        Column("Status", of(_job_status), "Status of the job."),
        Column("Completions", of(_job_completions), described("batch.v1.JobStatus.succeeded")),
        Column("Duration", _job_duration, "Time required to complete the job."),
        AGE,
        *_template("spec.template"),
        wide("Selector", selector("spec.selector"), _JOB_SELECTOR),
    ),
    ("batch", "CronJob"): Table(
        NAME,
        Column("Schedule", text("spec.schedule"), described("batch.v1.CronJobSpec.schedule")),
        Column("Timezone", present("spec.timeZone", NONE), described("batch.v1.CronJobSpec.timeZone")),
        Column("Suspend", of(_suspended), described("batch.v1.CronJobSpec.suspend"), "boolean"),
        Column("Active", count("status.active"), described("batch.v1.CronJobStatus.active"), "integer"),
        Column(
            "Last Schedule",
            since("status.lastScheduleTime", NONE),
            described("batch.v1.CronJobStatus.lastScheduleTime"),
        ),
        AGE,
        *_template("spec.jobTemplate.spec.template"),
        wide("Selector", selector("spec.jobTemplate.spec.selector"), _JOB_SELECTOR),
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Table(
        NAME,
        Column("Reference", reference("spec.scaleTargetRef"), _autoscaler_field("Spec.scaleTargetRef")),
        Column("Targets", of(_metrics), _autoscaler_field("Spec.metrics")),
        Column("MinPods", present("spec.minReplicas"), _autoscaler_field("Spec.minReplicas")),
        Column("MaxPods", number("spec.maxReplicas"), _autoscaler_field("Spec.maxReplicas")),
        Column("Replicas", number("status.currentReplicas"), _autoscaler_field("Status.currentReplicas")),
        AGE,
    ),
    ("autoscaling", "Scale"): Table(
        Column("Name", text("metadata.name"), NAME.description),
        Column("Desired", number("spec.replicas"), described("autoscaling.v1.ScaleSpec.replicas"), "integer"),
        Column("Available", number("status.replicas"), described("autoscaling.v1.ScaleStatus.replicas"), "integer"),
        AGE,
    ),
    ("policy", "PodDisruptionBudget"): Table(
        NAME,
        Column(
            "Min Available",
            present("spec.minAvailable", "N/A"),
            "The minimum number of pods that must be available.",
        ),
        Column(
            "Max Unavailable",
            present("spec.maxUnavailable", "N/A"),
            "The maximum number of pods that may be unavailable.",
        ),
        Column(
            "Allowed Disruptions",
            number("status.disruptionsAllowed"),
            "Calculated number of pods that may be disrupted at this time.",
            "integer",
        ),
        AGE,
    ),
}
