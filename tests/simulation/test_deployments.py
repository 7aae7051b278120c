"""Simulated Deployments and ReplicaSets: rollouts, scaling, history, failures."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.simulation.simulated import Scene, pod, simulate, workload

from listwatch.models.apps_v1 import Deployment
from listwatch.simulation import Stage
from listwatch.simulation.controllers.rollout_state import (
    SetSize,
    absolute,
    new_set_size,
    proportional_sizes,
    reduced_old_sizes,
)


def conditions(item: Any) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status, each.reason) for each in item.status.conditions}


def is_rolled_out(item: Deployment | None) -> bool:
    return item is not None and (
        item.status.observed_generation == item.metadata.generation
        and item.status.updated_replicas == item.status.replicas == item.status.available_replicas == item.spec.replicas
        and conditions(item).get("Progressing", ("", ""))[1] == "NewReplicaSetAvailable"
    )


async def create(scene: Scene, **spec: Any) -> Deployment:
    deployments = scene.client.apps_v1.deployments("default")
    await deployments.create(workload("web", **{"replicas": 4, **spec}))
    return await scene.wait(deployments, "web", is_rolled_out)


async def set_image(scene: Scene, image: str) -> None:
    change = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}
    await scene.client.apps_v1.deployments("default").patch("web", change)


def test_a_deployment_rolls_out_a_new_template_and_undoes_it():
    async def scenario(scene: Scene) -> None:
        deployments, sets = scene.client.apps_v1.deployments("default"), scene.client.apps_v1.replicasets("default")
        first = await create(scene)
        assert first.metadata.annotations["deployment.kubernetes.io/revision"] == "1"
        assert conditions(first)["Available"] == ("True", "MinimumReplicasAvailable")
        [only] = await sets.list()
        name_hash = only.labels["pod-template-hash"]
        assert only.name == f"web-{name_hash}"
        assert only.spec.selector.match_labels == {"app": "web", "pod-template-hash": name_hash}
        for each in await scene.client.core_v1.pods("default").list():
            assert each.name.startswith(f"{only.name}-")
            assert each.labels == {"app": "web", "pod-template-hash": name_hash}

        await set_image(scene, "web:2")
        second = await scene.wait(deployments, "web", is_rolled_out)
        assert second.metadata.annotations["deployment.kubernetes.io/revision"] == "2"
        assert sorted(each.spec.replicas for each in await sets.list()) == [0, 4]

        await set_image(scene, "web:1")
        third = await scene.wait(deployments, "web", is_rolled_out)
        assert third.metadata.annotations["deployment.kubernetes.io/revision"] == "3"
        again = await sets.get(only.name)
        assert again.spec.replicas == 4
        assert again.metadata.annotations["deployment.kubernetes.io/revision-history"] == "1"
        assert len(await sets.list()) == 2

    simulate(scenario)


def test_a_rolling_update_keeps_its_limits():
    async def scenario(scene: Scene) -> tuple[int, int]:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
        await create(scene, replicas=5, strategy=rolling)
        await set_image(scene, "web:2")
        fewest, most = 5, 5
        async for event in scene.client.apps_v1.deployments("default").watch():
            status = event.object.status
            fewest, most = min(fewest, status.available_replicas or 0), max(most, status.replicas or 0)
            if is_rolled_out(event.object):
                break
        return fewest, most

    assert simulate(scenario) == (4, 6)


def test_recreate_removes_all_old_pods_first():
    async def scenario(scene: Scene) -> None:
        deployments, pods = scene.client.apps_v1.deployments("default"), scene.client.core_v1.pods("default")
        await create(scene, replicas=2, strategy={"type": "Recreate"})
        await set_image(scene, "web:2")
        images: set[str] = {"web:1"}
        present = {each.name: each for each in await pods.list()}
        async for event in pods.watch():
            if event.type == "DELETED":
                present.pop(event.object.name, None)
            elif event.type in ("ADDED", "MODIFIED"):
                present[event.object.name] = event.object
            images = {each.spec.containers[0].image for each in present.values()}
            assert len(images) <= 1
            if images == {"web:2"}:
                break
        await scene.wait(deployments, "web", is_rolled_out)

    simulate(scenario)


def test_a_deployment_is_scaled_and_paused():
    async def scenario(scene: Scene) -> None:
        deployments, sets = scene.client.apps_v1.deployments("default"), scene.client.apps_v1.replicasets("default")
        await create(scene)
        await deployments.patch_scale("web", {"spec": {"replicas": 7}})
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 7)
        await deployments.patch_scale("web", {"spec": {"replicas": 2}})
        await scene.wait(deployments, "web", lambda item: item.status.replicas == 2)
        await deployments.patch("web", {"spec": {"paused": True}})
        await scene.wait(deployments, "web", lambda i: conditions(i)["Progressing"] == ("Unknown", "DeploymentPaused"))
        await set_image(scene, "web:2")
        await scene.pass_time(30)
        assert len(await sets.list()) == 1
        await deployments.patch("web", {"spec": {"paused": False}})
        await scene.wait(deployments, "web", is_rolled_out)
        assert len(await sets.list()) == 2

    simulate(scenario)


def test_a_rollout_that_does_not_progress_fails_at_its_deadline():
    async def scenario(scene: Scene) -> tuple[Deployment, float]:
        deployments = scene.client.apps_v1.deployments("default")
        await create(scene, replicas=3, progressDeadlineSeconds=120)
        before = scene.clock.monotonic()
        change = {"spec": {"template": {"metadata": {"labels": {"broken": "yes"}}}}}
        await deployments.patch("web", change)
        failed = await scene.wait(deployments, "web", lambda item: conditions(item)["Progressing"][0] == "False")
        return failed, scene.clock.monotonic() - before

    broken = Stage("never start", "waiting", "image-error", label_selector="broken=yes", delay=1e6)
    failed, seconds = simulate(scenario, stages=[broken])
    assert conditions(failed)["Progressing"] == ("False", "ProgressDeadlineExceeded")
    assert failed.status.available_replicas == 3
    assert 120 <= seconds < 180


def test_the_history_is_limited():
    async def scenario(scene: Scene) -> list[str]:
        await create(scene, replicas=1, revisionHistoryLimit=1)
        for number in (2, 3, 4):
            await set_image(scene, f"web:{number}")
            await scene.wait(scene.client.apps_v1.deployments("default"), "web", is_rolled_out)
        sets = scene.client.apps_v1.replicasets("default")
        while len(found := await sets.list()) > 2:
            await scene.pass_time(1)
        return sorted(each.spec.template.spec.containers[0].image for each in found)

    assert simulate(scenario) == ["web:3", "web:4"]


def test_a_pod_that_cannot_be_created_is_reported():
    async def scenario(scene: Scene) -> Any:
        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}
        await scene.client.core_v1.resourcequotas("default").create(quota)
        deployments = scene.client.apps_v1.deployments("default")
        await deployments.create(workload("web", replicas=3))
        failed = await scene.wait(deployments, "web", lambda item: "ReplicaFailure" in conditions(item))
        await scene.client.core_v1.resourcequotas("default").delete("few")
        await scene.wait(deployments, "web", is_rolled_out)
        return failed

    failed = simulate(scenario)
    assert conditions(failed)["ReplicaFailure"] == ("True", "FailedCreate")


def test_a_replica_set_adopts_and_releases_pods():
    async def scenario(scene: Scene) -> None:
        pods, sets = scene.client.core_v1.pods("default"), scene.client.apps_v1.replicasets("default")
        await pods.create(pod("orphan", labels={"app": "web"}))
        # The controllers share the cache of the kubelets, so the set adopts the pod before it creates others.
        await scene.wait(pods, "orphan", lambda item: item.status.phase == "Running")
        await sets.create(workload("web", replicas=2))
        await scene.wait(sets, "web", lambda item: item.status.ready_replicas == 2)
        assert [each.name for each in (await pods.get("orphan")).metadata.owner_references] == ["web"]
        await pods.patch("orphan", {"metadata": {"labels": {"app": "other"}}})
        released = await scene.wait(pods, "orphan", lambda item: not item.metadata.owner_references)
        assert released.metadata.deletion_timestamp is None
        await scene.wait(sets, "web", lambda item: item.status.ready_replicas == 2)
        assert len(await pods.list(label_selector="app=web")) == 2

    simulate(scenario)


def test_a_deleted_deployment_takes_its_pods_with_it():
    async def scenario(scene: Scene) -> None:
        await create(scene, replicas=2)
        await scene.client.apps_v1.deployments("default").delete("web", propagation_policy="Foreground")
        await scene.wait(scene.client.apps_v1.deployments("default"), "web", "deleted")
        assert len(await scene.client.core_v1.pods("default").list()) == 0

    simulate(scenario)


# --- sizes

SIZES = st.integers(0, 40)


def test_percentages_are_rounded():
    assert (absolute("25%", 10, up=True), absolute("25%", 10, up=False), absolute(3, 10, up=True)) == (3, 2, 3)


@given(desired=SIZES, surge=SIZES, new=SIZES, old=SIZES)
def test_a_new_set_never_exceeds_the_surge(desired: int, surge: int, new: int, old: int):
    size = new_set_size(desired, surge, new, new + old)
    assert size <= desired
    assert size <= max(new, desired + surge - old)


@given(desired=SIZES, unavailable=SIZES, new=st.tuples(SIZES, SIZES), old=st.lists(st.tuples(SIZES, SIZES), max_size=4))
def test_old_sets_are_reduced_only_if_enough_pods_stay_available(
    desired: int, unavailable: int, new: tuple[int, int], old: list[tuple[int, int]]
):
    sets = [SetSize(str(i), size, min(size, ready), ("", str(i))) for i, (size, ready) in enumerate(old)]
    current = SetSize("new", new[0], min(new), ("", "new"))
    sizes = reduced_old_sizes(desired, unavailable, current, sets)
    available = current.available + sum(each.available for each in sets)
    left = current.available + sum(min(each.available, sizes.get(each.name, each.replicas)) for each in sets)
    assert left >= min(available, desired - unavailable)
    assert all(0 <= sizes[each.name] < each.replicas for each in sets if each.name in sizes)


@given(desired=SIZES, surge=st.integers(0, 10), sets=st.lists(st.integers(1, 40), min_size=2, max_size=4))
def test_proportional_scaling_reaches_the_allowed_size(desired: int, surge: int, sets: list[int]):
    total = sum(sets)
    given_sets = [SetSize(str(i), size, size, ("", str(i)), total) for i, size in enumerate(sets)]
    sizes = proportional_sizes(desired, surge, total, given_sets)
    assert sum(sizes.values()) == (desired + surge if desired else 0)
    assert min(sizes.values()) >= 0
