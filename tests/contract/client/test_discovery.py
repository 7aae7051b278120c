"""Discovery and the REST mapper."""

import pytest

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import NoMatchError, NotFoundError
from listwatch.meta import GroupVersionKind, GroupVersionResource
from listwatch.models.apps_v1 import Deployment


@pytest.mark.parametrize("aggregated", [True, False])
async def test_groups_and_resources_are_discovered(config: ClientConfig, aggregated: bool):
    async with DiscoveryClient(config, aggregated=aggregated) as discovery:
        found = await discovery.server_groups_and_resources()
        assert await discovery.server_groups() == found.groups
    assert found.groups[0].name == ""
    assert {"apps", "batch", "rbac.authorization.k8s.io"} <= {group.name for group in found.groups}
    by_path = {(each.api_version, each.plural): each for each in found.resources}
    deployments = by_path["apps/v1", "deployments"]
    assert (deployments.kind, deployments.singular, deployments.namespaced) == ("Deployment", "deployment", True)
    assert deployments.short_names == ("deploy",)
    assert "all" in deployments.categories
    assert {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"} <= {*deployments.verbs}
    scale = next(each for each in deployments.subresources if each.name == "scale")
    assert scale.gvk == GroupVersionKind("autoscaling", "v1", "Scale")
    assert not by_path["v1", "nodes"].namespaced


async def test_both_forms_of_discovery_find_the_same(config: ClientConfig):
    async with DiscoveryClient(config) as at_once, DiscoveryClient(config, aggregated=False) as one_by_one:
        first, second = await at_once.server_groups_and_resources(), await one_by_one.server_groups_and_resources()
    assert {each.name: each.preferred_version for each in first.groups} == {
        each.name: each.preferred_version for each in second.groups
    }
    assert {(each.gvk, each.plural, each.verbs, each.short_names) for each in first.resources} == {
        (each.gvk, each.plural, each.verbs, each.short_names) for each in second.resources
    }


async def test_one_group_version_is_discovered_alone(client: ClientSet):
    assert {"deployments", "statefulsets"} <= {
        each.plural for each in await client.discovery.server_resources("apps/v1")
    }
    with pytest.raises(NotFoundError):
        await client.discovery.server_resources("nothing.example.com/v1")


async def test_preferred_resources_has_each_resource_once(client: ClientSet):
    preferred = await client.discovery.preferred_resources()
    versions = [
        each.version for each in preferred if each.group_resource == ("autoscaling", "horizontalpodautoscalers")
    ]
    assert versions == ["v2"]


async def test_the_version_of_the_server_is_read(client: ClientSet):
    version = await client.discovery.server_version()
    assert version.major == "1"
    assert int(version.minor.rstrip("+")) >= 30
    assert str(version) == version.git_version


@pytest.mark.parametrize(
    "of",
    [
        Deployment,
        "deployments",
        "deployment",
        "deploy",
        "deployments.apps",
        "apps/v1 Deployment",
        ("apps/v1", "Deployment"),
        GroupVersionKind("apps", "v1", "Deployment"),
        GroupVersionResource("apps", "v1", "deployments"),
    ],
)
async def test_a_resource_is_found_by_any_of_its_names(client: ClientSet, of: object):
    mapper = RESTMapper(client.discovery)
    found = await mapper.resource_for(of)
    assert (found.api_version, found.plural, found.kind) == ("apps/v1", "deployments", "Deployment")
    assert await mapper.kind_for(of) == GroupVersionKind("apps", "v1", "Deployment")


async def test_a_mapper_finds_categories_and_rejects_unknown_names(client: ClientSet):
    assert {"pods", "services", "deployments"} <= {each.plural for each in await client.mapper.in_category("all")}
    for of in ("gadgets", "apps/v1 Gadget"):
        with pytest.raises(NoMatchError, match=r"(?i)gadget"):
            await client.mapper.resource_for(of)
    with pytest.raises(NoMatchError):
        await client.mapper.in_category("nothing")
