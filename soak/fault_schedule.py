"""Random faults of the embedded server, changed every second or two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from listwatch.errors import InternalServerError, TooManyRequestsError
from listwatch.server import (
    APIServer,
    CutStream,
    Delay,
    DropBookmarks,
    DropResponse,
    Expire,
    Fail,
    Fault,
    HoldEvents,
    Refuse,
)
from soak.tampering_transport import Tampering, TamperingTransport

__all__ = ["FaultSchedule"]

MAX_INTERVAL = 2.0
"""Maximum seconds until the faults change."""


def _faults(rng: Random) -> dict[str, Callable[[], Fault]]:
    reads, writes = ("list", "watch"), ("create", "update", "patch", "delete")
    often, rarely = rng.choice([0.1, 0.3]), 0.02
    return {
        "connection refused": lambda: Fault(Refuse(), verb=rng.choice(reads), probability=often),
        "delayed": lambda: Fault(Delay(rng.random()), verb=rng.choice(reads), probability=often),
        "throttled": lambda: Fault(
            Fail(TooManyRequestsError("too many requests")), verb=rng.choice(reads), probability=often
        ),
        "internal error": lambda: Fault(
            Fail(InternalServerError("injected failure")), verb=rng.choice(reads), probability=often
        ),
        "expired": lambda: Fault(Expire(), verb=rng.choice(reads), probability=often),
        "cut after events": lambda: Fault(CutStream(after_events=rng.randrange(50)), probability=often),
        "cut after bytes": lambda: Fault(CutStream(after_bytes=rng.randrange(5000)), probability=often),
        "events held back": lambda: Fault(HoldEvents(), probability=often),
        "write response lost": lambda: Fault(DropResponse(), verb=rng.choice(writes), probability=rarely),
        "write refused": lambda: Fault(Refuse(), verb=rng.choice(writes), probability=rarely),
        "write throttled": lambda: Fault(
            Fail(TooManyRequestsError("too many requests")), verb=rng.choice(writes), probability=often
        ),
        "write internal error": lambda: Fault(
            Fail(InternalServerError("injected failure")), verb=rng.choice(writes), probability=rarely
        ),
        "without bookmarks": lambda: Fault(DropBookmarks(), probability=often),
    }


class FaultSchedule:
    """Replaces the faults of a server, and of a transport, at random intervals, and records which were active."""

    def __init__(
        self,
        server: APIServer,
        rng: Random,
        *,
        with_dropped_bookmarks: bool,
        transport: TamperingTransport | None = None,
    ) -> None:
        self._server = server
        self._transport = transport
        self._rng = rng
        self._with_dropped_bookmarks = with_dropped_bookmarks
        self.history: list[str] = []

    async def run(self) -> None:
        """Change the faults until cancelled, then clear them."""
        try:
            while True:
                self._change()
                await asyncio.sleep(self._rng.random() * MAX_INTERVAL)
        finally:
            self._server.faults.clear()
            if self._transport is not None:
                self._transport.faults = Tampering()

    def _change(self) -> None:
        rng = self._rng
        self._server.faults.clear()
        choices = _faults(rng)
        if not self._with_dropped_bookmarks:
            # An informer waits ten seconds for the bookmark that ends the initial events.
            del choices["without bookmarks"]
        chosen = rng.sample(sorted(choices), rng.randrange(4))
        for name in chosen:
            self._server.faults.add(choices[name]())
        if self._transport is not None:
            self._transport.faults = tampering = Tampering.random(rng)
            if not self._with_dropped_bookmarks:
                tampering.ignored_initial_events = 0.0
            chosen += [name for name, probability in vars(tampering).items() if probability]
        if rng.random() < 0.2:
            chosen.append("compaction")
            self._server.compact()
        self.history.append(", ".join(chosen) or "no faults")
