"""etcd is compacted while an informer receives no events."""

from dataclasses import replace

from tests.real.observed_informer import ObservedInformer
from tests.real.switch import Switch

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import GoneError
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing import RealAPIServer


async def test_a_paused_informer_relists_after_a_compaction_and_reports_deleted_objects(
    cluster: RealAPIServer, configmaps: ResourceClient[ConfigMap]
):
    async with (
        Switch(cluster.url) as switch,
        ObservedInformer(replace(cluster.config, host=switch.url)) as observed,
    ):
        switch.freeze()
        await configmaps.delete("a-0")
        await configmaps.delete("a-1")
        await configmaps.create({"metadata": {"name": "a-1"}})
        await configmaps.patch("a-2", {"data": {"round": "1"}})
        await cluster.compact()
        # Otherwise the server would serve compacted versions from its watch cache.
        await cluster.kill_api_server()
        await cluster.start_api_server()
        switch.thaw()
        await observed.check_converged(configmaps)
        assert any(isinstance(problem.error, GoneError) for problem in observed.problems)
        assert observed.gone == {"default/a-0": False}
        assert len(observed.notified["default/a-2"]) == 2
