"""Snapshots of a server: in memory, in a file, and as YAML."""

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.server.caller import CONFIG_MAPS, Caller, config_map

from listwatch.errors import ConfigError, DecodeError
from listwatch.server.api_server import APIServer

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}}
UID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


async def read(server: APIServer, path: str) -> Any:
    async with Caller(server) as call:
        return (await call("GET", path)).json


async def test_a_server_starts_with_the_objects_of_a_file(tmp_path: Path):
    file = tmp_path / "cluster.snapshot"
    async with APIServer() as server, Caller(server) as call:
        await call("POST", CONFIG_MAPS, config_map("a"))
        await call("DELETE", CONFIG_MAPS)
        await call("POST", CONFIG_MAPS, config_map("b"))
        expected = await read(server, CONFIG_MAPS)
        server.save_snapshot(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    async with APIServer(snapshot=file) as server:
        listed = await read(server, CONFIG_MAPS)
        assert listed["items"] == expected["items"]
        assert int(listed["metadata"]["resourceVersion"]) >= int(expected["metadata"]["resourceVersion"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "not a snapshot"),
        (lambda data: b"SQLite format 3" + data, "not a snapshot"),
        (lambda data: data[:-1], "damaged or incomplete"),
        (lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:], "damaged or incomplete"),
    ],
    ids=["empty", "foreign", "truncated", "bit-flipped"],
)
async def test_a_damaged_file_is_an_error(tmp_path: Path, damage: Any, message: str):
    file = tmp_path / "cluster.snapshot"
    async with APIServer() as server:
        server.save_snapshot(file)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ConfigError, match=message):
        await APIServer(snapshot=file).start()


async def test_a_file_that_cannot_be_read_or_written_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        await APIServer(snapshot=tmp_path / "absent").start()
    (tmp_path / "file").touch()
    async with APIServer() as server:
        with pytest.raises(ConfigError, match="cannot be written"):
            server.save_snapshot(tmp_path / "file" / "below")


async def test_a_fork_does_not_change_the_original():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", CONFIG_MAPS, config_map("a"))
        async with server.fork() as other, Caller(other) as call_other:
            await call_other("DELETE", f"{CONFIG_MAPS}/a")
            assert (await read(other, CONFIG_MAPS))["items"] == []
        assert len((await read(server, CONFIG_MAPS))["items"]) == 1


async def test_exported_objects_can_be_imported():
    async with APIServer() as server, Caller(server) as call:
        await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        await call("POST", "/api/v1/namespaces", {"metadata": {"name": "team"}})
        await call("POST", "/apis/example.com/v1/namespaces/team/widgets", WIDGET)
        await call("POST", CONFIG_MAPS, config_map("a"))
        text = server.export_yaml()
        expected = await read(server, "/apis/example.com/v1/namespaces/team/widgets/w")
    async with APIServer() as server:
        assert await server.import_yaml(text) == len(list(yaml.safe_load_all(text)))
        found = await read(server, "/apis/example.com/v1/namespaces/team/widgets/w")
        for tree in (found, expected):
            del tree["metadata"]["resourceVersion"]
        assert found == expected


async def test_imported_objects_keep_their_uids_owners_and_statuses():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web",
            "namespace": "default",
            "uid": UID,
            "resourceVersion": "987654321",
            "creationTimestamp": "2020-01-01T00:00:00Z",
        },
        "spec": {"containers": [{"name": "a", "image": "a"}]},
        "status": {"phase": "Running", "futureField": {"kept": False}},
    }
    owned = {
        **config_map("owned"),
        "metadata": {
            "name": "owned",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": UID}],
        },
    }
    async with APIServer() as server, Caller(server) as call:
        listed = {
            "apiVersion": "v1",
            "kind": "PodList",
            "items": [{k: v for k, v in pod.items() if k not in ("kind", "apiVersion")}],
        }
        assert await server.import_yaml(yaml.safe_dump_all([owned, listed])) == 2
        found = await read(server, "/api/v1/namespaces/default/pods/web")
        assert found["metadata"]["uid"] == UID
        assert found["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"
        assert found["metadata"]["resourceVersion"] != "987654321"
        assert found["status"]["phase"] == "Running"
        assert found["spec"]["restartPolicy"] == "Always"
        # The owner is known by its uid.
        await call("DELETE", "/api/v1/namespaces/default/pods/web", {"gracePeriodSeconds": 0})
        assert (await call("GET", f"{CONFIG_MAPS}/owned")).status == 404


async def test_a_watch_receives_imported_objects():
    async with APIServer() as server, Caller(server) as call, call.watch(CONFIG_MAPS) as events:
        await server.import_yaml(yaml.safe_dump(config_map("a")))
        assert await events.some(1) == [("ADDED", "a")]
        await server.import_yaml(yaml.safe_dump({**config_map("a"), "data": {"b": "c"}}))
        assert await events.some(1) == [("MODIFIED", "a")]


async def test_nothing_is_imported_if_a_kind_is_not_served_or_a_field_has_a_wrong_type():
    gadget, thing = ({"apiVersion": "x.io/v1", "kind": kind, "metadata": {"name": "g"}} for kind in ("Gadget", "Thing"))
    wrong = {**config_map("b"), "data": 5}
    async with APIServer() as server:
        before = server.revision
        with pytest.raises(
            DecodeError, match=r"Gadget g: this server has no resource for x.io/v1 Gadget, nor for x.io/"
        ):
            await server.import_yaml(yaml.safe_dump_all([config_map("a"), gadget, thing, gadget]))
        with pytest.raises(DecodeError, match=r"document 2: ConfigMap b: .*data"):
            await server.import_yaml(yaml.safe_dump_all([config_map("a"), wrong]))
        assert server.revision == before


async def test_an_object_in_a_version_that_its_imported_definition_lacks_is_refused():
    async with APIServer() as server:
        with pytest.raises(DecodeError, match=r"this server has no resource for example.com/v9 Widget"):
            await server.import_yaml(yaml.safe_dump_all([DEFINITION, {**WIDGET, "apiVersion": "example.com/v9"}]))


@pytest.mark.parametrize("items", ["items: []", "items: null", "metadata: {}"])
async def test_a_list_without_items_imports_nothing(items: str):
    async with APIServer() as server:
        assert await server.import_yaml(f"apiVersion: v1\nkind: List\n{items}\n") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b", "document 1: it has no apiVersion"),
        ("apiVersion: v1\nkind: List\nitems: 5", "document 1: the items of the List are not a list"),
        ("apiVersion: v1\nkind: Status\nmessage: no", "document 1: a Status is not an object that can be stored"),
        ("---\napiVersion: v1\nkind: Pod\n", "document 1: Pod without metadata.name"),
        ("apiVersion: x.io/v1\nkind: Gadget\nmetadata: {name: g}", "document 1: Gadget g: this server has no resource"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: 7}", "document 1: Pod p: .*labels"),
        ("{", "YAML"),
    ],
)
async def test_an_import_names_the_document_that_is_wrong(text: str, message: str):
    async with APIServer() as server:
        with pytest.raises(DecodeError, match=message):
            await server.import_yaml(text)
