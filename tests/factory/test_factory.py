"""One shared informer per resource, namespaces and selectors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.informer.settings import RecordingHandler, pod

from listwatch.errors import ForbiddenError, SyncTimeoutError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.meta import Resource
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_source import ScriptedSource


class ScriptedClient:
    """Returns scripted sources, and records what was requested."""

    def __init__(self) -> None:
        self.requested: list[tuple[Any, str, str]] = []
        self.sources: list[ScriptedSource[Any]] = []
        self.supports_streaming = False

    def source(
        self, of: Any, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Any], Resource, ScriptedSource[Any]]:
        kind = {"core_v1.pods": Pod, "core_v1.configmaps": ConfigMap}.get(of, of)
        self.requested.append((kind.__name__, namespace, label_selector))
        source: ScriptedSource[Any] = ScriptedSource(kind, supports_streaming=self.supports_streaming)
        self.sources.append(source)
        assert kind.resource is not None
        return kind, kind.resource, source


@pytest.fixture
def client() -> ScriptedClient:
    return ScriptedClient()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def respond(client: ScriptedClient, *pods: Pod) -> None:
    for source in client.sources:
        source.will_list(pods, resource_version="10")


def test_the_same_request_returns_the_same_informer(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client)

    assert factory.core_v1.pods is factory.core_v1.pods
    assert factory.informer(Pod).informer is factory.core_v1.pods.informer


def test_another_selector_namespace_or_transform_returns_another_informer(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client)
    handles = [
        factory.informer(Pod),
        factory.informer(Pod, label_selector="app=web"),
        factory.informer(Pod, namespace="red"),
        factory.informer(Pod, field_selector="spec.nodeName=n1"),
        factory.informer(Pod, transform=lambda item: item),
        factory.informer(ConfigMap),
    ]

    assert len({id(handle.informer) for handle in handles}) == 6


def test_equivalent_selectors_share_an_informer(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client)
    as_text = factory.informer(Pod, label_selector="tier=front,app=web")
    as_mapping = factory.informer(Pod, label_selector={"app": "web", "tier": "front"})

    assert as_text.informer is as_mapping.informer


def test_namespace_and_namespaces_cannot_be_combined(client: ScriptedClient) -> None:
    with pytest.raises(UsageError, match="only one of"):
        SharedInformerFactory(client, namespace="red", namespaces=["blue"])
    with pytest.raises(UsageError, match="not both"):
        SharedInformerFactory(client).informer(Pod, namespace="red", namespaces=["blue"])


def test_namespaces_must_be_a_list_of_names(client: ScriptedClient) -> None:
    with pytest.raises(UsageError, match="pass namespace='red'"):
        SharedInformerFactory(client, namespaces="red")
    with pytest.raises(UsageError, match="to watch all namespaces, pass none"):
        SharedInformerFactory(client).informer(Pod, namespaces=["red", ""])


def test_the_order_of_namespaces_does_not_matter(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client)

    one = factory.informer(Pod, namespaces=["red", "blue"])
    assert factory.informer(Pod, namespaces=["blue", "red", "blue"]).informer is one.informer


def test_cluster_scoped_resources_ignore_the_namespaces_of_the_factory(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client, namespaces=["red", "blue"])

    assert factory.informer(Node).informer is factory.informer(Node, namespace="").informer
    assert client.requested[-1] == ("Node", "", "")


async def test_several_namespaces_fill_one_store(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, namespaces=["red", "blue"], clock=clock) as factory:
        pods = factory.core_v1.pods
        for source, namespace in zip(client.sources, ("red", "blue"), strict=True):
            source.will_list([pod("a", namespace=namespace)], resource_version="10")
        await clock.advance(0)
        assert sorted(str(item.key) for item in pods.lister.list()) == ["blue/a", "red/a"]

    assert [namespace for _, namespace, _ in client.requested] == ["red", "blue"]


async def test_an_informer_requested_after_the_start_runs_at_once(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, clock=clock) as factory:
        pods, recorder = factory.core_v1.pods, RecordingHandler()
        pods.informer.add_handler(recorder)
        respond(client, pod("a"))
        await factory.wait_for_sync(timeout=5)
        assert recorder.calls == [("add", "a", True)]


async def test_releasing_the_last_handle_stops_the_informer(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, clock=clock) as factory:
        first, second = factory.informer(Pod), factory.informer(Pod)
        respond(client)
        await factory.wait_for_sync(timeout=5)
        await first.release()
        await first.release()
        assert not second.informer.is_stopped
        await second.release()
        assert second.informer.is_stopped
        assert factory.statistics() == ()


async def test_a_request_after_the_last_release_returns_a_new_informer(
    client: ScriptedClient, clock: VirtualClock
) -> None:
    async with SharedInformerFactory(client, clock=clock) as factory:
        first = factory.core_v1.pods
        await first.release()
        second = factory.core_v1.pods
        assert second.informer is not first.informer
        assert not second.informer.is_stopped


async def test_a_sync_timeout_names_the_informers_that_have_not_synced_and_why(
    client: ScriptedClient, clock: VirtualClock
) -> None:
    async with SharedInformerFactory(client, clock=clock, on_problem=lambda _: None) as factory:
        _ = factory.core_v1.pods, factory.core_v1.configmaps
        client.sources[0].will_fail_list(ForbiddenError("no rule allows it"))
        client.sources[1].will_list([], resource_version="10")
        waiting = asyncio.create_task(factory.wait_for_sync(timeout=3))
        await clock.advance(4)
        with pytest.raises(SyncTimeoutError, match=r"pods: 1 failed attempt,.*no rule allows it") as caught:
            await waiting

    assert "configmaps" not in str(caught.value)


async def test_indexers_are_added_to_the_shared_store(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, clock=clock) as factory:
        by_node = {"node": lambda item: [item.spec.node_name or ""]}
        first = factory.informer(Pod, indexers=by_node)
        factory.informer(Pod, indexers=by_node)
        respond(client, pod("a", node="n1"))
        await factory.wait_for_sync(timeout=5)
        assert [item.name for item in first.informer.indexer.by_index("node", "n1")] == ["a"]


async def test_resync_for_overrides_the_resync_period_by_kind(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, clock=clock, resync=60.0, resync_for={Pod: 10.0}) as factory:
        recorder = RecordingHandler()
        factory.core_v1.pods.informer.add_handler(recorder)
        respond(client, pod("a"))
        await clock.advance(35)
        assert len(recorder.calls) == 1 + 3


async def test_all_informers_stop_with_the_factory(client: ScriptedClient, clock: VirtualClock) -> None:
    async with SharedInformerFactory(client, clock=clock) as factory:
        pods = factory.core_v1.pods
        respond(client, pod("a"))
        await factory.wait_for_sync(timeout=5)

    assert pods.informer.is_stopped
    assert pods.lister.get("default/a").name == "a"


class FatalError(BaseException):
    """An exception that is not an Exception."""


def fail_fatally(item: ConfigMap) -> list[str]:
    raise FatalError(item.name)


async def test_stop_stops_all_informers_and_raises_earlier_failures(
    client: ScriptedClient, clock: VirtualClock
) -> None:
    leaving = asyncio.Event()

    async def slow_to_leave(item: Pod) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await leaving.wait()

    factory = SharedInformerFactory(client, clock=clock)
    pods = factory.informer(Pod).informer
    maps = factory.informer(ConfigMap, indexers={"fatal": fail_fatally}).informer
    pods.add_handler(on_add=slow_to_leave)
    client.sources[0].will_list([pod("a")], resource_version="10")
    client.sources[1].will_list([ConfigMap.from_dict({"metadata": {"name": "bad"}})], resource_version="10")
    factory.start()
    await clock.advance(0)
    stopping = asyncio.create_task(factory.stop())
    await clock.advance(0)
    assert maps.is_stopped
    assert not stopping.done()
    leaving.set()
    with pytest.raises(BaseExceptionGroup) as caught:
        await stopping

    assert caught.group_contains(FatalError, match="bad")
    assert pods.is_stopped


def test_a_group_lists_its_resources_and_the_factory_its_groups(client: ScriptedClient) -> None:
    factory = SharedInformerFactory(client)

    assert {"pods", "configmaps", "nodes"} <= set(dir(factory.core_v1))
    assert "bindings" not in dir(factory.core_v1)  # it cannot be watched
    assert {"core_v1", "apps_v1", "informer", "wait_for_sync"} <= set(dir(factory))


def test_an_unknown_group_or_resource_is_an_error_that_suggests_a_name(client: ScriptedClient) -> None:
    factory: Any = SharedInformerFactory(client)

    with pytest.raises(AttributeError, match=r"Factory has no attribute 'corev1'; did you mean core_v1\?"):
        factory.corev1  # noqa: B018  # the access is the mistake
    with pytest.raises(AttributeError, match=r"the factory's core_v1 has no attribute 'pod'; did you mean pods\?"):
        factory.core_v1.pod  # noqa: B018  # the access is the mistake
    with pytest.raises(AttributeError, match=r"'qqq'; it has: .*apps_v1.*core_v1"):
        factory.qqq  # noqa: B018  # the access is the mistake


@pytest.mark.parametrize(("streaming", "way"), [(True, "stream"), (False, "list")])
async def test_a_factory_chooses_whether_the_initial_objects_are_a_stream_or_a_list(
    client: ScriptedClient, clock: VirtualClock, streaming: bool, way: str
) -> None:
    client.supports_streaming = True
    factory = SharedInformerFactory(client, streaming=streaming, clock=clock)
    informer = factory.core_v1.pods.informer
    (source,) = client.sources
    if not streaming:
        source.will_list(resource_version="10")
    source.will_watch().bookmark("10", ends_initial_events=True)
    async with factory:
        await factory.wait_for_sync(timeout=30)
        assert informer.statistics().sources[0].synced_by == way
