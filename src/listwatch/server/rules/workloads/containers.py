"""Rules for the containers of a pod: images, ports, environment, mounts, probes, resources."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.quantity import Quantity
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_found, required
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    at_least,
    at_nonempty,
    between,
    config_key,
    dns_label,
    dns_subdomain,
    each,
    environment_name,
    exactly_one_field,
    formatted,
    not_negative,
    one_of,
    port_name,
    port_or_name,
    qualified_name,
    quantity,
    relative_path,
    require_fields,
)

__all__ = ["ID", "containers", "field_reference", "images"]

PORT = between(1, 65535)
ID = between(0, 2**31 - 1)
PROTOCOL = one_of("SCTP", "TCP", "UDP")


def _image(image: str, path: str) -> Causes:
    if image != image.strip():
        yield invalid(path, image, "must not have leading or trailing whitespace")


def _container_port(port: JSONObject, path: str) -> Causes:
    if number := integer_at(port, "containerPort"):
        yield from PORT(number, f"{path}.containerPort")
    else:
        yield required(f"{path}.containerPort")


_CONTAINER_PORT = all_of(_container_port, at_nonempty("hostPort", PORT), at("protocol", PROTOCOL))


def _ports(container: JSONObject, path: str) -> Causes:
    names: set[str] = set()
    for index, port in enumerate(objects_at(container, "ports")):
        field, name = f"{path}.ports[{index}]", text_at(port, "name")
        if problems := [*port_name(name)] if name else []:
            yield from (invalid(f"{field}.name", name, problem) for problem in problems)
        elif name in names:
            yield duplicate(f"{field}.name", name)
        elif name:
            names.add(name)
        yield from _CONTAINER_PORT(port, field)


# --- environment -----------------------------------------------------------------------------------------------------

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_POD_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "metadata.annotations", "metadata.labels"),
    *("spec.nodeName", "spec.serviceAccountName", "spec.host", "spec.restartPolicy", "spec.schedulerName"),
    *("status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)


def _key_reference(reference: JSONObject, path: str) -> Causes:
    yield from formatted(dns_subdomain)(text_at(reference, "name"), f"{path}.name")
    if key := text_at(reference, "key"):
        yield from (invalid(f"{path}.key", key, detail) for detail in config_key(key))
    else:
        yield required(f"{path}.key")


def field_reference(reference: JSONObject, path: str) -> Causes:
    field = text_at(reference, "fieldPath")
    if not field:
        yield required(f"{path}.fieldPath")
    elif field.partition("[")[0] not in _POD_FIELDS:
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: field label not supported: {field}")


def _value_source(variable: JSONObject, path: str) -> Causes:
    if "valueFrom" not in variable:
        return
    source = object_at(variable, "valueFrom")
    found = [name for name in _SOURCES if name in source]
    if not found:
        names = ", ".join(f"`{name}`" for name in _SOURCES[:-1])
        yield invalid(f"{path}.valueFrom", "", f"must specify one of: {names} or `{_SOURCES[-1]}`")
    elif variable.get("value"):
        yield invalid(f"{path}.valueFrom", "", "may not be specified when `value` is not empty")
    elif len(found) > 1:
        yield invalid(f"{path}.valueFrom", "", "may not have more than one field specified at a time")
    yield from _VALUE_SOURCE(source, f"{path}.valueFrom")


_VALUE_SOURCE = all_of(
    at("fieldRef", field_reference),
    at("resourceFieldRef", require_fields("resource")),
    at("configMapKeyRef", _key_reference),
    at("secretKeyRef", _key_reference),
)
_VARIABLE = all_of(require_fields("name"), at("name", formatted(environment_name)), _value_source)


def _environment_sources(sources: list[JSONObject], path: str) -> Causes:
    for index, source in enumerate(sources):
        if prefix := source.get("prefix"):
            yield from formatted(environment_name)(prefix, f"{path}[{index}].prefix")
        found = [name for name in ("configMapRef", "secretRef") if name in source]
        for name in found:
            yield from require_fields("name")(source[name], f"{path}[{index}].{name}")
        if not found:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(found) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


# --- mounts ----------------------------------------------------------------------------------------------------------


def mounts(container: JSONObject, path: str, volumes: set[str]) -> Causes:
    """Each mount must name a volume of the pod, and no two may have the same mountPath."""
    mounted: set[str] = set()
    for index, mount in enumerate(objects_at(container, "volumeMounts")):
        field, name, mount_path = f"{path}.volumeMounts[{index}]", text_at(mount, "name"), text_at(mount, "mountPath")
        if not name:
            yield required(f"{field}.name")
        if name not in volumes:
            yield not_found(f"{field}.name", name)
        if not mount_path:
            yield required(f"{field}.mountPath")
        if mount_path in mounted:
            yield invalid(f"{field}.mountPath", mount_path, "must be unique")
        mounted.add(mount_path)
        yield from _MOUNT(mount, f"{path}.volumeMounts")


_MOUNT = all_of(
    at("subPath", formatted(relative_path)),
    at("subPathExpr", formatted(relative_path)),
    at("mountPropagation", one_of("Bidirectional", "HostToContainer", "None")),
)


# --- probes and hooks ------------------------------------------------------------------------------------------------

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_HTTP_GET = all_of(require_fields("path"), at("port", port_or_name(port_name)), at("scheme", one_of("HTTP", "HTTPS")))
_HANDLER_RULES: Mapping[str, Check] = {
    "exec": require_fields("command"),
    "httpGet": _HTTP_GET,
    "tcpSocket": at("port", port_or_name(port_name)),
    "grpc": at("port", PORT),
}


def _handler(handler: JSONObject, path: str) -> Causes:
    more = "may not specify more than 1 handler type"
    yield from exactly_one_field(
        handler, path, _HANDLERS, none="must specify a handler type", more=lambda field: forbidden(field, more)
    )
    first = next((name for name in _HANDLERS if name in handler), "")
    if rule := _HANDLER_RULES.get(first):
        yield from rule(handler[first], f"{path}.{first}")


_PROBE = all_of(
    _handler,
    not_negative("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"),
    at("terminationGracePeriodSeconds", at_least(1, "must be greater than 0")),
)


def _success_threshold_of_one(probe: JSONObject, path: str) -> Causes:
    if probe.get("successThreshold") != 1:
        yield invalid(f"{path}.successThreshold", integer_at(probe, "successThreshold"), "must be 1")


# --- resources -------------------------------------------------------------------------------------------------------

_STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def _resource_name(name: str, path: str) -> Causes:
    yield from (invalid(path, name, detail) for detail in qualified_name(name))
    if "/" not in name and name not in (*_STANDARD_RESOURCES, "storage") and not name.startswith("hugepages-"):
        yield invalid(path, name, "must be a standard resource type or fully qualified")
        yield invalid(path, name, "must be a standard resource for containers")


def _can_be_overcommitted(name: str) -> bool:
    """Return whether the limit of a resource may exceed the request."""
    return (("/" not in name) or name.startswith("kubernetes.io/")) and not name.startswith("hugepages-")


def _quantities(quantities: dict[str, str], path: str) -> Causes:
    for name, value in quantities.items():
        field = f"{path}[{name}]"
        yield from _resource_name(name, field)
        yield from quantity()(value, field)
        if "/" in name and Quantity(value).value % 1:
            yield invalid(field, value, "must be an integer")


def _resources(value: dict[str, dict[str, str]], path: str) -> Causes:
    limits, requests = value.get("limits", {}), value.get("requests", {})
    yield from _quantities(limits, f"{path}.limits")
    for name, requested in requests.items():
        yield from _quantities({name: requested}, f"{path}.requests")
        if name in limits:
            if Quantity(requested) != Quantity(limits[name]) and not _can_be_overcommitted(name):
                yield invalid(f"{path}.requests", requested, f"must be equal to {name} limit of {limits[name]}")
            elif Quantity(requested) > Quantity(limits[name]):
                detail = f"must be less than or equal to {name} limit of {limits[name]}"
                yield invalid(f"{path}.requests", requested, detail)
        elif not _can_be_overcommitted(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")


# --- containers ------------------------------------------------------------------------------------------------------

SECURITY_CONTEXT = all_of(
    at("runAsUser", ID),
    at("runAsGroup", ID),
    at("procMount", one_of("Default", "Unmasked")),
)
_BEFORE_MOUNTS = all_of(
    require_fields("name"),
    at_nonempty("name", formatted(dns_label)),
    require_fields("image"),
    at("terminationMessagePolicy", one_of("File", "FallbackToLogsOnError")),
    _ports,
    each("env", _VARIABLE),
    at("envFrom", _environment_sources),
)
_AFTER_MOUNTS = all_of(
    at("imagePullPolicy", one_of("Always", "IfNotPresent", "Never")),
    at("resources", _resources),
    at("securityContext", SECURITY_CONTEXT),
)
_LIFECYCLE = all_of(
    at("lifecycle.postStart", _handler),
    at("lifecycle.preStop", _handler),
    at("livenessProbe", _PROBE, _success_threshold_of_one),
    at("readinessProbe", _PROBE),
    at("startupProbe", _PROBE, _success_threshold_of_one),
)


def containers(spec: JSONObject, path: str) -> Causes:
    """All containers of a pod, in the order of kube-apiserver: a message lists the causes in this order."""
    volumes = {text_at(volume, "name") for volume in objects_at(spec, "volumes") if volume.get("name")}
    names: set[str] = set()
    if not objects_at(spec, "containers"):
        yield required(f"{path}.containers")
    for index, container in enumerate(objects_at(spec, "containers")):
        field = f"{path}.containers[{index}]"
        yield from _common(container, field, volumes)
        yield from _unique_name(container, field, names)
        yield from _LIFECYCLE(container, field)
    yield from _unique_host_ports(objects_at(spec, "containers"), f"{path}.containers")
    names.discard("")
    for index, container in enumerate(objects_at(spec, "initContainers")):
        field = f"{path}.initContainers[{index}]"
        yield from _common(container, field, volumes)
        if container.get("name"):
            yield from _unique_name(container, field, names)
        # As in kube-apiserver, the path names the first init container.
        yield from _unique_host_ports([container], f"{path}.initContainers")
        yield from _init_lifecycle(container, field)
    targets = {*names}
    for index, container in enumerate(objects_at(spec, "ephemeralContainers")):
        field = f"{path}.ephemeralContainers[{index}]"
        yield from _common(container, field, volumes)
        yield from at("image", _image)(container, field)
        yield from _unique_name(container, field, names)
        yield from _ephemeral(container, field, targets)
    yield from _host_network_ports(spec, path)


def images(spec: JSONObject, path: str) -> Causes:
    """The images of a pod; those of a template may have whitespace."""
    for field in ("containers", "initContainers"):
        for index, container in enumerate(objects_at(spec, field)):
            yield from at("image", _image)(container, f"{path}.{field}[{index}]")


def _common(container: JSONObject, path: str, volumes: set[str]) -> Causes:
    yield from _BEFORE_MOUNTS(container, path)
    yield from mounts(container, path, volumes)
    yield from _AFTER_MOUNTS(container, path)


def _unique_name(container: JSONObject, path: str, seen: set[str]) -> Causes:
    """Names must be unique among all containers of the pod."""
    if (name := text_at(container, "name")) in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)


_NOT_EPHEMERAL = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)


def _ephemeral(container: JSONObject, path: str, targets: set[str]) -> Causes:
    detail = "cannot be set for an Ephemeral Container"
    if (target := text_at(container, "targetContainerName")) and target not in targets:
        yield not_found(f"{path}.targetContainerName", target)
    yield from (forbidden(f"{path}.{name}", detail) for name in _NOT_EPHEMERAL if container.get(name))
    for index, mount in enumerate(objects_at(container, "volumeMounts")):
        for name in ("subPath", "subPathExpr"):
            if mount.get(name):
                yield forbidden(f"{path}.volumeMounts[{index}].{name}", detail)


def _init_lifecycle(container: JSONObject, path: str) -> Causes:
    if container.get("restartPolicy") == "Always":
        yield from _LIFECYCLE(container, path)
        return
    for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            detail = "may not be set for init containers without restartPolicy=Always"
            yield forbidden(f"{path}.{name}", detail)


def _unique_host_ports(found: list[JSONObject], path: str) -> Causes:
    seen: set[str] = set()
    for index, container in enumerate(found):
        for number, port in enumerate(objects_at(container, "ports")):
            if not (host_port := port.get("hostPort")):
                continue
            key = f"{port.get('protocol')}/{text_at(port, 'hostIP')}/{host_port}"
            if key in seen:
                yield duplicate(f"{path}[{index}].ports[{number}].hostPort", key)
            seen.add(key)


def _host_network_ports(spec: JSONObject, path: str) -> Causes:
    """Host ports equal the container ports if the pod uses the host's network."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(objects_at(spec, "containers")):
        for number, port in enumerate(objects_at(container, "ports")):
            field, host_port = f"{path}.containers[{index}].ports[{number}].hostPort", port.get("hostPort")
            if host_port and host_port != port.get("containerPort"):
                yield invalid(field, host_port, "must match `containerPort` when `hostNetwork` is true")
