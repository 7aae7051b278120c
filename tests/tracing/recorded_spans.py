"""Records the spans of a test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, Tracer

import listwatch as lw


class Spans:
    """The spans that have ended, of listwatch and of the test itself, in this order."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def tracer(self) -> Tracer:
        """Makes the spans of the program."""
        return self.provider.get_tracer("program")

    @property
    def ended(self) -> list[ReadableSpan]:
        return [*self._exporter.get_finished_spans()]

    def named(self, name: str) -> list[ReadableSpan]:
        return [each for each in self.ended if each.name == name]

    def one(self, name: str, matches: Callable[[ReadableSpan], bool] = lambda _: True) -> ReadableSpan:
        (found,) = filter(matches, self.named(name))
        return found


@contextmanager
def recorded() -> Iterator[Spans]:
    """Enable tracing in this block."""
    spans = Spans()
    lw.tracing.enable(spans.provider)
    try:
        yield spans
    finally:
        lw.tracing.disable()


def context_of(span: ReadableSpan) -> SpanContext:
    assert span.context is not None
    return span.context


def is_child(span: ReadableSpan, of: ReadableSpan) -> bool:
    return span.parent is not None and span.parent.span_id == context_of(of).span_id


def links(span: ReadableSpan) -> set[int]:
    """The spans to which it has links."""
    return {each.context.span_id for each in span.links}


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})
