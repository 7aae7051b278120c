# pyright: strict
"""Uses every blocking client and asserts the types of values."""

from typing import assert_type

import listwatch as lw
from listwatch import blocking
from listwatch.client import ServerVersion, WatchEvent, ready
from listwatch.informer.handlers import Change
from listwatch.meta import Resource
from listwatch.models.autoscaling_v1 import Scale
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata


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
    for event in blocking.RetryWatcher(pods, "7"):
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


def main() -> None:
    with blocking.ClientSet(lw.ClientConfig(host="http://127.0.0.1:8001", token="x")) as client:
        assert_type(client, blocking.ClientSet)
        typed(client)
        tools(client)
        informed(client)
        others(client.rest.config)
