"""The real controllers and scheduler beside the embedded and a real server. Only `make conformance` builds them."""

from collections.abc import AsyncIterator

import pytest

import listwatch as lw
from listwatch.errors import ConfigError, ProgramError
from listwatch.server import APIServer
from listwatch.testing import ControlPlane, ControlPlaneBinaries, RealAPIServer


@pytest.fixture(autouse=True)
def _binaries() -> None:
    try:
        ControlPlaneBinaries.find()
    except ConfigError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[APIServer, RealAPIServer])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[APIServer | RealAPIServer]:
    async with request.param() as server:
        yield server


async def test_pods_are_created_and_bound(server: APIServer | RealAPIServer):
    async with ControlPlane(server), lw.ClientSet(server.config) as client:
        node = {"metadata": {"name": "one"}, "status": {"allocatable": {"pods": "10", "cpu": "1", "memory": "1Gi"}}}
        await client.core_v1.nodes().create(node)
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
        template["spec"]["tolerations"] = [{"operator": "Exists"}]
        spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
        await client.apps_v1.deployments("default").create({"metadata": {"name": "web"}, "spec": spec})
        bound = set()
        async for event in client.core_v1.pods("default").watch():
            if event.object.spec.node_name == "one":
                bound.add(event.object.name)
            if len(bound) == 2:
                break


async def test_a_wrong_flag_is_reported_with_the_log():
    async with APIServer() as server:
        with pytest.raises(ProgramError, match="unknown flag: --nonsense"):
            await ControlPlane(server, flags=["--nonsense"]).start()
