"""What an API server answers, as a value, and what an answer means that says no. `requests.py` has what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from listwatch.api.statuses import error_from_response, error_from_status
from listwatch.errors import APIError
from listwatch.objects.wire import DECODE_FAILURES

__all__ = ["HTTPResponse", "error_from_answer", "is_json", "is_success", "media_type", "request_id", "retry_after"]

# Where a Status names itself, if it is one: servers write that first.
_HEAD = 64


class HTTPResponse(msgspec.Struct, frozen=True, gc=False):
    """A complete answer; its headers are found under any spelling of their names."""

    status: int
    headers: Mapping[str, str]
    content: bytes | list[bytes] = b""
    """The body; a long one in the pieces in which it came, because it takes long to join them."""
    warnings: Sequence[str] = ()
    """Every `Warning` header, as it came."""

    @property
    def body(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else b"".join(self.content)


def is_success(status: int) -> bool:
    return 200 <= status <= 206 or status == 101


def error_from_answer(answer: HTTPResponse, *, method: str, doing: str) -> APIError | None:
    """The error that an answer stands for; None if it says yes, also in a Status that comes with a good code."""
    # No Status is long.
    if is_success(answer.status) and not (isinstance(answer.content, bytes) and b'"Status"' in answer.content[:_HEAD]):
        return None
    facts: dict[str, Any] = {
        "doing": doing,
        "retry_after": retry_after(answer.headers),
        "request_id": request_id(answer.headers),
    }
    status = _status_in(answer)
    if status is not None and status.get("status") != "Success":
        return error_from_status(status, status_code=answer.status, **facts)
    if is_success(answer.status):
        return None
    if 300 <= answer.status < 400 and "Location" in answer.headers:
        return APIError(_redirection(answer.headers["Location"]), status_code=answer.status, **facts)
    return error_from_response(answer.status, _text_of(answer), verb=method, **facts)


def retry_after(headers: Mapping[str, str]) -> int | None:
    """The seconds that the server wants to be left alone for; a date counts as nothing said."""
    text = headers.get("Retry-After", "")
    # Nobody waits for longer than a life, and int() refuses texts of thousands of digits.
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def request_id(headers: Mapping[str, str]) -> str:
    """What to look for in the server's logs."""
    return headers.get("Audit-Id", "")


def media_type(headers: Mapping[str, str]) -> str:
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is JSON, as far as the server says what it is."""
    media = media_type(headers)
    return media in ("", "application/json") or media.endswith("+json")


def _status_in(answer: HTTPResponse) -> dict[str, Any] | None:
    if not is_json(answer.headers) or not answer.body.lstrip().startswith(b"{"):
        return None
    try:
        tree = msgspec.json.decode(answer.body)
    except DECODE_FAILURES:
        return None
    # Old servers do not say which version; all of them say what it is.
    is_status = tree.get("kind") == "Status" and tree.get("apiVersion", "v1") in ("", "v1")
    return tree if is_status else None


def _redirection(location: str) -> str:
    try:
        url = urlsplit(location)
        # The query of a login page's address may hold secrets.
        shown = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}" if url.netloc else url.path
    except ValueError:
        shown = "what is no URL"
    return (
        f"the server points to {shown}, and this client does not go there, because its credentials are for this server "
        "alone; if that is where the API is served, give that URL as the host"
    )


def _text_of(answer: HTTPResponse) -> str:
    if not (is_json(answer.headers) or media_type(answer.headers).startswith("text/")):
        return ""
    return answer.body[: 4 * APIError.MAX_BODY].decode(errors="replace")
