"""Users, permissions, tokens and certificates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from tests.real.etcd.observed import PREFIX, Item, Observed, put_until_accepted

from listwatch.errors import ForbiddenError, ProtocolError, TLSError, TransportError, UnauthorizedError
from listwatch.server import APIServer
from listwatch.sources.etcd import EtcdClient, EtcdListWatch, EtcdStore
from listwatch.sources.etcd.messages import Written, text
from listwatch.testing import RealEtcd
from listwatch.testing.real.real_etcd import EtcdCertificates

BOB = {"username": "bob", "password": "secret"}


async def enable_auth(etcd: RealEtcd) -> None:
    """Create the user bob with access to the prefix, and turn authentication on."""
    for name in ("root", "bob"):
        await etcd.post("/v3/auth/user/add", {"name": name, "password": "secret"})
        await etcd.post("/v3/auth/role/add", {"name": name})
        await etcd.post("/v3/auth/user/grant", {"user": name, "role": name})
    permission = {"permType": "READWRITE", "key": text(b"/items/"), "range_end": text(b"/items0")}
    await etcd.post("/v3/auth/role/grant", {"name": "bob", "perm": permission})
    await etcd.post("/v3/auth/enable", {})


@asynccontextmanager
async def guarded_etcd(program: Path, *flags: str) -> AsyncIterator[RealEtcd]:
    async with RealEtcd(program, flags=flags) as etcd:
        await enable_auth(etcd)
        yield etcd


async def test_a_user_reads_and_writes_where_it_is_permitted(program: Path):
    async with (
        guarded_etcd(program) as etcd,
        EtcdClient(etcd.url, **BOB) as client,
        Observed(client) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await observed.converge()
        other = EtcdStore(client, "/other/", Item)
        with pytest.raises(ForbiddenError, match="permission denied"):
            await other.put("a", Item("1"))
        with pytest.raises(ForbiddenError, match="permission denied"):
            await other.list()
        with pytest.raises(ForbiddenError):
            async with EtcdListWatch(client, "/other/", Item).watch():
                pass


@pytest.mark.parametrize("user", [{}, {"username": "bob", "password": "wrong"}, {"username": "eve", "password": "x"}])
async def test_a_missing_user_and_a_wrong_password_are_unauthorized(program: Path, user: dict[str, str]):
    async with guarded_etcd(program) as etcd, EtcdClient(etcd.url, **user) as client:
        source = EtcdListWatch(client, PREFIX, Item)
        with pytest.raises(UnauthorizedError):
            await source.list()
        with pytest.raises((UnauthorizedError, ForbiddenError)):
            async with source.watch():
                pass


async def test_a_user_is_not_needed_while_authentication_is_off(program: Path):
    async with RealEtcd(program) as etcd, EtcdClient(etcd.url, **BOB) as client:
        await EtcdStore(client, PREFIX, Item).put("a", Item("1"))
        await enable_auth(etcd)
        assert await EtcdStore(client, PREFIX, Item).get("a") == Item("1")


async def test_an_expired_token_is_renewed(program: Path):
    async with (
        guarded_etcd(program, "--auth-token-ttl=1") as etcd,
        EtcdClient(etcd.url, **BOB) as client,
        Observed(client) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await asyncio.sleep(3)  # the time is etcd's own
        await observed.store.put("b", Item("2"))
        for member in client._gateway.members:
            for stream in [*member.transport._streams]:
                stream.close()
        await observed.store.put("c", Item("3"))
        await observed.converge()
        assert not any(isinstance(problem.error, UnauthorizedError) for problem in observed.problems)


async def test_an_informer_survives_a_restart_that_forgets_all_tokens(program: Path):
    async with (
        guarded_etcd(program) as etcd,
        EtcdClient(etcd.url, **BOB) as client,
        Observed(client) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await etcd.kill()
        await etcd.start()
        await put_until_accepted(observed.store, "a", "2")
        await observed.converge()


async def test_a_watch_ends_when_the_permission_is_revoked(program: Path):
    async with (
        guarded_etcd(program) as etcd,
        EtcdClient(etcd.url, username="root", password="secret") as root,
        EtcdClient(etcd.url, **BOB) as client,
        Observed(client, probe_interval=0.3) as observed,
    ):
        await root._gateway.write("/v3/auth/user/revoke", {"name": "bob", "role": "bob"}, Written)
        await observed.wait_for_problem()
        assert isinstance(observed.problems[0].error, ForbiddenError)


# --- TLS --------------------------------------------------------------------------------------------------------------


class Certificates:
    """An authority, the files of a server, and of clients with and without a common name."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.ca_file = self._write(folder / "ca.pem", self.ca.cert_pem)
        self.server = self._pair(folder, "server", self.ca.issue_cert("127.0.0.1"))
        self.client = self._pair(folder, "client", self.ca.issue_cert("client@example.com"))
        self.named = self._pair(folder, "named", self.ca.issue_cert("n@example.com", common_name="bob"))

    def of_etcd(self, *, client: bool) -> EtcdCertificates:
        return EtcdCertificates(self.ca_file, *self.server, client_ca_file=self.ca_file if client else "")

    @staticmethod
    def _write(path: Path, blob: trustme.Blob) -> str:
        blob.write_to_path(str(path))
        return str(path)

    def _pair(self, folder: Path, name: str, leaf: trustme.LeafCert) -> tuple[str, str]:
        chain = folder / f"{name}.pem"
        chain.write_bytes(b"".join(each.bytes() for each in leaf.cert_chain_pems))
        return str(chain), self._write(folder / f"{name}.key", leaf.private_key_pem)


def options(certificates: Certificates, pair: tuple[str, str] | None) -> dict[str, str]:
    found = {"ca_file": certificates.ca_file}
    return found if pair is None else {**found, "client_cert_file": pair[0], "client_key_file": pair[1]}


async def test_lists_watches_and_writes_use_client_certificates(program: Path, tmp_path: Path):
    certificates = Certificates(tmp_path)
    async with (
        RealEtcd(program, certificates=certificates.of_etcd(client=True)) as etcd,
        EtcdClient(etcd.url, **options(certificates, certificates.client)) as client,
        Observed(client) as observed,
    ):
        await observed.store.put("a", Item("1"))
        await observed.converge()
        async with EtcdClient(etcd.url, **options(certificates, None)) as other:
            with pytest.raises(TransportError, match=r"client certificate|closed"):
                await EtcdListWatch(other, PREFIX, Item).list()


async def test_a_server_of_another_authority_is_not_trusted(newest: Path, tmp_path: Path):
    certificates = Certificates(tmp_path)
    async with RealEtcd(newest, certificates=certificates.of_etcd(client=False)) as etcd:
        async with EtcdClient(etcd.url, ca_data=trustme.CA().cert_pem.bytes()) as client:
            with pytest.raises(TLSError, match="not trusted"):
                await EtcdListWatch(client, PREFIX, Item).list()
        async with EtcdClient(etcd.url.replace("https", "http")) as client:
            with pytest.raises(TransportError):
                await EtcdListWatch(client, PREFIX, Item).list()


async def test_a_common_name_beside_a_user_is_explained(program: Path, tmp_path: Path):
    certificates = Certificates(tmp_path)
    async with RealEtcd(program, certificates=certificates.of_etcd(client=True)) as etcd:
        await enable_auth(etcd)
        async with EtcdClient(etcd.url, **BOB, **options(certificates, certificates.named)) as client:
            with pytest.raises(UnauthorizedError, match="certificates with a common name"):
                await EtcdListWatch(client, PREFIX, Item).list()
        async with EtcdClient(etcd.url, **BOB, **options(certificates, certificates.client)) as client:
            await EtcdStore(client, PREFIX, Item).put("a", Item("1"))


async def test_a_server_that_is_not_etcd_is_named(newest: Path):
    async with APIServer() as server, EtcdClient(server.url, insecure_skip_tls_verify=True) as client:
        with pytest.raises(ProtocolError, match="is not etcd's JSON gateway"):
            await EtcdListWatch(client, PREFIX, Item).list()
    async with RealEtcd(newest, flags=["--enable-grpc-gateway=false"]) as etcd, EtcdClient(etcd.url) as client:
        with pytest.raises(ProtocolError, match="runs with its gateway enabled"):
            await EtcdListWatch(client, PREFIX, Item).list()
