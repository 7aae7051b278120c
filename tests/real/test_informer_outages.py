"""A real kube-apiserver, its etcd, or both are killed and started again under a running informer."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.real.observed_informer import ObservedInformer
from tests.real.outage import OUTAGES, Outage

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import ListWatchError
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import RealAPIServer

FAILURES = 3


@pytest.mark.parametrize("outage", OUTAGES, ids=str)
async def test_an_informer_survives_an_outage_and_backs_off_meanwhile(
    outage: Outage,
    cluster: RealAPIServer,
    configmaps: ResourceClient[ConfigMap],
    record_property: Callable[[str, str], None],
):
    async with ObservedInformer(cluster.config) as observed:
        before = observed.requests.requests
        began = asyncio.get_running_loop().time()
        await outage.begin(cluster)
        await wait_for_failures(cluster, observed, outage)
        sent, lasted = observed.requests.requests - before, asyncio.get_running_loop().time() - began
        record_property(
            f"{outage} down", f"{sent} requests of the informer in {lasted:.1f} s, {sent / lasted:.2f} a second"
        )
        assert sent <= FAILURES
        delays = [problem.delay for problem in observed.problems]
        assert delays == sorted(delays)
        assert all(delay >= 0.8 for delay in delays)
        await outage.end(cluster)
        await configmaps.delete("a-0")
        await configmaps.patch("a-1", {"data": {"round": "1"}})
        await observed.check_converged(configmaps)
        assert observed.gone.keys() == {"default/a-0"}
        assert len(observed.notified["default/a-1"]) == 2


async def wait_for_failures(cluster: RealAPIServer, observed: ObservedInformer, outage: Outage) -> None:
    """Wait until the informer has failed, or, if the outage does not affect it, another client."""
    if outage.of_api_server:
        await observed.wait_for(lambda: len(observed.problems) >= FAILURES)
    else:
        await fail_to_write(cluster)


async def fail_to_write(cluster: RealAPIServer) -> None:
    async with ClientSet(replace(cluster.config, timeout=2.0)) as client:
        for number in range(FAILURES):
            with pytest.raises(ListWatchError):
                await client.core_v1.configmaps("default").create({"metadata": {"name": f"unwritten-{number}"}})


async def test_writes_through_another_server_during_an_outage_are_not_missed(
    cluster: RealAPIServer, configmaps: ResourceClient[ConfigMap]
):
    async with (
        RealAPIServer(beside=cluster) as other,
        ClientSet(other.config) as other_client,
        ObservedInformer(cluster.config) as observed,
    ):
        elsewhere = other_client.core_v1.configmaps("default")
        await cluster.kill_api_server()
        await elsewhere.delete("a-0")
        await elsewhere.patch("a-1", {"data": {"round": "1"}})
        again = await elsewhere.create({"metadata": {"name": "a-0"}})
        await elsewhere.create({"metadata": {"name": "b"}})
        await elsewhere.delete("a-2")
        await cluster.start_api_server()
        await observed.check_converged(configmaps)
        assert observed.notified["default/a-0"][-1] == int(again.resource_version)
        assert len(observed.notified["default/a-1"]) == 2
        assert observed.gone.keys() == {"default/a-2"}
