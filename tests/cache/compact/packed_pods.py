"""A packed store of pods that share a template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from listwatch.cache.compact.codec import Codec
from listwatch.cache.compact.dictionaries import train
from listwatch.cache.compact.entry import Instances
from listwatch.cache.compact.packed_indexer import PackedIndexer, PendingObjects
from listwatch.cache.compact.zstd import ZstdLibrary, find_library
from listwatch.cache.keys import namespace_of
from listwatch.models.core_v1 import Pod


def raw_pod(number: int, *, version: int = 1, node: str = "", app: str = "web") -> bytes:
    metadata = {
        "name": f"pod-{number}",
        "namespace": f"team-{number % 3}",
        "uid": f"0b8f1f2e-6a6e-4a53-9c0f-{number:012}",
        "resourceVersion": str(version),
        "labels": {"app": app},
    }
    containers = [{"name": "main", "image": f"registry.example.com/{app}:v1", "args": ["--verbose", "--port=8080"] * 8}]
    spec = {"nodeName": node or f"node-{number % 5}", "containers": containers}
    return json.dumps({"metadata": metadata, "spec": spec}, separators=(",", ":")).encode()


def pod(number: int, **options: Any) -> Pod:
    return Pod.from_wire(raw_pod(number, **options))


def codec(library: ZstdLibrary | None = None) -> Codec:
    made = Codec(library or find_library())
    assert made.library is not None
    made.add(train(made.library, [raw_pod(number) for number in range(300)]))
    return made


class PackedPods:
    """An indexer, of which `pack` packs what is stored."""

    def __init__(self, count: int = 0, *, indexers: Mapping[str, Any] | None = None) -> None:
        self.codec = codec()
        self.instances: Instances[Pod] = Instances(Pod, self.codec)
        self.pending = PendingObjects()
        self.indexer: PackedIndexer[Pod] = PackedIndexer(
            instances=self.instances, pending=self.pending, indexers={"namespace": namespace_of, **(indexers or {})}
        )
        for number in range(count):
            self.indexer.add(pod(number))
        self.pack()

    def pack(self) -> None:
        self.pending.complete()
        taken = self.pending.take()
        keys, items = [*taken], [*taken.values()]
        taken.clear()
        entries = self.instances.entries_of(items, self.codec.pack_all([each._raw for each in items]))
        self.indexer.exchange_all(keys, items, entries)
