"""Runs workloads on a simulated cluster, with its own controllers or the real ones, and returns the objects left."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import listwatch as lw
from listwatch.server import APIServer
from listwatch.simulation import SimulationOptions
from listwatch.testing import ControlPlane
from tools.normalized_objects import normalized, sort_key

TIMEOUT = 300.0
REPLICAS = 40


async def end_state(*, real: bool) -> dict[str, list[Any]]:
    """The objects after all workloads have been rolled out, normalized; `real` selects the real controllers."""
    options = SimulationOptions(nodes=3, controllers=not real, scheduler=not real, events=False)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(APIServer(simulate=options))
        client = await stack.enter_async_context(lw.ClientSet(server.config))
        if real:
            await stack.enter_async_context(ControlPlane(server))
            await wait_for_account(client)
        await run_workloads(client)
        return await objects(client)


async def wait_for_account(client: lw.ClientSet) -> None:
    await lw.wait_for(client.core_v1.serviceaccounts("default"), "default", "created", timeout=TIMEOUT)


async def run_workloads(client: lw.ClientSet) -> None:
    await create_cron_job(client)
    await create_endpoints(client)
    await run_deployment(client)
    await run_stateful_set(client)
    await run_daemon_set(client)
    await run_jobs(client)
    await run_failing_jobs(client)
    await wait_for_cron_job(client)


async def create_endpoints(client: lw.ClientSet) -> None:
    """Create a Service without a selector, and its Endpoints, which are copied into slices."""
    service = {"metadata": {"name": "outside"}, "spec": {"ports": [{"name": "http", "port": 80}]}}
    await client.core_v1.services("default").create(service)
    ports = [{"name": "http", "port": 8080}]
    addresses = [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}]
    subset = {"addresses": addresses, "notReadyAddresses": [{"ip": "192.0.2.2"}], "ports": ports}
    metadata = {"name": "outside", "labels": {"team": "shop"}, "annotations": {"note": "copied"}}
    await client.core_v1.endpoints("default").create({"metadata": metadata, "subsets": [subset]})


def template(app: str, image: str, **spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "containerPort": 8080}]
    containers = [{"name": "main", "image": image, "ports": ports}]
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers, **spec}}


async def run_deployment(client: lw.ClientSet) -> None:
    deployments = client.apps_v1.deployments("default")
    ports = [{"name": "http", "port": 80, "targetPort": "http"}]
    service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": ports}}
    await client.core_v1.services("default").create(service)
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": {"app": "web"}}, "template": template("web", "web:1")}
    await deployments.create({"metadata": {"name": "web", "annotations": {"team": "shop"}}, "spec": spec})
    await lw.wait_for(deployments, "web", is_rolled_out, timeout=TIMEOUT)
    await deployments.patch("web", {"spec": {"template": template("web", "web:2")}})
    await lw.wait_for(deployments, "web", is_rolled_out, timeout=TIMEOUT)
    await deployments.patch_scale("web", {"spec": {"replicas": 5}})
    await lw.wait_for(deployments, "web", is_rolled_out, timeout=TIMEOUT)

    def has_five(item: Any) -> bool:
        return [len(subset.addresses) for subset in item.subsets] == [5]

    await lw.wait_for(client.core_v1.endpoints("default"), "web", has_five, timeout=TIMEOUT)


def is_rolled_out(item: Any) -> bool:
    status = item.status
    return (
        status.observed_generation == item.metadata.generation
        and status.updated_replicas == status.replicas == status.available_replicas == item.spec.replicas
        and not status.terminating_replicas
        and not status.unavailable_replicas
    )


async def run_stateful_set(client: lw.ClientSet) -> None:
    sets = client.apps_v1.statefulsets("default")
    spec = {
        "replicas": 3,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": template("db", "db:1"),
    }
    await sets.create({"metadata": {"name": "db"}, "spec": spec})
    await lw.wait_for(sets, "db", lambda item: item.status.available_replicas == 3, timeout=TIMEOUT)
    await sets.patch("db", {"spec": {"template": template("db", "db:2")}})

    def is_updated(item: Any) -> bool:
        status = item.status
        return (
            status.current_revision == status.update_revision and status.updated_replicas == status.ready_replicas == 3
        )

    await lw.wait_for(sets, "db", lambda item: item.status.observed_generation == 2, timeout=TIMEOUT)
    await lw.wait_for(sets, "db", is_updated, timeout=TIMEOUT)


async def run_daemon_set(client: lw.ClientSet) -> None:
    sets = client.apps_v1.daemonsets("default")
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent", "agent:1")}
    await sets.create({"metadata": {"name": "agent"}, "spec": spec})
    await lw.wait_for(sets, "agent", lambda item: item.status.number_available == 3, timeout=TIMEOUT)


async def run_jobs(client: lw.ClientSet) -> None:
    jobs = client.batch_v1.jobs("default")
    for name, mode in (("plain", "NonIndexed"), ("indexed", "Indexed")):
        spec = {"completions": 3, "parallelism": 2, "completionMode": mode}
        spec["template"] = template(name, "job:1", restartPolicy="Never")
        await jobs.create({"metadata": {"name": name}, "spec": spec})
    for name in ("plain", "indexed"):
        await lw.wait_for(jobs, name, "condition=Complete", timeout=TIMEOUT)

        def is_counted(item: Any) -> bool:
            return item.status.terminating in (0, None) and not item.status.active

        await lw.wait_for(jobs, name, is_counted, timeout=TIMEOUT)


_FAIL_ON_3 = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
FAILING_JOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "limited": ("exit 1", {"backoffLimit": 0}),
    "policy": ("exit 3", {"podFailurePolicy": {"rules": [_FAIL_ON_3]}}),
    "each": ("exit 1", {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 0}),
    "many": (
        "exit 1",
        {"completionMode": "Indexed", "completions": 3, "backoffLimitPerIndex": 0, "maxFailedIndexes": 1},
    ),
    "late": ("sleep 1000", {"activeDeadlineSeconds": 5}),
}
"""Jobs that fail, by name: the command of their pods, and the rest of their spec."""


async def run_failing_jobs(client: lw.ClientSet) -> None:
    jobs = client.batch_v1.jobs("default")
    for name, (command, spec) in FAILING_JOBS.items():
        await jobs.create({"metadata": {"name": name}, "spec": {**spec, "template": _script(name, command)}})
    policy = {"rules": [{"succeededIndexes": "0"}]}
    enough = {"completionMode": "Indexed", "completions": 3, "parallelism": 1, "successPolicy": policy}
    await jobs.create({"metadata": {"name": "enough"}, "spec": {**enough, "template": _script("enough", "sleep 1")}})
    paused = {"suspend": True, "template": _script("paused", "exit 0")}
    await jobs.create({"metadata": {"name": "paused"}, "spec": paused})
    for name in FAILING_JOBS:
        await lw.wait_for(jobs, name, "condition=Failed", timeout=TIMEOUT)
    await lw.wait_for(jobs, "enough", "condition=Complete", timeout=TIMEOUT)
    await lw.wait_for(jobs, "paused", "condition=Suspended", timeout=TIMEOUT)


def _script(name: str, command: str) -> dict[str, Any]:
    containers = [{"name": "main", "image": "job:1", "command": ["sh", "-c", command]}]
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, "restartPolicy": "Never"}}


async def create_cron_job(client: lw.ClientSet) -> None:
    job = {"spec": {"template": _script("tick", "sleep 1")}}
    spec = {"schedule": "* * * * *", "jobTemplate": job}
    await client.batch_v1.cronjobs("default").create({"metadata": {"name": "tick"}, "spec": spec})


async def wait_for_cron_job(client: lw.ClientSet) -> None:
    """Wait for a Job of the CronJob that succeeded, then suspend it, and leave one Job."""
    crons, jobs = client.batch_v1.cronjobs("default"), client.batch_v1.jobs("default")
    await lw.wait_for(crons, "tick", lambda item: item.status.last_successful_time is not None, timeout=TIMEOUT)
    await crons.patch("tick", {"spec": {"suspend": True, "successfulJobsHistoryLimit": 1}})
    await lw.wait_for(crons, "tick", lambda item: not item.status.active, timeout=TIMEOUT)
    [*older, _] = sorted(each.name for each in await jobs.list() if each.name.startswith("tick-"))
    for name in older:
        await lw.wait_for(jobs, name, "deleted", timeout=TIMEOUT)


# --- normalized objects


async def objects(client: lw.ClientSet) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    kinds = {
        "deployments": client.apps_v1.deployments("default"),
        "replicasets": client.apps_v1.replicasets("default"),
        "statefulsets": client.apps_v1.statefulsets("default"),
        "daemonsets": client.apps_v1.daemonsets("default"),
        "controllerrevisions": client.apps_v1.controllerrevisions("default"),
        "jobs": client.batch_v1.jobs("default"),
        "cronjobs": client.batch_v1.cronjobs("default"),
        "pods": client.core_v1.pods("default"),
        "endpoints": client.core_v1.endpoints("default"),
        "endpointslices": client.discovery_v1.endpointslices("default"),
    }
    for name, resource in kinds.items():
        trees = [normalized(each.to_dict()) for each in await resource.list() if each.name != "kubernetes"]
        found[name] = sorted(trees, key=sort_key)
    return found
