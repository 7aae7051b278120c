"""The rules for the containers of a pod: images, ports, environment, mounts, probes, resources. `pods` applies them."""

from __future__ import annotations

from listwatch.quantity import Quantity
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_found, required
from listwatch.server.json_tree import Tree, child, children
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    amount,
    at,
    at_least,
    between,
    config_key,
    dns_label,
    dns_subdomain,
    each,
    environment_name,
    formatted,
    needs,
    one_member,
    one_of,
    port_name,
    port_or_name,
    qualified_name,
    relative_path,
    unique,
    when,
)

__all__ = ["CONTAINER", "INIT_CONTAINER", "container_names", "host_ports", "mounts"]

PORT = between(1, 65535)
ID = between(0, 2**31 - 1)
PROTOCOL = one_of("SCTP", "TCP", "UDP")


def _image(image: Tree, path: str) -> Causes:
    if image != image.strip():
        yield invalid(path, image, "must not have leading or trailing whitespace")


_CONTAINER_PORT = all_of(
    at("name", formatted(port_name)),
    when(lambda port: not port.get("containerPort"), lambda _, path: [required(f"{path}.containerPort")]),
    when(lambda port: bool(port.get("containerPort")), at("containerPort", PORT)),
    at("hostPort", PORT),
    at("protocol", PROTOCOL),
)


# --- environment -----------------------------------------------------------------------------------------------------

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_POD_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "metadata.annotations", "metadata.labels"),
    *("spec.nodeName", "spec.serviceAccountName", "spec.host", "spec.restartPolicy", "spec.schedulerName"),
    *("status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)


def _key_reference(reference: Tree, path: str) -> Causes:
    yield from formatted(dns_subdomain)(reference.get("name", ""), f"{path}.name")
    if key := reference.get("key"):
        yield from (invalid(f"{path}.key", key, said) for said in config_key(key))
    else:
        yield required(f"{path}.key")


def field_reference(reference: Tree, path: str) -> Causes:
    field = reference.get("fieldPath", "")
    if not field:
        yield required(f"{path}.fieldPath")
    elif field.partition("[")[0] not in _POD_FIELDS:
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: field label not supported: {field}")


def _value_source(variable: Tree, path: str) -> Causes:
    source = variable.get("valueFrom")
    if source is None:
        return
    found = [name for name in _SOURCES if name in source]
    if not found:
        names = ", ".join(f"`{name}`" for name in _SOURCES[:-1])
        yield invalid(f"{path}.valueFrom", "", f"must specify one of: {names} or `{_SOURCES[-1]}`")
    elif variable.get("value"):
        yield invalid(f"{path}.valueFrom", "", "may not be specified when `value` is not empty")
    elif len(found) > 1:
        yield invalid(f"{path}.valueFrom", "", "may not have more than one field specified at a time")
    yield from _ONE_SOURCE(source, f"{path}.valueFrom")


_ONE_SOURCE = all_of(
    at("fieldRef", field_reference),
    at("resourceFieldRef", needs("resource")),
    at("configMapKeyRef", _key_reference),
    at("secretKeyRef", _key_reference),
)
_VARIABLE = all_of(needs("name"), at("name", formatted(environment_name)), _value_source)


def _environment_sources(sources: Tree, path: str) -> Causes:
    for index, source in enumerate(sources):
        if not source.keys() & {"configMapRef", "secretRef"}:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        for name in source.keys() & {"configMapRef", "secretRef"}:
            yield from needs("name")(source[name], f"{path}[{index}].{name}")
        if prefix := source.get("prefix"):
            yield from formatted(environment_name)(prefix, f"{path}[{index}].prefix")


# --- mounts ----------------------------------------------------------------------------------------------------------


def mounts(container: Tree, path: str, volumes: set[str]) -> Causes:
    """Each mount is of a volume that there is, and no two are in one place."""
    taken: set[str] = set()
    for index, mount in enumerate(children(container, "volumeMounts")):
        place, name, where = f"{path}.volumeMounts[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{place}.name")
        if name not in volumes:
            yield not_found(f"{place}.name", name)
        if not where:
            yield required(f"{place}.mountPath")
        elif where in taken:
            yield invalid(f"{place}.mountPath", where, "must be unique")
        taken.add(where)
        yield from _MOUNT(mount, f"{path}.volumeMounts")


_MOUNT = all_of(
    at("subPath", formatted(relative_path)),
    at("subPathExpr", formatted(relative_path)),
    at("mountPropagation", one_of("Bidirectional", "HostToContainer", "None")),
)


# --- probes and hooks ------------------------------------------------------------------------------------------------

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_HTTP_GET = all_of(needs("path"), at("port", port_or_name(port_name)), at("scheme", one_of("HTTP", "HTTPS")))


def _handler(handler: Tree, path: str) -> Causes:
    more = "may not specify more than 1 handler type"
    yield from one_member(
        handler, path, _HANDLERS, none="must specify a handler type", more=lambda place: forbidden(place, more)
    )
    first = next((name for name in _HANDLERS if name in handler), "")
    rules = {
        "exec": needs("command"),
        "httpGet": _HTTP_GET,
        "tcpSocket": at("port", port_or_name(port_name)),
        "grpc": at("port", PORT),
    }
    if first in rules:
        yield from rules[first](handler[first], f"{path}.{first}")


_PROBE = all_of(
    _handler,
    at("initialDelaySeconds", at_least(0)),
    at("timeoutSeconds", at_least(0)),
    at("periodSeconds", at_least(0)),
    at("successThreshold", at_least(0)),
    at("failureThreshold", at_least(0)),
    at("terminationGracePeriodSeconds", at_least(1, "must be greater than 0")),
)


def _succeeds_at_once(probe: Tree, path: str) -> Causes:
    if probe.get("successThreshold") != 1:
        yield invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1")


# --- resources -------------------------------------------------------------------------------------------------------

_STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def _resource_name(name: str, path: str) -> Causes:
    yield from (invalid(path, name, said) for said in qualified_name(name))
    if "/" not in name and name not in (*_STANDARD_RESOURCES, "storage") and not name.startswith("hugepages-"):
        yield invalid(path, name, "must be a standard resource type or fully qualified")
        yield invalid(path, name, "must be a standard resource for containers")


def _is_elastic(name: str) -> bool:
    """Whether more of it may be promised than there is."""
    return (("/" not in name) or name.startswith("kubernetes.io/")) and not name.startswith("hugepages-")


def _amounts(amounts: Tree, path: str) -> Causes:
    for name, value in amounts.items():
        place = f"{path}[{name}]"
        yield from _resource_name(name, place)
        yield from amount()(value, place)
        if "/" in name and Quantity(value).value % 1:
            yield invalid(place, value, "must be an integer")


def resources(value: Tree, path: str) -> Causes:
    limits, requests = value.get("limits", {}), value.get("requests", {})
    yield from _amounts(limits, f"{path}.limits")
    for name, asked in requests.items():
        yield from _amounts({name: asked}, f"{path}.requests")
        if name in limits:
            if Quantity(asked) > Quantity(limits[name]):
                said = f"must be less than or equal to {name} limit of {limits[name]}"
                yield invalid(f"{path}.requests", asked, said)
        elif not _is_elastic(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")


# --- containers ------------------------------------------------------------------------------------------------------

SECURITY_CONTEXT = all_of(
    at("runAsUser", ID),
    at("runAsGroup", ID),
    at("procMount", one_of("Default", "Unmasked")),
)
INIT_CONTAINER = all_of(
    needs("name"),
    when(lambda container: bool(container.get("name")), at("name", formatted(dns_label))),
    needs("image"),
    at("image", _image),
    each("ports", _CONTAINER_PORT),
    unique("ports"),
    each("env", _VARIABLE),
    at("envFrom", _environment_sources),
    at("imagePullPolicy", one_of("Always", "IfNotPresent", "Never")),
    at("terminationMessagePolicy", one_of("File", "FallbackToLogsOnError")),
    at("resources", resources),
    at("securityContext", SECURITY_CONTEXT),
)
CONTAINER = all_of(
    INIT_CONTAINER,
    at("lifecycle.postStart", _handler),
    at("lifecycle.preStop", _handler),
    at("livenessProbe", _PROBE, _succeeds_at_once),
    at("readinessProbe", _PROBE),
    at("startupProbe", _PROBE, _succeeds_at_once),
)


def container_names(spec: Tree, path: str) -> Causes:
    """Names are unique among all containers of the pod."""
    seen: set[str] = set()
    for where in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(children(spec, where)):
            name = container.get("name")
            if name and name in seen:
                yield duplicate(f"{path}.{where}[{index}].name", name)
            seen.add(name)


def host_ports(spec: Tree, path: str) -> Causes:
    """A port of the host is taken once, and is the container's own where they share the network."""
    taken: set[str] = set()
    for index, container in enumerate(children(spec, "containers")):
        for number, port in enumerate(children(container, "ports")):
            place, host_port = f"{path}.containers[{index}].ports[{number}].hostPort", port.get("hostPort")
            if not host_port:
                continue
            key = f"{port.get('protocol')}/{port.get('hostIP', '')}/{host_port}"
            if key in taken:
                yield duplicate(place, key)
            taken.add(key)
            if child(spec, "hostNetwork") and host_port != port.get("containerPort"):
                yield invalid(place, host_port, "must match `containerPort` when `hostNetwork` is true")
