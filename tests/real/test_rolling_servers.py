"""Two kube-apiservers share an etcd, and an informer's traffic is switched between them while it watches."""

from dataclasses import replace

from tests.real.observed_informer import ObservedInformer
from tests.real.switch import Switch

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import RealAPIServer

ROUNDS = 3


async def test_versions_never_go_back_when_traffic_moves_between_servers(
    cluster: RealAPIServer, configmaps: ResourceClient[ConfigMap]
):
    async with (
        RealAPIServer(beside=cluster) as other,
        Switch(cluster.url) as switch,
        ObservedInformer(replace(cluster.config, host=switch.url)) as observed,
    ):
        for number in range(ROUNDS):
            await configmaps.patch("a-0", {"data": {"round": f"{number} before"}})
            switch.switch_to(cluster.url if number % 2 else other.url)
            await configmaps.patch("a-1", {"data": {"round": f"{number} after"}})
            await configmaps.delete(f"a-{number + 2}")
            written = await configmaps.create({"metadata": {"name": f"b-{number}"}})
            await observed.informer.wait_until(written.resource_version, timeout=60)
        await observed.check_converged(configmaps)
        assert observed.reflector.lists == 0
        assert observed.gone == {f"default/a-{number + 2}": True for number in range(ROUNDS)}


async def test_a_lagging_server_does_not_move_an_informer_back(
    cluster: RealAPIServer, configmaps: ResourceClient[ConfigMap]
):
    async with (
        Switch(cluster.etcd_url) as link,
        RealAPIServer(beside=cluster, flags=[f"--etcd-servers={link.url}"]) as late,
        Switch(cluster.url) as switch,
        ObservedInformer(replace(cluster.config, host=switch.url)) as observed,
        ClientSet(replace(late.config, timeout=2.0)) as late_client,
    ):
        link.freeze()
        for number in range(5):
            await configmaps.delete(f"a-{number}")
        ahead = await configmaps.patch("a-5", {"data": {"round": "1"}})
        await observed.informer.wait_until(ahead.resource_version, timeout=60)
        switch.switch_to(late.url)
        await switch.has_new_connection.wait()
        # Returns when the informer has received a response from that server.
        stale = await late_client.core_v1.configmaps("default").list(resource_version="0")
        assert int(stale.resource_version) < int(ahead.resource_version)
        link.thaw()
        await observed.check_converged(configmaps)
        assert len(observed.notified["default/a-5"]) == 2
        assert observed.gone == {f"default/a-{number}": True for number in range(5)}
