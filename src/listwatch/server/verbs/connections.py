"""Subresources that lead to a node or a pod: log, exec, attach, portforward and proxy.

This server has no kubelets. It responds as kube-apiserver does when no kubelet and no container can be reached.
"""

from __future__ import annotations

from ipaddress import ip_address

from listwatch.errors import APIError, BadRequestError, InvalidError, NotFoundError, ServiceUnavailableError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.field_errors import forbidden, invalid
from listwatch.server.json_tree import integer_at, objects_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.requests import APIRequest, Response

__all__ = ["ConnectionHandler", "LogHandler", "container_of"]

_PODS, _NODES, _SERVICES, _SLICES = "/pods", "/nodes", "/services", "discovery.k8s.io/endpointslices"
_KUBELET_PORT = 10250
# In the order in which kube-apiserver prefers them.
_ADDRESSES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def container_of(pod: JSONObject, requested: str) -> str:
    """Return the requested container, or the only one; raises BadRequestError."""
    name = text_at(pod, "metadata", "name")
    known = [text_at(each, "name") for kind in _CONTAINERS for each in objects_at(pod, "spec", kind)]
    if requested:
        if requested not in known:
            raise BadRequestError(f"container {requested} is not valid for pod {name}")
        return requested
    only = objects_at(pod, "spec", "containers")
    if len(only) != 1:
        choice = f", choose one of: [{' '.join(known)}]" if only else ""
        raise BadRequestError(f"a container name must be specified for pod {name}{choice}")
    return text_at(only[0], "name")


def kubelet_address(objects: ObjectStore, node: str) -> str:
    """Return the address of the kubelet of a node; raises the error of kube-apiserver if it has none."""
    stored = objects.storage.get(_NODES, ObjectKey("", node))
    if stored is None:
        raise NotFoundError.of("pods", node)  # kube-apiserver names the resource of the request
    tree = decode_stored(stored)
    found = {text_at(each, "type"): text_at(each, "address") for each in objects_at(tree, "status", "addresses")}
    address = next((found[kind] for kind in _ADDRESSES if kind in found), "")
    if not address:
        raise APIError("no preferred addresses found; known addresses: []", status_code=500, reason="")
    port = integer_at(tree, "status", "daemonEndpoints", "kubeletEndpoint", "Port")
    return f"{address}:{port or _KUBELET_PORT}"


class LogHandler:
    """Responds with the log of a container: without content, because none has run."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def __call__(self, request: APIRequest) -> Response:
        query = request.query
        problems = [
            invalid(name, number, "must be greater than 0" if least else "must be greater than or equal to 0")
            for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1))
            if (number := query.number(name)) is not None and number < least
        ]
        if "sinceSeconds" in query and "sinceTime" in query:
            problems.append(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
        if problems:
            raise InvalidError.of("PodLogOptions", request.name, problems)
        pod = decode_stored(self._objects.get(request))
        container = container_of(pod, query.text("container"))
        node = text_at(pod, "spec", "nodeName")
        if not node:
            return Response(b"", code=204, headers={"Content-Type": "text/plain"})
        address = kubelet_address(self._objects, node)
        url = f"https://{address}/containerLogs/{request.namespace}/{request.name}/{container}"
        reason = f'Get "{url}": dial tcp {address}: connect: connection refused'
        raise APIError(reason, status_code=500, reason="")


class ConnectionHandler:
    """Responds to exec, attach, portforward and proxy, all of which end at a kubelet, a pod or a Service."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def __call__(self, request: APIRequest) -> Response:
        if request.subresource != "proxy":
            raise self._stream_error(request)
        name = _target_name(request)
        match request.resource.plural:
            case "pods":
                raise self._pod_error(request, name)
            case "nodes":
                raise self._node_error(name)
            case _:
                raise self._service_error(request, name)

    def _stream_error(self, request: APIRequest) -> APIError:
        pod = decode_stored(self._objects.get(request))
        if request.subresource != "portforward":
            container_of(pod, request.query.text("container"))
        node = text_at(pod, "spec", "nodeName")
        if not node:
            return BadRequestError(f"pod {request.name} does not have a host assigned")
        address = kubelet_address(self._objects, node)
        if "upgrade" not in request.headers.get("Connection", "").lower():
            return BadRequestError("Upgrade request required")
        reason = f"error dialing backend: dial tcp {address}: connect: connection refused"
        return APIError(reason, status_code=500, reason="")

    def _pod_error(self, request: APIRequest, name: str) -> APIError:
        stored = self._objects.storage.get(_PODS, ObjectKey(request.namespace, name))
        if stored is None:
            return NotFoundError.of("pods", name)
        return _unreachable(text_at(decode_stored(stored), "status", "podIP"))

    def _node_error(self, name: str) -> APIError:
        if self._objects.storage.get(_NODES, ObjectKey("", name)) is None:
            return NotFoundError.of("nodes", name)
        return _unreachable(kubelet_address(self._objects, name))

    def _service_error(self, request: APIRequest, name: str) -> APIError:
        if self._objects.storage.get(_SERVICES, ObjectKey(request.namespace, name)) is None:
            return NotFoundError.of("services", name)
        return ServiceUnavailableError(f'no endpoints available for service "{name}"')


def _target_name(request: APIRequest) -> str:
    """Return the name of a proxy target: `name`, `name:port` or `scheme:name:port`."""
    parts = request.name.split(":")
    return parts[1] if len(parts) == 3 else parts[0]


def _unreachable(address: str) -> APIError:
    if not _is_global(address.rpartition(":")[0] or address):
        return BadRequestError("address not allowed")
    return ServiceUnavailableError(f"error trying to reach service: dial tcp {address}: connect: connection refused")


def _is_global(address: str) -> bool:
    """Whether a proxy may connect to an address; names are resolved later."""
    try:
        found = ip_address(address.strip("[]"))
    except ValueError:
        return bool(address)
    return not (found.is_loopback or found.is_unspecified or found.is_multicast or found.is_link_local)
