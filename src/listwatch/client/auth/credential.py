"""Credentials as values, and what errors say about them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from listwatch.client.config.client_config import ClientConfig, redact_url
from listwatch.client.config.tls import ClientCertificate
from listwatch.objects.json.reading import decoder_for

__all__ = ["OWN_HEADER", "Credential", "IssuedCredential", "describe_credential", "token_expiry"]

OWN_HEADER = "the Authorization header that was set on the request"


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """An Authorization header, a client certificate, or both. Without either, requests are anonymous."""

    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        present = (name for name in self.__slots__ if getattr(self, name))
        return f"Credential(<hidden: {', '.join(present) or 'nothing'}>)"


@dataclass(frozen=True, slots=True)
class IssuedCredential:
    """A credential from an issuer, and its expiry if it has one."""

    credential: Credential
    expires: datetime | None = None


class _Claims(msgspec.Struct):
    exp: float | None = None


def token_expiry(token: str) -> datetime | None:
    """Return when a token expires; None if it is not a JSON Web Token, or has no expiry."""
    try:
        payload = token.split(".")[1]
        claims = decoder_for(_Claims).decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims.exp, UTC) if claims.exp is not None else None
    except (IndexError, ValueError, OverflowError, OSError):  # msgspec's and base64's errors are ValueErrors
        return None


def describe_credential(config: ClientConfig, sent: Credential, now: datetime) -> str:
    """Say which credential of a config was sent and where it came from, without the credential itself."""
    certificate = _certificate(config, sent)
    if not sent.authorization:
        return certificate or _nothing(config)
    scheme, _, token = sent.authorization.partition(" ")
    expires = token_expiry(token) if scheme == "Bearer" else None
    expired = f", which expired at {expires:%Y-%m-%dT%H:%M:%SZ}" if expires is not None and expires < now else ""
    return f"{_login(config)}{expired}{f' and {certificate}' if certificate else ''}"


def _login(config: ClientConfig) -> str:
    if config.token_file:
        return f"the token of the file {config.token_file}"
    if config.token:
        return f"the token of {_origin(config)}"
    if config.username or config.password:
        return f"the user name {config.username!r} and the password of {_origin(config)}"
    if config.auth_provider:
        return f"an ID token of the identity provider {redact_url(config.auth_provider.issuer_url)}{_entry(config)}"
    command = config.exec.command if config.exec else ""
    return f"a credential of the exec plugin {command!r}{_entry(config)}"


def _certificate(config: ClientConfig, sent: Credential) -> str:
    if not config.uses_tls:
        return ""
    if sent.certificate is not None:
        command = config.exec.command if config.exec else ""
        return f"a client certificate of the exec plugin {command!r}{_entry(config)}"
    if config.client_cert_file:
        return f"the client certificate of the file {config.client_cert_file}"
    return f"the client certificate of {_origin(config)}" if config.client_cert_data else ""


def _nothing(config: ClientConfig) -> str:
    user = config.kubeconfig_user
    if user is None:
        return "no credential: the ClientConfig has none; set token, token_file or a client certificate"
    if not config.uses_tls:
        return f"no credential: those of {user.entry} in {user.file} are not sent over plain http"
    return f"no credential: {user.entry} in {user.file} has none"


def _origin(config: ClientConfig) -> str:
    user = config.kubeconfig_user
    return f"{user.entry} in {user.file}" if user else "the ClientConfig"


def _entry(config: ClientConfig) -> str:
    user = config.kubeconfig_user
    return f" of {user.entry} in {user.file}" if user else ""
