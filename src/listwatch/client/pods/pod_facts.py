"""Facts about pods that exec, port-forward, logs and copies need, read from their JSON, whatever class they have."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.errors import RequestError
from listwatch.json_value import JSONObject
from listwatch.objects.object import Object

__all__ = ["check_port", "containers_of", "default_container", "is_ready", "port_number"]

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def is_ready(pod: Object) -> bool:
    """Whether a pod is ready, and not being deleted."""
    tree = pod.to_dict()
    conditions = _objects(_child(tree, "status"), "conditions")
    is_deleted = bool(_child(tree, "metadata").get("deletionTimestamp"))
    return not is_deleted and any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def containers_of(pod: Object) -> list[str]:
    """Return the names of all containers: the ordinary ones, the init and the ephemeral containers."""
    spec = _child(pod.to_dict(), "spec")
    return [str(each.get("name", "")) for kind in _CONTAINERS for each in _objects(spec, kind)]


def default_container(pod: Object) -> str:
    """Return the container that commands use if none is named: that of an annotation, or the first one."""
    tree = pod.to_dict()
    names = containers_of(pod)
    chosen = _child(_child(tree, "metadata"), "annotations").get(_DEFAULT_CONTAINER)
    if isinstance(chosen, str) and chosen in names:
        return chosen
    return names[0] if names else ""


def check_port(port: object) -> None:
    """Raise RequestError if this is not the number of a port."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 2**16:
        raise RequestError(f"the port must be a number from 1 to 65535, not {port!r}")


def port_number(pod: Object, port: int | str) -> int:
    """Return the number of a container port by its name; a number is returned as it is."""
    if isinstance(port, int):
        return port
    ports = [
        each
        for container in _objects(_child(pod.to_dict(), "spec"), "containers")
        for each in _objects(container, "ports")
    ]
    for each in ports:
        number = each.get("containerPort")
        if each.get("name") == port and isinstance(number, int):
            return number
    names = ", ".join(str(each["name"]) for each in ports if each.get("name")) or "none"
    raise RequestError(f"pod {pod.name} has no container port named {port!r}; its named ports: {names}")


def _child(tree: JSONObject, name: str) -> JSONObject:
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def _objects(tree: JSONObject, name: str) -> Iterator[JSONObject]:
    found = tree.get(name)
    yield from (each for each in found or () if isinstance(each, dict)) if isinstance(found, list) else ()
