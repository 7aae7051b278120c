"""Metrics are the numbers of `statistics()` under the names that dashboards know; needs `listwatch[metrics]`."""

from .collector import Collector

__all__ = ["Collector"]
