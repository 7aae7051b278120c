"""Reads the statistics of what it was given whenever Prometheus asks. `samples.py` gives them their names.

collector = lw.metrics.Collector()
collector.add(client, factory, queue, elector)
prometheus_client.REGISTRY.register(collector)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol
from weakref import ref

from listwatch.client.rest.base_client import Connected
from listwatch.client.rest.rest_client import RESTClient
from listwatch.controller.samples import Sample
from listwatch.errors import ConfigError, UsageError
from listwatch.metrics.samples import samples_of

if TYPE_CHECKING:
    from listwatch.metrics.prometheus import Metric

__all__ = ["Collector", "Observed"]

_log = logging.getLogger("listwatch.metrics")

_ATTEMPTS = 3


class Observed(Protocol):
    """Something that tells how it is doing."""

    def statistics(self) -> object: ...


class Collector:
    """The metrics of clients, informers, factories, queues, controllers, managers, electors and event recorders.

    It keeps none of them alive: what is gone is told of no more. It fits where prometheus_client asks for a collector,
    and may be asked in any thread.
    """

    def __init__(self) -> None:
        try:
            from listwatch.metrics import prometheus
        except ImportError:
            raise ConfigError("metrics need the prometheus_client package: install listwatch[metrics]") from None
        self._families = prometheus.families
        self._parts: list[ref[Observed]] = []

    def add(self, *parts: Observed | Connected) -> None:
        """Tell of these too; adding one twice does nothing. Of two with the same name, the first one is told of."""
        for given in parts:
            twin = getattr(given, "_twin", given)  # a blocking part is a face that others may drop at any time
            part = twin.rest if isinstance(twin, Connected) else twin
            self._check(part)
            if part not in self._present():
                self._parts.append(ref(part))

    def collect(self) -> list[Metric]:
        """What prometheus_client asks for at each scrape."""
        return self._families(self._samples())

    def describe(self) -> list[Metric]:
        """Nothing, since what there will be is not known; prometheus_client then does not ask when it registers."""
        return []

    def __repr__(self) -> str:
        return f"<Collector of {len(self._present())} parts>"

    def _present(self) -> list[Observed]:
        present = [part for each in self._parts if (part := each()) is not None]
        if len(present) < len(self._parts):
            self._parts = [ref(part) for part in present]
        return present

    def _check(self, part: Observed) -> None:
        if not callable(getattr(part, "statistics", None)):
            raise UsageError(f"there are no metrics of {part!r}: it has no statistics()")
        for _ in samples_of(part.statistics()):
            pass

    def _samples(self) -> Iterator[Sample]:
        for part in self._present():
            try:
                yield from _samples_now(part)
            except Exception:  # noqa: BLE001  # the numbers of others are still worth having
                _log.exception("the metrics of %r are left out", part)


def _samples_now(part: Observed) -> list[Sample]:
    host = part.config.base_url if isinstance(part, RESTClient) else ""
    for attempt in range(_ATTEMPTS):
        try:
            return [*samples_of(part.statistics(), host=host)]
        except RuntimeError:
            # Another thread, the loop's, may be changing what is being counted here.
            if attempt == _ATTEMPTS - 1:
                raise
    return []
