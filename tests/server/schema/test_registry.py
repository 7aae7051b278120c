"""The registry of served resources, and their traits."""

import pytest

from listwatch.meta import Resource
from listwatch.server.schema.registry import CUSTOM_RESOURCE, Registry, Traits

WIDGET = Resource("example.com", "v1", "Widget", "widgets")


@pytest.fixture(scope="module")
def builtin() -> Registry:
    return Registry.builtin()


def find(registry: Registry, path: str) -> Resource:
    *group, version, plural = path.split("/")
    found = registry.lookup("".join(group), version, plural)
    assert found, path
    return found


def test_built_in_resources_are_found_by_group_version_and_plural(builtin):
    assert find(builtin, "v1/pods").kind == "Pod"
    assert find(builtin, "apps/v1/deployments").namespaced
    assert builtin.lookup("", "v1", "deployments") is None
    assert builtin.lookup("apps", "v2", "deployments") is None
    assert builtin.lookup("unknown.example.com", "v1", "pods") is None


def test_the_core_group_comes_first_and_each_group_starts_with_its_preferred_version(builtin):
    assert builtin.groups()[0] == ""
    assert builtin.versions("autoscaling") == ("v2", "v1")
    assert builtin.versions("resource.k8s.io")[0] == "v1"
    assert builtin.versions("unknown.example.com") == ()
    assert [each.plural for each in builtin.resources("batch", "v1")] == ["cronjobs", "jobs"]


def test_all_versions_of_a_resource_share_a_storage_id(builtin):
    old, new = (
        find(builtin, "autoscaling/v1/horizontalpodautoscalers"),
        find(builtin, "autoscaling/v2/horizontalpodautoscalers"),
    )
    assert builtin.storage_id(old) == builtin.storage_id(new) == "autoscaling/horizontalpodautoscalers"
    assert builtin.stored_as(old) is new


def test_a_resource_of_only_an_old_version_is_stored_in_that_version(builtin):
    candidates = find(builtin, "coordination.k8s.io/v1alpha2/leasecandidates")
    assert builtin.stored_as(candidates).version == "v1beta1"


def test_events_are_one_resource_in_two_groups(builtin):
    core, other = find(builtin, "v1/events"), find(builtin, "events.k8s.io/v1/events")
    assert builtin.storage_id(core) == builtin.storage_id(other) == "/events"
    assert builtin.stored_as(other) is core


@pytest.mark.parametrize(
    ("path", "traits"),
    [
        ("v1/pods", Traits(graceful=True, has_generation=True, returns_deleted=True)),
        ("v1/configmaps", Traits()),
        ("v1/namespaces", Traits(returns_deleted=True, name_rule="dns_label")),
        ("v1/services", Traits(create_on_update=True, returns_deleted=True, name_rule="dns_label")),
        ("v1/bindings", Traits(stored=False)),
        ("apps/v1/statefulsets", Traits(has_generation=True, name_rule="dns_label")),
        ("coordination.k8s.io/v1/leases", Traits(create_on_update=True, unconditional_update=False)),
        ("rbac.authorization.k8s.io/v1/roles", Traits(create_on_update=True, name_rule="path_segment")),
        ("authorization.k8s.io/v1/subjectaccessreviews", Traits(stored=False)),
        ("events.k8s.io/v1/events", Traits(create_on_update=True)),
    ],
)
def test_built_in_resources_have_their_traits(builtin, path, traits):
    assert builtin.traits(find(builtin, path)) == traits


def test_everything_that_can_be_listed_is_stored_except_component_statuses(builtin):
    everything = [
        each
        for group in builtin.groups()
        for version in builtin.versions(group)
        for each in builtin.resources(group, version)
    ]
    unstored = {each.plural for each in everything if "list" in each.verbs and not builtin.traits(each).stored}
    assert unstored == {"componentstatuses"}


def test_a_custom_resource_can_be_added_and_removed():
    registry = Registry()
    before = registry.generation
    registry.add(WIDGET)
    assert registry.lookup("example.com", "v1", "widgets") is WIDGET
    assert registry.traits(WIDGET) == CUSTOM_RESOURCE
    added = registry.generation
    assert added > before
    registry.remove(WIDGET)
    assert registry.lookup("example.com", "v1", "widgets") is None
    assert registry.groups() == ()
    assert registry.generation > added


def test_a_version_added_later_can_become_the_preferred_one():
    registry = Registry()
    registry.add(Resource("example.com", "v1beta1", "Widget", "widgets"))
    registry.add(WIDGET)
    registry.add(Resource("example.com", "v1alpha1", "Widget", "widgets"))
    assert registry.versions("example.com") == ("v1", "v1beta1", "v1alpha1")
    registry.remove(WIDGET)
    assert registry.versions("example.com") == ("v1beta1", "v1alpha1")


def test_adding_a_resource_again_replaces_it():
    registry = Registry()
    registry.add(WIDGET)
    renamed = Resource("example.com", "v1", "Gadget", "widgets")
    registry.add(renamed, Traits())
    assert registry.resources("example.com", "v1") == (renamed,)
    assert registry.traits(renamed) == Traits()
