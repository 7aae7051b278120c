"""Makes the call of a webhook from its client configuration, for admission and for conversion."""

from __future__ import annotations

import base64
import binascii

import msgspec

from listwatch.errors import DecodeError, StatusDetails, TooManyRequestsError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import SCHEME, kind_of, parse_body
from listwatch.server.json_tree import object_at, quoted, text_at
from listwatch.server.requests import WebhookCall, WebhookResponse

__all__ = ["ResponseBudget", "UndecodableResponseError", "decoded_response", "webhook_call"]


JSON_TYPE = "application/json"
MAX_RESPONSES = 512 * 1024 * 1024
"""The bytes of responses that all requests of a server may hold at a time."""


class ResponseBudget:
    """Limits the memory for responses of webhooks: a request holds those that it has received until it ends.

    Requests above the limit are rejected, as the flow control of kube-apiserver does, and can be retried.
    """

    def __init__(self, limit: int = MAX_RESPONSES) -> None:
        self._limit = limit
        self._held = 0

    def take(self, size: int) -> None:
        """Raises TooManyRequestsError."""
        if self._held + size > self._limit:
            details = StatusDetails(retry_after_seconds=1)
            raise TooManyRequestsError("too many requests, please try again later", details=details)
        self._held += size

    def release(self, size: int) -> None:
        self._held -= size


class UndecodableResponseError(Exception):
    """A webhook could not be called, or its response is not JSON."""


def webhook_call(config: JSONObject, body: JSONObject, timeout: float) -> WebhookCall:
    service = object_at(config, "service")
    port = service.get("port")
    return WebhookCall(
        url=text_at(config, "url"),
        service=f"{text_at(service, 'namespace')}/{text_at(service, 'name')}" if service else "",
        port=port if isinstance(port, int) else 443,
        path=text_at(service, "path"),
        ca_bundle=_decoded(text_at(config, "caBundle")),
        body=msgspec.json.encode(body),
        timeout=timeout,
    )


def decoded_response(response: WebhookResponse, expected: GroupVersionKind) -> JSONObject:
    """Return the review that a webhook returned; raises UndecodableResponseError with the text of client-go."""
    if response.problem:
        raise UndecodableResponseError(response.problem)
    if response.status not in _SUCCESSFUL:
        raise UndecodableResponseError(_status_problem(response))
    if not response.body:
        shown = f"status code: {response.status} and content type: {response.content_type or 'application/json'}"
        raise UndecodableResponseError(f"0-length response with {shown}")
    try:
        # Kubernetes' decoder recognizes JSON by its first character, and reads everything else as YAML.
        is_json = response.body.lstrip().startswith(b"{")
        tree, _ = parse_body(response.body, JSON_TYPE if is_json else "application/yaml", find_duplicates=False)
        found = kind_of(tree, expected)
    except DecodeError as error:
        raise UndecodableResponseError(error.message) from None
    if found != expected:
        raise UndecodableResponseError(_kind_problem(found, expected))
    return object_at(tree)


def _kind_problem(found: GroupVersionKind, expected: GroupVersionKind) -> str:
    is_status = (found.api_version, found.kind) == ("v1", "Status")
    is_review = (found.group, found.kind) == (expected.group, expected.kind) and found.version in ("v1", "v1beta1")
    if is_status or is_review:
        kinds = [f"({each.version}.{each.kind})" for each in (found, expected)]
        return f"converting {kinds[0]} to {kinds[1]}: unknown conversion"
    return f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme "{SCHEME}"'


_STATUS_PROBLEMS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_SUCCESSFUL, _SERVER_ERROR = range(200, 207), 500
_SHOWN_STATUSES = (403, 406, 415)
"""The text of the response is the message."""
_MAX_SHOWN = 2048


def _status_problem(response: WebhookResponse) -> str:
    """Describe a response that is not successful, as client-go does."""
    code = response.status
    try:
        tree: JSON = msgspec.json.decode(response.body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        tree = None
    if text_at(tree, "status") == "Failure" and text_at(tree, "kind") in ("", "Status"):
        return text_at(tree, "message")
    is_text = not response.content_type or response.content_type.startswith("text/")
    shown = response.body[:_MAX_SHOWN].decode(errors="replace").strip() if is_text else "unknown"
    if code in _STATUS_PROBLEMS:
        return _STATUS_PROBLEMS[code]
    if code in _SHOWN_STATUSES:
        return shown
    if code >= _SERVER_ERROR:
        return f"an error on the server ({quoted(shown)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except binascii.Error:
        return ""
