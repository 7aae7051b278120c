"""Applying files: their order, and errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.client.routed import WITH_WIDGETS, routed

from listwatch.client.manifests import apply_files, apply_objects, load_files
from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import DecodeError, ForbiddenError, NoMatchError, UsageError
from listwatch.server import APIServer, Fail, Fault

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}, "data": {"x": "1"}}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "reader"},
    "rules": [],
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
GADGET = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}}
WEBHOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "a"},
}


def write(folder: Path, name: str, *objects: Any) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n---\n".join(json.dumps(each) for each in objects))
    return folder / name


# --- reading ---------------------------------------------------------------------------------------------------------


def test_files_and_folders_are_read_in_the_order_of_their_names(tmp_path: Path):
    single = write(tmp_path, "z/single.yaml", NAMESPACE)
    write(tmp_path, "d/b.yml", ROLE)
    write(tmp_path, "d/a.yaml", CONFIG, NAMESPACE)
    write(tmp_path, "d/c.json", GADGET)
    write(tmp_path, "d/notes.txt", "not read")
    write(tmp_path, "d/deep/e.yaml", DEFINITION)
    assert load_files(single, str(tmp_path / "d")) == [NAMESPACE, CONFIG, NAMESPACE, ROLE, GADGET]
    assert load_files(tmp_path / "d", recursive=True)[-1] == DEFINITION


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "YAML|expected"),
        ("kind: Pod", "document 1 is not a mapping with apiVersion and kind"),
        ("apiVersion: v1\nkind: Pod\n---\n- 7", "document 2 is not a mapping with apiVersion and kind"),
        ("a: 1\na: 2", "duplicate key 'a'"),
    ],
)
def test_the_error_names_an_invalid_file(tmp_path: Path, text: str, message: str):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(DecodeError, match=message) as caught:
        load_files(tmp_path)
    assert str(tmp_path / "bad.yaml") in str(caught.value)


def test_the_error_names_a_missing_file(tmp_path: Path):
    with pytest.raises(UsageError, match=r"the path '.*nothing' does not exist"):
        load_files(tmp_path / "nothing")


# --- applying --------------------------------------------------------------------------------------------------------


async def test_namespaces_and_definitions_are_applied_first(tmp_path: Path, client: ClientSet, server: APIServer):
    write(tmp_path, "all.yaml", WEBHOOK | {"webhooks": []}, CONFIG, ROLE, NAMESPACE)
    applied = await apply_files(client, tmp_path, field_manager="me", server_side=False)
    assert [each.kind for each in applied] == [
        "Namespace",
        "ClusterRole",
        "ConfigMap",
        "ValidatingWebhookConfiguration",
    ]
    assert all(each.uid for each in applied)
    assert (await client.core_v1.configmaps("shop").get("a")).data == {"x": "1"}


async def test_existing_objects_are_merged(client: ClientSet):
    maps = client.core_v1.configmaps("default")
    await maps.create({"metadata": {"name": "a"}, "data": {"x": "0", "y": "0"}})
    given = {**CONFIG, "metadata": {"name": "a"}}
    [changed] = await apply_objects(client, [given], field_manager="me", server_side=False)
    assert changed["data"] == {"x": "1", "y": "0"}
    assert len(await apply_objects(client.dynamic, [given], field_manager="me", server_side=False)) == 1


async def test_objects_without_a_namespace_go_to_the_given_one(client: ClientSet):
    given = {**CONFIG, "metadata": {"name": "a"}}
    [here] = await apply_objects(client, [given], field_manager="me", server_side=False)
    [there] = await apply_objects(client, [given], field_manager="me", server_side=False, namespace="kube-system")
    assert (here.namespace, there.namespace) == ("default", "kube-system")


async def test_a_dry_run_applies_nothing(client: ClientSet):
    given = {**CONFIG, "metadata": {"name": "a"}}
    assert await apply_objects(client, [given], field_manager="me", server_side=False, dry_run=True)
    assert list(await client.core_v1.configmaps("default").list(field_selector="metadata.name=a")) == []


async def test_a_note_names_the_object_that_failed(client: ClientSet, server: APIServer):
    server.faults.add(Fault(Fail(ForbiddenError("no")), resource="configmaps"))
    with pytest.raises(ForbiddenError) as caught:
        await apply_objects(client, [CONFIG, NAMESPACE], field_manager="me", server_side=False)
    assert caught.value.__notes__ == ["while applying ConfigMap shop/a, after 1 other objects"]


async def test_a_note_names_the_file_and_the_document_that_failed(tmp_path: Path, client: ClientSet, server: APIServer):
    server.faults.add(Fault(Fail(ForbiddenError("no")), resource="configmaps"))
    file = write(tmp_path, "all.yaml", NAMESPACE, CONFIG)
    with pytest.raises(ForbiddenError) as caught:
        await apply_files(client, file, field_manager="me", server_side=False)
    assert caught.value.__notes__ == [f"while applying ConfigMap shop/a ({file}, document 2), after 1 other objects"]


async def test_the_error_names_a_kind_that_is_not_served(client: ClientSet):
    with pytest.raises(NoMatchError, match=r"example\.com/v1, Kind=Gadget"):
        await apply_objects(client, [GADGET], field_manager="me")


async def test_objects_are_applied_server_side(tmp_path: Path):
    path = "/apis/example.com/v1/namespaces/default/widgets/a"
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    async with routed({**WITH_WIDGETS, path: widget}) as (documents, client):
        write(tmp_path, "a.yaml", widget)
        [applied] = await apply_files(client, tmp_path, field_manager="me", force=True)
        sent = documents.requests[-1]
    assert applied.name == "a"
    assert (sent.method, sent.headers["Content-Type"]) == ("PATCH", "application/apply-patch+yaml")
    assert set(sent.target.partition("?")[2].split("&")) == {"fieldManager=me", "force=true"}
    assert json.loads(sent.body or b"") == widget


ESTABLISHED = DEFINITION | {"status": {"conditions": [{"type": "Established", "status": "True"}]}}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ONE_DEFINITION = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [ESTABLISHED]}


async def test_a_new_kind_is_found_as_soon_as_its_definition_is_established():
    gadgets = "/apis/example.com/v1/namespaces/default/gadgets/a"
    routes = {f"{DEFINITIONS}/gadgets.example.com": DEFINITION, DEFINITIONS: ONE_DEFINITION, gadgets: GADGET}
    async with routed(routes) as (documents, client):
        applied = await apply_objects(client, [GADGET, DEFINITION], field_manager="me")
        assert [each.kind for each in applied] == ["CustomResourceDefinition", "Gadget"]
        # No discovery: servers list what is new only after a while.
        assert documents.paths == [f"{DEFINITIONS}/gadgets.example.com", DEFINITIONS, gadgets]


async def test_a_definition_is_not_waited_for_in_a_dry_run():
    async with routed({f"{DEFINITIONS}/gadgets.example.com": DEFINITION}) as (documents, client):
        await apply_objects(client, [DEFINITION], field_manager="me", dry_run=True)
        assert len(documents.requests) == 1
