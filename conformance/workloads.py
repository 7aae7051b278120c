"""kube-controller-manager and kube-scheduler, with their default content type: workloads do their work on both servers.

There are no kubelets: `SimulatedNodes` sets the phases of bound pods.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import listwatch as lw
from conformance.results import Result, Suite
from conformance.servers import EMBEDDED, REAL, ServerName, running
from conformance.simulated_nodes import NODE_FLAGS, SimulatedNodes
from listwatch.models.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
from listwatch.models.core_v1 import ResourceQuota
from listwatch.models.discovery_v1 import EndpointSlice
from listwatch.testing import ControlPlane
from tools.build_realcluster import CONTROL_PLANE

__all__ = ["run"]

_TIMEOUT = 180.0
_NODES = 5
_NAMESPACE = "default"

Check = Callable[[lw.ClientSet], Awaitable[None]]


async def run(folder: Path) -> list[Suite]:
    """Run all checks on both servers at the same time."""
    real, embedded = await asyncio.gather(_run_on(REAL, folder), _run_on(EMBEDDED, folder))
    results = [
        Result(name, "passed" if not message else "failed", expected=not message, details=message)
        for name, message in embedded.items()
    ]
    failed = {name: message for name, message in real.items() if message}
    for name, message in failed.items():
        results.append(Result(f"{name}, on the real server", "failed", expected=False, details=message))
    counts = {"passed": len(real) - len(failed), "failed": len(failed)}
    return [Suite("controllers and scheduler", CONTROL_PLANE.version, tuple(results), counts)]


async def _run_on(name: ServerName, folder: Path) -> Mapping[str, str]:
    """The error message of each check, empty if it passed."""
    messages = {}
    async with (
        running(name, folder) as server,
        lw.ClientSet(server.config) as client,
        SimulatedNodes(client, count=_NODES),
        ControlPlane(server, log_dir=server.folder, flags=NODE_FLAGS),
    ):
        for title, check in CHECKS.items():
            messages[title] = await _message(check, client)
            print(f"  {name}: {title}: {messages[title] or 'passed'}", flush=True)
    return messages


async def _message(check: Check, client: lw.ClientSet) -> str:
    try:
        await check(client)
    except Exception as error:  # noqa: BLE001  # reported as the result of the check
        return f"{type(error).__name__}: {error}"
    return ""


# --- The checks, in the order in which they run -----------------------------------------------------------------------


async def _roll_out(client: lw.ClientSet) -> None:
    deployments = client.apps_v1.deployments(_NAMESPACE)
    await deployments.create(_workload("web", replicas=50))
    await lw.wait_for(deployments, "web", _is_rolled_out(50), timeout=_TIMEOUT)
    pods = await client.core_v1.pods(_NAMESPACE).list(label_selector="app=web")
    nodes = {pod.spec.node_name for pod in pods}
    _check(len(pods) == 50 and len(nodes) == _NODES, f"{len(pods)} pods on {nodes}")


async def _scale(client: lw.ClientSet) -> None:
    deployments = client.apps_v1.deployments(_NAMESPACE)
    for replicas in (70, 40):
        await deployments.patch_scale("web", {"spec": {"replicas": replicas}})
        await lw.wait_for(deployments, "web", _is_rolled_out(replicas), timeout=_TIMEOUT)


async def _change(client: lw.ClientSet) -> None:
    deployments, sets = client.apps_v1.deployments(_NAMESPACE), client.apps_v1.replicasets(_NAMESPACE)
    await deployments.patch("web", _image("web:2"))
    await lw.wait_for(deployments, "web", _is_rolled_out(40), timeout=_TIMEOUT)
    _check(await _sizes(sets) == {"web:1": 0, "web:2": 40}, f"the replica sets are {await _sizes(sets)}")


async def _roll_back(client: lw.ClientSet) -> None:
    deployments, sets = client.apps_v1.deployments(_NAMESPACE), client.apps_v1.replicasets(_NAMESPACE)
    await deployments.patch("web", _image("web:1"))
    await lw.wait_for(deployments, "web", _is_rolled_out(40), timeout=_TIMEOUT)
    _check(await _sizes(sets) == {"web:1": 40, "web:2": 0}, f"the replica sets are {await _sizes(sets)}")
    revision = (await deployments.get("web")).metadata.annotations["deployment.kubernetes.io/revision"]
    _check(revision == "3", f"its revision is {revision}")


async def _serve(client: lw.ClientSet) -> None:
    service = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    await client.core_v1.services(_NAMESPACE).create({"metadata": {"name": "web"}, "spec": service})
    slices = client.discovery_v1.endpointslices(_NAMESPACE)
    selected = slices.selecting(label_selector="kubernetes.io/service-name=web")
    has_all = asyncio.Event()
    informer = lw.SharedIndexInformer(selected, EndpointSlice)

    def count(*_: object) -> None:
        if sum(len(each.endpoints) for each in informer.indexer.list()) == 40:
            has_all.set()

    informer.add_handler(on_add=count, on_update=count)
    async with informer, asyncio.timeout(_TIMEOUT):
        await has_all.wait()


async def _delete_in_foreground(client: lw.ClientSet) -> None:
    deployments = client.apps_v1.deployments(_NAMESPACE)
    await deployments.delete("web", propagation_policy="Foreground")
    await lw.wait_for(deployments, "web", "deleted", timeout=_TIMEOUT)
    left = [
        *await client.apps_v1.replicasets(_NAMESPACE).list(),
        *await client.core_v1.pods(_NAMESPACE).list(label_selector="app=web"),
    ]
    _check(not left, f"{len(left)} dependents are left: {left[:3]}")


async def _run_job(client: lw.ClientSet) -> None:
    jobs = client.batch_v1.jobs(_NAMESPACE)
    spec = {"completions": 6, "parallelism": 2, "template": _template("once", restartPolicy="Never")}
    await jobs.create({"metadata": {"name": "once"}, "spec": spec})
    job = await lw.wait_for(jobs, "once", "condition=Complete", timeout=_TIMEOUT)
    _check(job is not None and job.status.succeeded == 6, f"its status is {job and job.status}")


async def _delete_finished_job(client: lw.ClientSet) -> None:
    jobs = client.batch_v1.jobs(_NAMESPACE)
    spec = {"ttlSecondsAfterFinished": 0, "template": _template("brief", restartPolicy="Never")}
    await jobs.create({"metadata": {"name": "brief"}, "spec": spec})
    await lw.wait_for(jobs, "brief", "deleted", timeout=_TIMEOUT)


async def _run_stateful_set(client: lw.ClientSet) -> None:
    sets = client.apps_v1.statefulsets(_NAMESPACE)
    await sets.create({**_workload("db", replicas=3), "kind": "StatefulSet"})

    def has(replicas: int) -> Callable[[StatefulSet | None], bool]:
        return lambda found: (
            found is not None
            and (
                found.status.observed_generation == found.metadata.generation
                and found.status.ready_replicas == found.status.replicas == replicas
            )
        )

    for replicas in (3, 5, 2):
        await sets.patch_scale("db", {"spec": {"replicas": replicas}})
        await lw.wait_for(sets, "db", has(replicas), timeout=_TIMEOUT)
        names = sorted(pod.name for pod in await client.core_v1.pods(_NAMESPACE).list(label_selector="app=db"))
        _check(names == [f"db-{number}" for number in range(replicas)], f"the pods are {names}")


async def _run_daemon_set(client: lw.ClientSet) -> None:
    sets = client.apps_v1.daemonsets(_NAMESPACE)
    body = {**_workload("agent"), "kind": "DaemonSet"}
    await sets.create(body)

    def runs_everywhere(found: DaemonSet | None) -> bool:
        return found is not None and found.status.number_ready == found.status.desired_number_scheduled == _NODES

    await lw.wait_for(sets, "agent", runs_everywhere, timeout=_TIMEOUT)
    pods = await client.core_v1.pods(_NAMESPACE).list(label_selector="app=agent")
    nodes = sorted(pod.spec.node_name or "" for pod in pods)
    _check(nodes == [f"node-{number}" for number in range(_NODES)], f"the pods are on {nodes}")


async def _run_cron_job(client: lw.ClientSet) -> None:
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _template("tick", restartPolicy="Never")}}}
    crons, jobs = client.batch_v1.cronjobs(_NAMESPACE), client.batch_v1.jobs(_NAMESPACE)
    await crons.create({"metadata": {"name": "tick"}, "spec": spec})
    await lw.wait_for(
        crons, "tick", lambda found: found is not None and bool(found.status.last_successful_time), timeout=_TIMEOUT
    )
    owned = [job for job in await jobs.list() if any(owner.name == "tick" for owner in job.metadata.owner_references)]
    _check(bool(owned), "it has no jobs")
    await crons.delete("tick", propagation_policy="Foreground")
    await lw.wait_for(crons, "tick", "deleted", timeout=_TIMEOUT)


async def _prepare_namespace(client: lw.ClientSet) -> None:
    await client.core_v1.namespaces().create({"metadata": {"name": "fresh"}})
    await lw.wait_for(client.core_v1.serviceaccounts("fresh"), "default", _exists, timeout=_TIMEOUT)
    root = await lw.wait_for(client.core_v1.configmaps("fresh"), "kube-root-ca.crt", _exists, timeout=_TIMEOUT)
    _check(root is not None and "BEGIN CERTIFICATE" in root.data["ca.crt"], "there is no certificate")


async def _count_quota(client: lw.ClientSet) -> None:
    quotas = client.core_v1.resourcequotas("fresh")
    await quotas.create({"metadata": {"name": "few"}, "spec": {"hard": {"count/configmaps": "5"}}})

    def is_counted(found: ResourceQuota | None) -> bool:
        return found is not None and found.status.used.get("count/configmaps") == "1"

    await lw.wait_for(quotas, "few", is_counted, timeout=_TIMEOUT)


async def _delete_namespace(client: lw.ClientSet) -> None:
    await client.core_v1.pods("fresh").create({"metadata": {"name": "last"}, "spec": _template("last")["spec"]})
    await client.core_v1.namespaces().delete("fresh")
    await lw.wait_for(client.core_v1.namespaces(), "fresh", "deleted", timeout=_TIMEOUT)
    left = await client.core_v1.pods("fresh").list()
    _check(not left, f"pods are left: {left}")


CHECKS: Mapping[str, Check] = {
    "a Deployment of 50 pods rolls out, on all nodes": _roll_out,
    "it is scaled to 70 and 40": _scale,
    "its new image rolls out": _change,
    "it is rolled back to its first replica set": _roll_back,
    "its Service has an endpoint for every pod": _serve,
    "it is deleted with foreground propagation": _delete_in_foreground,
    "a Job completes": _run_job,
    "a finished Job is deleted after its time to live": _delete_finished_job,
    "a StatefulSet is scaled in order": _run_stateful_set,
    "a DaemonSet runs on every node": _run_daemon_set,
    "a CronJob starts a Job, which succeeds": _run_cron_job,
    "a new namespace gets a service account and a root certificate": _prepare_namespace,
    "a quota is counted": _count_quota,
    "a namespace is emptied and deleted": _delete_namespace,
}


def _check(condition: bool, message: str) -> None:  # noqa: FBT001  # an assertion
    if not condition:
        raise AssertionError(message)


def _exists(found: object | None) -> bool:
    return found is not None


async def _sizes(sets: lw.ResourceClient[ReplicaSet]) -> dict[str, int]:
    """The numbers of replicas by image."""
    return {each.spec.template.spec.containers[0].image or "": each.status.replicas for each in await sets.list()}


def _workload(name: str, **spec: object) -> dict[str, object]:
    return {
        "metadata": {"name": name},
        "spec": {**spec, "selector": {"matchLabels": {"app": name}}, "template": _template(name)},
    }


def _template(name: str, **spec: object) -> dict[str, object]:
    containers = [{"name": "main", "image": f"{name}:1", "resources": {"requests": {"cpu": "100m"}}}]
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers, **spec}}


def _image(image: str) -> dict[str, object]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}


def _is_rolled_out(replicas: int) -> Callable[[Deployment | None], bool]:
    def is_rolled_out(found: Deployment | None) -> bool:
        if found is None or found.status.observed_generation != found.metadata.generation:
            return False
        status = found.status
        return status.replicas == status.updated_replicas == status.available_replicas == replicas

    return is_rolled_out
