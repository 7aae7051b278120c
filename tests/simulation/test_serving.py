"""`python -m listwatch.server --simulate`, and clusters beside a server."""

from pathlib import Path

import pytest
from tests.simulation.simulated import pod

import listwatch as lw
from listwatch.server import APIServer
from listwatch.server.__main__ import main
from listwatch.simulation import SimulatedCluster, SimulationOptions


def test_stages_without_a_simulation_are_rejected(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["--stages", str(tmp_path / "stages.yaml")]) == 1
    assert "--stages needs --simulate" in capsys.readouterr().err


def test_a_file_of_stages_that_is_missing_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["--simulate", "--stages", str(tmp_path / "stages.yaml")]) == 1
    assert "the file of stages cannot be read: No such file or directory" in capsys.readouterr().err


async def test_a_cluster_is_simulated_on_a_server_that_runs_already():
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        pods = client.core_v1.pods("default")
        await pods.create(pod("web"))
        async with SimulatedCluster(server.config, SimulationOptions(nodes=1, events=False)):
            await lw.wait_for(pods, "web", "ready", timeout=60)
        assert server.requests.matching(user="system:simulation") == []


async def test_the_requests_of_a_simulation_have_a_user_of_their_own():
    async with APIServer(simulate=SimulationOptions(nodes=1)) as server, lw.ClientSet(server.config) as client:
        await lw.wait_for(client.core_v1.nodes(), "node-0", "condition=Ready", timeout=60)
        created = server.requests.matching(user="system:simulation", verb="create", resource="nodes")
        assert [each.verb for each in created] == ["create"]
    with pytest.raises(lw.errors.UsageError, match="pass simulate=True"):
        _ = server.simulation


async def test_a_server_with_a_simulation_can_be_started_again():
    server = APIServer(simulate=SimulationOptions(nodes=1, events=False))
    for _ in range(2):
        async with server, lw.ClientSet(server.config) as client:
            await lw.wait_for(client.core_v1.nodes(), "node-0", "condition=Ready", timeout=60)


def test_impossible_options_are_rejected():
    with pytest.raises(lw.errors.UsageError, match="fewer than 0 nodes"):
        SimulationOptions(nodes=-1)
    with pytest.raises(lw.errors.UsageError, match="positive number of seconds"):
        SimulationOptions(heartbeat=0.0)
