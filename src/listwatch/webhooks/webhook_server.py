"""Runs the webhooks of a program: certificates, registration and the HTTPS server, from one declaration."""

from __future__ import annotations

from functools import partial
from typing import Self

from listwatch.clock import Clock, SystemClock
from listwatch.webhooks.certificates.certificate_files import CertificateFiles
from listwatch.webhooks.certificates.certificate_keeper import CertificateKeeper
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate
from listwatch.webhooks.function_calls import FunctionCalls
from listwatch.webhooks.hooks import AdmissionHook
from listwatch.webhooks.http_server import Review, WebhookListener
from listwatch.webhooks.reviewer import Answer, Reviewer
from listwatch.webhooks.statistics import WebhookStatistics
from listwatch.webhooks.webhooks import Webhooks

__all__ = ["WebhookServer"]


class WebhookServer:
    """Serves webhooks between entering and leaving."""

    def __init__(self, webhooks: Webhooks, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._calls = FunctionCalls(self._clock, max_threads=webhooks._max_requests)
        self._reviewer = Reviewer(self._calls)
        self._certificates: CertificateFiles = webhooks._certificates
        self._keeper = CertificateKeeper(
            self._load, self._publish, interval=self._certificates.interval, clock=self._clock
        )
        reviews: dict[str, Review] = {hook.path: partial(self._admit, hook) for hook in webhooks._admission.values()}
        self._listener = WebhookListener(
            reviews,
            self._keeper,
            host=webhooks._host,
            port=webhooks._port,
            max_requests=webhooks._max_requests,
            max_body=webhooks._max_body,
            clock=self._clock,
        )

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._listener.port

    async def __aenter__(self) -> Self:
        await self._listener.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listener.__aexit__()

    def check_ready(self) -> None:
        """Raise an error until the webhooks can be called."""
        self._keeper.check_ready()

    def check_health(self) -> None:
        """Raise an error if the certificate has expired."""
        self._keeper.check_health()

    def statistics(self) -> WebhookStatistics:
        return WebhookStatistics(
            webhooks=tuple(each.statistics() for each in self._listener.counters),
            refused=self._listener.refused,
            threads=self._calls.threads,
            certificate_expires_at=self._keeper.expires_at,
        )

    async def _admit(self, hook: AdmissionHook, body: bytes, timeout: float) -> Answer:
        return await self._reviewer.admit(hook, body, timeout=timeout)

    async def _load(self) -> ServingCertificate:
        return self._certificates.read()

    async def _publish(self, certificate: ServingCertificate) -> None:
        pass
