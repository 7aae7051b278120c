"""A real kube-apiserver, its etcd, or both are killed in the middle of a reconcile, and started again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.real.outage import OUTAGES, Outage

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.wait_for import wait_for
from listwatch.controller.controller import Controller
from listwatch.controller.reports import Failure
from listwatch.errors import AlreadyExistsError, NotFoundError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import RealAPIServer

OF_THE_INFORMER = 4


class Mirror:
    """A controller that copies the ConfigMaps of `default` to `kube-public`, and can be paused before it writes."""

    def __init__(self, client: ClientSet) -> None:
        self._copies = client.core_v1.configmaps("kube-public")
        self.controller = Controller(
            self._reconcile, for_=ConfigMap, namespace="default", client=client, on_failure=self._failed
        )
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.is_held_up = asyncio.Event()
        self.failures = asyncio.Queue[Failure]()

    async def _reconcile(self, key: ObjectKey) -> None:
        source = self.controller.get(key)
        if not self.may_write.is_set():
            self.is_held_up.set()
            await self.may_write.wait()
        if source is None:
            with suppress(NotFoundError):
                await self._copies.delete(key.name)
            return
        try:
            await self._copies.create({"metadata": {"name": key.name}, "data": source.data})
        except AlreadyExistsError:
            await self._copies.patch(key.name, {"data": source.data})

    def _failed(self, failure: Failure) -> None:
        self.failures.put_nowait(failure)


@pytest.mark.parametrize("outage", OUTAGES, ids=str)
async def test_a_controller_completes_its_work_after_an_outage(
    outage: Outage,
    cluster: RealAPIServer,
    client: ClientSet,
    configmaps: ResourceClient[ConfigMap],
    record_property: Callable[[str, str], None],
):
    copies = client.core_v1.configmaps("kube-public")
    async with ClientSet(replace(cluster.config, timeout=2.0)) as impatient:
        mirror = Mirror(impatient)
        async with mirror.controller:
            await wait_for_copies(copies, {f"a-{number}": "0" for number in range(10)})
            mirror.may_write.clear()
            await configmaps.patch("a-0", {"data": {"round": "1"}})
            await mirror.is_held_up.wait()
            before, began = impatient.rest.statistics().requests, asyncio.get_running_loop().time()
            await outage.begin(cluster)
            mirror.may_write.set()
            # A server without its etcd fails slowly.
            expected = 10 if outage.of_api_server else 3
            failed = [await mirror.failures.get() for _ in range(expected)]
            sent = impatient.rest.statistics().requests - before
            lasted = asyncio.get_running_loop().time() - began
            record_property(
                f"{outage} down", f"{sent} requests of the controller in {lasted:.1f} s, {sent / lasted:.2f} a second"
            )
            assert sent <= expected + OF_THE_INFORMER
            assert all(failure.will_retry for failure in failed)
            await outage.end(cluster)
            await configmaps.delete("a-1")
            await configmaps.patch("a-2", {"data": {"round": "2"}})
            await wait_for_copies(copies, {"a-0": "1", "a-1": None, "a-2": "2", "a-3": "0"})


async def wait_for_copies(copies: ResourceClient[ConfigMap], rounds: dict[str, str | None]) -> None:
    """Wait until each of these ConfigMaps has its value; None stands for a deleted one."""
    for name, wanted in rounds.items():
        await wait_for(copies, name, lambda copy, wanted=wanted: round_of(copy) == wanted, timeout=90)


def round_of(copy: ConfigMap | None) -> str | None:
    return copy.data["round"] if copy else None
