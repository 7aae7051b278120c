"""Samples as metric families of prometheus_client; the only module that needs that package."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric

from listwatch.histogram import HistogramSummary
from listwatch.metrics.samples import Sample, Total, bound_text, by_name, is_counter

__all__ = ["Metric", "families"]


def families(samples: Iterable[Sample]) -> list[Metric]:
    """One family per metric name."""
    return [_family(name, each) for name, each in by_name(samples).items()]


def _family(name: str, samples: list[Sample]) -> Metric:
    labels = [label for label, _ in samples[0].labels]
    family = _family_type(samples[0])(name, samples[0].help, labels=labels)
    for sample in samples:
        _add(family, sample)
    return family


def _add(family: Metric, sample: Sample) -> None:
    values = [value for _, value in sample.labels]
    match family, sample.value:
        case HistogramMetricFamily(), HistogramSummary(count, total, _, buckets, bounds):
            counts = [(bound_text(bound), float(each)) for bound, each in zip(bounds, buckets, strict=True)]
            family.add_metric(values, [*counts, ("+Inf", float(count))], total)
        case SummaryMetricFamily(), Total(count, total):
            family.add_metric(values, count, total)
        case CounterMetricFamily() | GaugeMetricFamily(), int() | float() as value:
            family.add_metric(values, value)


def _family_type(
    sample: Sample,
) -> type[HistogramMetricFamily | SummaryMetricFamily | CounterMetricFamily | GaugeMetricFamily]:
    match sample.value:
        case HistogramSummary():
            return HistogramMetricFamily
        case Total():
            return SummaryMetricFamily
        case _:
            return CounterMetricFamily if is_counter(sample.name) else GaugeMetricFamily
