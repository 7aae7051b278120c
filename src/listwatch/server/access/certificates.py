"""A certificate authority, which issues the certificate of a TLS server and those of its clients.

Needs the `cryptography` package, which `listwatch[server]` installs; imported for TLS only.
"""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError
from listwatch.server.access.persisted_secrets import read_or_create

__all__ = ["CertificateAuthority", "KeyPair"]

_log = logging.getLogger("listwatch.server")

_FILE = "ca.pem"
_AUTHORITY_VALIDITY = timedelta(days=3650)
# Some platforms reject certificates of servers that are valid for longer than 398 days.
_CERTIFICATE_VALIDITY = timedelta(days=365)
# The clock of a client may be behind.
_CLOCK_SKEW = timedelta(hours=1)
_RENEWAL = timedelta(days=30)
"""How long before its end a certificate is replaced."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


class CertificateAuthority:
    """Issues certificates for the server and its clients."""

    def __init__(self, pem: bytes, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        try:
            self._certificate = x509.load_pem_x509_certificate(pem)
            key = load_pem_private_key(pem, password=None)
        except ValueError:
            raise ConfigError("the PEM does not contain the certificate of an authority and its key") from None
        if not isinstance(key, EllipticCurvePrivateKey):
            raise ConfigError("the key of the certificate authority is not an elliptic curve key")
        self._key = key
        self.pem = pem
        """The certificate and the key; pass it to the constructor to get the same authority again."""

    @classmethod
    def create(cls, *, clock: Clock | None = None) -> Self:
        """Create an authority with a new key."""
        key = _new_key()
        name = _name("listwatch-ca")
        now = (clock or SystemClock()).now()
        pair = _signed(name, name, key, key, _ca_extensions(key), (now - _CLOCK_SKEW, now + _AUTHORITY_VALIDITY))
        return cls(pair.certificate + pair.key, clock=clock)

    @classmethod
    def persisted(cls, folder: str | os.PathLike[str], *, clock: Clock | None = None) -> Self:
        """Return the authority in a folder; it is created if it is missing or will expire soon."""

        def read() -> bytes:
            return read_or_create(folder, _FILE, lambda: cls.create(clock=clock).pem)

        authority = cls(read(), clock=clock)
        if not authority.is_ending:
            return authority
        _log.warning("Replacing %r in %s: clients need a new kubeconfig", authority, folder, extra={"folder": folder})
        Path(folder, _FILE).unlink(missing_ok=True)
        return cls(read(), clock=clock)

    def __repr__(self) -> str:
        return f"<CertificateAuthority, valid until {self._certificate.not_valid_after_utc:%Y-%m-%d}>"

    @property
    def is_ending(self) -> bool:
        """Whether its certificate has expired or will soon; a new authority should replace it."""
        return self._clock.now() > self._certificate.not_valid_after_utc - _RENEWAL

    @property
    def certificate(self) -> bytes:
        """The certificate that clients have to trust, in PEM."""
        return self._certificate.public_bytes(Encoding.PEM)

    def issue(self, name: str, *, groups: Sequence[str] = (), hosts: Iterable[str] = ()) -> KeyPair:
        """Issue a certificate for a user in these groups, or for a server with these names and addresses."""
        key = _new_key()
        extensions = _leaf_extensions(key, self._key, list(hosts))
        now = self._clock.now()
        end = min(now + _CERTIFICATE_VALIDITY, self._certificate.not_valid_after_utc)
        return _signed(
            _name(name, groups), self._certificate.subject, key, self._key, extensions, (now - _CLOCK_SKEW, end)
        )

    def server_context(self, hosts: Iterable[str]) -> ssl.SSLContext:
        """Return the context of a server at these hosts; client certificates are optional and must be issued here.

        Before the certificate of the server expires, new connections get a new one.
        """
        names = tuple(hosts)
        first = current = self._new_server_context(names)
        renewal = self._clock.now() + _CERTIFICATE_VALIDITY - _RENEWAL

        def select(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            nonlocal current, renewal
            now = self._clock.now()
            if now > renewal:
                current, renewal = self._new_server_context(names), now + _CERTIFICATE_VALIDITY - _RENEWAL
            if current is not first:
                connection.context = current

        # Called at the start of every handshake, also without a server name.
        first.sni_callback = select
        return first

    def _new_server_context(self, hosts: Iterable[str]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self.certificate.decode())
        pair = self.issue("listwatch-server", hosts=hosts)
        # ssl reads files only. The folder is readable by this user only, and removed at once.
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder, "certificate"), Path(folder, "key")
            certificate.write_bytes(pair.certificate)
            key.write_bytes(pair.key)
            context.load_cert_chain(certificate, key)
        return context


# --- X.509 ------------------------------------------------------------------------------------------------------------


def _new_key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


def _name(common_name: str, groups: Sequence[str] = ()) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _ca_extensions(key: EllipticCurvePrivateKey) -> list[tuple[x509.ExtensionType, bool]]:
    return [
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (_usage(signs_certificates=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ]


def _leaf_extensions(
    key: EllipticCurvePrivateKey, signer: EllipticCurvePrivateKey, hosts: list[str]
) -> list[tuple[x509.ExtensionType, bool]]:
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([purpose]), False),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
    ]
    if hosts:
        extensions.append((x509.SubjectAlternativeName([_host(host) for host in hosts]), False))
    return extensions


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: EllipticCurvePrivateKey,
    signer: EllipticCurvePrivateKey,
    extensions: list[tuple[x509.ExtensionType, bool]],
    validity: tuple[datetime, datetime],
) -> KeyPair:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity[0])
        .not_valid_after(validity[1])
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    certificate = builder.sign(signer, SHA256()).public_bytes(Encoding.PEM)
    return KeyPair(certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
