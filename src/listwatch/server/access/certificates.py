"""A certificate authority, which issues the certificate of a TLS server and those of its clients.

Needs the `cryptography` package, which `listwatch[server]` installs; imported for TLS only.
"""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from listwatch.certificate_signing import KeyPair, create_authority, issue_certificate
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
        now = (clock or SystemClock()).now()
        pair = create_authority("listwatch-ca", (now - _CLOCK_SKEW, now + _AUTHORITY_VALIDITY))
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
        now = self._clock.now()
        end = min(now + _CERTIFICATE_VALIDITY, self._certificate.not_valid_after_utc)
        return issue_certificate(
            self._certificate, self._key, name, (now - _CLOCK_SKEW, end), groups=groups, hosts=hosts
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
