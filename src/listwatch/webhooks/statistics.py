"""Counters of a webhook server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from listwatch.histogram import Histogram, HistogramSummary
from listwatch.metrics.samples import Sample
from listwatch.workqueue.queue_state import DURATION_BOUNDS

__all__ = ["HookCounters", "HookStatistics", "WebhookStatistics"]


@dataclass(frozen=True, slots=True)
class HookStatistics:
    """The reviews of one webhook."""

    path: str
    responses: dict[int, int]
    """The number of reviews by HTTP status; 200 includes rejections."""
    rejected: int
    running: int
    durations: HistogramSummary


class HookCounters:
    """Counts the reviews of one webhook."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._responses: dict[int, int] = {}
        self._durations = Histogram(DURATION_BOUNDS)
        self._rejected = 0
        self.running = 0

    def add(self, status: int, seconds: float, *, is_rejected: bool) -> None:
        self._responses[int(status)] = self._responses.get(status, 0) + 1
        self._durations.add(seconds)
        self._rejected += is_rejected

    def statistics(self) -> HookStatistics:
        return HookStatistics(
            self._path, dict(self._responses), self._rejected, self.running, self._durations.summary()
        )


@dataclass(frozen=True, slots=True)
class WebhookStatistics:
    """The reviews of all webhooks of a manager, and the end of their certificate."""

    webhooks: tuple[HookStatistics, ...]
    refused: int
    """Requests with an unknown path, and those beyond `max_requests`."""
    threads: int
    """Running plain functions, including those that exceeded their timeout."""
    certificate_expires_at: datetime | None

    def samples(self) -> Iterator[Sample]:
        """Return the samples for metrics."""
        prefix = "controller_runtime_webhook"
        for hook in self.webhooks:
            label = ("webhook", hook.path)
            for status, count in sorted(hook.responses.items()):
                labels = (label, ("code", str(status)))
                yield Sample(f"{prefix}_requests_total", "Reviews, by HTTP status.", labels, count)
            yield Sample(f"{prefix}_requests_in_flight", "Reviews in progress.", (label,), hook.running)
            yield Sample(f"{prefix}_latency_seconds", "Duration of reviews.", (label,), hook.durations)
            yield Sample("listwatch_webhook_rejected_total", "Rejected reviews.", (label,), hook.rejected)
        help_text = "Requests with an unknown path, or beyond max_requests."
        yield Sample("listwatch_webhook_refused_total", help_text, (), self.refused)
        help_text = "Running plain functions of webhooks."
        yield Sample("listwatch_webhook_threads", help_text, (), self.threads)
        if self.certificate_expires_at is not None:
            help_text = "When the certificate expires, in seconds since the epoch."
            end = self.certificate_expires_at.timestamp()
            yield Sample("listwatch_webhook_certificate_expiration_timestamp_seconds", help_text, (), end)
