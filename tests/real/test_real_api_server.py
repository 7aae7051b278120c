"""The real API server of the test fixtures."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ForbiddenError
from listwatch.testing import RealAPIServer
from listwatch.testing.real.real_api_server_thread import RealAPIServerThread


async def test_kubectl_accepts_its_kubeconfig(cluster: RealAPIServer, tmp_path: Path):
    cluster.kubeconfig(tmp_path / "kubeconfig")
    kubectl = cluster.binaries.kubectl
    assert kubectl
    process = await asyncio.create_subprocess_exec(
        *[kubectl, f"--kubeconfig={tmp_path / 'kubeconfig'}", "create", "configmap", "a"],
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert (process.returncode, said) == (0, b"configmap/a created\n")


async def test_objects_persist_in_a_data_dir(tmp_path: Path):
    async with RealAPIServer(data_dir=tmp_path) as cluster, ClientSet(cluster.config) as client:
        written = await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}})
        token = cluster.token
    async with RealAPIServer(data_dir=tmp_path) as cluster, ClientSet(cluster.config) as client:
        assert await client.core_v1.configmaps("default").get("a") == written
        assert cluster.token == token


async def test_a_user_is_identified_by_the_certificate(cluster: RealAPIServer):
    pair = cluster.issue_certificate("alice", groups=["people"])
    config = replace(cluster.config, token="", client_cert_data=pair.certificate, client_key_data=pair.key)
    async with ClientSet(config) as client:
        with pytest.raises(ForbiddenError, match='User "alice" cannot list resource "pods"'):
            await client.core_v1.pods("default").list()


async def test_it_reports_its_version(cluster: RealAPIServer):
    async with DiscoveryClient(cluster.config) as discovery:
        assert (await discovery.server_version()).git_version.startswith("v1.")


async def test_it_listens_on_loopback_only():
    before = listening_elsewhere()
    async with RealAPIServer():
        assert listening_elsewhere() <= before


def listening_elsewhere() -> set[str]:
    """The non-loopback addresses on which this machine listens, as the kernel writes them."""
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, address, _, state, *_ = line.split()
        if state == "0A" and not address.startswith("0100007F"):
            found.add(address)
    return found


def test_a_plain_function_can_use_the_fixture(real_api_server: RealAPIServerThread):
    before = real_api_server.revision()
    real_api_server.kill_api_server()
    real_api_server.start_api_server()
    real_api_server.compact()
    assert real_api_server.revision() >= before
    assert real_api_server.url.startswith("https://127.0.0.1:")
