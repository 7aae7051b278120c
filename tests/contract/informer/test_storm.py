"""Two thousand objects and concurrent writers: every kind of informer ends up with the objects of the server."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from soak.history_checker import HistoryChecker
from tests.contract.informer.storm import Storm

from listwatch.client.resources.client_set import ClientSet
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.informer import Informer
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.sources.list_watch import ListWatch

TIMEOUT = 120.0
MARK = "mark"

Lists = Callable[[], Awaitable[ObjectList[Any]]]


@dataclass
class Observed:
    """One informer, the function that lists the same objects, and its handlers."""

    name: str
    informer: Any
    fresh: Lists
    namespaces: list[str]
    """The namespaces of the test that the informer watches."""
    checkers: list[HistoryChecker] = field(default_factory=list)
    registrations: list[HandlerRegistration[Any]] = field(default_factory=list)

    def add_checker(self) -> None:
        if isinstance(self.informer, SharedIndexInformer):
            checker = HistoryChecker(f"{self.name}, checker {len(self.checkers)}")
            self.checkers.append(checker)
            self.registrations.append(self.informer.add_handler(checker))


def versions(items: list[Any], namespaces: list[str]) -> dict[str, str]:
    """The version of each object by key, in the namespaces of the test: other clients may use other namespaces."""
    return {str(item.key): item.resource_version for item in items if item.namespace in namespaces}


def observed(client: ClientSet, namespaces: list[str]) -> list[Observed]:
    """Return informers of each kind, for all objects or some."""
    here, everywhere = client.core_v1.configmaps(namespaces[0]), client.core_v1.configmaps()
    front = everywhere.selecting(label_selector="tier=front")
    sets = everywhere.selecting(label_selector="tier in (front,back),!hidden")
    of_namespace = everywhere.selecting(field_selector=f"metadata.namespace={namespaces[1]}")
    of_name = here.selecting(field_selector=f"metadata.name={MARK}")
    dynamic = client.dynamic.resource("v1", "ConfigMap").namespace(namespaces[0])
    metadata = client.metadata.resource(ConfigMap, namespace=namespaces[0]).selecting(label_selector={"tier": "front"})
    two_requests = ListWatch.from_client(client.rest, "configmaps", namespaces[0], label_selector="tier!=none")
    in_pages = SharedIndexInformer(everywhere, ConfigMap, streaming=False, page_size=100)
    kinds: list[tuple[str, Any, Lists, list[str]]] = [
        ("typed, one namespace", SharedIndexInformer(here, ConfigMap), here.list, namespaces[:1]),
        ("typed, all namespaces", SharedIndexInformer(everywhere, ConfigMap), everywhere.list, namespaces),
        ("typed, in pages", in_pages, everywhere.list, namespaces),
        ("by a label", SharedIndexInformer(front, ConfigMap), front.list, namespaces),
        ("by sets of labels", SharedIndexInformer(sets, ConfigMap), sets.list, namespaces),
        ("by a field", SharedIndexInformer(of_namespace, ConfigMap), of_namespace.list, namespaces[1:2]),
        ("by name", SharedIndexInformer(of_name, ConfigMap), of_name.list, namespaces[:1]),
        ("dynamic", SharedIndexInformer(dynamic, Unstructured), dynamic.list, namespaces[:1]),
        ("metadata", SharedIndexInformer(metadata, PartialObjectMetadata), metadata.list, namespaces[:1]),
        ("two requests", SharedIndexInformer(two_requests, ConfigMap), two_requests.list, namespaces[:1]),
    ]
    return [Observed(*kind) for kind in kinds]


def several_namespaces(factory: SharedInformerFactory, client: ClientSet, namespaces: list[str]) -> Observed:
    async def fresh() -> ObjectList[Any]:
        pages = [await client.core_v1.configmaps(namespace).list() for namespace in namespaces]
        return ObjectList([item for page in pages for item in page])

    return Observed("several namespaces", factory.core_v1.configmaps.informer, fresh, namespaces)


def plain(client: ClientSet, namespace: str) -> Observed:
    checker, source = HistoryChecker("plain"), client.core_v1.configmaps(namespace)
    return Observed("plain", Informer(source, ConfigMap, checker), source.list, [namespace], [checker])


async def write_marks(client: ClientSet, namespaces: list[str]) -> dict[str, str]:
    """Write an object that every informer sees as the last change of each namespace; return its versions."""
    marks = {}
    for namespace in namespaces:
        config_maps = client.core_v1.configmaps(namespace)
        await config_maps.create(ConfigMap(metadata=ObjectMeta(name=MARK, labels={"tier": "none"})))
        marked = await config_maps.patch(MARK, {"metadata": {"labels": {"tier": "front"}}})
        marks[namespace] = marked.resource_version
    return marks


async def wait_notified(each: Observed, marks: dict[str, str]) -> None:
    """Wait until the informer and all its handlers have seen the marks of its namespaces."""
    for namespace in each.namespaces:
        if isinstance(each.informer, SharedIndexInformer):
            await each.informer.wait_until(marks[namespace], timeout=TIMEOUT, namespace=namespace)
        for checker in each.checkers:
            await checker.wait_notified(f"{namespace}/{MARK}", marks[namespace])


async def test_every_informer_ends_up_with_the_objects_of_the_server(client: ClientSet, namespaces: list[str]):
    all_observed = [*observed(client, namespaces), plain(client, namespaces[0])]

    def exchange_handlers() -> None:
        for each in all_observed:
            if each.registrations:
                each.registrations.pop(0).remove()
                each.checkers.pop(0)
            each.add_checker()

    async with AsyncExitStack() as running:
        factory = await running.enter_async_context(SharedInformerFactory(client, namespaces=namespaces))
        all_observed.append(several_namespaces(factory, client, namespaces))
        for each in all_observed:
            each.add_checker()
            each.add_checker()
            if each.name != "several namespaces":
                await running.enter_async_context(each.informer)
        await Storm(client, namespaces, at_half_time=exchange_handlers).run()
        marks = await write_marks(client, namespaces)
        for each in all_observed:
            await wait_notified(each, marks)
            each.add_checker()
            await each.informer.wait_for_sync(timeout=TIMEOUT)
            await check(each)


async def check(each: Observed) -> None:
    expected = versions((await each.fresh()).items, each.namespaces)
    assert versions(each.informer.indexer.list(), each.namespaces) == expected, each.name
    assert len(expected) > 100 or each.name == "by name", f"{each.name}: too few objects"
    for checker in each.checkers:
        assert checker.violations == []
        assert {
            key: known for key, known in checker.known.items() if key.partition("/")[0] in each.namespaces
        } == expected
