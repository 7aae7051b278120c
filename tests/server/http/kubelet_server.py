"""A server with a kubelet and one pod, for tests of streams."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from tests.server.caller import Caller

from listwatch.server import APIServer, Kubelet

PODS = "/api/v1/namespaces/default/pods"
POD = f"{PODS}/p"


@asynccontextmanager
async def served(kubelet: Kubelet | None, **options: Any) -> AsyncIterator[Caller]:
    async with APIServer(kubelet=kubelet, **options) as server, Caller(server) as call:
        spec = {"nodeName": "n1", "containers": [{"name": "a", "image": "x"}]}
        assert (await call("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})).status == 201
        yield call


@asynccontextmanager
async def web_socket(call: Caller, path: str, *protocols: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    url = f"{call._url}{path}"
    async with call.session.ws_connect(url, protocols=protocols, max_msg_size=0) as socket:
        yield socket


async def messages(socket: aiohttp.ClientWebSocketResponse) -> list[bytes]:
    """All messages until the server closes the WebSocket, without those that have no data."""
    return [each.data async for each in socket if len(each.data) > 1]


def abort(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Close the connection as that of a client that was killed."""
    connection = socket._response.connection
    assert connection is not None
    assert connection.transport is not None
    connection.transport.abort()
