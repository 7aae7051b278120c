"""When requests are sent again; `test_rest_client.py` checks it over real connections."""

import pytest

from listwatch.api.http_messages import HTTPResponse
from listwatch.client.rest.sender import RequestKind, Retry, next_retry
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


def response(status: int, retry_after: str | None = None) -> HTTPResponse:
    return HTTPResponse(status, {} if retry_after is None else {"Retry-After": retry_after})


@pytest.mark.parametrize("mode", RequestKind)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_every_request_is_retried_after_retry_after(mode: RequestKind, verb: str, status: int):
    decision = next_retry(response(status, "7"), kind=mode, method=verb)
    assert decision == Retry(7.0, f"the server responded with status {status}")


@pytest.mark.parametrize("mode", RequestKind)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "received",
    [
        response(429),
        response(503),
        response(500, "soon"),
        response(503, "Wed, 21 Oct 2015 07:28:00 GMT"),
        response(429, "1.5"),
        response(429, "-1"),
        response(429, ""),
        response(429, "9" * 5000),
        response(200, "1"),
        response(301, "0"),
        response(404, "1"),
        response(409, "1"),
    ],
    ids=lambda received: f"{received.status} {received.headers.get('Retry-After', 'without')[:8]}",
)
def test_no_other_response_is_retried(mode: RequestKind, verb: str, received: HTTPResponse):
    assert next_retry(received, kind=mode, method=verb) is None


def test_retry_after_zero_is_retried_at_once():
    assert next_retry(response(429, "0"), kind=RequestKind.DO, method="POST") == Retry(
        0.0, "the server responded with status 429"
    )


@pytest.mark.parametrize(
    ("mode", "verb", "error", "is_repeated"),
    [
        (RequestKind.DO, "GET", ConnectionLostError("cut"), True),
        (RequestKind.DO, "POST", ConnectionLostError("cut"), False),
        (RequestKind.DO, "PUT", ConnectionLostError("cut"), False),
        (RequestKind.DO, "PATCH", ConnectionLostError("cut"), False),
        (RequestKind.DO, "DELETE", ConnectionLostError("cut"), False),
        (RequestKind.DO, "GET", TransportTimeoutError("late"), False),
        (RequestKind.STREAM, "GET", ConnectionLostError("cut"), False),
        (RequestKind.STREAM, "GET", TransportTimeoutError("late"), False),
        (RequestKind.WATCH, "GET", ConnectionLostError("cut"), True),
        (RequestKind.WATCH, "POST", ConnectionLostError("cut"), True),
        (RequestKind.WATCH, "GET", TransportTimeoutError("late"), True),
        (RequestKind.WATCH, "GET", StreamIdleError("silent"), True),
    ],
)
def test_only_reads_are_retried_after_a_failure(mode: RequestKind, verb: str, error: TransportError, is_repeated: bool):
    decision = next_retry(error, kind=mode, method=verb)
    assert decision == (Retry(1.0, error.message) if is_repeated else None)


@pytest.mark.parametrize("mode", RequestKind)
@pytest.mark.parametrize(
    "error", [ConnectError("no"), ConnectRefusedError("no"), TLSError("no"), ProtocolError("no"), TransportError("no")]
)
def test_permanent_failures_are_not_retried(mode: RequestKind, error: TransportError):
    assert next_retry(error, kind=mode, method="GET") is None
