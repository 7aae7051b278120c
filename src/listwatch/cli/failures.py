"""Errors as a message for the terminal and an exit code."""

from __future__ import annotations

import errno
from typing import NamedTuple

from listwatch.cli.exit_codes import ExitCode
from listwatch.errors import (
    APIError,
    ConfigError,
    ConnectError,
    CredentialError,
    DiscoveryError,
    EmptyConfigError,
    ForbiddenError,
    ListWatchError,
    MalformedError,
    NoMatchError,
    SyncTimeoutError,
    TransportError,
    TransportTimeoutError,
    UnauthorizedError,
    UsageError,
)

__all__ = ["Explanation", "explain", "message_of"]

_NO_CLUSTER = "Without a cluster, add --embedded: it starts an embedded API server with sample objects."


class Explanation(NamedTuple):
    """A message that says what failed and what to do, and the exit code."""

    message: str
    code: ExitCode


def explain(error: Exception) -> Explanation | None:
    """Return what to print for an error; None if it is unexpected and deserves a traceback."""
    match error:
        case SyncTimeoutError(last_error=Exception() as cause):
            return explain(cause)
        case DiscoveryError(failures=failures) if failures and not _found_anything(error):
            return explain(next(iter(failures.values())))
        case ListWatchError():
            code, advice = _advice(error)
            return Explanation(message_of(error) + (f".\n{advice}" if advice else ""), code)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return Explanation(f"cannot write {_where(error)}: the disk is full", ExitCode.FAILED)
        case OSError():
            return Explanation(f"{_where(error)}: {error.strerror or error}", ExitCode.FAILED)
    return None


def message_of(error: ListWatchError) -> str:
    """Return the message without the method and the path of the request, which its other parts imply."""
    doing = error.doing if isinstance(error, APIError | TransportError) else ""
    return str(error).removeprefix(f"{doing}: ").rstrip(".")


def _advice(error: ListWatchError) -> tuple[ExitCode, str]:
    """Return the exit code, and what to do if the message does not say it."""
    match error:
        case EmptyConfigError():
            return ExitCode.NO_CLUSTER, f"Pass --kubeconfig FILE or --context NAME, or set KUBECONFIG. {_NO_CLUSTER}"
        case CredentialError() | UnauthorizedError():
            advice = "The credentials are missing, wrong or expired: log in again, or select another --context."
            return ExitCode.DENIED, advice
        case ForbiddenError():
            advice = (
                "Ask for a role that allows it (kubectl auth can-i --list), or select another --context or --namespace."
            )
            return ExitCode.DENIED, advice
        case APIError(body=body) if body.lstrip().lower().startswith(("<!doctype html", "<html")):
            return (
                ExitCode.NO_CLUSTER,
                "A Kubernetes API server sends no HTML: check the URL of the cluster in the kubeconfig.",
            )
        case ConnectError():
            return ExitCode.NO_CLUSTER, _NO_CLUSTER
        case TransportTimeoutError():
            return ExitCode.NO_CLUSTER, f"A longer --request-timeout may help. {_NO_CLUSTER}"
        case ConfigError() | TransportError():
            return ExitCode.NO_CLUSTER, ""
        case NoMatchError() | MalformedError() | UsageError():
            return ExitCode.USAGE, ""
    return ExitCode.FAILED, ""


def _found_anything(error: DiscoveryError) -> bool:
    return bool(getattr(error.found, "resources", ()))


def _where(error: OSError) -> str:
    return str(error.filename) if error.filename else "the output"
