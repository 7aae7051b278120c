"""The lines that an informer logs in its life: started, synced, stopped. `problems.py` logs failures."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from listwatch.clock import Clock
from listwatch.wording import counted

__all__ = ["LifecycleLog"]

_log = logging.getLogger("listwatch.informer")


class LifecycleLog:
    """Logs the life of one informer."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._started_at: float | None = None

    def started(self) -> None:
        self._started_at = self._clock.monotonic()
        _log.info("The informer of %s was started", self._name, extra={"resource": self._name})

    def synced(self, objects: int, by: Iterable[str]) -> None:
        """`by` says how each source was read: by list or by stream."""
        started_at = self._clock.monotonic() if self._started_at is None else self._started_at
        seconds, way = self._clock.monotonic() - started_at, " and ".join(sorted(set(by)))
        _log.info(
            "The informer of %s has synced: %s in %.3f s by %s",
            self._name,
            counted(objects, "object"),
            seconds,
            way,
            extra={"resource": self._name, "objects": objects, "seconds": seconds, "by": way},
        )

    def stopped(self, objects: int) -> None:
        if self._started_at is not None:
            self._started_at = None
            fields = {"resource": self._name, "objects": objects}
            message = "The informer of %s has stopped; its cache keeps %s"
            _log.info(message, self._name, counted(objects, "object"), extra=fields)
