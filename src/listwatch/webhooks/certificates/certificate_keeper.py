"""Keeps the certificate of a webhook server current: reloads it periodically, and reports problems."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from listwatch.clock import Clock
from listwatch.errors import ConfigError, ListWatchError
from listwatch.webhooks.certificates.serving_certificate import ReloadableContext, ServingCertificate

__all__ = ["CertificateKeeper"]

_log = logging.getLogger("listwatch.webhooks")

_FIRST_RETRY = 1.0
_REMAINING_TO_WARN = 0.1
"""The share of its lifetime by which a certificate should have been replaced."""


class CertificateKeeper:
    """Loads a certificate every `interval` seconds, and more often while that fails.

    `publish` makes API servers trust the certificate: it is called with each loaded one, and the server is not ready
    until it has succeeded once.
    """

    def __init__(
        self,
        load: Callable[[], Awaitable[ServingCertificate]],
        publish: Callable[[ServingCertificate], Awaitable[None]],
        *,
        interval: float,
        clock: Clock,
    ) -> None:
        self._load = load
        self._publish = publish
        self._interval = interval
        self._clock = clock
        self._current: ServingCertificate | None = None
        self._is_published = False
        self._problem = "it was not loaded yet"
        self._failures = 0
        self._has_warned = False
        self.tls = ReloadableContext()

    @property
    def expires_at(self) -> datetime | None:
        """The end of the validity of the current certificate."""
        return None if self._current is None else self._current.validity.end

    async def run(self) -> None:
        """Load and publish until cancelled."""
        while True:
            await self.refresh()
            retry = _FIRST_RETRY * 2.0 ** min(self._failures - 1, 10)
            await self._clock.sleep(min(retry, self._interval) if self._failures else self._interval)

    async def refresh(self) -> None:
        """Load and publish once. Failures are logged, and part of the checks."""
        try:
            loaded = await self._load()
            self._use(loaded)
            await self._publish(loaded)
        except (ListWatchError, OSError) as error:
            self._report(str(error))
            return
        except Exception as error:  # noqa: BLE001  # of a library
            # Without another attempt, the certificate would expire.
            _log.exception("Unexpected error in the certificate of the webhooks")
            self._report(f"{type(error).__name__}: {error}")
            return
        if self._failures:
            _log.info("Loaded the certificate of the webhooks again", extra={"failures": self._failures})
        self._is_published, self._problem, self._failures = True, "", 0
        self._warn_of_end()

    def _use(self, loaded: ServingCertificate) -> None:
        if self._current is not None and (loaded.chain, loaded.key) == (self._current.chain, self._current.key):
            return
        context, end = loaded.context(), loaded.validity.end
        now = self._clock.now()
        if self._current is not None and now < self._current.validity.end:
            loaded.check_valid(now)  # raises if it has expired, or is not valid yet: the current one is better
        self.tls.use(context)
        self._current, self._has_warned = loaded, False
        fields = {"source": loaded.source, "expires": end.isoformat()}
        _log.info("Webhooks present the certificate in %s, valid until %s", loaded.source, end, extra=fields)

    def _report(self, problem: str) -> None:
        self._failures += 1
        if problem != self._problem:
            _log.error("Cannot load the certificate of the webhooks: %s", problem, extra={"failures": self._failures})
        self._problem = problem

    def _warn_of_end(self) -> None:
        assert self._current is not None
        start, end = self._current.validity
        remaining = end - self._clock.now()
        if not self._has_warned and remaining < _REMAINING_TO_WARN * (end - start):
            self._has_warned = True
            _log.warning(
                "The certificate in %s was not replaced in time: it expires at %s",
                self._current.source,
                end,
                extra={"source": self._current.source, "expires": end.isoformat()},
            )

    # --- checks ------------------------------------------------------------------------------------------------------

    def check_ready(self) -> None:
        """Raise ConfigError until there is a valid certificate that API servers trust."""
        if self._current is None:
            raise ConfigError(f"no certificate: {self._problem}")
        self._current.check_valid(self._clock.now())
        if not self._is_published:
            raise ConfigError(f"the certificate is not in use yet: {self._problem}")

    def check_health(self) -> None:
        """Raise ConfigError if the certificate has expired, so that no API server can call the webhooks."""
        if self._current is None:
            return
        try:
            self._current.check_valid(self._clock.now())
        except ConfigError as error:
            raise ConfigError(f"{error}; {self._problem}" if self._problem else str(error)) from None
