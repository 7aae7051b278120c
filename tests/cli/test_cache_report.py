"""The report of `listwatch cache`: objects, bytes and parts of a store."""

from __future__ import annotations

import msgspec

from listwatch.cli.cache_report import CacheReport, measure_cache
from listwatch.cli.commands.programs.cache import _text
from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import SystemClock
from listwatch.server import APIServer


async def report_of(client: ClientSet, *, strip: bool = False, streaming: bool = True) -> CacheReport:
    source = client.dynamic.resource("v1", "ConfigMap", namespace="default")
    return await measure_cache(
        source,
        source.kind,
        resource="configmaps",
        namespace="default",
        streaming=streaming,
        strip=strip,
        clock=SystemClock(),
        timeout=30,
    )


async def test_objects_bytes_and_the_largest_objects_are_reported() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        for name, size in (("small", 10), ("large", 5000), ("medium", 500)):
            await maps.create({"metadata": {"name": name}, "data": {"text": "x" * size}})
        report = await report_of(client)
        whole = sum(len(each.to_json()) for each in await client.dynamic.resource("v1", "ConfigMap").list())
    assert report.objects == 3
    assert report.synced_by == "stream"
    assert [each.key for each in report.largest] == ["default/large", "default/medium", "default/small"]
    assert abs(report.bytes - whole) <= 3 * 2
    assert 0 < report.managed_fields < report.bytes
    assert next(iter(report.parts)) == "data"
    assert sum(report.parts.values()) + report.managed_fields < report.bytes
    assert report.namespaces == {"default": report.bytes}


async def test_stripped_objects_have_no_managed_fields() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}, "data": {"k": "v"}})
        whole, stripped = await report_of(client), await report_of(client, strip=True)
    assert stripped.managed_fields == 0
    assert stripped.bytes < whole.bytes


async def test_a_list_can_be_requested_instead_of_a_stream() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        report = await report_of(client, streaming=False)
    assert (report.objects, report.synced_by) == (0, "list")
    assert "0 objects" in _text(report)
    assert msgspec.json.decode(msgspec.json.encode(report))["syncedBy"] == "list"
