"""Every exception of listwatch. `meta` and all rooms above raise these; foreign errors are translated where they enter.

    ListWatchError
    ├── APIError                       the server answered, and its answer is no
    │   ├── BadRequestError            400
    │   ├── UnauthorizedError          401
    │   ├── ForbiddenError             403
    │   ├── NotFoundError              404
    │   ├── MethodNotAllowedError      405
    │   ├── NotAcceptableError         406
    │   ├── AlreadyExistsError         409
    │   ├── ConflictError              409
    │   ├── GoneError                  410
    │   │   └── ExpiredError           410, a resource version or continue token that is too old
    │   ├── RequestEntityTooLargeError 413
    │   ├── UnsupportedMediaTypeError  415
    │   ├── InvalidError               422
    │   ├── TooManyRequestsError       429
    │   ├── InternalServerError        500
    │   ├── ServerTimeoutError         500, the server asks to try again
    │   ├── ServiceUnavailableError    503
    │   └── RequestTimeoutError        504
    ├── TransportError                 there was no usable answer
    │   ├── ConnectError
    │   │   └── ConnectRefusedError
    │   ├── ConnectionLostError
    │   ├── TransportTimeoutError
    │   │   └── StreamIdleError
    │   ├── TLSError
    │   └── ProtocolError
    ├── ConfigError                    kubeconfig, in-cluster environment, credentials
    │   ├── NotInClusterError
    │   ├── EmptyConfigError
    │   └── CredentialError
    ├── FieldError                     an object, or one field of it
    │   ├── DecodeError                bytes are not what they should be
    │   └── EncodeError                a value cannot be written as the API writes it
    ├── MalformedError                 a text does not follow its grammar                  (also ValueError)
    │   ├── SelectorError
    │   ├── QuantityError
    │   ├── BadKeyError
    │   ├── BadNameError
    │   └── ResourceVersionError
    ├── UsageError                     the calling program asked for what cannot be
    │   ├── RequestError                                                                   (also ValueError)
    │   ├── InformerStoppedError
    │   ├── IndexConflictError
    │   ├── IndexNotFoundError                                                             (also LookupError)
    │   ├── IndexFunctionError
    │   └── TransformError
    ├── DiscoveryError                 some group-versions could not be discovered
    ├── StaleDiscoveryError            the server behind a group-version does not answer
    ├── NoMatchError                   no served resource has that name or kind
    ├── SyncTimeoutError               a cache did not fill in time                        (also TimeoutError)
    ├── WaitTimeoutError               a condition did not come true in time               (also TimeoutError)
    ├── WatchClosedError               a watch ended before what was waited for
    ├── ProgramError                   a program that was started here did not do its work
    ├── ReconcileTimeoutError          a reconcile took longer than it may                 (also TimeoutError)
    ├── PermanentError                 for programs to raise: trying again would not help
    ├── LeadershipLostError            a lease was not renewed in time, or another holds it
    └── QueueShutDownError             a queue was shut down, and nothing is left in it

Every exception keeps its message as its only positional argument and all else as attributes, so each can be copied and
pickled without help.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

_MAX_CAUSE_SHOWN = 300
_RESOURCE_VERSION_TOO_LARGE = "ResourceVersionTooLarge"
_TOO_LARGE_MESSAGE = "Too large resource version"


class ListWatchError(Exception):
    """The root: whatever listwatch raises on purpose is one of these."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


# --- The server's answer ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StatusCause:
    """One of several things that are wrong, and the field it is about."""

    reason: str = ""
    message: str = ""
    field: str = ""

    def __str__(self) -> str:
        said = self.message or self.reason
        return f"{self.field}: {said}" if self.field else said


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """The machine-readable part of a Status; `kind` holds a resource's plural in most answers, as the API does it."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class APIError(ListWatchError):
    """An answer that says no; the subclass tells the reason, and this class itself stands for reasons unknown to it."""

    code: ClassVar[int] = 0
    default_reason: ClassVar[str] = ""
    MAX_BODY: ClassVar[int] = 2048  # characters that are kept of an answer that is no Status

    def __init_subclass__(cls, *, code: int | None = None, reason: str | None = None) -> None:
        super().__init_subclass__()
        cls.code = cls.code if code is None else code
        cls.default_reason = cls.default_reason if reason is None else reason

    def __init__(
        self,
        message: str = "",
        *,
        status_code: int | None = None,
        reason: str | None = None,
        details: StatusDetails | None = None,
        retry_after: float | None = None,
        doing: str = "",
        request_id: str = "",
        body: str = "",
    ) -> None:
        super().__init__(message)
        self.status_code = self.code if status_code is None else status_code
        self.reason = self.default_reason if reason is None else reason
        self.details = details
        self.retry_after = _delay(retry_after, details)
        self.doing = doing
        self.request_id = request_id
        self.body = body[: self.MAX_BODY]

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        return self.details.causes if self.details else ()

    @property
    def resource_version_too_large(self) -> bool:
        """True if the server has not yet reached the resource version that was asked for."""
        return any(cause.reason == _RESOURCE_VERSION_TOO_LARGE for cause in self.causes)

    def __str__(self) -> str:
        answer = self.message or "the server gave no message"
        facts = ", ".join(filter(None, (self.reason, str(self.status_code or ""))))
        # The message of an Invalid answer usually spells its causes out already.
        unsaid = [_shortened(str(cause)) for cause in self.causes if (cause.message or cause.reason) not in answer]
        text = _joined(self.doing, answer) + (f" ({facts})" if facts else "")
        return _one_line(_joined(text, "; ".join(filter(None, unsaid))))


class BadRequestError(APIError, code=400, reason="BadRequest"):
    """The server could not make sense of the request."""


class UnauthorizedError(APIError, code=401, reason="Unauthorized"):
    """The server does not know who is asking; credentials are missing, wrong or out of date."""


class ForbiddenError(APIError, code=403, reason="Forbidden"):
    """The server knows who is asking and does not allow it."""

    @classmethod
    def of(cls, resource: str, name: str, why: str, *, group: str = "") -> Self:
        """For an object, or with an empty name for the resource as a whole."""
        message = f"{_subject(resource, group, name)} is forbidden: {why}"
        return cls(message, details=StatusDetails(name=name, group=group, kind=resource))


class NotFoundError(APIError, code=404, reason="NotFound"):
    """No such object, or no such resource."""

    @classmethod
    def of(cls, resource: str, name: str, *, group: str = "") -> Self:
        message = f"{_subject(resource, group, name)} not found"
        return cls(message, details=StatusDetails(name=name, group=group, kind=resource))


class MethodNotAllowedError(APIError, code=405, reason="MethodNotAllowed"):
    """The resource exists and does not support this verb."""

    @classmethod
    def of(cls, resource: str, verb: str, *, group: str = "") -> Self:
        message = f'{verb} is not supported on resources of kind "{_subject(resource, group)}"'
        return cls(message, details=StatusDetails(group=group, kind=resource))


class NotAcceptableError(APIError, code=406, reason="NotAcceptable"):
    """The server can answer in none of the formats that were asked for."""


class AlreadyExistsError(APIError, code=409, reason="AlreadyExists"):
    """An object of that name is there already."""

    @classmethod
    def of(cls, resource: str, name: str, *, group: str = "") -> Self:
        message = f"{_subject(resource, group, name)} already exists"
        return cls(message, details=StatusDetails(name=name, group=group, kind=resource))


class ConflictError(APIError, code=409, reason="Conflict"):
    """The object is not in the state that the request assumed; read it again and repeat the change."""

    MODIFIED: ClassVar[str] = (
        "the object has been modified; please apply your changes to the latest version and try again"
    )

    @classmethod
    def of(cls, resource: str, name: str, why: str = MODIFIED, *, group: str = "") -> Self:
        message = f"Operation cannot be fulfilled on {_subject(resource, group, name)}: {why}"
        return cls(message, details=StatusDetails(name=name, group=group, kind=resource))


class GoneError(APIError, code=410, reason="Gone"):
    """What was asked for existed once and is no longer available."""


class ExpiredError(GoneError, reason="Expired"):
    """A resource version or continue token is older than what the server remembers; list again."""

    continue_token: str = ""
    """With it the list goes on where it was, with what has changed since mixed in."""


class RequestEntityTooLargeError(APIError, code=413, reason="RequestEntityTooLarge"):
    """The object is larger than the server accepts."""


class UnsupportedMediaTypeError(APIError, code=415, reason="UnsupportedMediaType"):
    """The server does not read the format that was sent."""


class InvalidError(APIError, code=422, reason="Invalid"):
    """The object was understood and fails validation; the causes name the fields."""

    @classmethod
    def of(cls, kind: str, name: str, causes: Iterable[StatusCause], *, group: str = "") -> Self:
        found = tuple(causes)
        said = list(dict.fromkeys(map(str, found)))
        message = f'{_subject(kind, group)} "{name}" is invalid'
        if said:
            message += f": {said[0]}" if len(said) == 1 else f": [{', '.join(said)}]"
        return cls(message, details=StatusDetails(name=name, group=group, kind=kind, causes=found))


class TooManyRequestsError(APIError, code=429, reason="TooManyRequests"):
    """The server is busy, or a disruption budget forbids it now; try again after the delay it names."""


class InternalServerError(APIError, code=500, reason="InternalError"):
    """Something went wrong inside the server."""


class ServerTimeoutError(APIError, code=500, reason="ServerTimeout"):
    """The server understood the request and could not finish it in time; it asks to be asked again."""


class ServiceUnavailableError(APIError, code=503, reason="ServiceUnavailable"):
    """The server, or the one behind it, is not ready to serve."""


class RequestTimeoutError(APIError, code=504, reason="Timeout"):
    """The server gave up waiting; a change that was asked for may or may not have happened."""

    @classmethod
    def too_large_resource_version(cls, asked: int | str, current: int | str, *, retry_after_seconds: int = 1) -> Self:
        """The server is not there yet: somebody asked for a resource version from its future."""
        cause = StatusCause(reason=_RESOURCE_VERSION_TOO_LARGE, message=_TOO_LARGE_MESSAGE)
        details = StatusDetails(causes=(cause,), retry_after_seconds=retry_after_seconds)
        return cls(f"Timeout: {_TOO_LARGE_MESSAGE}: {asked}, current: {current}", details=details)

    @property
    def resource_version_too_large(self) -> bool:
        # Old servers send no cause of that reason; they can only be told by their words.
        in_words = _TOO_LARGE_MESSAGE in self.message or any(c.message == _TOO_LARGE_MESSAGE for c in self.causes)
        return in_words or super().resource_version_too_large


def _delay(asked: float | None, details: StatusDetails | None) -> float | None:
    # Zero in a header means at once; zero in a Status is how the API writes that nothing was asked for.
    if asked is not None and 0 <= asked < math.inf:
        return float(asked)
    return float(details.retry_after_seconds) if details and details.retry_after_seconds > 0 else None


def _subject(resource: str, group: str, name: str = "") -> str:
    qualified = f"{resource}.{group}" if group else resource
    return f'{qualified} "{name}"' if name else qualified


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CAUSE_SHOWN else f"{text[:_MAX_CAUSE_SHOWN]}…"


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _joined(*parts: str) -> str:
    """Where, then what: the parts that are known, the most general first."""
    return ": ".join(filter(None, parts))


# --- No usable answer -------------------------------------------------------------------------------------------------


class TransportError(ListWatchError):
    """The server could not be talked to; nothing is known about what it did."""

    def __init__(self, message: str = "", *, doing: str = "", host: str = "") -> None:
        super().__init__(message)
        self.doing = doing
        self.host = host

    def __str__(self) -> str:
        return _one_line(_joined(self.doing, self.host, self.message))


class ConnectError(TransportError):
    """There never was a connection, so the request was not sent."""


class ConnectRefusedError(ConnectError):
    """Nobody listens at that address."""


class ConnectionLostError(TransportError):
    """A connection was reset, broke or ended in the middle of an answer."""


class TransportTimeoutError(TransportError):
    """The server did not answer within the time this client allows."""


class StreamIdleError(TransportTimeoutError):
    """A stream has been silent for so long that its peer is taken for dead."""


class TLSError(TransportError):
    """No trust could be established between the two sides."""


class ProtocolError(TransportError):
    """What came back is not HTTP, or not the HTTP that was agreed on."""


# --- Configuration ----------------------------------------------------------------------------------------------------


class ConfigError(ListWatchError):
    """A configuration cannot be used; says in which file, entry and field."""

    def __init__(self, message: str = "", *, file: str = "", entry: str = "", field: str = "") -> None:
        super().__init__(message)
        self.file = file
        self.entry = entry
        self.field = field

    def __str__(self) -> str:
        return _one_line(_joined(self.file, self.entry, self.field, self.message))


class NotInClusterError(ConfigError):
    """This process does not run in a pod with a service account."""


class EmptyConfigError(ConfigError):
    """There is no configuration at all: no file, or files that say nothing."""


class CredentialError(ConfigError):
    """Credentials could not be obtained; never carries what a plugin, provider or token file said."""


# --- Bytes and texts --------------------------------------------------------------------------------------------------


class FieldError(ListWatchError):
    """Something is wrong with an object, or with one field of it."""

    def __init__(self, message: str = "", *, object_name: str = "", field: str = "") -> None:
        super().__init__(message)
        self.object_name = object_name
        self.field = field

    def __str__(self) -> str:
        return _one_line(_joined(self.object_name, self.field, self.message))


class DecodeError(FieldError):
    """Bytes are not what they should be."""


class EncodeError(FieldError):
    """A value cannot be written as the API writes it."""


class MalformedError(ListWatchError, ValueError):
    """A text does not follow its grammar; `text` is the whole of it."""

    def __init__(self, message: str = "", *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class SelectorError(MalformedError):
    """A label or field selector cannot be read."""


class QuantityError(MalformedError):
    """A Kubernetes quantity cannot be read or written."""


class BadKeyError(MalformedError):
    """A cache key is neither `name` nor `namespace/name`."""


class BadNameError(MalformedError):
    """An API version, kind or resource is not written as Kubernetes writes it."""


class ResourceVersionError(MalformedError):
    """A resource version cannot be compared: it is not a positive decimal number."""


# --- The calling program ----------------------------------------------------------------------------------------------


class UsageError(ListWatchError):
    """The calling program asked for something that cannot be."""


class RequestError(UsageError, ValueError):
    """A request that cannot be sent: a part is missing, given twice or not allowed."""


class InformerStoppedError(UsageError):
    """An informer was stopped already and cannot be started or changed again."""


class IndexConflictError(UsageError):
    """An index of that name exists already."""


class IndexNotFoundError(UsageError, LookupError):
    """No index has that name."""


class IndexFunctionError(UsageError):
    """An index function raised, or gave something else than texts; its `__cause__` is what it raised."""


class TransformError(UsageError):
    """A transform raised, or gave back another object; its `__cause__` is what it raised."""


# --- What did not come to pass ----------------------------------------------------------------------------------------


class DiscoveryError(ListWatchError):
    """Some group-versions could not be discovered; `failures` says why, and `found` has the others."""

    def __init__(
        self, message: str = "", *, failures: Mapping[str, Exception] | None = None, found: object = None
    ) -> None:
        super().__init__(message)
        self.failures = dict(failures or {})
        self.found = found

    def __str__(self) -> str:
        each = "; ".join(f"{group_version}: {error}" for group_version, error in sorted(self.failures.items()))
        return _one_line(_joined(self.message, each))


class StaleDiscoveryError(ListWatchError):
    """The server behind a group-version does not answer, so that what is known of it is out of date."""


class NoMatchError(ListWatchError):
    """The server serves no resource of that name or kind."""


class SyncTimeoutError(ListWatchError, TimeoutError):
    """A cache did not fill in time; carries how often it tried and what went wrong last."""

    def __init__(self, message: str = "", *, attempts: int = 0, last_error: BaseException | None = None) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.last_error = last_error

    def __str__(self) -> str:
        last = str(self.last_error or "")
        if last in self.message:  # whoever made it has said so already, or there was none
            return _one_line(self.message)
        tried = f"{self.attempts} attempts" if self.attempts != 1 else "1 attempt"
        return _one_line(f"{self.message} ({tried}; the last error was: {last})")


class WaitTimeoutError(ListWatchError, TimeoutError):
    """What was waited for did not happen in time; `last` is the last state or event that was seen."""

    def __init__(self, message: str = "", *, last: object = None) -> None:
        super().__init__(message)
        self.last = last


class WatchClosedError(ListWatchError):
    """A watch ended before what was waited for had happened."""


class ProgramError(ListWatchError):
    """A program that was started here ended, or did not get ready; the message has the end of what it said."""


class ReconcileTimeoutError(ListWatchError, TimeoutError):
    """A reconcile did not end within the time that its controller allows."""


class PermanentError(ListWatchError):
    """For a reconcile to raise: to try again would not help, until something is changed."""


class LeadershipLostError(ListWatchError):
    """This process leads no longer: what only a leader may do has to stop."""


class QueueShutDownError(ListWatchError):
    """A queue was shut down and gives out nothing more."""
