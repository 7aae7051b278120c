"""Discovery, aggregated and not, and its cache."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.routed import (
    APPS,
    CORE,
    DISCOVERY,
    PODS,
    WITH_WIDGETS,
    Documents,
    aggregated,
    group,
    resource,
    routed,
    version,
)

from listwatch import models
from listwatch.api.discovery import APIGroup, DiscoveryResult
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import (
    APIError,
    ConnectionLostError,
    ConnectRefusedError,
    DecodeError,
    DiscoveryError,
    EmptyConfigError,
    ForbiddenError,
    NotFoundError,
    StaleDiscoveryError,
)
from listwatch.testing.clocks import VirtualClock

# --- documents of servers without aggregated discovery ----------------------------------------------------------------


def api_group(name: str, *versions: str, preferred: str = "") -> dict[str, Any]:
    each = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    first = {"groupVersion": f"{name}/{preferred or versions[0]}", "version": preferred or versions[0]}
    return {"name": name, "versions": each, "preferredVersion": first}


def api_resource(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": ["get"], **more}


PLAIN = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [api_group("apps", "v1", "v1beta1")]},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            api_resource("pods", "Pod", shortNames=["po"]),
            api_resource("pods/eviction", "Eviction", group="policy", version="v1"),
            api_resource("pods/status", "Pod"),
        ],
    },
    "/apis/apps/v1": {
        "kind": "APIResourceList",
        "groupVersion": "apps/v1",
        "resources": [api_resource("deployments", "Deployment")],
    },
    "/apis/apps/v1beta1": {
        "kind": "APIResourceList",
        "groupVersion": "apps/v1beta1",
        "resources": [api_resource("deployments", "Deployment"), api_resource("relics", "Relic")],
    },
}


def names(discovered: DiscoveryResult) -> list[str]:
    return [f"{each.api_version} {each.plural}" for each in discovered.resources]


# --- a real server ---------------------------------------------------------------------------------------------------


async def test_aggregated_discovery_takes_two_requests(client: ClientSet, server: Any):
    discovered = await client.discovery.server_groups_and_resources()
    assert {each.gvr for each in discovered.resources} == {each.gvr for each in models.resources()}
    assert [each.path for each in server.requests] == ["/api", "/apis"]
    [pods] = [each for each in discovered.resources if each.plural == "pods" and not each.group]
    eviction = pods.subresource("eviction")
    assert eviction is not None
    assert (eviction.group, eviction.version, eviction.kind) == ("policy", "v1", "Eviction")


async def test_both_forms_of_discovery_find_the_same(client: ClientSet):
    plain = DiscoveryClient(client.rest, aggregated=False)
    old, new = await plain.server_groups_and_resources(), await client.discovery.server_groups_and_resources()
    assert set(old.resources) == set(new.resources)
    assert set(old.groups) == set(new.groups)


async def test_the_preferred_version_of_each_resource_is_known(client: ClientSet):
    preferred = await client.discovery.preferred_resources()
    [autoscalers] = [each for each in preferred if each.plural == "horizontalpodautoscalers"]
    assert autoscalers.version == "v2"
    assert len({each.group_resource for each in preferred}) == len(preferred)


async def test_one_group_version_can_be_discovered(client: ClientSet):
    assert "deployments" in [each.plural for each in await client.discovery.server_resources("apps/v1")]
    with pytest.raises(NotFoundError):
        await client.discovery.server_resources("example.com/v1")


async def test_the_version_of_the_server_is_read(client: ClientSet):
    found = await client.discovery.server_version()
    assert (found.major, str(found)[:2]) == ("1", "v1")


# --- all at once -----------------------------------------------------------------------------------------------------


async def test_aggregated_groups_contain_their_resources():
    async with routed(WITH_WIDGETS) as (documents, client):
        discovered = await client.discovery.server_groups_and_resources()
        assert names(discovered) == ["v1 pods", "v1 nodes", "apps/v1 deployments", "example.com/v1 widgets"]
        assert [each.namespaced for each in discovered.resources] == [True, False, True, True]
        assert discovered.groups == (
            APIGroup("", ("v1",), "v1"),
            APIGroup("apps", ("v1",), "v1"),
            APIGroup("example.com", ("v1",), "v1"),
        )
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
        assert [(each.target, each.headers["Accept"]) for each in documents.requests] == [
            ("/api?timeout=32s", accept),
            ("/apis?timeout=32s", accept),
        ]


async def test_a_stale_version_is_a_failure_and_does_not_affect_the_others():
    stale = group(
        "metrics.k8s.io", version("v1", freshness="Stale"), version("v1beta1", resource("nodes", "NodeMetrics"))
    )
    async with routed({**DISCOVERY, "/apis": aggregated(APPS, stale)}) as (documents, client):
        with pytest.raises(DiscoveryError, match=r"metrics\.k8s\.io/v1: its API server does not respond") as caught:
            await client.discovery.server_groups_and_resources()
        assert isinstance(caught.value.failures["metrics.k8s.io/v1"], StaleDiscoveryError)
        found = caught.value.found
        assert isinstance(found, DiscoveryResult)
        assert names(found)[-1] == "metrics.k8s.io/v1beta1 nodes"
        assert found.groups[-1] == APIGroup("metrics.k8s.io", ("v1beta1",), "v1beta1")
        assert documents.paths == ["/api", "/apis"] * 2  # one more try, and no more


async def test_discovery_is_attempted_twice():
    stale = aggregated(group("apps", version("v1", freshness="Stale")))
    async with routed({**DISCOVERY, "/apis": stale}) as (documents, client):
        documents.then = {"/apis": aggregated(APPS)}
        assert "apps/v1 deployments" in names(await client.discovery.server_groups_and_resources())


async def test_resources_without_a_kind_are_omitted():
    nameless = {"resource": "nameless", "scope": "Cluster", "verbs": None, "subresources": None}
    status = {"subresource": "status", "responseKind": None, "verbs": ["get"]}
    core = aggregated(group("", version("v1", nameless, {**PODS, "subresources": [status], "categories": None})))
    async with routed({**DISCOVERY, "/api": core}) as (_, client):
        [pods, _] = (await client.discovery.server_groups_and_resources()).resources
    assert (pods.plural, pods.subresources, pods.categories) == ("pods", (), ())


async def test_a_server_without_a_core_group_is_discovered():
    async with routed({"/apis": aggregated(APPS)}) as (_, client):
        assert names(await client.discovery.server_groups_and_resources()) == ["apps/v1 deployments"]


async def test_a_server_without_groups_is_an_error():
    async with routed({"/api": CORE}) as (_, client):
        with pytest.raises(NotFoundError):
            await client.discovery.server_groups_and_resources()


@pytest.mark.parametrize("document", [[], {"kind": "APIGroupDiscoveryList", "items": [{"versions": [7]}]}])
async def test_an_undecodable_document_is_an_error(document: Any):
    async with routed({**DISCOVERY, "/apis": document}) as (_, client):
        with pytest.raises(DecodeError, match="the discovery document"):
            await client.discovery.server_groups_and_resources()


# --- one by one ------------------------------------------------------------------------------------------------------


async def test_older_servers_are_discovered_version_by_version():
    async with routed(PLAIN) as (documents, client):
        discovered = await client.discovery.server_groups_and_resources()
        assert set(names(discovered)) == {
            "v1 pods",
            "apps/v1 deployments",
            "apps/v1beta1 deployments",
            "apps/v1beta1 relics",
        }
        assert sorted(documents.paths) == sorted(PLAIN)
        [pods] = [each for each in discovered.resources if each.plural == "pods"]
        assert [(each.name, str(each.gvk)) for each in pods.subresources] == [
            ("eviction", "policy/v1, Kind=Eviction"),
            ("status", "v1, Kind=Pod"),
        ]


async def test_a_resource_is_preferred_in_the_first_version_that_has_it():
    async with routed(PLAIN) as (_, client):
        preferred = await client.discovery.preferred_resources()
    assert {f"{each.api_version} {each.plural}" for each in preferred} == {
        "v1 pods",
        "apps/v1 deployments",
        "apps/v1beta1 relics",
    }


async def test_a_server_may_aggregate_one_of_both_documents_only():
    async with routed({**PLAIN, "/api": CORE}) as (documents, client):
        assert "v1 pods" in names(await client.discovery.server_groups_and_resources())
        assert "/api/v1" in documents.paths


@pytest.mark.parametrize("failure", [404, 500, 503, ConnectRefusedError("away")], ids=str)
async def test_a_failed_version_does_not_affect_the_others(failure: Any):
    async with routed({**PLAIN, "/apis/apps/v1beta1": failure}) as (documents, client):
        with pytest.raises(DiscoveryError, match="apps/v1beta1") as caught:
            await client.discovery.server_groups_and_resources()
        assert isinstance(caught.value.found, DiscoveryResult)
        assert set(names(caught.value.found)) == {"v1 pods", "apps/v1 deployments"}
        assert documents.paths.count("/apis/apps/v1beta1") == 2


async def test_the_resources_of_the_core_group_may_be_missing():
    async with routed({**PLAIN, "/api/v1": 404}) as (_, client):
        assert "v1 pods" not in names(await client.discovery.server_groups_and_resources())


async def test_groups_can_be_discovered_alone():
    async with routed(PLAIN) as (documents, client):
        groups = await client.discovery.server_groups()
        assert groups == (APIGroup("", ("v1",), "v1"), APIGroup("apps", ("v1", "v1beta1"), "v1"))
        assert documents.paths == ["/api", "/apis"]


# --- schemas ---------------------------------------------------------------------------------------------------------


async def test_the_schemas_of_a_group_version_are_found_by_its_path():
    index = {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=AB%2BC"}, "version": {}}}
    async with routed({"/openapi/v3": index, "/openapi/v3/apis/apps/v1": {"openapi": "3.0.0"}}) as (documents, client):
        assert (await client.discovery.openapi_paths())["apis/apps/v1"].endswith("?hash=AB%2BC")
        assert await client.discovery.openapi_schema("apps/v1") == {"openapi": "3.0.0"}
        assert "hash=AB%2BC" in documents.requests[-1].target
        with pytest.raises(NotFoundError, match="no OpenAPI v3 document of batch/v1"):
            await client.discovery.openapi_schema("batch/v1")


@pytest.mark.parametrize("document", [[], {"paths": 7}, {"gitVersion": 7}], ids=str)
async def test_an_invalid_document_is_an_error(document: Any):
    async with routed({"/openapi/v3": document, "/version": document}) as (_, client):
        with pytest.raises(DecodeError, match="the discovery document"):
            await (client.discovery.server_version() if "gitVersion" in document else client.discovery.openapi_paths())


# --- what is remembered ----------------------------------------------------------------------------------------------


@pytest.fixture
async def remembered() -> AsyncIterator[tuple[Documents, DiscoveryCache]]:
    async with routed(DISCOVERY) as (documents, client):
        yield documents, DiscoveryCache(client.discovery)


async def test_concurrent_callers_share_one_discovery(remembered: tuple[Documents, DiscoveryCache]):
    documents, cache = remembered
    first, *others = await asyncio.gather(*(cache.discovered() for _ in range(5)))
    assert all(each is first for each in others)
    assert documents.paths == ["/api", "/apis"]


async def test_an_invalidated_cache_is_discovered_again(remembered: tuple[Documents, DiscoveryCache]):
    documents, cache = remembered
    await cache.discovered()
    documents.routes |= WITH_WIDGETS
    assert "example.com/v1 widgets" not in names(await cache.discovered())
    cache.invalidate()
    assert "example.com/v1 widgets" in names(await cache.discovered())


async def test_a_discovery_that_started_before_the_invalidation_is_not_cached(tmp_path: Path):
    async with routed(DISCOVERY) as (documents, client):
        cache = DiscoveryCache(client.discovery, folder=tmp_path)
        gate = documents.gates["/apis"] = asyncio.Event()
        earlier = asyncio.create_task(cache.discovered())
        for _ in range(20):
            await asyncio.sleep(0)
        documents.routes |= WITH_WIDGETS
        cache.invalidate()
        gate.set()
        assert "example.com/v1 widgets" not in names(await earlier)
        assert "example.com/v1 widgets" in names(await cache.discovered())


@pytest.mark.parametrize(
    ("failure", "asked_again"),
    [
        (404, False),
        (ForbiddenError("no"), False),
        (503, True),
        (429, True),
        (ConnectionLostError("gone"), True),
        (ConnectRefusedError("away"), True),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_kept", [True, False], ids=["on disk", "in memory"])
async def test_only_transient_failures_are_discovered_again(
    failure: Any, asked_again: bool, is_kept: bool, tmp_path: Path
):
    if isinstance(failure, APIError):
        failure = failure.status_code
    async with routed({**PLAIN, "/apis/apps/v1beta1": failure}) as (documents, client):
        cache = DiscoveryCache(client.discovery, folder=tmp_path if is_kept else None)
        assert list((await cache.discovered()).failures) == ["apps/v1beta1"]
        documents.requests.clear()
        documents.routes |= PLAIN
        assert bool((await cache.discovered()).failures) is not asked_again
        assert bool(documents.requests) is asked_again


async def test_a_failed_discovery_is_not_cached():
    async with routed({}) as (documents, client):
        cache = DiscoveryCache(client.discovery)
        with pytest.raises(NotFoundError):
            await cache.discovered()
        documents.routes |= DISCOVERY
        assert (await cache.discovered()).resources


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


# --- on disk ---------------------------------------------------------------------------------------------------------


async def test_the_result_is_cached_on_disk(tmp_path: Path):
    async with routed(WITH_WIDGETS) as (documents, client):
        first = await DiscoveryCache(client.discovery, folder=tmp_path / "a" / "b").discovered()
        documents.requests.clear()
        later = DiscoveryCache(client.discovery, folder=tmp_path / "a" / "b")
        assert await later.discovered() == first
        assert documents.requests == []
        later.invalidate()
        assert await later.discovered() == first
        assert documents.paths == ["/api", "/apis"]


async def test_servers_do_not_share_a_file(tmp_path: Path, server: Any):
    async with routed(WITH_WIDGETS) as (_, client), ClientSet(server.config) as other:
        await DiscoveryCache(client.discovery, folder=tmp_path).discovered()
        assert "example.com/v1 widgets" not in names(
            await DiscoveryCache(other.discovery, folder=tmp_path).discovered()
        )
    assert len(files_in(tmp_path)) == 2


async def test_a_cache_file_expires(tmp_path: Path):
    async with routed(DISCOVERY) as (documents, client):
        await DiscoveryCache(client.discovery, folder=tmp_path).discovered()
        [file] = files_in(tmp_path)
        documents.requests.clear()
        clock = VirtualClock()
        os.utime(file, (clock.now().timestamp(),) * 2)
        clock.jump(599)
        await DiscoveryCache(client.discovery, folder=tmp_path, ttl=600, clock=clock).discovered()
        assert documents.requests == []
        clock.jump(1)
        await DiscoveryCache(client.discovery, folder=tmp_path, ttl=600, clock=clock).discovered()
        assert documents.paths == ["/api", "/apis"]


@pytest.mark.parametrize("content", [b"", b"not json", b"[]", b'{"groups": 7}', b'{"groups": [], "resources": [{}]}'])
async def test_an_invalid_cache_file_is_ignored(tmp_path: Path, content: bytes):
    async with routed(DISCOVERY) as (documents, client):
        await DiscoveryCache(client.discovery, folder=tmp_path).discovered()
        [file] = files_in(tmp_path)
        file.write_bytes(content)
        documents.requests.clear()
        assert (await DiscoveryCache(client.discovery, folder=tmp_path).discovered()).resources
        assert documents.paths == ["/api", "/apis"]
        assert json.loads(file.read_bytes())["resources"]


@pytest.mark.parametrize(
    "routes",
    [{**PLAIN, "/apis/apps/v1beta1": 503}, {"/api": aggregated(), "/apis": aggregated()}],
    ids=["failed", "empty"],
)
async def test_an_incomplete_result_is_not_written_to_disk(tmp_path: Path, routes: dict[str, Any]):
    async with routed(routes) as (_, client):
        await DiscoveryCache(client.discovery, folder=tmp_path).discovered()
    assert files_in(tmp_path) == []


async def test_a_folder_that_cannot_be_written_is_ignored(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    async with routed(WITH_WIDGETS) as (_, client):
        found = await DiscoveryCache(client.discovery, folder=tmp_path / "file").discovered()
    assert "example.com/v1 widgets" in names(found)


async def test_a_cache_file_is_readable_by_its_owner_only(tmp_path: Path):
    async with routed(DISCOVERY) as (_, client):
        await DiscoveryCache(client.discovery, folder=tmp_path / "kept").discovered()
    [file] = files_in(tmp_path / "kept")
    assert file.stat().st_mode & 0o077 == 0


def test_a_cache_loads_no_configuration_before_its_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    cache = DiscoveryCache(DiscoveryClient(), folder=tmp_path)
    with pytest.raises(EmptyConfigError):
        cache.invalidate()
