"""Nothing of the server shows a token, a key, or the content of an object or request in its repr or in the log."""

import asyncio
import gc
import json
import logging
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.caller import Caller

from listwatch.errors import ConfigError
from listwatch.server.access.access import Access
from listwatch.server.access.certificates import CertificateAuthority
from listwatch.server.api_server import APIServer
from listwatch.server.apply.managed_fields import ApplyConfiguration, Manager
from listwatch.server.codec.decoding import Decoded
from listwatch.server.http.exchange import Exchange
from listwatch.server.lifecycle.deletion import Mark, Remove
from listwatch.server.requests import APIRequest, ListResponse, NonResourceRequest, Response, User
from listwatch.server.schema.registry import Registry

SECRETS = "/api/v1/namespaces/default/secrets"
HIDDEN = ["hidden-admin-token", "hidden-user-token", "hidden-value", "aGlkZGVuLXZhbHVl", "hidden-header", "PRIVATE KEY"]


def reachable(start: object) -> Iterator[object]:
    """All objects that can be reached from one, modules and classes excluded."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, types.ModuleType | type | types.FunctionType | types.CodeType):
            continue
        seen.add(id(item))
        yield item
        waiting += gc.get_referents(item)
        if isinstance(item, types.MethodType | types.FrameType | types.CoroutineType | types.GeneratorType):
            continue
        slots = (name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ()))
        waiting += [getattr(item, name) for name in slots if hasattr(item, name)]


def shown(start: object) -> Iterator[tuple[str, str]]:
    """The repr and str of all reachable objects of the server's classes."""
    for item in reachable(start):
        kind = type(item)
        if kind.__module__.startswith("listwatch."):
            for text in (repr(item), str(item)):
                yield f"{kind.__module__}.{kind.__qualname__}", text


def check_hides(start: object) -> set[str]:
    """Fail if a repr shows a secret; returns the names of the classes."""
    names = set()
    for name, text in shown(start):
        assert not [each for each in HIDDEN if each in text], (name, text)
        names.add(name.rpartition(".")[2])
    return names


class Recorder:
    """An admission function and an authorizer that keep what they get."""

    def __init__(self) -> None:
        self.kept: list[object] = []

    def __call__(self, request: APIRequest, new: Any, old: Any) -> None:
        self.kept.append(request)

    def authorize(self, user: User, request: Any) -> Any:
        self.kept += [user, request]
        return types.SimpleNamespace(allowed=True, reason="")


@pytest.mark.parametrize("is_kept", [False, True])
async def test_no_object_of_a_server_shows_a_secret(tmp_path: Path, is_kept: bool, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    recorder = Recorder()
    server = APIServer(
        token="hidden-admin-token",
        users={"hidden-user-token": User("alice")},
        data_dir=tmp_path / "data" if is_kept else None,
        admission=[recorder],
        authorizer=recorder,
    )
    async with server, Caller(server, token="hidden-user-token") as call:
        body = {"metadata": {"name": "a"}, "stringData": {"password": "hidden-value"}}
        created = await call("POST", SECRETS, body, X_Custom="hidden-header")
        assert created.json["data"] == {"password": "aGlkZGVuLXZhbHVl"}
        await call("PUT", f"{SECRETS}/a", {**created.json, "metadata": {"name": "a"}})
        await call(
            "PATCH", f"{SECRETS}/a", {"stringData": {"b": "hidden-value"}}, Content_Type="application/merge-patch+json"
        )
        server.kubeconfig(tmp_path / "kubeconfig")
        pair = server.issue_certificate("bob")
        token = server.issue_token("carol")
        async with call.watch("resourceVersion=0", path=SECRETS) as events:
            await events.some(1)
            names = check_hides([server, recorder.kept, pair])
        assert token not in repr(server._access)
    assert {"APIServer", "Access", "CertificateAuthority", "KeyPair", "APIRequest", "LoggedRequest", "Storage"} <= names
    assert not [each for each in HIDDEN if each in caplog.text]


def test_requests_and_responses_hide_their_content():
    headers = {"Authorization": "Bearer hidden-user-token", "X": "hidden-header"}
    assert check_hides(NonResourceRequest("/version", headers=headers)) == {"NonResourceRequest", "Query", "User"}
    assert check_hides(Response(b'{"data": "hidden-value"}', headers={"Set-Cookie": "hidden-header"}))
    tree = {"data": {"password": "hidden-value"}}
    for value in (
        ListResponse(Registry.builtin().lookup("", "v1", "secrets"), items=[b"hidden-value"]),
        Decoded(tree),
        Mark(tree),
        Remove(tree),
        ApplyConfiguration(tree, Manager("me", "Apply"), "v1"),
    ):
        assert "hidden-value" not in repr(value)
    assert check_hides(Access({"hidden-user-token": User("alice")}, new_token=lambda: "hidden-user-token"))
    authority = CertificateAuthority.create()
    assert check_hides([authority, authority.issue("bob")]) >= {"CertificateAuthority", "KeyPair"}


async def test_an_exchange_does_not_show_its_request(monkeypatch: pytest.MonkeyPatch):
    exchanges: list[Exchange] = []
    original = Exchange.run

    async def run(self: Exchange) -> Any:
        exchanges.append(self)
        return await original(self)

    monkeypatch.setattr(Exchange, "run", run)
    async with APIServer(token="hidden-admin-token") as server, Caller(server) as call:
        await call("POST", SECRETS, {"metadata": {"name": "a"}, "stringData": {"password": "hidden-value"}})
        assert "Exchange" in check_hides(exchanges)


async def test_an_unexpected_error_is_logged_without_the_request(caplog: pytest.LogCaptureFixture):
    def fail(request: APIRequest, new: Any, old: Any) -> None:
        if request.resource.kind == "Secret":
            raise RuntimeError("a bug")

    async with APIServer(token="hidden-admin-token", admission=[fail]) as server, Caller(server) as call:
        body = {"metadata": {"name": "a"}, "stringData": {"password": "hidden-value"}}
        response = await call("POST", SECRETS, body, X_Custom="hidden-header")
        assert response.status == 500
    everything = caplog.text + json.dumps([vars(each) for each in caplog.records], default=repr)
    assert "a bug" in everything
    assert not [each for each in HIDDEN if each in everything]


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"two words"])
def test_a_damaged_token_file_is_a_clear_error(tmp_path: Path, content: bytes):
    Path(tmp_path, "token").write_bytes(content)
    with pytest.raises(ConfigError, match="delete it to generate another token"):
        asyncio.run(APIServer(data_dir=tmp_path).start())
