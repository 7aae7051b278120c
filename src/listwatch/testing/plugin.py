"""Fixtures for pytest, and async tests without another plugin, available as soon as listwatch is installed.

    async def test_my_controller(api_client, api_namespace):
        await api_client.core_v1.configmaps(api_namespace).list()

    def test_my_script(blocking_api_client, api_namespace):
        blocking_api_client.core_v1.configmaps(api_namespace).list()

    def test_another_client(api_server):
        api_server.kubeconfig("kubeconfig")

The server runs in its own thread, so the fixtures work in plain and in async tests, with any plugin for async tests.
Async tests that neither pytest-asyncio nor anyio runs are run here, each with its async fixtures in an event loop of
its own. With `api_server_scope = session` in the pytest configuration, all tests of a process share one server, each in
its own `api_namespace`; cluster-wide changes are then visible to other tests. Processes never share a server.

`real_api_server` is a kube-apiserver with an etcd, shared by all tests of a process; see docs/real-servers.md.
"""

from __future__ import annotations

import inspect
import json
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from listwatch import blocking
    from listwatch.client.resources.client_set import ClientSet
    from listwatch.json_value import JSONObject
    from listwatch.testing.api_server_thread import APIServerThread
    from listwatch.testing.async_tests import AsyncTestRunner
    from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

Scope = Literal["function", "class", "module", "package", "session"]
_SCOPES: tuple[Scope, ...] = get_args(Scope)
_MAX_NAME = 40
_RUNNER = "_listwatch_async_test_runner"
_ANYIO = "anyio_backend"  # a fixture of every test that anyio runs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("api_server_scope", f"scope of the api_server fixture: {', '.join(_SCOPES)}", default="function")


def _scope(fixture_name: str, config: pytest.Config) -> Scope:
    scope: Scope = config.getini("api_server_scope")
    if scope not in _SCOPES:
        raise pytest.UsageError(f"invalid api_server_scope {scope!r}; valid are {', '.join(_SCOPES)}")
    return scope


# --- Servers and clients ----------------------------------------------------------------------------------------------
# listwatch is imported in the fixtures, because pytest loads this plugin even if it is not used.


@pytest.fixture(scope=_scope)
def api_server_options() -> dict[str, Any]:
    """The arguments of the `APIServer` of `api_server`: override this fixture to have others than the default ones."""
    return {}


@pytest.fixture(scope=_scope)
def api_server(api_server_options: dict[str, Any]) -> Iterator[APIServerThread]:
    """A new embedded API server, with the arguments of `api_server_options`."""
    from listwatch.server.api_server import APIServer
    from listwatch.testing.api_server_thread import APIServerThread

    with APIServerThread(APIServer(**api_server_options)) as server:
        yield server


@pytest.fixture
def api_client(api_server: APIServerThread) -> Iterator[ClientSet]:
    """A ClientSet with all permissions on that server, for async tests. It is closed after the test."""
    from listwatch.client.resources.client_set import ClientSet
    from listwatch.client.rest.rest_client import RESTClient
    from listwatch.testing.loop_bound_transport import LoopBoundTransport

    transport = LoopBoundTransport(api_server.config)
    yield ClientSet(RESTClient(api_server.config, transport=transport))
    transport.close()


@pytest.fixture
def blocking_api_client(api_server: APIServerThread) -> Iterator[blocking.ClientSet]:
    """A blocking ClientSet with all permissions on that server, for plain tests. It is closed after the test."""
    from listwatch import blocking

    with blocking.ClientSet(api_server.config) as client:
        yield client


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


# --- Async tests ------------------------------------------------------------------------------------------------------


@pytest.fixture(name=_RUNNER)
def _async_test_runner() -> Iterator[AsyncTestRunner]:
    from listwatch.testing.async_tests import AsyncTestRunner

    runner = AsyncTestRunner()
    yield runner
    runner.close()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give an event loop to async tests that no other plugin runs. It is set up first, and closed last."""
    if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(getattr(*_test_function(item))):
        return
    # pytest-asyncio and unittest have items of their own; anyio has a marker and a fixture.
    has_runner = type(item).runtest is not pytest.Function.runtest
    if not has_runner and not item.get_closest_marker("anyio") and not {_ANYIO, _RUNNER} & {*item.fixturenames}:
        item.fixturenames.insert(0, _RUNNER)


# Wrappers that run last find functions that are still async only if no other plugin has taken them.


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    runner = cast("AsyncTestRunner | None", pyfuncitem.funcargs.get(_RUNNER))
    owner, name = _test_function(pyfuncitem)
    function = getattr(owner, name)
    with pytest.MonkeyPatch.context() as patch:
        if runner and _ANYIO not in pyfuncitem.funcargs and inspect.iscoroutinefunction(function):
            patch.setattr(owner, name, runner.synchronous(function))
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    function = fixturedef.func
    with pytest.MonkeyPatch.context() as patch:
        if _is_async(function) and _RUNNER in request.fixturenames and _ANYIO not in request.fixturenames:
            if fixturedef.scope != "function":
                pytest.fail(
                    f"the async fixture {fixturedef.argname!r} has the scope {fixturedef.scope!r}, but each async test "
                    "has an event loop of its own: use the scope 'function', or run the tests with pytest-asyncio",
                    pytrace=False,
                )
            runner: AsyncTestRunner = request.getfixturevalue(_RUNNER)
            patch.setattr(fixturedef, "func", runner.synchronous_fixture(function, request.instance))
        return (yield)


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _test_function(item: pytest.Function) -> tuple[object, str]:
    """The object and the attribute that have the function of a test; hypothesis wraps it."""
    property_test = getattr(item.obj, "hypothesis", None)
    return (property_test, "inner_test") if property_test else (item, "obj")


# --- Requests without a client ----------------------------------------------------------------------------------------


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
