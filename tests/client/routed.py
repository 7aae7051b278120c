"""A Transport that returns documents by path. The documents may be changed during a test."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.testing.clocks import InstantClock

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}


class Documents:
    """Responds to each path with its document. Errors are raised, a number is a status code, a missing path is 404."""

    def __init__(self, routes: Mapping[str, Any]) -> None:
        self.routes = dict(routes)
        self.then: dict[str, Any] = {}
        """Documents from the second request of a path on."""
        self.requests: list[HTTPRequest] = []
        self.gates: dict[str, asyncio.Event] = {}
        """Events that the responses of a path wait for."""

    @property
    def paths(self) -> list[str]:
        return [each.target.partition("?")[0] for each in self.requests]

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        self.requests.append(request)
        await asyncio.sleep(0)
        path = request.target.partition("?")[0]
        found = self.routes.get(path, 404)
        if path in self.then:
            self.routes[path] = self.then.pop(path)
        if gate := self.gates.get(path):
            await gate.wait()
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            return _response(found, NOT_FOUND if found == 404 else {})
        return _response(200, found)

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> NoReturn:
        raise AssertionError("documents are not streamed")

    async def aclose(self) -> None:
        pass


def _response(status: int, tree: Any) -> HTTPResponse:
    return HTTPResponse(status, {"Content-Type": "application/json"}, json.dumps(tree).encode())


@asynccontextmanager
async def routed(routes: Mapping[str, Any]) -> AsyncIterator[tuple[Documents, ClientSet]]:
    documents = Documents(routes)
    config = ClientConfig(host="http://127.0.0.1:1")
    async with RESTClient(config, transport=documents, clock=InstantClock()) as rest:
        yield documents, ClientSet(rest)


# --- documents of discovery ------------------------------------------------------------------------------------------


def aggregated(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": [*groups]}


def group(name: str, *versions: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name} if name else {}, "versions": [*versions]}


def version(name: str, *resources: dict[str, Any], freshness: str = "Current") -> dict[str, Any]:
    return {"version": name, "freshness": freshness, "resources": [*resources]}


def resource(plural: str, kind: str, *, namespaced: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": "Namespaced" if namespaced else "Cluster",
        "singularResource": kind.lower(),
        "verbs": ["get", "list", "watch"],
        **more,
    }


def widgets(**more: Any) -> dict[str, Any]:
    return group("example.com", version("v1", resource("widgets", "Widget", shortNames=["wd"], **more)))


PODS = resource("pods", "Pod", shortNames=["po"], categories=["all"])
CORE = aggregated(group("", version("v1", PODS, resource("nodes", "Node", namespaced=False, shortNames=["no"]))))
APPS = group("apps", version("v1", resource("deployments", "Deployment", shortNames=["deploy"], categories=["all"])))
DISCOVERY = {"/api": CORE, "/apis": aggregated(APPS)}
WITH_WIDGETS = {"/api": CORE, "/apis": aggregated(APPS, widgets())}


def listing(kind: str) -> dict[str, Any]:
    return {"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": []}
