"""A live table over an informer on the embedded server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.cli.top.live import Top
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import SystemClock
from listwatch.models.core_v1 import Secret
from listwatch.server import APIServer, CutStream, Fault, Refuse


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):  # not a measurement: what never happens must not hang the tests
        while not condition():  # noqa: ASYNC110  # a table is drawn at intervals, too
            await asyncio.sleep(0.02)


def top_of_secrets(client: ClientSet) -> Top:
    assert Secret.resource is not None
    source = client.dynamic.resource(Secret.resource, namespace="default")
    return Top(source, source.kind, Secret.resource, where="in default", metadata_only=False, clock=SystemClock())


async def test_a_lost_connection_is_shown_until_the_watch_is_open_again() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        top = top_of_secrets(client)
        async with top.informer:
            await until(lambda: top.status().state == "watching")
            outage = server.faults.add(Fault(Refuse(), verb="watch", resource="secrets"))
            server.faults.add(Fault(CutStream(), verb="watch", resource="secrets", times=1))
            await until(lambda: top.status().problem)
            assert top.status().state != "watching"
            server.faults.remove(outage)
            await until(lambda: top.status().state == "watching")
            assert top.status().problem == ""


async def test_the_rows_follow_the_server_and_count_changes_since_the_start() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        secrets = client.core_v1.secrets("default")
        await secrets.create({"metadata": {"name": "old"}})
        top = top_of_secrets(client)
        async with top.informer:
            await top.informer.wait_for_sync(timeout=30)
            await secrets.create({"metadata": {"name": "new"}})
            await secrets.patch("new", {"metadata": {"labels": {"a": "b"}}})
            await secrets.delete("old")
            await until(lambda: top.rows.total_changes == 3)
            top.rows.refresh(60.0)
            assert top.rows.window(0, 10) == ["default/new"]
            row = top.rows.row("default/new", SystemClock().now())
            assert row is not None
            assert row.changes == 2


async def test_the_data_of_a_secret_is_not_shown() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        await client.core_v1.secrets("default").create({"metadata": {"name": "a"}, "stringData": {"key": "hidden"}})
        top = top_of_secrets(client)
        async with top.informer:
            await top.informer.wait_for_sync(timeout=30)
            top.rows.refresh(60.0)
            top.table.press("enter")
            drawn = "\n".join(line.plain for line in top.table.lines(top.status(), width=100, height=20))
    assert "The data of Secrets is not shown" in drawn
    assert "aGlkZGVu" not in drawn
