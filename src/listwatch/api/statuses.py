"""What a refusal on the wire means: a Status, or an answer without one, as an error of `listwatch.errors`, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from listwatch import errors
from listwatch.errors import (
    AlreadyExistsError,
    APIError,
    ExpiredError,
    InternalServerError,
    ServerTimeoutError,
    StatusCause,
    StatusDetails,
)

_CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, APIError)]
_BY_REASON = {cls.default_reason: cls for cls in _CLASSES if cls is not APIError}
# A known reason without a class of its own: its code must not make it look like an internal error.
_BY_REASON["StoreReadError"] = APIError

# The first has no code; the others share theirs with a commoner class and are told by their reason alone.
_ONLY_BY_REASON = (APIError, AlreadyExistsError, ExpiredError, ServerTimeoutError)
_BY_CODE = {cls.code: cls for cls in _CLASSES if cls not in _ONLY_BY_REASON}

_WITHOUT_STATUS = {
    400: "the server rejected the request and did not say why",
    401: "the server asks for credentials",
    403: "the server forbids this",
    404: "the server has nothing at this address",
    405: "the server does not allow this verb here",
    406: "the server cannot answer in a format that this client reads",
    409: "the server reports a conflict",
    415: "the server does not read the format that was sent",
    422: "the server found the request invalid",
    429: "the server has too many requests and asks to be left alone for a while",
    503: "the server cannot serve this at the moment",
    504: "the server did not answer in time and may still be at work on the request",
}


def error_from_status(
    status: Mapping[str, Any],
    *,
    doing: str = "",
    status_code: int = 0,
    retry_after: float | None = None,
    request_id: str = "",
) -> APIError:
    """The error a decoded Status stands for: by reason, or by code where the reason is unknown.

    `status_code` is the HTTP code, for a Status that carries none. Fields of the wrong type count as absent.
    """
    fields = _mapping(status)
    code = _whole(fields.get("code")) or status_code
    reason = _text(fields.get("reason"))
    error_class = _BY_REASON.get(reason) or _BY_CODE.get(code, APIError)
    error = error_class(
        _text(fields.get("message")),
        status_code=code or error_class.code,
        reason=reason,
        details=_details_from(fields.get("details")),
        retry_after=retry_after,
        doing=doing,
        request_id=request_id,
    )
    if isinstance(error, ExpiredError):
        error.continue_token = _text(_mapping(fields.get("metadata")).get("continue"))
    return error


def error_from_response(
    code: int,
    body_text: str = "",
    *,
    verb: str = "",
    doing: str = "",
    retry_after: float | None = None,
    request_id: str = "",
) -> APIError:
    """The error for an answer without a Status, by its code and HTTP method; a binary body is given as no text."""
    body = body_text.strip()[: APIError.MAX_BODY]
    error_class, reason = _class_without_status(code, verb)
    return error_class(
        _WITHOUT_STATUS.get(code) or f"the server answered with code {code} and no explanation",
        status_code=code,
        reason=reason,
        details=StatusDetails(causes=(StatusCause(reason="UnexpectedServerResponse", message=body),)),
        retry_after=retry_after,
        doing=doing,
        request_id=request_id,
        body=body,
    )


def status_from_error(error: APIError) -> dict[str, Any]:
    """The Status object that a server sends for this error."""
    metadata = {"continue": error.continue_token} if isinstance(error, ExpiredError) else {}
    status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": _without_empty(metadata)}
    status |= {"status": "Failure"} | _without_empty({"message": error.message, "reason": error.reason})
    details = _details_to_dict(error.details or StatusDetails(), error.retry_after)
    # Details that say nothing are still sent if they are there, as the real server does for paths it does not know.
    if details or error.details is not None:
        status["details"] = details
    return status | _without_empty({"code": error.status_code})


def suggests_delay(error: BaseException) -> float | None:
    """The seconds the server wants to be left alone before the next try; None if it did not ask for that."""
    if isinstance(error, ServerTimeoutError):
        return error.retry_after or 0.0
    return (error.retry_after or None) if isinstance(error, APIError) else None


def _class_without_status(code: int, verb: str) -> tuple[type[APIError], str]:
    if code == 409 and verb.upper() == "POST":
        return AlreadyExistsError, AlreadyExistsError.default_reason
    if code in _WITHOUT_STATUS:
        return _BY_CODE[code], _BY_CODE[code].default_reason
    if code >= 500:
        return InternalServerError, InternalServerError.default_reason
    # Such a code alone gives no reason; 410 and 413 still have a class.
    return _BY_CODE.get(code, APIError), ""


def _details_from(value: object) -> StatusDetails | None:
    fields = _mapping(value)
    if not fields:
        return None
    causes = fields.get("causes")
    return StatusDetails(
        name=_text(fields.get("name")),
        group=_text(fields.get("group")),
        kind=_text(fields.get("kind")),
        uid=_text(fields.get("uid")),
        causes=tuple(map(_cause_from, causes)) if isinstance(causes, list | tuple) else (),
        retry_after_seconds=_whole(fields.get("retryAfterSeconds")),
    )


def _cause_from(value: object) -> StatusCause:
    fields = _mapping(value)
    return StatusCause(_text(fields.get("reason")), _text(fields.get("message")), _text(fields.get("field")))


def _details_to_dict(details: StatusDetails, retry_after: float | None) -> dict[str, Any]:
    causes = [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in details.causes]
    return _without_empty(
        {
            "name": details.name,
            "group": details.group,
            "kind": details.kind,
            "uid": details.uid,
            "causes": [_without_empty(cause) for cause in causes],
            "retryAfterSeconds": math.ceil(retry_after or 0),
        }
    )


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    """A code or count within the API's int32; anything else is 0."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return 0
