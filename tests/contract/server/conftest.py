"""Provides an HTTP client for every contract test of the server."""

from collections.abc import Iterator

import pytest
from tests.contract.server.api import API
from tests.contract.target import Target


@pytest.fixture
def api(target: Target, namespace: str) -> Iterator[API]:
    found = API(target, namespace)
    yield found
    found.close()
