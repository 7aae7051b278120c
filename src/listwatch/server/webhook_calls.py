"""Makes the call of a webhook from its client configuration, for admission and for conversion."""

from __future__ import annotations

import base64
import binascii

import msgspec

from listwatch.errors import StatusDetails, TooManyRequestsError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import object_at, text_at
from listwatch.server.requests import WebhookCall, WebhookResponse

__all__ = ["ResponseBudget", "UndecodableResponseError", "decoded_response", "webhook_call"]


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


def decoded_response(response: WebhookResponse) -> JSON:
    """Return the JSON that a webhook returned; raises UndecodableResponseError."""
    if response.problem:
        raise UndecodableResponseError(response.problem)
    try:
        tree: JSON = msgspec.json.decode(response.body)
    except (msgspec.DecodeError, RecursionError):
        shown = response.body[:100].decode(errors="replace")
        why = f"couldn't get version/kind; json parse error: invalid character in {shown!r}"
        raise UndecodableResponseError(why) from None
    return tree


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except binascii.Error:
        return ""
