"""Several clusters in the blocking API."""

import threading

from tests.controller.worlds import config_map

from listwatch.blocking import ClientSet, Cluster, Controller, Manager, ReconcileContext
from listwatch.meta import ClusterKey, ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing.api_server_thread import APIServerThread


def test_blocking_reconciles_get_keys_contexts_and_clients_of_their_cluster():
    with (
        APIServerThread() as first,
        APIServerThread() as second,
        ClientSet(first.config) as eu,
        ClientSet(second.config) as us,
    ):
        for name, client in {"eu": eu, "us": us}.items():
            client.core_v1.configmaps("default").create(config_map("a", place=name))
        seen: dict[ObjectKey, tuple[str, str]] = {}
        changed = threading.Event()

        def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            item = context.get()
            assert item is not None
            read = context.client.core_v1.configmaps(key.namespace).get(key.name)
            seen[key] = item.data["place"], read.data["place"]
            changed.set()

        manager = Manager({"eu": eu})
        manager.add(Controller(reconcile, for_=ConfigMap))
        with manager:
            manager.wait_ready(timeout=30)
            cluster: Cluster = manager.add_cluster("us", us)
            cluster.wait_for_sync(timeout=30)
            while len(seen) < 2:
                changed.wait()
                changed.clear()
            assert [each.name for each in manager.clusters] == ["eu", "us"]
            assert manager.cluster("us").client.core_v1.configmaps("default").get("a").data == {"place": "us"}
            manager.remove_cluster("us")
            assert [each.name for each in manager.clusters] == ["eu"]
        assert seen == {
            ClusterKey("default", "a", "eu"): ("eu", "eu"),
            ClusterKey("default", "a", "us"): ("us", "us"),
        }
