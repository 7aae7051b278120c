"""Renews ID tokens with a refresh token of OpenID Connect. `credentials` decides when.

Responses of the provider appear in no error and no log. New tokens are written back to their kubeconfig, because many
providers accept a refresh token only once.
"""

from __future__ import annotations

import base64
import logging
import ssl
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from urllib.parse import quote_plus, urlencode

import msgspec

from listwatch.client.auth.credential import Credential, IssuedCredential, token_expiry
from listwatch.client.config.client_config import OIDCConfig, is_header_value, redact_url, url_problems
from listwatch.client.config.kubeconfig_writer import write_tokens
from listwatch.client.config.redaction import HiddenStruct
from listwatch.client.config.tls import ca_context
from listwatch.clock import Clock
from listwatch.errors import ConfigError, CredentialError, TransportError
from listwatch.objects.json.reading import decoder_for

__all__ = ["Fetch", "OIDCProvider"]

_log = logging.getLogger("listwatch.client")

_EXPIRY_DELTA = timedelta(seconds=10)
_STANDARD_ERRORS = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
}


class _Discovery(HiddenStruct, frozen=True):
    token_endpoint: str = ""


class _Tokens(HiddenStruct, frozen=True):
    id_token: str | None = None
    refresh_token: str | None = None
    error: str | None = None


StructT = TypeVar("StructT", bound=msgspec.Struct)


class Fetch(Protocol):
    """Sends an HTTP request to any server, and returns status and body of the response."""

    async def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, tls: ssl.SSLContext | None
    ) -> tuple[int, bytes]: ...


class OIDCProvider:
    """Issues the current ID token, or a new one when that has expired or was rejected."""

    def __init__(self, config: OIDCConfig, *, fetch: Fetch, clock: Clock) -> None:
        self._config = config
        self._fetch = fetch
        self._clock = clock
        self._displayed_url = redact_url(config.issuer_url)
        self._id_token = config.id_token.strip()
        self._refresh_token = config.refresh_token

    def __repr__(self) -> str:
        return f"OIDCProvider({self._displayed_url!r})"

    def __str__(self) -> str:
        return f"the identity provider {self._displayed_url}"

    async def issue(self, *, renew: bool) -> IssuedCredential:
        expires = _expiry(self._id_token)
        if renew or expires is None or self._clock.now() > expires:
            await self._refresh()
            expires = _expiry(self._id_token)
        return IssuedCredential(Credential(f"Bearer {self._id_token}"), expires)

    async def _refresh(self) -> None:
        if not self._refresh_token:
            raise self._error("the ID token has expired or was rejected, and there is no refresh token; log in again")
        tokens = await self._new_tokens(await self._token_endpoint())
        if not tokens.id_token or not is_header_value(tokens.id_token):
            raise self._error("its response has no ID token; log in again with the scope openid")
        self._id_token = tokens.id_token
        self._refresh_token = tokens.refresh_token or self._refresh_token
        self._write_back()

    async def _token_endpoint(self) -> str:
        url = f"{self._config.issuer_url.rstrip('/')}/.well-known/openid-configuration"
        status, body = await self._send("GET", url)
        endpoint = self._decode(body, _Discovery).token_endpoint if status == 200 else ""
        if any(url_problems("token_endpoint", endpoint)):
            raise self._error(f"{redact_url(url)} names no token endpoint (status {status})")
        return endpoint

    async def _new_tokens(self, endpoint: str) -> _Tokens:
        """Send the client secret in the header, which is the standard; if that is rejected, in the form."""
        config = self._config
        form = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        in_form = form | {"client_id": config.client_id}
        status, body = 0, b""
        if config.client_secret:
            status, body = await self._send("POST", endpoint, form=form, authorization=_client_in_header(config))
            in_form |= {"client_secret": config.client_secret}
        if status != 200:
            status, body = await self._send("POST", endpoint, form=in_form)
        if status >= 500:
            raise self._error(f"it cannot renew the token (status {status})")
        if status != 200:
            raise self._error(f"it rejected the refresh token (status {status}{_reason(body)}); log in again")
        return self._decode(body, _Tokens)

    async def _send(
        self, method: str, url: str, *, form: Mapping[str, str] | None = None, authorization: str = ""
    ) -> tuple[int, bytes]:
        headers = {"Accept": "application/json"}
        if authorization:
            headers["Authorization"] = authorization
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(form).encode() if form else None
        tls = self._ssl_context() if url.startswith("https:") else None
        try:
            return await self._fetch(method, url, headers=headers, body=body, tls=tls)
        except TransportError as error:
            raise self._error(f"it cannot be reached: {error}") from error

    def _ssl_context(self) -> ssl.SSLContext:
        try:
            return ca_context(ca_file=self._config.ca_file, ca_data=self._config.ca_data)
        except ConfigError as error:
            raise self._error(f"its certificate authority cannot be used: {error}") from None

    def _decode(self, body: bytes, kind: type[StructT]) -> StructT:
        try:
            found: StructT = decoder_for(kind).decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        else:
            return found
        raise self._error("its response is not valid for OpenID Connect")

    def _write_back(self) -> None:
        tokens = {"id-token": self._id_token, "refresh-token": self._refresh_token}
        if self._config.kubeconfig_user is None:
            return
        try:
            write_tokens(self._config.kubeconfig_user, tokens)
        except ConfigError as error:
            _log.warning(
                "The new tokens of %s could not be saved: %s", self, error, extra={"issuer": self._displayed_url}
            )

    def _error(self, problem: str) -> CredentialError:
        user = self._config.kubeconfig_user
        file, entry = (user.file, user.entry) if user else ("", "")
        return CredentialError(f"{self}: {problem}", file=file, entry=entry)


def _expiry(token: str) -> datetime | None:
    """When to renew an ID token: ten seconds before it expires; None if it has no expiry."""
    expires = token_expiry(token)
    try:
        return None if expires is None else expires - _EXPIRY_DELTA
    except OverflowError:
        return None


def _client_in_header(config: OIDCConfig) -> str:
    pair = f"{quote_plus(config.client_id)}:{quote_plus(config.client_secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"


def _reason(body: bytes) -> str:
    """The error code of a response if it is a standard one; other texts may hold secrets."""
    try:
        error = decoder_for(_Tokens).decode(body).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return f", {error}" if error in _STANDARD_ERRORS else ""
