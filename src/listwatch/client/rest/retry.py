"""Decides whether a request is sent once more, and when. `sender` does it.

                          do                stream     watch
429, 5xx + Retry-After    after that time   the same   the same
429, 5xx without          never             never      never
connection lost           GET, after 1 s    never      after 1 s
timeout                   never             never      after 1 s
refused, and the rest     never             never      never
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from listwatch.api.responses import retry_after
from listwatch.errors import ConnectionLostError, TransportError, TransportTimeoutError

__all__ = ["DEFAULT_RETRIES", "Answer", "Mode", "Retry", "decide"]

DEFAULT_RETRIES = 10
"""How often a request is sent again before its failure is reported."""

_AFTER_FAILURE = 1.0


class Mode(Enum):
    """What the caller wants of the answer: all of it, its bytes as they come, or the events of a watch."""

    DO = "do"
    STREAM = "stream"
    WATCH = "watch"


@dataclass(frozen=True, slots=True)
class Retry:
    """Send it once more, after so many seconds."""

    delay: float
    reason: str


class Answer(Protocol):
    """What there is to know of an answer to decide about it."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


def decide(outcome: Answer | TransportError, *, mode: Mode, method: str) -> Retry | None:
    """What to do after a try that came out like this; None if that is final."""
    if isinstance(outcome, TransportError):
        return Retry(_AFTER_FAILURE, outcome.message) if _is_transient(outcome, mode, method) else None
    if outcome.status != 429 and outcome.status < 500:
        return None
    # Only a server that names a time wants to be asked again.
    delay = retry_after(outcome.headers)
    return None if delay is None else Retry(float(delay), f"the server answered {outcome.status}")


def _is_transient(error: TransportError, mode: Mode, method: str) -> bool:
    # Nobody knows whether a request without an answer has changed something, so only reading is repeated.
    match mode:
        case Mode.DO:
            return method == "GET" and isinstance(error, ConnectionLostError)
        case Mode.WATCH:
            return isinstance(error, ConnectionLostError | TransportTimeoutError)
        case Mode.STREAM:
            return False
