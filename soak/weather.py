"""What goes wrong on the way to a server: some faults for a while, then others."""

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

__all__ = ["Weather"]

LONGEST = 2.0
"""Seconds of one kind of weather."""


def _faults(dice: Random) -> dict[str, Callable[[], Fault]]:
    reads, writes = ("list", "watch"), ("create", "update", "patch", "delete")
    often, seldom = dice.choice([0.1, 0.3]), 0.02
    return {
        "refused": lambda: Fault(Refuse(), verb=dice.choice(reads), probability=often),
        "delayed": lambda: Fault(Delay(dice.random()), verb=dice.choice(reads), probability=often),
        "throttled": lambda: Fault(Fail(TooManyRequestsError("slow down")), verb=dice.choice(reads), probability=often),
        "broken": lambda: Fault(Fail(InternalServerError("oops")), verb=dice.choice(reads), probability=often),
        "expired": lambda: Fault(Expire(), verb=dice.choice(reads), probability=often),
        "cut after events": lambda: Fault(CutStream(after_events=dice.randrange(50)), probability=often),
        "cut after bytes": lambda: Fault(CutStream(after_bytes=dice.randrange(5000)), probability=often),
        "held": lambda: Fault(HoldEvents(), probability=often),
        "write lost": lambda: Fault(DropResponse(), verb=dice.choice(writes), probability=seldom),
        "write refused": lambda: Fault(Refuse(), verb=dice.choice(writes), probability=seldom),
        "write throttled": lambda: Fault(
            Fail(TooManyRequestsError("slow down")), verb=dice.choice(writes), probability=often
        ),
        "write broken": lambda: Fault(Fail(InternalServerError("oops")), verb=dice.choice(writes), probability=seldom),
        "without bookmarks": lambda: Fault(DropBookmarks(), probability=often),
    }


class Weather:
    """Changes every second or two, with a history that is short enough to be read."""

    def __init__(self, server: APIServer, dice: Random, *, with_silence: bool) -> None:
        self._server = server
        self._dice = dice
        self._with_silence = with_silence
        self.history: list[str] = []

    async def run(self) -> None:
        """Change until cancelled, and then be fine."""
        try:
            while True:
                self._change()
                await asyncio.sleep(self._dice.random() * LONGEST)
        finally:
            self._server.faults.clear()

    def _change(self) -> None:
        dice = self._dice
        self._server.faults.clear()
        choices = _faults(dice)
        if not self._with_silence:
            # It takes an informer ten seconds to notice that the end of the initial events is not marked.
            del choices["without bookmarks"]
        chosen = dice.sample(sorted(choices), dice.randrange(4))
        for name in chosen:
            self._server.faults.add(choices[name]())
        if dice.random() < 0.2:
            chosen.append("history forgotten")
            self._server.compact()
        self.history.append(", ".join(chosen) or "fine")
