"""Sends requests until their answers are final: each in its turn, again where `retry` says so, and counts.

`request` builds what is sent here, and a Transport carries it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from weakref import WeakSet

from listwatch.api.requests import HTTPRequest
from listwatch.api.responses import HTTPResponse, error_from_answer
from listwatch.client.config.client_config import ServerWarning
from listwatch.client.rest.rate_limiter import RateLimiter
from listwatch.client.rest.retry import Mode, Retry, decide
from listwatch.client.rest.warnings import WarningReporter
from listwatch.client.rest.write_observer import tell_written
from listwatch.clock import Clock
from listwatch.errors import ConnectionLostError, ProtocolError, TransportError

__all__ = ["ClientStatistics", "Effort", "Sender", "Stream", "Transport"]

_log = logging.getLogger(__name__)

_LONG_WAIT = 1.0
_LOG_INTERVAL = 10.0


class Stream(Protocol):
    """The body of a response, read as it arrives.

    A stream may also have `coalesce_reads(*, enabled: bool)`, which allows it to delay reads for some milliseconds
    while large amounts of data arrive.
    """

    status: int
    headers: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def is_closed(self) -> bool: ...

    async def read(self) -> bytes:
        """The next bytes, as many as there are; b"" at the end."""

    def set_idle_timeout(self, seconds: float) -> None:
        """From now on, raise StreamIdleError when a read waits for longer than this."""

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""


class Transport(Protocol):
    """Carries a request to the server once, and brings its answer back."""

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """The whole answer, whatever it says."""

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> Stream | HTTPResponse:
        """An answer that says yes as a stream, with so much time for its beginning; any other as a whole."""

    async def aclose(self) -> None:
        """Close every connection, also those in use."""


class Effort(NamedTuple):
    """How hard to try: the seconds for one try, or with `in_all` for all of them, and how often to try again."""

    timeout: float | None
    max_retries: int
    in_all: bool = False


@dataclass(frozen=True, slots=True)
class ClientStatistics:
    """What a client has done so far, and has open now."""

    requests: int
    """How often something was sent; every try counts."""
    answers: Mapping[int, int]
    """How many answers there were of each status code."""
    failures: int
    """How many tries had no answer."""
    retries: int
    throttled: int
    """How many tries had to wait for the client's own rate limit, and below for how long."""
    throttled_seconds: float
    open_watches: int
    open_streams: int
    tries: Mapping[tuple[str, str], int]
    """How many tries there were of each HTTP method and status code; `<error>` stands for no answer at all."""
    seconds: Mapping[str, float]
    """How long it took in all until they were answered, or failed, for each HTTP method."""


class Sender:
    """Every request of one client passes here, whichever group-version it is for."""

    def __init__(
        self, transport: Transport, *, limiter: RateLimiter | None, warnings: WarningReporter, clock: Clock
    ) -> None:
        self._transport = transport
        self._limiter = limiter
        self._warnings = warnings
        self._clock = clock
        self._under_way: set[asyncio.Timeout] = set()  # whose time is up when somebody closes this
        self._streams: dict[Mode, WeakSet[Stream]] = {Mode.STREAM: WeakSet(), Mode.WATCH: WeakSet()}
        self._answers: Counter[int] = Counter()
        self._tries: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failures = 0
        self._retries = 0
        self._throttled = 0
        self._throttled_seconds = 0.0
        self._next_log = -math.inf

    async def do(self, request: HTTPRequest, effort: Effort) -> tuple[HTTPResponse, tuple[ServerWarning, ...]]:
        """An answer that says yes, and what the server warns of; any other answer is raised."""
        answer = await self._final_answer(request, effort, Mode.DO)
        assert isinstance(answer, HTTPResponse)
        warnings = self._checked(request, answer)
        tell_written(request, answer)
        return answer, warnings

    async def open_stream(self, request: HTTPRequest, effort: Effort) -> Stream:
        """The body of an answer that says yes; any other answer is raised."""
        return self._opened(request, await self._final_answer(request, effort, Mode.STREAM), Mode.STREAM)

    async def open_watch(self, request: HTTPRequest, effort: Effort) -> Stream | None:
        """The same for a watch, which waits for no turn: most of the time it only listens.

        None is a watch that is over already: the server kept being lost, and who watches has to begin again anyway.
        """
        try:
            answer = await self._final_answer(request, effort, Mode.WATCH)
        except TransportError as error:
            if decide(error, mode=Mode.WATCH, method=request.method) is None:
                raise
            _log.warning("a watch is over before it began: %s", error)
            return None
        return self._opened(request, answer, Mode.WATCH)

    def statistics(self) -> ClientStatistics:
        open_now = {mode: sum(not each.is_closed for each in streams) for mode, streams in self._streams.items()}
        return ClientStatistics(
            requests=self._failures + self._answers.total(),
            answers=dict(self._answers),
            failures=self._failures,
            retries=self._retries,
            throttled=self._throttled,
            throttled_seconds=self._throttled_seconds,
            open_watches=open_now[Mode.WATCH],
            open_streams=open_now[Mode.STREAM],
            tries=dict(self._tries),
            seconds=dict(self._seconds),
        )

    async def aclose(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._under_way:
            self._under_way.pop().reschedule(now)
        await self._transport.aclose()

    # --- tries -------------------------------------------------------------------------------------------------------

    async def _final_answer(self, request: HTTPRequest, effort: Effort, mode: Mode) -> HTTPResponse | Stream:
        try:
            async with asyncio.timeout(None) as scope:
                self._under_way.add(scope)
                if mode is not Mode.WATCH:
                    await self._wait_turn(request)
                return await self._keep_trying(request, effort, mode)
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._under_way.discard(scope)
        raise ConnectionLostError("the client was closed meanwhile", doing=request.describe())

    async def _keep_trying(self, request: HTTPRequest, effort: Effort, mode: Mode) -> HTTPResponse | Stream:
        timeout, retries_left = effort.timeout, effort.max_retries
        deadline = self._clock.monotonic() + timeout if effort.in_all and timeout is not None else math.inf
        failure: TransportError | None = None
        while True:
            outcome = await self._try(request, mode, timeout)
            retry = decide(outcome, mode=mode, method=request.method) if retries_left else None
            if retry is None or self._clock.monotonic() + retry.delay >= deadline:
                return _answer_or_raise(outcome, failure)
            failure = outcome if isinstance(outcome, TransportError) else failure
            retries_left -= 1
            await self._wait_again(request, retry, retries_left)
            if deadline < math.inf:
                timeout = deadline - self._clock.monotonic()

    async def _try(
        self, request: HTTPRequest, mode: Mode, timeout: float | None
    ) -> HTTPResponse | Stream | TransportError:
        send = self._transport.send if mode is Mode.DO else self._transport.open_stream
        started = self._clock.monotonic()
        try:
            answer = await send(request, timeout=timeout)
        except TransportError as error:
            self._failures += 1
            self._count(request.method, "<error>", started)
            return error
        self._answers[answer.status] += 1
        self._count(request.method, str(answer.status), started)
        return answer

    def _count(self, method: str, code: str, started: float) -> None:
        self._tries[method, code] += 1
        self._seconds[method] += self._clock.monotonic() - started

    async def _wait_again(self, request: HTTPRequest, retry: Retry, retries_left: int) -> None:
        self._retries += 1
        words = "%s: %s; trying again in %g s, %d more times at most"
        _log.info(words, request.describe(), retry.reason, retry.delay, retries_left)
        await self._clock.sleep(retry.delay)
        await self._wait_turn(request)

    async def _wait_turn(self, request: HTTPRequest) -> None:
        if self._limiter is None or not (waited := await self._limiter.wait()):
            return
        self._throttled += 1
        self._throttled_seconds += waited
        now = self._clock.monotonic()
        if waited > _LONG_WAIT and now >= self._next_log:
            self._next_log = now + _LOG_INTERVAL
            _log.warning("%s waited %.1f s for this client's own rate limit (qps, burst)", request.describe(), waited)

    # --- answers -----------------------------------------------------------------------------------------------------

    def _checked(self, request: HTTPRequest, answer: HTTPResponse) -> tuple[ServerWarning, ...]:
        warnings = self._warnings.report(answer.warnings) if answer.warnings else ()
        if error := error_from_answer(answer, method=request.method, doing=request.describe()):
            raise error
        return warnings

    def _opened(self, request: HTTPRequest, answer: HTTPResponse | Stream, mode: Mode) -> Stream:
        if isinstance(answer, HTTPResponse):
            self._checked(request, answer)
            raise ProtocolError("a stream was expected, and a whole answer came", doing=request.describe())
        self._warnings.report(answer.warnings)
        self._streams[mode].add(answer)
        return answer


def _answer_or_raise(
    outcome: HTTPResponse | Stream | TransportError, earlier: TransportError | None
) -> HTTPResponse | Stream:
    if not isinstance(outcome, TransportError):
        return outcome
    if earlier and str(earlier) != str(outcome):
        outcome.add_note(f"an earlier try failed as well: {earlier}")
    raise outcome
