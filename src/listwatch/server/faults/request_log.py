"""The log of requests, for tests. Faults select requests by the same patterns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal, Self, TypedDict, Unpack, get_type_hints

import msgspec

from listwatch.errors import UsageError
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import Query, User

__all__ = ["Criteria", "LoggedRequest", "RequestLog", "RequestPattern", "RequestRecorder", "Stage"]

MAX_REQUESTS = 10_000
"""The number of requests that are kept."""

# Longer attributes are cut off, so that all entries together stay below about 30 MB.
_MAX_TEXT = 512
_MAX_QUERY = 1024
_MAX_ANNOTATION, _MAX_ANNOTATIONS = 4096, 20

VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("post", "put", "head", "options", ""),  # the verb of a non-resource request is its method
)
Stage = Literal["started", "responded", "finished"]


class Criteria(TypedDict, total=False):
    """The attributes to select requests by; `*` and `?` are wildcards, as in file names."""

    method: str
    path: str
    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    user_agent: str


_NO_ANNOTATIONS: Mapping[str, str] = MappingProxyType({})


# A struct because every request creates one, which takes a tenth of the time of a dataclass. Python's garbage collector
# does not traverse the thousands that a log keeps.
class LoggedRequest(msgspec.Struct, eq=False, gc=False):
    """A request to the server; `status` is 0 until a response is sent."""

    method: str
    path: str
    query: Query = msgspec.field(default_factory=Query)
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user: str = ""
    user_agent: str = ""
    status: int = 0
    events: int = 0
    """The number of events that a watch has sent."""
    is_finished: bool = False
    audit_annotations: Mapping[str, str] = _NO_ANNOTATIONS
    """What admission plugins added, which is part of the audit event in a real cluster."""

    @classmethod
    def _of(cls, info: RequestInfo, user: User | None, user_agent: str) -> Self:
        """Return the entry with all attributes, by which faults are selected; `_bounded` is what the log keeps."""
        return cls(
            info.method,
            info.path,
            info.query,
            info.verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            info.namespace,
            info.name,
            user.name if user else "",
            user_agent,
        )

    @classmethod
    def _of_unknown_client(cls, info: RequestInfo) -> Self:
        """Return an entry without the path and the headers of the request."""
        return cls(info.method[:_MAX_TEXT], "", verb=info.verb if info.verb in VERBS else "")

    def _bounded(self, target_length: int) -> Self:
        """Return an entry of limited size: this one, unless the target of the request or the user agent is long."""
        if target_length <= _MAX_TEXT and len(self.user_agent) <= _MAX_TEXT:
            return self
        texts = {name: getattr(self, name)[:_MAX_TEXT] for name in _TEXTS}
        query = self.query if target_length <= _MAX_QUERY else self.query.shortened(_MAX_QUERY)
        return type(self)(**texts, query=query)

    def annotate(self, annotations: Mapping[str, str]) -> None:
        """Keep the audit annotations, each of limited size."""
        if annotations:
            self.audit_annotations = {
                name[:_MAX_TEXT]: value[:_MAX_ANNOTATION] for name, value in [*annotations.items()][:_MAX_ANNOTATIONS]
            }

    def has_reached(self, stage: Stage) -> bool:
        """Whether the request has started, has a response or ended without one, or is finished."""
        match stage:
            case "started":
                return True
            case "responded":
                return bool(self.status) or self.is_finished
            case "finished":
                return self.is_finished


_TEXTS = tuple(name for name in LoggedRequest.__struct_fields__ if name in get_type_hints(Criteria))


class RequestPattern:
    """Selects the requests that match all criteria."""

    def __init__(self, **criteria: Unpack[Criteria]) -> None:
        if unknown := sorted(criteria.keys() - get_type_hints(Criteria).keys()):
            raise UsageError(f"unknown criteria {', '.join(unknown)}; requests can be selected by {_known()}")
        verb = str(criteria.get("verb", "*"))
        if not any(fnmatchcase(known, verb) for known in VERBS):
            raise UsageError(f"no request has the verb {verb!r}; the verbs are {', '.join(filter(None, VERBS))}")
        self._criteria = criteria

    def matches(self, request: LoggedRequest) -> bool:
        return all(fnmatchcase(getattr(request, name), str(wanted)) for name, wanted in self._criteria.items())

    def __str__(self) -> str:
        criteria = ", ".join(f"{name}={wanted!r}" for name, wanted in self._criteria.items())
        return f"requests with {criteria}" if criteria else "all requests"

    def __repr__(self) -> str:
        return f"<RequestPattern: {self}>"


def _known() -> str:
    return ", ".join(get_type_hints(Criteria))


class RequestRecorder:
    """Records the latest requests, and notifies subscribers when one is added or changes."""

    def __init__(self, *, max_requests: int = MAX_REQUESTS) -> None:
        self.requests: deque[LoggedRequest] = deque(maxlen=max_requests)
        self.total = 0
        self._subscribers: dict[object, Callable[[], None]] = {}

    def add(self, request: LoggedRequest) -> None:
        self.requests.append(request)
        self.total += 1
        if self._subscribers:
            self.notify()

    def notify(self) -> None:
        """Notify the subscribers of a change to a request."""
        for callback in tuple(self._subscribers.values()):
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each change; returns unsubscribe."""
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe


class RequestLog:
    """The latest requests to an API server, in the order in which they started."""

    def __init__(self, recorder: RequestRecorder) -> None:
        self._recorder = recorder

    def __repr__(self) -> str:
        return f"<RequestLog: {len(self)} of {self.total} requests>"

    @property
    def total(self) -> int:
        """The number of requests since the server was created, including those that are no longer in the log."""
        return self._recorder.total

    def __len__(self) -> int:
        return len(self._recorder.requests)

    def __iter__(self) -> Iterator[LoggedRequest]:
        # A copy, because the server may add requests meanwhile, also from another thread.
        return iter(tuple(self._recorder.requests))

    def __getitem__(self, index: int) -> LoggedRequest:
        return self._recorder.requests[index]

    def matching(self, **criteria: Unpack[Criteria]) -> list[LoggedRequest]:
        """Return the requests that match all criteria."""
        return list(filter(RequestPattern(**criteria).matches, self))

    def clear(self) -> None:
        """Remove all requests from the log; `total` does not change."""
        self._recorder.requests.clear()
