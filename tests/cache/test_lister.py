import json
from dataclasses import dataclass

import pytest
from tests.cache.pods import names, pod

from listwatch.cache.indexer import Indexer
from listwatch.cache.keys import NAMESPACE, namespace_of
from listwatch.cache.lister import Lister
from listwatch.errors import NotFoundError, SelectorError
from listwatch.meta import GroupResource
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import Event, Node, Pod, Secret
from listwatch.objects.unstructured import Unstructured
from listwatch.selectors import LabelSelector

PODS = GroupResource("", "pods")


def lister_of(*items, indexers=None, resource=PODS):
    indexer = Indexer(indexers={NAMESPACE: namespace_of} if indexers is None else indexers)
    indexer.replace(items, "1")
    return Lister(indexer, resource)


# --- By name ----------------------------------------------------------------------------------------------------------


def test_an_object_is_read_by_its_key_or_by_its_name_in_its_namespace():
    item = pod("web-0")
    pods = lister_of(item)

    assert pods.get("default/web-0") is pods.namespace("default").get("web-0") is item


def test_a_cluster_scoped_object_is_read_by_its_name():
    node = Node.from_dict({"metadata": {"name": "n1"}})

    assert lister_of(node, resource=GroupResource("", "nodes")).get("n1") is node


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda lister: lister.get("default/web-0"), 'deployments.apps "default/web-0" not found'),
        (lambda lister: lister.namespace("default").get("web-0"), 'deployments.apps "default/web-0" not found'),
        (lambda lister: lister.get("web-0"), 'deployments.apps "web-0" not found'),
    ],
)
def test_a_missing_object_raises_an_error_that_names_it(read, message):
    with pytest.raises(NotFoundError) as caught:
        read(lister_of(resource=GroupResource("apps", "deployments")))

    assert caught.value.message == message
    assert (caught.value.details.kind, caught.value.details.group) == ("deployments", "apps")


# --- By namespace and labels ------------------------------------------------------------------------------------------


@pytest.fixture
def pods():
    return lister_of(
        pod("web-0", labels={"app": "web", "tier": "front"}),
        pod("web-1", labels={"app": "web"}),
        pod("api-0", labels={"app": "api"}),
        pod("bare-0"),
        pod("web-0", namespace="other", labels={"app": "web"}),
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, "api-0 bare-0 web-0 web-0 web-1"),
        ("", "api-0 bare-0 web-0 web-0 web-1"),
        ("app=web", "web-0 web-0 web-1"),
        ("app in (web, api)", "api-0 web-0 web-0 web-1"),
        ("app notin (web)", "api-0 bare-0"),
        ("app=web,!tier", "web-0 web-1"),
        ({"app": "web", "tier": None}, "web-0"),
        ({"app": ["api"]}, "api-0"),
        (LabelSelector.everything(), "api-0 bare-0 web-0 web-0 web-1"),
        (LabelSelector.nothing(), ""),
        ("app=unknown", ""),
    ],
)
def test_a_label_selector_selects_as_it_does_on_a_server(pods, selector, expected):
    assert " ".join(names(pods.list(selector))) == expected


def received(name: str, padding: str = "") -> Pod:
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1", "labels": {"app": name}}
    return Pod.from_json(json.dumps({"metadata": {**metadata, "managedFields": [{"manager": padding}]}}))


def changed(name: str) -> Pod:
    item = received("before")
    item.metadata.name = name
    item.metadata.labels = {"app": "web"}
    return item


@pytest.mark.parametrize("selector", ["app", "app=web", "!app", "app!=web", "app=web,tier!=x", "app in (api,large)"])
def test_a_selector_selects_by_the_current_labels_of_objects_in_any_state(selector):
    opened = received("opened")
    assert opened.metadata.labels == {"app": "opened"}
    foreign = Service("default/foreign", {"app": "web"})
    items = [received("web"), received("large", 2_000 * "x"), pod("api", labels={"app": "api"}), changed("changed")]
    items += [opened, pod("bare"), Unstructured.from_wire(received("web-2")._raw)]
    wanted = LabelSelector.parse(selector)

    for stored in (items, [*items, foreign], [foreign, *items]):
        pods = lister_of(*stored)
        for _ in range(2):  # the labels are decoded the first time
            assert pods.list(selector) == [item for item in stored if wanted.matches(item.labels)]


@dataclass
class Service:
    cache_key: str
    labels: dict[str, str]
    resource_version: str = "1"


def test_a_selector_for_nothing_does_not_read_the_objects():
    class Untouchable(Indexer):
        def list(self):
            raise AssertionError("the objects were read")

    assert Lister(Untouchable(), PODS).list(LabelSelector.nothing()) == []


def test_a_namespace_is_read_alone_and_an_empty_name_selects_all():
    pods = lister_of(pod("a"), pod("b", namespace="other"))

    assert names(pods.namespace("default").list()) == ["a"]
    assert names(pods.namespace("nowhere").list()) == []
    assert names(pods.namespace("").list()) == ["a", "b"]
    assert pods.namespace("").get("other/b").name == "b"


def test_a_namespace_is_read_without_an_index_too():
    pods = lister_of(pod("a"), pod("b", namespace="other"), indexers={})

    assert names(pods.namespace("other").list()) == ["b"]


def test_objects_are_returned_without_a_copy(pods):
    assert pods.list("tier=front")[0] is pods.get("default/web-0")


def test_a_malformed_selector_is_an_error_even_for_an_empty_cache():
    with pytest.raises(SelectorError):
        lister_of().list("app in")
    with pytest.raises(SelectorError):
        lister_of().list(field_selector="spec.nodeName")


def test_the_repr_of_a_lister_shows_resource_and_namespace(pods):
    assert repr(pods) == "<Lister of pods>"
    assert repr(pods.namespace("default")) == "<NamespaceLister of pods in default>"


# --- By fields --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("spec.nodeName=n1", "web-0"),
        ("spec.nodeName!=n1", "bare-0 web-1"),
        ("spec.nodeName=", "bare-0"),
        ("metadata.name=web-1", "web-1"),
        ("metadata.namespace=default,metadata.name!=web-0", "bare-0"),
        ({"spec.nodeName": "n2"}, "web-1"),
        ("metadata.namespace=other", "web-1"),
    ],
)
def test_a_field_selector_selects_by_cached_fields(selector, expected):
    pods = lister_of(pod("web-0", node="n1"), pod("web-1", node="n2", namespace="other"), pod("bare-0"))

    assert " ".join(names(pods.list(field_selector=selector))) == expected


def test_both_selectors_must_match():
    pods = lister_of(pod("a", node="n1", labels={"app": "web"}), pod("b", node="n1"), pod("c", labels={"app": "web"}))

    assert names(pods.namespace("default").list("app=web", field_selector="spec.nodeName=n1")) == ["a"]


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "default",
        "generation": 3,
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "annotations": {"owner": "me"},
    },
    "spec": {
        "nodeName": "n1",
        "hostNetwork": True,
        "priority": 5,
        "containers": [],
        "securityContext": {"runAsUser": 7},
    },
    "status": {"phase": "Running"},
}


def untouched(kind, tree):
    return kind.from_wire(json.dumps(tree).encode())


def touched(kind, tree):
    item = untouched(kind, tree)
    for part in ("metadata", "spec", "status"):
        item[part] if isinstance(item, Unstructured) else getattr(item, part)
    return item


def split(kind, tree):
    item = untouched(kind, tree)
    item.part("spec")
    return item


@pytest.mark.parametrize("made", [untouched, touched, split])
@pytest.mark.parametrize("kind", [Pod, Unstructured])
@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("spec.nodeName", "n1"),
        ("spec.hostNetwork", "true"),
        ("spec.priority", "5"),
        ("spec.securityContext.runAsUser", "7"),
        ("spec.containers", ""),
        ("status.phase", "Running"),
        ("status.podIP", ""),
        ("status", ""),
        ("metadata.generation", "3"),
        ("metadata.annotations.owner", "me"),
        ("metadata.annotations.other", ""),
        ("metadata.creationTimestamp", "2026-01-02T03:04:05Z"),
    ],
)
def test_a_field_has_the_same_text_for_typed_and_unstructured_objects(kind, made, field, text):
    pods = lister_of(made(kind, POD))

    assert len(pods.list(field_selector={field: text})) == 1
    assert pods.list(field_selector={field: text + "x"}) == []


@pytest.mark.parametrize(
    ("item", "field", "text"),
    [
        (Node.from_dict({"metadata": {"name": "n1"}}), "spec.unschedulable", "false"),
        (Node.from_dict({"metadata": {"name": "n1"}, "spec": None}), "spec.unschedulable", "false"),
        (Deployment.from_dict({"metadata": {"name": "web"}}), "status.replicas", "0"),
        (Deployment(), "metadata.generation", "0"),
        (pod("web-0"), "status.phase", ""),
        (Secret.from_dict({"metadata": {"name": "s"}, "type": "Opaque"}), "type", "Opaque"),
        (Event.from_dict({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"}}), "involvedObject.kind", "Pod"),
        (Unstructured({"metadata": {"name": "x"}, "spec": {"size": 2.5}}), "spec.size", "2.5"),
        (Unstructured({"metadata": {"name": "x"}, "spec": "text"}), "spec.size", ""),
        (Unstructured({"metadata": {"name": "x"}, "spec": [1]}), "spec.size.deep", ""),
        (Unstructured({"metadata": {"name": "x"}}), "no.such.thing", ""),
    ],
)
def test_an_absent_field_has_the_text_that_a_server_compares(item, field, text):
    indexer = Indexer()
    indexer.replace({"it": item}, "1")

    assert Lister(indexer, PODS).list(field_selector={field: text}) == [item]


def test_the_current_value_of_a_changed_field_is_compared():
    typed, free = Pod.from_dict(POD), Unstructured(POD)
    typed.spec.node_name = "n2"
    free["spec"]["nodeName"] = "n2"

    for item in (typed, free):
        assert lister_of(item).list(field_selector="spec.nodeName=n2") == [item]
        assert lister_of(item).list(field_selector="spec.nodeName=n1") == []


@pytest.mark.parametrize(
    "field", ["spec.nodename", "nothing", "metadata.nothing", "spec.containers.name", "spec.nodeName.x"]
)
def test_a_field_that_the_kind_does_not_have_is_an_error(field):
    with pytest.raises(SelectorError, match=f"Pod has no field '{field}'; select by an existing field"):
        lister_of(pod("web-0")).list(field_selector={field: ""})


def test_selecting_by_fields_does_not_change_the_objects():
    item = untouched(Pod, POD)
    found = lister_of(item).list(field_selector="spec.nodeName=n1,status.phase=Running")

    assert len(found) == 1
    assert (vars(item), item._parts) == ({}, None)
