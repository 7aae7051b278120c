"""A program with a persistent cache that is restarted repeatedly, on the embedded server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import listwatch as lw
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.storage_options import PersistenceOptions
from listwatch.models.core_v1 import ConfigMap

FAST = PersistenceOptions(delay=0.001, sync_interval=60.0)


class FastInformer(SharedIndexInformer[ConfigMap]):
    """Writes changes at once."""

    _persistence = FAST


class Recorder:
    """A handler that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def on_add(self, item: ConfigMap) -> None:
        self.calls.append(("add", item.name))

    def on_update(self, old: ConfigMap, new: ConfigMap) -> None:
        self.calls.append(("update", new.name))

    def on_delete(self, item: ConfigMap) -> None:
        self.calls.append(("delete", item.name))

    @property
    def changes(self) -> list[tuple[str, str]]:
        """The calls without additions."""
        return [each for each in self.calls if each[0] != "add"]


class Program:
    """One run of the program."""

    def __init__(self, informer: FastInformer, recorder: Recorder) -> None:
        self.informer = informer
        self.recorder = recorder

    @property
    def lists(self) -> int:
        """How often everything was read from the server."""
        return self.informer.statistics().sources[0].syncs

    def data(self) -> dict[str, dict[str, str]]:
        return {each.name: dict(each.data) for each in self.informer.indexer.list() if each.namespace == "default"}


@asynccontextmanager
async def program(
    client: lw.ClientSet,
    folder: Path,
    *,
    synced: bool = True,
    source: Any = None,
    informer_type: type[FastInformer] = FastInformer,
    **options: Any,
) -> AsyncIterator[Program]:
    """Run the program; with `synced`, the block begins when it has synced."""
    source = source or client.core_v1.configmaps("default")
    informer = informer_type(source, options.pop("kind", ConfigMap), cache_dir=folder, **options)
    recorder = Recorder()
    informer.add_handler(recorder)
    async with informer:
        if synced:
            await informer.wait_for_sync(timeout=20)
        yield Program(informer, recorder)


def cache_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.cache"))


async def fill(client: lw.ClientSet, count: int = 10) -> None:
    for number in range(count):
        content = {"metadata": {"name": f"c-{number}", "labels": {"app": "web"}}, "data": {"n": str(number)}}
        await client.core_v1.configmaps("default").create(ConfigMap.from_dict(content))
