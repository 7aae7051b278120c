"""HTTP requests and responses of the API as values: paths, queries, and the errors of unsuccessful responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypedDict
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from listwatch.api.statuses import error_from_code, error_from_status
from listwatch.errors import APIError, BadRequestError, DecodeError, RequestError, UnauthorizedError
from listwatch.json_value import JSONObject
from listwatch.meta import path_segment, split_api_version
from listwatch.objects.head import protobuf_start
from listwatch.objects.json.wire import DECODE_FAILURES

__all__ = [
    "JSON_MEDIA_TYPE",
    "PATCH_TYPES",
    "PROTOBUF_MEDIA_TYPE",
    "BodyFilter",
    "ContentType",
    "HTTPRequest",
    "HTTPResponse",
    "api_path",
    "encode_query",
    "error_from_response",
    "go_duration",
    "is_json",
    "is_protobuf",
    "is_success",
    "join_path",
    "media_type",
    "parameter_texts",
    "request_id",
    "retry_after",
    "sendable",
    "split_uri",
]

ContentType = Literal["json", "protobuf"]
"""The format that a client requests. Kinds without protobuf, such as custom resources, are JSON in any case."""

JSON_MEDIA_TYPE = "application/json"
PROTOBUF_MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

PATCH_TYPES: Mapping[str, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""The types of patches, and their content types."""

_SAFE_IN_PATHS = ":@!$&'()*+,;=~"
_NANOSECONDS = 10**9
_SMALL_UNITS = (("ms", 10**6), ("µs", 10**3), ("ns", 1))
_STATUS_PREFIX = 64  # bytes in which a Status names its kind: servers write that first
_SELECTOR_ERRORS = (
    ("field_selector", "fieldSelector", ("field label not supported", "known field selector", "invalid selector")),
    ("label_selector", "labelSelector", ("unable to parse requirement", "found '", "invalid selector")),
)
_STATUS_START = protobuf_start("v1", "Status")


class BodyFilter(Protocol):
    """Receives the pieces of a body, and returns what is kept of them."""

    def feed(self, piece: bytes, /) -> bytes: ...
    def finish(self) -> bytes:
        """Return the rest, when the body is complete."""


class HTTPRequest(msgspec.Struct, frozen=True, gc=False):
    """A request. It may be sent several times.

    Its representation shows neither headers nor body, which may hold secrets: error trackers record local variables.
    """

    method: str
    target: str
    """Path and query, percent-encoded, relative to the URL of the server."""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes | None = None
    filter: Callable[[], BodyFilter] | None = None
    """Makes what filters the body of a successful response while it arrives, once for each time it is sent."""

    def describe(self) -> str:
        """Method and path, for messages."""
        return f"{self.method} {self.target.partition('?')[0] or '/'}"

    def __repr__(self) -> str:
        return f"<HTTPRequest {self.describe()}, {len(self.body or b'')} bytes>"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("method", self.method), ("path", self.target.partition("?")[0])]


class HTTPResponse(msgspec.Struct, frozen=True, gc=False):
    """A complete response. The names of its headers are case-insensitive.

    Its representation shows neither headers nor body.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes | list[bytes] = b""
    """The body. A long one is a list of the received pieces, because joining them is expensive."""
    warnings: Sequence[str] = ()
    """The `Warning` headers."""
    credential: str = ""
    """For status 401: which credential was sent, and where it came from; never the credential itself."""

    @property
    def body(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else b"".join(self.content)

    @property
    def size(self) -> int:
        """The length of the body."""
        return len(self.content) if isinstance(self.content, bytes) else sum(map(len, self.content))

    def __repr__(self) -> str:
        return f"<HTTPResponse {self.status}, {self.size} bytes>"

    def __rich_repr__(self) -> list[tuple[str, int]]:
        return [("status", self.status)]


# --- Requests ---------------------------------------------------------------------------------------------------------


def api_path(group_version: str) -> str:
    """Return the path of a group-version: `/apis/apps/v1` for `apps/v1`, `/api/v1` for `v1`."""
    group, version = (path_segment(part, "group-version") if part else "" for part in split_api_version(group_version))
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def join_path(*segments: str) -> str:
    """Join and percent-encode path segments. Each may contain slashes."""
    if not all(isinstance(segment, str) for segment in segments):
        raise RequestError(f"path segments must be strings, not {', '.join(map(repr, segments))}")
    parts = [part for segment in segments for part in segment.split("/") if part]
    for part in parts:
        if part in (".", ".."):
            raise RequestError(f"{'/'.join(segments)!r} is not a valid path: it contains '.' or '..'")
    return "".join(f"/{quote(sendable(part), safe=_SAFE_IN_PATHS)}" for part in parts)


def split_uri(uri: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the decoded path and the query parameters of a URI."""
    parts = urlsplit(uri)
    return unquote(parts.path), parse_qsl(parts.query, keep_blank_values=True)


def parameter_texts(value: object) -> list[str]:
    """Return the texts of a query parameter: none for None, several for a list."""
    match value:
        case None:
            return []
        case bool():
            return ["true" if value else "false"]
        case str() | int():
            return [sendable(str(value))]
        case list() | tuple():
            return [text for each in value for text in parameter_texts(each)]
        case _:
            raise RequestError(f"a query parameter cannot be a {type(value).__name__}; pass str, int, bool or a list")


def sendable(text: str) -> str:
    """Return the text. Raises RequestError if it cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(f"{text!r} cannot be sent: it contains a lone surrogate") from None
    return text


def encode_query(parameters: Iterable[tuple[str, str]]) -> str:
    """Return the query string of the parameters, without the question mark."""
    return "&".join([f"{quote(name, safe='')}={quote(text, safe=':,')}" for name, text in parameters])


def go_duration(seconds: float) -> str:
    """Format a duration as Go does: 5m30s, 1.5s, 250ms."""
    nanoseconds = round(seconds * _NANOSECONDS)
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < _NANOSECONDS:
        unit, size = next(each for each in _SMALL_UNITS if nanoseconds >= each[1])
        return f"{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * _NANOSECONDS)
    hours, minutes = divmod(minutes, 60)
    whole = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{whole}{_decimal(rest, _NANOSECONDS)}s"


def _decimal(count: int, unit: int) -> str:
    whole, rest = divmod(count, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


# --- Responses --------------------------------------------------------------------------------------------------------


class _ErrorFields(TypedDict):
    doing: str
    retry_after: float | None
    request_id: str


def is_success(status: int) -> bool:
    return 200 <= status <= 206 or status == 101


def error_from_response(request: HTTPRequest, response: HTTPResponse) -> APIError | None:
    """Return the error of an unsuccessful response; None for a successful one.

    A Status of failure is an error even with a 2xx code.
    """
    error = _error_from_response(request, response)
    if isinstance(error, UnauthorizedError):
        error.credential = response.credential
    if isinstance(error, BadRequestError):
        error.selector = _rejected_selector(error.message, request.target)
    return error


def _rejected_selector(message: str, target: str) -> str:
    """Return the selector of the request that the message of a 400 is about; empty if it is about something else."""
    parameters = dict(split_uri(target)[1])
    for option, parameter, texts in _SELECTOR_ERRORS:
        if parameters.get(parameter) and any(text in message for text in texts):
            return f"{option}={parameters[parameter]!r}"
    return ""


def _error_from_response(request: HTTPRequest, response: HTTPResponse) -> APIError | None:
    code = response.status
    # A Status is short, so its content is never a list.
    start = response.content[:_STATUS_PREFIX] if isinstance(response.content, bytes) else b""
    is_status = b'"Status"' in start or start.startswith(_STATUS_START)
    if is_success(code) and not is_status:
        return None
    fields: _ErrorFields = {
        "doing": request.describe(),
        "retry_after": retry_after(response.headers),
        "request_id": request_id(response.headers),
    }
    status = _status_in(response)
    if status is not None and status.get("status") != "Success":
        return error_from_status(status, status_code=code, **fields)
    if is_success(code):
        return None
    if 300 <= code < 400 and "Location" in response.headers:
        return APIError(_redirect_message(response.headers["Location"]), status_code=code, **fields)
    return error_from_code(code, _text_of(response), verb=request.method, **fields)


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the seconds of the Retry-After header; None without one, and for a date."""
    text = headers.get("Retry-After", "")
    # The length limit keeps the value reasonable; int() rejects texts of thousands of digits.
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def request_id(headers: Mapping[str, str]) -> str:
    """Return the audit ID, under which the server logs the request."""
    return headers.get("Audit-Id", "")


def media_type(headers: Mapping[str, str]) -> str:
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def is_json(headers: Mapping[str, str]) -> bool:
    """True if the Content-Type is JSON or absent."""
    media = media_type(headers)
    return media in ("", JSON_MEDIA_TYPE) or media.endswith("+json")


def is_protobuf(headers: Mapping[str, str]) -> bool:
    """True if the Content-Type is protobuf."""
    return media_type(headers) == PROTOBUF_MEDIA_TYPE


def _status_in(response: HTTPResponse) -> JSONObject | None:
    if response.body.startswith(_STATUS_START):
        return _protobuf_status(response.body)
    if not is_json(response.headers) or not response.body.lstrip().startswith(b"{"):
        return None
    try:
        tree: JSONObject = msgspec.json.decode(response.body)
    except DECODE_FAILURES:
        return None
    # Old servers send no apiVersion; all of them send the kind.
    is_status = tree.get("kind") == "Status" and tree.get("apiVersion", "v1") in ("", "v1")
    return tree if is_status else None


def _protobuf_status(body: bytes) -> JSONObject | None:
    from listwatch.protobuf.envelope import decode_object  # few programs receive protobuf

    try:
        return decode_object(body)
    except DecodeError:
        return None


def _redirect_message(location: str) -> str:
    try:
        url = urlsplit(location)
        # The query of a login page's URL may hold secrets.
        shown = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}" if url.netloc else url.path
    except ValueError:
        shown = "an invalid URL"
    return (
        f"the server redirects to {shown}, which is not followed because the credentials are for this server only; "
        "if the API is served there, set that URL as the host"
    )


def _text_of(response: HTTPResponse) -> str:
    if not (is_json(response.headers) or media_type(response.headers).startswith("text/")):
        return ""
    return response.body[: 4 * APIError.MAX_BODY].decode(errors="replace")
