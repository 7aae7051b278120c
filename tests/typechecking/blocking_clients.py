# pyright: strict
"""Uses every blocking client and asserts the types of values."""

from typing import assert_type

import listwatch as lw
from listwatch import blocking
from listwatch.client import ServerVersion, WatchEvent, ready
from listwatch.informer.handlers import Change, HandlerFunctions
from listwatch.meta import Resource
from listwatch.models.apps_v1 import Deployment
from listwatch.models.autoscaling_v1 import Scale
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.sources.etcd import KeyValue


def typed(client: blocking.ClientSet) -> None:
    pods = client.core_v1.pods("default")
    assert_type(pods, blocking.ResourceClient[Pod])
    assert_type(pods.get("web-0"), Pod)
    assert_type(pods.get("web-0").spec.containers[0].image, str | None)
    page = pods.list(label_selector={"app": "web"}, limit=500)
    assert_type(page, ObjectList[Pod])
    for some in pods.pages():
        assert_type(some, ObjectList[Pod])
    for event in pods.watch(resource_version=page.resource_version):
        assert_type(event, WatchEvent[Pod])
    with pods.watch() as stream:
        assert_type(next(stream), WatchEvent[Pod])
    assert_type(client.core_v1.configmaps("default").create(ConfigMap(data={"a": "b"})), ConfigMap)
    assert_type(pods.patch("web-0", {"metadata": {}}), Pod)
    assert_type(pods.apply(Pod(), field_manager="me"), Pod)
    assert_type(pods.delete("web-0"), Pod | None)
    assert_type(client.apps_v1.deployments("x").get_scale("web"), Scale)
    for line in pods.follow_logs("web-0"):
        assert_type(line, str)
    assert_type(client.core_v1.nodes(), blocking.ResourceClient[Node])
    assert_type(client.resource(Pod, namespace="x"), blocking.ResourceClient[Pod])


def tools(client: blocking.ClientSet) -> None:
    pods = client.core_v1.pods("default")
    assert_type(blocking.wait_for(pods, "web-0", ready), Pod | None)
    watcher = blocking.RetryWatcher(pods, "7")
    assert_type(watcher, blocking.RetryWatcher[Pod])
    for event in watcher:
        assert_type(event.object, Pod)
    assert_type(blocking.until(pods, "7", lambda event: event.object.spec.node_name == "n1"), WatchEvent[Pod])
    changed = blocking.until_with_sync(pods, Pod, lambda change: change.object.spec.node_name == "n1")
    assert_type(changed, Change[Pod] | None)
    assert_type(blocking.retry_on_conflict(lambda: pods.get("web-0")), Pod)
    assert_type(blocking.apply_files(client, "deploy/", field_manager="me"), list[lw.Unstructured])


def informed(client: blocking.ClientSet) -> None:
    informer = blocking.SharedIndexInformer(client.core_v1.pods(), Pod)
    assert_type(informer, blocking.SharedIndexInformer[Pod])
    assert_type(informer.indexer.get("default/web-0"), Pod | None)
    factory = blocking.SharedInformerFactory(client, resync=60.0)
    assert_type(factory.core_v1.pods.informer, blocking.SharedIndexInformer[Pod])
    assert_type(factory.core_v1.pods.lister.get("default/web-0"), Pod)
    assert_type(factory.informer(Pod, label_selector="app=web").lister.list(), list[Pod])
    source = blocking.ListWatch[Pod].from_client(client.rest, "pods", kind=Pod)
    assert_type(blocking.SharedIndexInformer(source, Pod), blocking.SharedIndexInformer[Pod])


def plain_informer(client: blocking.ClientSet) -> None:
    functions = HandlerFunctions[Pod](on_add=lambda pod: print(pod.name))
    informer = blocking.Informer(client.core_v1.pods(), Pod, functions)
    assert_type(informer, blocking.Informer[Pod])
    assert_type(informer.indexer.get("default/web-0"), Pod | None)


def controlled(client: blocking.ClientSet) -> None:
    def reconcile(key: lw.ObjectKey, context: blocking.ReconcileContext[Deployment]) -> float | None:
        assert_type(context.get(), Deployment | None)
        assert_type(context.client, blocking.ClientSet)
        assert_type(context.lister(Pod).list(), list[Pod])
        return None

    controller = blocking.Controller(reconcile, for_=Deployment, owns=[Pod], client=client)
    assert_type(controller, blocking.Controller[Deployment])
    assert_type(controller.get("default/web"), Deployment | None)
    assert_type(controller.indexer(Pod), lw.Indexer[Pod])
    assert_type(blocking.Manager(client).add(controller), blocking.Controller[Deployment])
    informer = blocking.SharedIndexInformer(client.apps_v1.deployments(), Deployment)
    assert_type(blocking.Controller(print, for_=informer), blocking.Controller[Deployment])


def queued(elector: blocking.LeaderElector) -> None:
    queue = blocking.WorkQueue[str](name="keys")
    with queue.take() as key:
        assert_type(key, str)
    with elector.lead():
        assert_type(elector.wait_lost(timeout=1.0), bool)


def others(config: lw.ClientConfig) -> None:
    rest = blocking.RESTClient(config)
    assert_type(rest.get().namespace("default").resource("pods").name("web-0").do().into(Pod), Pod)
    dynamic = blocking.DynamicClient(config)
    found = dynamic.resource("apps/v1", "Deployment").namespace("default").list()
    assert_type(found, ObjectList[lw.Unstructured])
    metadata = blocking.MetadataClient(config)
    assert_type(metadata.resource("apps/v1", "Deployment").get("x"), PartialObjectMetadata)
    discovery = blocking.DiscoveryClient(config)
    assert_type(discovery.server_version(), ServerVersion)
    assert_type(blocking.RESTMapper(discovery).resource_for("po"), Resource)
    assert_type(blocking.RESTMapper().resource_for("po"), Resource)
    assert_type(blocking.RESTMapper(config).resource_for("po"), Resource)


def etcd(client: blocking.EtcdClient) -> None:
    source = blocking.EtcdListWatch(client, "/numbers/", int, decode=int)
    assert_type(source, blocking.EtcdListWatch[KeyValue[int]])
    store = blocking.EtcdStore(client, "/raw/")
    assert_type(store.get("web/1"), KeyValue[bytes])


def main() -> None:
    with blocking.ClientSet(lw.ClientConfig(host="http://127.0.0.1:8001", token="x")) as client:
        assert_type(client, blocking.ClientSet)
        typed(client)
        tools(client)
        informed(client)
        plain_informer(client)
        controlled(client)
        queued(blocking.LeaderElector(client, name="one"))
        others(client.rest.config)
        with blocking.EtcdClient() as store:
            etcd(store)
