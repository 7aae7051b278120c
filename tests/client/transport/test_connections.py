"""The private API of aiohttp that connections use. pyproject.toml has a ceiling for aiohttp as long as there is any."""

import asyncio
import inspect
import re
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch.api.http_messages import HTTPRequest
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.client.transport.connection import AiohttpStream, Connection, StreamConnection
from listwatch.client.transport.connection_pool import _Connector
from listwatch.testing.scripted_server import HANG, ScriptedServer, stream_head

_ATTRIBUTE = re.compile(r"\b(?:self|super\(\))\.(_[a-z]\w*)")


def private_names(ours: type, theirs: Any) -> set[str]:
    """The private names of a library's object that our subclass of it uses or overrides."""
    used = {*_ATTRIBUTE.findall(inspect.getsource(ours)), *vars(ours)}
    return {name for name in used & {*dir(theirs), *vars(theirs)} if not name.startswith("__")} - public_names(theirs)


def public_names(theirs: Any) -> set[str]:
    return {name for name in dir(theirs) if not name.startswith("_")}


async def test_two_private_names_of_the_connector_are_used_and_exist():
    async with aiohttp.TCPConnector() as theirs:
        assert private_names(_Connector, theirs) == {"_create_connection", "_factory"}


async def test_no_private_name_of_the_protocol_is_used():
    theirs = ResponseHandler(asyncio.get_running_loop())
    assert private_names(Connection, theirs) == set()
    assert private_names(StreamConnection, theirs) == set()


async def test_the_connector_makes_its_connections_with_our_protocol():
    async with ScriptedServer([stream_head(), HANG]) as server:
        transport = AiohttpTransport(ClientConfig(host=server.url))
        stream = await transport.open_stream(HTTPRequest("GET", "/api/v1/pods"), timeout=60)
        assert isinstance(stream, AiohttpStream)
        connection = stream._exchange.response.connection
        assert connection is not None
        assert isinstance(connection.protocol, StreamConnection)
        await transport.aclose()
