import logging
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.tls import ClientCertificate, TLSContexts, ca_context, find_certificate_errors
from listwatch.errors import ConfigError
from listwatch.testing.clocks import VirtualClock

CANARY = b"c4n4ry-in-the-mine"
HOST = "https://server.example.com:6443"
AUTHORITY, OTHER_AUTHORITY = trustme.CA(), trustme.CA()
CA_PEM, OTHER_CA_PEM = AUTHORITY.cert_pem.bytes(), OTHER_AUTHORITY.cert_pem.bytes()
SERVER = AUTHORITY.issue_cert("server.example.com", "10.0.0.1")


def client_certificate(name: str) -> ClientCertificate:
    issued = AUTHORITY.issue_cert(f"{name}@example.com")
    chain = b"".join(pem.bytes() for pem in issued.cert_chain_pems)
    return ClientCertificate(chain, issued.private_key_pem.bytes())


JANE, JOE = client_certificate("jane"), client_certificate("joe")


def server_context(server: trustme.LeafCert = SERVER) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.configure_cert(context)
    AUTHORITY.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def handshake(
    client: ssl.SSLContext | None, server: ssl.SSLContext | None = None, name: str = "server.example.com"
) -> str:
    """Perform a handshake, and return the client name that the server sees."""
    assert client is not None
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=name)
    theirs = (server or server_context()).wrap_bio(to_server, to_client, server_side=True)
    waiting = [ours, theirs]
    for _ in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                continue
    assert not waiting
    certificate: Any = theirs.getpeercert()
    return str(certificate["subjectAltName"][0][1]) if certificate else "anonymous"


def config(**fields: Any) -> ClientConfig:
    return ClientConfig(**{"host": HOST, "ca_data": CA_PEM, **fields})


# Server certificates


def test_without_tls_there_is_no_context():
    assert TLSContexts(ClientConfig(host="http://127.0.0.1:8001")).current() is None


def test_a_server_of_the_authority_is_trusted(tmp_path: Path):
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    assert handshake(TLSContexts(config()).current()) == "anonymous"
    assert handshake(TLSContexts(config(ca_data=b"", ca_file=str(tmp_path / "ca.crt"))).current()) == "anonymous"


@pytest.mark.parametrize("fields", [{"ca_data": OTHER_CA_PEM}, {"ca_data": b""}], ids=["another", "the system's"])
def test_a_server_of_another_authority_is_not_trusted(fields: dict[str, Any]):
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(TLSContexts(config(**fields)).current())


def test_without_an_authority_those_of_the_system_are_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
    assert handshake(TLSContexts(config(ca_data=b"")).current()) == "anonymous"
    assert handshake(ca_context()) == "anonymous"


def test_a_server_of_another_name_is_not_trusted():
    context = TLSContexts(config()).current()
    assert handshake(context, name="10.0.0.1") == "anonymous"
    with pytest.raises(ssl.SSLCertVerificationError, match=r"other\.example\.com"):
        handshake(context, name="other.example.com")


def test_skipping_verification_trusts_every_server():
    insecure = TLSContexts(config(ca_data=b"", insecure_skip_tls_verify=True)).current()
    assert handshake(insecure, name="whatever") == "anonymous"


def test_a_bundle_may_hold_comments_and_several_authorities():
    bundle = (
        b"# \xc3\xbcnser Bestes\n"
        + OTHER_CA_PEM
        + b"-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----"
        + CA_PEM
    )
    assert handshake(TLSContexts(config(ca_data=bundle)).current()) == "anonymous"


def test_an_intermediate_authority_may_be_the_anchor():
    intermediate = AUTHORITY.create_child_ca()
    server = server_context(intermediate.issue_cert("server.example.com"))
    assert handshake(TLSContexts(config(ca_data=intermediate.cert_pem.bytes())).current(), server) == "anonymous"


def test_the_servers_own_certificate_may_be_the_anchor():
    pinned = SERVER.cert_chain_pems[0].bytes()
    assert handshake(TLSContexts(config(ca_data=pinned)).current()) == "anonymous"


def test_old_versions_of_tls_are_rejected():
    context = TLSContexts(config()).current()
    assert context is not None
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_context_for_another_server_can_be_built(tmp_path: Path):
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    assert handshake(ca_context(ca_file=str(tmp_path / "ca.crt"))) == "anonymous"
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(ca_context())


# Client certificates


def test_a_client_certificate_is_shown_to_the_server(tmp_path: Path):
    (tmp_path / "tls.crt").write_bytes(JANE.certificate)
    (tmp_path / "tls.key").write_bytes(JANE.key)
    crt, key = str(tmp_path / "tls.crt"), str(tmp_path / "tls.key")
    from_data = config(client_cert_data=JANE.certificate, client_key_data=JANE.key)
    from_files = config(client_cert_file=crt, client_key_file=key)
    from_both = config(client_cert_file=crt, client_key_data=JANE.key)
    for each in (from_data, from_files, from_both):
        assert handshake(TLSContexts(each).current()) == "jane@example.com"


def test_the_certificate_of_credentials_comes_before_that_of_the_config():
    contexts = TLSContexts(config(client_cert_data=JANE.certificate, client_key_data=JANE.key))
    assert handshake(contexts.current()) == "jane@example.com"
    assert handshake(contexts.current(JOE)) == "joe@example.com"
    assert handshake(contexts.current()) == "jane@example.com"


def test_no_key_stays_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    TLSContexts(config(client_cert_data=JANE.certificate, client_key_data=JANE.key)).current()
    assert list(tmp_path.iterdir()) == []


# Changes


def test_one_context_is_used_until_a_certificate_changes():
    contexts = TLSContexts(config())
    first = contexts.current()
    assert contexts.current() is first
    with_jane = contexts.current(JANE)
    assert with_jane is not first
    assert contexts.current(ClientCertificate(JANE.certificate, JANE.key)) is with_jane
    assert contexts.current(JOE) is not with_jane


def test_an_authority_that_changes_is_picked_up_after_five_minutes(tmp_path: Path):
    ca, clock = tmp_path / "ca.crt", VirtualClock()
    ca.write_bytes(OTHER_CA_PEM)
    contexts = TLSContexts(config(ca_data=b"", ca_file=str(ca)), clock=clock)
    first = contexts.current()
    ca.write_bytes(CA_PEM)
    clock.jump(299)
    assert contexts.current() is first
    clock.jump(1)
    assert handshake(contexts.current()) == "anonymous"
    again = contexts.current()
    clock.jump(300)
    assert contexts.current() is again, "the file is the same as before"


def test_a_client_certificate_that_changes_is_picked_up_after_five_minutes(tmp_path: Path):
    crt, key, clock = tmp_path / "tls.crt", tmp_path / "tls.key", VirtualClock()
    crt.write_bytes(JANE.certificate)
    key.write_bytes(JANE.key)
    contexts = TLSContexts(config(client_cert_file=str(crt), client_key_file=str(key)), clock=clock)
    assert handshake(contexts.current()) == "jane@example.com"
    crt.write_bytes(JOE.certificate)
    key.write_bytes(JOE.key)
    assert handshake(contexts.current()) == "jane@example.com"
    clock.jump(300)
    assert handshake(contexts.current()) == "joe@example.com"


@pytest.mark.parametrize("content", [b"", b"nonsense", None], ids=["empty", "nonsense", "missing"])
def test_an_invalid_change_is_ignored(tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture):
    ca, clock = tmp_path / "ca.crt", VirtualClock()
    ca.write_bytes(CA_PEM)
    contexts = TLSContexts(config(ca_data=b"", ca_file=str(ca)), clock=clock)
    first = contexts.current()
    ca.unlink() if content is None else ca.write_bytes(content)
    clock.jump(300)
    assert contexts.current() is first
    assert f"the previous ones stay in use: {ca}: ca_file: " in caplog.text
    ca.write_bytes(CA_PEM + OTHER_CA_PEM)
    clock.jump(300)
    assert contexts.current() is not first


def test_a_certificate_whose_key_has_not_changed_yet_changes_nothing(tmp_path: Path):
    crt, key, clock = tmp_path / "tls.crt", tmp_path / "tls.key", VirtualClock()
    crt.write_bytes(JANE.certificate)
    key.write_bytes(JANE.key)
    contexts = TLSContexts(config(client_cert_file=str(crt), client_key_file=str(key)), clock=clock)
    contexts.current()
    crt.write_bytes(JOE.certificate)
    clock.jump(300)
    assert handshake(contexts.current()) == "jane@example.com"
    key.write_bytes(JOE.key)
    clock.jump(300)
    assert handshake(contexts.current()) == "joe@example.com"


# Errors


def encrypted(key: bytes) -> bytes:
    loaded = load_pem_private_key(key, None)
    return loaded.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(CANARY))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"ca_data": CANARY}, "ca_data: contains no certificate in PEM format"),
        (
            {"ca_data": b"", "ca_file": "/nowhere/ca.crt"},
            "/nowhere/ca.crt: ca_file: cannot be read: No such file or directory",
        ),
        ({"ca_data": b"", "ca_file": "/nowhere\0"}, "ca_file: cannot be read: the path is invalid"),
        (
            {"client_cert_data": JANE.certificate, "client_key_data": JOE.key},
            "client_key_data: the client key does not match the client certificate",
        ),
        (
            {"client_cert_data": CANARY, "client_key_data": CANARY},
            "client_key_data: the client certificate or its key is not in PEM format",
        ),
        (
            {"client_cert_data": JANE.certificate, "client_key_data": encrypted(JANE.key)},
            "client_key_data: the client key is encrypted; store it without a password",
        ),
        (
            {"client_cert_data": JANE.certificate, "client_key_file": "/nowhere/tls.key"},
            "/nowhere/tls.key: client_key_file: cannot be read: No such file or directory",
        ),
        (
            {"client_cert_file": "/nowhere/tls.crt", "client_key_data": CANARY},
            "/nowhere/tls.crt: client_cert_file: cannot be read: No such file or directory",
        ),
    ],
)
def test_certificates_that_cannot_be_used_are_named(
    fields: dict[str, Any], complaint: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    contexts = TLSContexts(config(**fields))
    for _ in range(2):
        with pytest.raises(ConfigError) as caught:
            contexts.current()
        assert complaint in str(caught.value)
    [error] = find_certificate_errors(config(**fields))
    assert str(error) == str(caught.value)
    assert CANARY.decode() not in f"{caught.value!r} {caught.value.__context__!r} {caplog.text}"


def test_a_new_certificate_that_cannot_be_used_is_rejected_each_time():
    contexts = TLSContexts(config())
    contexts.current(JANE)
    for _ in range(2):
        with pytest.raises(ConfigError, match="not in PEM format"):
            contexts.current(ClientCertificate(CANARY, CANARY))
    assert handshake(contexts.current(JANE)) == "jane@example.com"


def test_certificates_and_contexts_show_no_key():
    contexts = TLSContexts(config(client_cert_data=CANARY, client_key_data=CANARY))
    assert CANARY.decode() not in f"{ClientCertificate(CANARY, CANARY)!r} {contexts!r}"
    assert repr(contexts) == f"<TLSContexts of {HOST}, not loaded>"
