"""An informer whose client limits the size of events and responses."""

import asyncio
from dataclasses import replace

from listwatch.backoff import Backoff
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ResponseTooLargeError
from listwatch.informer.reflector.machine import ReflectorMachine
from listwatch.informer.reflector.reflector import Problem
from listwatch.informer.reflector.state import Delay, ListRequest
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server.api_server import APIServer
from listwatch.sources.list_watch import ListWatch


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
                assert await asyncio.wait_for(seen.get(), 60) == "small", "the watch continues after the list"
                found = informer.indexer.get("default/large")
                assert found is not None
                assert found.data == {"k": "v" * 30_000}
    too_large = [each.error for each in problems if isinstance(each.error, ResponseTooLargeError)]
    assert too_large
    assert "max_event_size" in str(too_large[0])
    assert len(problems) < 5


async def test_a_page_that_is_too_large_is_read_in_smaller_pages():
    problems: list[Problem] = []
    async with APIServer() as server, ClientSet(server.config) as client:
        settings = client.core_v1.configmaps("default")
        for number in range(20):
            await settings.create(ConfigMap(metadata=ObjectMeta(name=f"c{number}"), data={"k": "v" * 10_000}))
        config = replace(server.config, max_response_size=50_000)
        async with RESTClient(config) as rest:
            source = ListWatch.from_client(rest, "configmaps", namespace="default")
            informer = SharedIndexInformer(
                source, ConfigMap, on_problem=problems.append, backoff=Backoff(initial=0.01), streaming=False
            )
            async with informer:
                await informer.wait_for_sync(timeout=60)
                assert {f"default/c{number}" for number in range(20)} <= set(informer.indexer.keys())
    assert problems
    assert all(isinstance(each.error, ResponseTooLargeError) for each in problems)
    assert len(problems) < 10


def test_pages_are_reduced_until_they_fit():
    machine = ReflectorMachine(DeltaFIFO(), ConfigMap, streaming=False)
    requests = []
    for _ in range(8):
        requests.append(machine.next_request())
        failed = machine.fail(ResponseTooLargeError("the response has more than 5 bytes"))
        assert failed.delay is Delay.BACKOFF
    assert requests[0] == ListRequest("0", 500)
    assert [request.limit for request in requests[1:] if isinstance(request, ListRequest)] == [500, 125, 31, 7, 1, 1, 1]
    assert {request.resource_version for request in requests[1:]} == {""}
