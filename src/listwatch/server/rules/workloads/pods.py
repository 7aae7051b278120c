"""The rules for pods, and for the pods that other kinds make from a template.

`containers` and `pod_volumes` have the rules for those parts.
"""

from __future__ import annotations

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child, children, same
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    at_least,
    between,
    dns_label,
    dns_subdomain,
    each,
    formatted,
    inside,
    ip_address,
    label_value,
    needs,
    one_of,
    qualified_name,
)
from listwatch.server.rules.metadata import labels, selector
from listwatch.server.rules.workloads.containers import (
    CONTAINER,
    ID,
    INIT_CONTAINER,
    container_names,
    host_ports,
    mounts,
)
from listwatch.server.rules.workloads.pod_volumes import VOLUMES

__all__ = ["NEW_POD", "POD", "POD_SPEC", "POD_TEMPLATE", "pod_change", "taint"]

# --- Scheduling -------------------------------------------------------------------------------------------------------

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _toleration(toleration: Tree, path: str) -> Causes:
    key, operator, effect = (toleration.get(name, "") for name in ("key", "operator", "effect"))
    if key:
        yield from (invalid(f"{path}.key", key, said) for said in qualified_name(key))
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


def _toleration_value(toleration: Tree, path: str) -> Causes:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator in ("", "Equal"):
        yield from (invalid(f"{path}.operator", value, said) for said in label_value(value))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))


taint = all_of(
    lambda value, path: formatted(qualified_name)(value.get("key", ""), f"{path}.key"),
    needs("effect"),
    at("value", formatted(label_value)),
    at("effect", one_of(*_EFFECTS)),
)


def _node_requirement(requirement: Tree, path: str) -> Causes:
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    elif operator not in ("Exists", "DoesNotExist"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{path}.key", requirement["key"], said) for said in qualified_name(requirement["key"]))


def _weight(term: Tree, path: str) -> Causes:
    if not 1 <= term.get("weight", 0) <= 100:
        yield invalid(f"{path}.weight", term.get("weight", 0), "must be in the range 1-100")


_NODE_TERM = each("matchExpressions", _node_requirement)
_NODE_AFFINITY = all_of(
    at(
        _REQUIRED,
        needs("nodeSelectorTerms", detail="must have at least one node selector term"),
        each("nodeSelectorTerms", _NODE_TERM),
    ),
    each(_PREFERRED, _weight, at("preference", _NODE_TERM)),
)
_POD_TERM = all_of(
    needs("topologyKey", detail="can not be empty"),
    at("topologyKey", formatted(qualified_name)),
    at("labelSelector", selector),
)
_POD_AFFINITY = all_of(
    each(_REQUIRED, _POD_TERM),
    each(_PREFERRED, _weight, at("podAffinityTerm", _POD_TERM)),
)
_SPREADING = all_of(
    at("maxSkew", at_least(1, "must be greater than zero")),
    needs("topologyKey", detail="can not be empty"),
    at("whenUnsatisfiable", one_of("DoNotSchedule", "ScheduleAnyway")),
    at("labelSelector", selector),
)
SCHEDULING = all_of(
    at("nodeSelector", labels),
    each("tolerations", _toleration),
    at("affinity.nodeAffinity", _NODE_AFFINITY),
    at("affinity.podAffinity", _POD_AFFINITY),
    at("affinity.podAntiAffinity", _POD_AFFINITY),
    each("topologySpreadConstraints", _SPREADING),
)


# --- Pods -------------------------------------------------------------------------------------------------------------


def _mounts(spec: Tree, path: str) -> Causes:
    volumes = {volume.get("name", "") for volume in children(spec, "volumes") if volume.get("name")}
    for where in ("containers", "initContainers"):
        for index, container in enumerate(children(spec, where)):
            yield from mounts(container, f"{path}.{where}[{index}]", volumes)


def _dns_config(spec: Tree, path: str) -> Causes:
    if spec.get("dnsPolicy") == "None" and not spec.get("dnsConfig"):
        yield required(f"{path}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")


POD_SPEC = all_of(
    VOLUMES,
    needs("containers"),
    each("containers", CONTAINER),
    each("initContainers", INIT_CONTAINER),
    container_names,
    host_ports,
    _mounts,
    at("restartPolicy", one_of("Always", "OnFailure", "Never")),
    at("dnsPolicy", one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    _dns_config,
    at("activeDeadlineSeconds", between(1, 2**31 - 1)),
    at("nodeName", formatted(dns_subdomain)),
    at("hostname", formatted(dns_label)),
    at("subdomain", formatted(dns_label)),
    at("serviceAccountName", formatted(dns_subdomain)),
    at("priorityClassName", formatted(dns_subdomain)),
    at("runtimeClassName", formatted(dns_subdomain)),
    at("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    each("hostAliases", at("ip", formatted(ip_address)), each("hostnames", formatted(dns_subdomain))),
    each("readinessGates", at("conditionType", formatted(qualified_name))),
    at("securityContext", at("runAsUser", ID), at("runAsGroup", ID), at("fsGroup", ID)),
    each("securityContext.supplementalGroups", ID),
    SCHEDULING,
)
POD_TEMPLATE = all_of(at("metadata.labels", labels), at("spec", POD_SPEC))


def _ephemeral_containers(spec: Tree, path: str) -> Causes:
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{path}.ephemeralContainers", "cannot be set on create")


POD = at("spec", POD_SPEC)
NEW_POD = at("spec", _ephemeral_containers)

_MAY_CHANGE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_change(new: Tree, old: Tree, path: str) -> Causes:
    """Little of a pod can be changed once it is there."""
    spec, before, where = new["spec"], old["spec"], inside(path, "spec")
    for name in ("containers", "initContainers"):
        if len(spec.get(name, ())) != len(before.get(name, ())):
            yield forbidden(f"{where}.{name}", "pod updates may not add or remove containers")
            return
    yield from _deadline(spec, before, where)
    if not same(_fixed(spec, before), _fixed(before, before)):
        yield forbidden(where, _MAY_CHANGE)


def _fixed(spec: Tree, before: Tree) -> Tree:
    """What cannot be changed, which leaves out what can."""
    known = before.get("tolerations", [])
    added = [toleration for toleration in spec.get("tolerations", ()) if toleration not in known]
    fixed = {name: value for name, value in spec.items() if name != "activeDeadlineSeconds"}
    fixed["tolerations"] = [toleration for toleration in spec.get("tolerations", ()) if toleration not in added]
    for name in ("containers", "initContainers"):
        fixed[name] = [{**container, "image": ""} for container in spec.get(name, ())]
    if spec.get("terminationGracePeriodSeconds") == 1 and before.get("terminationGracePeriodSeconds", 0) < 0:
        fixed["terminationGracePeriodSeconds"] = before["terminationGracePeriodSeconds"]
    if before.get("schedulingGates"):
        for name in ("schedulingGates", "nodeSelector", "affinity"):
            fixed.pop(name, None)
    return fixed


def _deadline(spec: Tree, before: Tree, where: str) -> Causes:
    deadline, earlier = (child(each_spec, "activeDeadlineSeconds") for each_spec in (spec, before))
    place = f"{where}.activeDeadlineSeconds"
    if earlier is not None and deadline is None:
        yield invalid(place, deadline, "must not update from a positive integer to nil value")
    elif earlier is not None and deadline > earlier:
        yield invalid(place, deadline, "must be less than or equal to previous value")
