"""Observers are notified of each write that was executed, or may have been."""

from __future__ import annotations

import pytest

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client import ClientSet
from listwatch.client.rest.write_observer import observing_writes
from listwatch.errors import InternalServerError, ListWatchError, NotFoundError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.server.faults.faults import DropResponse, Fail, Fault


async def test_a_write_without_a_response_may_have_been_executed():
    seen: list[tuple[str, int | None]] = []
    servers: set[str] = set()

    def observe(request: HTTPRequest, response: HTTPResponse | None, server: str) -> None:
        servers.add(server)
        seen.append((request.method, None if response is None else response.status))

    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        with observing_writes(observe):
            await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
            await maps.get("one")
            with pytest.raises(NotFoundError):
                await maps.patch("two", {"data": {"a": "b"}})
            assert seen == [("POST", 201)]  # a rejected write was not executed
            for action in (DropResponse(), Fail(InternalServerError("broken"))):
                seen.clear()
                server.faults.add(Fault(action, verb="create", times=1))
                with pytest.raises(ListWatchError):
                    await maps.create(ConfigMap(metadata=ObjectMeta(name="three")))
                assert seen == [("POST", None)]
                server.faults.clear()
        assert servers == {server.config.base_url}
