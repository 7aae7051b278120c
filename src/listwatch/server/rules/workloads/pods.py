"""Rules for pods and pod templates.

`containers` and `pod_volumes` have the rules for those parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from listwatch.json_value import JSON, JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import integer_at, list_at, object_at, objects_at, quoted, same, text_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    at_least,
    at_nonempty,
    between,
    dns_label,
    dns_subdomain,
    each,
    field_path,
    formatted,
    immutable,
    ip_address,
    label_value,
    one_of,
    qualified_name,
    require_fields,
)
from listwatch.server.rules.metadata import annotation_rules, labels, selector
from listwatch.server.rules.workloads.containers import ID, containers, images
from listwatch.server.rules.workloads.pod_volumes import VOLUMES

__all__ = [
    "NEW_POD",
    "POD",
    "POD_TEMPLATE",
    "ephemeral_update",
    "new_pod_warnings",
    "pod_update",
    "pod_warnings",
    "status_update",
    "taint",
]

# --- scheduling -------------------------------------------------------------------------------------------------------

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _toleration(toleration: JSONObject, path: str) -> Causes:
    key, operator, effect = (text_at(toleration, name) for name in ("key", "operator", "effect"))
    if key:
        yield from (invalid(f"{path}.key", key, detail) for detail in qualified_name(key))
    elif operator != "Exists":
        yield invalid(
            f"{path}.operator",
            operator,
            'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        )
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _toleration_value(toleration, path)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)


def _toleration_value(toleration: JSONObject, path: str) -> Causes:
    operator, value = text_at(toleration, "operator"), text_at(toleration, "value")
    if operator in ("", "Equal"):
        yield from (invalid(f"{path}.operator", value, detail) for detail in label_value(value))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))


taint = all_of(
    lambda value, path: formatted(qualified_name)(text_at(value, "key"), f"{path}.key"),
    at("value", formatted(label_value)),
    require_fields("effect"),
    at_nonempty("effect", one_of(*_EFFECTS)),
)


def _node_requirement(requirement: JSONObject, path: str) -> Causes:
    key, operator, values = (
        text_at(requirement, "key"),
        text_at(requirement, "operator"),
        list_at(requirement, "values"),
    )
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    elif operator not in ("Exists", "DoesNotExist"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", key, detail) for detail in qualified_name(key))


def _weight(term: JSONObject, path: str) -> Causes:
    if not 1 <= integer_at(term, "weight") <= 100:
        yield invalid(f"{path}.weight", integer_at(term, "weight"), "must be in the range 1-100")


_NODE_TERM = each("matchExpressions", _node_requirement)
_NODE_AFFINITY = all_of(
    at(
        _REQUIRED,
        require_fields("nodeSelectorTerms", detail="must have at least one node selector term"),
        each("nodeSelectorTerms", _NODE_TERM),
    ),
    each(_PREFERRED, _weight, at("preference", _NODE_TERM)),
)
_POD_TERM = all_of(
    require_fields("topologyKey", detail="can not be empty"),
    at("topologyKey", formatted(qualified_name)),
    at("labelSelector", selector),
)
_POD_AFFINITY = all_of(
    each(_REQUIRED, _POD_TERM),
    each(_PREFERRED, _weight, at("podAffinityTerm", _POD_TERM)),
)
_SPREAD_CONSTRAINT = all_of(
    at("maxSkew", at_least(1, "must be greater than zero")),
    require_fields("topologyKey", detail="can not be empty"),
    at("whenUnsatisfiable", one_of("DoNotSchedule", "ScheduleAnyway")),
    at("labelSelector", selector),
)


# --- pods -------------------------------------------------------------------------------------------------------------


def _dns_config(spec: JSONObject, path: str) -> Causes:
    if spec.get("dnsPolicy") == "None" and not spec.get("dnsConfig"):
        yield required(f"{path}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")


_SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"


def _sysctl_name(value: str) -> Iterator[str]:
    if len(value) > 253 or not re.fullmatch(_SYSCTL, value):
        yield f"must have at most 253 characters and match regex {_SYSCTL}"


# In the order of kube-apiserver: a message lists the causes in this order.
_POD_SPEC = all_of(
    VOLUMES,
    containers,
    at("restartPolicy", one_of("Always", "OnFailure", "Never")),
    at("dnsPolicy", one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    at("nodeSelector", labels),
    at("securityContext", at("runAsUser", ID), at("runAsGroup", ID), at("fsGroup", ID)),
    each("securityContext.supplementalGroups", ID),
    each("securityContext.sysctls", require_fields("name"), at("name", formatted(_sysctl_name))),
    at("affinity.nodeAffinity", _NODE_AFFINITY),
    at("affinity.podAffinity", _POD_AFFINITY),
    at("affinity.podAntiAffinity", _POD_AFFINITY),
    _dns_config,
    each("readinessGates", at("conditionType", formatted(qualified_name))),
    each("topologySpreadConstraints", _SPREAD_CONSTRAINT),
    at("serviceAccountName", formatted(dns_subdomain)),
    at("nodeName", formatted(dns_subdomain)),
    at("activeDeadlineSeconds", between(1, 2**31 - 1)),
    at("hostname", formatted(dns_label)),
    at("subdomain", formatted(dns_label)),
    each("tolerations", _toleration),
    each("hostAliases", at("ip", formatted(ip_address)), each("hostnames", formatted(dns_subdomain))),
    at("priorityClassName", formatted(dns_subdomain)),
    at("runtimeClassName", formatted(dns_subdomain)),
    at("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
)


def _template_metadata(template: JSONObject, path: str) -> Causes:
    """kube-apiserver names these fields without the metadata that they are in."""
    for name, check in (("labels", labels), ("annotations", annotation_rules)):
        found = object_at(template, "metadata", name)
        yield from check({each: str(value) for each, value in found.items()}, f"{path}.{name}")


POD_TEMPLATE = all_of(_template_metadata, at("spec", _POD_SPEC))


def _ephemeral_containers(spec: JSONObject, path: str) -> Causes:
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{path}.ephemeralContainers", "cannot be set on create")


POD = at("spec", _POD_SPEC, images)
NEW_POD = at("spec", _ephemeral_containers)

_IMMUTABLE_SPEC = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """Most fields of a pod are immutable."""
    spec, before, field = object_at(new, "spec"), object_at(old, "spec"), field_path(path, "spec")
    for name in ("containers", "initContainers"):
        if len(list_at(spec, name)) != len(list_at(before, name)):
            yield forbidden(f"{field}.{name}", "pod updates may not add or remove containers")
            return
    problems = [*_deadline(spec, before, field)]
    yield from problems
    if problems and "activeDeadlineSeconds" in spec:
        return
    yield from _added_tolerations(spec, before, field)
    yield from _removed_gates(spec, before, field)
    if not same(_immutable_part(spec, before), _immutable_part(before, before)):
        yield forbidden(field, _IMMUTABLE_SPEC)


status_update = immutable("status.qosClass", missing="")


def _added_tolerations(spec: JSONObject, before: JSONObject, path: str) -> Causes:
    """Tolerations can be added, and the seconds of existing ones changed."""

    def without_seconds(tolerations: list[JSONObject]) -> set[frozenset[tuple[str, str]]]:
        kept = ({**each, "tolerationSeconds": None} for each in tolerations)
        return {frozenset((name, str(value)) for name, value in each.items()) for each in kept}

    if not without_seconds(objects_at(before, "tolerations")) <= without_seconds(objects_at(spec, "tolerations")):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden(f"{path}.tolerations", detail)


def _removed_gates(spec: JSONObject, before: JSONObject, path: str) -> Causes:
    known = {text_at(gate, "name") for gate in objects_at(before, "schedulingGates")}
    for index, gate in enumerate(objects_at(spec, "schedulingGates")):
        if (name := text_at(gate, "name")) not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden(f"{path}.schedulingGates[{index}].name", detail)


def ephemeral_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """Ephemeral containers can be added, and neither removed nor changed."""
    field = field_path(path, "spec.ephemeralContainers")
    found = {text_at(each, "name"): each for each in objects_at(new, "spec", "ephemeralContainers")}
    for before in objects_at(old, "spec", "ephemeralContainers"):
        name = text_at(before, "name")
        if name not in found:
            yield forbidden(field, f"existing ephemeral containers {quoted(name)} may not be removed\n")
        elif not same(found[name], before):
            yield forbidden(field, f"existing ephemeral containers {quoted(name)} may not be changed\n")


def _immutable_part(spec: JSONObject, before: JSONObject) -> JSONObject:
    """Return the spec without the changes that are allowed, or checked separately."""
    separate = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
    fixed = {name: value for name, value in spec.items() if name not in separate}
    for name in ("containers", "initContainers"):
        fixed[name] = [{**container, "image": ""} for container in objects_at(spec, name)]
    if spec.get("terminationGracePeriodSeconds") == 1 and integer_at(before, "terminationGracePeriodSeconds") < 0:
        fixed["terminationGracePeriodSeconds"] = before["terminationGracePeriodSeconds"]
    if before.get("schedulingGates"):
        for name in ("nodeSelector", "affinity"):
            fixed.pop(name, None)
    return fixed


def _deadline(spec: JSONObject, before: JSONObject, path: str) -> Causes:
    if "activeDeadlineSeconds" not in before:
        return
    deadline, field = value_at(spec, "activeDeadlineSeconds"), f"{path}.activeDeadlineSeconds"
    if deadline is None:
        yield invalid(field, deadline, "must not update from a positive integer to nil value")
    elif integer_at(spec, "activeDeadlineSeconds") > integer_at(before, "activeDeadlineSeconds"):
        yield invalid(field, deadline, "must be less than or equal to previous value")


# --- warnings ---------------------------------------------------------------------------------------------------------


def new_pod_warnings(pod: JSONObject, old: JSONObject | None) -> Iterator[str]:
    if old is None:
        yield from pod_warnings(object_at(pod, "spec"), "spec")


def pod_warnings(spec: JSONObject, path: str) -> Iterator[str]:
    """Yield warnings about valid fields that are probably mistakes."""
    for field, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        yield from _repeated(objects_at(spec, field), key, f"{path}.{field}")
    containers = [
        (container, f"{path}.{field}[{index}]")
        for field in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(objects_at(spec, field))
    ]
    for container, place in containers:
        yield from _fractions(object_at(container, "resources"), place)
        yield from _hidden_variables(objects_at(container, "env"), place)
    ports = [
        (port, f"{place}.ports[{index}]")
        for container, place in containers
        for index, port in enumerate(objects_at(container, "ports"))
    ]
    yield from _repeated_ports(ports)
    yield from _repeated_port_names(ports)
    if integer_at(spec, "terminationGracePeriodSeconds") < 0:
        field = f"{path}.terminationGracePeriodSeconds"
        yield f"{field}: must be >= 0; negative values are invalid and will be treated as 1"


def _repeated(items: list[JSONObject], key: str, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        if (text := text_at(item, key)) in seen:
            yield f'{path}[{index}].{key}: duplicate {key} "{text}"'
        seen.add(text)


def _fractions(resources: JSONObject, path: str) -> Iterator[str]:
    for name in ("memory", "ephemeral-storage"):
        for part in ("limits", "requests"):
            if (text := text_at(resources, part, name)) and (amount := Quantity(text)).value % 1:
                field = f"{path}.resources.{part}[{name}]"
                yield f'{field}: fractional byte value "{amount}" is invalid, must be an integer'


def _hidden_variables(variables: list[JSONObject], path: str) -> Iterator[str]:
    """A variable may be defined again with a value that refers to the earlier one."""
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = text_at(variable, "name"), text_at(variable, "value")
        reference = f"$({name})"
        if name in seen and (variable.get("valueFrom") or value == reference or reference not in value):
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)


def _repeated_ports(ports: list[tuple[JSONObject, str]]) -> Iterator[str]:
    known: dict[tuple[JSON, str], list[tuple[str, int, str]]] = {}
    for port, path in ports:
        host_ip, host_port = text_at(port, "hostIP"), integer_at(port, "hostPort")
        others = known.setdefault((port.get("containerPort"), text_at(port, "protocol")), [])
        for other_ip, other_port, other_path in others:
            if (host_ip, host_port) == (other_ip, other_port):
                yield f"{path}: duplicate port definition with {other_path}"
            elif not host_port or not other_port:
                yield f"{path}: overlapping port definition with {other_path}"
            elif host_port == other_port and bool(host_ip) != bool(other_ip):
                yield f"{path}: dangerously ambiguous port definition with {other_path}"
        others.append((host_ip, host_port, path))


def _repeated_port_names(ports: list[tuple[JSONObject, str]]) -> Iterator[str]:
    named: dict[str, str] = {}
    for port, path in ports:
        if (name := text_at(port, "name")) and (other := named.setdefault(name, path)) != path:
            detail = f"services and probes that select ports by name will use {other}"
            yield f'{path}: duplicate port name "{name}" with {other}, {detail}'
