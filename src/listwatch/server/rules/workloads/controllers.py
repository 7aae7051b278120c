"""Rules for the workload controllers that keep pods running: Deployment, ReplicaSet, DaemonSet, StatefulSet.

`pods` has the rules for their templates.
"""

from __future__ import annotations

from listwatch.errors import StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    at_least,
    at_nonempty,
    changed,
    dns_label,
    each,
    field_path,
    formatted,
    immutable,
    not_negative,
    one_of,
    percent,
    percentage,
    require_fields,
)
from listwatch.server.rules.metadata import selector, selects
from listwatch.server.rules.storage import PERSISTENT_VOLUME_CLAIM
from listwatch.server.rules.workloads.pods import POD_TEMPLATE

__all__ = [
    "CONTROLLER_REVISION",
    "DAEMON_SET",
    "DEPLOYMENT",
    "DEPLOYMENT_STATUS",
    "NEW_STATEFUL_SET",
    "REPLICATION_CONTROLLER",
    "REPLICA_SET",
    "REPLICA_SET_STATUS",
    "STATEFUL_SET",
    "STATEFUL_SET_STATUS",
    "count_or_percent_up_to_100",
    "revision_update",
    "stateful_set_update",
    "template_selector",
]


# --- selectors and templates -----------------------------------------------------------------------------------------


def template_selector(kind: str, *, is_required: bool = True) -> Check:
    """The selector must be set, not be empty, and match the labels of the template."""

    def check(spec: JSONObject, path: str) -> Causes:
        field, value = f"{path}.selector", spec.get("selector")
        if value is None and is_required:
            yield required(field)
        causes = list(selector(value or {}, field))
        yield from causes
        if value == {}:
            yield invalid(field, value, f"empty selector is invalid for {kind}")
        elif causes:
            yield invalid(field, value, "invalid label selector")
        elif value is None or not selects(value, object_at(_template_labels(spec))):
            yield _mismatch(spec, path)

    return check


def _mismatch(spec: JSONObject, path: str) -> StatusCause:
    return invalid(
        f"{path}.template.metadata.labels", _template_labels(spec), "`selector` does not match template `labels`"
    )


def _template_labels(spec: JSONObject) -> JSON:
    return value_at(spec, "template", "metadata", "labels")


def _runs_forever(kind: str) -> Check:
    def check(spec: JSONObject, path: str) -> Causes:
        policy = value_at(spec, "template", "spec", "restartPolicy")
        if policy in ("OnFailure", "Never"):
            yield not_supported(f"{path}.template.spec.restartPolicy", policy, ["Always"])
        if value_at(spec, "template", "spec", "activeDeadlineSeconds") is not None:
            detail = f"activeDeadlineSeconds in {kind} is not Supported"
            yield forbidden(f"{path}.template.spec.activeDeadlineSeconds", detail)

    return check


_TEMPLATE = all_of(at("template", POD_TEMPLATE), _runs_forever("ReplicaSet"))


def _stateful_set_template(spec: JSONObject, path: str) -> Causes:
    """The template with what its controller sets: the volumes of the claims, no subdomain and no hostname."""
    template = object_at(spec, "template")
    pod = {name: value for name, value in object_at(template, "spec").items() if name not in ("subdomain", "hostname")}
    claims = dict.fromkeys(text_at(each, "metadata", "name") for each in objects_at(spec, "volumeClaimTemplates"))
    if claims:
        # Of two claims with the same name, and of volumes with the name of a claim, one is left.
        volumes: list[JSON] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        others = [each for each in objects_at(pod, "volumes") if text_at(each, "name") not in claims]
        pod["volumes"] = [*volumes, *others]
    yield from POD_TEMPLATE({**template, "spec": pod}, f"{path}.template")


# --- rolling updates -------------------------------------------------------------------------------------------------


def _count_or_percent(value: int | str, path: str) -> Causes:
    if isinstance(value, str):
        yield from formatted(percent)(value, path)
    else:
        yield from at_least(0)(value, path)


def count_or_percent_up_to_100(value: int | str, path: str) -> Causes:
    yield from _count_or_percent(value, path)
    if (percentage(value) or 0) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def _is_zero(value: JSON) -> bool:
    return value == 0 or percentage(value) == 0


def _deployment_strategy(strategy: JSONObject, path: str) -> Causes:
    rolling = object_at(strategy, "rollingUpdate")
    match strategy.get("type"):
        case "Recreate":
            if "rollingUpdate" in strategy:
                yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
        case "RollingUpdate":
            yield from _ROLLING(rolling, f"{path}.rollingUpdate")
            if rolling and _is_zero(rolling["maxUnavailable"]) and _is_zero(rolling["maxSurge"]):
                field = f"{path}.rollingUpdate.maxUnavailable"
                yield invalid(field, rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
        case _:
            yield not_supported(path, strategy, ("Recreate", "RollingUpdate"))


def _daemon_set_strategy(strategy: JSONObject, path: str) -> Causes:
    if strategy.get("type") not in ("RollingUpdate", "OnDelete"):
        yield not_supported(path, strategy, ("RollingUpdate", "OnDelete"))
    elif "rollingUpdate" in strategy:
        rolling = object_at(strategy, "rollingUpdate")
        field = f"{path}.rollingUpdate"
        yield from _ROLLING(rolling, field)
        unavailable, surge = _is_zero(rolling["maxUnavailable"]), _is_zero(rolling["maxSurge"])
        if unavailable and surge:
            yield required(f"{field}.maxUnavailable", "cannot be 0 when maxSurge is 0")
        elif not unavailable and not surge:
            yield invalid(f"{field}.maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero")


_ROLLING = all_of(at("maxUnavailable", count_or_percent_up_to_100), at("maxSurge", _count_or_percent))


def _stateful_set_strategy(strategy: JSONObject, path: str) -> Causes:
    rolling = object_at(strategy, "rollingUpdate")
    match strategy.get("type"):
        case "OnDelete":
            if "rollingUpdate" in strategy:
                detail = "only allowed for updateStrategy 'RollingUpdate'"
                yield invalid(f"{path}.rollingUpdate", rolling, detail)
        case "RollingUpdate":
            yield from not_negative("partition")(rolling, f"{path}.rollingUpdate")
        case _:
            yield invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")


# --- specs ------------------------------------------------------------------------------------------------------------


def _deadline(spec: JSONObject, path: str) -> Causes:
    deadline = value_at(spec, "progressDeadlineSeconds")
    if isinstance(deadline, int) and deadline <= integer_at(spec, "minReadySeconds"):
        yield invalid(f"{path}.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


DEPLOYMENT = at(
    "spec",
    not_negative("replicas"),
    template_selector("deployment"),
    _TEMPLATE,
    at("strategy", _deployment_strategy),
    not_negative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
    _deadline,
)
REPLICA_SET = at(
    "spec",
    not_negative("replicas", "minReadySeconds"),
    template_selector("deployment"),
    _TEMPLATE,
)
DAEMON_SET = at(
    "spec",
    template_selector("daemonset", is_required=False),
    at("template", POD_TEMPLATE),
    _runs_forever("DaemonSet"),
    not_negative("minReadySeconds"),
    at("updateStrategy", _daemon_set_strategy),
    not_negative("revisionHistoryLimit"),
)


def _pod_management(policy: str, path: str) -> Causes:
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")


_RETENTION = one_of("Retain", "Delete")
STATEFUL_SET = at(
    "spec",
    at("podManagementPolicy", _pod_management),
    at("updateStrategy", _stateful_set_strategy),
    at("persistentVolumeClaimRetentionPolicy", at("whenDeleted", _RETENTION), at("whenScaled", _RETENTION)),
    not_negative("replicas", "minReadySeconds", "ordinals.start"),
    at_nonempty("serviceName", formatted(dns_label)),
    template_selector("statefulset"),
    _stateful_set_template,
    _runs_forever("StatefulSet"),
)
NEW_STATEFUL_SET = at("spec", each("volumeClaimTemplates", PERSISTENT_VOLUME_CLAIM))


def _plain_selector(spec: JSONObject, path: str) -> Causes:
    labels, wanted = object_at(_template_labels(spec)), object_at(spec, "selector")
    if wanted and "template" in spec and not wanted.items() <= labels.items():
        yield _mismatch(spec, path)


REPLICATION_CONTROLLER = at(
    "spec",
    not_negative("minReadySeconds"),
    require_fields("selector"),
    not_negative("replicas"),
    require_fields("template"),
    _plain_selector,
    at("template", POD_TEMPLATE),
    _runs_forever("ReplicationController"),
)

_MUTABLE = {
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
}


def stateful_set_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    spec, before = object_at(new, "spec"), object_at(old, "spec")
    if any(changed(spec, before, name) for name in {*spec, *before} - _MUTABLE):
        yield forbidden(
            field_path(path, "spec"),
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
            "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        )


def _has_data(revision: JSONObject, path: str) -> Causes:
    if revision.get("data") is None:
        yield required(field_path(path, "data"), "data is mandatory")


CONTROLLER_REVISION = all_of(not_negative("revision"), _has_data)
revision_update = immutable("data")


# --- statuses --------------------------------------------------------------------------------------------------------


def _at_most_replicas(*fields: str, ready: str) -> Check:
    """No count may exceed `replicas`, and availableReplicas not readyReplicas, which messages call `ready`."""

    def check(status: JSONObject, path: str) -> Causes:
        for name in fields:
            if integer_at(status, name) > integer_at(status, "replicas"):
                yield invalid(f"{path}.{name}", integer_at(status, name), "cannot be greater than status.replicas")
        if (available := integer_at(status, "availableReplicas")) > integer_at(status, "readyReplicas"):
            yield invalid(f"{path}.availableReplicas", available, f"cannot be greater than {ready}")

    return check


DEPLOYMENT_STATUS = at(
    "status",
    not_negative("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    not_negative("unavailableReplicas", "terminatingReplicas", "collisionCount"),
    _at_most_replicas("updatedReplicas", "readyReplicas", "availableReplicas", ready="readyReplicas"),
)
STATEFUL_SET_STATUS = at(
    "status",
    not_negative("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    not_negative("observedGeneration", "collisionCount"),
    _at_most_replicas(
        *("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"), ready="status.readyReplicas"
    ),
)
REPLICA_SET_STATUS = at(
    "status",
    not_negative("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"),
    not_negative("terminatingReplicas"),
    _at_most_replicas("fullyLabeledReplicas", "readyReplicas", "availableReplicas", ready="readyReplicas"),
)
