"""ResourceClient, on the embedded server or on scripted responses."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.client.scripted import scripted
from tests.client.seeding import seed_config_maps

from listwatch.api.patches import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, PatchType
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    DecodeError,
    ExpiredError,
    InvalidError,
    NotFoundError,
    RequestError,
    SelectorError,
)
from listwatch.meta import Resource
from listwatch.models.apps_v1 import Deployment, DeploymentSpec
from listwatch.models.core_v1 import (
    ConfigMap,
    Container,
    Pod,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    ServiceAccount,
)
from listwatch.models.meta_v1 import LabelSelector
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.object import Object, lazy
from listwatch.server import APIServer
from listwatch.testing.scripted_server import LAST_CHUNK, ScriptedServer, chunk, respond, stream_head

TEXT = {"Content-Type": "text/plain"}


@pytest.fixture
def config_maps(client: ClientSet) -> ResourceClient[ConfigMap]:
    return client.core_v1.configmaps("default")


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


def pod(name: str, *, node: str = "", labels: dict[str, str] | None = None) -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="nginx")], node_name=node or None)
    return Pod(metadata=ObjectMeta(name=name, labels=labels or {}), spec=spec)


# --- one object ------------------------------------------------------------------------------------------------------


async def test_an_object_lives_from_its_creation_to_its_deletion(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a", x="1"))
    assert (made.namespace, made.data, bool(made.uid)) == ("default", {"x": "1"}, True)

    made.data["y"] = "2"
    changed = await config_maps.update(made)
    assert changed.resource_version != made.resource_version

    assert (await config_maps.get("a")).data == {"x": "1", "y": "2"}
    assert await config_maps.delete("a") is None
    with pytest.raises(NotFoundError, match='configmaps "a" not found'):
        await config_maps.get("a")


async def test_a_dict_may_omit_api_version_and_kind(client: ClientSet):
    made = await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert isinstance(made, ConfigMap)
    await client.core_v1.configmaps("default").update({**made.to_dict(), "data": {"x": "2"}})
    assert (await client.core_v1.configmaps("default").get("a")).data == {"x": "2"}


async def test_a_body_that_is_not_an_object_is_rejected(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(RequestError, match="configmaps: expected a ConfigMap or a dict, not a str"):
        await config_maps.create("name: a")


async def test_a_client_for_all_namespaces_uses_that_of_the_object(client: ClientSet):
    all_namespaces = client.core_v1.configmaps()
    given = ConfigMap(metadata=ObjectMeta(name="a", namespace="kube-system"))
    made = await all_namespaces.create(given)
    assert made.namespace == "kube-system"
    made.data["x"] = "1"
    assert (await all_namespaces.update(made)).data == {"x": "1"}


@pytest.mark.parametrize(
    "request_of",
    [
        lambda maps: maps.get("a"),
        lambda maps: maps.delete("a"),
        lambda maps: maps.patch("a", {}),
        lambda maps: maps.create(config_map("a")),
        lambda maps: maps.update(config_map("a")),
        lambda maps: maps.subresource("status").get("a"),
    ],
    ids=["get", "delete", "patch", "create", "update", "subresource"],
)
async def test_one_object_needs_a_namespace(client: ClientSet, server: APIServer, request_of: Any):
    with pytest.raises(RequestError, match=r"configmaps.* needs a namespace: select one, as in .namespace"):
        await request_of(client.core_v1.configmaps())
    assert not list(server.requests)


async def test_a_cluster_scoped_resource_rejects_a_namespace(client: ClientSet, server: APIServer):
    with pytest.raises(RequestError, match="nodes are cluster-scoped; remove the namespace 'default'"):
        await client.core_v1.nodes().namespace("default").get("n1")
    assert not list(server.requests)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%2Fb"])
async def test_a_name_cannot_change_the_path(config_maps: ResourceClient[ConfigMap], server: APIServer, name: str):
    with pytest.raises(RequestError):
        await config_maps.get(name)
    assert not list(server.requests)


async def test_an_object_without_a_name_cannot_be_updated_or_applied(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(RequestError, match="the ConfigMap to update has no name"):
        await config_maps.update(ConfigMap())
    with pytest.raises(RequestError, match="the ConfigMap to apply has no name"):
        await config_maps.apply(ConfigMap(), field_manager="me")


async def test_generate_name_is_completed_by_the_server(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(ConfigMap(metadata=ObjectMeta(generate_name="a-")))
    assert made.name.startswith("a-")
    assert len(made.name) > 2


async def test_creating_an_existing_name_raises(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    with pytest.raises(AlreadyExistsError):
        await config_maps.create(config_map("a"))


async def test_updating_an_outdated_object_is_a_conflict(config_maps: ResourceClient[ConfigMap]):
    mine = await config_maps.create(config_map("a"))
    await config_maps.patch("a", {"data": {"x": "theirs"}})
    mine.data["x"] = "mine"
    with pytest.raises(ConflictError):
        await config_maps.update(mine)
    assert (await config_maps.get("a")).data == {"x": "theirs"}


async def test_a_dry_run_changes_nothing(config_maps: ResourceClient[ConfigMap]):
    assert (await config_maps.create(config_map("a"), dry_run=True)).name == "a"
    with pytest.raises(NotFoundError):
        await config_maps.get("a")
    made = await config_maps.create(config_map("a", x="1"))
    made.data["x"] = "2"
    assert (await config_maps.update(made, dry_run=True)).data == {"x": "2"}
    assert (await config_maps.patch("a", {"data": {"x": "3"}}, dry_run=True)).data == {"x": "3"}
    await config_maps.delete("a", dry_run=True)
    await config_maps.delete_collection(dry_run=True)
    assert (await config_maps.get("a")).data == {"x": "1"}


async def test_strict_validation_rejects_unknown_fields(config_maps: ResourceClient[ConfigMap]):
    with pytest.raises(BadRequestError, match="unknown field"):
        await config_maps.create({"metadata": {"name": "a"}, "dta": {}}, field_validation="Strict")
    assert await config_maps.create({"metadata": {"name": "a"}, "dta": {}}, field_validation="Ignore")


async def test_update_status_changes_only_the_status(client: ClientSet):
    pods = client.core_v1.pods("default")
    made = await pods.create(pod("web-0"))
    made.status = PodStatus(phase="Running")
    made.spec.containers[0].image = "other"
    written = await pods.update_status(made)
    assert (written.status.phase, written.spec.containers[0].image) == ("Running", "nginx")
    assert (await pods.get("web-0")).status.phase == "Running"


# --- patches ---------------------------------------------------------------------------------------------------------


async def test_a_patch_without_a_type_gets_a_default_type(client: ClientSet, server: APIServer):
    pods = client.core_v1.pods("default")
    await pods.create(pod("web-0"))
    merged = await pods.patch("web-0", {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}})
    assert [each.image for each in merged.spec.containers] == ["nginx:2"]
    assert merged.spec.containers[0].name == "main"
    changed = await pods.patch("web-0", [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}])
    assert changed.labels == {"a": "b"}


@pytest.mark.parametrize(
    ("type_", "patch", "expected"),
    [
        (JSON_PATCH, [{"op": "replace", "path": "/data/x", "value": "2"}], {"x": "2", "y": "1"}),
        (MERGE_PATCH, {"data": {"x": "2", "y": None}}, {"x": "2"}),
        (STRATEGIC_MERGE_PATCH, {"data": {"$patch": "replace", "x": "2"}}, {"x": "2"}),
        ("merge", b'{"data":{"x":"2"}}', {"x": "2", "y": "1"}),
        ("json", '[{"op":"remove","path":"/data/y"}]', {"x": "1"}),
        (MERGE_PATCH, ConfigMap(data={"x": "2"}), {"x": "2", "y": "1"}),
    ],
    ids=["json", "merge", "strategic", "bytes", "text", "object"],
)
async def test_a_patch_is_applied_as_its_type(
    config_maps: ResourceClient[ConfigMap], type_: PatchType | str, patch: Any, expected: dict[str, str]
):
    await config_maps.create(config_map("a", x="1", y="1"))
    assert (await config_maps.patch("a", patch, type=type_)).data == expected


@pytest.mark.parametrize(
    ("patch", "type_", "message"),
    [
        ({"data": {}}, "json", "a patch of type 'json' must be a list of operations, not a dict"),
        ([{"op": "test"}], "merge", "a patch of type 'merge' must be a mapping of the changed fields, not a list"),
        ([], APPLY_PATCH, "a patch of type 'apply' must be a mapping"),
        (b"{}", None, 'the type of an encoded patch is unknown: pass `type`, for example type="merge"'),
        ({}, "smart", "unknown patch type 'smart': pass one of 'json', 'merge', 'strategic', 'apply'"),
    ],
)
async def test_a_patch_that_does_not_fit_its_type_is_rejected(
    config_maps: ResourceClient[ConfigMap], server: APIServer, patch: Any, type_: Any, message: str
):
    with pytest.raises(RequestError, match=message):
        await config_maps.patch("a", patch, type=type_)
    assert not list(server.requests)


async def test_a_failed_test_in_a_patch_changes_nothing(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a", x="1"))
    with pytest.raises(InvalidError):
        await config_maps.patch("a", [{"op": "test", "path": "/data/x", "value": "2"}])


class Widget(Object, resource=Resource("example.com", "v1", "Widget", "widgets")):
    spec: dict[str, Any] = lazy(dict[str, Any])


async def test_a_custom_kind_gets_a_merge_patch_by_default():
    body = b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":2}}'
    async with scripted(respond(200, body)) as (server, client):
        widget = await client.resource(Widget, namespace="default").patch("a", {"spec": {"size": 2}})
    [sent] = server.requests
    assert widget.spec == {"size": 2}
    assert (sent.method, sent.target) == ("PATCH", "/apis/example.com/v1/namespaces/default/widgets/a")
    assert sent.headers["content-type"] == "application/merge-patch+json"


async def test_apply_sends_an_apply_patch():
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
    async with scripted(otherwise=respond(200, body)) as (server, client):
        maps = client.core_v1.configmaps("default")
        await maps.apply(
            config_map("a", x="1"), field_manager="me", force=True, dry_run=True, field_validation="Strict"
        )
        await maps.apply_status(config_map("a"), field_manager="me")
    first, second = server.requests
    path, _, query = first.target.partition("?")
    assert (first.method, path) == ("PATCH", "/api/v1/namespaces/default/configmaps/a")
    assert set(query.split("&")) == {"fieldManager=me", "force=true", "dryRun=All", "fieldValidation=Strict"}
    assert first.headers["content-type"] == "application/apply-patch+yaml"
    assert json.loads(first.body) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"x": "1"},
    }
    assert second.target == "/api/v1/namespaces/default/configmaps/a/status?fieldManager=me"


async def test_an_object_read_from_the_server_cannot_be_applied(
    config_maps: ResourceClient[ConfigMap], server: APIServer
):
    given = ConfigMap.from_dict({"metadata": {"name": "a", "managedFields": [{"manager": "x", "operation": "Apply"}]}})
    with pytest.raises(RequestError, match="cannot be applied: it has managedFields; apply only the fields"):
        await config_maps.apply(given, field_manager="me")
    with pytest.raises(RequestError, match="ConfigMap a cannot be applied: `field_manager` is empty"):
        await config_maps.apply(config_map("a"), field_manager="")
    assert not list(server.requests)


# --- deleting --------------------------------------------------------------------------------------------------------


async def test_an_object_with_a_finalizer_is_returned_by_its_deletion(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(ConfigMap(metadata=ObjectMeta(name="a", finalizers=["example.com/hold"])))
    left = await config_maps.delete("a")
    assert left is not None
    assert left.metadata.deletion_timestamp is not None


async def test_a_deletion_checks_its_preconditions(config_maps: ResourceClient[ConfigMap]):
    made = await config_maps.create(config_map("a"))
    with pytest.raises(ConflictError):
        await config_maps.delete("a", uid="another")
    with pytest.raises(ConflictError):
        await config_maps.delete("a", resource_version="1")
    assert await config_maps.delete("a", uid=made.uid, resource_version=made.resource_version) is None


async def test_delete_collection_deletes_the_selected_objects(
    server: APIServer, config_maps: ResourceClient[ConfigMap]
):
    seed_config_maps(server, 5)
    gone = await config_maps.delete_collection(label_selector={"parity": "odd"})
    assert [each.name for each in gone] == ["c-00001", "c-00003"]
    assert [each.name for each in await config_maps.list()] == ["c-00000", "c-00002", "c-00004"]


async def test_delete_options_are_sent_in_the_body():
    success = respond(200, b'{"kind":"Status","apiVersion":"v1","status":"Success"}')
    async with scripted(otherwise=success) as (server, client):
        jobs = client.batch_v1.jobs("default")
        await jobs.delete(
            "a",
            propagation_policy="Foreground",
            grace_period_seconds=0,
            uid="u",
            resource_version="7",
            dry_run=True,
            ignore_store_read_error_with_cluster_breaking_potential=True,
        )
        await jobs.delete("a")
        assert list(await jobs.delete_collection(field_selector="metadata.name=a", timeout_seconds=5)) == []
    full, plain, collection = server.requests
    assert json.loads(full.body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "dryRun": ["All"],
        "ignoreStoreReadErrorWithClusterBreakingPotential": True,
    }
    assert plain.body == b""
    query = collection.target.partition("?")[2]
    assert set(query.split("&")) == {"fieldSelector=metadata.name%3Da", "timeoutSeconds=5", "timeout=5s"}


# --- lists -----------------------------------------------------------------------------------------------------------


async def test_a_page_has_a_continue_token(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    seed_config_maps(server, 5)
    first = await config_maps.list(limit=2)
    assert ([each.name for each in first], first.remaining) == (["c-00000", "c-00001"], 3)
    second = await config_maps.list(limit=2, continue_token=first.continue_token)
    rest = await config_maps.list(continue_token=second.continue_token)
    assert [each.name for each in [*second, *rest]] == ["c-00002", "c-00003", "c-00004"]
    assert first.resource_version == second.resource_version


async def test_limit_0_requests_everything_in_one_response(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    seed_config_maps(server, 600)
    assert len(await config_maps.list(limit=0)) == 600
    assert [each.query.text("limit") for each in server.requests] == [""]


async def test_pages_have_the_page_size(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    seed_config_maps(server, 5)
    pages = [len(page) async for page in config_maps.pages(page_size=2, label_selector="parity=even")]
    assert pages == [2, 1]


@pytest.mark.parametrize(
    ("labels", "fields", "expected"),
    [
        ("app=web", None, ["web-0", "web-1"]),
        ({"app": "web"}, "spec.nodeName=n1", ["web-0"]),
        ({"app": ["web", "db"]}, {"spec.nodeName": "n1"}, ["db-0", "web-0"]),
        ({"app": None}, None, ["db-0", "web-0", "web-1"]),
        ("app notin (web)", None, ["db-0", "other"]),
        (None, {"metadata.name": "other"}, ["other"]),
    ],
)
async def test_a_selector_is_a_string_or_a_mapping(client: ClientSet, labels: Any, fields: Any, expected: list[str]):
    pods = client.core_v1.pods("default")
    for each in (
        pod("web-0", node="n1", labels={"app": "web"}),
        pod("web-1", labels={"app": "web"}),
        pod("db-0", node="n1", labels={"app": "db"}),
        pod("other"),
    ):
        await pods.create(each)
    assert [each.name for each in await pods.list(label_selector=labels, field_selector=fields)] == expected
    bound = pods.selecting(label_selector=labels, field_selector=fields)
    assert [each.name for each in await bound.list()] == expected


async def test_selectors_are_combined(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    seed_config_maps(server, 4)
    odd = config_maps.selecting(label_selector="parity=odd")
    assert [each.name for each in await odd.list(label_selector="parity")] == ["c-00001", "c-00003"]
    assert [each.name for each in await odd.list(field_selector="metadata.name=c-00001")] == ["c-00001"]
    assert list(await odd.list(label_selector="parity=even")) == []
    assert [each.name for each in await odd.list()] == ["c-00001", "c-00003"]
    assert len(await config_maps.list()) == 4
    assert repr(odd) == "<ResourceClient of configmaps in default labelSelector=parity=odd>"


async def test_an_invalid_selector_is_never_sent(config_maps: ResourceClient[ConfigMap], server: APIServer):
    with pytest.raises(SelectorError):
        await config_maps.list(label_selector="a in")
    with pytest.raises(SelectorError):
        config_maps.watch(field_selector="a")
    assert not list(server.requests)


async def test_an_exact_version_is_listed(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    seed_config_maps(server, 2)
    before = (await config_maps.list()).resource_version
    await config_maps.delete("c-00000")
    then = await config_maps.list(resource_version=before, resource_version_match="Exact")
    assert (len(then), then.resource_version) == (2, before)


async def test_a_response_that_is_not_a_list_is_an_error():
    async with scripted(respond(200, b'{"kind":"ConfigMap","metadata":{}}')) as (_, client):
        with pytest.raises(DecodeError, match="expected a list, got ConfigMap without items"):
            await client.core_v1.configmaps().list()


# --- watches ---------------------------------------------------------------------------------------------------------


async def test_a_watch_sends_the_changes_after_a_version(config_maps: ResourceClient[ConfigMap]):
    start = (await config_maps.list()).resource_version
    made = await config_maps.create(config_map("a", x="1"))
    await config_maps.patch("a", {"data": {"x": "2"}})
    await config_maps.delete("a")
    seen = []
    async with config_maps.watch(resource_version=start) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, DeletedEvent):
                break
    assert [(type(each), each.object.data["x"]) for each in seen] == [
        (AddedEvent, "1"),
        (ModifiedEvent, "2"),
        (DeletedEvent, "2"),
    ]
    assert seen[0].object == made
    assert all(isinstance(each.object, ConfigMap) for each in seen)


async def test_a_watch_without_a_version_starts_with_the_existing_objects(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    async with config_maps.watch(field_selector={"metadata.name": "a"}) as events:
        assert (await anext(events)).object.name == "a"


async def test_a_watch_may_mark_the_end_of_the_initial_events(config_maps: ResourceClient[ConfigMap]):
    await config_maps.create(config_map("a"))
    options: dict[str, Any] = {"send_initial_events": True, "resource_version_match": "NotOlderThan"}
    async with config_maps.watch(
        field_selector="metadata.name=a", allow_watch_bookmarks=True, timeout_seconds=60, **options
    ) as events:
        first, mark = await anext(events), await anext(events)
    assert isinstance(first, AddedEvent)
    assert isinstance(mark, BookmarkEvent)
    assert mark.ends_initial_events


async def test_a_watch_from_a_compacted_version_raises(server: APIServer, config_maps: ResourceClient[ConfigMap]):
    start = (await config_maps.list()).resource_version
    seed_config_maps(server, 3)
    server.compact()
    with pytest.raises(ExpiredError):
        async for _ in config_maps.watch(resource_version=start):
            pass


async def test_a_watch_ends_after_its_timeout(config_maps: ResourceClient[ConfigMap]):
    start = (await config_maps.list()).resource_version
    assert [event async for event in config_maps.watch(resource_version=start, timeout_seconds=1)] == []


async def test_watch_options_are_sent_under_their_wire_names():
    async with scripted([stream_head(), LAST_CHUNK]) as (server, client):
        watch = client.core_v1.pods("default").watch(
            label_selector="a=b",
            shard_selector=f"shardRange(object.metadata.uid, '0x{0:016x}', '0x8{0:015x}')",
            resource_version="7",
            resource_version_match="NotOlderThan",
            send_initial_events=False,
            allow_watch_bookmarks=True,
            timeout_seconds=30,
        )
        assert [event async for event in watch] == []
    [sent] = server.requests
    path, _, query = sent.target.partition("?")
    assert path == "/api/v1/namespaces/default/pods"
    assert set(query.split("&")) == {
        "watch=true",
        "labelSelector=a%3Db",
        f"shardSelector=shardRange%28object.metadata.uid,%20%270x{0:016x}%27,%20%270x8{0:015x}%27%29",
        "resourceVersion=7",
        "resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=false",
        "allowWatchBookmarks=true",
        "timeoutSeconds=30",
    }


# --- subresources ----------------------------------------------------------------------------------------------------


async def test_a_deployment_is_scaled(client: ClientSet):
    template = PodTemplateSpec(metadata=ObjectMeta(labels={"app": "web"}), spec=pod("x").spec)
    spec = DeploymentSpec(replicas=1, selector=LabelSelector(match_labels={"app": "web"}), template=template)
    deployments = client.apps_v1.deployments("default")
    await deployments.create(Deployment(metadata=ObjectMeta(name="web"), spec=spec))
    scale = await deployments.get_scale("web")
    assert scale.spec.replicas == 1
    scale.spec.replicas = 2
    assert (await deployments.update_scale("web", scale)).spec.replicas == 2
    assert (await deployments.patch_scale("web", {"spec": {"replicas": 3}})).spec.replicas == 3
    assert (await deployments.get("web")).spec.replicas == 3


async def test_a_pod_is_bound_to_a_node_and_evicted(client: ClientSet):
    pods = client.core_v1.pods("default")
    await pods.create(pod("web-0"))
    await pods.bind("web-0", "n1")
    assert (await pods.get("web-0")).spec.node_name == "n1"
    await pods.evict("web-0", grace_period_seconds=0)
    with pytest.raises(NotFoundError):
        await pods.get("web-0")


async def test_a_token_of_a_service_account_is_created(client: ClientSet):
    accounts = client.core_v1.serviceaccounts("default")
    await accounts.create(ServiceAccount(metadata=ObjectMeta(name="robot")))
    token = await accounts.create_token("robot", audiences=["vault"], expiration_seconds=600)
    assert token.status.token
    assert token.spec.audiences == ["vault"]


async def test_a_token_may_be_bound_to_an_object():
    made = b'{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{"token":"t"}}'
    async with scripted(respond(201, made)) as (server, client):
        owner = Pod(metadata=ObjectMeta(name="web-0", uid="u"))
        await client.core_v1.serviceaccounts("default").create_token("robot", bound_object_ref=owner)
    [sent] = server.requests
    assert sent.target == "/api/v1/namespaces/default/serviceaccounts/robot/token"
    assert json.loads(sent.body)["spec"]["boundObjectRef"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "web-0",
        "uid": "u",
    }


async def test_any_subresource_can_be_read_and_written(client: ClientSet):
    pods = client.core_v1.pods("default")
    await pods.create(pod("web-0"))
    status = pods.subresource("status", Pod)
    written = await status.patch("web-0", {"status": {"phase": "Running"}}, type="merge")
    assert (await status.get("web-0")).status.phase == written.status.phase == "Running"
    read = await pods.subresource("status").get("web-0")
    assert read["status"]["phase"] == "Running"


async def test_a_subresource_may_be_a_path():
    async with scripted([stream_head(headers=TEXT), chunk(b"up 1"), LAST_CHUNK]) as (server, client):
        metrics = client.core_v1.pods("default").subresource("proxy/metrics").stream("web-0", format="text")
        assert await metrics.read_all() == b"up 1"
    assert server.requests[0].target == "/api/v1/namespaces/default/pods/web-0/proxy/metrics?format=text"


# --- logs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
async def logging_pods() -> AsyncIterator[tuple[ScriptedServer, ResourceClient[Pod]]]:
    async with scripted() as (server, client):
        yield server, client.core_v1.pods("default")


async def test_a_log_is_decoded_as_text(logging_pods: tuple[ScriptedServer, ResourceClient[Pod]]):
    server, pods = logging_pods
    server.will(respond(200, b"one\n  two\n\nthree\xff", headers=TEXT))
    text = await pods.logs(
        "web-0",
        container="main",
        since_seconds=90.5,
        tail_lines=3,
        previous=True,
        timestamps=True,
        limit_bytes=9,
        stream="Stderr",
        insecure_skip_tls_verify_backend=True,
    )
    assert text == "one\n  two\n\nthree\N{REPLACEMENT CHARACTER}"
    path, _, query = server.requests[0].target.partition("?")
    assert path == "/api/v1/namespaces/default/pods/web-0/log"
    assert set(query.split("&")) == {
        "container=main",
        "sinceSeconds=90",
        "tailLines=3",
        "previous=true",
        "timestamps=true",
        "limitBytes=9",
        "stream=Stderr",
        "insecureSkipTLSVerifyBackend=true",
    }


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"since_seconds": 120}, "sinceSeconds=120"),
        ({"since_seconds": 0.2}, "sinceSeconds=1"),
        ({"since_time": datetime(2026, 1, 1, 12, tzinfo=UTC)}, "sinceTime=2026-01-01T12:00:00Z"),
        (
            {"since_time": datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=1)))},
            "sinceTime=2026-01-01T11:00:00Z",
        ),
    ],
)
async def test_a_log_starts_at_a_time_or_some_seconds_ago(
    logging_pods: tuple[ScriptedServer, ResourceClient[Pod]], options: dict[str, Any], parameter: str
):
    server, pods = logging_pods
    server.will(respond(200, headers=TEXT))
    await pods.logs("web-0", **options)
    assert server.requests[0].target.partition("?")[2] == parameter


async def test_since_time_needs_a_time_zone(logging_pods: tuple[ScriptedServer, ResourceClient[Pod]]):
    with pytest.raises(RequestError, match="has no time zone"):
        await logging_pods[1].logs("web-0", since_time=datetime(2026, 1, 1))  # noqa: DTZ001  # the rejected value


async def test_since_seconds_and_since_time_exclude_each_other(
    logging_pods: tuple[ScriptedServer, ResourceClient[Pod]],
):
    with pytest.raises(RequestError, match="pass either since_seconds or since_time, not both"):
        await logging_pods[1].logs("web-0", since_seconds=1, since_time=datetime(2026, 1, 1, tzinfo=UTC))


async def test_a_followed_log_is_read_line_by_line(logging_pods: tuple[ScriptedServer, ResourceClient[Pod]]):
    server, pods = logging_pods
    go_on = asyncio.Event()
    pieces = [chunk(b"one\n\n  tw"), go_on, chunk(b"o\nth"), chunk(b"ree"), LAST_CHUNK]
    server.will([stream_head(headers=TEXT), *pieces])
    async with pods.follow_logs("web-0", tail_lines=10) as lines:
        assert [await anext(lines), await anext(lines)] == ["one", ""]
        go_on.set()
        assert [line async for line in lines] == ["  two", "three"]
    assert set(server.requests[0].target.partition("?")[2].split("&")) == {"follow=true", "tailLines=10"}


async def test_a_missing_log_raises(logging_pods: tuple[ScriptedServer, ResourceClient[Pod]]):
    server, pods = logging_pods
    status = {"kind": "Status", "reason": "NotFound", "code": 404, "status": "Failure", "message": "no such pod"}
    server.will(respond(404, json.dumps(status).encode()), respond(404, json.dumps(status).encode()))
    with pytest.raises(NotFoundError, match="no such pod"):
        await pods.logs("web-0")
    with pytest.raises(NotFoundError, match="no such pod"):
        async for _ in pods.follow_logs("web-0"):
            pass


# --- unexpected responses and arguments ------------------------------------------------------------------------------


async def test_an_object_of_another_kind_is_an_error():
    secret = b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}'
    async with scripted(respond(200, secret)) as (_, client):
        with pytest.raises(DecodeError, match="the response is a Secret of v1"):
            await client.core_v1.configmaps("default").get("a")


@pytest.mark.parametrize("body", [b"", b"not json", b"[]"])
async def test_an_undecodable_response_to_a_deletion_is_an_error(body: bytes):
    async with scripted(respond(200, body)) as (_, client):
        deletion = client.core_v1.configmaps("default").delete("a")
        if not body:
            assert await deletion is None
            return
        with pytest.raises(DecodeError):
            await deletion


@pytest.mark.parametrize("name", [None, 7, b"web-0"])
async def test_an_invalid_name_never_selects_the_collection(client: ClientSet, name: Any):
    config_maps = client.core_v1.configmaps("default")
    await config_maps.create(ConfigMap(metadata=ObjectMeta(name="precious")))
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: config_maps.delete(name),
        lambda: config_maps.get(name),
        lambda: config_maps.patch(name, {"data": {}}),
        lambda: config_maps.subresource("status").get(name),
        lambda: config_maps.subresource("status").update(name, {}),
    ]
    for call in calls:
        with pytest.raises(RequestError, match="configmaps: the name must be a str, not "):
            await call()
    assert [each.name for each in await config_maps.list()] == ["precious"]
