"""kubectl on the embedded server, with the kubeconfig that the server writes."""

import asyncio
import json
from pathlib import Path

from listwatch.server.api_server import APIServer
from listwatch.testing.real.real_binaries import RealBinaries


async def kubectl(kubeconfig: Path, *arguments: str) -> str:
    binary = RealBinaries.find().kubectl
    assert binary is not None
    done = await asyncio.create_subprocess_exec(
        str(binary),
        f"--kubeconfig={kubeconfig}",
        *arguments,
        env={"HOME": str(kubeconfig.parent)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await done.communicate()
    assert done.returncode == 0, errors
    return out.decode()


async def test_kubectl_accepts_the_kubeconfig_of_an_embedded_server(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with APIServer() as server:
        server.kubeconfig(file)
        assert await kubectl(file, "get", "--raw", "/readyz") == "ok"
        assert json.loads(await kubectl(file, "version", "-o", "json"))["serverVersion"]["major"] == "1"
        assert "namespace/default" in (await kubectl(file, "get", "namespaces", "-o", "name")).split()
