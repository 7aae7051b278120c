"""What an object uses of a quota, and the scopes that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.json_tree import flag_at, integer_at, object_at, objects_at, text_at, value_at

__all__ = [
    "CLAIMS",
    "MEASURED",
    "PODS",
    "SERVICES",
    "Usage",
    "is_tracked",
    "missing_requests",
    "pod_total",
    "quantities",
    "usage_of",
]

PODS, SERVICES, CLAIMS = "/pods", "/services", "/persistentvolumeclaims"

Amounts = Mapping[str, Quantity]

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_ALIASES = {
    "/configmaps": "configmaps",
    "/resourcequotas": "resourcequotas",
    "/replicationcontrollers": "replicationcontrollers",
    "/secrets": "secrets",
}
MEASURED = (PODS, SERVICES, CLAIMS, "resource.k8s.io/resourceclaims", *_ALIASES)
"""The resources of which quotas limit more than the number of objects, or have a short name for it."""
# A quota of these makes every container state what it needs.
_STATED = {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"
_BY_CLASS = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEVICES = ".deviceclass.resource.k8s.io/devices"
_ALL_DEVICES = 32
"""How many devices a request for all of them can get."""
_AFFINITIES = ("podAffinity", "podAntiAffinity")
_TERMS = (
    ("requiredDuringSchedulingIgnoredDuringExecution",),
    ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
)
_ONE, _ZERO = Quantity(1), Quantity(0)


class Usage(NamedTuple):
    """The amounts of an object by the names that quotas have for them, and the scopes of a pod or claim."""

    amounts: Amounts
    scopes: frozenset[str] = frozenset()
    classes: tuple[str, tuple[str, ...]] = ("", ())
    """The scope that selects by classes, PriorityClass or VolumeAttributesClass, and the classes of the object."""


def usage_of(resource: str, tree: JSONObject, now: datetime) -> Usage:
    """Return what an object uses. `resource` is its name in the storage, such as "/pods" or "apps/deployments"."""
    counted = {_count_name(resource): _ONE}
    match resource:
        case "/pods":
            return _pod_usage(tree, counted, now)
        case "/services":
            return Usage({**counted, **_service_amounts(object_at(tree, "spec"))})
        case "/persistentvolumeclaims":
            return Usage(
                {**counted, **_claim_amounts(tree)}, classes=("VolumeAttributesClass", _attributes_classes(tree))
            )
        case "resource.k8s.io/resourceclaims":
            return Usage({**counted, **_device_amounts(tree)})
        case _ if alias := _ALIASES.get(resource):
            return Usage({**counted, alias: _ONE})
        case _:
            return Usage(counted)


def _count_name(resource: str) -> str:
    """Return the name of the number of objects, such as `count/deployments.apps`."""
    group, _, plural = resource.rpartition("/")
    return f"count/{plural}.{group}" if group else f"count/{plural}"


def is_tracked(name: str, resource: str) -> bool:
    """Whether objects of a resource can use what a quota limits under this name."""
    if name in (_count_name(resource), _ALIASES.get(resource)):
        return True
    match resource:
        case "/pods":
            plain = name.removeprefix("requests.").removeprefix("limits.")
            is_extended = "/" in plain and name.startswith("requests.") and _BY_CLASS not in name
            return name == "pods" or plain in _COMPUTE or plain.startswith(_HUGE_PAGES) or is_extended
        case "/services":
            return name in ("services", "services.nodeports", "services.loadbalancers")
        case "/persistentvolumeclaims":
            return name.rpartition(_BY_CLASS)[2] in ("persistentvolumeclaims", "requests.storage")
        case "resource.k8s.io/resourceclaims":
            return name.endswith(_DEVICES)
        case _:
            return False


# --- Pods -------------------------------------------------------------------------------------------------------------


def _pod_usage(pod: JSONObject, counted: dict[str, Quantity], now: datetime) -> Usage:
    spec = object_at(pod, "spec")
    scopes = {
        "Terminating" if isinstance(spec.get("activeDeadlineSeconds"), int) else "NotTerminating",
        "BestEffort" if _is_best_effort(spec) else "NotBestEffort",
    }
    if _uses_other_namespaces(spec):
        scopes.add("CrossNamespacePodAffinity")
    name = text_at(spec, "priorityClassName")
    # A pod that has ended is still counted, but uses nothing.
    amounts = counted if _has_ended(pod, now) else {**counted, **_compute(spec)}
    return Usage(amounts, frozenset(scopes), ("PriorityClass", (name,) if name else ()))


def _has_ended(pod: JSONObject, now: datetime) -> bool:
    if text_at(pod, "status", "phase") in ("Failed", "Succeeded"):
        return True
    deleted = text_at(pod, "metadata", "deletionTimestamp")
    if not deleted:
        return False
    grace = timedelta(seconds=integer_at(pod, "metadata", "deletionGracePeriodSeconds"))
    return now > datetime.fromisoformat(deleted) + grace


def _compute(spec: JSONObject) -> dict[str, Quantity]:
    requests = pod_total(spec, _requests)
    limits = pod_total(spec, lambda container: quantities(container, "limits"))
    for name, amount in quantities({"resources": object_at(spec, "overhead")}, "").items():
        requests[name] = requests.get(name, _ZERO) + amount
        if limits.get(name):
            limits[name] += amount
    amounts = {"pods": _ONE}
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith(_HUGE_PAGES):
            amounts[name] = amounts[f"requests.{name}"] = amount
        elif "/" in name:
            amounts[f"requests.{name}"] = amount
    amounts.update({f"limits.{name}": amount for name, amount in limits.items() if name in _COMPUTE})
    return amounts


def pod_total(spec: JSONObject, read: Callable[[JSONObject], dict[str, Quantity]]) -> dict[str, Quantity]:
    """Return what all containers need together, or what the most demanding step of the initialization needs."""
    total: dict[str, Quantity] = {}
    for container in objects_at(spec, "containers"):
        _add(total, read(container))
    running: dict[str, Quantity] = {}
    largest: dict[str, Quantity] = {}
    for container in objects_at(spec, "initContainers"):
        step = read(container)
        if text_at(container, "restartPolicy") == "Always":  # a sidecar runs on
            _add(total, step)
            _add(running, step)
            step = running
        else:
            _add(step, running)
        for name, amount in step.items():
            largest[name] = max(largest.get(name, _ZERO), amount)
    for name, amount in largest.items():
        total[name] = max(total.get(name, _ZERO), amount)
    for name, amount in read(spec).items():
        if name in _POD_LEVEL or name.startswith(_HUGE_PAGES):
            total[name] = amount
    return total


def _requests(container: JSONObject) -> dict[str, Quantity]:
    # A limit without a request is the request.
    return {**quantities(container, "limits"), **quantities(container, "requests")}


def quantities(container: JSONObject, kind: str) -> dict[str, Quantity]:
    found = object_at(container, "resources", kind) if kind else object_at(container, "resources")
    return {name: Quantity(str(value)) for name, value in found.items()}


def _add(total: dict[str, Quantity], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, _ZERO) + amount


def _containers(spec: JSONObject) -> list[JSONObject]:
    return [*objects_at(spec, "containers"), *objects_at(spec, "initContainers")]


def _is_best_effort(spec: JSONObject) -> bool:
    for each in (spec, *_containers(spec)):
        stated = {**quantities(each, "limits"), **quantities(each, "requests")}
        if any(stated.get(name) for name in _POD_LEVEL):
            return False
    return True


def _uses_other_namespaces(spec: JSONObject) -> bool:
    for affinity in _AFFINITIES:
        for where, *inside in _TERMS:
            for term in objects_at(spec, "affinity", affinity, where):
                found = object_at(term, *inside)
                if found.get("namespaces") or found.get("namespaceSelector") is not None:
                    return True
    return False


def missing_requests(pod: JSONObject, limited: Iterable[str]) -> str:
    """Describe what containers must state because a quota limits it; empty if they do."""
    spec = object_at(pod, "spec")
    if object_at(spec, "resources"):
        return ""
    missing: dict[str, list[str]] = {}
    for container in _containers(spec):
        requests, limits = _requests(container), quantities(container, "limits")
        stated = {*requests, *(f"requests.{name}" for name in requests), *(f"limits.{name}" for name in limits)}
        for name in _STATED.intersection(limited) - stated:
            missing.setdefault(name, []).append(text_at(container, "name"))
    if not missing:
        return ""
    parts = [f"{name} for: {','.join(sorted({*containers}))}" for name, containers in sorted(missing.items())]
    return f"must specify {'; '.join(parts)}"


# --- Services and claims ----------------------------------------------------------------------------------------------


def _service_amounts(spec: JSONObject) -> Amounts:
    ports, kind = objects_at(spec, "ports"), text_at(spec, "type")
    is_balanced = kind == "LoadBalancer"
    node_ports = len(ports) if is_balanced or kind == "NodePort" else 0
    if is_balanced and "allocateLoadBalancerNodePorts" in spec and not flag_at(spec, "allocateLoadBalancerNodePorts"):
        node_ports = sum(bool(value_at(port, "nodePort")) for port in ports)
    return {
        "services": _ONE,
        "services.nodeports": Quantity(node_ports),
        "services.loadbalancers": _ONE if is_balanced else _ZERO,
    }


def _claim_amounts(claim: JSONObject) -> Amounts:
    amounts = {"persistentvolumeclaims": _ONE}
    requested = value_at(claim, "spec", "resources", "requests", "storage")
    if requested is not None:
        granted = value_at(claim, "status", "allocatedResources", "storage")
        amounts["requests.storage"] = max(Quantity(str(requested)), Quantity(str(granted or 0)))
    annotated = text_at(object_at(claim, "metadata", "annotations"), _CLASS_ANNOTATION)
    storage_class = annotated or text_at(claim, "spec", "storageClassName")
    of_class = {f"{storage_class}{_BY_CLASS}{name}": amount for name, amount in amounts.items()}
    return {**amounts, **of_class} if storage_class else amounts


def _attributes_classes(claim: JSONObject) -> tuple[str, ...]:
    """The classes that a claim has, or will have."""
    names = (
        text_at(claim, "spec", "volumeAttributesClassName"),
        text_at(claim, "status", "currentVolumeAttributesClassName"),
        text_at(claim, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName"),
    )
    return tuple(name for name in names if name)


def _device_amounts(claim: JSONObject) -> Amounts:
    """The devices of each class; of alternatives, the one that needs most of a class."""
    total: dict[str, Quantity] = {}
    for request in objects_at(claim, "spec", "devices", "requests"):
        largest: dict[str, Quantity] = {}
        for each in [object_at(request, "exactly"), *objects_at(request, "firstAvailable")]:
            name = f"{text_at(each, 'deviceClassName')}{_DEVICES}"
            is_all = text_at(each, "allocationMode") == "All"
            amount = Quantity(_ALL_DEVICES if is_all else integer_at(each, "count", default=1))
            if text_at(each, "deviceClassName"):
                largest[name] = max(largest.get(name, _ZERO), amount)
        _add(total, largest)
    return total
