"""What a client has sent and received: counters and histograms, with the bounds of client-go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from listwatch.histogram import Histogram, HistogramSummary

__all__ = ["ClientCounters", "ClientStatistics"]

_SECONDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_BYTES: Final = (64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0)


@dataclass(frozen=True, slots=True)
class ClientStatistics:
    """Counters of a client since it was created, and its open streams. Histograms are by HTTP method."""

    requests: int
    """Attempts that were sent."""
    responses: Mapping[int, int]
    """Responses by status code."""
    failures: int
    """Attempts without a response."""
    retries: int
    throttled: int
    """Attempts that waited for the client's rate limiter."""
    throttled_seconds: float
    """Seconds that these attempts waited."""
    open_watches: int
    open_streams: int
    attempts: Mapping[tuple[str, str], int]
    """Attempts by HTTP method and status code, which is `<error>` for those without a response."""
    retried: Mapping[tuple[str, str], int]
    """Attempts that were retried, by HTTP method and status code."""
    durations: Mapping[str, HistogramSummary]
    """Seconds until the whole response or the failure, with retries and throttling. Not of watches and streams."""
    throttling: Mapping[str, HistogramSummary]
    """Seconds that requests waited for the rate limiter; empty without one."""
    request_sizes: Mapping[str, HistogramSummary]
    """Bytes of the bodies of requests."""
    response_sizes: Mapping[str, HistogramSummary]
    """Bytes of the bodies of responses, as they were read: decompressed, and filtered."""


class ClientCounters:
    """The counters behind ClientStatistics."""

    def __init__(self) -> None:
        self.responses: Counter[int] = Counter()
        self.attempts: Counter[tuple[str, str]] = Counter()
        self.retried: Counter[tuple[str, str]] = Counter()
        self.failures = 0
        self.durations: dict[str, Histogram] = {}
        self.throttling: dict[str, Histogram] = {}
        self.request_sizes: dict[str, Histogram] = {}
        self.response_sizes: dict[str, Histogram] = {}
        self.throttled = 0
        self.throttled_seconds = 0.0

    def add_failure(self, method: str) -> None:
        """Count an attempt without a response."""
        self.failures += 1
        self.attempts[method, "<error>"] += 1

    def add_response(self, method: str, status: int) -> None:
        """Count an attempt with a response."""
        self.responses[status] += 1
        self.attempts[method, str(status)] += 1

    def add_duration(self, method: str, seconds: float) -> None:
        """Count the time of a whole request."""
        _add(self.durations, method, seconds, _SECONDS)

    def add_throttling(self, method: str, seconds: float) -> None:
        """Count the time that a request waited for the rate limiter, even if it is zero."""
        _add(self.throttling, method, seconds, _SECONDS)
        if seconds:
            self.throttled += 1
            self.throttled_seconds += seconds

    def add_sizes(self, method: str, sent: int, received: int) -> None:
        """Count the sizes of the bodies of a request and its response."""
        _add(self.request_sizes, method, sent, _BYTES)
        _add(self.response_sizes, method, received, _BYTES)

    def statistics(self, *, open_watches: int, open_streams: int) -> ClientStatistics:
        return ClientStatistics(
            requests=self.failures + self.responses.total(),
            responses=dict(self.responses),
            failures=self.failures,
            retries=self.retried.total(),
            throttled=self.throttled,
            throttled_seconds=self.throttled_seconds,
            open_watches=open_watches,
            open_streams=open_streams,
            attempts=dict(self.attempts),
            retried=dict(self.retried),
            durations=_summaries(self.durations),
            throttling=_summaries(self.throttling),
            request_sizes=_summaries(self.request_sizes),
            response_sizes=_summaries(self.response_sizes),
        )


def _add(histograms: dict[str, Histogram], method: str, value: float, bounds: tuple[float, ...]) -> None:
    histogram = histograms.get(method)
    if histogram is None:
        histogram = histograms[method] = Histogram(bounds)
    histogram.add(value)


def _summaries(histograms: dict[str, Histogram]) -> dict[str, HistogramSummary]:
    return {method: histogram.summary() for method, histogram in histograms.items()}
