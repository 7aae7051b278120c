"""Every exception of listwatch. Errors of other libraries are translated where they enter.

    ListWatchError
    ├── APIError                       the server responded with an error
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
    │   ├── ServerTimeoutError         500, the request can be retried
    │   ├── ServiceUnavailableError    503
    │   └── RequestTimeoutError        504
    ├── TransportError                 no usable response was received
    │   ├── ConnectError
    │   │   └── ConnectRefusedError
    │   ├── ConnectionLostError
    │   │   └── ExitCodeLostError      the connection to a command ended before its exit code arrived
    │   ├── TransportTimeoutError
    │   │   └── StreamIdleError
    │   ├── TLSError
    │   ├── ResponseTooLargeError      a response or an event exceeds a limit of the ClientConfig
    │   └── ProtocolError
    ├── ConfigError                    kubeconfig, in-cluster environment, credentials
    │   ├── NotInClusterError
    │   ├── EmptyConfigError
    │   └── CredentialError
    ├── FieldError                     an object, or one field of it
    │   ├── DecodeError                bytes cannot be decoded
    │   └── EncodeError                a value cannot be encoded
    ├── MalformedError                 a string does not follow its grammar                (also ValueError)
    │   ├── SelectorError
    │   ├── QuantityError
    │   ├── BadKeyError
    │   ├── BadNameError
    │   └── ResourceVersionError
    ├── UsageError                     the caller used the API incorrectly
    │   ├── RequestError                                                                   (also ValueError)
    │   ├── InformerStoppedError
    │   ├── IndexConflictError
    │   ├── IndexNotFoundError                                                             (also LookupError)
    │   ├── IndexFunctionError
    │   └── TransformError
    ├── DiscoveryError                 some group-versions could not be discovered
    ├── StaleDiscoveryError            the server behind a group-version does not respond
    ├── NoMatchError                   no served resource has that name or kind
    ├── SyncTimeoutError               a cache did not sync in time                        (also TimeoutError)
    ├── WaitTimeoutError               a condition was not met in time                     (also TimeoutError)
    ├── WatchClosedError               a watch ended before the awaited event
    ├── ProgramError                   a child process failed
    ├── CommandFailedError             a command in a container ended with an exit code other than 0
    ├── CommandTimeoutError            a command in a container did not end in time        (also TimeoutError)
    ├── PortForwardError               a port of a pod cannot be connected to
    ├── UnsafeArchiveError             an archive from a container must not be extracted
    ├── SettingsError                  settings in a ConfigMap or Secret are missing or invalid
    ├── ReconcileTimeoutError          a reconcile exceeded its timeout                    (also TimeoutError)
    ├── PermanentError                 raised by reconcilers: retrying would not help
    ├── DeniedError                    raised by admission functions: the request is rejected
    ├── LeadershipLostError            a lease was not renewed in time, or another holds it
    ├── QueueShutDownError             a queue was shut down and is empty
    ├── ClusterNotFoundError           a manager of several clusters has none of this name
    ├── ShardLostError                 a write was not sent: its shard belongs to another replica
    └── ShardConfigError               a replica cannot take part in its shard group

The message is the only positional argument and everything else is an attribute, so that each exception can be copied
and pickled.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

_MAX_CAUSE_SHOWN = 300
_RESOURCE_VERSION_TOO_LARGE = "ResourceVersionTooLarge"
_TOO_LARGE_MESSAGE = "Too large resource version"


class ListWatchError(Exception):
    """The base class of all exceptions that listwatch raises."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


# --- Error responses --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StatusCause:
    """One cause of an error, and the field that it concerns."""

    reason: str = ""
    message: str = ""
    field: str = ""

    def __str__(self) -> str:
        text = self.message or self.reason
        return f"{self.field}: {text}" if self.field else text


@dataclass(frozen=True, slots=True)
class StatusDetails:
    """The machine-readable part of a Status. As in the API, `kind` is mostly the plural of the resource."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class APIError(ListWatchError):
    """An error response. Each known reason has a subclass; this class is for all others."""

    code: ClassVar[int] = 0
    default_reason: ClassVar[str] = ""
    MAX_BODY: ClassVar[int] = 2048  # characters kept of a response that is no Status

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
        """True if the server has not yet reached the requested resource version."""
        return any(cause.reason == _RESOURCE_VERSION_TOO_LARGE for cause in self.causes)

    def __str__(self) -> str:
        message = self.message or "the server sent no message"
        facts = ", ".join(filter(None, (self.reason, str(self.status_code or ""))))
        # The message of an Invalid response usually contains its causes already.
        missing = [_shortened(str(cause)) for cause in self.causes if (cause.message or cause.reason) not in message]
        text = _joined(self.doing, message) + (f" ({facts})" if facts else "")
        return _one_line(_joined(text, "; ".join(filter(None, missing))))


class BadRequestError(APIError, code=400, reason="BadRequest"):
    """The server could not understand the request."""

    selector: str = ""
    """The selector that the server rejects, such as `field_selector='spec.a=b'`; empty if it rejects something else."""

    def __str__(self) -> str:
        return f"{super().__str__()}; the server rejects {self.selector}" if self.selector else super().__str__()


class UnauthorizedError(APIError, code=401, reason="Unauthorized"):
    """The request was not authenticated: credentials are missing, wrong or expired."""

    credential: str = ""
    """Which credential the client sent, and where it came from; never the credential itself. Empty if unknown."""

    def __str__(self) -> str:
        return f"{super().__str__()}; the client sent {self.credential}" if self.credential else super().__str__()


class ForbiddenError(APIError, code=403, reason="Forbidden"):
    """The user is not allowed to do this."""

    @classmethod
    def of(cls, resource: str, name: str, why: str, *, group: str = "") -> Self:
        """For an object, or for the whole resource if the name is empty."""
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
    """The server supports none of the requested response formats."""


class AlreadyExistsError(APIError, code=409, reason="AlreadyExists"):
    """An object of that name already exists."""

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
    """The requested data is no longer available."""


class ExpiredError(GoneError, reason="Expired"):
    """A resource version or continue token has expired on the server; list again."""

    continue_token: str = ""
    """Continues the list at the same key, at a newer resource version."""


class RequestEntityTooLargeError(APIError, code=413, reason="RequestEntityTooLarge"):
    """The object is larger than the server accepts."""


class UnsupportedMediaTypeError(APIError, code=415, reason="UnsupportedMediaType"):
    """The server does not support the format of the request body."""


class InvalidError(APIError, code=422, reason="Invalid"):
    """The object failed validation; the causes name the fields."""

    @classmethod
    def of(cls, kind: str, name: str, causes: Iterable[StatusCause], *, group: str = "") -> Self:
        found = tuple(causes)
        texts = list(dict.fromkeys(map(str, found)))
        message = f"{_subject(kind, group)} {_quoted(name)} is invalid"
        if texts:
            message += f": {texts[0]}" if len(texts) == 1 else f": [{', '.join(texts)}]"
        return cls(message, details=StatusDetails(name=name, group=group, kind=kind, causes=found))


class TooManyRequestsError(APIError, code=429, reason="TooManyRequests"):
    """The server throttles requests, or a disruption budget does not allow it now; retry after `retry_after`."""


class InternalServerError(APIError, code=500, reason="InternalError"):
    """The server failed internally."""


class ServerTimeoutError(APIError, code=500, reason="ServerTimeout"):
    """The server could not finish the request in time; retry it."""


class ServiceUnavailableError(APIError, code=503, reason="ServiceUnavailable"):
    """The server, or a server behind it, is not ready."""


class RequestTimeoutError(APIError, code=504, reason="Timeout"):
    """The request timed out in the server; a write may or may not have happened."""

    @classmethod
    def too_large_resource_version(
        cls, requested: int | str, current: int | str, *, retry_after_seconds: int = 1
    ) -> Self:
        """The requested resource version is newer than the server's current one."""
        cause = StatusCause(reason=_RESOURCE_VERSION_TOO_LARGE, message=_TOO_LARGE_MESSAGE)
        details = StatusDetails(causes=(cause,), retry_after_seconds=retry_after_seconds)
        return cls(f"Timeout: {_TOO_LARGE_MESSAGE}: {requested}, current: {current}", details=details)

    @property
    def resource_version_too_large(self) -> bool:
        # Old servers send no cause with that reason, only the message.
        in_message = _TOO_LARGE_MESSAGE in self.message or any(c.message == _TOO_LARGE_MESSAGE for c in self.causes)
        return in_message or super().resource_version_too_large


def _delay(requested: float | None, details: StatusDetails | None) -> float | None:
    # Zero in a header means "at once"; zero in a Status means that no delay was given.
    if requested is not None and 0 <= requested < math.inf:
        return float(requested)
    return float(details.retry_after_seconds) if details and details.retry_after_seconds > 0 else None


def _subject(resource: str, group: str, name: str = "") -> str:
    qualified = f"{resource}.{group}" if group else resource
    return f"{qualified} {_quoted(name)}" if name else qualified


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CAUSE_SHOWN else f"{text[:_MAX_CAUSE_SHOWN]}…"


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _joined(*parts: str) -> str:
    """The non-empty parts, the most general first."""
    return ": ".join(filter(None, parts))


# --- No usable response -----------------------------------------------------------------------------------------------


class TransportError(ListWatchError):
    """No usable response was received; whether the server processed the request is unknown."""

    def __init__(self, message: str = "", *, doing: str = "", host: str = "") -> None:
        super().__init__(message)
        self.doing = doing
        self.host = host

    def __str__(self) -> str:
        return _one_line(_joined(self.doing, self.host, self.message))


class ConnectError(TransportError):
    """No connection could be opened; the request was not sent."""


class ConnectRefusedError(ConnectError):
    """The connection was refused: no process listens at that address."""


class ConnectionLostError(TransportError):
    """The connection was reset or closed before the response was complete."""


class ExitCodeLostError(ConnectionLostError):
    """The connection to a command ended before its exit code arrived: the command may have ended, or still run.

    `stdout` and `stderr` have the output up to then, if `exec` collected it.
    """

    def __init__(
        self, message: str = "", *, doing: str = "", host: str = "", stdout: bytes = b"", stderr: bytes = b""
    ) -> None:
        super().__init__(message, doing=doing, host=host)
        self.stdout = stdout
        self.stderr = stderr


class TransportTimeoutError(TransportError):
    """The server did not respond within the timeout."""


class StreamIdleError(TransportTimeoutError):
    """A stream received nothing for so long that its peer is considered dead."""


class TLSError(TransportError):
    """The TLS handshake or certificate verification failed."""


class ResponseTooLargeError(TransportError):
    """A response, or an event of a watch, is larger than the ClientConfig allows."""

    @classmethod
    def of(cls, what: str, limit: int, option: str) -> Self:
        """For a limit in bytes, and the option of the ClientConfig that sets it."""
        return cls(
            f"{what} has more than {limit:,} bytes; set a larger {option} in the ClientConfig, or 0 for no limit"
        )


class ProtocolError(TransportError):
    """The response is not valid HTTP, or violates the API protocol."""


# --- Configuration ----------------------------------------------------------------------------------------------------


class ConfigError(ListWatchError):
    """A configuration cannot be used; the message names the file, entry and field."""

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
    """No configuration was found: no file, or only empty files."""


class CredentialError(ConfigError):
    """Credentials could not be obtained. The message never contains output of a plugin, provider or token file."""


# --- Decoding and parsing ---------------------------------------------------------------------------------------------


class FieldError(ListWatchError):
    """An object, or one of its fields, is invalid."""

    def __init__(self, message: str = "", *, object_name: str = "", field: str = "") -> None:
        super().__init__(message)
        self.object_name = object_name
        self.field = field

    def __str__(self) -> str:
        return _one_line(_joined(self.object_name, self.field, self.message))


class DecodeError(FieldError):
    """Bytes cannot be decoded as the expected type."""


class EncodeError(FieldError):
    """A value cannot be encoded."""


class MalformedError(ListWatchError, ValueError):
    """A string does not follow its grammar; `text` is the whole string."""

    def __init__(self, message: str = "", *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class SelectorError(MalformedError):
    """A label or field selector cannot be parsed."""


class QuantityError(MalformedError):
    """A Kubernetes quantity cannot be parsed or formatted."""


class BadKeyError(MalformedError):
    """A cache key is neither `name` nor `namespace/name`."""


class BadNameError(MalformedError):
    """An API version, kind or resource name cannot be parsed."""


class ResourceVersionError(MalformedError):
    """A resource version cannot be compared: it is not a positive decimal number."""


# --- Incorrect use ----------------------------------------------------------------------------------------------------


class UsageError(ListWatchError):
    """The caller used the API incorrectly."""


class RequestError(UsageError, ValueError):
    """A request cannot be built: a part is missing, given twice or not allowed."""


class InformerStoppedError(UsageError):
    """The informer was stopped and cannot be started or changed again."""


class IndexConflictError(UsageError):
    """An index of that name exists already."""


class IndexNotFoundError(UsageError, LookupError):
    """No index has that name."""


class IndexFunctionError(UsageError):
    """An index function raised, which is the `__cause__`, or did not return strings."""


class TransformError(UsageError):
    """A transform raised, which is the `__cause__`, or returned an object with another key."""


# --- Failures of operations -------------------------------------------------------------------------------------------


class DiscoveryError(ListWatchError):
    """Some group-versions could not be discovered: `failures` has their errors, `found` the other group-versions."""

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
    """The server behind a group-version does not respond; its cached discovery is out of date."""


class NoMatchError(ListWatchError):
    """The server serves no resource with that name or kind."""


class SyncTimeoutError(ListWatchError, TimeoutError):
    """A cache did not sync in time; `attempts` and `last_error` have the details."""

    def __init__(self, message: str = "", *, attempts: int = 0, last_error: BaseException | None = None) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.last_error = last_error

    def __str__(self) -> str:
        last = str(self.last_error or "")
        if last in self.message:  # there was no error, or the message contains it already
            return _one_line(self.message)
        tried = f"{self.attempts} attempts" if self.attempts != 1 else "1 attempt"
        return _one_line(f"{self.message} ({tried}; the last error was: {last})")


class WaitTimeoutError(ListWatchError, TimeoutError):
    """A condition was not met in time; `last` is the last observed state or event."""

    def __init__(self, message: str = "", *, last: object = None) -> None:
        super().__init__(message)
        self.last = last


class WatchClosedError(ListWatchError):
    """A watch ended before the awaited event."""


class ProgramError(ListWatchError):
    """A child process exited or did not become ready; the message contains the end of its output."""


class CommandFailedError(ListWatchError):
    """A command in a container ended with an exit code other than 0; `stdout` and `stderr` have its output."""

    def __init__(self, message: str = "", *, exit_code: int = 0, stdout: bytes = b"", stderr: bytes = b"") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr


class CommandTimeoutError(ListWatchError, TimeoutError):
    """A command in a container did not end in time; its connection was closed."""


class PortForwardError(ListWatchError):
    """A port of a pod cannot be connected to, or its connection failed."""


class SettingsError(ListWatchError):
    """The settings in a ConfigMap or Secret are missing or invalid."""


class UnsafeArchiveError(ListWatchError):
    """An archive from a container contains what must not be extracted, such as a path outside of the target."""


class ReconcileTimeoutError(ListWatchError, TimeoutError):
    """A reconcile exceeded the timeout of its controller."""


class PermanentError(ListWatchError):
    """Raised by a reconciler when retrying would not help until an object changes."""


class DeniedError(ListWatchError):
    """Raised by a function of an admission webhook to reject a request; the user gets the message."""

    def __init__(
        self, message: str = "", *, reason: str = "Forbidden", code: int = 403, causes: Iterable[StatusCause] = ()
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = code
        self.causes = tuple(causes)


class LeadershipLostError(ListWatchError):
    """This process is no longer the leader; work that requires leadership must stop."""


class QueueShutDownError(ListWatchError):
    """The queue was shut down and returns no more items."""


class ClusterNotFoundError(ListWatchError):
    """A manager has no cluster of this name: it was not added, or was removed."""


class ShardLostError(ListWatchError):
    """A write was not sent, because this replica does not own the shard of the object any more."""


class ShardConfigError(ListWatchError):
    """This replica cannot take part in its shard group: another configuration, or missing permissions."""
