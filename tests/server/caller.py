"""A plain HTTP client for the tests of the server."""

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import aiohttp

from listwatch.server.api_server import APIServer

MERGE_PATCH = "application/merge-patch+json"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, **metadata}, "data": {"of": name}}


@dataclass
class Reply:
    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Events:
    """The events of a watch."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.response = response

    async def next(self) -> Any:
        line = await self.response.content.readline()
        assert line, "the watch has ended"
        return json.loads(line)

    async def some(self, count: int) -> list[tuple[str, str]]:
        """Return the types and names of the next events."""
        return [brief(await self.next()) for _ in range(count)]

    async def rest(self) -> list[Any]:
        return [json.loads(line) async for line in self.response.content]


def brief(event: Any) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


class Caller:
    """A client without retries."""

    def __init__(self, server: APIServer, *, token: str | None = None, **headers: str) -> None:
        self._url = server.url
        self._ca_certificate = server.ca_certificate.decode()
        token = server.token if token is None else token
        given = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self._headers = {"Accept-Encoding": "identity", **given, **headers}

    async def __aenter__(self) -> Self:
        trust = ssl.create_default_context(cadata=self._ca_certificate) if self._ca_certificate else True
        self.session = aiohttp.ClientSession(
            headers=self._headers,
            connector=aiohttp.TCPConnector(limit=0, ssl=trust),
            auto_decompress=False,
            read_bufsize=1 << 20,  # an event is one line, however large
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", MERGE_PATCH if method == "PATCH" else "application/json")
        url = aiohttp.client.URL(self._url + path, encoded=True)
        # A file, because aiohttp warns of large bodies in any other form.
        data = None if body is None else io.BytesIO(body)
        async with self.session.request(method, url, data=data, headers=headers) as response:
            return Reply(response.status, response.headers, await response.read())

    async def create(self, name: str, **metadata: Any) -> Any:
        reply = await self("POST", CONFIG_MAPS, config_map(name, **metadata))
        assert reply.status == 201, reply.body
        return reply.json

    async def delete(self, name: str) -> None:
        reply = await self("DELETE", f"{CONFIG_MAPS}/{name}")
        assert reply.status == 200, reply.body

    @asynccontextmanager
    async def watch(self, query: str = "", path: str = CONFIG_MAPS, **headers: str) -> AsyncIterator[Events]:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(f"{self._url}{path}?watch=true&{query}", headers=headers) as response:
            yield Events(response)


@asynccontextmanager
async def raw_connection(server: APIServer) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which arbitrary bytes can be sent."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**16)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def raw_watch(server: APIServer, query: str = "", **headers: str) -> AsyncIterator[asyncio.StreamReader]:
    """A watch that is read chunk by chunk, on request only."""
    async with raw_connection(server) as (reader, writer):
        lines = [f"GET {CONFIG_MAPS}?watch=1&{query} HTTP/1.1", "Host: x", f"Authorization: Bearer {server.token}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await reader.readuntil(b"\r\n\r\n")
        yield reader


async def next_chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await reader.readline(), 16)
    return (await reader.readexactly(size + 2))[:-2]
