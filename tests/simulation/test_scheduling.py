"""Preemption by priority, and claims that wait for a pod."""

from typing import Any

import pytest
from tests.simulation.simulated import Scene, pod, simulate

from listwatch.models.core_v1 import Node, Pod
from listwatch.simulation import NodeGroup
from listwatch.simulation.scheduling.node_choice import NodeUsage, PlacedPod
from listwatch.simulation.scheduling.preemption import choose_victims

ONE_SMALL_NODE = [NodeGroup(cpu="2", memory="8Gi")]


def needs(cpu: str) -> list[dict[str, Any]]:
    return [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}]


async def create_classes(scene: Scene) -> None:
    classes = scene.client.scheduling_v1.priorityclasses()
    for name, value in (("low", 1), ("high", 100)):
        await classes.create({"metadata": {"name": name}, "value": value})
    await classes.create({"metadata": {"name": "polite"}, "value": 100, "preemptionPolicy": "Never"})


def test_a_pod_preempts_pods_of_lower_priority():
    async def scenario(scene: Scene) -> None:
        await create_classes(scene)
        pods = scene.client.core_v1.pods("default")
        for name in ("one", "two"):
            await pods.create(pod(name, containers=needs("1"), priorityClassName="low", labels={}))
            await scene.wait(pods, name, "condition=Ready")
        await pods.create(pod("polite", containers=needs("1"), priorityClassName="polite"))
        await scene.wait(
            pods, "polite", lambda it: any(each.reason == "Unschedulable" for each in it.status.conditions)
        )
        await pods.create(pod("urgent", containers=needs("1"), priorityClassName="high"))
        urgent = await scene.wait(pods, "urgent", "condition=Ready")
        assert urgent.status.nominated_node_name == "node-0"
        left = {each.name for each in await pods.list()}
        assert len(left & {"one", "two"}) == 1
        assert (await pods.get("polite")).spec.node_name is None

    simulate(scenario, nodes=ONE_SMALL_NODE)


def test_a_preempted_pod_is_marked_before_it_is_deleted():
    async def scenario(scene: Scene) -> None:
        await create_classes(scene)
        pods = scene.client.core_v1.pods("default")
        body = pod("victim", containers=needs("2"), priorityClassName="low")
        await pods.create({**body, "metadata": {**body["metadata"], "finalizers": ["example.com/keep"]}})
        await scene.wait(pods, "victim", "condition=Ready")
        await pods.create(pod("urgent", containers=needs("2"), priorityClassName="high"))
        victim = await scene.wait(pods, "victim", lambda it: it.metadata.deletion_timestamp)
        assert [each.reason for each in victim.status.conditions if each.type == "DisruptionTarget"] == [
            "PreemptionByScheduler"
        ]

    simulate(scenario, nodes=ONE_SMALL_NODE)


def usage(name: str, *priorities: int) -> NodeUsage:
    allocatable = {"cpu": "4", "pods": "110"}
    found = NodeUsage(Node.from_dict({"metadata": {"name": name}, "status": {"allocatable": allocatable}}))
    for number, priority in enumerate(priorities):
        metadata = {"name": f"{name}-{number}", "namespace": "default", "uid": f"{name}-{number}"}
        found.add(
            PlacedPod.of(
                Pod.from_dict({"metadata": metadata, "spec": {"containers": needs("1"), "priority": priority}})
            )
        )
    return found


@pytest.mark.parametrize(
    ("nodes", "cpu", "expected"),
    [
        ([usage("a", 5, 5, 5, 5), usage("b", 1, 1, 9, 9)], "2", ("b", {"b-0", "b-1"})),
        ([usage("a", 1, 1, 1, 1), usage("b", 1, 20, 20, 20)], "2", ("a", {"a-2", "a-3"})),
        ([usage("a", 1, 2, 20, 20), usage("b", 2, 20, 20, 20)], "1", ("a", {"a-0"})),
        ([usage("a", 20, 20, 20, 20)], "1", None),
        ([usage("a", 1)], "5", None),
    ],
)
def test_the_least_important_pods_are_chosen(nodes: list[NodeUsage], cpu: str, expected: Any):
    preemptor = Pod.from_dict({"metadata": {"name": "p"}, "spec": {"containers": needs(cpu), "priority": 10}})
    found = choose_victims(preemptor, nodes)
    assert (found and (found.node, {each.uid for each in found.victims})) == expected


def test_a_claim_waits_for_its_first_consumer():
    async def scenario(scene: Scene) -> None:
        client = scene.client
        body = {"metadata": {"name": "late"}, "provisioner": "example.com/disks"}
        await client.storage_v1.storageclasses().create({**body, "volumeBindingMode": "WaitForFirstConsumer"})
        claims, pods = client.core_v1.persistentvolumeclaims("default"), client.core_v1.pods("default")
        spec = {
            "storageClassName": "late",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        await claims.create({"metadata": {"name": "data"}, "spec": spec})
        await scene.pass_time(30)
        assert (await claims.get("data")).status.phase == "Pending"
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        await pods.create(pod("db", volumes=volumes))
        db = await scene.wait(pods, "db", "condition=Ready")
        claim = await claims.get("data")
        assert claim.status.phase == "Bound"
        assert claim.metadata.annotations["volume.kubernetes.io/selected-node"] == db.spec.node_name

    simulate(scenario)


def test_a_pod_goes_to_the_node_of_its_volume():
    async def scenario(scene: Scene) -> None:
        client = scene.client
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}
        volume = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        }
        await client.core_v1.persistentvolumes().create({"metadata": {"name": "disk"}, "spec": volume})
        spec = {
            "storageClassName": "",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        await client.core_v1.persistentvolumeclaims("default").create({"metadata": {"name": "data"}, "spec": spec})
        pods = client.core_v1.pods("default")
        for name in ("one", "two"):
            volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
            await pods.create(pod(name, volumes=volumes))
            assert (await scene.wait(pods, name, "condition=Ready")).spec.node_name == "node-1"

    simulate(scenario)
