"""Simulated pods: scheduling, statuses, restarts, termination, and stages of the user."""

from __future__ import annotations

from typing import Any

import pytest
from tests.simulation.simulated import Scene, pod, simulate

import listwatch as lw
from listwatch.errors import UsageError
from listwatch.models.core_v1 import Pod
from listwatch.simulation import NodeGroup, Stage, read_stages


def conditions(item: Pod) -> dict[str, str]:
    return {each.type: each.status for each in item.status.conditions}


def test_a_pod_is_scheduled_and_becomes_ready():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        return await scene.wait(pods, "web", "ready")

    found = simulate(scenario)
    [status] = found.status.container_statuses
    assert found.status.phase == "Running"
    assert found.spec.node_name in ("node-0", "node-1", "node-2")
    assert conditions(found) == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    assert (status.ready, status.started, status.restart_count) == (True, True, 0)
    assert status.state.running is not None
    assert status.image_id.startswith("web@sha256:")
    assert found.status.pod_ip.startswith("10.244.")
    assert found.status.host_ip.startswith("172.18.")
    assert found.status.start_time is not None
    assert found.status.qos_class == "BestEffort"


def test_the_steps_of_a_pod_are_recorded_as_events():
    async def scenario(scene: Scene) -> set[str]:
        await scene.client.core_v1.pods("default").create(pod("web"))
        await scene.wait(scene.client.core_v1.pods("default"), "web", "ready")
        events = scene.client.core_v1.events("default")
        while len(found := await events.list(field_selector="involvedObject.name=web")) < 4:
            await scene.pass_time(1)
        return {each.reason for each in found}

    assert simulate(scenario, events=True) == {"Scheduled", "Pulled", "Created", "Started"}


def test_init_containers_complete_before_the_others_start():
    async def scenario(scene: Scene) -> tuple[Pod, Pod]:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web", initContainers=[{"name": "first", "image": "init:1"}]))
        initializing = await scene.wait(pods, "web", lambda p: p is not None and bool(p.status.init_container_statuses))
        return initializing, await scene.wait(pods, "web", "ready")

    before, after = simulate(scenario)
    assert conditions(before)["Initialized"] == "False"
    assert before.status.container_statuses[0].state.waiting.reason == "PodInitializing"
    assert after.status.init_container_statuses[0].state.terminated.reason == "Completed"


def test_a_readiness_probe_delays_readiness():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        container = {"name": "main", "image": "web:1", "readinessProbe": {"tcpSocket": {"port": 80}}}
        await pods.create(pod("web", containers=[container]))
        running = await scene.wait(pods, "web", lambda p: p.status.phase == "Running")
        await scene.wait(pods, "web", "ready")
        return running

    assert conditions(simulate(scenario))["Ready"] == "False"


def test_a_deleted_pod_terminates_within_its_grace_period():
    async def scenario(scene: Scene) -> float:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        await scene.wait(pods, "web", "ready")
        before = scene.clock.monotonic()
        deleted = await pods.delete("web")
        assert deleted is not None
        assert deleted.metadata.deletion_grace_period_seconds == 30
        await scene.wait(pods, "web", "deleted")
        return scene.clock.monotonic() - before

    slow = Stage("ignore SIGTERM", "terminating", "delete", delay=1000.0)
    assert 1.0 <= simulate(scenario) < 5.0
    assert 30.0 <= simulate(scenario, stages=[slow]) < 35.0


def test_a_crashing_pod_is_restarted_with_backoff():
    async def scenario(scene: Scene) -> tuple[Pod, Pod, float]:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        crashed = await scene.wait(
            pods, "web", lambda p: any(c.state.waiting and c.last_state.terminated for c in p.status.container_statuses)
        )
        before = scene.clock.monotonic()
        restarted = await scene.wait(
            pods,
            "web",
            lambda p: p.status.container_statuses[0].restart_count == 2 and conditions(p)["Ready"] == "True",
        )
        return crashed, restarted, scene.clock.monotonic() - before

    crash = Stage("crash", "ready", "crash", label_selector="app=web", delay=2.0, times=2)
    crashed, restarted, seconds = simulate(scenario, stages=[crash])
    state = crashed.status.container_statuses[0]
    assert state.state.waiting.reason == "CrashLoopBackOff"
    assert (state.last_state.terminated.exit_code, state.ready) == (1, False)
    assert conditions(crashed)["Ready"] == "False"
    assert restarted.status.container_statuses[0].last_state.terminated.exit_code == 1
    assert 10 + 2 + 20 <= seconds < 40


@pytest.mark.parametrize(("transition", "phase"), [("crash", "Failed"), ("complete", "Succeeded")])
def test_a_pod_that_is_not_restarted_finishes(transition: Any, phase: str):
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web", restartPolicy="Never"))
        return await scene.wait(pods, "web", lambda p: p.status.phase in ("Failed", "Succeeded"))

    found = simulate(scenario, stages=[Stage("end", "ready", transition, delay=1.0)])
    assert found.status.phase == phase
    assert conditions(found)["Ready"] == "False"


def test_a_stage_delays_the_start_of_some_pods():
    async def scenario(scene: Scene) -> float:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("slow"))
        await pods.create(pod("fast"))
        await scene.wait(pods, "fast", "ready")
        assert (await pods.get("slow")).status.phase == "Pending"
        await scene.wait(pods, "slow", "ready")
        return scene.clock.monotonic()

    slow = Stage("slow image", "waiting", "start", label_selector="app=slow", delay=60.0, jitter=10.0)
    assert 60.0 <= simulate(scenario, stages=[slow]) < 75.0


def test_a_stage_sets_any_status():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        return await scene.wait(pods, "web", lambda p: p.status.reason == "Odd")

    def odd(item: Pod) -> dict[str, Any]:
        return {"reason": "Odd", "message": f"about {item.name}"}

    assert simulate(scenario, stages=[Stage("odd", "ready", odd, times=1)]).status.message == "about web"


def test_an_evicted_pod_has_failed():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        return await scene.wait(pods, "web", lambda p: p.status.phase == "Failed")

    found = simulate(scenario, stages=[Stage("pressure", "ready", "evict")])
    assert found.status.reason == "Evicted"
    assert conditions(found)["DisruptionTarget"] == "True"


def test_an_image_that_cannot_be_pulled_is_reported_until_it_can():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))

        def is_failing(item: Pod) -> bool:
            states = [each.state.waiting for each in item.status.container_statuses]
            return any(state is not None and state.reason == "ImagePullBackOff" for state in states)

        failing = await scene.wait(pods, "web", is_failing)
        await scene.wait(pods, "web", "ready")
        return failing

    stages = [Stage("no image", "waiting", "image-error", times=1)]
    assert simulate(scenario, stages=stages).status.phase == "Pending"


# --- scheduling


async def scheduling_message(scene: Scene, name: str) -> str:
    pods = scene.client.core_v1.pods("default")
    found = await scene.wait(pods, name, lambda p: any(c.reason == "Unschedulable" for c in p.status.conditions))
    return next(each.message for each in found.status.conditions if each.type == "PodScheduled")


def test_a_pod_that_fits_nowhere_waits_until_a_node_comes():
    async def scenario(scene: Scene) -> str:
        pods = scene.client.core_v1.pods("default")
        resources = {"requests": {"cpu": "100"}}
        await pods.create(pod("large", containers=[{"name": "main", "image": "a", "resources": resources}]))
        message = await scheduling_message(scene, "large")
        await scene.client.core_v1.nodes().create(
            {"metadata": {"name": "huge"}, "status": {"allocatable": {"cpu": "200", "memory": "1Ti", "pods": "10"}}}
        )
        found = await scene.wait(pods, "large", "ready")
        assert found.spec.node_name == "huge"
        return message

    assert simulate(scenario, nodes=2) == "0/2 nodes are available: 2 Insufficient cpu."


def test_selectors_taints_and_spreading_decide_where_pods_go():
    async def scenario(scene: Scene) -> dict[str, str]:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("selected", nodeSelector={"disk": "ssd"}))
        toleration = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
        await pods.create(pod("tolerant", nodeSelector={"gpu": "yes"}, tolerations=[toleration]))
        await pods.create(pod("refused", nodeSelector={"gpu": "yes"}))
        apart = {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "apart"}}}
            ]
        }
        for number in range(2):
            body = pod(f"apart-{number}", labels={"app": "apart"}, affinity={"podAntiAffinity": apart})
            await pods.create(body)
        names = ["selected", "tolerant", "apart-0", "apart-1"]
        nodes = {name: (await scene.wait(pods, name, "ready")).spec.node_name for name in names}
        nodes["refused"] = await scheduling_message(scene, "refused")
        return nodes

    groups = [
        NodeGroup(count=2, name="plain"),
        NodeGroup(name="ssd", labels={"disk": "ssd"}),
        NodeGroup(name="gpu", labels={"gpu": "yes"}, taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]),
    ]
    found = simulate(scenario, nodes=groups)
    assert (found["selected"], found["tolerant"]) == ("ssd-0", "gpu-0")
    assert found["apart-0"] != found["apart-1"]
    assert "1 node(s) had untolerated taint(s) {gpu: yes}" in found["refused"]


def test_pods_are_spread_over_the_nodes():
    async def scenario(scene: Scene) -> list[int]:
        pods = scene.client.core_v1.pods("default")
        for number in range(6):
            await pods.create(pod(f"web-{number}"))
        for number in range(6):
            await scene.wait(pods, f"web-{number}", "ready")
        found = [each.spec.node_name for each in await pods.list()]
        return sorted(found.count(name) for name in set(found))

    assert simulate(scenario, nodes=3) == [2, 2, 2]


# --- stages


def test_stages_are_read_from_yaml():
    [stage] = read_stages("- {name: crash, when: ready, next: crash, label_selector: app=web, delay: 5}")
    assert stage == Stage("crash", "ready", "crash", label_selector="app=web", delay=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b", "expected a list of stages"),
        ("- {name: a, when: ready}", "a stage has name, when and next"),
        ("- {name: a, when: ready, next: explode}", "'explode' is no transition"),
        ("- {name: a, when: happy, next: crash}", "'happy' is no state"),
        ("- {name: a, when: ready, next: crash, dely: 3}", "a stage has name"),
        ("- [", "the stages cannot be read"),
    ],
)
def test_stages_that_are_not_valid_are_rejected(text: str, message: str):
    with pytest.raises(lw.errors.ConfigError, match=message):
        read_stages(text, file="stages.yaml")


def test_a_stage_of_a_node_cannot_crash():
    with pytest.raises(UsageError, match="'crash' is no transition: use one of stop, start, delete"):
        Stage("crash", "ready", "crash", kind="Node")


def test_ephemeral_containers_are_started():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        await scene.wait(pods, "web", "condition=Ready")
        debugger = {"name": "debugger", "image": "busybox"}
        change = {"spec": {"ephemeralContainers": [debugger]}}
        await pods.patch("web", change, type="strategic", subresource="ephemeralcontainers")
        return await scene.wait(pods, "web", lambda p: p.status.ephemeral_container_statuses)

    [status] = simulate(scenario).status.ephemeral_container_statuses
    assert status.name == "debugger"
    assert status.state.running is not None


def test_a_pod_follows_its_spec_and_fails_at_its_deadline():
    async def scenario(scene: Scene) -> tuple[Pod, Pod]:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        await scene.wait(pods, "web", "condition=Ready")
        containers = [{"name": "main", "image": "web:2"}]
        await pods.patch("web", {"spec": {"containers": containers, "activeDeadlineSeconds": 60}}, type="strategic")
        updated = await scene.wait(pods, "web", lambda p: p.status.observed_generation == 2)
        return updated, await scene.wait(pods, "web", lambda p: p.status.phase == "Failed")

    updated, failed = simulate(scenario)
    [status] = updated.status.container_statuses
    assert (status.image, status.restart_count, status.state.running is not None) == ("web:2", 1, True)
    assert {each.observed_generation for each in updated.status.conditions} == {2}
    assert failed.status.reason == "DeadlineExceeded"


def test_a_stage_matches_pods_by_their_image():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        for name, image in (("web", "shop/web:1"), ("typo", "shop/web:2")):
            await pods.create(pod(name, containers=[{"name": "main", "image": image}]))
        await scene.wait(pods, "web", "condition=Ready")
        return await scene.wait(pods, "typo", lambda p: "ImagePullBackOff" in str(p.status.to_dict()))

    missing = Stage("missing image", "waiting", "image-error", image="shop/*:2", delay=5.0)
    assert simulate(scenario, stages=[missing]).status.phase == "Pending"


def test_a_kubelet_rejects_a_pod_whose_port_is_taken():
    async def scenario(scene: Scene) -> Pod:
        pods = scene.client.core_v1.pods("default")
        containers = [{"name": "main", "image": "web:1", "ports": [{"containerPort": 80, "hostPort": 80}]}]
        await pods.create(pod("first", containers=containers, nodeName="node-0"))
        await scene.wait(pods, "first", "condition=Ready")
        await pods.create(pod("second", containers=containers, nodeName="node-0"))
        return await scene.wait(pods, "second", lambda p: p.status.phase == "Failed")

    assert simulate(scenario).status.reason == "NodePorts"


def test_one_of_two_new_pods_with_the_same_host_port_is_rejected():
    async def scenario(scene: Scene) -> list[str]:
        containers = [{"name": "main", "image": "web:1", "ports": [{"containerPort": 80, "hostPort": 80}]}]
        pods = scene.client.core_v1.pods("default")
        for name in ("a", "b"):
            await pods.create(pod(name, containers=containers, nodeName="node-0"))
        await scene.pass_time(60)
        return sorted(each.status.phase or "" for each in (await pods.list()).items)

    assert simulate(scenario) == ["Failed", "Running"]
