"""The credentials of requests, and their renewal.

    token, password ──────────────▶ FixedCredentials
    token file ───────────────────▶ TokenFileCredentials     reads the file again periodically
    exec plugin, OIDC provider ───▶ IssuedCredentials        requests a new one when the credential has expired

The client certificate of a ClientConfig is handled by `client/config/tls.py`.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import math
from typing import Protocol

from listwatch.client.auth.credential import Credential, IssuedCredential
from listwatch.client.auth.exec_plugin import ExecPlugin
from listwatch.client.auth.oidc import Fetch, OIDCProvider
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.redaction import without_frames
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

_log = logging.getLogger("listwatch.client")

# Delays before an issuer is used again after a failure or an unusable credential.
_RETRY_DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
_MIN_LIFETIME = 10.0  # a credential that is rejected sooner was never valid
_REREAD_INTERVAL = 50.0  # a token in a file is assumed to be valid for a minute, less ten seconds for the request


class Credentials(Protocol):
    """The source of a client's credentials."""

    async def current(self) -> Credential:
        """Return the credential for the next request."""

    async def renew(self, rejected: Credential) -> bool:
        """Renew a credential that the server rejected with 401. Return whether another attempt makes sense."""

    @property
    def pending_issuer(self) -> str:
        """The issuer from which a credential is being requested, for error messages; "" if there is none."""

    async def aclose(self) -> None:
        """Cancel a pending renewal."""


class Issuer(Protocol):
    """Issues credentials on request."""

    async def issue(self, *, renew: bool) -> IssuedCredential:
        """Issue a credential. With `renew`, a cached one is not returned."""


def credentials_for(config: ClientConfig, *, fetch: Fetch, clock: Clock | None = None) -> Credentials:
    """Return the credentials of a config. Tokens, passwords and certificates take precedence over issuers."""
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
    """A credential that never changes."""

    pending_issuer = ""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def current(self) -> Credential:
        return self._credential

    async def renew(self, rejected: Credential) -> bool:
        return False

    async def aclose(self) -> None:
        pass


class TokenFileCredentials:
    """The token in a file. While the file cannot be read, the last token, or the fallback."""

    pending_issuer = ""

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

    async def renew(self, rejected: Credential) -> bool:
        return self._read() != rejected

    async def aclose(self) -> None:
        pass

    def _read(self) -> Credential:
        try:
            credential = Credential(_bearer(read_token_file(self._path)))
        except CredentialError as error:
            return self._last_credential(error)
        self._next_read = self._clock.monotonic() + _REREAD_INTERVAL
        self._credential, self._has_failed = credential, False
        return credential

    def _last_credential(self, error: CredentialError) -> Credential:
        if self._credential is None:
            raise error
        if not self._has_failed:
            _log.warning(
                "Using the last token because the token file cannot be read: %s", error, extra={"file": self._path}
            )
        self._has_failed = True
        return self._credential


class IssuedCredentials:
    """The last credential of an issuer, until it expires. Concurrent requests share one renewal.

    After the issuer has failed, or has issued a credential that had expired already or was rejected within seconds, it
    is used again at once, then after 1, 2, 4, … 60 s, and not for every request.
    """

    def __init__(self, issuer: Issuer, *, clock: Clock) -> None:
        self._issuer = issuer
        self._clock = clock
        self._issued: IssuedCredential | None = None
        self._issued_at = -math.inf
        self._was_valid = False  # whether the last one had not expired when it was issued, and was not rejected
        self._issuing: asyncio.Task[IssuedCredential] | None = None
        self._rejected: Credential | None = None  # the last credential that the server rejected
        self._failure: ConfigError | None = None  # of the last attempt
        self._useless_in_a_row = 0
        self._next_attempt = -math.inf

    @property
    def pending_issuer(self) -> str:
        return str(self._issuer) if self._issuing else ""

    async def current(self) -> Credential:
        issued = self._issued
        if issued is not None and not self._has_expired(issued):
            return issued.credential
        if self._must_wait():
            if self._failure is not None:
                raise self._repeated(self._failure)
            if issued is not None:
                return issued.credential  # the clock of this machine may be wrong
        elif self._was_valid and not self._failure:
            self._useless_in_a_row = 0
        return (await self._wait_issued(renew=False)).credential

    async def renew(self, rejected: Credential) -> bool:
        if self._issued is None or self._issued.credential is rejected:
            self._note_rejection(rejected)
            if self._must_wait():
                return False
            try:
                await self._wait_issued(renew=True)
            except ConfigError as error:
                _log.warning(
                    "The server rejected the credentials, and renewing them failed: %s",
                    error,
                    extra={"issuer": str(self._issuer)},
                )
                return False
        return self._issued is not None and self._issued.credential != rejected

    async def aclose(self) -> None:
        if self._issuing:
            self._issuing.cancel()
            await asyncio.wait({self._issuing})

    async def _wait_issued(self, *, renew: bool) -> IssuedCredential:
        if self._issuing is None:
            self._issuing = asyncio.create_task(self._issue(renew=renew), name="issue credentials")
            # Retrieves the exception when all requests that waited for it were cancelled.
            self._issuing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await _wait_shared(self._issuing)

    async def _issue(self, *, renew: bool) -> IssuedCredential:
        try:
            self._issued = await self._issuer.issue(renew=renew)
            self._issued_at, self._failure = self._clock.monotonic(), None
            self._was_valid = not self._has_expired(self._issued)
            if not self._was_valid:
                self._delay_next_attempt()
            return self._issued
        except ConfigError as error:
            problem = self._failure = without_frames(error)  # they hold tokens and the output of plugins
            self._delay_next_attempt()
        finally:
            self._issuing = None
        raise problem

    # --- the rate of attempts ----------------------------------------------------------------------------------------

    def _has_expired(self, issued: IssuedCredential) -> bool:
        return issued.expires is not None and self._clock.now() > issued.expires

    def _must_wait(self) -> bool:
        return self._issuing is None and self._clock.monotonic() < self._next_attempt

    def _note_rejection(self, rejected: Credential) -> None:
        if rejected is self._rejected:
            return
        self._rejected, self._was_valid = rejected, False
        if self._clock.monotonic() - self._issued_at < _MIN_LIFETIME:
            self._delay_next_attempt()
        else:
            self._useless_in_a_row, self._next_attempt = 0, -math.inf

    def _delay_next_attempt(self) -> None:
        self._useless_in_a_row += 1
        delay = _RETRY_DELAYS[min(self._useless_in_a_row, len(_RETRY_DELAYS)) - 1]
        self._next_attempt = self._clock.monotonic() + delay

    def _repeated(self, failure: ConfigError) -> CredentialError:
        delay = self._next_attempt - self._clock.monotonic()
        message = f"{failure.message}; the next attempt is possible in {delay:.1f} s"
        return CredentialError(message, file=failure.file, entry=failure.entry, field=failure.field)


async def _wait_shared(task: asyncio.Task[IssuedCredential]) -> IssuedCredential:
    """Wait for a task that other requests wait for too: cancelling one request does not cancel the task."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            raise
    raise CredentialError("the client was closed while it waited for credentials")
