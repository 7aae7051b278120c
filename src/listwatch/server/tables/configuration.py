"""The tables of configuration, nodes, namespaces, events, quotas, leases and the server's own objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import flag_at, integer_at, object_at, objects_at, text_at, value_at
from listwatch.server.tables.cells import (
    NONE,
    Cell,
    condition_status,
    count,
    limited,
    number,
    of,
    present,
    quantity_text,
    text,
)
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described, wide
from listwatch.server.tables.durations import UNKNOWN, since_text

__all__ = ["CONFIGURATION"]


# --- Nodes ------------------------------------------------------------------------------------------------------------

_ROLE_PREFIX, _ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"


def _node_status(node: JSONObject) -> str:
    # Of several conditions of a type, the last one counts.
    ready = [each for each in objects_at(node, "status", "conditions") if each.get("type") == "Ready"]
    status = "Unknown" if not ready else "Ready" if ready[-1].get("status") == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if flag_at(node, "spec", "unschedulable") else status


def _node_roles(node: JSONObject) -> str:
    found = object_at(node, "metadata", "labels")
    roles = {name.removeprefix(_ROLE_PREFIX) for name in found if name.startswith(_ROLE_PREFIX)}
    return ",".join(sorted(filter(None, {*roles, text_at(found, _ROLE)}))) or NONE


def _node_address(type_: str) -> Cell:
    def address(node: JSONObject) -> str:
        found = (each for each in objects_at(node, "status", "addresses") if each.get("type") == type_)
        return next((text_at(each, "address") for each in found), NONE)

    return of(address)


def _kernel(node: JSONObject) -> str:
    info = object_at(node, "status", "nodeInfo")
    version, architecture = text_at(info, "kernelVersion") or UNKNOWN, text_at(info, "architecture")
    return f"{version} ({architecture})" if architecture else version


# --- Events -----------------------------------------------------------------------------------------------------------


def _first_seen(event: JSONObject, now: datetime) -> JSON:
    return since_text(text_at(event, "firstTimestamp") or text_at(event, "eventTime"), now)


def _last_seen(event: JSONObject, now: datetime) -> JSON:
    if isinstance(series := event.get("series"), dict):
        return since_text(text_at(series, "lastObservedTime"), now)
    last = text_at(event, "lastTimestamp")
    return since_text(last, now) if last else _first_seen(event, now)


def _event_count(event: JSONObject) -> int:
    if isinstance(series := event.get("series"), dict):
        return integer_at(series, "count")
    return integer_at(event, "count") or 1


def _event_object(event: JSONObject) -> str:
    kind, name = (text_at(event, "involvedObject", field) for field in ("kind", "name"))
    return f"{kind.lower()}/{name}" if name else kind.lower()


def _event_source(event: JSONObject) -> str:
    component = text_at(event, "source", "component") or text_at(event, "reportingComponent")
    instance = text_at(event, "source", "host") or text_at(event, "reportingInstance")
    return f"{component}, {instance}" if instance else component


# --- Quotas and component statuses ------------------------------------------------------------------------------------


def _quota(*, limits: bool) -> Cell:
    def usage(quota: JSONObject) -> str:
        hard, used = object_at(quota, "status", "hard"), object_at(quota, "status", "used")
        shown = (name for name in sorted(hard) if name.startswith("limits.") == limits)
        return ", ".join(
            f"{name}: {quantity_text(used.get(name), '0')}/{quantity_text(hard[name], '0')}" for name in shown
        )

    return of(usage)


def _health(component: JSONObject) -> JSONObject:
    return next((each for each in objects_at(component, "conditions") if each.get("type") == "Healthy"), {})


def _health_text(name: str) -> Cell:
    return of(lambda component: text_at(_health(component), name))


def _health_status(component: JSONObject) -> str:
    status = text_at(_health(component), "status")
    return {"": "Unknown", "True": "Healthy"}.get(status, "Unhealthy")


# --- API services, flow control and storage versions ------------------------------------------------------------------


def _service(api_service: JSONObject) -> str:
    service = value_at(api_service, "spec", "service")
    return f"{text_at(service, 'namespace')}/{text_at(service, 'name')}" if isinstance(service, dict) else "Local"


def _is_available(api_service: JSONObject) -> str:
    conditions = objects_at(api_service, "status", "conditions")
    found = next((each for each in conditions if each.get("type") == "Available"), {})
    status, reason = text_at(found, "status") or "Unknown", text_at(found, "reason")
    return f"{status} ({reason})" if reason and status != "True" else status


def _distinguisher(flow_schema: JSONObject) -> str:
    method = value_at(flow_schema, "spec", "distinguisherMethod")
    return text_at(method, "type") if isinstance(method, dict) else NONE


def _precedence(flow_schema: JSONObject) -> tuple[int, str]:
    return integer_at(flow_schema, "spec", "matchingPrecedence"), text_at(flow_schema, "metadata", "name")


def _limited_level(*path: str) -> Cell:
    """Return a cell with a number of a limited priority level, which other levels do not have."""
    parent, name = path[:-1], path[-1]

    def value(level: JSONObject) -> JSON:
        found = value_at(level, "spec", "limited", *parent)
        return integer_at(found, name) if isinstance(found, dict) else NONE

    return of(value)


def _storage_versions(version: JSONObject) -> str:
    found = objects_at(version, "status", "storageVersions")
    return (
        limited([f"{text_at(each, 'apiServerID')}={text_at(each, 'encodingVersion')}" for each in found], 3)
        or "<unset>"
    )


def _migrated(migration: JSONObject) -> str:
    group, resource = (text_at(migration, "spec", "resource", name) for name in ("group", "resource"))
    return f"{resource}.{group}" if group else resource


def _migration_status(migration: JSONObject) -> str:
    types = ("Running", "Failed", "Succeeded")
    conditions = objects_at(migration, "status", "conditions")
    found = [text_at(each, "type") for each in conditions if each.get("status") == "True" and each.get("type") in types]
    return found[-1] if found else "Unknown"


# --- Tables -----------------------------------------------------------------------------------------------------------

_info = "core.v1.NodeSystemInfo"
_queuing = "flowcontrol.v1.QueuingConfiguration"

CONFIGURATION: Mapping[tuple[str, str], Table] = {
    ("", "ConfigMap"): Table(
        NAME, Column("Data", count("data", "binaryData"), described("core.v1.ConfigMap.data")), AGE
    ),
    ("", "Secret"): Table(
        NAME,
        Column("Type", text("type"), described("core.v1.Secret.type")),
        Column("Data", count("data"), described("core.v1.Secret.data")),
        AGE,
    ),
    ("", "ServiceAccount"): Table(NAME, AGE),
    ("", "Namespace"): Table(NAME, Column("Status", text("status.phase"), "The status of the namespace"), AGE),
    ("", "Node"): Table(
        NAME,
        Column("Status", of(_node_status), "The status of the node"),
        Column("Roles", of(_node_roles), "The roles of the node"),
        AGE,
        Column("Version", text("status.nodeInfo.kubeletVersion"), described(f"{_info}.kubeletVersion")),
        wide("Internal-IP", _node_address("InternalIP"), described("core.v1.NodeStatus.addresses")),
        wide("External-IP", _node_address("ExternalIP"), described("core.v1.NodeStatus.addresses")),
        wide("OS-Image", text("status.nodeInfo.osImage", UNKNOWN), described(f"{_info}.osImage")),
        wide("Kernel-Version", of(_kernel), described(f"{_info}.kernelVersion")),
        wide(
            "Container-Runtime",
            text("status.nodeInfo.containerRuntimeVersion", UNKNOWN),
            described(f"{_info}.containerRuntimeVersion"),
        ),
    ),
    ("", "Event"): Table(
        Column("Last Seen", _last_seen, described("core.v1.Event.lastTimestamp")),
        Column("Type", text("type"), described("core.v1.Event.type")),
        Column("Reason", text("reason"), described("core.v1.Event.reason")),
        Column("Object", of(_event_object), described("core.v1.Event.involvedObject")),
        wide("Subobject", text("involvedObject.fieldPath"), described("core.v1.ObjectReference.fieldPath")),
        wide("Source", of(_event_source), described("core.v1.Event.source")),
        Column("Message", of(lambda event: text_at(event, "message").strip()), described("core.v1.Event.message")),
        wide("First Seen", _first_seen, described("core.v1.Event.firstTimestamp")),
        wide("Count", of(_event_count), described("core.v1.Event.count")),
        wide("Name", text("metadata.name"), NAME.description, format="name"),
    ),
    ("", "ResourceQuota"): Table(
        NAME,
        Column(
            "Request",
            _quota(limits=False),
            "Request represents a minimum amount of cpu/memory that a container may consume.",
        ),
        Column(
            "Limit",
            _quota(limits=True),
            "Limits control the maximum amount of cpu/memory that a container may use independent of contention on "
            "the node.",
        ),
        AGE,
    ),
    ("", "ComponentStatus"): Table(
        NAME,
        Column("Status", of(_health_status), "Status of the component conditions"),
        Column(
            "Message",
            _health_text("message"),
            "Message of the component conditions",
        ),
        Column("Error", _health_text("error"), "Error of the component conditions"),
    ),
    ("coordination.k8s.io", "Lease"): Table(
        NAME, Column("Holder", text("spec.holderIdentity"), described("coordination.v1.LeaseSpec.holderIdentity")), AGE
    ),
    ("coordination.k8s.io", "LeaseCandidate"): Table(
        NAME,
        Column("LeaseName", text("spec.leaseName"), described("coordination.v1alpha2.LeaseCandidateSpec.leaseName")),
        Column("BinaryVersion", text("spec.binaryVersion")),
        Column("EmulationVersion", text("spec.emulationVersion")),
        AGE,
    ),
    ("node.k8s.io", "RuntimeClass"): Table(NAME, Column("Handler", text("handler")), AGE),
    ("apiregistration.k8s.io", "APIService"): Table(
        NAME,
        Column("Service", of(_service), "The reference to the service that hosts this API endpoint."),
        Column("Available", of(_is_available), "Whether this service is available."),
        AGE,
        repeats_columns=True,
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): Table(
        NAME,
        Column(
            "PriorityLevel",
            text("spec.priorityLevelConfiguration.name"),
            described("flowcontrol.v1.PriorityLevelConfigurationReference.name"),
        ),
        Column(
            "MatchingPrecedence",
            number("spec.matchingPrecedence"),
            described("flowcontrol.v1.FlowSchemaSpec.matchingPrecedence"),
        ),
        Column(
            "DistinguisherMethod",
            of(_distinguisher),
            described("flowcontrol.v1.FlowSchemaSpec.distinguisherMethod"),
        ),
        AGE,
        Column(
            "MissingPL",
            of(lambda schema: condition_status(schema, "Dangling") or "?"),
            "references a broken or non-existent PriorityLevelConfiguration",
        ),
        order=_precedence,
    ),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Table(
        NAME,
        Column("Type", text("spec.type"), described("flowcontrol.v1.PriorityLevelConfigurationSpec.type")),
        Column(
            "NominalConcurrencyShares",
            _limited_level("nominalConcurrencyShares"),
            described("flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares"),
        ),
        Column("Queues", _limited_level("limitResponse", "queuing", "queues"), described(f"{_queuing}.queues")),
        Column("HandSize", _limited_level("limitResponse", "queuing", "handSize"), described(f"{_queuing}.handSize")),
        Column(
            "QueueLengthLimit",
            _limited_level("limitResponse", "queuing", "queueLengthLimit"),
            described(f"{_queuing}.queueLengthLimit"),
        ),
        AGE,
    ),
    ("internal.apiserver.k8s.io", "StorageVersion"): Table(
        NAME,
        Column(
            "CommonEncodingVersion",
            present("status.commonEncodingVersion"),
            described("internal.v1alpha1.StorageVersionStatus.commonEncodingVersion"),
        ),
        Column(
            "StorageVersions",
            of(_storage_versions),
            described("internal.v1alpha1.StorageVersionStatus.storageVersions"),
        ),
        AGE,
    ),
    ("storagemigration.k8s.io", "StorageVersionMigration"): Table(
        Column("Name", text("metadata.name"), NAME.description),
        Column("Resource", of(_migrated), "GroupResource to migrate"),
        Column("Status", of(_migration_status), "Status of the migration"),
    ),
}
