"""An informer whose client limits the size of events."""

import asyncio
from dataclasses import replace

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ResponseTooLargeError
from listwatch.informer.list_watch import ListWatch
from listwatch.informer.reflector import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server.api_server import APIServer


async def test_an_event_that_is_too_large_is_reported_and_its_object_is_listed():
    problems: list[Problem] = []
    async with APIServer() as server, ClientSet(server.config) as client:
        config = replace(server.config, max_event_size=20_000)
        async with RESTClient(config) as rest:
            source = ListWatch.from_client(rest, "configmaps", namespace="default")
            informer = SharedIndexInformer(source, ConfigMap, on_problem=problems.append)
            seen: asyncio.Queue[str] = asyncio.Queue()
            informer.add_handler(on_add=lambda each: seen.put_nowait(each.name))
            async with informer:
                await informer.wait_for_sync(timeout=30)
                while not seen.empty():
                    seen.get_nowait()
                settings = client.core_v1.configmaps("default")
                await settings.create(ConfigMap(metadata=ObjectMeta(name="large"), data={"k": "v" * 30_000}))
                assert await asyncio.wait_for(seen.get(), 60) == "large"
                await settings.create(ConfigMap(metadata=ObjectMeta(name="small")))
                assert await asyncio.wait_for(seen.get(), 60) == "small", "the watch goes on after the list"
                found = informer.indexer.get("default/large")
                assert found is not None
                assert found.data == {"k": "v" * 30_000}
    too_large = [each.error for each in problems if isinstance(each.error, ResponseTooLargeError)]
    assert too_large
    assert "max_event_size" in str(too_large[0])
    assert len(problems) < 5
