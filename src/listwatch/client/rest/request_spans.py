"""The attributes of the span of a request: those of the semantic conventions for HTTP, and the names of the object.

Queries, headers and bodies are left out: the command of an exec, for example, is in the query.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, is_success
from listwatch.api.request_paths import PathParts, parse_path
from listwatch.client.rest.transport_protocols import ResponseStream, WebSocket
from listwatch.client.rest.write_observer import uid_of_deleted
from listwatch.errors import ListWatchError, TransportError
from listwatch.objects.unstructured import Unstructured

if TYPE_CHECKING:
    from listwatch.tracing.spans import Span, Tracing

__all__ = ["record_outcome", "request_attributes", "span_name"]

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}


def request_attributes(
    request: HTTPRequest, server: str, *, is_watch: bool, resends: int
) -> dict[str, str | int | float | bool]:
    """The attributes of a request before it is sent."""
    path = request.target.partition("?")[0]
    parts, (base_url, address, port) = parse_path(path), _address(server)
    attributes: dict[str, str | int | float | bool] = {
        "http.request.method": request.method,
        "url.full": base_url + path,
        "url.template": parts.template,
        "server.address": address,
        "server.port": port,
        "http.request.body.size": len(request.body or b""),
        "k8s.namespace.name": parts.namespace,
        "listwatch.verb": _verb(request.method, parts, is_watch=is_watch) if parts.resource else "",
        "listwatch.resource": f"{parts.resource}.{parts.group}" if parts.group else parts.resource,
        "listwatch.subresource": parts.subresource,
        "listwatch.object.name": parts.name,
        "http.request.resend_count": resends,
    }
    optional = ("http.request.resend_count", "http.request.body.size")
    return {name: value for name, value in attributes.items() if value or (value == 0 and name not in optional)}


@lru_cache(maxsize=64)
def _address(server: str) -> tuple[str, str, int]:
    """The URL of a server without user and password, its host and its port."""
    url = urlsplit(server)
    host = url.netloc.rpartition("@")[2]
    return f"{url.scheme}://{host}{url.path}", url.hostname or "", url.port or (443 if url.scheme == "https" else 80)


def _verb(method: str, parts: PathParts, *, is_watch: bool) -> str:
    if is_watch:
        return "watch"
    if not parts.name and method in ("GET", "DELETE"):
        return "list" if method == "GET" else "deletecollection"
    return _VERBS.get(method, method.lower())


def span_name(method: str, attributes: dict[str, str | int | float | bool]) -> str:
    """Method and path with placeholders, so that there are few different names."""
    return f"{method} {attributes['url.template']}" if "url.template" in attributes else method


def record_outcome(
    tracing: Tracing,
    span: Span,
    request: HTTPRequest,
    outcome: HTTPResponse | ResponseStream | WebSocket | TransportError,
) -> None:
    """Add the response to the span; remember the span if the request has written an object."""
    if isinstance(outcome, TransportError):
        tracing.fail(span, outcome, record=False)
        return
    span.set_attribute("http.response.status_code", outcome.status)
    if outcome.status >= 400:
        tracing.fail_with_status(span, outcome.status)
    if not isinstance(outcome, HTTPResponse):
        return
    span.set_attribute("http.response.body.size", outcome.size)
    is_write = request.method not in ("GET", "HEAD") and "dryRun=" not in request.target
    if is_write and is_success(outcome.status):
        _remember(tracing, span, outcome, is_deletion=request.method == "DELETE")


def _remember(tracing: Tracing, span: Span, response: HTTPResponse, *, is_deletion: bool) -> None:
    try:
        written = Unstructured.from_wire(response.body)
        if written.kind == "Status":
            tracing.remember_write(span, uid_of_deleted(written), "", deletes=is_deletion)
        else:
            deletes = is_deletion or written.metadata.deletion_timestamp is not None
            tracing.remember_write(span, written.uid, written.resource_version, deletes=deletes)
    except ListWatchError:
        return  # an unreadable response is an error for the caller of the client
