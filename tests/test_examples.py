"""The examples run unchanged on the embedded server, each in its own process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.wait.wait_for import wait_for
from listwatch.models.core_v1 import ConfigMap, Container, Pod, PodSpec
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer

EXAMPLES = Path(__file__).parent.parent / "examples"


class Running:
    """A program under way, whose lines are read one by one."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[str] = []

    async def wait_for_line(self, wanted: str) -> None:
        """Wait for a line with this text; another thread of the program can print in the middle of it."""
        assert self._process.stdout is not None
        while not any(wanted in line for line in self.lines):
            line = await self._process.stdout.readline()
            assert line, f"the program ended without saying {wanted!r}; it said {self.lines}"
            self.lines.append(line.decode().strip())

    async def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit code."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.stdout is not None
        rest = await self._process.stdout.read()
        self.lines += rest.decode().split("\n")
        return await self._process.wait()


@asynccontextmanager
async def running(script: str, server: APIServer, folder: Path) -> AsyncIterator[Running]:
    kubeconfig = folder / "kubeconfig"
    server.kubeconfig(kubeconfig)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / script),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1"},
    )
    try:
        # Not a measurement: a program that never prints the expected line must not hang the tests.
        async with asyncio.timeout(60):
            yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves its pipes to the collector otherwise


def a_pod(name: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name), spec=PodSpec(containers=[Container(name="web", image="nginx")]))


@pytest.mark.parametrize(
    "script", ["01_list_and_watch_pods.py", "03_shared_informer_factory.py", "05_blocking_informer.py"]
)
async def test_a_pod_s_life_is_printed(script: str, tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        pods = client.core_v1.pods("default")
        await pods.create(a_pod("old-pod"))
        async with running(script, server, tmp_path) as program:
            await server.wait_for_requests(verb="watch", resource="pods")
            pod = await pods.create(a_pod("test-pod"))
            await program.wait_for_line("ADDED test-pod")
            pod = pod.copy()
            pod.metadata.labels["tier"] = "front"
            await pods.update(pod)
            await program.wait_for_line("MODIFIED test-pod")
            await pods.delete("test-pod")
            await program.wait_for_line("DELETED test-pod")
            assert await program.interrupt() == 0
            assert "stopped" in program.lines


def crontab(name: str, spec: str) -> Unstructured:
    kind = {"apiVersion": "stable.example.com/v1", "kind": "CronTab"}
    return Unstructured({**kind, "metadata": {"name": name}, "spec": {"cronSpec": spec}})


async def test_a_custom_resource_is_listed_and_followed(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, DynamicClient(server.config) as client:
        crontabs = client.resource("stable.example.com/v1", "CronTab").namespace("default")
        async with running("04_custom_resource.py", server, tmp_path) as program:
            await program.wait_for_line("synced, with 0 crontabs")
            await crontabs.create(crontab("old", "* * * * */5"))
            await program.wait_for_line("ADDED old")
            assert await program.interrupt() == 0
        async with running("04_custom_resource.py", server, tmp_path) as program:
            await program.wait_for_line("default/old runs at * * * * */5")
            await program.wait_for_line("synced, with 1 crontabs")
            await crontabs.create(crontab("new", "0 0 * * *"))
            await program.wait_for_line("ADDED new")
            await crontabs.patch("new", {"spec": {"cronSpec": "1 0 * * *"}})
            await program.wait_for_line("MODIFIED new")
            await crontabs.delete("new")
            await program.wait_for_line("DELETED new")
            assert await program.interrupt() == 0


async def test_config_maps_are_followed_from_the_version_of_the_list(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        configmaps = client.core_v1.configmaps("default")
        await configmaps.create(ConfigMap(metadata=ObjectMeta(name="old")))
        async with running("02_watch_configmaps_from_a_version.py", server, tmp_path) as program:
            await server.wait_for_requests(verb="watch", resource="configmaps")
            await configmaps.create(ConfigMap(metadata=ObjectMeta(name="settings"), data={"a": "1", "b": "2"}))
            await program.wait_for_line("ADDED settings has ['a', 'b']")
            # One of them has the CA certificate of the server.
            assert program.lines[0].startswith("2 config maps at version")
            assert await program.interrupt() == 0


@pytest.mark.parametrize("script", ["06_configmap_deployments.py", "10_blocking_controller.py"])
async def test_a_config_map_gets_its_deployment(script: str, tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        configmaps, deployments = client.core_v1.configmaps("default"), client.apps_v1.deployments("default")
        meta = ObjectMeta(name="web", labels={"deploy": "yes"})
        await configmaps.create(ConfigMap(metadata=meta, data={"image": "nginx", "replicas": "2"}))
        async with running(script, server, tmp_path) as program:
            await program.wait_for_line("default/web created")
            await configmaps.patch("web", {"data": {"replicas": "3"}})
            await program.wait_for_line("default/web updated")
            assert (await deployments.get("web")).spec.replicas == 3
            await deployments.patch("web", {"spec": {"replicas": 7}})
            program.lines.clear()
            await program.wait_for_line("default/web updated")
            assert (await deployments.get("web")).spec.replicas == 3
            await configmaps.delete("web")
            await program.wait_for_line("default/web deleted")
            assert await program.interrupt() == 0
            assert "stopped" in program.lines


async def test_a_bucket_is_created_reported_and_removed_before_its_object_is_deleted(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, DynamicClient(server.config) as client:
        buckets = client.resource("storage.example.com/v1", "Bucket").namespace("default")
        kind = {"apiVersion": "storage.example.com/v1", "kind": "Bucket"}
        async with running("07_custom_resource_controller.py", server, tmp_path) as program:
            await server.wait_for_requests(verb="watch", resource="buckets")
            await buckets.create(Unstructured({**kind, "metadata": {"name": "photos"}, "spec": {"size": 10}}))
            await program.wait_for_line("default/photos has 10 bytes")
            made = await wait_for(buckets, "photos", "condition=Ready", timeout=30)
            assert made.metadata.finalizers == ["storage.example.com/bucket"]
            await buckets.patch("photos", {"spec": {"size": 20}})
            await program.wait_for_line("default/photos has 20 bytes")
            await wait_for(buckets, "photos", "jsonpath={.status.size}=20", timeout=30)
            await buckets.delete("photos")
            await program.wait_for_line("default/photos is removed")
            await wait_for(buckets, "photos", "deleted", timeout=30)
            assert await program.interrupt() == 0


async def test_a_node_reports_its_pods(tmp_path: Path) -> None:
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        await client.core_v1.nodes().create({"metadata": {"name": "n1"}})
        async with running("09_node_pod_index.py", server, tmp_path) as program:
            await program.wait_for_line("n1: no pods")
            pod = a_pod("web-0")
            pod.spec.node_name = "n1"
            await client.core_v1.pods("default").create(pod)
            await program.wait_for_line("n1: default/web-0")
            await client.core_v1.nodes().delete("n1")
            await program.wait_for_line("n1 (deleted): default/web-0")
            assert await program.interrupt() == 0


async def test_one_replica_counts_and_the_next_one_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "08_leader_elected_singleton.py"
    async with APIServer(tls=True) as server, ClientSet(server.config) as client:
        monkeypatch.setenv("POD_NAME", "one")
        async with running(script, server, tmp_path) as one:
            await one.wait_for_line("one counts 2")
            monkeypatch.setenv("POD_NAME", "two")
            async with running(script, server, tmp_path) as two:
                await two.wait_for_line("one leads")
                assert await one.interrupt() == 0
                assert "stopped" in one.lines
                await two.wait_for_line("two leads")
                counter = await client.core_v1.configmaps("default").get("counter")
                await two.wait_for_line(f"two counts {int(counter.data['number']) + (counter.data['by'] == 'one')}")
                assert not any(line.startswith("two counts") for line in two.lines[: two.lines.index("two leads")])
                assert await two.interrupt() == 0
        lease = await client.coordination_v1.leases("default").get("counter")
        assert lease.spec.holder_identity == ""
        assert lease.spec.lease_transitions == 1


async def test_three_processes_share_the_objects() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / "12_sharded_controller.py", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    lines = output.decode().splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["a", "b", "c"]
    assert sum(int(line.split()[2]) for line in lines[:3]) == 30
    assert lines[3] == "all replicas have left"


async def test_clusters_join_and_leave() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / "14_several_clusters.py", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert output.decode().splitlines() == [
        "eu has the copy",
        "us has the copy",
        "eu was repaired",
        "eu says bye, us still says hello",
    ]


async def test_webhooks_default_validate_and_convert() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, EXAMPLES / "13_webhooks.py", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    output, _ = await process.communicate()
    assert output.decode().splitlines() == [
        "created in eu",
        'admission webhook "fixed-region.fleets.example.com" denied the request: spec.region cannot be changed',
        "in v1beta1 it has 3 ships",
    ]
