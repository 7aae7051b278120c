"""Warnings about objects that are valid, but probably not what their author wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupKind
from listwatch.quantity import Quantity
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, value_at

__all__ = ["OBJECT_WARNINGS"]

Warn = Callable[[JSONObject, JSONObject | None], Iterator[str]]
"""Yields the warnings about a written object; the old object is None for a new one."""


def _quota(quota: JSONObject, old: JSONObject | None) -> Iterator[str]:
    """Requests never exceed limits, so a quota for requests that is larger cannot be used up."""
    hard = object_at(quota, "spec", "hard") if old is None else {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        names = (f"requests.{name}", name) if name in ("cpu", "memory") else (f"requests.{name}",)
        requested, limited = next((each for each in names if each in hard), ""), f"limits.{name}"
        if not requested or limited not in hard:
            continue
        request, limit = (Quantity(text_at(hard, each)) for each in (requested, limited))
        if request > limit:
            yield f"ResourceQuota {requested} ({request}) should be less than {limited} ({limit})"


# --- pods -------------------------------------------------------------------------------------------------------------


def _pod(pod: JSONObject, old: JSONObject | None) -> Iterator[str]:
    if old is None:
        yield from _pod_spec(object_at(pod, "spec"), "spec")


def _workload(*path: str) -> Warn:
    """For a kind with the template of a pod at this path; updates that change only the metadata warn of nothing."""

    def warn(tree: JSONObject, old: JSONObject | None) -> Iterator[str]:
        if old is None or value_at(tree, "metadata", "generation") != value_at(old, "metadata", "generation"):
            yield from _pod_spec(object_at(tree, *path, "spec"), ".".join((*path, "spec")))

    return warn


def _pod_spec(spec: JSONObject, path: str) -> Iterator[str]:
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


OBJECT_WARNINGS: Mapping[GroupKind, Warn] = {
    GroupKind("", "ResourceQuota"): _quota,
    GroupKind("", "Pod"): _pod,
    GroupKind("", "ReplicationController"): _workload("spec", "template"),
    **{
        GroupKind("apps", kind): _workload("spec", "template")
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
    },
    GroupKind("batch", "Job"): _workload("spec", "template"),
    GroupKind("batch", "CronJob"): _workload("spec", "jobTemplate", "spec", "template"),
}
