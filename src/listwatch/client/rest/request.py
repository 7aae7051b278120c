"""Builds a request step by step, and sends it.

    await rest.get().namespace("default").resource("pods").name("web-0").do()

Its path is prefix/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE/suffix. The first mistake is kept and raised when the
request is sent, so that a chain needs no checks in between. `sender` does the sending.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar, overload
from urllib.parse import unquote

from listwatch.api.requests import (
    HTTPRequest,
    encode_query,
    go_duration,
    join_path,
    parameter_texts,
    sendable,
    split_uri,
)
from listwatch.api.responses import is_json, media_type
from listwatch.client.config.client_config import is_header_value
from listwatch.client.rest.byte_stream import ByteStream
from listwatch.client.rest.result import Result
from listwatch.client.rest.retry import DEFAULT_RETRIES
from listwatch.client.rest.sender import Effort, Sender, Stream
from listwatch.client.rest.watch_stream import WatchStream, patience_for
from listwatch.errors import ListWatchError, ProtocolError, RequestError
from listwatch.meta import path_segment
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.writing import encode, finish, plain

__all__ = ["Body", "Request"]

T = TypeVar("T", bound=Object)

Body = bytes | Object | ObjectList[Any] | Model | Mapping[str, Any] | Sequence[Any] | None
"""What can be sent: JSON or other bytes as they are, API objects, or a tree of wire names."""

_JSON = "application/json"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class Request:
    """A request in the making; each step returns it, and it can be sent more than once."""

    def __init__(self, sender: Sender, method: str, *, prefix: str = "", timeout: float | None = None) -> None:
        self._sender = sender
        self._method = method
        self._prefix = prefix
        self._namespace: str | None = None
        self._resource = ""
        self._name = ""
        self._subresource = ""
        self._suffix = ""
        self._parameters: list[tuple[str, str]] = []
        self._headers = {"Accept": f"{_JSON}, */*"}
        self._body: bytes | None = None
        self._try_timeout = timeout
        self._timeout: float | None = None
        self._max_retries = DEFAULT_RETRIES
        self._mistake: ListWatchError | None = None
        if not _TOKEN.fullmatch(method):
            self._wrong(RequestError(f"{method!r} cannot be an HTTP method"))

    # --- where -------------------------------------------------------------------------------------------------------

    def namespace(self, namespace: str) -> Self:
        """In this namespace; "" stands for all of them."""
        if self._namespace is None and namespace == "":
            self._namespace = ""
        else:
            self._namespace = self._part("namespace", self._namespace, namespace)
        return self

    def resource(self, resource: str) -> Self:
        """The plural, as `pods`."""
        self._resource = self._part("resource", self._resource or None, resource) or ""
        return self

    def name(self, name: str) -> Self:
        """Of one object."""
        self._name = self._part("name", self._name or None, name) or ""
        return self

    def subresource(self, *subresources: str) -> Self:
        """Of that object, as `status`; or a path below it, in several parts."""
        self._subresource = self._part("subresource", self._subresource or None, *subresources) or ""
        return self

    def prefix(self, *segments: str) -> Self:
        """Something between the group-version and all the rest."""
        self._prefix = self._prefix.rstrip("/") + self._path(*segments)
        return self

    def suffix(self, *segments: str) -> Self:
        """Something after all the rest."""
        self._suffix += self._path(*segments)
        return self

    def abs_path(self, *segments: str) -> Self:
        """A path in place of the group-version's, as `/version`; a slash at the end of a single segment stays."""
        ends_in_slash = len(segments) == 1 and str(segments[0]).endswith("/")
        self._prefix = self._path(*segments) + ("/" if ends_in_slash else "")
        return self

    def request_uri(self, uri: str) -> Self:
        """A path with parameters, in place of the group-version's and of any given before."""
        path, self._parameters = split_uri(uri)
        return self.abs_path(path)

    # --- what --------------------------------------------------------------------------------------------------------

    def param(self, name: str, value: str | int | Sequence[str] | None) -> Self:
        """A query parameter, added to those of the same name; None is none."""
        try:
            self._parameters += [(sendable(name), text) for text in parameter_texts(value)]
        except RequestError as mistake:
            self._wrong(RequestError(f"{name}: {mistake}"))
        return self

    def params(self, values: Mapping[str, Any]) -> Self:
        """Several query parameters."""
        for name, value in values.items():
            self.param(name, value)
        return self

    def header(self, name: str, value: str) -> Self:
        """A header, in place of one of the same name."""
        if _TOKEN.fullmatch(name) and is_header_value(value):
            self._headers["-".join(part.capitalize() for part in name.split("-"))] = value
        else:
            self._wrong(RequestError(f"the header {name!r} cannot be sent: it must be text without line breaks"))
        return self

    def body(self, body: Body) -> Self:
        """What to send; None is nothing, and anything but bytes is sent as JSON."""
        if body is None:
            return self
        try:
            self._body = _encoded(body)
        except ListWatchError as mistake:
            self._wrong(mistake)
        self._headers.setdefault("Content-Type", _JSON)
        return self

    # --- how hard to try ---------------------------------------------------------------------------------------------

    def timeout(self, seconds: float) -> Self:
        """For all tries together, of which the server is told as well; for a stream or a watch, until it begins."""
        if type(seconds) in (int, float) and 0 < seconds < math.inf:
            self._timeout = float(seconds)
        else:
            self._wrong(RequestError(f"the timeout must be a number of seconds above zero, not {seconds!r}"))
        return self

    def max_retries(self, retries: int) -> Self:
        """How often it is sent again, where that makes sense; 0 is never."""
        self._max_retries = max(retries, 0)
        return self

    # --- sending -----------------------------------------------------------------------------------------------------

    async def do(self) -> Result:
        """Send it and wait for the whole answer; one that says no is raised."""
        self._check_namespace()
        request = self.build()
        answer, warnings = await self._sender.do(request, self._effort(in_all=True))
        return Result(request, answer, warnings)

    async def do_raw(self) -> bytes:
        """The body of the answer."""
        return (await self.do()).raw

    def stream(self, *, idle_timeout: float | None = None) -> ByteStream:
        """The body of the answer as it comes; with an idle timeout, silence for so long is an error."""

        async def opened() -> Stream:
            stream = await self.open_stream()
            if idle_timeout is not None:
                stream.set_idle_timeout(idle_timeout)
            return stream

        return ByteStream(opened)

    async def open_stream(self) -> Stream:
        """What `stream` reads, for those who make a ByteStream before they know what to ask for."""
        return await self._sender.open_stream(self.build(), self._effort(in_all=False))

    @overload
    def watch(self, *, idle_timeout: float | None = None) -> WatchStream[Unstructured]: ...
    @overload
    def watch(self, kind: type[T], *, idle_timeout: float | None = None) -> WatchStream[T]: ...
    def watch(self, kind: type[Any] = Unstructured, *, idle_timeout: float | None = None) -> WatchStream[Any]:
        """The events of a watch; silence for longer than its own timeout, or the idle timeout, is an error."""
        if "watch" not in dict(self._parameters):
            self.param("watch", True)
        patience = self._patience() if idle_timeout is None else idle_timeout
        initial = dict(self._parameters).get("sendInitialEvents") == "true"
        return WatchStream(ByteStream(self.open_watch), kind, patience=patience, initial=initial, doing=self.describe())

    async def open_watch(self) -> Stream | None:
        """What `watch` reads, for those who make a WatchStream before they know what to ask for."""
        stream = await self._sender.open_watch(self.build(), self._effort(in_all=False))
        return None if stream is None else _watchable(stream, self.describe())

    def build(self) -> HTTPRequest:
        """The request as it is sent; raises the first mistake that was made."""
        if self._mistake:
            raise self._mistake
        return HTTPRequest(self._method, self.target, dict(self._headers), self._body)

    @property
    def target(self) -> str:
        """Path and query, percent-encoded, below the server's own URL."""
        namespace = f"namespaces/{self._namespace}" if self._namespace else ""
        below = "/".join(filter(None, (namespace, self._resource.lower(), self._name, self._subresource)))
        path = f"{self._prefix.rstrip('/')}/{below}" if below else self._prefix
        path = path.rstrip("/") + self._suffix if self._suffix else path
        parameters = [*self._parameters, ("timeout", go_duration(self._timeout))] if self._timeout else self._parameters
        return f"{path}?{encode_query(parameters)}" if parameters else path

    def describe(self) -> str:
        """Method and path, for messages."""
        return f"{self._method} {self.target.partition('?')[0] or '/'}"

    def __repr__(self) -> str:
        return f"<Request {self._method} {self.target}>"

    # --- inside ------------------------------------------------------------------------------------------------------

    def _wrong(self, mistake: ListWatchError) -> None:
        self._mistake = self._mistake or mistake

    def _part(self, what: str, present: str | None, *given: str) -> str | None:
        """A part of the path as it is sent; it can be given once, and what is wrong with it leaves it as it was."""
        try:
            if present is not None:
                asked = "/".join(map(str, given))
                raise RequestError(f"the {what} is {unquote(present)!r} already and cannot become {asked!r}")
            if not given or not all(isinstance(each, str) for each in given):
                raise RequestError(f"the {what} must be text, not {', '.join(map(repr, given)) or 'nothing'}")
            return "/".join([path_segment(each, what) for each in given])
        except RequestError as mistake:
            self._wrong(mistake)
            return present

    def _path(self, *segments: str) -> str:
        try:
            return join_path(*segments)
        except RequestError as mistake:
            self._wrong(mistake)
            return ""

    def _check_namespace(self) -> None:
        if self._namespace != "":
            return
        if self._method == "POST":
            self._wrong(RequestError("an object is created in one namespace, and the namespace is empty"))
        if self._name and self._method in ("GET", "PUT", "DELETE"):
            self._wrong(RequestError(f"{unquote(self._name)!r} is in one namespace, and the namespace is empty"))

    def _effort(self, *, in_all: bool) -> Effort:
        if self._timeout is None:
            return Effort(self._try_timeout, self._max_retries)
        return Effort(self._timeout, self._max_retries, in_all=in_all)

    def _patience(self) -> float:
        asked = dict(self._parameters).get("timeoutSeconds", "")
        return patience_for(float(asked) if asked.isdecimal() else None)


def _encoded(body: Any) -> bytes:
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
            raise RequestError(f"a {type(body).__name__} cannot be sent; give bytes, an API object or a dict")


def _watchable(stream: Stream, doing: str) -> Stream:
    if is_json(stream.headers):
        return stream
    stream.close()
    raise ProtocolError(
        f"a watch was expected in JSON, and the server sends {media_type(stream.headers)!r}", doing=doing
    )
