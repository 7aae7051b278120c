"""Authentication and authorization: first as values, then over HTTP and TLS."""

import asyncio
import json
import ssl
import stat
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from cryptography import x509
from tests.server.caller import CONFIG_MAPS, Caller

from listwatch.clock import SystemClock
from listwatch.errors import BadRequestError, ConfigError, ForbiddenError, UnauthorizedError, UsageError
from listwatch.server.access.access import Access, Decision
from listwatch.server.access.certificates import CertificateAuthority, KeyPair
from listwatch.server.api_server import APIServer
from listwatch.server.protocol.routes import RequestInfo, read_target
from listwatch.server.requests import ANONYMOUS, User

ALICE = User("alice", groups=("developers",))
LIST_PODS = read_target("GET", "/api/v1/pods")


class AllowVerbs:
    """Allows these requests to all users, and no others."""

    def __init__(self, *verbs: str) -> None:
        self._verbs = verbs

    def authorize(self, user: User, request: RequestInfo) -> Decision:
        return Decision(request.verb in self._verbs, "it is not among the verbs")


def access(**options: Any) -> Access:
    return Access({"secret": ALICE}, new_token=lambda: "new", **options)


# Authentication


def test_a_token_identifies_a_user():
    for header in ("Bearer secret", "bearer secret", " Bearer  secret "):
        user = access().authenticate(header)
        assert (user.name, user.groups) == ("alice", ("developers", "system:authenticated"))


@pytest.mark.parametrize("header", ["", "Basic YWxpY2U6", "Bearer", "secret"])
def test_anonymous_requests_are_rejected_unless_allowed(header: str):
    with pytest.raises(UnauthorizedError):
        access().authenticate(header)
    assert access(anonymous=True).authenticate(header) is ANONYMOUS


def test_an_unknown_token_is_always_rejected():
    with pytest.raises(UnauthorizedError):
        access(anonymous=True).authenticate("Bearer wrong")


def test_a_certificate_has_a_name_and_groups():
    subject = ((("organizationName", "system:masters"),), (("organizationName", "ops"),), (("commonName", "bob"),))
    user = access().authenticate("", {"subject": subject})
    assert (user.name, user.groups) == ("bob", ("system:masters", "ops", "system:authenticated"))


def test_a_certificate_without_a_name_is_ignored():
    with pytest.raises(UnauthorizedError):
        access().authenticate("", {"subject": ((("organizationName", "ops"),),)})


def test_an_issued_token_is_known():
    known = access()
    assert known.issue(User("carol")) == "new"
    assert known.user_of("new") == User("carol", groups=("system:authenticated",))


# Impersonation


def test_without_headers_the_user_is_not_impersonated():
    assert access().impersonate(ALICE, [("Accept", "x")], LIST_PODS) is ALICE


def test_the_headers_name_the_impersonated_user():
    headers = [
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "ops"),
        ("impersonate-group", "dev"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-Scopes", "a"),
        ("Impersonate-Extra-acme.com%2Fscopes", "b"),
        ("Impersonate-Extra-Scopes", "c"),
    ]
    user = access().impersonate(ALICE, headers, LIST_PODS)
    extra = {"scopes": ("a", "c"), "acme.com/scopes": ("b",)}
    assert user == User("bob", "7", ("ops", "dev", "system:authenticated"), extra)


def test_a_service_account_has_its_groups():
    user = access().impersonate(ALICE, [("Impersonate-User", "system:serviceaccount:default:builder")], LIST_PODS)
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated")


def test_the_impersonated_anonymous_user_is_unauthenticated():
    user = access().impersonate(ALICE, [("Impersonate-User", "system:anonymous")], LIST_PODS)
    assert user.groups == ("system:unauthenticated",)


def test_groups_alone_cannot_be_impersonated():
    with pytest.raises(BadRequestError):
        access().impersonate(ALICE, [("Impersonate-Group", "ops")], LIST_PODS)


def test_impersonation_must_be_allowed():
    denied = access(authorizer=AllowVerbs("get"))
    with pytest.raises(ForbiddenError) as refusal:
        denied.impersonate(ALICE, [("Impersonate-User", "bob")], LIST_PODS)
    assert refusal.value.message == (
        'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" at the '
        "cluster scope: it is not among the verbs"
    )


def test_the_verb_impersonate_allows_impersonation_for_all_requests():
    allowed = access(authorizer=AllowVerbs("impersonate"))
    assert allowed.impersonate(ALICE, [("Impersonate-User", "bob")], LIST_PODS).name == "bob"


def test_a_service_account_can_impersonate_its_own_node_only():
    claim = {"authentication.kubernetes.io/node-name": ("n1",)}
    robot = User("system:serviceaccount:default:robot", extra=claim)
    allowed = access(authorizer=AllowVerbs("impersonate:associated-node", "impersonate-on:associated-node:list"))
    user = allowed.impersonate(robot, [("Impersonate-User", "system:node:n1")], LIST_PODS)
    assert (user.name, user.groups) == ("system:node:n1", ("system:nodes", "system:authenticated"))
    with pytest.raises(ForbiddenError, match="arbitrary-node"):
        allowed.impersonate(robot, [("Impersonate-User", "system:node:n2")], LIST_PODS)


# Authorization


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        (
            "GET",
            "/api/v1/namespaces/default/pods/web",
            'pods "web" is forbidden: User "alice" cannot get resource "pods" in API group "" in the namespace '
            '"default"',
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/x/deployments/web/scale",
            'deployments.apps "web" is forbidden: User "alice" cannot patch resource "deployments/scale" in API group '
            '"apps" in the namespace "x"',
        ),
        (
            "GET",
            "/api/v1/nodes?watch=1",
            'nodes is forbidden: User "alice" cannot watch resource "nodes" in API group "" at the cluster scope',
        ),
        ("GET", "/version", 'forbidden: User "alice" cannot get path "/version"'),
    ],
)
def test_a_forbidden_error_names_user_verb_resource_and_namespace(method: str, target: str, message: str):
    with pytest.raises(ForbiddenError) as refusal:
        access(authorizer=AllowVerbs()).authorize(ALICE, read_target(method, target))
    assert refusal.value.message == f"{message}: it is not among the verbs"


def test_masters_may_do_everything():
    access(authorizer=AllowVerbs()).authorize(User("root", groups=("system:masters",)), read_target("GET", "/version"))


def test_a_review_is_decided_as_a_request_would_be():
    some = access(authorizer=AllowVerbs("get"))
    assert some.review(ALICE, {"verb": "get", "resource": "pods", "namespace": "default"}).allowed
    assert not some.review(ALICE, {"verb": "delete", "path": "/version"}).allowed


def test_an_authorizer_without_rules_gives_an_incomplete_review():
    status = access(authorizer=AllowVerbs("get")).rules_of(ALICE, "default")
    assert status["incomplete"] is True
    assert access().rules_of(ALICE, "default")["resourceRules"]


# Over HTTP


async def test_without_a_token_every_path_is_unauthorized():
    async with APIServer() as server, Caller(server, token="") as call:
        for path in ("/", "/healthz", "/api/v1/pods", "/apis/nothing/v1/here"):
            reply = await call("GET", path)
            assert reply.status == 401
            assert reply.json["message"] == "Unauthorized"


async def test_anonymous_requests_are_served_when_switched_on():
    async with APIServer(anonymous=True) as server, Caller(server, token="") as call:
        assert (await call("GET", "/api/v1/pods")).status == 200
        assert (await call("GET", "/api/v1/pods", Authorization="Bearer wrong")).status == 401


async def test_users_are_identified_by_the_configured_tokens():
    async with APIServer(users={"secret": ALICE}) as server, Caller(server, token="secret") as call:
        review = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert review.json["status"]["userInfo"] == {"username": "alice", "groups": ["developers", "system:authenticated"]}


async def test_an_unauthorized_user_does_not_learn_what_is_served():
    async with APIServer(authorizer=AllowVerbs("get")) as server:
        async with Caller(server, token=server.issue_token("alice")) as call:
            assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 404
            assert (await call("GET", CONFIG_MAPS)).status == 403
            assert (await call("GET", "/apis/nothing/v1/here")).status == 403
        async with Caller(server) as call:
            assert (await call("GET", CONFIG_MAPS)).status == 200


async def test_the_server_handles_a_request_as_the_impersonated_user():
    async with APIServer() as server, Caller(server) as call:
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        review = await call("POST", path, {}, Impersonate_User="bob")
        assert review.json["status"]["userInfo"]["username"] == "bob"
        assert server.requests[-1].user == "bob"


# TLS


@pytest.fixture
async def secure() -> AsyncIterator[APIServer]:
    async with APIServer(tls=True) as server:
        yield server


def trusting(server: APIServer, pair: KeyPair | None = None, folder: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=server.ca_certificate.decode())
    # As strict as newer Pythons are by default.
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if pair and folder:
        (folder / "certificate").write_bytes(pair.certificate)
        (folder / "key").write_bytes(pair.key)
        context.load_cert_chain(folder / "certificate", folder / "key")
    return context


async def get(server: APIServer, path: str, tls: ssl.SSLContext, *headers: str) -> tuple[int, Any]:
    port = int(server.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    try:
        writer.write("\r\n".join([f"GET {path} HTTP/1.0", "Host: x", *headers, "", ""]).encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        if not head:
            raise ConnectionError("no response")
        return int(head.split()[1]), json.loads(body)
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_client_that_trusts_the_authority_is_served(secure: APIServer):
    assert secure.url.startswith("https://127.0.0.1:")
    assert (await get(secure, "/api/v1/pods", trusting(secure)))[0] == 401
    authorized = f"Authorization: Bearer {secure.token}"
    assert (await get(secure, "/api/v1/pods", trusting(secure), authorized))[0] == 200


@pytest.fixture
async def quiet_loop() -> None:
    """In debug mode asyncio reports every handshake that fails."""
    asyncio.get_running_loop().set_debug(False)


@pytest.mark.usefixtures("quiet_loop")
async def test_a_client_that_does_not_trust_the_authority_disconnects(secure: APIServer):
    with pytest.raises(ssl.SSLCertVerificationError):
        await get(secure, "/version", ssl.create_default_context())


async def test_a_client_certificate_identifies_a_user(secure: APIServer, tmp_path: Path):
    pair = secure.issue_certificate("bob", groups=["ops"])
    assert (await get(secure, "/api/v1/pods", trusting(secure, pair, tmp_path)))[0] == 200
    assert secure.requests[-1].user == "bob"


@pytest.mark.usefixtures("quiet_loop")
async def test_a_certificate_of_another_authority_is_rejected(secure: APIServer, tmp_path: Path):
    pair = CertificateAuthority.create().issue("bob")
    # In TLS 1.3, the handshake of the client succeeds before the server has verified its certificate.
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await get(secure, "/api/v1/pods", trusting(secure, pair, tmp_path))
    assert not secure.requests
    assert (await get(secure, "/api/v1/pods", trusting(secure)))[0] == 401


@pytest.mark.usefixtures("quiet_loop")
async def test_plain_http_on_the_tls_port_gets_no_response_and_the_server_continues(secure: APIServer):
    port = int(secure.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not (await reader.read()).startswith(b"HTTP/1.1 2")
    writer.close()
    await writer.wait_closed()
    assert (await get(secure, "/api/v1/pods", trusting(secure)))[0] == 401


async def test_there_are_no_client_certificates_without_tls():
    async with APIServer() as server:
        assert server.ca_certificate == b""
        with pytest.raises(UsageError):
            server.issue_certificate("bob")


def test_an_authority_can_be_restored_from_its_pem():
    authority = CertificateAuthority.create()
    assert CertificateAuthority(authority.pem).certificate == authority.certificate
    with pytest.raises(ConfigError):
        CertificateAuthority(authority.certificate)
    assert "PRIVATE" not in repr(authority.issue("bob"))


class SettableClock(SystemClock):
    """The system clock, behind or ahead by some days."""

    days = 0

    def now(self) -> datetime:
        return super().now() + timedelta(days=self.days)


def test_a_certificate_is_valid_for_a_year_and_its_authority_for_ten():
    now = datetime.now(UTC)
    authority = CertificateAuthority.create()
    root = x509.load_pem_x509_certificate(authority.certificate)
    leaf = x509.load_pem_x509_certificate(authority.issue("bob").certificate)
    assert (
        root.not_valid_before_utc < now - timedelta(minutes=30) < now + timedelta(days=3649) < root.not_valid_after_utc
    )
    assert timedelta(days=364) < leaf.not_valid_after_utc - now < timedelta(days=366)


def test_no_certificate_outlives_its_authority():
    clock = SettableClock()
    authority = CertificateAuthority.create(clock=clock)
    clock.days = 3600
    leaf = x509.load_pem_x509_certificate(authority.issue("bob").certificate)
    assert leaf.not_valid_after_utc == x509.load_pem_x509_certificate(authority.certificate).not_valid_after_utc


async def served_certificate(host: str) -> x509.Certificate:
    async with APIServer(tls=True, host=host) as server:
        address, port = server.url.removeprefix("https://").split(":")
        _reader, writer = await asyncio.open_connection(address, int(port), ssl=trusting(server))
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
    return x509.load_der_x509_certificate(shown)


@pytest.mark.parametrize(
    ("host", "extra"), [("127.0.0.1", set()), ("127.0.0.2", {"127.0.0.2"}), ("0.0.0.0", {gethostname()})]
)
async def test_the_certificate_of_the_server_has_the_names_of_loopback_and_of_its_host(host: str, extra: set[str]):
    names = (await served_certificate(host)).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    found = {str(each.value) for each in names}
    assert found == {"localhost", "127.0.0.1", "::1"} | extra


async def test_new_connections_get_a_new_certificate_before_the_old_one_expires():
    clock = SettableClock()
    clock.days = -400
    authority = CertificateAuthority.create(clock=clock)
    context = authority.server_context(["localhost"])
    lax = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # it also accepts a certificate that has expired by now
    lax.check_hostname, lax.verify_mode = False, ssl.CERT_NONE

    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def not_after(trust: ssl.SSLContext = lax) -> datetime:
        _reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname="localhost")
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
        return x509.load_der_x509_certificate(shown).not_valid_after_utc

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        clock.days = -100  # its certificate has 65 days left
        before = await not_after()
        clock.days = -60
        renewed = await not_after()
        clock.days = 0
        strict = ssl.create_default_context(cadata=authority.certificate.decode())
        assert before < renewed == await not_after(strict)


def test_a_persisted_authority_that_expires_soon_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    clock = SettableClock()
    first = CertificateAuthority.persisted(tmp_path, clock=clock)
    clock.days = 3600
    assert CertificateAuthority.persisted(tmp_path, clock=clock).certificate == first.certificate
    assert not caplog.records
    clock.days = 3640
    second = CertificateAuthority.persisted(tmp_path, clock=clock)
    assert second.certificate != first.certificate
    assert "clients need a new kubeconfig" in caplog.text
    assert CertificateAuthority.persisted(tmp_path, clock=clock).certificate == second.certificate
    assert stat.S_IMODE((tmp_path / "ca.pem").stat().st_mode) == 0o600
