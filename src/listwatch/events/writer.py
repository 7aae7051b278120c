"""Writes one event to the server, with retries if it cannot be reached."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from random import Random
from typing import Literal, NamedTuple, Protocol, Self

from listwatch.clock import Clock
from listwatch.errors import (
    AlreadyExistsError,
    CredentialError,
    ForbiddenError,
    ListWatchError,
    NotFoundError,
    TransportError,
)
from listwatch.events.occurrence import Occurrence
from listwatch.logs.folded_log import FoldedLog, cause_of_call
from listwatch.objects.object import Object

__all__ = ["EventSink", "EventWrite", "EventWriter"]

_log = logging.getLogger("listwatch.events")

_ATTEMPTS = 12
_RETRY_DELAY = 10.0
_LOGGED_ONE_BY_ONE = 10
"""How many failures of one cause are logged one by one."""
_NAMESPACE_TERMINATING = "NamespaceTerminating"


class EventSink(Protocol):
    """Writes events: a ResourceClient of the events of either API group."""

    @property
    def kind(self) -> type[Object]: ...

    def namespace(self, namespace: str) -> Self: ...

    async def create(self, obj: Mapping[str, object], /) -> Object: ...

    async def patch(
        self, name: str, patch: Mapping[str, object], /, *, type: Literal["merge", "strategic"]
    ) -> Object: ...


class EventWrite(NamedTuple):
    """One event to write: a patch of an existing event, or the body of a new one."""

    occurrence: Occurrence
    name: str
    body: Mapping[str, object]
    patch: Mapping[str, object] | None


class EventWriter:
    """Creates and patches events; failures are logged and counted, never raised."""

    def __init__(self, sink: EventSink, *, clock: Clock, random: Random) -> None:
        self._sink = sink
        self._clock = clock
        self._random = random
        self._failure_log = FoldedLog(_log, clock, burst=_LOGGED_ONE_BY_ONE)
        self.created = self.patched = self.failed = self.retries = 0

    async def write(self, event: EventWrite) -> None:
        """Patch the event, or create it if there is no patch, in at most twelve attempts."""
        failure: Exception | None = None
        for number, delay in enumerate(self._delays()):
            if number:
                self.retries += 1
                await self._clock.sleep(delay)
            try:
                await self._attempt(event)
                return
            except AlreadyExistsError as error:
                if event.patch is None and number:
                    self.created += 1  # by an earlier attempt whose response was lost
                    return
                failure = error
                if event.patch is None:
                    break
            except (TransportError, CredentialError) as error:
                failure = error
            except Exception as error:  # noqa: BLE001  # the next event may succeed
                failure = error
                break
        self._give_up(event, failure)

    async def _attempt(self, event: EventWrite) -> None:
        events = self._sink.namespace(event.occurrence.regarding.event_namespace)
        if event.patch is not None:
            try:
                await events.patch(event.name, event.patch, type="merge")
            except NotFoundError:
                pass  # events expire on the server after an hour
            else:
                self.patched += 1
                return
        await events.create(event.body)
        self.created += 1

    def _give_up(self, event: EventWrite, error: Exception | None) -> None:
        self.failed += 1
        level = logging.DEBUG if _is_expected(error) else logging.ERROR
        name, reason = f"{event.occurrence.regarding.event_namespace}/{event.name}", event.occurrence.reason
        # The message of our own errors is enough; other errors need the traceback.
        traceback = None if isinstance(error, ListWatchError) else error
        self._failure_log.log(
            level,
            None if error is None else cause_of_call(error),
            "Cannot write the event %s (%s): %s",
            name,
            reason,
            error,
            fields={"key": name, "reason": reason},
            exc_info=traceback,
        )

    def _delays(self) -> list[float]:
        """The delay before each attempt; the second is random, to spread the load on a restarted server."""
        return [0.0, _RETRY_DELAY * self._random.random(), *[_RETRY_DELAY] * (_ATTEMPTS - 2)]


def _is_expected(error: Exception | None) -> bool:
    """Whether the failure is normal: the event exists already, or its namespace is being deleted."""
    terminating = isinstance(error, ForbiddenError) and any(c.reason == _NAMESPACE_TERMINATING for c in error.causes)
    return terminating or isinstance(error, AlreadyExistsError)
