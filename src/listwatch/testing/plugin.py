"""Fixtures for pytest, available as soon as listwatch is installed.

    def test_my_controller(api_server, api_namespace):
        config = api_server.config              # for listwatch clients
        api_server.kubeconfig("kubeconfig")     # for other clients

They work in plain and in async tests, with any plugin for async tests, because the server runs in its own thread. With
`api_server_scope = session` in the pytest configuration, all tests of a process share one server, each in its own
`api_namespace`; cluster-wide changes are then visible to other tests. Processes never share a server.

`real_api_server` is a kube-apiserver with an etcd, shared by all tests of a process; see docs/real-servers.md.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from listwatch.json_value import JSONObject
    from listwatch.testing.api_server_thread import APIServerThread
    from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

Scope = Literal["function", "class", "module", "package", "session"]
_SCOPES: tuple[Scope, ...] = get_args(Scope)
_MAX_NAME = 40


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("api_server_scope", f"scope of the api_server fixture: {', '.join(_SCOPES)}", default="function")


def _scope(fixture_name: str, config: pytest.Config) -> Scope:
    scope: Scope = config.getini("api_server_scope")
    if scope not in _SCOPES:
        raise pytest.UsageError(f"invalid api_server_scope {scope!r}; valid are {', '.join(_SCOPES)}")
    return scope


@pytest.fixture(scope=_scope)
def api_server() -> Iterator[APIServerThread]:
    """A new embedded API server."""
    # Imported here, because pytest loads this plugin even if it is not used.
    from listwatch.testing.api_server_thread import APIServerThread

    with APIServerThread() as server:
        yield server


@pytest.fixture(scope="session")
def real_api_server() -> Iterator[RealAPIServerThread]:
    """A real API server, shared with earlier tests. Tests are skipped if its binaries are missing."""
    from listwatch.errors import ConfigError
    from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread, RealBinaries

    try:
        binaries = RealBinaries.find()
    except ConfigError as error:
        pytest.skip(str(error))
    with RealAPIServerThread(RealAPIServer(binaries=binaries)) as server:
        yield server


@pytest.fixture
def api_namespace(api_server: APIServerThread, request: pytest.FixtureRequest) -> Iterator[str]:
    """A new namespace for this test. It is deleted afterwards, and all faults are cleared."""
    body: JSONObject = {"metadata": {"generateName": f"{_label(request.node.name)}-"}}
    created = _send(api_server, "POST", "/api/v1/namespaces", body)
    metadata = created["metadata"]
    assert isinstance(metadata, dict)
    name = str(metadata["name"])
    yield name
    api_server.faults.clear()
    _send(api_server, "DELETE", f"/api/v1/namespaces/{name}")


def _label(text: str) -> str:
    """The text as part of a namespace name."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")[:_MAX_NAME].strip("-") or "test"


def _send(server: APIServerThread, method: str, path: str, body: JSONObject | None = None) -> JSONObject:
    url, certificate = urlsplit(server.url), server.ca_certificate
    connection: HTTPConnection
    if certificate:
        trust = ssl.create_default_context(cadata=certificate.decode())
        connection = HTTPSConnection(url.netloc, context=trust)
    else:
        connection = HTTPConnection(url.netloc)
    with closing(connection):
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response: JSONObject = json.loads(connection.getresponse().read())
        return response
