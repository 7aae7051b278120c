"""The program that is killed: an informer with a persistent cache, and a handler that checks its history.

It prints a line of JSON when it has synced, and one for each version on its standard input, when it has reached it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from soak.history_checker import HistoryChecker
from tests.informer.persistence.restarts import FastInformer

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap


async def main(kubeconfig: str, folder: str, compact: str) -> None:
    config = lw.load_config(kubeconfig=Path(kubeconfig))
    async with lw.ClientSet(config) as client:
        source = client.core_v1.configmaps("default")
        informer = FastInformer(source, ConfigMap, cache_dir=folder, compact=compact == "compact")
        checker = HistoryChecker("the handler")
        informer.add_handler(checker)
        async with informer:
            await informer.wait_for_sync(timeout=60)
            await notified(informer, checker)
            report(informer, checker)
            while version := (await asyncio.to_thread(sys.stdin.readline)).strip():
                await informer.wait_until(version, timeout=60)
                await notified(informer, checker)
                report(informer, checker)


async def notified(informer: FastInformer, checker: HistoryChecker) -> None:
    """Wait until the notifications add up to the contents of the store: of what vanished meanwhile, too."""
    async with asyncio.timeout(60):
        while checker.known != versions(informer):
            await checker.wait_any()


def versions(informer: FastInformer) -> dict[str, str]:
    return {each.cache_key: each.resource_version for each in informer.indexer.list()}


def report(informer: FastInformer, checker: HistoryChecker) -> None:
    statistics = informer.statistics()
    found = {
        "versions": versions(informer),
        "data": {each.cache_key: dict(each.data) for each in informer.indexer.list()},
        "lists": statistics.sources[0].syncs,
        "restored": statistics.files[0].restored,
        "is_used": statistics.files[0].is_used,
        "violations": checker.violations,
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
