"""Clients without a configuration load it on entry, or with the first request."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from listwatch.client import (
    BaseClient,
    ClientSet,
    DiscoveryCache,
    DiscoveryClient,
    DynamicClient,
    MetadataClient,
    RESTClient,
    RESTMapper,
)
from listwatch.errors import ConfigError, UsageError
from listwatch.server import APIServer

CLIENTS = [ClientSet, DynamicClient, MetadataClient, DiscoveryClient]


@pytest.fixture
def missing_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[APIServer]:
    async with APIServer(tls=True) as server:
        server.kubeconfig(tmp_path / "config")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        yield server


@pytest.mark.usefixtures("missing_kubeconfig")
@pytest.mark.parametrize("client_class", [*CLIENTS, RESTClient, DiscoveryCache, RESTMapper])
async def test_a_client_loads_its_configuration_on_entry_and_not_before(
    client_class: type[BaseClient | RESTClient | DiscoveryCache | RESTMapper],
):
    client = client_class()
    assert "the default server" in repr(client)
    with pytest.raises(ConfigError, match="missing"):
        async with client:
            pass


@pytest.mark.parametrize("client_class", CLIENTS)
async def test_a_client_without_arguments_uses_the_kubeconfig(server: APIServer, client_class: type[BaseClient]):
    async with client_class() as client:
        assert client.rest.config.host.startswith(server.config.host)
        assert await client.rest.get().abs_path("/healthz").do_raw() == b"ok"


async def test_without_async_with_the_first_request_loads_the_configuration(server: APIServer):
    client = ClientSet()
    namespaces = client.core_v1.namespaces()
    assert (await namespaces.get("default")).name == "default"
    assert server.config.host in repr(client)
    await client.aclose()


async def test_clients_of_several_group_versions_share_one_configuration(server: APIServer):
    rest = RESTClient()
    apps = rest.for_group_version("apps/v1")
    await apps.get().resource("deployments").do()
    await rest.get().resource("pods").do()
    assert apps.config is rest.config
    assert rest.statistics().requests == 2
    await rest.aclose()


@pytest.mark.usefixtures("server")
async def test_a_client_that_was_closed_before_it_was_used_loads_nothing():
    rest = RESTClient()
    await rest.aclose()
    with pytest.raises(UsageError, match="the client is closed"):
        rest.get()
