"""The tables of priority classes, devices and groups of pods."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import integer_at, objects_at, text_at, value_at
from listwatch.server.tables.cells import NONE, flag, number, of, since, text
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described
from listwatch.server.tables.durations import since_text

__all__ = ["SCHEDULING"]


def _claim_state(claim: JSONObject) -> str:
    is_deleted = bool(value_at(claim, "metadata", "deletionTimestamp"))
    states = ["deleted"] if is_deleted else []
    if not isinstance(value_at(claim, "status", "allocation"), dict):
        return ",".join(states or ["pending"])
    states.append("allocated")
    if objects_at(claim, "status", "reservedFor"):
        states.append("reserved")
    return ",".join(states)


# --- Requests for the status of resource pools ------------------------------------------------------------------------


def _pool_row(request: JSONObject, now: datetime) -> list[JSON]:
    status = value_at(request, "status")
    pools, total = objects_at(status, "pools"), integer_at(status, "poolCount")
    ended = _pool_end(status)
    counts = ["-"] * 5
    if isinstance(status, dict) and text_at(ended, "type") != "Failed":
        names = ("totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices")
        counts = [str(sum(integer_at(pool, name) for pool in pools)) for name in names]
        counts.append(str(sum(pool.get("validationError") is not None for pool in pools)))
    state, completed = text_at(ended, "type") or "Pending", NONE
    if state == "Complete":
        completed = since_text(text_at(ended, "lastTransitionTime"), now)
        state = f"Complete ({len(pools)}/{total} pools)" if total > len(pools) else state
    return [text_at(request, "metadata", "name"), text_at(request, "spec", "driver"), *counts, total, state, completed]


def _pool_end(status: JSON) -> JSONObject:
    conditions = objects_at(status, "conditions")
    ended = (each for each in conditions if each.get("type") in ("Complete", "Failed") and each.get("status") == "True")
    return next(ended, {})


# --- Groups of pods ---------------------------------------------------------------------------------------------------


def _group_policy(group: JSONObject) -> str:
    return "Gang" if isinstance(value_at(group, "spec", "schedulingPolicy", "gang"), dict) else "Basic"


def _group_status(group: JSONObject) -> str:
    # Of several conditions of a type, the last one counts.
    found = {text_at(each, "type"): each for each in objects_at(group, "status", "conditions")}
    if disrupted := found.get("DisruptionTarget"):
        return text_at(disrupted, "reason")
    if scheduled := found.get("PodGroupScheduled"):
        return "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"
    return "Pending"


_taint = "resource.v1.DeviceTaint"
_slice = "resource.v1.ResourceSliceSpec"
_class = "scheduling.v1.PriorityClass"

SCHEDULING: Mapping[tuple[str, str], Table] = {
    ("scheduling.k8s.io", "PriorityClass"): Table(
        NAME,
        Column("Value", number("value"), described(f"{_class}.value"), "integer"),
        Column("Global-Default", flag("globalDefault"), described(f"{_class}.globalDefault"), "boolean"),
        AGE,
        Column("PreemptionPolicy", text("preemptionPolicy"), described(f"{_class}.preemptionPolicy")),
    ),
    ("scheduling.k8s.io", "Workload"): Table(NAME, AGE),
    ("scheduling.k8s.io", "PodGroup"): Table(
        NAME,
        Column("Policy", of(_group_policy), described("scheduling.v1beta1.PodGroupSpec.schedulingPolicy")),
        Column("Workload", text("spec.workloadRef.workloadName", NONE), "Name of the referenced Workload object"),
        Column("Status", of(_group_status), "Status of the PodGroup"),
        AGE,
    ),
    ("resource.k8s.io", "DeviceClass"): Table(NAME, AGE),
    ("resource.k8s.io", "ResourceClaim"): Table(
        NAME,
        Column("State", of(_claim_state), "A summary of the current state (allocated, pending, reserved, etc.)."),
        AGE,
    ),
    ("resource.k8s.io", "ResourceClaimTemplate"): Table(NAME, AGE),
    ("resource.k8s.io", "ResourceSlice"): Table(
        NAME,
        Column("Node", text("spec.nodeName"), described(f"{_slice}.nodeName")),
        Column("Driver", text("spec.driver"), described(f"{_slice}.driver")),
        Column("Pool", text("spec.pool.name"), described("resource.v1.ResourcePool.name")),
        AGE,
    ),
    ("resource.k8s.io", "DeviceTaintRule"): Table(
        NAME,
        Column("Key", text("spec.taint.key"), described(f"{_taint}.key")),
        Column("Value", text("spec.taint.value"), described(f"{_taint}.value")),
        Column("Effect", text("spec.taint.effect"), described(f"{_taint}.effect")),
        Column("TimeAdded", since("spec.taint.timeAdded", ""), described(f"{_taint}.timeAdded")),
        AGE,
    ),
    ("resource.k8s.io", "ResourcePoolStatusRequest"): Table(
        NAME,
        Column("Driver", None, "The driver to query pools for."),
        Column("Total", None, "Total number of devices across all pools."),
        Column("Available", None, "Number of available devices across all pools."),
        Column("Allocated", None, "Number of allocated devices across all pools."),
        Column("Unavailable", None, "Number of unavailable devices across all pools."),
        Column("Errors", None, "Number of pools with validation errors."),
        Column("Pools", None, "Total number of matching pools.", "integer"),
        Column("Status", None, "Processing status."),
        Column("Completed", None, "Time since the observation completed."),
        row=_pool_row,
    ),
}
