"""Builds a request step by step, and sends it.

    await rest.get().namespace("default").resource("pods").name("web-0").do()

The path is prefix/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE/suffix. The first invalid argument is raised as an
error when the request is sent, so that a chain needs no checks in between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar, get_args, overload
from urllib.parse import unquote

from listwatch.api.http_messages import (
    JSON_MEDIA_TYPE,
    BodyFilter,
    ContentType,
    HTTPRequest,
    encode_query,
    go_duration,
    is_json,
    is_protobuf,
    join_path,
    media_type,
    parameter_texts,
    sendable,
    split_uri,
)
from listwatch.api.options import ListOptions
from listwatch.client.config.client_config import is_header_value
from listwatch.client.rest.content_types import accept_protobuf, encode_object, has_protobuf
from listwatch.client.rest.result import Result
from listwatch.client.rest.sender import DEFAULT_RETRIES, RetryPolicy, Sender
from listwatch.client.rest.streams import ByteStream, WatchStream, idle_timeout_for
from listwatch.client.rest.transport_protocols import ResponseStream, WebSocket
from listwatch.errors import ListWatchError, ProtocolError, RequestError, SelectorError
from listwatch.meta import path_segment
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.writing import encode, finish, plain

__all__ = ["Body", "Request"]

T = TypeVar("T", bound=Object)

Body = bytes | Object | ObjectList[Any] | Model | Mapping[str, object] | Sequence[object] | None
"""A request body: bytes as they are, API objects, or a JSON tree."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class Request:
    """A request builder. Each step returns the request itself. It can be sent more than once."""

    def __init__(
        self,
        sender: Sender,
        method: str,
        *,
        prefix: str = "",
        timeout: float | None = None,
        group_version: str = "",
        content_type: ContentType = "json",
    ) -> None:
        self._sender = sender
        self._method = method
        self._prefix = self._own_prefix = prefix
        self._group_version = group_version
        self._content_type: ContentType = content_type
        self._namespace: str | None = None
        self._resource = ""
        self._name = ""
        self._subresource = ""
        self._suffix = ""
        self._parameters: list[tuple[str, str]] = []
        self._accept = f"{JSON_MEDIA_TYPE}, */*"
        self._headers: dict[str, str] = {}
        self._body: bytes | None = None
        self._filter: Callable[[], BodyFilter] | None = None
        self._attempt_timeout = timeout
        self._timeout: float | None = None
        self._max_retries = DEFAULT_RETRIES
        self._error: ListWatchError | None = None
        if not _TOKEN.fullmatch(method):
            self._reject(RequestError(f"{method!r} is not a valid HTTP method"))

    # --- path --------------------------------------------------------------------------------------------------------

    def namespace(self, namespace: str) -> Self:
        """The namespace; "" for all namespaces."""
        if self._namespace is None and namespace == "":
            self._namespace = ""
        else:
            self._namespace = self._part("namespace", self._namespace, namespace)
        return self

    def resource(self, resource: str) -> Self:
        """The plural of the resource, such as `pods`."""
        self._resource = self._part("resource", self._resource or None, resource) or ""
        return self

    def name(self, name: str) -> Self:
        """The name of an object."""
        self._name = self._part("name", self._name or None, name) or ""
        return self

    def subresource(self, *subresources: str) -> Self:
        """A subresource of the object, such as `status`, or a path of several segments below the object."""
        self._subresource = self._part("subresource", self._subresource or None, *subresources) or ""
        return self

    def prefix(self, *segments: str) -> Self:
        """A path between the group-version and the namespace."""
        self._prefix = self._prefix.rstrip("/") + self._path(*segments)
        return self

    def suffix(self, *segments: str) -> Self:
        """A path after everything else."""
        self._suffix += self._path(*segments)
        return self

    def abs_path(self, *segments: str) -> Self:
        """A path instead of that of the group-version, such as `/version`. A single segment keeps a final slash."""
        ends_in_slash = len(segments) == 1 and str(segments[0]).endswith("/")
        self._prefix = self._path(*segments) + ("/" if ends_in_slash else "")
        return self

    def request_uri(self, uri: str) -> Self:
        """A path with query parameters. Replaces the path of the group-version and all earlier parameters."""
        path, self._parameters = split_uri(uri)
        return self.abs_path(path)

    # --- content -----------------------------------------------------------------------------------------------------

    def param(self, name: str, value: str | int | Sequence[str] | None) -> Self:
        """Add a query parameter; one of the same name is kept. None adds nothing."""
        try:
            self._parameters += [(sendable(name), text) for text in parameter_texts(value)]
        except RequestError as error:
            self._reject(RequestError(f"{name}: {error}"))
        return self

    def params(self, values: Mapping[str, str | int | Sequence[str] | None]) -> Self:
        """Add several query parameters."""
        for name, value in values.items():
            self.param(name, value)
        return self

    def options(self, options: ListOptions) -> Self:
        """Add the query parameters of list or watch options."""
        try:
            return self.params(options.parameters())
        except SelectorError as error:
            self._reject(error)
            return self

    def header(self, name: str, value: str) -> Self:
        """Set a header."""
        if _TOKEN.fullmatch(name) and is_header_value(value):
            self._headers["-".join(part.capitalize() for part in name.split("-"))] = value
        else:
            self._reject(
                RequestError(f"the header {name!r} is invalid: its name must be a token, its value printable text")
            )
        return self

    def content_type(self, content_type: ContentType) -> Self:
        """The format of objects, `json` or `protobuf`, instead of the client's; set it before the body.

        Resources without protobuf, such as custom ones, are read as JSON in any case.
        """
        if content_type in get_args(ContentType):
            self._content_type = content_type
        else:
            self._reject(RequestError(f"the content type must be 'json' or 'protobuf', not {content_type!r}"))
        return self

    def body(self, body: Body) -> Self:
        """Set the body. Bytes are sent as they are, everything else as JSON; None changes nothing.

        If the content type is protobuf, objects are sent as protobuf, unless it cannot represent all of their fields.
        """
        if body is None:
            return self
        media_type = JSON_MEDIA_TYPE
        try:
            if isinstance(body, Object) and "Content-Type" not in self._headers:
                self._body, media_type = encode_object(body, prefers_protobuf=self._content_type == "protobuf")
            else:
                self._body = _encode(body)
        except ListWatchError as error:
            self._reject(error)
        self._headers.setdefault("Content-Type", media_type)
        return self

    # --- timeout and retries -----------------------------------------------------------------------------------------

    def timeout(self, seconds: float) -> Self:
        """The timeout for all attempts together and the delays between them, which is sent to the server too.

        For streams and watches it covers only the time until the response starts.
        """
        if type(seconds) in (int, float) and 0 < seconds < math.inf:
            self._timeout = float(seconds)
        else:
            self._reject(RequestError(f"the timeout must be a positive number of seconds, not {seconds!r}"))
        return self

    def max_retries(self, retries: int) -> Self:
        """How often the request may be sent again; 0 is never."""
        self._max_retries = max(retries, 0)
        return self

    # --- sending -----------------------------------------------------------------------------------------------------

    async def do(self) -> Result:
        """Send the request and read the whole response. Raises the error of an unsuccessful response."""
        self._check_namespace()
        request = self.build()
        response, warnings = await self._sender.do(request, self._retry_policy())
        return Result(request, response, warnings)

    async def do_raw(self) -> bytes:
        """Send the request and return the body of the response."""
        return (await self.do()).raw

    def stream(self, *, idle_timeout: float | None = None) -> ByteStream:
        """Read the body of the response as it arrives. A read that waits for longer than `idle_timeout` fails."""

        async def open_stream() -> ResponseStream:
            stream = await self._open_stream()
            if idle_timeout is not None:
                stream.set_idle_timeout(idle_timeout)
            return stream

        return ByteStream(open_stream)

    async def _open_stream(self) -> ResponseStream:
        return await self._sender.open_stream(self.build(), self._retry_policy())

    async def _open_web_socket(self, *protocols: str) -> WebSocket:
        """Open a WebSocket with the first of these subprotocols that the server supports."""
        self._check_namespace()
        self._headers["Sec-WebSocket-Protocol"] = ",".join(protocols)
        return await self._sender.open_web_socket(self.build(), self._retry_policy())

    @overload
    def watch(self, *, idle_timeout: float | None = None) -> WatchStream[Unstructured]: ...
    @overload
    def watch(self, kind: type[T], *, idle_timeout: float | None = None) -> WatchStream[T]: ...
    def watch(self, kind: type[Any] = Unstructured, *, idle_timeout: float | None = None) -> WatchStream[Any]:
        """Read the events of a watch.

        A read that waits for longer than `idle_timeout` fails; the default depends on timeoutSeconds.
        """
        parameters = dict(self._parameters)
        if "watch" not in parameters:
            self.param("watch", True)
        if idle_timeout is None:
            timeout = parameters.get("timeoutSeconds", "")
            idle_timeout = idle_timeout_for(float(timeout) if timeout.isdecimal() else None)
        return WatchStream(
            ByteStream(self._open_watch),
            kind,
            idle_timeout=idle_timeout,
            initial_events=parameters.get("sendInitialEvents") == "true",
            doing=self._describe(),
        )

    async def _open_watch(self) -> ResponseStream:
        stream = await self._sender.open_watch(self.build(), self._retry_policy())
        return _check_format(stream, self._describe())

    def build(self) -> HTTPRequest:
        """Return the request as it is sent. Raises the error of the first invalid argument."""
        if self._error:
            raise self._error
        accept = accept_protobuf(self._accept) if self._reads_protobuf() else self._accept
        return HTTPRequest(self._method, self._target(), {"Accept": accept, **self._headers}, self._body, self._filter)

    def __repr__(self) -> str:
        return f"<Request {self._method} {self._target()}>"

    # --- inside ------------------------------------------------------------------------------------------------------

    def _accepting(self, accept: str) -> Self:
        """Set the media types of the response as JSON, to which the content type adds those of protobuf."""
        self._accept = accept or self._accept
        return self

    def _filtered_by(self, body_filter: Callable[[], BodyFilter]) -> Self:
        """Filter the body of the response while it arrives; the function is called for each attempt."""
        self._filter = body_filter
        return self

    def _reads_protobuf(self) -> bool:
        # A path that the caller has written may be anything.
        is_resource = self._prefix == self._own_prefix and not self._suffix
        return (
            self._content_type == "protobuf"
            and is_resource
            and has_protobuf(self._group_version, self._resource.lower(), self._subresource)
        )

    def _target(self) -> str:
        """Path and query, percent-encoded."""
        namespace = f"namespaces/{self._namespace}" if self._namespace else ""
        below = "/".join(filter(None, (namespace, self._resource.lower(), self._name, self._subresource)))
        path = f"{self._prefix.rstrip('/')}/{below}" if below else self._prefix
        path = path.rstrip("/") + self._suffix if self._suffix else path
        parameters = [*self._parameters, ("timeout", go_duration(self._timeout))] if self._timeout else self._parameters
        return f"{path}?{encode_query(parameters)}" if parameters else path

    def _describe(self) -> str:
        """Method and path, for messages."""
        return f"{self._method} {self._target().partition('?')[0] or '/'}"

    def _reject(self, error: ListWatchError) -> None:
        self._error = self._error or error

    def _part(self, what: str, present: str | None, *given: str) -> str | None:
        """Return a part of the path, encoded. It can be set once; an invalid one changes nothing."""
        try:
            if present is not None:
                new = "/".join(map(str, given))
                raise RequestError(f"the {what} is already {unquote(present)!r} and cannot be set to {new!r}")
            if not given or not all(isinstance(each, str) for each in given):
                raise RequestError(f"the {what} must be a string, not {', '.join(map(repr, given)) or 'missing'}")
            return "/".join([path_segment(each, what) for each in given])
        except RequestError as error:
            self._reject(error)
            return present

    def _path(self, *segments: str) -> str:
        try:
            return join_path(*segments)
        except RequestError as error:
            self._reject(error)
            return ""

    def _check_namespace(self) -> None:
        if self._namespace != "":
            return
        if self._method == "POST":
            self._reject(RequestError("the namespace is empty; an object is created in one namespace"))
        if self._name and self._method in ("GET", "PUT", "DELETE"):
            self._reject(RequestError(f"the namespace is empty; set the namespace of {unquote(self._name)!r}"))

    def _retry_policy(self) -> RetryPolicy:
        if self._timeout is None:
            return RetryPolicy(self._attempt_timeout, self._max_retries)
        return RetryPolicy(self._timeout, self._max_retries, covers_retries=True)


def _encode(body: object) -> bytes:
    match body:
        case bytes():
            return body
        case Object() | ObjectList():
            return body.to_json()
        case Model():
            return encode(body.to_dict(), what=type(body).__name__)
        case Mapping() | list() | tuple():
            return encode(finish(plain(body, what="the body"), Any, what="the body"), what="the body")
        case _:
            raise RequestError(f"a {type(body).__name__} cannot be sent; pass bytes, an API object or a dict")


def _check_format(stream: ResponseStream, doing: str) -> ResponseStream:
    if is_json(stream.headers) or is_protobuf(stream.headers):
        return stream
    stream.close()
    found = media_type(stream.headers)
    raise ProtocolError(f"the server sent a watch as {found!r}; only JSON and protobuf are supported", doing=doing)
