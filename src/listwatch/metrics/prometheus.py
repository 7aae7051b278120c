"""Samples as the families of prometheus_client; the only module that needs that package."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric

from listwatch.workqueue.durations import BOUNDS, DurationSummary

from .samples import Sample, Total

__all__ = ["Metric", "families"]


def families(samples: Iterable[Sample]) -> list[Metric]:
    """One for each name. Of two samples with the same labels the first one counts: Prometheus takes no others."""
    found: dict[str, Metric] = {}
    seen: set[tuple[str, object]] = set()
    for sample in samples:
        if (sample.name, sample.labels) not in seen:
            seen.add((sample.name, sample.labels))
            _add(found, sample)
    return [*found.values()]


def _add(found: dict[str, Metric], sample: Sample) -> None:
    names, values = [name for name, _ in sample.labels], [value for _, value in sample.labels]
    kind = _kind(sample)
    family = found.setdefault(sample.name, kind(sample.name, sample.about, labels=names))
    match family, sample.value:
        case HistogramMetricFamily(), DurationSummary(count, total, _, buckets):
            bounds = [(f"{bound:g}", float(each)) for bound, each in zip(BOUNDS, buckets, strict=True)]
            family.add_metric(values, [*bounds, ("+Inf", float(count))], total)
        case SummaryMetricFamily(), Total(times, total):
            family.add_metric(values, times, total)
        case CounterMetricFamily() | GaugeMetricFamily(), int() | float() as value:
            family.add_metric(values, value)


def _kind(
    sample: Sample,
) -> type[HistogramMetricFamily | SummaryMetricFamily | CounterMetricFamily | GaugeMetricFamily]:
    match sample.value:
        case DurationSummary():
            return HistogramMetricFamily
        case Total():
            return SummaryMetricFamily
        case _:
            return CounterMetricFamily if sample.name.endswith("_total") else GaugeMetricFamily
