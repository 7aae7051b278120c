"""Gives every contract test a server, and a namespace of its own there. `target` says which server that is."""

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
    """The name of a namespace that is new, and goes after the test as far as the server takes namespaces away."""
    name = f"contract-{secrets.token_hex(4)}"
    assert _ask(target, "POST", "/api/v1/namespaces", {"metadata": {"name": name}}) == 201
    yield name
    assert _ask(target, "DELETE", f"/api/v1/namespaces/{name}") in (200, 404)


def _ask(target: Target, method: str, path: str, body: object = None) -> int:
    headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"}
    with closing(target.connect()) as connection:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        answer.read()
    return answer.status
