"""Clients that record what they receive, from a real server, and informers on the replay of that."""

import asyncio
import base64
import gzip
import math
from pathlib import Path
from typing import Any

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.client import Recorder
from listwatch.client.rest.recording_transport import RecordingStream
from listwatch.clock import SystemClock
from listwatch.errors import ConfigError, ServiceUnavailableError, UsageError
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects import ObjectMeta
from listwatch.recording import recorder as recorder_module
from listwatch.recording.recording_file import read_entries
from listwatch.recording.records import End, Request, Response
from listwatch.recording.targets import Target, target_of
from listwatch.server import APIServer, CutStream, Expire, Fail, Fault, Playback
from listwatch.testing.clocks import SkewedClock

UNAVAILABLE = ServiceUnavailableError("the server is not available")


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"app": name}), data=data)


async def seed(client: lw.ClientSet, count: int = 5) -> None:
    for number in range(count):
        await client.core_v1.configmaps("default").create(config_map(f"c{number}", at="start"))


def recorded(file: Path, kind: Any) -> list[Any]:
    return [each.record for each in read_entries(file) if isinstance(each.record, kind)]


class Pieces:
    """A stream with these pieces."""

    status = 200
    is_closed = False

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self.headers: dict[str, str] = {}
        self.warnings: list[str] = []

    async def read(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def set_idle_timeout(self, seconds: float) -> None: ...

    def close(self) -> None: ...


def contents(informer: Any) -> dict[str, dict[str, Any]]:
    return {each.key: each.to_dict() for each in informer.indexer.list()}


# --- What is recorded


async def test_reads_are_recorded_without_credentials_and_secret_values(tmp_path: Path):
    async with APIServer(token="the-token") as server, lw.ClientSet(server.config) as writer:
        await seed(writer, 2)
        secret = Secret(metadata=ObjectMeta(name="s"), string_data={"password": "hunter2"})
        await writer.core_v1.secrets("default").create(secret)
        async with lw.ClientSet(server.config, record=tmp_path / "a.lwrec") as client:
            maps, secrets = client.core_v1.configmaps("default"), client.core_v1.secrets("default")
            page = await maps.list(limit=1)
            async with maps.watch(resource_version=page.resource_version) as events:
                await writer.core_v1.configmaps("default").delete("c0")
                assert (await anext(aiter(events))).type == "DELETED"
            await secrets.list()
            await secrets.get("s")
            async with secrets.watch() as events:
                await anext(aiter(events))
            with pytest.raises(lw.errors.NotFoundError):
                await maps.get("missing")
            await maps.create(config_map("written"))
            await client.dynamic.resource("pods").list()
    content = gzip.decompress((tmp_path / "a.lwrec").read_bytes())
    for secret_text in (b"the-token", b"Authorization", b"hunter2", base64.b64encode(b"hunter2"), b"written"):
        assert secret_text not in content
    requests = [(each.verb, each.resource, each.name) for each in recorded(tmp_path / "a.lwrec", Request)]
    assert requests == [
        ("list", "configmaps", ""),
        ("watch", "configmaps", ""),
        ("list", "secrets", ""),
        ("get", "secrets", "s"),
        ("watch", "secrets", ""),
        ("get", "configmaps", "missing"),
        ("list", "pods", ""),
    ]
    assert b'"password":"UkVEQUNURUQ="' in content
    assert [each.status for each in recorded(tmp_path / "a.lwrec", Response)] == [200, 200, 200, 200, 200, 404, 200]


async def test_secrets_are_recorded_on_request(tmp_path: Path):
    async with APIServer() as server:
        with Recorder(tmp_path / "a.lwrec", secrets=True) as recorder:
            async with lw.ClientSet(server.config, record=recorder) as client:
                secret = Secret(metadata=ObjectMeta(name="s"), string_data={"password": "hunter2"})
                await client.core_v1.secrets("default").create(secret)
                await client.core_v1.secrets("default").get("s")
            assert recorder.is_recording  # the caller closes it
    assert base64.b64encode(b"hunter2") in gzip.decompress((tmp_path / "a.lwrec").read_bytes())


@pytest.mark.parametrize(
    ("target", "accept", "expected"),
    [
        (
            "/api/v1/pods?watch=true&labelSelector=a%3Db&token=x",
            "",
            ("watch", "", "pods", "", {"labelSelector": "a=b"}),
        ),
        ("/apis/apps/v1/namespaces/d/deployments/web", "", ("get", "d", "deployments", "web", {})),
        ("/api/v1/namespaces/d", "", ("get", "", "namespaces", "d", {})),
        ("/api/v1/namespaces/d/status", "", None),
        ("/api/v1/namespaces/d/pods/web/log", "", None),
        ("/api/v1/pods", "application/json;as=Table;v=v1;g=meta.k8s.io", None),
        ("/apis", "", None),
        ("/openapi/v3", "", None),
        ("/version", "", None),
        # Not read as another resource, whose values are not redacted.
        ("/api/v1/watch/secrets", "", None),
        ("/api/v1//secrets", "", None),
    ],
)
def test_requests_for_objects_are_recorded_with_known_parameters(target: str, accept: str, expected: Any):
    found = target_of(lw.client.HTTPRequest("GET", target, {"Accept": accept}))
    assert (found and (found.verb, found.namespace, found.resource, found.name, found.query)) == expected


async def test_a_read_that_is_cancelled_while_the_disk_is_behind_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with Recorder(tmp_path / "a.lwrec") as recorder:
        exchange = recorder._begin(Target("watch", "", "v1", "pods", "", "", {}, metadata_only=False))
        assert exchange is not None
        stream = RecordingStream(Pieces([b"1", b"2"]), exchange)
        monkeypatch.setattr(recorder_module, "_MAX_BACKLOG", -1)
        pending = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        assert not pending.done()
        pending.cancel()
        await asyncio.wait([pending])
        monkeypatch.undo()
        assert [await stream.read(), await stream.read()] == [b"1", b"2"]


async def test_what_was_written_before_a_kill_is_readable(tmp_path: Path):
    async with APIServer() as server, lw.ClientSet(server.config, record=tmp_path / "a.lwrec") as client:
        await client.core_v1.namespaces().list()
        client.rest._session._recording.recorder.flush()
        content = (tmp_path / "a.lwrec").read_bytes()  # what a killed process leaves
    (tmp_path / "killed.lwrec").write_bytes(content)
    async with APIServer(replay=tmp_path / "killed.lwrec") as server, lw.ClientSet(server.config) as client:
        assert "kube-system" in [each.name for each in await client.core_v1.namespaces().list()]


async def test_a_recording_stops_at_its_size_and_the_client_continues(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with Recorder(tmp_path / "a.lwrec", max_size=300) as recorder:
        async with APIServer() as server, lw.ClientSet(server.config, record=recorder) as client:
            for _ in range(3):
                assert await client.core_v1.namespaces().list()
                recorder.flush()
        assert "max_size" in recorder.statistics().stopped
    assert caplog.text.count("stopped: the file has reached max_size, 300 bytes") == 1
    assert (tmp_path / "a.lwrec").stat().st_size <= 300


async def test_a_client_whose_recording_cannot_be_written_does_not_start(tmp_path: Path):
    async with APIServer() as server:
        client = lw.ClientSet(server.config, record=tmp_path)
        with pytest.raises(ConfigError, match="cannot be written"):
            await client.__aenter__()
        with pytest.raises(UsageError, match="pass record to the RESTClient"):
            lw.ClientSet(client.rest, record="other.lwrec")
        await client.aclose()


def test_blocking_clients_record(tmp_path: Path, api_server: APIServer):
    with blocking.ClientSet(api_server.config, record=tmp_path / "a.lwrec") as client:
        client.core_v1.namespaces().list()
    assert [each.how for each in recorded(tmp_path / "a.lwrec", End)] == ["complete"]


# --- Informers on a replay


def fast() -> SkewedClock:
    """A clock with which an informer waits hardly at all before it retries."""
    return SkewedClock(SystemClock(), rate=200.0)


async def record_incident(file: Path, **options: Any) -> tuple[dict[str, dict[str, Any]], str]:
    """Record an informer while objects change and its server fails; returns its last store and version."""
    async with APIServer() as server, lw.ClientSet(server.config) as writer:
        await seed(writer)
        maps = writer.core_v1.configmaps("default")
        config = lw.ClientConfig(host=server.config.host, token=server.token, **options)
        async with (
            lw.ClientSet(config, record=file) as client,
            lw.SharedInformerFactory(client, clock=fast()) as factory,
        ):
            informer = factory.core_v1.configmaps.informer

            async def change(name: str, *faults: Fault) -> str:
                for each in faults:
                    server.faults.add(each)
                version = (await maps.patch(name, {"data": {"at": name}})).resource_version
                await informer.wait_until(version)
                server.faults.clear()
                return version

            await informer.wait_for_sync()
            await change("c1")
            await maps.delete("c2")
            await change(
                "c3", Fault(CutStream(), verb="watch", times=1), Fault(Fail(UNAVAILABLE), verb="watch", times=2)
            )
            await maps.create(config_map("new"))
            await change("c0", Fault(Expire(), verb="watch", times=1))
            version = await change("c4")
            return contents(informer), version


@pytest.mark.parametrize("options", [{}, {"content_type": "protobuf"}])
async def test_informers_on_a_replay_end_with_the_store_of_the_recorded_one(tmp_path: Path, options: Any):
    expected, version = await record_incident(tmp_path / "a.lwrec", **options)
    assert 503 in {each.status for each in recorded(tmp_path / "a.lwrec", Response)}
    assert b'"code":410' in gzip.decompress((tmp_path / "a.lwrec").read_bytes()) or options
    playback = Playback(tmp_path / "a.lwrec", speed=math.inf, wait_for_watches=2)
    async with (
        APIServer(replay=playback) as server,
        lw.ClientSet(server.config) as client,
        lw.SharedInformerFactory(client, clock=fast()) as factory,
        lw.SharedInformerFactory(client, clock=fast(), namespace="default") as other,
    ):
        for informer in (factory.core_v1.configmaps.informer, other.core_v1.configmaps.informer):
            await informer.wait_until(version)
            assert contents(informer) == expected
