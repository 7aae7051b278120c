"""Fixtures for pytest, there for everybody who has listwatch installed.

    def test_my_controller(api_server, api_namespace):
        config = api_server.config              # for the clients of this package
        api_server.kubeconfig("kubeconfig")     # for all others

They are for plain functions as well as for async ones, under whichever plugin runs those: the server has a thread of
its own. `api_server_scope = session` in pytest's settings lets all tests of a process share one server, each in its own
`api_namespace`; then what one test does to the whole cluster, others see. Processes never share anything.

`real_api_server` is a kube-apiserver with an etcd, for all tests of a process; see docs/real-servers.md.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from listwatch.testing.api_server_thread import APIServerThread
    from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

Scope = Literal["function", "class", "module", "package", "session"]
_SCOPES: tuple[Scope, ...] = get_args(Scope)
_LONGEST_NAME = 40


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("api_server_scope", f"how many tests share an API server: {', '.join(_SCOPES)}", default="function")


def _scope(fixture_name: str, config: pytest.Config) -> Scope:
    scope: Scope = config.getini("api_server_scope")
    if scope not in _SCOPES:
        raise pytest.UsageError(f"api_server_scope is {scope!r}; it can be {', '.join(_SCOPES)}")
    return scope


@pytest.fixture(scope=_scope)
def api_server() -> Iterator[APIServerThread]:
    """An API server with nothing in it."""
    # Imported here: those who have this plugin and do not use it need not wait for it.
    from listwatch.testing.api_server_thread import APIServerThread

    with APIServerThread() as server:
        yield server


@pytest.fixture(scope="session")
def real_api_server() -> Iterator[RealAPIServerThread]:
    """A real API server, with what earlier tests have left in it; tests are skipped where its programs are missing."""
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
    """A new namespace of the server, for this test alone; it goes with all that is in it, and faults end."""
    body = {"metadata": {"generateName": f"{_label(request.node.name)}-"}}
    name = _ask(api_server, "POST", "/api/v1/namespaces", body)["metadata"]["name"]
    yield name
    api_server.faults.clear()
    _ask(api_server, "DELETE", f"/api/v1/namespaces/{name}")


def _label(text: str) -> str:
    """As much of a text as a namespace can be named after."""
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "test"


def _ask(server: APIServerThread, method: str, path: str, body: Any = None) -> Any:
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
        return json.loads(connection.getresponse().read())
