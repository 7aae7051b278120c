"""The server as a whole: start and stop, access, persistence, and inspection by tests."""

import asyncio
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from tests.server.caller import CONFIG_MAPS, Caller, config_map

from listwatch.client.config.kubeconfig import load_config
from listwatch.errors import BadRequestError, ConfigError, UsageError
from listwatch.server.api_server import APIServer
from listwatch.testing.clocks import VirtualClock


async def names(call: Caller) -> list[str]:
    return [item["metadata"]["name"] for item in (await call("GET", CONFIG_MAPS)).json["items"]]


# Start and stop


async def test_servers_listen_on_free_ports_of_this_machine_and_share_nothing():
    async with APIServer() as one, APIServer() as other, Caller(one) as call, Caller(other) as call_other:
        assert one.url.startswith("http://127.0.0.1:")
        assert one.url != other.url
        await call.create("a")
        assert (await names(call), await names(call_other)) == (["a"], [])
        assert (await call_other("GET", "/version", Authorization=f"Bearer {one.token}")).status == 401


async def test_a_new_server_has_the_initial_namespaces():
    async with APIServer() as server, Caller(server) as call:
        found = (await call("GET", "/api/v1/namespaces")).json["items"]
    assert [each["metadata"]["name"] for each in found] == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert all(each["status"] == {"phase": "Active"} for each in found)


async def test_a_server_that_does_not_run_has_no_address():
    server = APIServer()
    for read in (lambda: server.url, lambda: server.config, lambda: server.revision, server.statistics):
        with pytest.raises(UsageError, match="not running"):
            read()
    await server.stop()


async def test_a_server_cannot_be_started_twice():
    async with APIServer() as server:
        with pytest.raises(UsageError, match="running already"):
            await server.start()


@pytest.mark.parametrize("keeps", [False, True])
async def test_clients_find_a_server_again_after_it_was_stopped(tmp_path: Path, keeps: bool):
    async with APIServer(data_dir=tmp_path if keeps else None) as server, Caller(server) as call:
        await call.create("a")
        await server.stop()
        with pytest.raises(aiohttp.ClientConnectionError):
            await names(call)
        await server.start()
        assert await names(call) == (["a"] if keeps else [])


async def test_the_error_names_a_port_in_use():
    async with APIServer() as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use$"):
            await APIServer(port=port).start()


async def test_a_server_does_not_show_its_token():
    async with APIServer() as server:
        assert server.url in repr(server)
        assert server.token not in repr(server)
        assert server.token not in repr(server.config)


# Access


async def test_the_config_has_the_url_and_token_of_the_server():
    async with APIServer() as server, get(server.config.base_url, token=server.config.token) as response:
        assert response.status == 200


@asynccontextmanager
async def get(base: str, *, token: str = "", ca: bytes = b"") -> AsyncIterator[aiohttp.ClientResponse]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    trust = ssl.create_default_context(cadata=ca.decode()) if ca else True
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session,
        session.get(f"{base}/api/v1/namespaces/default", headers=headers) as response,
    ):
        yield response


async def test_a_kubeconfig_is_readable_by_its_owner_only(tmp_path: Path):
    file = tmp_path / "new" / "kubeconfig"
    async with APIServer() as server:
        server.kubeconfig(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [each.name for each in file.parent.iterdir()] == ["kubeconfig"]


async def test_a_server_without_tls_serves_https_for_its_kubeconfig(tmp_path: Path):
    file, again = tmp_path / "kubeconfig", tmp_path / "again"
    async with APIServer() as server:
        server.kubeconfig(file)
        server.kubeconfig(again)
        assert again.read_bytes() == file.read_bytes()
        config = load_config(file)
        assert config.base_url.startswith("https://127.0.0.1:")
        assert (config.token, server.token in config.base_url) == (server.token, False)
        async with get(config.base_url, token=config.token, ca=config.ca_data) as response:
            assert response.status == 200
        async with get(config.base_url, ca=config.ca_data) as response:
            assert response.status == 401
        # Clients in this process still use plain HTTP.
        assert (server.url.partition(":")[0], server.ca_certificate) == ("http", b"")
        async with get(server.config.base_url, token=server.config.token) as response:
            assert response.status == 200
        await server.stop()
        await server.start()
        async with get(config.base_url, token=config.token, ca=config.ca_data) as response:
            assert response.status == 200


async def test_a_token_in_the_path_is_not_accepted():
    async with APIServer() as server, get(f"{server.url}/token/{server.token}") as response:
        assert response.status in (401, 404)


async def test_with_tls_the_kubeconfig_has_the_token_and_the_authority(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with APIServer(tls=True) as server:
        server.kubeconfig(file)
        config = load_config(file)
        assert (config.token, config.ca_data) == (server.token, server.ca_certificate)
        async with get(config.base_url, token=config.token, ca=config.ca_data) as response:
            assert response.status == 200


async def test_other_users_get_a_config_for_their_token():
    async with APIServer() as server:
        config = server.config_for_token(server.issue_token("alice", groups=["dev"]))
        async with get(config.base_url, token=config.token) as response:
            assert response.status == 200
        assert server.requests[-1].user == "alice"


# Inspection and control


async def test_a_server_can_be_compacted():
    async with APIServer() as server, Caller(server) as call:
        for name in ("a", "b", "c"):
            await call.create(name)
        page = (await call("GET", f"{CONFIG_MAPS}?limit=1")).json
        rest = f"{CONFIG_MAPS}?limit=1&continue={page['metadata']['continue']}"
        assert (await call("GET", rest)).status == 200
        await call.delete("c")
        server.compact()
        expired = await call("GET", rest)
        assert (expired.status, expired.json["reason"]) == (410, "Expired")
        assert expired.json["metadata"]["continue"]


async def test_another_server_can_start_with_a_snapshot():
    async with APIServer() as server, Caller(server) as call:
        created = await call.create("a")
        snapshot = server.snapshot()
        await call.create("b")
        async with APIServer(snapshot=snapshot) as other, Caller(other) as call_other:
            assert (await call_other("GET", f"{CONFIG_MAPS}/a")).json == created
            await call_other.create("c")
            assert await names(call_other) == ["a", "c"]
        async with APIServer(snapshot=snapshot) as other, Caller(other) as call_other:
            assert await names(call_other) == ["a"]
        assert await names(call) == ["a", "b"]


def test_a_data_directory_and_a_snapshot_exclude_each_other():
    with pytest.raises(UsageError):
        APIServer(data_dir="x", snapshot=object())  # type: ignore[arg-type]  # it is not looked at


async def test_statistics_count_open_connections_and_watches():
    async with APIServer() as server, Caller(server) as call, call.watch():
        await call.create("a")
        counted = server.statistics()
        assert (counted.requests, counted.watches, counted.revision) == (2, 1, server.revision)
        assert counted.connections >= 2


async def test_uids_and_generated_names_are_reproducible_with_a_seed():
    async def created(seed: int) -> Any:
        async with APIServer(seed=seed, clock=VirtualClock()) as server, Caller(server) as call:
            return [(await call("POST", CONFIG_MAPS, config_map("", generateName="a-"))).json for _ in range(3)]

    assert await created(1) == await created(1) != await created(2)


async def test_admission_may_change_or_reject_an_object():
    def admit(request: Any, new: Any, old: Any) -> None:
        if new and new["kind"] == "ConfigMap":
            if "forbidden" in new["data"]:
                raise BadRequestError("not that")
            new["metadata"]["labels"] = {"admitted": "yes"}

    async with APIServer(admission=[admit]) as server, Caller(server) as call:
        assert (await call.create("a"))["metadata"]["labels"] == {"admitted": "yes"}
        refused = await call("POST", CONFIG_MAPS, {**config_map("b"), "data": {"forbidden": ""}})
        assert (refused.status, refused.json["message"]) == (400, "not that")


@pytest.mark.parametrize("keeps", [False, True])
async def test_dependents_are_deleted_before_the_response_is_sent(tmp_path: Path, keeps: bool):
    async with APIServer(data_dir=tmp_path if keeps else None) as server, Caller(server) as call:
        owner = await call.create("owner")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        await call.create("dependent", ownerReferences=[reference])
        async with call.watch(f"resourceVersion={server.revision}") as events:
            await call.delete("owner")
            assert await names(call) == []
            assert await events.some(2) == [("DELETED", "owner"), ("DELETED", "dependent")]


# On disk


async def test_all_objects_are_available_after_a_restart(tmp_path: Path):
    async with APIServer(data_dir=tmp_path, tls=True) as server:
        token, authority, revision = server.token, server.ca_certificate, server.revision
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        assert server.token == token
        assert server.revision > revision
        created = await call.create("a")
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        assert (await call("GET", f"{CONFIG_MAPS}/a")).json == created
    async with APIServer(data_dir=tmp_path, tls=True) as server:
        assert server.ca_certificate == authority
    assert modes_of_files_in(tmp_path) == {0o600}


def modes_of_files_in(folder: Path) -> set[int]:
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


async def test_a_watch_resumes_after_a_restart(tmp_path: Path):
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        version = (await call.create("a"))["metadata"]["resourceVersion"]
        await call.create("b")
    async with (
        APIServer(data_dir=tmp_path) as server,
        Caller(server) as call,
        call.watch(f"resourceVersion={version}") as events,
    ):
        await call.create("c")
        assert await events.some(2) == [("ADDED", "b"), ("ADDED", "c")]


async def test_a_terminating_namespace_is_emptied_after_a_restart(tmp_path: Path):
    namespace = {"metadata": {"name": "going"}}
    held = config_map("held", finalizers=["example.com/hold"])
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        await call("POST", "/api/v1/namespaces", namespace)
        await call("POST", "/api/v1/namespaces/going/configmaps", held)
        await call("DELETE", "/api/v1/namespaces/going")
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:
        patch = {"metadata": {"finalizers": None}}
        path = "/api/v1/namespaces/going/configmaps/held"
        await call("PATCH", path, patch, Content_Type="application/merge-patch+json")
        assert (await call("GET", "/api/v1/namespaces/going")).status == 404


async def test_concurrent_watchers_of_a_persistent_server_receive_each_event_once(tmp_path: Path):
    async with APIServer(data_dir=tmp_path) as server, Caller(server) as call:

        async def watch() -> list[tuple[str, str]]:
            async with call.watch("resourceVersion=1") as events:
                return await events.some(60)

        watchers = []
        for batch in range(6):
            watchers += [asyncio.create_task(watch()) for _ in range(3)]
            await asyncio.gather(*(call.create(f"n-{batch}-{number}") for number in range(10)))
        histories = await asyncio.gather(*watchers)
        assert len(set(histories[0])) == 60
        assert all(history == histories[0] for history in histories)


async def test_a_data_directory_serves_one_server_at_a_time(tmp_path: Path):
    async with APIServer(data_dir=tmp_path):
        with pytest.raises(ConfigError, match="in use by another server"):
            await APIServer(data_dir=tmp_path).start()


# As a program


@asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The server as a process of its own, and where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "listwatch.server", *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        said = await process.stdout.readline()
        assert said.startswith(b"listening on http")
        yield process, said.decode().split()[-1]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_program_serves_until_a_signal(tmp_path: Path, number: signal.Signals):
    file = tmp_path / "kubeconfig"
    async with program("--write-kubeconfig", str(file), "--token", "secret") as (process, url):
        config = load_config(file)
        assert (config.base_url, config.token) == (url, "secret")
        async with get(url, token="secret", ca=config.ca_data) as response:
            assert response.status == 200
        process.send_signal(number)
        assert await process.wait() == 0


async def test_the_program_has_options_for_tls_and_anonymous_users(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with program("--write-kubeconfig", str(file), "--tls", "--anonymous") as (_, url):
        assert url.startswith("https://")
        async with get(url, ca=load_config(file).ca_data) as response:
            assert response.status == 200


def test_the_program_reports_errors(tmp_path: Path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "listwatch.server", "--data-dir", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'file'}: is not a directory; choose another data directory\n"


async def test_the_program_starts_with_a_snapshot_and_imported_objects(tmp_path: Path):
    snapshot, manifest = tmp_path / "cluster.snapshot", tmp_path / "all.yaml"
    async with APIServer() as server:
        await server.import_yaml(yaml.safe_dump(config_map("saved")))
        server.save_snapshot(snapshot)
    manifest.write_text(yaml.safe_dump_all([config_map("imported"), config_map("other")]))
    arguments = ("--snapshot", str(snapshot), "--import", str(manifest), "--token", "secret")
    async with (
        program(*arguments) as (process, url),
        aiohttp.ClientSession() as session,
        session.get(url + CONFIG_MAPS, headers={"Authorization": "Bearer secret"}) as response,
    ):
        items = json.loads(await response.read())["items"]
        assert process.stdout is not None
        assert await process.stdout.readline() == f"imported 2 objects of {manifest}\n".encode()
    assert {item["metadata"]["name"] for item in items} >= {"saved", "imported", "other"}


def test_the_program_names_the_file_that_cannot_be_imported(tmp_path: Path):
    (tmp_path / "all.yaml").write_text("apiVersion: v1\nkind: Gadget\nmetadata: {name: a}")
    command = [sys.executable, "-m", "listwatch.server", "--import", str(tmp_path / "all.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    why = "the objects cannot be imported: document 1: Gadget a: this server has no resource for v1 Gadget"
    assert done.stderr.startswith(f"error: {tmp_path / 'all.yaml'}: {why}")


async def test_every_acknowledged_write_survives_a_kill(tmp_path: Path):
    acknowledged: dict[str, str] = {}
    enough = asyncio.Event()

    async def write(session: aiohttp.ClientSession, base: str, writer: int) -> None:
        for number in range(10_000):
            name = f"w{writer}-{number}"
            async with session.post(base + CONFIG_MAPS, json=config_map(name)) as response:
                acknowledged[name] = (await response.json())["metadata"]["resourceVersion"]
            if len(acknowledged) >= 200:
                enough.set()

    arguments = ("--data-dir", str(tmp_path / "data"), "--token", "secret")
    session = aiohttp.ClientSession(headers={"Authorization": "Bearer secret"})
    async with program(*arguments) as (process, url), session:
        writers = [asyncio.create_task(write(session, url, writer)) for writer in range(8)]
        await enough.wait()
        os.kill(process.pid, signal.SIGKILL)
        await asyncio.gather(*writers, return_exceptions=True)
    async with (
        program(*arguments) as (_, url),
        aiohttp.ClientSession() as session,
        session.get(url + CONFIG_MAPS, headers={"Authorization": "Bearer secret"}) as response,
    ):
        items = json.loads(await response.read())["items"]
    kept = {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}
    assert acknowledged.items() <= kept.items()


# Import


def test_importing_the_package_loads_neither_aiohttp_nor_the_server():
    program = (
        "import sys, listwatch.server; "
        "print('aiohttp' in sys.modules, 'listwatch.server.verbs.pipeline' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_package_exports_the_server():
    import listwatch.server

    assert listwatch.server.APIServer is APIServer
    assert "APIServer" in dir(listwatch.server)
    with pytest.raises(AttributeError):
        _ = listwatch.server.Missing  # type: ignore[attr-defined]  # that is the point
