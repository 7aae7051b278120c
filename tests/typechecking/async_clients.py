# pyright: strict
"""Uses every asynchronous client and asserts the types of values. Type checkers read it; it is not run."""

from typing import assert_type

import listwatch as lw
from listwatch.client import DiscoveryResult, ServerVersion, SubresourceClient, WatchEvent, ready
from listwatch.informer.handlers import Change
from listwatch.meta import Resource
from listwatch.models.authentication_v1 import TokenRequest
from listwatch.models.autoscaling_v1 import Scale
from listwatch.models.core_v1 import ConfigMap, Node, Pod
from listwatch.models.rbac_v1 import ClusterRole
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata


class Widget(lw.CustomResource, group="example.com", version="v1", kind="Widget"):
    """A custom kind."""

    spec: dict[str, int]


def configurations() -> None:
    assert_type(lw.load_config(context="dev"), lw.ClientConfig)
    assert_type(lw.load_kube_config("kubeconfig"), lw.ClientConfig)
    assert_type(lw.load_incluster_config(), lw.ClientConfig)
    lw.ClientConfig(
        host="https://10.0.0.1:6443",
        exec=lw.ExecConfig(command="get-token", args=["--quiet"]),
        impersonate=lw.Impersonation(user="jane", groups=["dev"]),
    )
    lw.ClientConfig(host="https://x", auth_provider=lw.OIDCConfig(issuer_url="https://i", client_id="c", id_token="t"))


async def typed(client: lw.ClientSet) -> None:
    pods = client.core_v1.pods("default")
    assert_type(pods, lw.ResourceClient[Pod])
    pod = await pods.get("web-0")
    assert_type(pod, Pod)
    assert_type(pod.spec.containers[0].image, str | None)
    page = await pods.list(label_selector={"app": ["web", "api"]}, field_selector="spec.nodeName=n1", limit=500)
    assert_type(page, ObjectList[Pod])
    for each in page:
        assert_type(each, Pod)
    async for some in pods.pages():
        assert_type(some, ObjectList[Pod])
    async for event in client.core_v1.pods().watch(resource_version=page.resource_version):
        assert_type(event, WatchEvent[Pod])
        assert_type(event.object, Pod)
    async with pods.watch() as stream:
        assert_type(await anext(stream), WatchEvent[Pod])
    assert_type(await client.core_v1.configmaps("default").create(ConfigMap(data={"a": "b"})), ConfigMap)
    assert_type(await pods.patch("web-0", {"metadata": {}}), Pod)
    assert_type(await pods.apply(Pod(), field_manager="me"), Pod)
    assert_type(await pods.delete("web-0"), Pod | None)
    assert_type(await pods.delete_collection(), ObjectList[Pod])
    assert_type(await client.apps_v1.deployments("x").get_scale("web"), Scale)
    assert_type(await client.core_v1.serviceaccounts("x").create_token("y"), TokenRequest)
    assert_type(await pods.patch("web-0", [{"op": "remove", "path": "/metadata/labels"}], type="json"), Pod)
    assert_type(await pods.logs("web-0", tail_lines=10, since_seconds=60), str)
    assert_type((await pods.exec("web-0", ["true"])).exit_code, int)
    async for line in pods.follow_logs("web-0"):
        assert_type(line, str)
    assert_type(client.core_v1.nodes(), lw.ResourceClient[Node])
    assert_type(client.rbac_v1.clusterroles(), lw.ResourceClient[ClusterRole])
    widgets = client.resource(Widget, namespace="x")
    assert_type(widgets, lw.ResourceClient[Widget])
    assert_type((await widgets.selecting(label_selector="a=b").get("w")).spec, dict[str, int])
    assert_type(pods.subresource("status", Pod), SubresourceClient[Pod])
    assert_type(pods.subresource("proxy"), SubresourceClient[lw.Unstructured])


async def tools(client: lw.ClientSet) -> None:
    pods = client.core_v1.pods("default")
    assert_type(await lw.wait_for(pods, "web-0", ready), Pod | None)
    assert_type(await lw.wait_for(pods, "web-0", lambda pod: pod is not None and bool(pod.spec)), Pod | None)
    async for event in lw.RetryWatcher(pods, "7"):
        assert_type(event.object, Pod)
    assert_type(await lw.until(pods, "7", lambda event: event.object.spec.node_name == "n1"), WatchEvent[Pod])
    changed = await lw.until_with_sync(pods, Pod, lambda change: change.object.spec.node_name == "n1")
    assert_type(changed, Change[Pod] | None)
    assert_type(await lw.retry_on_conflict(lambda: pods.get("web-0")), Pod)
    assert_type(await lw.apply_files(client, "deploy/", field_manager="me"), list[lw.Unstructured])


async def informed(client: lw.ClientSet) -> None:
    source: lw.ListerWatcher[Pod] = client.core_v1.pods().selecting(label_selector="app=web")
    informer = lw.SharedIndexInformer(source, Pod)
    assert_type(informer, lw.SharedIndexInformer[Pod])
    assert_type(informer.indexer.get("default/web-0"), Pod | None)
    factory = lw.SharedInformerFactory(client, resync=60.0)
    assert_type(factory.core_v1.pods.informer, lw.SharedIndexInformer[Pod])
    assert_type(factory.core_v1.pods.lister.get("default/web-0"), Pod)
    assert_type(factory.informer(Pod, label_selector="app=web").lister.list(), list[Pod])
    assert_type(lw.ListWatch[Pod].from_client(client.rest, "pods", kind=Pod), lw.ListWatch[Pod])


async def others(config: lw.ClientConfig) -> None:
    rest = lw.RESTClient(config)
    assert_type((await rest.get().namespace("default").resource("pods").name("web-0").do()).into(Pod), Pod)
    listed = await rest.get().resource("pods").options(lw.ListOptions(label_selector="app=web", limit=5)).do()
    assert_type(listed.into_list(Pod), ObjectList[Pod])
    async for event in rest.get().resource("pods").watch(Pod):
        assert_type(event.object, Pod)
    dynamic = lw.DynamicClient()
    found = await dynamic.resource("apps/v1", "Deployment").namespace("default").list()
    assert_type(found, ObjectList[lw.Unstructured])
    metadata = lw.MetadataClient(config)
    assert_type(await metadata.resource("apps/v1", "Deployment").get("x"), PartialObjectMetadata)
    discovery = lw.DiscoveryClient(config)
    assert_type(await discovery.server_version(), ServerVersion)
    assert_type(await discovery.server_groups_and_resources(), DiscoveryResult)
    assert_type((await discovery.server_groups_and_resources()).resources, tuple[Resource, ...])
    assert_type(await lw.RESTMapper(discovery).resource_for("po"), Resource)
    assert_type(await lw.RESTMapper().resource_for("po"), Resource)
    assert_type(await lw.RESTMapper(config).resource_for("po"), Resource)


async def main() -> None:
    config = lw.ClientConfig(host="http://127.0.0.1:8001", token="x")
    async with lw.ClientSet(config) as client:
        assert_type(client, lw.ClientSet)
        assert_type(await client.version(), ServerVersion)
        await typed(client)
        await tools(client)
        await informed(client)
    await others(config)
