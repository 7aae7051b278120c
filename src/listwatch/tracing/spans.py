"""Creates OpenTelemetry spans; the only module that imports OpenTelemetry.

    request      CLIENT span, a child of the current one, whose context is sent as `traceparent`
    list, watch  root spans of a reflector, around its requests
    reconcile    root span with links to what has enqueued the key

A change that a handler receives was caused by a write. If this process has sent it, the handler is called in the
context of that write, so that a queue to which the handler adds an item stores it.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Generic, Protocol, TypeVar

from opentelemetry import propagate, trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TracerProvider

from listwatch._version import __version__
from listwatch.tracing.causes import ReceivedChange, WriteSpans

__all__ = ["Attributes", "Cause", "Span", "Tracing"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Attributes = Mapping[str, str | int | float | bool]

Cause = SpanContext | ReceivedChange
"""The context of a span, or a change whose write may become known later: its response may arrive after the event."""

_NO_SPAN = Context()

_change: ContextVar[ReceivedChange | None] = ContextVar("received_change", default=None)


class _Watch(Protocol[T_co]):
    async def __aenter__(self) -> AsyncIterator[T_co]: ...
    async def __aexit__(self, *exc: object) -> bool | None: ...


class Tracing:
    """Creates the spans of all components, and stores the writes that cause reconciles."""

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("listwatch", __version__, tracer_provider)
        self._writes: WriteSpans[SpanContext] = WriteSpans()

    # --- requests ----------------------------------------------------------------------------------------------------

    @contextmanager
    def request(self, name: str, attributes: Attributes) -> Iterator[Span]:
        """The span of one attempt of a request, which is the current one in this block."""
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        with self._ended(span), _current(trace.set_span_in_context(span)):
            yield span

    def headers(self) -> dict[str, str]:
        """The headers that pass the current context to a server, in the formats of OTEL_PROPAGATORS."""
        headers: dict[str, str] = {}
        propagate.inject(headers)
        return headers

    def remember_write(self, span: Span, uid: str, resource_version: str, *, deletes: bool) -> None:
        """Link the reconciles of this version of an object to the request that wrote it."""
        context = span.get_span_context()
        if uid and context.is_valid:
            self._writes.remember(uid, resource_version, context, deletes=deletes)

    def fail(self, span: Span, error: BaseException, *, record: bool = True) -> None:
        """Mark a span as failed; `record` adds the exception with its traceback."""
        if record:
            span.record_exception(error)
        span.set_attribute("error.type", type(error).__qualname__)
        span.set_status(Status(StatusCode.ERROR, str(error)))

    def fail_with_status(self, span: Span, status: int) -> None:
        """Mark the span of a request as failed, because of the status code of its response."""
        span.set_attribute("error.type", str(status))
        span.set_status(Status(StatusCode.ERROR))

    # --- changes and queues ------------------------------------------------------------------------------------------

    def handling(self, uid: str, resource_version: str, *, is_deletion: bool) -> AbstractContextManager[None]:
        """Call the handler of a change in the context of the write that caused it, or in an empty one."""
        change = ReceivedChange(uid, resource_version, is_deletion)
        write = self._writes.find(change) if uid else None
        if write is None:
            return _Handling(_NO_SPAN, change if uid else None)
        return _Handling(trace.set_span_in_context(NonRecordingSpan(write), _NO_SPAN), None)

    def causes(self) -> list[Cause]:
        """What causes work that is added to a queue now: the current span, and a change that is being handled."""
        found: list[Cause] = []
        if (change := _change.get()) is not None:
            found.append(change)
        if (context := trace.get_current_span().get_span_context()).is_valid:
            found.append(context)
        return found

    @contextmanager
    def work(self, name: str, attributes: Attributes, causes: Iterable[Cause]) -> Iterator[Span]:
        """The span of the processing of an item, with links to its causes; it has no parent, as there may be several.

        An exception that leaves the block is recorded. A block that is cancelled, as when the program stops, has not
        failed.
        """
        known, unknown = self._resolve(causes)
        links = [Link(each) for each in known]
        span = self._tracer.start_span(name, context=_NO_SPAN, attributes=attributes, links=links)
        token = _change.set(None)
        try:
            with self._ended(span, CancelledError), _current(trace.set_span_in_context(span, _NO_SPAN)):
                yield span
                for each in self._resolve(unknown)[0]:
                    if each not in known:
                        span.add_link(each)
        finally:
            _change.reset(token)

    def _resolve(self, causes: Iterable[Cause]) -> tuple[list[SpanContext], list[ReceivedChange]]:
        known: list[SpanContext] = []
        unknown: list[ReceivedChange] = []
        for cause in causes:
            found = self._writes.find(cause) if isinstance(cause, ReceivedChange) else cause
            if found is not None:
                if found not in known:
                    known.append(found)
            elif isinstance(cause, ReceivedChange):
                unknown.append(cause)
        return known, unknown

    @contextmanager
    def _ended(self, span: Span, *ignored: type[BaseException]) -> Iterator[None]:
        """End a span, as failed if an exception leaves the block that is not `ignored`."""
        try:
            yield
        except ignored:
            raise
        except BaseException as error:
            self.fail(span, error, record=isinstance(error, Exception))
            raise
        finally:
            span.end()

    # --- reflectors --------------------------------------------------------------------------------------------------

    def start(self, name: str, attributes: Attributes) -> Span:
        """Start a span without a parent; the caller ends it."""
        return self._tracer.start_span(name, context=_NO_SPAN, attributes=attributes)

    @contextmanager
    def within(self, span: Span) -> Iterator[None]:
        """Make a span the current one in this block, which does not end it."""
        with _current(trace.set_span_in_context(span, _NO_SPAN)):
            yield

    def opening(self, watch: _Watch[T], span: Span, *, ends: bool) -> _OpeningWatch[T]:
        """A watch that is opened within a span; `ends` if the span ends when the watch is open, or has failed."""
        return _OpeningWatch(self, watch, span, ends=ends)


class _Handling:
    """The context of one call of a handler. A class, because each event makes one."""

    __slots__ = ("_change", "_context", "_tokens")

    def __init__(self, context: Context, change: ReceivedChange | None) -> None:
        self._context = context
        self._change = change

    def __enter__(self) -> None:
        self._tokens = attach(self._context), _change.set(self._change)

    def __exit__(self, *_: object) -> None:
        token, change_token = self._tokens
        _change.reset(change_token)
        detach(token)


class _OpeningWatch(Generic[T]):
    def __init__(self, tracing: Tracing, watch: _Watch[T], span: Span, *, ends: bool) -> None:
        self._tracing = tracing
        self._watch = watch
        self._span = span
        self._ends = ends

    async def __aenter__(self) -> AsyncIterator[T]:
        with self._tracing.within(self._span):
            if not self._ends:
                return await self._watch.__aenter__()
            with self._tracing._ended(self._span):
                return await self._watch.__aenter__()

    async def __aexit__(self, *exc: object) -> bool | None:
        return await self._watch.__aexit__(*exc)


@contextmanager
def _current(context: Context) -> Iterator[None]:
    token = attach(context)
    try:
        yield
    finally:
        detach(token)
