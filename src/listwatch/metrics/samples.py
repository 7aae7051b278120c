"""Samples of everything that has statistics: of events here, of all else by the controllers' own `samples`."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.controller import samples
from listwatch.controller.samples import Sample
from listwatch.events.recorder import EventRecorderStatistics

__all__ = ["samples_of"]


def samples_of(statistics: object, *, host: str = "") -> Iterator[Sample]:
    """All that is to be told of one part; `host` is the server that a client talks to."""
    match statistics:
        case EventRecorderStatistics():
            yield from _recorder(statistics)
        case _:
            yield from samples.samples_of(statistics, host=host)


def _recorder(recorder: EventRecorderStatistics) -> Iterator[Sample]:
    yield Sample("listwatch_events_pending", "Events that wait to be written.", (), recorder.pending)
    for outcome in ("created", "patched", "counted", "filtered", "dropped", "failed"):
        labels = (("outcome", outcome),)
        yield Sample("listwatch_events_total", "Events by what became of them.", labels, getattr(recorder, outcome))
