"""Builds of etcd, and members of it that a test may destroy."""

from pathlib import Path

import pytest

from listwatch.testing.real.real_etcd import find_etcd
from tools.build_realcluster import ETCD, OLD_ETCD

VERSIONS = [ETCD.version, OLD_ETCD.version]


@pytest.fixture(params=VERSIONS)
def program(request: pytest.FixtureRequest) -> Path:
    return find_etcd(request.param)


@pytest.fixture
def newest() -> Path:
    return find_etcd(ETCD.version)


def progress_flag(program: Path, interval: str) -> str:
    """The flag for the interval of progress notifications, whose name has changed."""
    is_old = OLD_ETCD.version in str(program)
    return f"--{'experimental-' if is_old else ''}watch-progress-notify-interval={interval}"
