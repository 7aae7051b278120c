"""Who is asking: credentials for each request, renewed when they must be. `transport` asks before it sends.

    token, password ──────────────▶ FixedCredentials
    token file ───────────────────▶ TokenFileCredentials     the file is read again and again
    exec plugin, OIDC provider ───▶ IssuedCredentials        an issuer is asked when the last answer has expired

A client certificate in the ClientConfig itself is no concern of this module, but of `tls`.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import math
from typing import Protocol

from listwatch.client.auth.credential import Credential, Issued
from listwatch.client.auth.exec_plugin import ExecPlugin
from listwatch.client.auth.oidc import Fetch, OIDCProvider
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.token_file import read_token_file
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError, CredentialError

__all__ = [
    "Credential",
    "Credentials",
    "Fetch",
    "FixedCredentials",
    "IssuedCredentials",
    "TokenFileCredentials",
    "credentials_for",
]

_log = logging.getLogger(__name__)

_REREAD_INTERVAL = 50.0  # a token in a file is taken to be good for a minute, less ten seconds on the way


class Credentials(Protocol):
    """Prove who is asking, for as long as a client lives."""

    async def current(self) -> Credential:
        """What to send with the next request."""

    async def rejected(self, used: Credential) -> bool:
        """Hear that the server answered 401 to this, and tell whether another try is worth it."""

    @property
    def awaited(self) -> str:
        """Who is being asked for new ones just now, for messages; "" if nobody is."""

    async def aclose(self) -> None:
        """Stop whatever still runs."""


class Issuer(Protocol):
    """Gives out credentials on request, and takes its time."""

    async def issue(self, *, renew: bool) -> Issued:
        """A credential; with `renew` not the one that it may still have."""


def credentials_for(config: ClientConfig, *, fetch: Fetch, clock: Clock | None = None) -> Credentials:
    """Whatever the config has; what it says outright comes before a plugin or provider, as does a certificate."""
    clock = clock or SystemClock()
    if config.token_file:
        return TokenFileCredentials(config.token_file, fallback=config.token, clock=clock)
    if config.token:
        return FixedCredentials(Credential(_bearer(config.token.strip())))
    if config.username or config.password:
        return FixedCredentials(Credential(_basic(config.username, config.password)))
    if config.auth_provider:
        return IssuedCredentials(OIDCProvider(config.auth_provider, fetch=fetch, clock=clock), clock=clock)
    if config.exec and not (config.client_cert_file or config.client_cert_data):
        return IssuedCredentials(ExecPlugin(config, config.exec, clock=clock), clock=clock)
    return FixedCredentials(Credential())


def _bearer(token: str) -> str:
    return f"Bearer {token}"


def _basic(username: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode('ascii')}"


class FixedCredentials:
    """Always the same; if the server refuses them there is nothing to be done."""

    awaited = ""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def current(self) -> Credential:
        return self._credential

    async def rejected(self, used: Credential) -> bool:
        return False

    async def aclose(self) -> None:
        pass


class TokenFileCredentials:
    """The token that a file held when it could last be read; until then the fallback."""

    awaited = ""

    def __init__(self, path: str, *, fallback: str = "", clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._credential = Credential(_bearer(fallback.strip())) if fallback else None
        self._next_read = -math.inf
        self._has_failed = False

    async def current(self) -> Credential:
        if self._credential is None or self._clock.monotonic() >= self._next_read:
            return self._read()
        return self._credential

    async def rejected(self, used: Credential) -> bool:
        return self._read() != used

    async def aclose(self) -> None:
        pass

    def _read(self) -> Credential:
        try:
            credential = Credential(_bearer(read_token_file(self._path)))
        except CredentialError as error:
            return self._last_one(error)
        self._next_read = self._clock.monotonic() + _REREAD_INTERVAL
        self._credential, self._has_failed = credential, False
        return credential

    def _last_one(self, error: CredentialError) -> Credential:
        if self._credential is None:
            raise error
        if not self._has_failed:
            _log.warning("the token that was read last is used for now: %s", error)
        self._has_failed = True
        return self._credential


class IssuedCredentials:
    """What an issuer gave last, until it expires; all who wait for a new one wait for the same."""

    def __init__(self, issuer: Issuer, *, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._issued: Issued | None = None
        self._issuing: asyncio.Task[Issued] | None = None

    @property
    def awaited(self) -> str:
        return str(self._issuer) if self._issuing else ""

    async def current(self) -> Credential:
        issued = self._issued
        if issued is None or (issued.expires and self._clock.now() > issued.expires):
            issued = await self._wait_issued(renew=False)
        return issued.credential

    async def rejected(self, used: Credential) -> bool:
        renewed_meanwhile = self._issued is not None and self._issued.credential is not used
        if not renewed_meanwhile:
            try:
                await self._wait_issued(renew=True)
            except ConfigError as error:
                _log.warning("the server rejected the credentials, and there are no new ones: %s", error)
                return False
        return self._issued is not None and self._issued.credential != used

    async def aclose(self) -> None:
        if self._issuing:
            self._issuing.cancel()
            await asyncio.wait({self._issuing})

    async def _wait_issued(self, *, renew: bool) -> Issued:
        if self._issuing is None:
            self._issuing = asyncio.create_task(self._issue(renew=renew), name="issue credentials")
            # If everybody who waited has been cancelled, nobody else will look at how it went.
            self._issuing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await _unharmed(self._issuing)

    async def _issue(self, *, renew: bool) -> Issued:
        try:
            self._issued = await self._issuer.issue(renew=renew)
            return self._issued
        finally:
            self._issuing = None


async def _unharmed(task: asyncio.Task[Issued]) -> Issued:
    """Wait for it; one request that gives up does not take it away from the others."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            raise
    raise CredentialError("the client was closed while it waited for credentials")
