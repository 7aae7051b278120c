"""Trust, both ways: the SSL context of a connection, and a new one after its files have changed.

`transport` asks before each request. The certificate authority and the client's own certificate come from the
ClientConfig, or the latter from an exec plugin.
"""

from __future__ import annotations

import logging
import re
import ssl
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from listwatch.client.config.client_config import ClientConfig
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError

__all__ = ["ClientCertificate", "TLSContexts", "authority_of", "certificate_mistakes", "check_certificate", "trusting"]

_log = logging.getLogger(__name__)

_REREAD_INTERVAL = 300.0
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False)
class ClientCertificate:
    """A certificate chain and its private key, as PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "ClientCertificate(<hidden>)"


@dataclass(frozen=True, slots=True, repr=False)
class _Material:
    """All that a context is made of; equal material makes equal contexts."""

    authority: bytes
    client: ClientCertificate | None


class TLSContexts:
    """One SSL context until what it is made of changes; a change on disk that cannot be used changes nothing."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self._config = config
        self._uses_tls = config.uses_tls
        self._clock = clock or SystemClock()
        self._given: ClientCertificate | None = None
        self._material: _Material | None = None
        self._context: ssl.SSLContext | None = None
        self._next_read = 0.0

    def __repr__(self) -> str:
        return f"<TLSContexts of {self._config.base_url}, {'in use' if self._context else 'not used yet'}>"

    def current(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext | None:
        """The context for a new connection, with the credentials' certificate if they have one; None without TLS."""
        if not self._uses_tls:
            return None
        if self._context is None or certificate != self._given:
            self._renew(certificate)
        elif self._clock.monotonic() >= self._next_read:
            self._renew_if_possible()
        return self._context

    def _renew_if_possible(self) -> None:
        try:
            self._renew(self._given)
        except ConfigError as error:
            _log.warning("TLS files have changed and cannot be used, the old ones stay in force: %s", error)

    def _renew(self, given: ClientCertificate | None) -> None:
        self._next_read = self._clock.monotonic() + _REREAD_INTERVAL
        material = _Material(authority_of(self._config), given or _client_certificate(self._config))
        if self._context is None or material != self._material:
            self._context, self._material = self._made_of(material), material
        self._given = given

    def _made_of(self, material: _Material) -> ssl.SSLContext:
        config = self._config
        context = _context(insecure=config.insecure_skip_tls_verify)
        if not config.insecure_skip_tls_verify:
            _trust(context, material.authority, file=config.ca_file, field="ca_file" if config.ca_file else "ca_data")
        if material.client:
            _identify(context, material.client, file=config.client_key_file, field=_key_field(config))
        return context


def trusting(*, ca_file: str = "", ca_data: bytes = b"") -> ssl.SSLContext:
    """A context for some other server, which trusts this authority, or the system's."""
    authority = ca_data or (_read(ca_file, field="ca_file") if ca_file else b"")
    context = _context(insecure=False)
    _trust(context, authority, file=ca_file, field="ca_file" if ca_file else "ca_data")
    return context


def certificate_mistakes(config: ClientConfig) -> list[ConfigError]:
    """What is wrong with the certificates and keys that a config names or holds; it reads the files."""
    mistakes = []
    for check in (_check_authority, _check_client_certificate):
        try:
            check(config)
        except ConfigError as error:
            mistakes.append(error)
    return mistakes


def check_certificate(certificate: ClientCertificate) -> None:
    """Raise a ConfigError if this is no certificate with its key."""
    _identify(_context(insecure=True), certificate, file="", field="")


def _check_authority(config: ClientConfig) -> None:
    if config.ca_file or config.ca_data:
        trusting(ca_file=config.ca_file, ca_data=config.ca_data)


def _check_client_certificate(config: ClientConfig) -> None:
    if certificate := _client_certificate(config):
        _identify(_context(insecure=True), certificate, file=config.client_key_file, field=_key_field(config))


# --- Reading ----------------------------------------------------------------------------------------------------------


def authority_of(config: ClientConfig) -> bytes:
    """The certificates of the authority that a config names, or nothing if it is the system's."""
    return config.ca_data or (_read(config.ca_file, field="ca_file") if config.ca_file else b"")


def _client_certificate(config: ClientConfig) -> ClientCertificate | None:
    if not (config.client_cert_file or config.client_cert_data):
        return None
    return ClientCertificate(
        config.client_cert_data or _read(config.client_cert_file, field="client_cert_file"),
        config.client_key_data or _read(config.client_key_file, field="client_key_file"),
    )


def _key_field(config: ClientConfig) -> str:
    return "client_key_file" if config.client_key_file else "client_key_data"


def _read(path: str, *, field: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "that is no path"
        raise ConfigError(f"cannot be read: {reason}", file=path, field=field) from None


# --- Making contexts --------------------------------------------------------------------------------------------------


def _context(*, insecure: bool) -> ssl.SSLContext:
    # Not ssl.create_default_context: its strict checks refuse the authorities of many clusters that Go accepts.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # As in Go, whatever certificate is named as authority is trusted, also if somebody else has signed it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _trust(context: ssl.SSLContext, authority: bytes, *, file: str, field: str) -> None:
    if not (authority or file):
        context.load_default_certs()
        return
    for block in _CERTIFICATE.findall(authority):
        with suppress(ssl.SSLError, UnicodeDecodeError):  # one good certificate is enough
            context.load_verify_locations(cadata=block.decode("ascii"))
    if not context.cert_store_stats()["x509"]:
        raise ConfigError("holds no certificate in PEM form", file=file, field=field)


def _identify(context: ssl.SSLContext, certificate: ClientCertificate, *, file: str, field: str) -> None:
    # The ssl module reads certificates and keys from files only.
    with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
        chain, key = _private_file(folder, certificate.certificate), _private_file(folder, certificate.key)
        try:
            context.load_cert_chain(chain, key, password=_no_password)
            return
        except (ssl.SSLError, _EncryptedKeyError) as error:
            problem = _said_plainly(error)
    raise ConfigError(problem, file=file, field=field)


class _EncryptedKeyError(Exception):
    """OpenSSL asks for a password, and would ask on the terminal."""


def _no_password() -> NoReturn:
    raise _EncryptedKeyError


def _said_plainly(error: Exception) -> str:
    if isinstance(error, _EncryptedKeyError):
        return "the client key is encrypted; store it without a password"
    if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
        return "the client key does not belong to the client certificate"
    return "the client certificate or its key is not in PEM form"


def _private_file(folder: str, content: bytes) -> str:
    descriptor, path = tempfile.mkstemp(dir=folder)  # readable by nobody else
    with open(descriptor, "wb") as file:
        file.write(content)
    return path
