"""References to resources, and the mapper that finds them."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.client.routed import (
    APPS,
    CORE,
    DISCOVERY,
    WITH_WIDGETS,
    aggregated,
    group,
    resource,
    routed,
    version,
    widgets,
)

from listwatch.api.references import KindReference, NameReference, read_reference
from listwatch.api.resource_map import ResourceMap
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import BadNameError, NoMatchError, RequestError, UsageError
from listwatch.meta import GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource, Resource
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.server import APIServer

# --- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "reference"),
    [
        (Pod, Pod.resource),
        (Pod.resource, Pod.resource),
        (GroupVersionResource("apps", "v1", "deployments"), GroupVersionResource("apps", "v1", "deployments")),
        ("apps/v1, Resource=deployments", GroupVersionResource("apps", "v1", "deployments")),
        (GroupVersionKind("apps", "v1", "Deployment"), KindReference("apps", "Deployment", "v1")),
        ("apps/v1, Kind=Deployment", KindReference("apps", "Deployment", "v1")),
        (("apps/v1", "Deployment"), KindReference("apps", "Deployment", "v1")),
        ("apps/v1 Deployment", KindReference("apps", "Deployment", "v1")),
        ("v1 Pod", KindReference("", "Pod", "v1")),
        (GroupKind("apps", "Deployment"), KindReference("apps", "Deployment")),
        (GroupResource("apps", "deployments"), NameReference("deployments.apps")),
        ("core_v1.pods", NameReference("pods", "core_v1")),
        (" pods ", NameReference("pods")),
        ("deployments.v1.apps", NameReference("deployments.v1.apps")),
        (NameReference("po"), NameReference("po")),
    ],
    ids=str,
)
def test_references_have_many_forms(of: Any, reference: Any):
    assert read_reference(of) == reference


@pytest.mark.parametrize(
    "of", [None, 7, "", "  ", Object, GroupVersion("apps", "v1"), ("a", "b", "c"), b"pods"], ids=str
)
def test_an_invalid_reference_is_rejected(of: Any):
    with pytest.raises(RequestError, match="does not name a resource"):
        read_reference(of)


def test_an_invalid_api_version_is_rejected():
    with pytest.raises(BadNameError, match="'a/b/c' is not an API version"):
        read_reference("a/b/c", "Deployment")


# --- names -----------------------------------------------------------------------------------------------------------


def served(group: str, version: str, kind: str, plural: str, **more: Any) -> Resource:
    return Resource(group, version, kind, plural, **more)


KNOWN = ResourceMap(
    [
        served("", "v1", "Pod", "pods", short_names=("po",), categories=("all",)),
        served("", "v1", "Event", "events", short_names=("ev",)),
        served("apps", "v1", "Deployment", "deployments", short_names=("deploy",), categories=("all",)),
        served("apps", "v1beta1", "Deployment", "deployments", short_names=("deploy",), categories=("all",)),
        served("apps", "v1beta1", "Relic", "relics"),
        served("events.k8s.io", "v1", "Event", "events", short_names=("ev",)),
        served("example.com", "v1", "Deploy", "deploys", short_names=("po", "dp")),
        served("example.com", "v1", "PodSet", "podsets", singular="podset", short_names=("pods",)),
    ]
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pods", "v1, Resource=pods"),
        ("pod", "v1, Resource=pods"),
        ("Pod", "v1, Resource=pods"),
        ("po", "v1, Resource=pods"),
        ("deployments", "apps/v1, Resource=deployments"),
        ("deployments.apps", "apps/v1, Resource=deployments"),
        ("deployments.v1beta1.apps", "apps/v1beta1, Resource=deployments"),
        ("deploy.apps", "apps/v1, Resource=deployments"),
        ("deploy.v1beta1.apps", "apps/v1beta1, Resource=deployments"),
        ("relics", "apps/v1beta1, Resource=relics"),
        ("events", "v1, Resource=events"),
        ("events.events.k8s.io", "events.k8s.io/v1, Resource=events"),
        ("events.v1.events.k8s.io", "events.k8s.io/v1, Resource=events"),
        ("events.events", "events.k8s.io/v1, Resource=events"),
        ("deployments.ap", "apps/v1, Resource=deployments"),
        ("podsets", "example.com/v1, Resource=podsets"),
        ("dp", "example.com/v1, Resource=deploys"),
    ],
)
def test_a_name_finds_its_resource(name: str, expected: str):
    match = KNOWN.named(name)
    assert match is not None
    assert str(match.resource.gvr) == expected


def test_a_full_name_wins_over_a_short_one():
    # "deploy" is the singular of one resource and a short name of another; "pods" is a plural and a short name.
    assert [str(KNOWN.named(name).resource.gvr) for name in ("deploy", "pods")] == [
        "example.com/v1, Resource=deploys",
        "v1, Resource=pods",
    ]


@pytest.mark.parametrize("name", ["pd", "pods.apps", "deployments.v2.apps", "deployments.pps", "deployments.v1", "."])
def test_an_unknown_name_finds_nothing(name: str):
    assert KNOWN.named(name) is None


def test_an_ambiguous_short_name_means_the_first_and_lists_the_others():
    assert KNOWN.named("po").also == (GroupResource("example.com", "deploys"),)
    assert KNOWN.named("deploy.apps").also == ()  # two versions of one resource are no ambiguity


def test_a_kind_is_found_in_its_version_or_in_the_preferred_one():
    assert str(KNOWN.of_kind("apps", "Deployment").gvr) == "apps/v1, Resource=deployments"
    assert str(KNOWN.of_kind("apps", "Deployment", "v1beta1").gvr) == "apps/v1beta1, Resource=deployments"
    assert KNOWN.of_kind("apps", "Deployment", "v2") is None
    assert KNOWN.of_kind("", "Deployment") is None


def test_a_category_has_each_member_once():
    assert [str(each.gvr) for each in KNOWN.in_category("all")] == [
        "v1, Resource=pods",
        "apps/v1, Resource=deployments",
    ]


# --- at a server -----------------------------------------------------------------------------------------------------


async def test_a_mapper_finds_what_the_server_serves(client: ClientSet):
    mapper = client.mapper
    assert await mapper.resource_for("deploy") == await mapper.resource_for("apps/v1", "Deployment")
    assert await mapper.kind_for("deployments.v1.apps") == GroupVersionKind("apps", "v1", "Deployment")
    assert await mapper.kind_for("hpa") == GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
    assert "pods" in [each.plural for each in await mapper.in_category("all")]
    assert (await mapper.resource_for(GroupKind("apps", "Deployment"))).gvr == Deployment.resource.gvr
    assert len(await mapper.resources()) > 90


async def test_the_core_group_and_preferred_versions_have_precedence():
    core = aggregated(group("", version("v1", resource("things", "Thing"))))
    other = group("zoo.com", version("v2", resource("things", "Thing")), version("v1", resource("things", "Thing")))
    async with routed({"/api": core, "/apis": aggregated(other, APPS)}) as (_, client):
        assert str((await client.mapper.resource_for("things")).gvr) == "v1, Resource=things"
        assert str((await client.mapper.resource_for("things.zoo.com")).gvr) == "zoo.com/v2, Resource=things"
        assert (
            str((await client.mapper.resource_for(GroupKind("zoo.com", "Thing"))).gvr) == "zoo.com/v2, Resource=things"
        )


async def test_a_server_is_discovered_once():
    async with routed(DISCOVERY) as (documents, client):
        for name in ("pods", "po", "nodes", "deployments.apps", "v1 Node"):
            await client.mapper.resource_for(name)
        assert documents.paths == ["/api", "/apis"]


async def test_a_complete_resource_needs_no_discovery():
    async with routed({}) as (documents, client):
        assert await client.mapper.resource_for(Pod) == Pod.resource
        assert documents.requests == []


async def test_a_miss_renews_the_cache():
    async with routed(DISCOVERY) as (documents, client):
        await client.mapper.resource_for("pods")
        documents.routes |= WITH_WIDGETS
        assert (await client.mapper.resource_for("wd")).kind == "Widget"
        assert documents.paths == ["/api", "/apis"] * 2


async def test_a_miss_right_after_discovery_is_final():
    async with routed(DISCOVERY) as (documents, client):
        with pytest.raises(NoMatchError, match="the server has no resource wd"):
            await client.mapper.resource_for("wd")
        assert documents.paths == ["/api", "/apis"]


async def test_a_discovery_that_started_before_the_lookup_is_renewed():
    async with routed(DISCOVERY) as (documents, client):
        gate = documents.gates["/apis"] = asyncio.Event()
        earlier = asyncio.create_task(client.mapper.resource_for("pods"))
        await other_turns()
        documents.routes |= WITH_WIDGETS
        lookup = asyncio.create_task(client.mapper.resource_for("wd"))
        await other_turns()
        gate.set()
        assert (await lookup).kind == "Widget"
        assert (await earlier).kind == "Pod"


async def other_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_concurrent_misses_are_final_after_one_renewal():
    async with routed(DISCOVERY) as (documents, client):
        await client.mapper.resource_for("pods")
        documents.requests.clear()
        misses = await asyncio.gather(*(client.mapper.resource_for("wd") for _ in range(5)), return_exceptions=True)
        assert {type(each) for each in misses} == {NoMatchError}
        assert documents.paths == ["/api", "/apis"] * 2, "one for the first lookup, and one for those that came later"


async def test_concurrent_misses_renew_the_cache_once():
    async with routed(DISCOVERY) as (documents, client):
        await client.mapper.resource_for("pods")
        documents.routes |= WITH_WIDGETS
        found = await asyncio.gather(*(client.mapper.resource_for("wd") for _ in range(5)))
        assert {each.kind for each in found} == {"Widget"}
        assert documents.paths == ["/api", "/apis"] * 2


@pytest.mark.parametrize("used_before", [True, False])
async def test_a_cache_file_is_renewed_on_a_miss(tmp_path: Any, used_before: bool):
    async with routed(DISCOVERY) as (documents, client):
        await DiscoveryCache(client.discovery, folder=tmp_path).discovered()
        documents.routes |= WITH_WIDGETS
        documents.requests.clear()
        mapper = RESTMapper(DiscoveryCache(client.discovery, folder=tmp_path))
        if used_before:
            await mapper.resource_for("pods")
            assert documents.requests == []
        assert (await mapper.resource_for("wd")).kind == "Widget"


async def test_a_new_category_is_found():
    async with routed(DISCOVERY) as (documents, client):
        assert [each.plural for each in await client.mapper.in_category("all")] == ["pods", "deployments"]
        documents.routes |= {"/api": CORE, "/apis": aggregated(APPS, widgets(categories=["toys"]))}
        assert [each.plural for each in await client.mapper.in_category("toys")] == ["widgets"]
        with pytest.raises(NoMatchError, match="no resources in the category 'none'"):
            await client.mapper.in_category("none")


async def test_an_unavailable_group_does_not_hide_the_others():
    away = group("metrics.k8s.io", version("v1beta1", freshness="Stale"))
    async with routed({**DISCOVERY, "/apis": aggregated(APPS, away)}) as (_, client):
        assert (await client.mapper.resource_for("deploy")).kind == "Deployment"


async def test_an_ambiguous_short_name_is_warned_about_once(caplog: pytest.LogCaptureFixture):
    rival = group("example.com", version("v1", resource("polls", "Poll", shortNames=["po"])))
    async with routed({**DISCOVERY, "/apis": aggregated(APPS, rival)}) as (_, client):
        warnings: list[str] = []
        mapper = RESTMapper(client.discovery, on_warning=warnings.append)
        assert (await mapper.resource_for("po")).kind == "Pod"
        await mapper.resource_for("po")
        await mapper.resource_for("pods")
        assert warnings == ["'po' is ambiguous: using pods; also known: polls.example.com"]
        with caplog.at_level(logging.WARNING):
            await client.mapper.resource_for("po")
        assert caplog.messages == warnings


async def test_an_invalidated_mapper_discovers_again():
    async with routed(DISCOVERY) as (documents, client):
        await client.mapper.resource_for("pods")
        client.mapper.invalidate()
        await client.mapper.resource_for("pods")
        assert documents.paths == ["/api", "/apis"] * 2


@pytest.mark.parametrize(
    ("reference", "kind"),
    [("apps/v1", "deployments"), ("apps/v1", "deployment"), ("apps/v2", "Deployment"), ("apps/v1/deployments", "")],
)
async def test_an_unknown_reference_gets_a_suggestion(reference: str, kind: str):
    async with routed(DISCOVERY) as (_, client):
        with pytest.raises(
            NoMatchError, match=r"the server has no resource .*; did you mean apps/v1, Kind=Deployment\?"
        ):
            await client.mapper.resource_for(reference, kind)


# --- its client ------------------------------------------------------------------------------------------------------


async def test_a_mapper_without_arguments_uses_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with APIServer() as server:
        server.kubeconfig(tmp_path / "config")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        async with RESTMapper() as mapper:
            assert (await mapper.resource_for("deploy")).kind == "Deployment"
        with pytest.raises(UsageError, match="closed"):
            await _renewed(mapper)


async def test_a_mapper_that_was_not_entered_loads_its_configuration_with_the_first_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with APIServer() as server:
        server.kubeconfig(tmp_path / "config")
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        mapper = RESTMapper()
        assert (await mapper.resource_for("po")).kind == "Pod"
        await mapper.aclose()


async def test_a_mapper_of_a_configuration_closes_its_connections():
    async with APIServer() as server:
        async with RESTMapper(server.config) as mapper:
            assert (await mapper.resource_for("po")).kind == "Pod"
        with pytest.raises(UsageError, match="closed"):
            await _renewed(mapper)


async def test_a_mapper_does_not_close_what_it_shares():
    async with APIServer() as server, RESTClient(server.config) as rest:
        discovery = DiscoveryClient(rest)
        cache = DiscoveryCache(rest)
        for shared in (rest, discovery, cache):
            async with RESTMapper(shared) as mapper:
                assert (await mapper.resource_for("po")).kind == "Pod"
            assert (await _renewed(mapper)).kind == "Pod"
        async with DiscoveryCache(discovery):
            pass
        assert (await discovery.server_version()).major == "1"


async def test_a_cache_of_a_configuration_closes_its_connections(tmp_path: Path):
    async with APIServer() as server:
        async with DiscoveryCache(server.config, folder=tmp_path) as cache:
            assert (await RESTMapper(cache).resource_for("po")).kind == "Pod"
        cache.invalidate()
        with pytest.raises(UsageError, match="closed"):
            await cache.discovered()


async def _renewed(mapper: RESTMapper) -> Resource:
    mapper.invalidate()
    return await mapper.resource_for("po")
