"""Provides a server and a new namespace for every contract test. `target` chooses the server."""

import json
import secrets
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.contract.target import Target, chosen_target


@pytest.fixture(scope="session")
def the_server() -> Iterator[Target]:
    with chosen_target() as target:
        yield target


@pytest.fixture
def target(the_server: Target) -> Iterator[Target]:
    yield the_server
    the_server.wait_until_idle()


@pytest.fixture
def namespace(target: Target) -> Iterator[str]:
    """The name of a new namespace, which is deleted after the test if the server can delete namespaces."""
    name = f"contract-{secrets.token_hex(4)}"
    assert _request(target, "POST", "/api/v1/namespaces", {"metadata": {"name": name}}) == 201
    yield name
    assert _request(target, "DELETE", f"/api/v1/namespaces/{name}") in (200, 404)


def _request(target: Target, method: str, path: str, body: object = None) -> int:
    headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"}
    with closing(target.connect()) as connection:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        response.read()
    return response.status
