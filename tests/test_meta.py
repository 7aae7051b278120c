import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import BadKeyError, BadNameError, RequestError, ResourceVersionError
from listwatch.meta import (
    ClusterKey,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
    Resource,
    Subresource,
    compare_resource_versions,
    is_newer,
    join_api_version,
    path_segment,
    split_api_version,
    version_priority,
)

PODS = Resource(
    "",
    "v1",
    "Pod",
    "pods",
    verbs=("get", "list"),
    short_names=("po",),
    categories=("all",),
    subresources=(Subresource("status", "", "v1", "Pod", ("get", "patch")), Subresource("log", "", "v1", "Pod")),
)
DEPLOYMENTS = Resource(
    "apps", "v1", "Deployment", "deployments", subresources=(Subresource("scale", "autoscaling", "v1", "Scale"),)
)
ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)

names = st.text(st.characters(blacklist_characters="/%", blacklist_categories=["Cs"]), min_size=1).filter(
    lambda text: text not in (".", "..")
)
words = st.from_regex(r"[a-zA-Z][a-zA-Z0-9-]*", fullmatch=True)
groups = st.from_regex(r"([a-z][a-z0-9-]*(\.[a-z]+)*)?", fullmatch=True)


# --- Keys -------------------------------------------------------------------------------------------------------------


@given(
    namespace=st.one_of(st.just(""), names), name=names, cluster=st.sampled_from(["eu", "kind#dev", "arn:x:cluster/a"])
)
def test_a_key_with_a_cluster_survives_printing_copying_and_pickling(namespace: str, name: str, cluster: str):
    key = ObjectKey(namespace, name).in_cluster(cluster)
    assert (key.namespace, key.name, key.cluster) == (namespace, name, cluster)
    assert ClusterKey.parse(str(key)) == key
    for same in (copy.copy(key), pickle.loads(pickle.dumps(key)), key._replace(), ClusterKey(**key._asdict())):
        assert (same, hash(same), type(same)) == (key, hash(key), ClusterKey)


def test_keys_of_different_clusters_and_of_none_are_different():
    plain = ObjectKey("default", "web")
    keys = {plain, plain.in_cluster("eu"), plain.in_cluster("us")}
    assert len(keys) == 3
    assert plain.cluster == ""
    assert repr(plain.in_cluster("eu")) == "ClusterKey(namespace='default', name='web', cluster='eu')"
    assert plain.in_cluster("eu").in_cluster("us") == plain.in_cluster("us")


@pytest.mark.parametrize("text", ["", "web", "default/web", "//web"])
def test_a_text_without_a_cluster_is_no_cluster_key(text: str):
    with pytest.raises(BadKeyError, match="cluster/namespace/name"):
        ClusterKey.parse(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("default/web-0", ObjectKey("default", "web-0")),
        ("node-1", ObjectKey("", "node-1")),
        ("system:node", ObjectKey("", "system:node")),
    ],
)
def test_a_key_reads_and_prints_with_and_without_a_namespace(text, key):
    assert ObjectKey.parse(text) == key
    assert str(key) == text


@pytest.mark.parametrize("text", ["a/b/c", "//", "a/b/"])
def test_a_key_of_more_than_two_parts_is_refused(text):
    with pytest.raises(BadKeyError, match="namespace/name") as caught:
        ObjectKey.parse(text)
    assert caught.value.text == text


@given(st.text().filter(lambda t: "/" not in t), st.text(min_size=1).filter(lambda t: "/" not in t))
def test_every_key_survives_printing_and_parsing(namespace, name):
    key = ObjectKey(namespace, name)
    assert ObjectKey.parse(str(key)) == key


# --- Resource versions ------------------------------------------------------------------------------------------------

valid_versions = st.integers(min_value=1).map(str) | st.integers(1, 10**60).map(str)


@given(valid_versions, valid_versions)
def test_resource_versions_compare_as_the_numbers_they_are(left, right):
    expected = (int(left) > int(right)) - (int(left) < int(right))
    assert compare_resource_versions(left, right) == expected
    assert is_newer(left, right) is (int(left) > int(right))


def test_resource_versions_of_any_length_compare():
    assert is_newer("1" + "0" * 10_000, "9" * 10_000)
    assert compare_resource_versions("9" * 10_000, "9" * 10_000) == 0


INVALID_VERSIONS = ["", "0", "007", "-1", "+1", "1.5", "1e3", " 1", "1\n", "1_000", "abc", "0x10", "²", "１２", "٣"]


@pytest.mark.parametrize("text", INVALID_VERSIONS)
@pytest.mark.parametrize("swap", [False, True])
def test_only_positive_decimal_numbers_can_be_compared(text, swap):
    pair = ("5", text) if swap else (text, "5")
    with pytest.raises(ResourceVersionError) as caught:
        compare_resource_versions(*pair)
    assert caught.value.text == text
    with pytest.raises(ResourceVersionError):
        is_newer(*pair)


@given(st.text())
def test_any_text_is_comparable_with_itself_or_refused(text):
    is_valid = text.isascii() and text.isdigit() and not text.startswith("0")
    if is_valid:
        assert compare_resource_versions(text, text) == 0
    else:
        with pytest.raises(ResourceVersionError):
            compare_resource_versions(text, text)


# --- API versions, kinds, resources -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"), [("v1", ("", "v1")), ("apps/v1", ("apps", "v1")), ("a.b.io/v1beta1", ("a.b.io", "v1beta1"))]
)
def test_an_api_version_splits_into_group_and_version_and_joins_again(text, parts):
    assert split_api_version(text) == parts
    assert join_api_version(*parts) == text
    assert GroupVersion.parse(text) == parts
    assert str(GroupVersion(*parts)) == GroupVersion(*parts).api_version == text


@pytest.mark.parametrize("text", ["", "/", "apps/", "/v1", "a/b/c", "a//v1"])
def test_an_invalid_api_version_is_rejected(text):
    for read in (split_api_version, GroupVersion.parse, lambda t: GroupVersionKind.of(t, "Pod")):
        with pytest.raises(BadNameError, match="group/version") as caught:
            read(text)
        assert caught.value.text == text


def test_names_print_as_kubernetes_prints_them():
    assert str(GroupVersionKind("apps", "v1", "Deployment")) == "apps/v1, Kind=Deployment"
    assert str(GroupVersionKind("", "v1", "Pod")) == "v1, Kind=Pod"
    assert str(GroupVersionResource("apps", "v1", "deployments")) == "apps/v1, Resource=deployments"
    assert str(GroupKind("apps", "Deployment")) == "Deployment.apps"
    assert str(GroupKind("", "Pod")) == "Pod"
    assert str(GroupResource("apps", "deployments")) == "deployments.apps"


@given(groups, words, words)
def test_every_name_survives_printing_and_parsing(group, version, word):
    for name in (
        GroupVersion(group, version),
        GroupKind(group, word),
        GroupResource(group, word),
        GroupVersionKind(group, version, word),
        GroupVersionResource(group, version, word),
    ):
        parsed = type(name).parse(str(name))
        assert parsed == name
        assert type(parsed) is type(name)


@given(groups, words, words)
def test_kinds_and_resources_also_read_as_typed_on_a_command_line(group, version, word):
    assert GroupVersionKind.parse(f"{word}.{version}.{group}") == (group, version, word)
    assert GroupVersionResource.parse(f"{word}.{version}.{group}") == (group, version, word)


def test_the_core_group_may_be_left_out_on_a_command_line():
    assert GroupVersionKind.parse("Pod.v1") == GroupVersionKind("", "v1", "Pod")


@pytest.mark.parametrize("text", ["", "Pod", ".v1.apps", "Pod.", "apps/v1, Kind=", "a.b, Kind="])
def test_text_that_names_no_kind_is_rejected(text):
    with pytest.raises(BadNameError) as caught:
        GroupVersionKind.parse(text)
    assert caught.value.text == text


@pytest.mark.parametrize("read", [GroupKind.parse, GroupResource.parse])
def test_a_group_alone_names_neither_kind_nor_resource(read):
    for text in ("", ".apps"):
        with pytest.raises(BadNameError):
            read(text)


def test_a_kind_is_made_from_the_two_fields_of_an_object():
    kind = GroupVersionKind.of("apps/v1", "Deployment")
    assert kind == GroupVersionKind("apps", "v1", "Deployment")
    assert (kind.api_version, kind.group_version, kind.group_kind) == (
        "apps/v1",
        ("apps", "v1"),
        ("apps", "Deployment"),
    )


def test_a_resource_name_has_parts():
    name = GroupVersionResource.of("v1", "pods")
    assert (name.api_version, name.group_version, name.group_resource) == ("v1", ("", "v1"), ("", "pods"))


def test_the_preferred_version_sorts_first():
    ordered = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    by_name = sorted(ordered)
    assert sorted(by_name, key=version_priority) == ordered


@pytest.mark.parametrize(
    "text", ["", "V1", "v", "v1gamma1", "v1beta", "v1 ", "v1\n", "x1", "v1.0", "v٣", "v" + "9" * 5000]
)
def test_a_version_of_another_form_sorts_last(text):
    assert sorted([text, "v1alpha1"], key=version_priority) == ["v1alpha1", text]


@given(st.lists(st.text() | st.from_regex(r"v[0-9]+((alpha|beta)[0-9]+)?", fullmatch=True)))
def test_any_versions_can_be_sorted_and_the_order_is_always_the_same(versions):
    assert sorted(versions, key=version_priority) == sorted(sorted(versions), key=version_priority)


# --- Served resources -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "version", "attribute"),
    [
        ("", "v1", "core_v1"),
        ("apps", "v1", "apps_v1"),
        ("rbac.authorization.k8s.io", "v1", "rbac_v1"),
        ("networking.k8s.io", "v1beta1", "networking_v1beta1"),
        ("cert-manager.io", "v1", "cert_manager_v1"),
    ],
)
def test_a_group_version_is_named_in_python_by_the_first_label_of_its_group(group, version, attribute):
    assert GroupVersion(group, version).attribute == attribute
    assert Resource(group, version, "X", "xs").attribute == attribute


def test_a_resource_has_all_its_names():
    assert PODS.gvk == GroupVersionKind("", "v1", "Pod")
    assert PODS.gvr == GroupVersionResource("", "v1", "pods")
    assert PODS.group_version == GroupVersion("", "v1")
    assert DEPLOYMENTS.group_resource == GroupResource("apps", "deployments")
    assert DEPLOYMENTS.api_version == "apps/v1"


def test_singular_and_list_kind_follow_the_kind_unless_they_are_given():
    assert (PODS.singular, PODS.list_kind) == ("pod", "PodList")
    odd = Resource("x.io", "v1", "Datum", "data", singular="piece", list_kind="Data")
    assert (odd.singular, odd.list_kind) == ("piece", "Data")


def test_a_subresource_has_the_kind_of_its_body():
    scale = DEPLOYMENTS.subresource("scale")
    assert scale is not None
    assert scale.gvk == GroupVersionKind("autoscaling", "v1", "Scale")
    assert PODS.subresource("scale") is None


def test_a_resource_cannot_be_changed_and_can_be_a_key():
    with pytest.raises(AttributeError):
        PODS.plural = "peas"  # type: ignore[misc]  # the point of the test
    assert {PODS: 1}[copy.copy(PODS)] == 1
    assert pickle.loads(pickle.dumps(PODS)) == PODS


@pytest.mark.parametrize(
    ("resource", "place", "path"),
    [
        (PODS, {}, "/api/v1/pods"),
        (PODS, {"namespace": ""}, "/api/v1/pods"),
        (PODS, {"namespace": "ns"}, "/api/v1/namespaces/ns/pods"),
        (PODS, {"namespace": "ns", "name": "web-0"}, "/api/v1/namespaces/ns/pods/web-0"),
        (
            PODS,
            {"namespace": "ns", "name": "web-0", "subresource": "status"},
            "/api/v1/namespaces/ns/pods/web-0/status",
        ),
        (PODS, {"namespace": "ns", "name": "p", "subresource": "proxy/a/b"}, "/api/v1/namespaces/ns/pods/p/proxy/a/b"),
        (DEPLOYMENTS, {"namespace": "ns", "name": "web"}, "/apis/apps/v1/namespaces/ns/deployments/web"),
        (ROLES, {}, "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
        (ROLES, {"name": "system:node"}, "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"),
        (ROLES, {"name": "a?b#c d"}, "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Fb%23c%20d"),
    ],
)
def test_a_path_leads_to_the_collection_the_object_or_the_subresource(resource, place, path):
    assert resource.path(**place) == path


@pytest.mark.parametrize(
    ("resource", "place", "why"),
    [
        (ROLES, {"namespace": "ns"}, "are cluster-scoped"),
        (PODS, {"name": "web-0"}, "the namespace is missing"),
        (PODS, {"namespace": "", "name": "web-0"}, "the namespace is missing"),
        (PODS, {"namespace": "ns", "subresource": "status"}, "the name of the object is missing"),
        (PODS, {"namespace": "ns", "name": ""}, "name is empty"),
        (PODS, {"namespace": "..", "name": "x"}, "is not a valid namespace"),
        (PODS, {"namespace": "ns", "name": "."}, "is not a valid name"),
        (PODS, {"namespace": "ns", "name": "a/b"}, "is not a valid name"),
        (PODS, {"namespace": "ns", "name": "a%2fb"}, "is not a valid name"),
        (PODS, {"namespace": "ns", "name": "p", "subresource": "proxy/../x"}, "is not a valid subresource"),
        (PODS, {"namespace": "ns", "name": "p", "subresource": ""}, "subresource is empty"),
    ],
)
def test_a_path_that_cannot_be_is_refused_with_the_reason(resource, place, why):
    with pytest.raises(RequestError, match=why):
        resource.path(**place)


@given(names)
def test_a_name_never_leaves_its_part_of_the_path(name):
    segment = path_segment(name, "name")
    assert segment
    assert not set("/?# ") & set(segment)
    assert segment.isascii()
