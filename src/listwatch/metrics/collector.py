"""A collector for prometheus_client: reads `statistics()` at each scrape.

collector = Collector()
collector.add(client, factory, queue, elector)
prometheus_client.REGISTRY.register(collector)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol
from weakref import ref

from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import ConfigError, UsageError
from listwatch.metrics.samples import Sample, samples_of
from listwatch.wording import counted

if TYPE_CHECKING:
    from listwatch.metrics.prometheus import Metric

__all__ = ["Collector", "HasStatistics"]

_log = logging.getLogger("listwatch.metrics")

_ATTEMPTS = 3


class HasStatistics(Protocol):
    """A component with statistics."""

    def statistics(self) -> object: ...


class Collector:
    """The metrics of clients, informers, factories, queues, controllers, managers, electors and event recorders.

    It keeps none of them alive: a component that was garbage collected no longer has metrics. It implements the
    collector interface of prometheus_client, and may be called in any thread.
    """

    def __init__(self) -> None:
        try:
            from listwatch.metrics import prometheus
        except ImportError:
            raise ConfigError("metrics need the prometheus_client package: install listwatch[metrics]") from None
        self._families = prometheus.families
        self._components: list[ref[HasStatistics]] = []

    def add(self, *components: HasStatistics | BaseClient) -> None:
        """Add components; adding one twice has no effect. Of two with the same name, only the first has metrics."""
        for given in components:
            # A blocking component may be deleted while the asynchronous one still runs.
            original = getattr(given, "_async", given)
            component = original.rest if isinstance(original, BaseClient) else original
            self._check(component)
            if component not in self._alive():
                self._components.append(ref(component))

    def collect(self) -> list[Metric]:
        """Called by prometheus_client at each scrape."""
        return self._families(self._samples())

    def describe(self) -> list[Metric]:
        """Return no metrics, because they depend on the components; registration then does not call `collect`."""
        return []

    def __repr__(self) -> str:
        return f"<Collector of {counted(len(self._alive()), 'component')}>"

    def _alive(self) -> list[HasStatistics]:
        alive = [component for each in self._components if (component := each()) is not None]
        if len(alive) < len(self._components):
            self._components = [ref(component) for component in alive]
        return alive

    def _check(self, component: HasStatistics) -> None:
        if not callable(getattr(component, "statistics", None)):
            raise UsageError(f"cannot collect metrics from {component!r}: it has no statistics()")
        for _ in samples_of(component.statistics()):
            pass

    def _samples(self) -> Iterator[Sample]:
        for component in self._alive():
            try:
                yield from _current_samples(component)
            except Exception:  # noqa: BLE001  # the metrics of the other components are still useful
                _log.exception("Cannot collect metrics from %r", component, extra={"component": repr(component)})


def _current_samples(component: HasStatistics) -> list[Sample]:
    host = component.config.base_url if isinstance(component, RESTClient) else ""
    for attempt in range(_ATTEMPTS):
        try:
            return [*samples_of(component.statistics(), host=host)]
        except RuntimeError:
            # The thread of the event loop changed a dict while it was read here.
            if attempt == _ATTEMPTS - 1:
                raise
    return []
