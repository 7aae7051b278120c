"""Converts a Status, or an unsuccessful response without one, to an APIError, and an APIError to a Status."""

from __future__ import annotations

import math
from collections.abc import Mapping

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
from listwatch.json_value import JSON, JSONObject

_CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, APIError)]
_BY_REASON = {cls.default_reason: cls for cls in _CLASSES if cls is not APIError}
# This reason has no class. By its code it would be an InternalServerError.
_BY_REASON["StoreReadError"] = APIError

# The first has no code; the others share their code with a more common class, and are chosen by reason only.
_ONLY_BY_REASON = (APIError, AlreadyExistsError, ExpiredError, ServerTimeoutError)
_BY_CODE = {cls.code: cls for cls in _CLASSES if cls not in _ONLY_BY_REASON}

_WITHOUT_STATUS = {
    400: "the server rejected the request without a reason",
    401: "the server requires valid credentials",
    403: "the server forbids this request",
    404: "the server has no resource at this path",
    405: "the server does not allow this method on this path",
    406: "the server supports none of the accepted response formats",
    409: "the server reported a conflict",
    415: "the server does not support the format of the request body",
    422: "the server reported an invalid request",
    429: "the server received too many requests; retry later",
    503: "the server is currently unavailable",
    504: "the server timed out and may still be processing the request",
}


def error_from_status(
    status: Mapping[str, JSON],
    *,
    doing: str = "",
    status_code: int = 0,
    retry_after: float | None = None,
    request_id: str = "",
) -> APIError:
    """Return the error of a decoded Status. Its class depends on the reason, or on the code for unknown reasons.

    `status_code` is the HTTP code, for a Status without a code. Fields of the wrong type are ignored.
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


def error_from_code(
    code: int,
    body_text: str = "",
    *,
    verb: str = "",
    doing: str = "",
    retry_after: float | None = None,
    request_id: str = "",
) -> APIError:
    """Return the error of a response without a Status, by HTTP code and method. Pass no text for a binary body."""
    body = body_text.strip()[: APIError.MAX_BODY]
    error_class, reason = _class_without_status(code, verb)
    return error_class(
        _WITHOUT_STATUS.get(code) or f"the server responded with code {code} and no Status",
        status_code=code,
        reason=reason,
        details=StatusDetails(causes=(StatusCause(reason="UnexpectedServerResponse", message=body),)),
        retry_after=retry_after,
        doing=doing,
        request_id=request_id,
        body=body,
    )


def status_from_error(error: APIError) -> JSONObject:
    """Return the Status that a server sends for this error."""
    metadata: JSONObject = {"continue": error.continue_token} if isinstance(error, ExpiredError) else {}
    status: JSONObject = {"kind": "Status", "apiVersion": "v1", "metadata": _without_empty(metadata)}
    status |= {"status": "Failure"} | _without_empty({"message": error.message, "reason": error.reason})
    details = _details_to_dict(error.details or StatusDetails(), error.retry_after)
    # Empty details are sent too, as kube-apiserver does for unknown paths.
    if details or error.details is not None:
        status["details"] = details
    return status | _without_empty({"code": error.status_code})


def suggests_delay(error: BaseException) -> float | None:
    """Return the delay in seconds that the server suggests before a retry; None if it suggests none."""
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
    # These codes imply no reason; 410 and 413 still have a class.
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


def _details_to_dict(details: StatusDetails, retry_after: float | None) -> JSONObject:
    causes: list[JSONObject] = [
        {"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in details.causes
    ]
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


def _without_empty(fields: Mapping[str, JSON]) -> JSONObject:
    return {key: value for key, value in fields.items() if value}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    """Return a code or count in the range of int32; 0 for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return 0
