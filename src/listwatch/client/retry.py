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

from listwatch.api.responses import retry_after
from listwatch.errors import ConnectionLostError, TransportError, TransportTimeoutError

__all__ = ["DEFAULT_RETRIES", "Mode", "Retry", "retry_of_answer", "retry_of_failure"]

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


def retry_of_answer(status: int, headers: Mapping[str, str]) -> Retry | None:
    """What to do about an answer, whatever was asked: only a server that names a time wants to be asked again."""
    if status != 429 and status < 500:
        return None
    delay = retry_after(headers)
    return None if delay is None else Retry(float(delay), f"the server answered {status}")


def retry_of_failure(error: TransportError, *, mode: Mode, method: str) -> Retry | None:
    """What to do when there was no answer: nobody knows whether a change was made, so only reading is repeated."""
    match mode:
        case Mode.DO:
            again = method == "GET" and isinstance(error, ConnectionLostError)
        case Mode.WATCH:
            again = isinstance(error, ConnectionLostError | TransportTimeoutError)
        case Mode.STREAM:
            again = False
    return Retry(_AFTER_FAILURE, error.message) if again else None
