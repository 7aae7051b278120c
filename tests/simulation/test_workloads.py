"""Simulated StatefulSets, DaemonSets, Jobs, CronJobs, Services, claims and disruption budgets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation.simulated import Scene, pod, simulate, template, workload

import listwatch as lw
from listwatch.errors import UsageError
from listwatch.models.core_v1 import Pod
from listwatch.models.discovery_v1 import EndpointSlice
from listwatch.simulation import NodeGroup, Stage
from listwatch.simulation.batch.cron_schedule import CronSchedule
from listwatch.simulation.batch.job_indexes_state import format_indexes, parse_indexes


def conditions(item: Any) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status, each.reason) for each in item.status.conditions}


# --- StatefulSets


async def events_until(scene: Scene, count: int) -> list[str]:
    """Which pods became ready, in order."""
    ready: list[str] = []
    async for event in scene.client.core_v1.pods("default").watch():
        found = event.object
        is_ready = any(each.type == "Ready" and each.status == "True" for each in found.status.conditions)
        if is_ready and found.name not in ready and found.metadata.deletion_timestamp is None:
            ready.append(found.name)
        if len(ready) == count:
            return ready
    return ready


def test_a_stateful_set_creates_updates_and_removes_pods_in_order():
    async def scenario(scene: Scene) -> None:
        sets, pods = scene.client.apps_v1.statefulsets("default"), scene.client.core_v1.pods("default")
        claim = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
        claim["spec"]["accessModes"] = ["ReadWriteOnce"]
        await sets.create(workload("db", replicas=3, serviceName="db", volumeClaimTemplates=[claim]))
        assert await events_until(scene, 3) == ["db-0", "db-1", "db-2"]
        first = await scene.wait(sets, "db", lambda item: item.status.available_replicas == 3)
        assert first.status.current_revision == first.status.update_revision
        found = await pods.get("db-1")
        assert found.labels["apps.kubernetes.io/pod-index"] == "1"
        assert (found.spec.hostname, found.spec.subdomain) == ("db-1", "db")
        claims = await scene.client.core_v1.persistentvolumeclaims("default").list()
        assert sorted((each.name, each.status.phase) for each in claims) == [
            ("data-db-0", "Bound"),
            ("data-db-1", "Bound"),
            ("data-db-2", "Bound"),
        ]

        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        change = {"spec": {"updateStrategy": rolling, "template": template("db", "db:2")}}
        await sets.patch("db", change)
        await scene.wait(sets, "db", lambda item: item.status.updated_replicas == item.status.ready_replicas - 1 == 2)
        images = {each.name: each.spec.containers[0].image for each in await pods.list()}
        assert images == {"db-0": "web:1", "db-1": "db:2", "db-2": "db:2"}

        await sets.patch_scale("db", {"spec": {"replicas": 1}})
        await scene.wait(sets, "db", lambda item: item.status.replicas == 1)
        assert [each.name for each in await pods.list()] == ["db-0"]
        assert len(await scene.client.core_v1.persistentvolumeclaims("default").list()) == 3

    simulate(scenario)


def test_a_parallel_stateful_set_does_not_wait():
    async def scenario(scene: Scene) -> float:
        sets = scene.client.apps_v1.statefulsets("default")
        await sets.create(workload("db", replicas=5, serviceName="db", podManagementPolicy="Parallel"))
        await scene.wait(sets, "db", lambda item: item.status.available_replicas == 5)
        return scene.clock.monotonic()

    assert simulate(scenario) < 4.0


# --- DaemonSets


def test_a_daemon_set_has_a_pod_on_each_node_that_fits():
    async def scenario(scene: Scene) -> None:
        sets, pods, nodes = (
            scene.client.apps_v1.daemonsets("default"),
            scene.client.core_v1.pods("default"),
            scene.client.core_v1.nodes(),
        )
        await sets.create(workload("agent"))
        await scene.wait(sets, "agent", lambda item: item.status.number_available == 3)
        assert {each.spec.node_name for each in await pods.list()} == {"node-0", "node-1", "node-2"}

        await nodes.create({"metadata": {"name": "more"}})
        await scene.wait(sets, "agent", lambda item: item.status.number_available == 4)
        await nodes.delete("more")
        await scene.wait(sets, "agent", lambda item: item.status.desired_number_scheduled == 3)

        await sets.patch("agent", {"spec": {"template": template("agent", "agent:2")}})
        done = await scene.wait(
            sets,
            "agent",
            lambda i: (
                i.status.observed_generation == 2
                and i.status.updated_number_scheduled == i.status.number_available == 3
            ),
        )
        assert done.metadata.generation == 2
        assert {each.spec.containers[0].image for each in await pods.list()} == {"agent:2"}
        for revision in await scene.client.apps_v1.controllerrevisions("default").list():
            data = revision.to_dict()["data"]  # clients compare its bytes with those of the template
            assert json.dumps(data) == json.dumps(data, sort_keys=True)

    groups = [NodeGroup(count=3), NodeGroup(name="own", taints=[{"key": "own", "effect": "NoSchedule"}])]
    simulate(scenario, nodes=groups)


# --- Jobs


def job(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"template": template(name, restartPolicy="Never"), **spec}}


def test_a_job_runs_pods_until_enough_have_succeeded():
    async def scenario(scene: Scene) -> tuple[Any, list[Pod], int]:
        jobs, pods = scene.client.batch_v1.jobs("default"), scene.client.core_v1.pods("default")
        await jobs.create(job("sum", completions=5, parallelism=2))
        most = 0
        async for event in jobs.watch():
            most = max(most, event.object.status.active or 0)
            if "Complete" in conditions(event.object):
                return event.object, [*await pods.list()], most
        raise AssertionError

    done, pods, most = simulate(scenario)
    assert (done.status.succeeded, most) == (5, 2)
    assert done.status.completion_time is not None
    assert conditions(done)["Complete"] == ("True", "CompletionsReached")
    assert conditions(done)["SuccessCriteriaMet"] == ("True", "CompletionsReached")
    assert [each.status.phase for each in pods] == ["Succeeded"] * 5


def test_an_indexed_job_completes_every_index():
    async def scenario(scene: Scene) -> Any:
        jobs = scene.client.batch_v1.jobs("default")
        await jobs.create(job("sum", completions=3, parallelism=3, completionMode="Indexed"))
        done = await scene.wait(jobs, "sum", lambda item: "Complete" in conditions(item))
        found = await scene.client.core_v1.pods("default").list()
        key = "batch.kubernetes.io/job-completion-index"
        assert sorted(each.metadata.annotations[key] for each in found) == ["0", "1", "2"]
        return done

    assert simulate(scenario).status.completed_indexes == "0-2"


def test_a_job_fails_at_its_backoff_limit():
    async def scenario(scene: Scene) -> Any:
        jobs = scene.client.batch_v1.jobs("default")
        await jobs.create(job("sum", backoffLimit=2))
        return await scene.wait(jobs, "sum", lambda item: "Failed" in conditions(item)), scene.clock.monotonic()

    failed, seconds = simulate(scenario, stages=[Stage("crash", "ready", "crash")])
    assert conditions(failed)["Failed"] == ("True", "BackoffLimitExceeded")
    assert failed.status.failed == 3
    assert 30 <= seconds < 60  # the second pod comes after 10 s, the third after 20


def test_a_job_is_suspended_resumed_and_removed_after_its_time_to_live():
    async def scenario(scene: Scene) -> None:
        jobs, pods = scene.client.batch_v1.jobs("default"), scene.client.core_v1.pods("default")
        await jobs.create(job("sum", suspend=True, ttlSecondsAfterFinished=100))
        await scene.wait(jobs, "sum", lambda item: conditions(item).get("Suspended") == ("True", "JobSuspended"))
        assert len(await pods.list()) == 0
        await jobs.patch("sum", {"spec": {"suspend": False}})
        await scene.wait(jobs, "sum", lambda item: "Complete" in conditions(item))
        finished = scene.clock.monotonic()
        await scene.wait(jobs, "sum", "deleted")
        assert 99 <= scene.clock.monotonic() - finished < 110
        assert len(await pods.list()) == 0

    simulate(scenario)


def test_a_job_that_is_active_too_long_fails():
    async def scenario(scene: Scene) -> Any:
        jobs = scene.client.batch_v1.jobs("default")
        await jobs.create(job("sum", activeDeadlineSeconds=20))
        return await scene.wait(jobs, "sum", lambda item: "Failed" in conditions(item))

    failed = simulate(scenario, job_duration=1e5)
    assert conditions(failed)["Failed"] == ("True", "DeadlineExceeded")


def test_a_cron_job_starts_jobs_and_keeps_a_few():
    async def scenario(scene: Scene) -> Any:
        crons, jobs = scene.client.batch_v1.cronjobs("default"), scene.client.batch_v1.jobs("default")
        spec = {"schedule": "*/5 * * * *", "successfulJobsHistoryLimit": 1, "jobTemplate": {"spec": job("x")["spec"]}}
        await crons.create({"metadata": {"name": "report"}, "spec": spec})
        await scene.pass_time(11 * 60)
        found = await jobs.list()
        assert len(found) == 1
        assert all(each.metadata.owner_references[0].name == "report" for each in found)
        minutes = int(datetime(2020, 1, 1, 0, 10, tzinfo=UTC).timestamp()) // 60
        assert sorted(each.name for each in found)[-1] == f"report-{minutes}"
        return await crons.get("report")

    cron = simulate(scenario, nodes=1, heartbeat=30.0)
    assert cron.status.last_schedule_time == datetime(2020, 1, 1, 0, 10, tzinfo=UTC)
    assert cron.status.last_successful_time is not None


@pytest.mark.parametrize(
    ("text", "after", "due"),
    [
        ("*/15 * * * *", "2020-01-01T00:00:00", "2020-01-01T00:15:00"),
        ("0 3 * * mon-fri", "2020-01-03T03:00:00", "2020-01-06T03:00:00"),
        ("30 2 29 2 *", "2020-03-01T00:00:00", "2024-02-29T02:30:00"),
        ("0 0 13 * 5", "2020-01-01T00:00:00", "2020-01-03T00:00:00"),
        ("@hourly", "2020-01-01T00:30:00", "2020-01-01T01:00:00"),
        ("5,10 1-3/2 * * 7", "2020-01-01T00:00:00", "2020-01-05T01:05:00"),
    ],
)
def test_a_schedule_is_due_at_the_next_time_that_matches(text: str, after: str, due: str):
    schedule = CronSchedule.parse(text, UTC)
    found = schedule.after(datetime.fromisoformat(after).replace(tzinfo=UTC))
    assert found == datetime.fromisoformat(due).replace(tzinfo=UTC)


def test_a_schedule_follows_its_time_zone():
    schedule = CronSchedule.parse("0 9 * * *", ZoneInfo("Asia/Tokyo"))
    assert schedule.after(datetime(2020, 1, 1, tzinfo=UTC)) == datetime(2020, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("text", ["* * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *"])
def test_a_schedule_that_is_not_valid_is_rejected(text: str):
    with pytest.raises(UsageError, match="schedule"):
        CronSchedule.parse(text, UTC)


@given(st.sets(st.integers(0, 60)))
def test_indexes_are_written_and_read(indexes: set[int]):
    assert parse_indexes(format_indexes(indexes)) == indexes


# --- Services, claims and budgets


def test_a_service_gets_endpoint_slices_and_endpoints():
    async def scenario(scene: Scene) -> None:
        core, slices = scene.client.core_v1, scene.client.discovery_v1.endpointslices("default")
        await core.pods("default").create(pod("web", labels={"app": "web"}))
        spec = {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]}
        await core.services("default").create({"metadata": {"name": "web"}, "spec": spec})
        found = await scene.wait(core.pods("default"), "web", "ready")
        await scene.wait(core.endpoints("default"), "web", lambda item: item is not None and bool(item.subsets))
        [only] = await slices.list(label_selector="kubernetes.io/service-name=web")
        [endpoint], [port] = only.endpoints, only.ports
        assert endpoint.addresses == [found.status.pod_ip]
        assert (endpoint.conditions.ready, endpoint.conditions.serving) == (True, True)
        assert (port.name, port.port) == ("http", 8080)
        assert only.name.startswith("web-")
        await core.pods("default").delete("web")
        await scene.wait(core.pods("default"), "web", "deleted")
        await scene.wait(slices, only.name, lambda item: not item.endpoints)
        await core.services("default").delete("web")
        await scene.wait(core.endpoints("default"), "web", "deleted")
        await scene.wait(slices, only.name, "deleted")

    simulate(scenario)


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def test_a_claim_is_bound_to_the_smallest_volume_that_fits():
    async def scenario(scene: Scene) -> None:
        core = scene.client.core_v1
        for name, size in (("large", "10Gi"), ("small", "2Gi"), ("tiny", "1Gi")):
            spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
            await core.persistentvolumes().create({"metadata": {"name": name}, "spec": spec})
        spec = {"storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
        claims = core.persistentvolumeclaims("default")
        await claims.create({"metadata": {"name": "data"}, "spec": spec})
        bound = await scene.wait(claims, "data", lambda item: item.status.phase == "Bound")
        assert bound.spec.volume_name == "small"
        volume = await core.persistentvolumes().get("small")
        assert (volume.status.phase, volume.spec.claim_ref.uid) == ("Bound", bound.uid)
        await claims.delete("data")
        await scene.wait(core.persistentvolumes(), "small", lambda item: item.status.phase == "Released")

    simulate(scenario)


def test_a_claim_without_a_class_gets_a_volume_of_the_default_class():
    async def scenario(scene: Scene) -> None:
        claims = scene.client.core_v1.persistentvolumeclaims("default")
        await claims.create({"metadata": {"name": "data"}, "spec": CLAIM})
        bound = await scene.wait(claims, "data", lambda item: item.status.phase == "Bound")
        storage = await scene.client.storage_v1.storageclasses().get("standard")
        volume = await scene.client.core_v1.persistentvolumes().get(bound.spec.volume_name)
        assert volume.metadata.annotations["pv.kubernetes.io/provisioned-by"] == storage.provisioner

    simulate(scenario)


def test_a_claim_waits_for_a_storage_class_that_does_not_exist():
    async def scenario(scene: Scene) -> None:
        claims, classes = (
            scene.client.core_v1.persistentvolumeclaims("default"),
            scene.client.storage_v1.storageclasses(),
        )
        await claims.create({"metadata": {"name": "data"}, "spec": {**CLAIM, "storageClassName": "fast"}})
        await claims.create({"metadata": {"name": "other"}, "spec": CLAIM})
        await scene.wait(claims, "other", lambda item: item.status.phase == "Bound")
        assert (await claims.get("data")).status.phase == "Pending"
        await classes.create({"metadata": {"name": "fast"}, "provisioner": "kubernetes.io/no-provisioner"})
        await claims.create({"metadata": {"name": "another"}, "spec": CLAIM})
        await scene.wait(claims, "another", lambda item: item.status.phase == "Bound")
        assert (await claims.get("data")).status.phase == "Pending"
        await classes.delete("fast")
        await classes.create({"metadata": {"name": "fast"}, "provisioner": "example.com/fast"})
        bound = await scene.wait(claims, "data", lambda item: item.status.phase == "Bound")
        volume = await scene.client.core_v1.persistentvolumes().get(bound.spec.volume_name)
        assert volume.spec.storage_class_name == "fast"

    simulate(scenario)


Addresses = dict[str, list[tuple[str, bool | None]]]


async def endpoints_until(scene: Scene, selector: str, expected: Addresses) -> list[EndpointSlice]:
    """The slices, once they have these addresses by type, and whether each is ready."""
    slices = scene.client.discovery_v1.endpointslices("default")
    page = await slices.list(label_selector=selector)
    known = {each.name: each for each in page}

    def found() -> Addresses:
        return {
            each.address_type: [(end.addresses[0], end.conditions.ready) for end in each.endpoints]
            for each in known.values()
        }

    watch = slices.watch(label_selector=selector, resource_version=page.resource_version)
    while found() != expected:
        event = await anext(watch)
        known[event.object.name] = event.object
        if event.type == "DELETED":
            del known[event.object.name]
    await watch.aclose()
    return [*known.values()]


def test_endpoints_of_a_service_without_a_selector_are_copied_into_slices():
    async def scenario(scene: Scene) -> None:
        core = scene.client.core_v1
        await core.services("default").create({"metadata": {"name": "old"}, "spec": {"ports": [{"port": 80}]}})
        ports = [{"name": "http", "port": 8080}]
        addresses = [{"ip": "10.1.2.3"}, {"ip": "2001:db8::1"}]
        subsets = [{"addresses": addresses, "notReadyAddresses": [{"ip": "10.1.2.4"}], "ports": ports}]
        body = {"metadata": {"name": "old", "labels": {"a": "b"}}, "subsets": subsets}
        created = await core.endpoints("default").create(body)

        both = {"IPv4": [("10.1.2.3", True), ("10.1.2.4", False)], "IPv6": [("2001:db8::1", True)]}
        for each in await endpoints_until(scene, "kubernetes.io/service-name=old,a=b", both):
            assert each.metadata.owner_references[0].uid == created.uid
        await core.endpoints("default").patch("old", {"subsets": [{"addresses": addresses[:1], "ports": ports}]})
        await endpoints_until(scene, "kubernetes.io/service-name=old", {"IPv4": [("10.1.2.3", True)]})
        await core.endpoints("default").delete("old")
        await endpoints_until(scene, "kubernetes.io/service-name=old", {})

    simulate(scenario)


def test_copied_endpoints_are_split_into_slices_of_a_thousand():
    async def scenario(scene: Scene) -> None:
        core, slices = scene.client.core_v1, scene.client.discovery_v1.endpointslices("default")
        await core.services("default").create({"metadata": {"name": "old"}, "spec": {"ports": [{"port": 80}]}})
        subsets = [
            {"addresses": [{"ip": f"10.{net}.{index // 250}.{index % 250}"} for index in range(700)], "ports": ports}
            for net, ports in ((1, [{"port": 80}]), (2, [{"port": 80}]))
        ]
        await core.endpoints("default").create({"metadata": {"name": "old"}, "subsets": subsets})
        sizes: dict[str, int] = {}
        selector = "kubernetes.io/service-name=old"
        async for event in slices.watch(label_selector=selector, resource_version="0"):
            sizes[event.object.name] = len(event.object.endpoints)
            if sum(sizes.values()) == 1400:
                break
        assert sorted(sizes.values()) == [400, 1000]

    simulate(scenario)


def test_a_disruption_budget_allows_as_many_evictions_as_it_says():
    async def scenario(scene: Scene) -> None:
        core = scene.client.core_v1
        budgets, deployments = (
            scene.client.policy_v1.poddisruptionbudgets("default"),
            scene.client.apps_v1.deployments("default"),
        )
        await deployments.create(workload("web", replicas=3))
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 3)
        spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        await budgets.create({"metadata": {"name": "web"}, "spec": spec})
        await scene.wait(budgets, "web", lambda item: item.status.disruptions_allowed == 1)
        first, second, _ = [each.name for each in await core.pods("default").list()]
        await core.pods("default").evict(first)
        with pytest.raises(lw.errors.TooManyRequestsError):
            await core.pods("default").evict(second)
        await scene.wait(core.pods("default"), first, "deleted")
        await scene.wait(budgets, "web", lambda item: item.status.disruptions_allowed == 1)
        await core.pods("default").evict(second)

    simulate(scenario)


# --- nodes


def test_nodes_are_ready_and_renew_their_leases():
    async def scenario(scene: Scene) -> None:
        leases, nodes = scene.client.coordination_v1.leases("kube-node-lease"), scene.client.core_v1.nodes()
        found = await scene.wait(nodes, "node-0", "condition=Ready")
        assert found.status.addresses[0].type == "InternalIP"
        assert found.spec.taints == []
        before = await scene.wait(leases, "node-0", "created")
        await scene.pass_time(100)
        after = await leases.get("node-0")
        assert (after.spec.renew_time - before.spec.renew_time).total_seconds() >= 90
        assert [each.kind for each in after.metadata.owner_references] == ["Node"]

    simulate(scenario)


def test_the_pods_of_a_lost_node_are_replaced_on_others():
    async def scenario(scene: Scene) -> None:
        core, deployments = scene.client.core_v1, scene.client.apps_v1.deployments("default")
        await deployments.create(workload("web", replicas=2))
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 2)
        [lost, _] = await core.pods("default").list()
        node = lost.spec.node_name
        scene.server.simulation.stop_node(node)
        gone = await scene.wait(core.nodes(), node, lambda item: conditions(item)["Ready"][0] == "Unknown")
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 1)
        seen = scene.clock.monotonic()
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 2)
        assert 290 <= scene.clock.monotonic() - seen < 320
        assert conditions(gone)["Ready"] == ("Unknown", "NodeStatusUnknown")
        stuck = await core.pods("default").get(lost.name)
        assert stuck.metadata.deletion_timestamp is not None  # no kubelet confirms that it has stopped
        taints = {(each.key, each.effect) for each in (await core.nodes().get(node)).spec.taints}
        assert ("node.kubernetes.io/unreachable", "NoExecute") in taints

        scene.server.simulation.start_node(node)
        await scene.wait(core.nodes(), node, lambda item: not item.spec.taints)
        await scene.wait(core.pods("default"), lost.name, "deleted")

    simulate(scenario)


def test_a_stage_stops_a_node():
    async def scenario(scene: Scene) -> float:
        await scene.wait(
            scene.client.core_v1.nodes(), "node-1", lambda i: conditions(i).get("Ready", [""])[0] == "True"
        )
        await scene.wait(scene.client.core_v1.nodes(), "node-1", lambda i: conditions(i)["Ready"][0] == "Unknown")
        return scene.clock.monotonic()

    fails = Stage("fails", "ready", "stop", kind="Node", label_selector="kubernetes.io/hostname=node-1", delay=100.0)
    assert 140 <= simulate(scenario, stages=[fails]) < 180


def test_the_pods_of_a_deleted_node_are_removed():
    async def scenario(scene: Scene) -> None:
        core = scene.client.core_v1
        await core.pods("default").create(pod("web"))
        found = await scene.wait(core.pods("default"), "web", "ready")
        await core.nodes().delete(found.spec.node_name)
        await scene.wait(core.pods("default"), "web", "deleted")

    simulate(scenario)


def test_a_namespace_ends_with_its_workloads():
    async def scenario(scene: Scene) -> None:
        namespaces, deployments = scene.client.core_v1.namespaces(), scene.client.apps_v1.deployments("shop")
        await namespaces.create({"metadata": {"name": "shop"}})
        await deployments.create(workload("web", replicas=2))
        await scene.wait(deployments, "web", lambda item: item.status.available_replicas == 2)
        await namespaces.delete("shop")
        await scene.wait(namespaces, "shop", "deleted")

    simulate(scenario)


def test_a_job_releases_pods_without_its_finalizer_and_adopts_them_with_it():
    async def scenario(scene: Scene) -> None:
        jobs, pods = scene.client.batch_v1.jobs("default"), scene.client.core_v1.pods("default")
        spec = {"template": template("work", restartPolicy="Never")}
        spec["template"]["spec"]["containers"][0]["command"] = ["sleep", "infinity"]
        await jobs.create({"metadata": {"name": "work"}, "spec": spec})
        await scene.wait(jobs, "work", lambda it: it.status.ready == 1)
        [first] = await pods.list()
        await pods.patch(first.name, {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": None}}})
        released = await scene.wait(pods, first.name, lambda it: not it.metadata.owner_references)
        assert released.metadata.finalizers == []
        await pods.patch(first.name, {"metadata": {"labels": dict(first.labels)}})
        adopted = await scene.wait(pods, first.name, lambda it: it.metadata.owner_references)
        assert adopted.metadata.finalizers == ["batch.kubernetes.io/job-tracking"]

    simulate(scenario)
