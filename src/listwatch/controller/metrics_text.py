"""Samples as Prometheus reads them, in the text format of version 0.0.4. `manager` gives them out at /metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from listwatch.controller.samples import Sample, Total, by_name, is_counter
from listwatch.workqueue.durations import BOUNDS, DurationSummary

__all__ = ["metrics_text"]


def metrics_text(samples: Iterable[Sample]) -> str:
    """All of them, those of one metric together."""
    lines = [line for name, each in by_name(samples).items() for line in _family(name, each)]
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {samples[0].about}"
    yield f"# TYPE {name} {_type(samples[0])}"
    for sample in samples:
        yield from _lines(sample)


def _type(sample: Sample) -> str:
    match sample.value:
        case DurationSummary():
            return "histogram"
        case Total():
            return "summary"
        case _:
            return "counter" if is_counter(sample.name) else "gauge"


def _lines(sample: Sample) -> Iterator[str]:
    name, labels = sample.name, sample.labels
    match sample.value:
        case DurationSummary(count, total, _, buckets):
            for bound, least in zip(BOUNDS, buckets, strict=True):
                yield f"{name}_bucket{_braced(*labels, ('le', f'{bound:g}'))} {least}"
            yield f"{name}_bucket{_braced(*labels, ('le', '+Inf'))} {count}"
            yield f"{name}_sum{_braced(*labels)} {total}"
            yield f"{name}_count{_braced(*labels)} {count}"
        case Total(times, total):
            yield f"{name}_sum{_braced(*labels)} {total}"
            yield f"{name}_count{_braced(*labels)} {times}"
        case value:
            yield f"{name}{_braced(*labels)} {value}"


def _braced(*labels: tuple[str, str]) -> str:
    inside = ",".join(f'{name}="{_quoted(value)}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
