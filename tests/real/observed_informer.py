"""An informer that records its notifications, problems and requests, for tests of outages."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Self

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.client_statistics import ClientStatistics
from listwatch.client.rest.rest_client import RESTClient
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.reflector.reflector import ReflectorStatistics
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.sources.list_watch import ListWatch


class ObservedInformer:
    """Follows the ConfigMaps of the namespace `default`, and is its own handler."""

    def __init__(self, config: ClientConfig) -> None:
        self._rest = RESTClient(config)
        source = ListWatch.from_client(self._rest, "configmaps", namespace="default")
        self.informer = SharedIndexInformer(source, ConfigMap, on_problem=self._on_problem)
        self.informer.add_handler(self)
        self.problems: list[Problem] = []
        self.notified: dict[str, list[int]] = {}
        """The notified versions of each object, in order."""
        self.cache_versions: list[int] = []
        """The versions of the whole cache at each notification."""
        self.gone: dict[str, bool] = {}
        """The last deleted object, and whether its final state was known."""
        self._something_happened = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.informer.__aenter__()
        await self.informer.wait_for_sync(timeout=60)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.informer.stop()
        await self._rest.aclose()

    # --- handler

    def on_add(self, item: ConfigMap) -> None:
        self.gone.pop(str(item.key), None)
        self._record(item)

    def on_update(self, _old: ConfigMap, new: ConfigMap) -> None:
        self._record(new)

    def on_delete(self, item: ConfigMap, final_state_known: bool) -> None:
        self.gone[str(item.key)] = final_state_known
        self._record(item)

    def _record(self, item: ConfigMap) -> None:
        self.notified.setdefault(str(item.key), []).append(int(item.resource_version))
        self.cache_versions.append(int(self.reflector.resource_version))
        self._something_happened.set()

    def _on_problem(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._something_happened.set()

    # --- queries

    @property
    def reflector(self) -> ReflectorStatistics:
        return self.informer.statistics().sources[0]

    @property
    def requests(self) -> ClientStatistics:
        return self._rest.statistics()

    def contents(self) -> dict[str, str]:
        return _versions(self.informer.indexer.list())

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that becomes true with a change or a problem."""
        while not condition():
            self._something_happened.clear()
            await self._something_happened.wait()

    async def check_converged(self, configmaps: ResourceClient[ConfigMap]) -> None:
        """Wait for a last change, and compare the cache with a list of the server."""
        last = await configmaps.create({"metadata": {"generateName": "last-"}})
        await self.informer.wait_until(last.resource_version, timeout=90)
        await self.wait_for(lambda: str(last.key) in self.notified)
        assert self.contents() == _versions((await configmaps.list()).items)
        assert self.notified.keys() == self.contents().keys() | self.gone.keys()
        self.check_no_version_went_back()

    def check_no_version_went_back(self) -> None:
        for versions in [*self.notified.values(), self.cache_versions]:
            assert versions == sorted(versions)


def _versions(items: Iterable[ConfigMap]) -> dict[str, str]:
    return {str(item.key): item.resource_version for item in items}
