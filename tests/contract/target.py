"""The API server of the contract tests: the embedded one, a real one, or any running one.

    LISTWATCH_CONTRACT_SERVER        `embedded`, which is the default, or `real`: that one is started
    LISTWATCH_CONTRACT_ETCD_VERSION  the version of etcd for a real one (default: the newest)

    LISTWATCH_CONTRACT_URL           the URL of a running server
    LISTWATCH_CONTRACT_TOKEN         a bearer token of a user in system:masters
    LISTWATCH_CONTRACT_CA            a file with the certificate that signed the server's, or
    LISTWATCH_CONTRACT_INSECURE      any value, to accept every certificate
    LISTWATCH_CONTRACT_ETCD          the client URL of its etcd, to compact the history

No test depends on which of them it is.
"""

import http.client
import json
import os
import ssl
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from listwatch.server import APIServer
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread, RealBinaries


@dataclass(frozen=True)
class Target:
    """The server's address and administrator credentials, and a function that compacts its history."""

    url: str
    token: str = field(repr=False)
    forget_history: Callable[[], None]
    wait_until_idle: Callable[[], None]
    """Returns when the server has no open connection."""
    ca_file: str = ""
    insecure: bool = False

    def connect(self, *, timeout: float = 30.0) -> http.client.HTTPConnection:
        """A connection that opens with its first request; the timeout applies to each read of a response."""
        scheme, _, address = self.url.partition("://")
        if scheme == "http":
            return http.client.HTTPConnection(address, timeout=timeout)
        return http.client.HTTPSConnection(address, timeout=timeout, context=self._tls())

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file or None)
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


@contextmanager
def chosen_target(*, enabled_plugins: Sequence[str] = ()) -> Iterator[Target]:
    """The server that the environment names, otherwise an embedded one; it may have more admission plugins."""
    if enabled_plugins and "LISTWATCH_CONTRACT_URL" in os.environ:
        pytest.skip("the admission plugins of a running server cannot be changed")
    if url := os.environ.get("LISTWATCH_CONTRACT_URL"):
        yield _running(url)
        return
    start = {"embedded": _embedded, "real": _real}[os.environ.get("LISTWATCH_CONTRACT_SERVER", "embedded")]
    with start(enabled_plugins) as target:
        yield target


# --- a running server -------------------------------------------------------------------------------------------------


def _running(url: str) -> Target:
    etcd = os.environ.get("LISTWATCH_CONTRACT_ETCD", "")
    return Target(
        url=url.rstrip("/"),
        token=os.environ.get("LISTWATCH_CONTRACT_TOKEN", ""),
        forget_history=lambda: _compact(etcd),
        wait_until_idle=lambda: None,
        ca_file=os.environ.get("LISTWATCH_CONTRACT_CA", ""),
        insecure="LISTWATCH_CONTRACT_INSECURE" in os.environ,
    )


def _compact(etcd: str) -> None:
    if not etcd:
        pytest.skip("nothing can make this server forget its history: LISTWATCH_CONTRACT_ETCD does not name its etcd")
    revision = _call_etcd(etcd, "range", {"key": "AA=="})["header"]["revision"]
    _call_etcd(etcd, "compaction", {"revision": revision, "physical": True})


def _call_etcd(etcd: str, method: str, request: dict[str, object]) -> dict[str, dict[str, str]]:
    with urllib.request.urlopen(f"{etcd}/v3/kv/{method}", json.dumps(request).encode(), timeout=10) as response:
        return json.load(response)


# Alpha features that the embedded server has.
_GATES = "--feature-gates=ShardedListAndWatch=true"


# --- a real server ----------------------------------------------------------------------------------------------------


@contextmanager
def _real(enabled_plugins: Sequence[str]) -> Iterator[Target]:
    binaries = RealBinaries.find(etcd=os.environ.get("LISTWATCH_CONTRACT_ETCD_VERSION", ""))
    # The one that is started disables ServiceAccount.
    plugins = ["--disable-admission-plugins=", f"--enable-admission-plugins={','.join(enabled_plugins)}"]
    plugins = plugins if enabled_plugins else []
    real = RealAPIServer(binaries=binaries, flags=[_GATES, *plugins])
    with RealAPIServerThread(real) as server, tempfile.NamedTemporaryFile() as certificate:
        certificate.write(server.ca_certificate)
        certificate.flush()
        yield Target(
            url=server.url,
            token=server.token,
            forget_history=server.compact,
            wait_until_idle=lambda: None,
            ca_file=certificate.name,
        )


# --- the embedded server ----------------------------------------------------------------------------------------------


@contextmanager
def _embedded(enabled_plugins: Sequence[str]) -> Iterator[Target]:
    """An embedded server in a thread, so that it serves while a test blocks."""
    with APIServerThread(APIServer(authorization="rbac", enable_admission_plugins=enabled_plugins)) as server:
        yield Target(
            url=server.url,
            token=server.token,
            forget_history=server.compact,
            wait_until_idle=lambda: _wait_until_idle(server),
        )


def _wait_until_idle(server: APIServerThread) -> None:
    while server.statistics().connections:
        pass  # the call lets the server's loop run
