"""With an etcd that cannot report the progress of watches, kube-apiserver rejects sendInitialEvents."""

from tests.real.observed_informer import ObservedInformer

from listwatch.client.resources.client_set import ClientSet
from listwatch.testing import RealAPIServer, RealBinaries
from tools.build_realcluster import OLD_ETCD


async def test_an_informer_lists_where_an_old_etcd_prevents_streaming():
    binaries = RealBinaries.find(etcd=OLD_ETCD.version)
    async with RealAPIServer(binaries=binaries) as cluster, ClientSet(cluster.config) as client:
        configmaps = client.core_v1.configmaps("default")
        await configmaps.create({"metadata": {"name": "a"}})
        async with ObservedInformer(cluster.config) as observed:
            assert observed.reflector.lists > 0
            await configmaps.delete("a")
            await observed.check_converged(configmaps)
            assert observed.gone == {"default/a": True}


async def test_an_informer_lists_nothing_where_the_server_streams(cluster: RealAPIServer):
    async with ObservedInformer(cluster.config) as observed:
        assert observed.reflector.lists == 0
        assert observed.problems == []
