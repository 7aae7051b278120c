"""Subresources that lead to a node or a pod: log, exec, attach, portforward and proxy.

`Connections` finds the target of such a request. Without a kubelet, the handlers respond as kube-apiserver does when no
kubelet and no container can be reached; `http.kubelet_exchange` serves the requests that a kubelet responds to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import NoReturn
from urllib.parse import urlencode

from listwatch.errors import APIError, BadRequestError, InvalidError, NotFoundError, ServiceUnavailableError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.field_errors import forbidden, invalid
from listwatch.server.json_tree import integer_at, objects_at, quoted, text_at
from listwatch.server.kubelet.channel_protocols import TRANSLATED, choose
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.requests import APIRequest, Query, Response

__all__ = [
    "COMMANDS",
    "ConnectionHandler",
    "Connections",
    "LogHandler",
    "PodTarget",
    "ProxyTarget",
    "connection_options",
    "container_of",
    "with_connection_options",
]

COMMANDS = ("exec", "attach")
_CONNECTED = (*COMMANDS, "portforward", "proxy", "log")

_PODS, _NODES, _SERVICES = "/pods", "/nodes", "/services"
_KUBELET_PORT = 10250
# In the order in which kube-apiserver prefers them.
_ADDRESSES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
# The parameters of a request to the API server and to a kubelet.
_STREAMS = {"stderr": "error", "stdin": "input", "stdout": "output", "tty": "tty"}


@dataclass(frozen=True, slots=True)
class PodTarget:
    """A pod, as JSON, and its container; the container is empty for a connection to a port."""

    pod: bytes
    container: str
    node: str


@dataclass(frozen=True, slots=True)
class ProxyTarget:
    """The name of a proxy target in its parts: `name`, `name:port` or `scheme:name:port`."""

    name: str
    scheme: str = ""
    port: str = ""
    tree: JSONObject = field(default_factory=dict, repr=False)
    """The pod, node or Service."""


def is_web_socket(headers: Mapping[str, str]) -> bool:
    """Whether a request is for an upgrade to a WebSocket."""
    return headers.get("Upgrade", "").lower() == "websocket" and is_upgrade(headers)


def is_upgrade(headers: Mapping[str, str]) -> bool:
    return "upgrade" in headers.get("Connection", "").lower()


def requested_protocols(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the subprotocols of a WebSocket request."""
    return tuple(filter(None, (each.strip() for each in headers.get("Sec-WebSocket-Protocol", "").split(","))))


def needs_connection(request: APIRequest, *, has_kubelet: bool) -> bool:
    """Whether a request is served over a connection: by a kubelet, or an error in the streams of a new protocol."""
    if request.subresource not in _CONNECTED or request.resource.group or request.verb not in ("connect", "get"):
        return False
    return has_kubelet or (
        request.subresource in COMMANDS
        and is_web_socket(request.headers)
        and choose(requested_protocols(request.headers), TRANSLATED) is not None
    )


def connection_options(request: APIRequest) -> JSONObject:
    """Return the options of a connection as an object, such as PodExecOptions."""
    query, kind = request.query, request.kind
    found: JSONObject = {"kind": kind.kind, "apiVersion": kind.api_version}
    match request.subresource:
        case "proxy":
            found["path"] = request.subpath
        case "portforward":
            found["ports"] = [int(each) for text in query.all("ports") for each in text.split(",") if each.isdecimal()]
        case _:
            found |= {name: query.flag(name) for name in _STREAMS}
            found |= {"container": query.text("container"), "command": [*query.all("command")]}
    return {name: value for name, value in found.items() if value}


def with_connection_options(request: APIRequest, options: JSONObject) -> APIRequest:
    """Return a request with the options that admission has changed."""
    if request.subresource == "proxy":
        return replace(request, subpath=text_at(options, "path"))
    names = ("ports", "container", "command", *_STREAMS)
    given = {name: value if isinstance(value := options.get(name), list) else [value] for name in names}
    texts = {name: [_query_text(each) for each in values if each] for name, values in given.items()}
    return replace(request, query=Query(texts))


def _query_text(value: JSON) -> str:
    return "true" if value is True else str(value)


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


class Connections:
    """Finds the targets of requests that lead to a kubelet."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def pod_target(self, request: APIRequest) -> PodTarget:
        """Return the pod and the container of a request; `node` is empty if the pod has none."""
        stored = self._objects.get(request)
        pod = decode_stored(stored)
        container = container_of(pod, request.query.text("container")) if request.subresource != "portforward" else ""
        return PodTarget(self._objects.encode(stored, request.resource), container, text_at(pod, "spec", "nodeName"))

    def stream_target(self, request: APIRequest) -> PodTarget:
        """Return the target of exec, attach or portforward; raises an error if its pod has no node."""
        target = self.pod_target(request)
        if not target.node:
            raise BadRequestError(f"pod {request.name} does not have a host assigned")
        return target

    def proxy_target(self, request: APIRequest) -> ProxyTarget:
        """Return the target of a proxied request; raises an error if it is not stored."""
        plural = request.resource.plural
        target = _proxy_target(request)
        storage_id = {"pods": _PODS, "nodes": _NODES}.get(plural, _SERVICES)
        stored = self._objects.storage.get(storage_id, ObjectKey(request.namespace, target.name))
        if stored is None:
            raise NotFoundError.of(plural, target.name)
        return replace(target, tree=decode_stored(stored))

    def refused(self, node: str) -> str:
        """Return why the kubelet of a node cannot be reached; raises an error if the node has no address."""
        return f"dial tcp {self.kubelet_address(node)}: connect: connection refused"

    def refused_command(self, request: APIRequest, target: PodTarget) -> str:
        """Return why the kubelet cannot run a command, as the error channel reports it."""
        refused, query = self.refused(target.node), request.query
        parameters = [("command", each) for each in query.all("command")] if request.subresource == "exec" else []
        parameters += [(name, "1") for parameter, name in _STREAMS.items() if query.flag(parameter)]
        path = f"/{request.subresource}/{request.namespace}/{request.name}/{target.container}"
        url = f"https://{self.kubelet_address(target.node)}{path}"
        return f'error sending request: Post "{url}?{urlencode(parameters)}": {refused}'

    def kubelet_address(self, node: str) -> str:
        """Return the address of the kubelet of a node; raises the error of kube-apiserver if it has none."""
        stored = self._objects.storage.get(_NODES, ObjectKey("", node))
        if stored is None:
            raise NotFoundError.of("pods", node)  # kube-apiserver names the resource of the request
        tree = decode_stored(stored)
        found = {text_at(each, "type"): text_at(each, "address") for each in objects_at(tree, "status", "addresses")}
        address = next((found[kind] for kind in _ADDRESSES if kind in found), "")
        if not address:
            raise APIError("no preferred addresses found; known addresses: []", status_code=500, reason="")
        port = integer_at(tree, "status", "daemonEndpoints", "kubeletEndpoint", "Port")
        return f"{address}:{port or _KUBELET_PORT}"


def check_log_options(name: str, query: Query) -> None:
    """Raise InvalidError if the options of a log are invalid."""
    problems = [
        invalid(name, number, "must be greater than 0" if least else "must be greater than or equal to 0")
        for name, least in (("tailLines", 0), ("limitBytes", 1), ("sinceSeconds", 1))
        if (number := query.number(name)) is not None and number < least
    ]
    if "sinceSeconds" in query and "sinceTime" in query:
        problems.append(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    if problems:
        raise InvalidError.of("PodLogOptions", name, problems)


def no_log() -> Response:
    """Return the log of a pod that has never had a node."""
    return Response(b"", code=204, headers={"Content-Type": "text/plain"})


class LogHandler:
    """Responds with the log of a container: without content, because none has run."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __call__(self, request: APIRequest) -> Response:
        check_log_options(request.name, request.query)
        target = self._connections.pod_target(request)
        return self.refuse(request, target) if target.node else no_log()

    def refuse(self, request: APIRequest, target: PodTarget) -> NoReturn:
        """Raise the error of a kubelet that cannot be reached."""
        address = self._connections.kubelet_address(target.node)
        url = f"https://{address}/containerLogs/{request.namespace}/{request.name}/{target.container}"
        raise APIError(f'Get "{url}": {self._connections.refused(target.node)}', status_code=500, reason="")


class ConnectionHandler:
    """Responds to exec, attach, portforward and proxy, all of which end at a kubelet, a pod or a Service."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __call__(self, request: APIRequest) -> NoReturn:
        """Raise the error of a kubelet, pod or Service that cannot be reached."""
        if request.subresource != "proxy":
            raise self._stream_error(request)
        target = self._connections.proxy_target(request)
        match request.resource.plural:
            case "pods":
                raise _unreachable(text_at(target.tree, "status", "podIP"))
            case "nodes":
                raise _unreachable(self._connections.kubelet_address(target.name))
            case _:
                raise ServiceUnavailableError(f'no endpoints available for service "{target.name}"')

    def _stream_error(self, request: APIRequest) -> APIError:
        target = self._connections.stream_target(request)
        refused = self._connections.refused(target.node)
        if not is_upgrade(request.headers):
            return BadRequestError("Upgrade request required")
        return APIError(f"error dialing backend: {refused}", status_code=500, reason="")


def _proxy_target(request: APIRequest) -> ProxyTarget:
    match request.name.split(":"):
        case [name] if name:
            return ProxyTarget(name)
        case [name, port] if name:
            return ProxyTarget(name, port=port)
        case [("" | "http" | "https") as scheme, name, port] if name:
            return ProxyTarget(name, scheme, port)
        case _:
            raise BadRequestError(f"invalid {request.resource.singular} request {quoted(request.name)}")


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
