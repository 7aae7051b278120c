"""Runs the webhooks of a program: certificates, registration and the HTTPS server, from one declaration."""

from __future__ import annotations

from functools import partial
from typing import Self

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError, UsageError
from listwatch.webhooks.certificates.certificate_files import CertificateFiles
from listwatch.webhooks.certificates.certificate_keeper import CertificateKeeper
from listwatch.webhooks.certificates.secret_rotation import SecretRotation
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate
from listwatch.webhooks.configuration import CONVERSION_PATH
from listwatch.webhooks.hooks import AdmissionHook
from listwatch.webhooks.http_server import Review, WebhookListener
from listwatch.webhooks.registration import Registration
from listwatch.webhooks.reviews.converter import Converter
from listwatch.webhooks.reviews.function_calls import FunctionCalls
from listwatch.webhooks.reviews.reviewer import Reviewer, ReviewResponse
from listwatch.webhooks.statistics import WebhookStatistics
from listwatch.webhooks.webhooks import Webhooks

__all__ = ["WebhookServer"]


class WebhookServer:
    """Serves webhooks between entering and leaving."""

    def __init__(self, webhooks: Webhooks, client: ClientSet | None, *, clock: Clock | None = None) -> None:
        webhooks._conversions.check()
        self._webhooks = webhooks
        self._clock = clock or SystemClock()
        self._calls = FunctionCalls(self._clock, max_threads=webhooks._max_requests)
        self._reviewer = Reviewer(self._calls)
        self._rotation = _rotation(webhooks, client, self._clock)
        self._registration = _registration(webhooks, client)
        interval = webhooks._certificates.interval
        self._keeper = CertificateKeeper(self._load, self._publish, interval=interval, clock=self._clock)
        reviews: dict[str, Review] = {hook.path: partial(self._admit, hook) for hook in webhooks._admission.values()}
        if webhooks._conversions:
            reviews[CONVERSION_PATH] = Converter(webhooks._conversions, self._calls).convert
        if not reviews:
            raise UsageError(f"{webhooks!r} declares no webhook: decorate a function with validate, mutate or convert")
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

    @property
    def is_ready(self) -> bool:
        """Whether API servers can call the webhooks."""
        try:
            self.check_ready()
        except ConfigError:
            return False
        return True

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

    async def _admit(self, hook: AdmissionHook, body: bytes, timeout: float) -> ReviewResponse:
        return await self._reviewer.admit(hook, body, timeout=timeout)

    async def _load(self) -> ServingCertificate:
        certificates = self._webhooks._certificates
        if isinstance(certificates, CertificateFiles):
            return certificates.read()
        assert self._rotation is not None
        return await self._rotation.load()

    async def _publish(self, certificate: ServingCertificate) -> None:
        if self._registration is not None:
            await self._registration.publish(self._webhooks._endpoint(self.port), certificate.ca_bundle)
        if self._rotation is not None:
            self._rotation.published = certificate.ca_bundle


def _rotation(webhooks: Webhooks, client: ClientSet | None, clock: Clock) -> SecretRotation | None:
    options = webhooks._certificates
    if isinstance(options, CertificateFiles):
        return None
    if client is None:
        raise UsageError(
            "certificates are kept in a Secret: pass a client to the manager, or home= if it has several clusters, "
            "or certificates=CertificateFiles(…)"
        )
    return SecretRotation(
        client,
        options,
        name=webhooks.name,
        namespace=webhooks._service.partition("/")[0],
        hosts=webhooks._hosts,
        clock=clock,
    )


def _registration(webhooks: Webhooks, client: ClientSet | None) -> Registration | None:
    if client is None and webhooks._registers:
        raise UsageError(
            "configurations are applied with a client: pass one to the manager, or home= if it has several clusters, "
            "or register=False"
        )
    # The authorities in files may be written into the configurations by another program, such as cert-manager's.
    is_needed = webhooks._registers or not isinstance(webhooks._certificates, CertificateFiles)
    return Registration(client, webhooks) if client is not None and is_needed else None
