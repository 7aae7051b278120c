# pyright: strict
"""What type checkers know of informers: the kind reaches every handler, index function and lister."""

import dataclasses
from typing import assert_type

import listwatch as lw
from listwatch.informer import (
    Change,
    CompactStatistics,
    HandlerFunctions,
    HandlerRegistration,
    InformerHandle,
    ObjectAdded,
    ObjectDeleted,
    ObjectEvicted,
    ObjectUpdated,
    keep_fields,
    strip_managed_fields,
)
from listwatch.models.core_v1 import Node, Pod


class PodHandler:
    def on_add(self, pod: Pod, *, is_initial: bool) -> None: ...
    async def on_update(self, old: Pod, new: Pod) -> None: ...
    def on_delete(self, pod: Pod, final_state_known: bool = True) -> None: ...


class AnyHandler:
    def on_add(self, item: lw.Object) -> None: ...
    def on_update(self, old: lw.Object, new: lw.Object) -> None: ...
    def on_delete(self, item: lw.Object) -> None: ...


def with_flag(pod: Pod, *, is_initial: bool) -> None: ...


async def asynchronous(pod: Pod) -> None: ...


def handlers(informer: lw.SharedIndexInformer[Pod]) -> None:
    assert_type(informer.add_handler(on_add=lambda pod: pod.name), HandlerRegistration[Pod])
    informer.add_handler(on_add=with_flag, on_update=lambda old, new: print(old.spec, new.spec), on_delete=asynchronous)
    informer.add_handler(PodHandler())
    informer.add_handler(AnyHandler())
    informer.add_handler(HandlerFunctions(on_delete=asynchronous, name="pods"))
    informer.add_handler(on_add=print, filter=lambda pod: pod.spec.node_name == "n1")

    @informer.on_add
    def added(pod: Pod) -> None: ...

    @informer.on_update
    async def updated(old: Pod, new: Pod) -> None: ...


async def changes(informer: lw.SharedIndexInformer[Pod]) -> None:
    async for change in informer.changes():
        assert_type(change, Change[Pod])
        match change:
            case ObjectAdded(pod, is_initial):
                assert_type(pod, Pod)
                assert_type(is_initial, bool)
            case ObjectUpdated(pod, old):
                assert_type((pod, old), tuple[Pod, Pod])
            case ObjectDeleted(pod) | ObjectEvicted(pod):
                assert_type(pod, Pod)


def stores(client: lw.ClientSet) -> None:
    informer = lw.SharedIndexInformer(
        client.core_v1.pods(),
        Pod,
        indexers={"node": lambda pod: [pod.spec.node_name or ""]},
        transform=strip_managed_fields,
    )
    assert_type(informer, lw.SharedIndexInformer[Pod])
    assert_type(informer.indexer.by_index("node", "n1"), list[Pod])
    assert_type(informer.lister.namespace("default").get("web-0"), Pod)
    plain = lw.Informer(client.core_v1.nodes(), Node, HandlerFunctions[Node](on_add=lambda node: node.spec.pod_cidr))
    assert_type(plain.indexer.get("n1"), Node | None)


def factories(client: lw.ClientSet) -> None:
    factory = lw.SharedInformerFactory(client)
    assert_type(factory.core_v1.pods, InformerHandle[Pod])
    assert_type(factory.informer(Pod).informer, lw.SharedIndexInformer[Pod])
    assert_type(factory.informer(Node, transform=keep_fields("spec")).lister.get("n1"), Node)
    factory.core_v1.nodes.informer.add_handler(on_add=lambda node: node.spec.pod_cidr)


def compact_stores(client: lw.ClientSet) -> None:
    lw.SharedInformerFactory(client, compact=True, drop_fields=["metadata.managedFields"])
    factory = lw.SharedInformerFactory(client, compact=[Pod, Node])
    assert_type(factory.informer(Pod).informer.statistics().compact, CompactStatistics | None)
    informer = lw.SharedIndexInformer(client.core_v1.pods(), Pod, compact=True)
    assert_type(informer.indexer.get("default/web-0"), Pod | None)


def sources(client: lw.ClientSet) -> None:
    source: lw.ListWatch[Pod] = lw.ListWatch.from_client(client.rest, "pods", namespace="default")
    assert_type(lw.SharedIndexInformer(source, Pod), lw.SharedIndexInformer[Pod])
    typed = lw.ListWatch.from_client(
        client.rest,
        "pods",
        kind=Pod,
        modify_options=lambda options: dataclasses.replace(options, label_selector="app=web"),
    )
    assert_type(typed, lw.ListWatch[Pod])
