"""The decision alone; `test_rest_client.py` sees it carried out over real connections."""

import pytest

from listwatch.api.responses import HTTPResponse
from listwatch.client.rest.retry import Mode, Retry, decide
from listwatch.errors import (
    ConnectError,
    ConnectionLostError,
    ConnectRefusedError,
    ProtocolError,
    StreamIdleError,
    TLSError,
    TransportError,
    TransportTimeoutError,
)

VERBS = ["GET", "POST", "PUT", "DELETE", "PATCH"]


def answered(status: int, retry_after: str | None = None) -> HTTPResponse:
    return HTTPResponse(status, {} if retry_after is None else {"Retry-After": retry_after})


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_a_server_that_names_a_time_is_asked_again_whatever_was_asked(mode: Mode, verb: str, status: int):
    decision = decide(answered(status, "7"), mode=mode, method=verb)
    assert decision == Retry(7.0, f"the server answered {status}")


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "answer",
    [
        answered(429),
        answered(503),
        answered(500, "soon"),
        answered(503, "Wed, 21 Oct 2015 07:28:00 GMT"),
        answered(429, "1.5"),
        answered(429, "-1"),
        answered(429, ""),
        answered(429, "9" * 5000),
        answered(200, "1"),
        answered(301, "0"),
        answered(404, "1"),
        answered(409, "1"),
    ],
    ids=lambda answer: f"{answer.status} {answer.headers.get('Retry-After', 'without')[:8]}",
)
def test_no_other_answer_is_asked_for_again(mode: Mode, verb: str, answer: HTTPResponse):
    assert decide(answer, mode=mode, method=verb) is None


def test_a_server_may_want_to_be_asked_again_at_once():
    assert decide(answered(429, "0"), mode=Mode.DO, method="POST") == Retry(0.0, "the server answered 429")


@pytest.mark.parametrize(
    ("mode", "verb", "error", "is_repeated"),
    [
        (Mode.DO, "GET", ConnectionLostError("cut"), True),
        (Mode.DO, "POST", ConnectionLostError("cut"), False),
        (Mode.DO, "PUT", ConnectionLostError("cut"), False),
        (Mode.DO, "PATCH", ConnectionLostError("cut"), False),
        (Mode.DO, "DELETE", ConnectionLostError("cut"), False),
        (Mode.DO, "GET", TransportTimeoutError("late"), False),
        (Mode.STREAM, "GET", ConnectionLostError("cut"), False),
        (Mode.STREAM, "GET", TransportTimeoutError("late"), False),
        (Mode.WATCH, "GET", ConnectionLostError("cut"), True),
        (Mode.WATCH, "POST", ConnectionLostError("cut"), True),
        (Mode.WATCH, "GET", TransportTimeoutError("late"), True),
        (Mode.WATCH, "GET", StreamIdleError("silent"), True),
    ],
)
def test_only_reading_is_repeated_after_a_failure(mode: Mode, verb: str, error: TransportError, is_repeated: bool):
    decision = decide(error, mode=mode, method=verb)
    assert decision == (Retry(1.0, error.message) if is_repeated else None)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "error", [ConnectError("no"), ConnectRefusedError("no"), TLSError("no"), ProtocolError("no"), TransportError("no")]
)
def test_what_will_not_change_by_itself_is_not_repeated(mode: Mode, error: TransportError):
    assert decide(error, mode=mode, method="GET") is None
