"""Translates errors of etcd's JSON gateway. Decides by gRPC code and message, since the HTTP status is ambiguous."""

from __future__ import annotations

import msgspec

from listwatch.errors import (
    APIError,
    BadRequestError,
    ConnectionLostError,
    ExpiredError,
    ForbiddenError,
    ListWatchError,
    NotFoundError,
    ProtocolError,
    RequestEntityTooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
)

__all__ = [
    "FutureRevisionError",
    "MemberUnavailableError",
    "error_from_response",
    "error_of",
    "error_of_cancelled_watch",
]

_NOT_FOUND, _DENIED, _EXHAUSTED, _UNAUTHENTICATED = 5, 7, 8, 16
_UNKNOWN_OUTCOME = (1, 2, 4, 10, 13, 14, 15)
"""Cancelled, unknown, deadline exceeded, aborted, internal, unavailable, data loss: it may have been processed."""

_CODES = range(1, 17)  # of gRPC; other servers have other codes

_NEEDS_LOGIN = ("user name is empty", "user name not found", "invalid auth token", "auth store is old")
_WRONG_PASSWORD = "authentication failed"
_WITH_COMMON_NAME = "CommonName of client sending a request against gateway"


class MemberUnavailableError(ConnectionLostError):
    """This member cannot serve the request, and has not processed it; another member may."""


class FutureRevisionError(MemberUnavailableError):
    """This member has not reached the requested revision."""


class _ErrorBody(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""
    error: str = ""


_bodies = msgspec.json.Decoder(_ErrorBody)


def error_from_response(status: int, body: bytes, doing: str, host: str, *, shows_body: bool = True) -> ListWatchError:
    """Return the error of an unsuccessful response; `shows_body=False` if another server may echo a secret in it."""
    try:
        found = _bodies.decode(body)
    except msgspec.DecodeError:
        found = _ErrorBody()
    shown = body[:200].decode(errors="replace").strip() if shows_body or _WITH_COMMON_NAME.encode() in body else ""
    message = found.message or found.error
    if _WITH_COMMON_NAME in (message or shown):
        return UnauthorizedError(
            "etcd's gateway refuses client certificates with a common name while authentication is on; "
            "use a certificate without CN, with the names in its SAN",
            doing=doing,
        )
    if not message or found.code not in _CODES:
        return ProtocolError(
            f"{host} is not etcd's JSON gateway: it responded with status {status} and "
            f"{repr(shown) if shown else f'{len(body)} bytes'}; "
            "check the endpoint, and that etcd runs with its gateway enabled",
            doing=doing,
            host=host,
        )
    return error_of(found.code, message, doing, host)


def error_of(code: int, message: str, doing: str, host: str) -> ListWatchError:
    """Return the exception for a gRPC code and a message."""
    if "compacted" in message:
        return ExpiredError(message, doing=doing)
    if "future revision" in message:
        return FutureRevisionError(message, doing=doing, host=host)
    if "rpc not supported for learner" in message or "no leader" in message:
        return MemberUnavailableError(message, doing=doing, host=host)
    if "too large" in message or "larger than max" in message:
        # Sent with status 400 or 429, and not to be retried.
        return RequestEntityTooLargeError(f"{message}; etcd's limit is --max-request-bytes", doing=doing)
    if code == _UNAUTHENTICATED or any(each in message for each in _NEEDS_LOGIN) or _WRONG_PASSWORD in message:
        return UnauthorizedError(message, doing=doing)
    if code == _DENIED:
        return ForbiddenError(message, doing=doing)
    if code == _NOT_FOUND:
        return NotFoundError(message, doing=doing)
    if code in _UNKNOWN_OUTCOME:
        # An APIError would make a reflector list everything again.
        return ConnectionLostError(message, doing=doing, host=host)
    if code == _EXHAUSTED and "too many requests" in message:
        return TooManyRequestsError(message, doing=doing)
    if code == _EXHAUSTED:
        return APIError(message, status_code=507, reason="ResourceExhausted", doing=doing)
    return BadRequestError(message, doing=doing)


def error_of_cancelled_watch(reason: str, compact_revision: str, doing: str, host: str) -> ListWatchError:
    """Return the exception for a watch that etcd has cancelled."""
    if compact_revision != "0" or "compacted" in reason:
        return ExpiredError(f"the revisions up to {compact_revision} were compacted", doing=doing)
    if any(each in reason for each in _NEEDS_LOGIN):
        return UnauthorizedError(reason, doing=doing)
    if "PermissionDenied" in reason or "permission denied" in reason:
        return ForbiddenError(reason, doing=doing)
    return MemberUnavailableError(f"etcd cancelled the watch: {reason or 'without a reason'}", doing=doing, host=host)
