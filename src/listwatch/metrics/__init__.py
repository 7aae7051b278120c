"""Metrics are the numbers of `statistics()` under the names that dashboards know; needs `listwatch[metrics]`."""

from listwatch.metrics.collector import Collector

__all__ = ["Collector"]
