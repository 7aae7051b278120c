"""What was asked of the server, kept for tests to look at. `faults` picks requests by the same patterns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, Self, TypedDict, Unpack, get_type_hints

import msgspec

from listwatch.errors import UsageError
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import Query, User

__all__ = ["Criteria", "LoggedRequest", "RequestLog", "RequestPattern", "Stage"]

MAX_REQUESTS = 10_000
"""How many requests are remembered."""


VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("post", "put", "head", "options", ""),  # where there is no resource, the verb is the method
)
Stage = Literal["begun", "responded", "finished"]


class Criteria(TypedDict, total=False):
    """What requests can be picked by: texts, in which `*` and `?` stand for anything, as in file names."""

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


# A struct, not a dataclass: every request makes one, and it is made in a tenth of the time.
class LoggedRequest(msgspec.Struct, eq=False):
    """A request, and what became of it: `status` is 0 until an answer begins, and stays so where none came."""

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
    """How many events a watch has sent."""
    is_finished: bool = False

    @classmethod
    def of(cls, info: RequestInfo, user: User | None, user_agent: str) -> Self:
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

    def has_come(self, stage: Stage) -> bool:
        """Whether it is there, was answered, as far as it ever will be, or is over."""
        match stage:
            case "begun":
                return True
            case "responded":
                return bool(self.status) or self.is_finished
            case "finished":
                return self.is_finished


class RequestPattern:
    """Some of all requests: those that meet every criterion."""

    def __init__(self, **criteria: Unpack[Criteria]) -> None:
        if unknown := sorted(criteria.keys() - get_type_hints(Criteria).keys()):
            raise UsageError(f"requests cannot be picked by {', '.join(unknown)}; there are {_known()}")
        verb = str(criteria.get("verb", "*"))
        if not any(fnmatchcase(known, verb) for known in VERBS):
            raise UsageError(f"no request has the verb {verb!r}; there are {', '.join(VERBS)}")
        self._criteria = criteria

    def matches(self, request: LoggedRequest) -> bool:
        return all(fnmatchcase(getattr(request, name), str(wanted)) for name, wanted in self._criteria.items())

    def __repr__(self) -> str:
        return ", ".join(f"{name}={wanted!r}" for name, wanted in self._criteria.items()) or "any"


def _known() -> str:
    return ", ".join(get_type_hints(Criteria))


class RequestLog:
    """The latest requests, in the order in which they came; those who subscribe hear of every change."""

    def __init__(self, *, max_requests: int = MAX_REQUESTS) -> None:
        self._requests: deque[LoggedRequest] = deque(maxlen=max_requests)
        self._subscribers: dict[object, Callable[[], None]] = {}
        self.total = 0

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[LoggedRequest]:
        # A copy, so that the server may go on while somebody reads, from another thread too.
        return iter(tuple(self._requests))

    def __getitem__(self, index: int) -> LoggedRequest:
        return self._requests[index]

    def matching(self, **criteria: Unpack[Criteria]) -> list[LoggedRequest]:
        return list(filter(RequestPattern(**criteria).matches, self))

    def clear(self) -> None:
        self._requests.clear()

    # What the server does with it

    def add(self, request: LoggedRequest) -> None:
        self._requests.append(request)
        self.total += 1
        self.changed()

    def changed(self) -> None:
        """Tell the subscribers that something became of a request."""
        for callback in tuple(self._subscribers.values()):
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each change; returns what ends that."""
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe
