"""The whole texts of the errors that users see most: what failed, on which object, why, and what to do.

`docs/troubleshooting.md` quotes them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import json
import re
import ssl
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

import listwatch as lw
from listwatch import blocking
from listwatch.client.config.client_config import ClientConfig, ExecConfig
from listwatch.client.transport.network_errors import to_transport_error
from listwatch.errors import (
    BadKeyError,
    ConfigError,
    ConnectionLostError,
    DecodeError,
    InvalidError,
    NoMatchError,
    SyncTimeoutError,
    TransportError,
    TransportTimeoutError,
    UnauthorizedError,
    UsageError,
)
from listwatch.informer.reflector.initial_events import InitialEventsDeadline
from listwatch.informer.reflector.problems import Problem
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.testing.clocks import InstantClock, VirtualClock
from listwatch.testing.scripted_server import HANG, ScriptedServer, respond

DOCS = Path(__file__).parents[1] / "docs"
SECRET = "c4n4ry"
PATH = "/api/v1/namespaces/default/configmaps"


async def error_of(config: ClientConfig, **options: Any) -> str:
    async with lw.ClientSet(config) as client:
        with pytest.raises(lw.errors.ListWatchError) as caught:
            await client.core_v1.configmaps("default").list(**options)
    return str(caught.value)


# --- Credentials ------------------------------------------------------------------------------------------------------


def json_web_token(expires: datetime) -> str:
    claims = json.dumps({"exp": expires.timestamp()}).encode()
    return f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.{SECRET}"


UNAUTHORIZED = f"GET {PATH}: Unauthorized (Unauthorized, 401); the client sent "


async def test_401_names_a_token_of_the_configuration():
    async with APIServer() as server:
        text = await error_of(ClientConfig(host=server.url, token=SECRET))
    assert text == UNAUTHORIZED + "the token of the ClientConfig"


async def test_401_says_that_nothing_was_sent():
    async with APIServer() as server:
        text = await error_of(ClientConfig(host=server.url))
    assert text == (
        UNAUTHORIZED + "no credential: the ClientConfig has none; set token, token_file or a client certificate"
    )


async def test_401_names_the_file_of_a_token(tmp_path: Path):
    (tmp_path / "token").write_text(SECRET)
    async with APIServer() as server:
        text = await error_of(ClientConfig(host=server.url, token_file=str(tmp_path / "token")))
    assert text == UNAUTHORIZED + f"the token of the file {tmp_path}/token"


async def test_401_names_the_user_of_a_password():
    async with APIServer() as server:
        text = await error_of(ClientConfig(host=server.url, username="jane", password=SECRET))
    assert text == UNAUTHORIZED + "the user name 'jane' and the password of the ClientConfig"


async def test_401_says_when_a_token_has_expired():
    async with APIServer() as server:
        text = await error_of(
            ClientConfig(host=server.url, token=json_web_token(datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)))
        )
        valid = await error_of(
            ClientConfig(host=server.url, token=json_web_token(datetime.now(UTC) + timedelta(hours=1)))
        )
    assert text == UNAUTHORIZED + "the token of the ClientConfig, which expired at 2024-02-03T04:05:06Z"
    assert valid == UNAUTHORIZED + "the token of the ClientConfig"


async def test_401_names_an_exec_plugin(tmp_path: Path):
    plugin = tmp_path / "plugin"
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": SECRET},
    }
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    async with APIServer(tls=True) as server:
        config = ClientConfig(host=server.url, ca_data=server.config.ca_data, exec=ExecConfig(command=str(plugin)))
        text = await error_of(config)
    assert text == UNAUTHORIZED + f"a credential of the exec plugin '{plugin}'"


async def test_401_names_the_header_of_a_request():
    async with APIServer() as server, lw.RESTClient(server.config) as rest:
        with pytest.raises(UnauthorizedError) as caught:
            await rest.get().resource("pods").header("Authorization", f"Bearer {SECRET}").do()
    assert str(caught.value).endswith("; the client sent the Authorization header that was set on the request")


@pytest.fixture
async def kubeconfig(tmp_path: Path) -> Any:
    """A kubeconfig for a running server, whose user has a wrong token."""
    async with APIServer(tls=True) as server:
        server.kubeconfig(tmp_path / "config")
        document = yaml.safe_load((tmp_path / "config").read_text())
        document["users"][0]["user"]["token"] = SECRET
        (tmp_path / "config").write_text(yaml.safe_dump(document))
        yield tmp_path / "config"


async def test_401_names_the_user_of_a_kubeconfig(kubeconfig: Path):
    assert await error_of(lw.load_config(kubeconfig)) == (
        UNAUTHORIZED + f'the token of user "listwatch" in {kubeconfig}'
    )


async def test_401_does_not_name_the_kubeconfig_for_a_token_that_replaces_its_own(kubeconfig: Path):
    assert await error_of(lw.load_config(kubeconfig, token="other")) == UNAUTHORIZED + "the token of the ClientConfig"


async def test_401_says_that_credentials_of_a_kubeconfig_are_not_sent_over_plain_http(tmp_path: Path):
    async with APIServer() as server:
        server.kubeconfig(tmp_path / "config", plain_http=True)
        text = await error_of(lw.load_config(tmp_path / "config"))
    assert text == (
        UNAUTHORIZED + f'no credential: those of user "listwatch" in {tmp_path}/config are not sent over plain http'
    )


async def test_401_of_a_watch_names_the_credential_too():
    async with APIServer() as server, lw.ClientSet(ClientConfig(host=server.url, token=SECRET)) as client:
        with pytest.raises(UnauthorizedError) as caught:
            async for _ in client.core_v1.configmaps("default").watch():
                pass
    assert str(caught.value) == UNAUTHORIZED + "the token of the ClientConfig"


async def test_no_message_of_401_contains_the_credential(kubeconfig: Path):
    assert SECRET not in await error_of(lw.load_config(kubeconfig))


# --- Configuration ----------------------------------------------------------------------------------------------------


def test_a_wrong_context_names_the_existing_ones(tmp_path: Path):
    contexts = [{"name": name, "context": {"cluster": "c"}} for name in ("prod", "staging")]
    document = {"clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1"}}], "contexts": contexts}
    (tmp_path / "config").write_text(yaml.safe_dump(document))
    with pytest.raises(ConfigError) as caught:
        lw.load_config(tmp_path / "config", "stagging")
    assert str(caught.value) == f'{tmp_path}/config: context "stagging": does not exist; known: prod, staging'


def test_without_a_configuration_the_error_says_what_was_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_MASTER", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError) as caught:
        lw.load_config()
    assert str(caught.value) == (
        "no API server is configured: KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod"
    )


# --- Selectors --------------------------------------------------------------------------------------------------------


async def test_a_field_that_the_server_does_not_select_by_is_named():
    async with APIServer() as server:
        text = await error_of(server.config, field_selector="data.a=b")
    assert text == (
        f'GET {PATH}: "data.a" is not a known field selector: only "metadata.name", "metadata.namespace" '
        "(BadRequest, 400); the server rejects field_selector='data.a=b'"
    )


async def test_an_informer_reports_the_rejected_selector_and_retries():
    problems: asyncio.Queue[Problem] = asyncio.Queue()
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        source = client.core_v1.pods().selecting(field_selector="spec.a=b")
        async with lw.SharedIndexInformer(source, Pod, on_problem=problems.put_nowait) as informer:
            attempts = [await problems.get() for _ in range(2)]
            reason = informer.why_not_synced()
    for text in (str(attempts[0].error), str(attempts[1].error), reason or ""):
        assert text.endswith("the server rejects field_selector='spec.a=b'")


# --- TLS --------------------------------------------------------------------------------------------------------------


async def test_https_on_a_server_without_tls_is_an_error_that_names_http():
    async with APIServer() as server:
        host = server.url.removeprefix("http://")
        text = await error_of(ClientConfig(host=f"https://{host}", insecure_skip_tls_verify=True))
    assert text == (f"GET {PATH}: {host}: the server does not use TLS on this port; write http:// in the URL")


async def test_http_on_a_server_with_tls_is_an_error_that_names_https():
    async with APIServer(tls=True) as server:
        host = server.url.removeprefix("https://")
        async with lw.RESTClient(ClientConfig(host=f"http://{host}")) as rest:
            with pytest.raises(TransportError) as caught:
                await rest.get().resource("pods").max_retries(0).do()
    assert isinstance(caught.value, ConnectionLostError)
    assert re.fullmatch(
        rf"GET /api/v1/pods: {host}: (the connection was reset|the server closed the connection "
        r"without a response); if the server expects TLS, write https:// in the URL",
        str(caught.value),
    )


async def test_http_on_a_kube_apiserver_is_an_error_that_names_https():
    rejected = respond(
        400, b"Client sent an HTTP request to an HTTPS server.\n", headers={"Content-Type": "text/plain"}
    )
    async with ScriptedServer(rejected) as server:
        text = await error_of(ClientConfig(host=server.url))
    assert text == (
        f"GET {PATH}: {server.url.removeprefix('http://')}: the server expects TLS on this port; "
        "write https:// in the URL"
    )


async def test_a_lost_connection_to_a_server_that_has_responded_does_not_mention_tls():
    from listwatch.testing.scripted_server import CLOSE

    async with (
        ScriptedServer(respond(200, b"{}"), CLOSE) as server,
        lw.RESTClient(ClientConfig(host=server.url)) as rest,
    ):
        await rest.get().abs_path("/version").do()
        with pytest.raises(ConnectionLostError) as caught:
            await rest.get().abs_path("/version").max_retries(0).do()
    assert str(caught.value).endswith(": the server closed the connection without a response")


def expired(authority: trustme.CA, *names: str) -> trustme.LeafCert:
    return authority.issue_cert(*names, not_after=datetime(2020, 1, 1, tzinfo=UTC))


async def test_a_server_certificate_that_has_expired():
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    expired(authority, "127.0.0.1").configure_cert(context)
    async with ScriptedServer(tls=context) as server:
        text = await error_of(ClientConfig(host=server.url, ca_data=authority.cert_pem.bytes()))
    assert text == (
        f"GET {PATH}: {server.url.removeprefix('https://')}: the server certificate has expired; renew it on the "
        "server, or correct the clock of this machine"
    )


def test_a_client_certificate_that_has_expired():
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED
    expired(authority, "jane@example.com").configure_cert(client)
    authority.configure_trust(client)
    assert str(to_transport_error(handshake_error(server, client))) == (
        "the client certificate has expired; renew it, in the kubeconfig or where client_cert_file points to"
    )


def handshake_error(server: ssl.SSLContext, client: ssl.SSLContext) -> ssl.SSLError:
    """Let a client and a server exchange their messages; return the error of the client."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    accepting = server.wrap_bio(to_server, to_client, server_side=True)
    connecting = client.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    for _ in range(10):
        try:
            connecting.do_handshake()
            connecting.read()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            return error
        with contextlib.suppress(ssl.SSLError):
            accepting.do_handshake()
    raise AssertionError("the handshake succeeded")


# --- Timeouts ---------------------------------------------------------------------------------------------------------


async def test_a_request_without_a_response_names_its_timeout():
    async with ScriptedServer(otherwise=HANG) as server:
        text = await error_of(ClientConfig(host=server.url, timeout=0.05))
    assert text == f"GET {PATH}: {server.url.removeprefix('http://')}: no response within 0.05 s; set a longer timeout"


async def test_a_watch_without_a_response_does_not_advise_a_longer_timeout():
    clock = InstantClock()
    async with (
        ScriptedServer(otherwise=HANG) as server,
        lw.RESTClient(ClientConfig(host=server.url), clock=clock) as rest,
    ):
        with pytest.raises(TransportTimeoutError) as caught:
            async for _ in rest.get().resource("pods").max_retries(0).watch():
                pass
    assert str(caught.value) == (
        f"GET /api/v1/pods: {server.url.removeprefix('http://')}: no response within 30 s; the server, or a proxy "
        "before it, does not start the response"
    )


def test_the_limit_of_initial_events_is_named_as_it_was_applied():
    deadline = InitialEventsDeadline("5", 0.0)
    assert deadline.limit == "10 s after the last of them"

    class Event:
        type = "ADDED"

        class object:  # noqa: N801  # the attribute of an event
            resource_version = "9"

    for second in range(9, 28, 9):
        Event.object.resource_version = str(second)
        deadline.receive([Event], has_new_objects=True, now=second)
    assert deadline.limit == "30 s after the last of them, although new objects followed"
    Event.type = "MODIFIED"
    deadline.receive([Event], has_new_objects=False, now=29.0)
    assert deadline.limit == "10 s after the first change"


# --- Clients that are not closed --------------------------------------------------------------------------------------


@contextmanager
def resource_warnings() -> Iterator[list[str]]:
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
        gc.collect()
    texts += [str(each.message) for each in caught if each.category is ResourceWarning]


async def test_a_client_that_was_never_closed_is_named_with_the_line_that_closes_it(
    caplog: pytest.LogCaptureFixture,
):
    async with APIServer() as server:
        with resource_warnings() as found:
            url = server.url
            client = lw.ClientSet(server.config)
            await client.core_v1.configmaps("default").list()
            del client
    text = (
        f"ClientSet of {url} was never closed; use it as `async with ClientSet(...) as client:`, or "
        "call `await client.aclose()` at its end"
    )
    assert found == [text]
    logged = [each for each in caplog.records if each.name != "asyncio" or "nclosed" in each.getMessage()]
    assert [(each.name, each.levelname, each.getMessage()) for each in logged] == [
        ("listwatch.client", "WARNING", text)
    ]


@pytest.mark.parametrize("kind", [lw.RESTClient, lw.DynamicClient, lw.MetadataClient, lw.DiscoveryClient])
async def test_every_client_is_named_by_its_class(kind: Any):
    async with APIServer() as server:
        with resource_warnings() as found:
            client = kind(server.config)
            rest = client if isinstance(client, lw.RESTClient) else client.rest
            await rest.get().abs_path("/version").do()
            del client, rest
    assert [each.split(" of ")[0] for each in found] == [kind.__name__]


async def test_closed_and_unused_clients_are_not_reported():
    async with APIServer() as server:
        with resource_warnings() as found:
            lw.ClientSet(server.config)
            async with lw.ClientSet(server.config) as client:
                await client.core_v1.configmaps("default").list()
            del client
    assert found == []


async def test_a_watch_keeps_its_client_open_although_only_the_watch_is_referenced():
    async with APIServer() as server:
        with resource_warnings() as found:
            stream = lw.ClientSet(server.config).core_v1.configmaps("default").watch()
            async with stream:
                gc.collect()
                async with lw.ClientSet(server.config) as other:
                    await other.core_v1.configmaps("default").create(
                        ConfigMap(metadata=ObjectMeta(name="a", namespace="default"))
                    )
                assert (await anext(aiter(stream))).object.name in ("a", "kube-root-ca.crt")
            del stream
    assert len(found) == 1  # after the watch


def test_a_blocking_client_that_is_garbage_collected_is_closed_without_a_warning():
    from listwatch.testing import APIServerThread

    with APIServerThread() as server, resource_warnings() as found:
        blocking.ClientSet(server.config).core_v1.configmaps("default").list()
    assert found == []


async def test_close_is_explained():
    async with (
        lw.ClientSet(ClientConfig(host="http://127.0.0.1:1")) as client,
        lw.RESTClient(client.rest.config) as rest,
    ):
        for each in (client, rest, client.dynamic):
            name = type(each).__name__
            with pytest.raises(AttributeError) as caught:
                _ = each.close  # type: ignore[attr-defined]  # that is the test
            assert str(caught.value) == (
                f"'{name}' object has no attribute 'close': call `await client.aclose()`, or write "
                f"`async with {name}(...) as client:`"
            )


async def test_with_is_explained():
    with pytest.raises(UsageError) as caught, lw.ClientSet(ClientConfig(host="http://127.0.0.1:1")):
        pass
    assert str(caught.value) == (
        "ClientSet is asynchronous: write `async with` instead of `with`; in a program without an event loop, use "
        "listwatch.blocking.ClientSet"
    )


async def test_async_with_a_blocking_client_is_explained():
    found = ""
    try:
        async with blocking.ClientSet(ClientConfig(host="http://127.0.0.1:1")):  # type: ignore[attr-defined]  # the test
            pass
    except UsageError as error:
        found = str(error)
    assert found == ("blocking.ClientSet is blocking: write `with` instead of `async with`, or use listwatch.ClientSet")


async def test_a_request_after_the_block_is_explained():
    async with APIServer() as server:
        async with lw.ClientSet(server.config) as client:
            await client.core_v1.configmaps("default").list()
        with pytest.raises(UsageError) as caught:
            await client.core_v1.configmaps("default").list()
    assert str(caught.value) == (
        "the client is closed: its `async with` block has ended, or aclose() was called; send requests before that, or "
        "create a new client"
    )


# --- Caches -----------------------------------------------------------------------------------------------------------


async def test_a_key_without_its_namespace_is_an_error():
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
        async with lw.SharedInformerFactory(client) as factory:
            maps, namespaces = factory.core_v1.configmaps, factory.core_v1.namespaces
            await factory.wait_for_sync(timeout=30)
            for get in (maps.informer.indexer.get, maps.lister.get, maps.informer.indexer.__contains__):
                with pytest.raises(BadKeyError) as caught:
                    get("a")
                assert str(caught.value) == (
                    "the key 'a' lacks its namespace: configmaps are namespaced, so their keys are 'namespace/a'; pass "
                    "that, or use lister.namespace('namespace').get('a'); the cache contains 'default/a'"
                )
            assert maps.informer.indexer.get("default/b") is None
            assert "default/b" not in maps.informer.indexer
            assert maps.lister.namespace("default").get("a").name == "a"
            assert namespaces.informer.indexer.get("missing") is None  # cluster-scoped


async def test_the_key_of_a_reconcile_may_be_any_text():
    seen: asyncio.Queue[object] = asyncio.Queue()

    async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
        seen.put_nowait(context.get())

    async with (
        APIServer() as server,
        lw.ClientSet(server.config) as client,
        lw.Controller(reconcile, for_=ConfigMap, client=client, namespace="kube-system") as controller,
    ):
        controller.enqueue("all")
        while await seen.get() is not None:
            pass


async def test_an_informer_that_was_not_started_says_how_it_is_started():
    clock = VirtualClock()
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap, clock=InstantClock())
        with pytest.raises(SyncTimeoutError) as caught:
            await informer.wait_for_sync(timeout=30)
        assert str(caught.value) == (
            "not synced within 30 s: configmaps: the informer was not started; write `async with informer:`, or call "
            "`informer.start()` in the event loop"
        )
        factory = lw.SharedInformerFactory(client, clock=clock)
        factory.informer(ConfigMap)
        with pytest.raises(UsageError) as unstarted:
            await factory.wait_for_sync(timeout=30)
        assert str(unstarted.value) == (
            "wait_for_sync() would wait forever: the informers of configmaps were not started; before waiting, write "
            "`async with factory:`, or call `factory.start()`"
        )
        with pytest.raises(UsageError) as entered, informer:
            pass
        assert str(entered.value) == (
            "SharedIndexInformer is asynchronous: write `async with` instead of `with`; in a program without an event "
            "loop, use listwatch.blocking.SharedIndexInformer"
        )


def test_a_blocking_informer_that_was_not_started_says_how_it_is_started():
    from listwatch.testing import APIServerThread

    with APIServerThread() as server, blocking.ClientSet(server.config) as client:
        informer = blocking.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap)
        assert informer.why_not_synced() == (
            "configmaps: the informer was not started; write `with informer:`, or call `informer.start()`"
        )
        factory = blocking.SharedInformerFactory(client)
        factory.informer(ConfigMap)
        with pytest.raises(UsageError) as caught:
            factory.wait_for_sync(timeout=30)
        assert str(caught.value) == (
            "wait_for_sync() would wait forever: the informers of configmaps were not started; before waiting, write "
            "`with factory:`, or call `factory.start()`"
        )
        informer.stop()
        factory.stop()


# --- Files ------------------------------------------------------------------------------------------------------------

MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: good}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: Bad_Name}
"""


async def test_apply_files_names_the_file_and_the_document(tmp_path: Path):
    (tmp_path / "app.yaml").write_text(MANIFEST)
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        with pytest.raises(InvalidError) as caught:
            await lw.apply_files(client, tmp_path, field_manager="test")
    assert str(caught.value).startswith(
        f'{tmp_path}/app.yaml, document 2: PATCH {PATH}/Bad_Name: ConfigMap "Bad_Name" is invalid: metadata.name: '
    )
    assert caught.value.__notes__ == [
        f"while applying ConfigMap Bad_Name ({tmp_path}/app.yaml, document 2), after 1 other objects"
    ]


async def test_apply_files_names_the_document_of_an_unknown_kind(tmp_path: Path):
    (tmp_path / "app.yaml").write_text("apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: a}\n")
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        with pytest.raises(NoMatchError) as caught:
            await lw.apply_files(client, tmp_path, field_manager="test")
    assert str(caught.value).startswith(f"{tmp_path}/app.yaml, document 1: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MANIFEST + "---\nkind: [", "document 3: "),
        (MANIFEST + "---\n- 7\n", "document 3 is not a mapping with apiVersion and kind"),
        ("kind: [", "did not find expected node content at line 2, column 1"),
    ],
)
async def test_a_file_that_cannot_be_read_is_named_with_its_document(tmp_path: Path, text: str, message: str):
    (tmp_path / "app.yaml").write_text(text)
    async with APIServer() as server, lw.ClientSet(server.config) as client:
        with pytest.raises(DecodeError) as caught:
            await lw.apply_files(client, tmp_path, field_manager="test")
    assert str(caught.value).startswith(f"{tmp_path}/app.yaml: {message}")


# --- The documentation ------------------------------------------------------------------------------------------------


def quoted() -> list[str]:
    """The messages on the page: the code in the first column of its tables."""
    rows = [line for line in (DOCS / "troubleshooting.md").read_text().splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", row.split("|")[1].replace("``", ""))[0] for row in rows]


def test_the_page_has_the_most_likely_errors():
    assert len(quoted()) >= 20


@pytest.mark.parametrize("message", quoted())
def test_a_message_on_the_page_exists(message: str):
    parts = [part.strip() for part in message.split("…") if part.strip()]
    sources = [path.read_text() for path in (Path(__file__), *Path(lw.__file__).parent.rglob("*.py"))]
    everything = re.sub(r'"\s*\n\s*f?"', "", "\n".join(sources))
    assert [part for part in parts if part not in everything] == []
