"""The contract of sources on the builds of etcd."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.etcd.test_contract import ContractOnEtcd

from listwatch.testing import RealEtcd
from listwatch.testing.server_thread import ServerThread


@pytest.fixture
def etcd(program: Path) -> Iterator[ServerThread[RealEtcd]]:
    with ServerThread(RealEtcd(program)) as server:
        yield server


class TestBuiltEtcd(ContractOnEtcd):
    namespace = "web"
