"""Writes one event to a server, again and again if the server cannot be reached. `recorder.py` says which and when."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from random import Random
from typing import Any, Literal, Protocol, Self

from listwatch.clock import Clock
from listwatch.errors import (
    AlreadyExistsError,
    CredentialError,
    ForbiddenError,
    ListWatchError,
    NotFoundError,
    TransportError,
)
from listwatch.objects.object import Object

__all__ = ["EventSink", "EventWriter"]

_log = logging.getLogger("listwatch.events")

_TRIES = 12
_BETWEEN_TRIES = 10.0
_NAMESPACE_TERMINATING = "NamespaceTerminating"


class EventSink(Protocol):
    """Where events go: a ResourceClient of the events of either API group."""

    @property
    def kind(self) -> type[Object]: ...

    def namespace(self, namespace: str) -> Self: ...

    async def create(self, obj: Mapping[str, Any], /) -> Object: ...

    async def patch(self, name: str, patch: Mapping[str, Any], /, *, type: Literal["merge", "strategic"]) -> Object: ...


class EventWriter:
    """Creates and patches events; a failure is reported and counted, and never raised."""

    def __init__(self, sink: EventSink, *, clock: Clock, random: Random) -> None:
        self._sink = sink
        self._clock = clock
        self._random = random
        self.created = self.patched = self.failed = self.retries = 0

    async def write(self, body: dict[str, Any], patch: dict[str, Any] | None) -> None:
        """Patch the event if there is a patch and create it otherwise, twelve times at most."""
        failure: Exception | None = None
        for number, delay in enumerate(self._delays()):
            if number:
                self.retries += 1
                await self._clock.sleep(delay)
            try:
                await self._try(body, patch)
                return
            except AlreadyExistsError as error:
                if patch is None and number:
                    self.created += 1  # by the try before, whose answer was lost
                    return
                failure = error
                if patch is None:
                    break
            except (TransportError, CredentialError) as error:
                failure = error
            except Exception as error:  # noqa: BLE001  # whatever it is, the next event may do better
                failure = error
                break
        self._give_up(body, failure)

    async def _try(self, body: dict[str, Any], patch: dict[str, Any] | None) -> None:
        events = self._sink.namespace(body["metadata"]["namespace"])
        if patch is not None:
            try:
                await events.patch(body["metadata"]["name"], patch, type="merge")
            except NotFoundError:
                pass  # servers forget events after an hour
            else:
                self.patched += 1
                return
        await events.create(body)
        self.created += 1

    def _give_up(self, body: dict[str, Any], error: Exception | None) -> None:
        self.failed += 1
        level = logging.DEBUG if _is_ordinary(error) else logging.ERROR
        name = f"{body['metadata']['namespace']}/{body['metadata']['name']}"
        # An answer of the server says all there is to know; a mistake of ours needs its traceback.
        traceback = None if isinstance(error, ListWatchError) else error
        _log.log(level, "the event %s (%s) could not be written: %s", name, body["reason"], error, exc_info=traceback)

    def _delays(self) -> list[float]:
        """Before each try; the second is random, so that many who lost one server do not come back at once."""
        return [0.0, _BETWEEN_TRIES * self._random.random(), *[_BETWEEN_TRIES] * (_TRIES - 2)]


def _is_ordinary(error: Exception | None) -> bool:
    """What happens in every cluster: the event is there already, or its namespace is going away."""
    terminating = isinstance(error, ForbiddenError) and any(c.reason == _NAMESPACE_TERMINATING for c in error.causes)
    return terminating or isinstance(error, AlreadyExistsError)
