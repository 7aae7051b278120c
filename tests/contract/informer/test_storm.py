"""Two thousand objects and many writers: every kind of informer ends up with what the server holds."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from soak.witness import Witness
from tests.contract.informer.storm import Storm

from listwatch.client.resources.client_set import ClientSet
from listwatch.informer.factory import SharedInformerFactory
from listwatch.informer.informer import Informer
from listwatch.informer.list_watch import ListWatch
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

PATIENCE = 120.0
MARK = "mark"

Lists = Callable[[], Awaitable[ObjectList[Any]]]


@dataclass
class Observed:
    """One informer, what a list of the same objects says, and who was told what."""

    name: str
    informer: Any
    fresh: Lists
    places: list[str]
    """The namespaces that it looks at, of those of the test."""
    witnesses: list[Witness] = field(default_factory=list)
    registrations: list[HandlerRegistration[Any]] = field(default_factory=list)

    def add_witness(self) -> None:
        if isinstance(self.informer, SharedIndexInformer):
            witness = Witness(f"{self.name}, witness {len(self.witnesses)}")
            self.witnesses.append(witness)
            self.registrations.append(self.informer.add_handler(witness))


def versions(items: list[Any], places: list[str]) -> dict[str, str]:
    """The version of each object by key, of those in the namespaces of the test: others may write elsewhere."""
    return {str(item.key): item.resource_version for item in items if item.namespace in places}


def observed(client: ClientSet, places: list[str]) -> list[Observed]:
    """Informers of each kind, over all of the objects or some."""
    here, everywhere = client.core_v1.configmaps(places[0]), client.core_v1.configmaps()
    front = everywhere.selecting(label_selector="tier=front")
    sets = everywhere.selecting(label_selector="tier in (front,back),!hidden")
    of_place = everywhere.selecting(field_selector=f"metadata.namespace={places[1]}")
    of_name = here.selecting(field_selector=f"metadata.name={MARK}")
    dynamic = client.dynamic.resource("v1", "ConfigMap").namespace(places[0])
    metadata = client.metadata.resource(ConfigMap, namespace=places[0]).selecting(label_selector={"tier": "front"})
    two_requests = ListWatch.from_client(client.rest, "configmaps", places[0], label_selector="tier!=none")
    in_pages = SharedIndexInformer(everywhere, ConfigMap, streaming=False, page_size=100)
    kinds: list[tuple[str, Any, Lists, list[str]]] = [
        ("typed, one namespace", SharedIndexInformer(here, ConfigMap), here.list, places[:1]),
        ("typed, all namespaces", SharedIndexInformer(everywhere, ConfigMap), everywhere.list, places),
        ("typed, in pages", in_pages, everywhere.list, places),
        ("by a label", SharedIndexInformer(front, ConfigMap), front.list, places),
        ("by sets of labels", SharedIndexInformer(sets, ConfigMap), sets.list, places),
        ("by a field", SharedIndexInformer(of_place, ConfigMap), of_place.list, places[1:2]),
        ("by name", SharedIndexInformer(of_name, ConfigMap), of_name.list, places[:1]),
        ("dynamic", SharedIndexInformer(dynamic, Unstructured), dynamic.list, places[:1]),
        ("metadata", SharedIndexInformer(metadata, PartialObjectMetadata), metadata.list, places[:1]),
        ("two requests", SharedIndexInformer(two_requests, ConfigMap), two_requests.list, places[:1]),
    ]
    return [Observed(*kind) for kind in kinds]


def several_namespaces(factory: SharedInformerFactory, client: ClientSet, places: list[str]) -> Observed:
    async def fresh() -> ObjectList[Any]:
        pages = [await client.core_v1.configmaps(place).list() for place in places]
        return ObjectList([item for page in pages for item in page])

    return Observed("several namespaces", factory.core_v1.configmaps.informer, fresh, places)


def plain(client: ClientSet, place: str) -> Observed:
    witness, source = Witness("plain"), client.core_v1.configmaps(place)
    return Observed("plain", Informer(source, ConfigMap, witness), source.list, [place], [witness])


async def write_marks(client: ClientSet, places: list[str]) -> dict[str, str]:
    """Something that every informer sees, as the last thing in each namespace: its version there."""
    marks = {}
    for place in places:
        config_maps = client.core_v1.configmaps(place)
        await config_maps.create(ConfigMap(metadata=ObjectMeta(name=MARK, labels={"tier": "none"})))
        marked = await config_maps.patch(MARK, {"metadata": {"labels": {"tier": "front"}}})
        marks[place] = marked.resource_version
    return marks


async def wait_told(each: Observed, marks: dict[str, str]) -> None:
    """Return when the informer has seen the marks of its namespaces and all its handlers were told of them."""
    for place in each.places:
        if isinstance(each.informer, SharedIndexInformer):
            await each.informer.wait_until(marks[place], timeout=PATIENCE, namespace=place)
        for witness in each.witnesses:
            await witness.wait_told(f"{place}/{MARK}", marks[place])


async def test_every_informer_ends_up_with_the_objects_of_the_server(client: ClientSet, places: list[str]):
    asyncio.get_running_loop().set_debug(False)  # with it, three quarters of the time go into stack traces
    everybody = [*observed(client, places), plain(client, places[0])]

    def others_come_and_go() -> None:
        for each in everybody:
            if each.registrations:
                each.registrations.pop(0).remove()
                each.witnesses.pop(0)
            each.add_witness()

    async with AsyncExitStack() as running:
        factory = await running.enter_async_context(SharedInformerFactory(client, namespaces=places))
        everybody.append(several_namespaces(factory, client, places))
        for each in everybody:
            each.add_witness()
            each.add_witness()
            if each.name != "several namespaces":
                await running.enter_async_context(each.informer)
        await Storm(client, places, at_half_time=others_come_and_go).rage()
        marks = await write_marks(client, places)
        for each in everybody:
            await wait_told(each, marks)
            each.add_witness()
            await each.informer.wait_for_sync(timeout=PATIENCE)
            await check(each)


async def check(each: Observed) -> None:
    expected = versions((await each.fresh()).items, each.places)
    assert versions(each.informer.indexer.list(), each.places) == expected, each.name
    assert len(expected) > 100 or each.name == "by name", f"{each.name}: that shows little"
    for witness in each.witnesses:
        assert witness.mistakes == []
        assert {key: known for key, known in witness.known.items() if key.partition("/")[0] in each.places} == expected
