# pyright: strict
"""Controllers and reconcile functions, with the types that they have. It is read by type checkers, and not run."""

from datetime import timedelta
from logging import Logger, LoggerAdapter
from typing import Any, assert_type

import listwatch as lw
from listwatch.controller import Cluster, ReconcileResult, finalize, find_condition, generation_changed, set_condition
from listwatch.models.apps_v1 import Deployment, DeploymentCondition
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.models.meta_v1 import Condition


async def of_key(key: lw.ObjectKey) -> None: ...
def plain(key: lw.ObjectKey) -> float | None: ...
async def later(key: lw.ObjectKey) -> ReconcileResult:
    return timedelta(minutes=5) if key.namespace else 30.0


async def with_context(key: lw.ObjectKey, context: lw.ReconcileContext[Deployment]) -> None:
    assert_type(context.key, lw.ObjectKey)
    assert_type(context.client, lw.ClientSet)
    assert_type(context.get(), Deployment | None)
    assert_type(context.get("default/web"), Deployment | None)
    assert_type(context.lister(Pod), lw.Lister[Pod])
    assert_type(context.indexer(Pod), lw.Indexer[Pod])
    assert_type(context.indexer(("example.com/v1", "Widget")), lw.Indexer[Any])
    assert_type(context.logger, LoggerAdapter[Logger])
    if (deployment := context.get()) is not None:
        context.record_event(deployment, "Normal", "Scaled", "the deployment was scaled", action="Scale")


def app_of(pod: Pod, cluster: str) -> lw.ObjectKey:
    return lw.ClusterKey("default", f"{pod.name}-{cluster}", "hub")


async def several_clusters(hub: lw.ClientSet, eu: lw.ClientSet, other: lw.DynamicClient) -> None:
    manager = lw.Manager({"hub": hub, "eu": eu}, home="hub", leader_election="op")
    members = lw.Watch(Pod, cluster_keys=app_of, clusters=lambda name: name != "hub")
    controller = lw.Controller(in_clusters, for_=lw.Watch(Deployment, clusters=["hub"]), watches=[members])
    manager.add(controller)
    lw.Watch(Pod, cluster_keys=lambda pod, cluster: pod.key.in_cluster(cluster))
    assert_type(controller, lw.Controller[Deployment])
    assert_type(controller.lister(Pod, cluster="eu"), lw.Lister[Pod])
    assert_type(await manager.add_cluster("us", other), Cluster)
    assert_type(manager.cluster("us").client, lw.ClientSet)
    assert_type(manager.clusters, tuple[Cluster, ...])
    await manager.remove_cluster("us")


async def in_clusters(key: lw.ObjectKey, context: lw.ReconcileContext[Deployment]) -> None:
    assert_type(key.cluster, str)
    assert_type(key.in_cluster("eu"), lw.ClusterKey)
    assert_type(context.clusters, tuple[str, ...])
    assert_type(context.in_cluster("eu").get(), Deployment | None)
    assert_type(context.in_cluster("eu").lister(Pod), lw.Lister[Pod])


async def of_any_kind(key: lw.ObjectKey, context: lw.ReconcileContext[Any]) -> None: ...


class Scaler:
    """A reconciler with a context."""

    async def reconcile(self, key: lw.ObjectKey, context: lw.ReconcileContext[Deployment]) -> float | None: ...


class Cleaner:
    """A reconciler without a context."""

    def reconcile(self, key: lw.ObjectKey) -> None: ...


def controllers(client: lw.ClientSet, informer: lw.SharedIndexInformer[Pod]) -> None:
    controller = lw.Controller(of_key, for_=Deployment, owns=[Pod, lw.Watch(ConfigMap)], client=client)
    assert_type(controller, lw.Controller[Deployment])
    assert_type(controller.get("default/web"), Deployment | None)
    assert_type(controller.lister(Pod), lw.Lister[Pod])
    assert_type(controller.indexer(Pod), lw.Indexer[Pod])
    assert_type(controller.informer(Pod), lw.SharedIndexInformer[Pod])
    assert_type(controller.indexer(lw.Watch(Pod)), lw.Indexer[Pod])
    assert_type(lw.Controller(plain, for_=lw.Watch(Pod, when=generation_changed)), lw.Controller[Pod])
    assert_type(lw.Controller(later, for_=informer), lw.Controller[Pod])
    assert_type(lw.Controller(with_context, for_=Deployment), lw.Controller[Deployment])
    assert_type(lw.Controller(of_any_kind, for_=Deployment), lw.Controller[Deployment])
    assert_type(lw.Controller(Scaler(), for_=Deployment), lw.Controller[Deployment])
    assert_type(lw.Controller(Cleaner(), for_=Pod), lw.Controller[Pod])
    assert_type(lw.Controller(of_key, for_=("example.com/v1", "Widget")).get("default/a"), Any | None)
    assert_type(lw.Controller(of_key, watches=[lw.Every(60.0)]), lw.Controller[Any])
    manager = lw.Manager(client, namespace="apps", leader_election="op", lease_namespace="system")
    assert_type(manager.add(controller), lw.Controller[Deployment])


def watches() -> None:
    assert_type(lw.Watch(Pod, keys=lambda pod: [pod.name]), lw.Watch[Pod])
    assert_type(lw.Watch(Pod, when=lambda old, new: old is None or new is None or old.spec != new.spec), lw.Watch[Pod])
    assert_type(lw.Watch(("example.com/v1", "Widget")), lw.Watch[Any])
    assert_type(lw.Watch(Pod, indexers={"node": lambda pod: [pod.spec.node_name or ""]}), lw.Watch[Pod])


def conditions(deployment: Deployment, typed: list[Condition]) -> None:
    assert_type(set_condition(deployment, "Ready", True, reason="AllSet"), bool)
    assert_type(set_condition(typed, "Ready", True, reason="AllSet", kind=Condition), bool)
    assert_type(find_condition(typed, "Ready"), Condition | None)
    assert_type(find_condition(deployment, "Ready"), DeploymentCondition | None)
    assert_type(find_condition(deployment.status, "Ready"), DeploymentCondition | None)
    assert_type(find_condition(lw.Unstructured({}), "Ready"), dict[str, Any] | None)


async def finalizers(client: lw.ClientSet, pod: Pod) -> None:
    async def create(item: Pod) -> int:
        return len(item.name)

    pods = client.core_v1.pods("default")
    assert_type(await finalize(pods, pod, "a.b/c", apply=create, cleanup=lambda item: item.name), int | None)
    assert_type(await finalize(pods, pod, "a.b/c", apply=lambda item: item.name, cleanup=print), str | None)
