"""Errors as a message for the terminal and an exit code."""

from __future__ import annotations

import errno
from typing import NamedTuple

from listwatch.cli.exit_codes import ExitCode
from listwatch.errors import (
    APIError,
    ConfigError,
    ConnectError,
    ConnectionLostError,
    CredentialError,
    DiscoveryError,
    EmptyConfigError,
    ForbiddenError,
    ListWatchError,
    MalformedError,
    NoMatchError,
    SyncTimeoutError,
    TLSError,
    TransportError,
    TransportTimeoutError,
    UnauthorizedError,
    UsageError,
)

__all__ = ["Explanation", "explain"]

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
            notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
            message, code = _explain_own(error)
            return Explanation(message + notes, code)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return Explanation(f"cannot write {_where(error)}: the disk is full", ExitCode.FAILED)
        case OSError():
            return Explanation(f"{_where(error)}: {error.strerror or error}", ExitCode.FAILED)
    return None


def _explain_own(error: ListWatchError) -> Explanation:
    match error:
        case EmptyConfigError():
            advice = f"Pass --kubeconfig FILE or --context NAME, or set KUBECONFIG. {_NO_CLUSTER}"
            return Explanation(f"{error}.\n{advice}", ExitCode.NO_CLUSTER)
        case CredentialError() | UnauthorizedError():
            advice = "The credentials are missing, wrong or expired: log in again, or select another --context."
            return Explanation(f"{error}.\n{advice}", ExitCode.DENIED)
        case ConfigError():
            return Explanation(str(error), ExitCode.NO_CLUSTER)
        case ForbiddenError():
            return Explanation(f"{error}.\nThe user of this context has no permission for this.", ExitCode.DENIED)
        case TLSError() if "wrong version number" in str(error).lower() or "record layer" in str(error).lower():
            advice = "The server does not speak TLS at this address: check whether its URL is http:// instead."
            return Explanation(f"{error}.\n{advice}", ExitCode.NO_CLUSTER)
        case TLSError():
            advice = "Check the certificate authority of the kubeconfig."
            return Explanation(f"{error}.\n{advice}", ExitCode.NO_CLUSTER)
        case ConnectError():
            return Explanation(f"{error}.\nIs the cluster running? {_NO_CLUSTER}", ExitCode.NO_CLUSTER)
        case TransportTimeoutError():
            return Explanation(f"{error}.\nA longer --request-timeout may help. {_NO_CLUSTER}", ExitCode.NO_CLUSTER)
        case ConnectionLostError() if "without a response" in str(error):
            advice = "If the server speaks TLS, its URL has to begin with https://."
            return Explanation(f"{error}.\n{advice}", ExitCode.NO_CLUSTER)
        case TransportError():
            return Explanation(str(error), ExitCode.NO_CLUSTER)
        case NoMatchError() | MalformedError() | UsageError():
            return Explanation(str(error), ExitCode.USAGE)
        case APIError():
            return Explanation(str(error), ExitCode.FAILED)
    return Explanation(str(error), ExitCode.FAILED)


def _found_anything(error: DiscoveryError) -> bool:
    return bool(getattr(error.found, "resources", ()))


def _where(error: OSError) -> str:
    return str(error.filename) if error.filename else "the output"
