"""Secrets in no representation, error, traceback or log: error trackers record all of these, and local variables."""

import gc
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import trustme
import yaml

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.auth.credential import Credential, IssuedCredential
from listwatch.client.auth.exec_plugin import _ExecCredential, _Status
from listwatch.client.auth.oidc import _Tokens
from listwatch.client.config.client_config import ClientConfig, ExecConfig, OIDCConfig
from listwatch.client.config.kubeconfig import load_config, read_kubeconfig
from listwatch.client.config.tls import ClientCertificate, TLSContexts
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.transport.sockets import SocksProxy
from listwatch.errors import ListWatchError
from listwatch.models.core_v1 import Secret
from listwatch.testing.scripted_server import CLOSE, HANG, RESET, Reply, ScriptedServer, chunk, respond, stream_head

CANARY = "c4n4ry"
BYTES = CANARY.encode()
ISSUED = trustme.CA().issue_cert("jane@example.com")


# --- What is shown ----------------------------------------------------------------------------------------------------

PLUGIN = ExecConfig(command="plugin", args=[CANARY], env={"TOKEN": CANARY}, cluster_config={"a": CANARY})
PROVIDER = OIDCConfig(
    issuer_url=f"https://jane:{CANARY}@idp", client_id="c", client_secret=CANARY, id_token=CANARY, refresh_token=CANARY
)
VALUES = [
    HTTPRequest("POST", f"/api/v1/secrets?a={CANARY}", {"Authorization": CANARY}, BYTES),
    HTTPResponse(200, {"Set-Cookie": CANARY}, BYTES, [CANARY]),
    HTTPResponse(200, {"Set-Cookie": CANARY}, [BYTES]),
    ClientConfig(
        host="https://10.0.0.1",
        token=CANARY,
        client_cert_data=BYTES,
        client_key_data=BYTES,
        proxy_url=f"http://jane:{CANARY}@proxy",
        exec=PLUGIN,
    ),
    ClientConfig(host="https://10.0.0.1", username="jane", password=CANARY, auth_provider=PROVIDER),
    Credential(CANARY, ClientCertificate(BYTES, BYTES)),
    IssuedCredential(Credential(CANARY)),
    SocksProxy.from_url(f"socks5://jane:{CANARY}@proxy"),
    _ExecCredential(status=_Status(token=CANARY, client_key_data=CANARY)),
    _Status(token=CANARY, client_certificate_data=CANARY, client_key_data=CANARY),
    _Tokens(id_token=CANARY, refresh_token=CANARY),
    TLSContexts(ClientConfig(host="https://10.0.0.1", token=CANARY)),
]


def shown(value: object) -> str:
    """All representations of a value, including that of the `rich` protocol."""
    rich = getattr(value, "__rich_repr__", None)
    return f"{value!r} {value} {list(rich()) if rich else ''}"


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_shows_no_secret(value: object):
    assert CANARY not in shown(value)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_nothing_that_a_value_refers_to_is_a_class_of_ours_that_shows_secrets(value: object):
    ours = [each for each in reachable(value) if type(each).__module__.startswith("listwatch")]
    assert not [type(each) for each in ours if CANARY in shown(each)]


def reachable(value: object) -> Iterator[object]:
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, type) or callable(each):
            continue
        seen[id(each)] = each
        yield each
        names = chain.from_iterable(getattr(kind, "__slots__", ()) for kind in type(each).__mro__)
        waiting += [getattr(each, name) for name in names if not name.startswith("__") and hasattr(each, name)]
        waiting += gc.get_referents(each)


def write_kubeconfig(path: Path, **user: Any) -> str:
    path.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1"}}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return str(path)


def test_a_kubeconfig_shows_no_secret(tmp_path: Path):
    plugin = {"command": "c", "args": [CANARY], "env": [{"name": "A", "value": CANARY}], "apiVersion": "v1"}
    path = write_kubeconfig(tmp_path / "config", token=CANARY, password=CANARY, exec=plugin)
    found = read_kubeconfig(path)
    ours = [each for each in reachable(found) if type(each).__module__.startswith("listwatch")]
    assert len(ours) > 5
    assert not [type(each) for each in ours if CANARY in shown(each)]


# --- Errors -----------------------------------------------------------------------------------------------------------


def leaks(error: BaseException, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Where an error, its causes, the frames of their tracebacks, or the log show the secret."""
    found = [record.getMessage() for record in caplog.records if CANARY in f"{vars(record)}"]
    chained: list[BaseException] = [error]
    for each in chained:
        following = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        chained += [following] if following is not None else []
        text = f"{each!r} {each} {vars(each)} {getattr(each, '__notes__', '')}"
        found += [f"{type(each).__name__}: {text}"] if CANARY in text else []
        for frame, _ in traceback.walk_tb(each.__traceback__):
            found += _leaking_locals(frame)
    return found


def _leaking_locals(frame: FrameType) -> list[str]:
    if frame.f_code.co_filename == __file__:
        return []
    return [
        f"{frame.f_code.co_qualname if sys.version_info >= (3, 11) else ''}: {name}"
        for name, value in frame.f_locals.items()
        if CANARY in _safe_repr(value)
    ]


def _safe_repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001  # of a half-initialized object
        return str(type(error))


@contextmanager
def no_leak(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ListWatchError) as caught:
        yield
    assert leaks(caught.value, caplog) == []


COMPLETE_HEADERS = {"Set-Cookie": CANARY}
HOSTILE: dict[str, Reply] = {
    "closed": CLOSE,
    "reset": RESET,
    "closed in the body": [respond(headers={"Content-Length": "100", **COMPLETE_HEADERS}), BYTES, CLOSE],
    "too large": [respond(headers={"Content-Length": str(2**50), **COMPLETE_HEADERS}), BYTES, CLOSE],
    "not HTTP": BYTES + b"\r\n\r\n",
    "not gzip": respond(200, BYTES, headers={"Content-Encoding": "gzip", **COMPLETE_HEADERS}),
    "unknown encoding": respond(200, BYTES, headers={"Content-Encoding": "br", **COMPLETE_HEADERS}),
    "invalid chunk": [stream_head(headers=COMPLETE_HEADERS), b"-1\r\n" + BYTES],
    "unauthorized": respond(401, b"{}", headers=COMPLETE_HEADERS),
    "informational": b"HTTP/1.1 100 Continue\r\n\r\n" * 100,
    "broken JSON": respond(200, b'{"kind":"Secret","data":{"a":"' + BYTES, headers=COMPLETE_HEADERS),
    "another kind": respond(200, b'{"kind":"Pod","data":{"a":"' + BYTES + b'"}}'),
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
async def test_no_failed_request_shows_its_headers_or_bodies(reply: Reply, caplog: pytest.LogCaptureFixture):
    secret = Secret.from_dict({"metadata": {"name": "s"}, "stringData": {"password": CANARY}})
    async with ScriptedServer(otherwise=reply) as server:
        config = ClientConfig(host=server.url, token=CANARY)
        async with RESTClient(config) as rest:
            with no_leak(caplog):
                (await rest.post().namespace("a").resource("secrets").body(secret).do()).into(Secret)


@pytest.mark.parametrize(
    "reply", [*HOSTILE.values(), [stream_head(), chunk(BYTES + b"\n"), HANG]], ids=[*HOSTILE, "not an event"]
)
async def test_no_failed_watch_shows_its_headers_or_events(reply: Reply, caplog: pytest.LogCaptureFixture):
    async with ScriptedServer(otherwise=reply) as server:
        config = ClientConfig(host=server.url, token=CANARY, max_event_size=1000)
        async with RESTClient(config) as rest:
            with no_leak(caplog):
                async for _ in rest.get().resource("secrets").max_retries(0).watch(Secret):
                    pass
                raise ListWatchError("a watch whose connection is lost is empty")


async def test_no_refused_connection_shows_its_headers_or_proxy(caplog: pytest.LogCaptureFixture):
    for proxy in ("", f"http://jane:{CANARY}@127.0.0.1:1", f"socks5://jane:{CANARY}@127.0.0.1:1"):
        async with RESTClient(ClientConfig(host="http://127.0.0.1:1", token=CANARY, proxy_url=proxy)) as rest:
            with no_leak(caplog):
                await rest.get().resource("pods").do()


async def test_no_timeout_shows_the_headers(caplog: pytest.LogCaptureFixture):
    async with ScriptedServer(HANG) as server, RESTClient(ClientConfig(host=server.url, token=CANARY)) as rest:
        with no_leak(caplog):
            await rest.get().resource("pods").timeout(0.05).do()


# --- Errors of credentials and configurations -------------------------------------------------------------------------

PLUGINS = {
    "a failure": f"echo {CANARY}; exit 1",
    "no JSON": f"echo {CANARY}",
    "a wrong type": f'echo \'{{"kind":"ExecCredential","status":{{"token":["{CANARY}"]}}}}\'',
    "a wrong version": f'echo \'{{"kind":"ExecCredential","apiVersion":"v9","status":{{"token":"{CANARY}"}}}}\'',
    "a token of two lines": (
        'echo \'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",'
        f'"status":{{"token":"{CANARY}\\\\n{CANARY}"}}}}\''
    ),
    "an invalid certificate": (
        'echo \'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",'
        f'"status":{{"clientCertificateData":"{CANARY}","clientKeyData":"{CANARY}"}}}}\''
    ),
    "too much": f"yes {CANARY}",
}


@pytest.mark.parametrize("script", PLUGINS.values(), ids=PLUGINS)
async def test_no_error_of_a_plugin_shows_its_output(script: str, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "plugin").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "plugin").chmod(0o755)
    plugin = ExecConfig(command=str(tmp_path / "plugin"), env={"TOKEN": CANARY}, interactive_mode="Never")
    async with RESTClient(ClientConfig(host="https://127.0.0.1:1", exec=plugin)) as rest:
        with no_leak(caplog):
            await rest.get().resource("pods").do()


PROVIDERS: dict[str, list[Reply]] = {
    "closed": [CLOSE],
    "no JSON": [respond(200, BYTES)],
    "rejected": [respond(200, b'{"token_endpoint":"%s/token"}'), respond(400, BYTES), respond(400, BYTES)],
    "closed later": [respond(200, b'{"token_endpoint":"%s/token"}'), CLOSE],
}


@pytest.mark.parametrize("replies", PROVIDERS.values(), ids=PROVIDERS)
async def test_no_error_of_a_provider_shows_tokens(replies: list[Reply], caplog: pytest.LogCaptureFixture):
    async with ScriptedServer(otherwise=CLOSE) as server:
        for reply in replies:
            body = b'{"token_endpoint":"%s/token"}' % server.url.encode()
            server.will(respond(200, body) if isinstance(reply, bytes) and b"%s" in reply else reply)
        provider = OIDCConfig(issuer_url=server.url, client_id="c", client_secret=CANARY, refresh_token=CANARY)
        async with RESTClient(ClientConfig(host="https://127.0.0.1:1", auth_provider=provider)) as rest:
            with no_leak(caplog):
                await rest.get().resource("pods").do()


async def test_no_error_of_a_token_file_shows_it(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "token").write_text(f"{CANARY}\n{CANARY}")
    async with RESTClient(ClientConfig(host="https://127.0.0.1:1", token_file=str(tmp_path / "token"))) as rest:
        with no_leak(caplog):
            await rest.get().resource("pods").do()


@pytest.mark.parametrize(
    "content",
    [
        f"users: [{{name: u, user: {{token: [{CANARY}]}}}}]",
        f"users: [{{name: u, user: {{token: {CANARY}}}}}]\ncurrent-context: missing",
        f"users: [{{name: u, user: {{token: {CANARY}",
        f"token: {CANARY}\n\tbroken",
        f"kind: {CANARY}",
    ],
)
def test_no_error_of_a_kubeconfig_shows_its_contents(
    content: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "config").write_text(content)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    for load in (lambda: load_config(), lambda: load_config(tmp_path / "config")):
        with no_leak(caplog):
            load()


def test_no_error_of_a_configuration_shows_the_overrides(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = write_kubeconfig(tmp_path / "config", token=CANARY)
    with no_leak(caplog):
        load_config(path, namespace="Not A Namespace", token=CANARY, timeout=-1)
