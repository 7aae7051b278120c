"""Damaged protobuf bodies get the same responses from the embedded server and from a real one."""

import os
import re
import ssl
from typing import Any

import aiohttp
from soak.protobuf_bodies import bodies, send

from listwatch.server import APIServer
from listwatch.testing import RealAPIServer

COUNT = int(os.environ.get("LISTWATCH_BODIES", "600"))
# Go prints bytes that are no text or no printable characters in another way; the embedded server prints no bytes of
# Secrets; a number that reaches beyond its message has another text; an invalid definition has other further problems;
# Kubernetes 1.37 has a field that 1.36 does not have.
ACCEPTED = re.compile(
    r"�|\\x|\\u00|[\x00-\x1f\x7f]|<omitted>|integer overflow|illegal tag|CustomResourceDefinition|field Protocol"
)


async def test_damaged_bodies_get_the_same_responses(cluster: RealAPIServer):
    config = cluster.config
    trusted = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=config.ca_data.decode()))
    async with (
        APIServer() as server,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {server.token}"}) as ours,
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {config.token}"}, connector=trusted) as real,
    ):
        account = {"metadata": {"name": "default"}}
        async with real.post(f"{config.host}/api/v1/namespaces/default/serviceaccounts", json=account):
            pass
        different: list[Any] = []
        for body in bodies(1, COUNT):
            found = await send(ours, server.url, body)
            try:
                expected = await send(real, config.host, body)
            except aiohttp.ServerDisconnectedError:
                continue  # it panics
            texts = [str(each[1].get("message")) for each in (found, expected)]
            is_accepted = texts[0] == texts[1] or any(ACCEPTED.search(text) for text in texts)
            if found[0] != expected[0] or (found[0] != 201 and not is_accepted):
                different.append((body, found[0], expected[0], *texts))
    assert different == []
