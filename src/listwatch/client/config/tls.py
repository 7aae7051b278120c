"""SSL contexts of a ClientConfig, renewed when the certificate files change.

The transport gets the current context before each request. The client certificate is that of the ClientConfig or of an
exec plugin.
"""

from __future__ import annotations

import logging
import re
import ssl
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from listwatch.client.config.bounded_files import read_regular_file
from listwatch.client.config.client_config import ClientConfig
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError

__all__ = [
    "ClientCertificate",
    "TLSContexts",
    "ca_context",
    "check_certificate",
    "find_certificate_errors",
    "read_ca_bundle",
]

_log = logging.getLogger("listwatch.client")

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
    """The contents of a context; equal material gives an equivalent context."""

    ca_bundle: bytes
    client: ClientCertificate | None


class TLSContexts:
    """Keeps one SSL context and replaces it when its certificates change; an invalid change on disk is ignored."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self._config = config
        self._uses_tls = config.uses_tls
        self._clock = clock or SystemClock()
        self._plugin_certificate: ClientCertificate | None = None
        self._material: _Material | None = None
        self._context: ssl.SSLContext | None = None
        self._next_read = 0.0

    def __repr__(self) -> str:
        return f"<TLSContexts of {self._config.base_url}, {'loaded' if self._context else 'not loaded'}>"

    def current(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext | None:
        """Return the context for a new connection, or None without TLS.

        `certificate` is the client certificate of an exec plugin.
        """
        if not self._uses_tls:
            return None
        if self._context is None or certificate != self._plugin_certificate:
            self._renew(certificate)
        elif self._clock.monotonic() >= self._next_read:
            self._renew_if_possible()
        return self._context

    def reread(self) -> bool:
        """Read the files now, because a connection has failed; return whether the context was replaced."""
        before = self._context
        if self._uses_tls and before is not None:
            self._renew_if_possible()
        return self._context is not before

    def _renew_if_possible(self) -> None:
        try:
            self._renew(self._plugin_certificate)
        except ConfigError as error:
            _log.warning(
                "The changed TLS files cannot be used; the previous ones stay in use: %s",
                error,
                extra={"server": self._config.base_url},
            )

    def _renew(self, plugin_certificate: ClientCertificate | None) -> None:
        self._next_read = self._clock.monotonic() + _REREAD_INTERVAL
        material = _Material(read_ca_bundle(self._config), plugin_certificate or _client_certificate(self._config))
        if self._context is None or material != self._material:
            self._context, self._material = self._build(material), material
        self._plugin_certificate = plugin_certificate

    def _build(self, material: _Material) -> ssl.SSLContext:
        config = self._config
        context = _new_context(insecure=config.insecure_skip_tls_verify)
        if not config.insecure_skip_tls_verify:
            _trust(context, material.ca_bundle, file=config.ca_file, field="ca_file" if config.ca_file else "ca_data")
        if material.client:
            _load_certificate(context, material.client, file=config.client_key_file, field=_key_field(config))
        return context


def ca_context(*, ca_file: str = "", ca_data: bytes = b"") -> ssl.SSLContext:
    """Return a context that trusts this certificate authority, or the system's if none is given."""
    bundle = ca_data or (_read(ca_file, field="ca_file") if ca_file else b"")
    context = _new_context(insecure=False)
    _trust(context, bundle, file=ca_file, field="ca_file" if ca_file else "ca_data")
    return context


def find_certificate_errors(config: ClientConfig) -> list[ConfigError]:
    """Return what is wrong with the certificates and keys of a config, after reading their files."""
    errors = []
    for check in (_check_ca, _check_client_certificate):
        try:
            check(config)
        except ConfigError as error:
            errors.append(error)
    return errors


def check_certificate(certificate: ClientCertificate) -> None:
    """Raise a ConfigError unless these are a certificate and its key."""
    _load_certificate(_new_context(insecure=True), certificate, file="", field="")


def _check_ca(config: ClientConfig) -> None:
    if config.ca_file or config.ca_data:
        ca_context(ca_file=config.ca_file, ca_data=config.ca_data)


def _check_client_certificate(config: ClientConfig) -> None:
    if certificate := _client_certificate(config):
        _load_certificate(
            _new_context(insecure=True), certificate, file=config.client_key_file, field=_key_field(config)
        )


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_ca_bundle(config: ClientConfig) -> bytes:
    """Return the PEM certificates of the configured authority; empty if the system's authorities are used."""
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
        return read_regular_file(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the path is invalid"
        raise ConfigError(f"cannot be read: {reason}", file=path, field=field) from None


# --- Building contexts ------------------------------------------------------------------------------------------------


def _new_context(*, insecure: bool) -> ssl.SSLContext:
    # Not ssl.create_default_context: its strict checks reject certificate authorities of many clusters that Go accepts.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # As in Go, a configured certificate is trusted even if it is an intermediate.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _trust(context: ssl.SSLContext, bundle: bytes, *, file: str, field: str) -> None:
    if not (bundle or file):
        context.load_default_certs()
        return
    for block in _CERTIFICATE.findall(bundle):
        with suppress(ssl.SSLError, UnicodeDecodeError):  # one valid certificate is enough
            context.load_verify_locations(cadata=block.decode("ascii"))
    if not context.cert_store_stats()["x509"]:
        raise ConfigError("contains no certificate in PEM format", file=file, field=field)


def _load_certificate(context: ssl.SSLContext, certificate: ClientCertificate, *, file: str, field: str) -> None:
    # The ssl module reads client certificates and keys from files only.
    with tempfile.TemporaryDirectory(prefix="listwatch-") as folder:
        chain, key = _private_file(folder, certificate.certificate), _private_file(folder, certificate.key)
        try:
            context.load_cert_chain(chain, key, password=_no_password)
            return
        except (ssl.SSLError, _EncryptedKeyError) as error:
            problem = _describe(error)
    raise ConfigError(problem, file=file, field=field)


class _EncryptedKeyError(Exception):
    """The key is encrypted; without a callback OpenSSL would prompt for a password on the terminal."""


def _no_password() -> NoReturn:
    raise _EncryptedKeyError


def _describe(error: Exception) -> str:
    if isinstance(error, _EncryptedKeyError):
        return "the client key is encrypted; store it without a password"
    if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
        return "the client key does not match the client certificate"
    return "the client certificate or its key is not in PEM format"


def _private_file(folder: str, content: bytes) -> str:
    descriptor, path = tempfile.mkstemp(dir=folder)  # readable by its owner only
    with open(descriptor, "wb") as file:
        file.write(content)
    return path
