"""Prometheus metrics from `statistics()`; needs the extra `metrics`."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "Collector": "listwatch.metrics.collector",
    "HasSamples": "listwatch.metrics.samples",
    "HasStatistics": "listwatch.metrics.collector",
    "HistogramSummary": "listwatch.histogram",
    "Sample": "listwatch.metrics.samples",
    "Total": "listwatch.metrics.samples",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.histogram import HistogramSummary as HistogramSummary
    from listwatch.metrics.collector import Collector as Collector
    from listwatch.metrics.collector import HasStatistics as HasStatistics
    from listwatch.metrics.samples import HasSamples as HasSamples
    from listwatch.metrics.samples import Sample as Sample
    from listwatch.metrics.samples import Total as Total
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
