"""What went wrong on the network, as an error of ours: told by error numbers and types, never by their words.

`connections` asks, where foreign errors end; those of the HTTP library are its own affair.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

from listwatch.errors import (
    ConnectError,
    ConnectionLostError,
    ConnectRefusedError,
    TLSError,
    TransportError,
    TransportTimeoutError,
)

__all__ = ["error_of_system"]

_LOST = {errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ENOTCONN, errno.ESHUTDOWN, errno.EBADF}
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EADDRNOTAVAIL}
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_PYTHONS_OWN = ("builtins", "socket", "ssl")

_HOSTNAME_MISMATCH = 62
_IP_MISMATCH = 64
_TLS_ADVICE = {
    "WRONG_VERSION_NUMBER": "it does not speak TLS; perhaps its URL begins with http://",
    "HTTP_REQUEST": "it does not speak TLS; perhaps its URL begins with http://",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it wants a client certificate; give one in the config",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "it refuses the handshake; perhaps it wants a client certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it refuses our client certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "our client certificate has expired",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not know who signed our client certificate",
    "TLSV1_ALERT_PROTOCOL_VERSION": "it speaks only versions of TLS that are too old to be safe",
    "UNSUPPORTED_PROTOCOL": "it speaks only versions of TLS that are too old to be safe",
}


def error_of_system(error: BaseException) -> TransportError | None:
    """The error that lies behind another, if it is one of Python's or the system's; None if there is none.

    Such an error becomes the cause of ours; those of libraries do not, because they may hold what must not be shown.
    """
    # The innermost knows best: what it caused repeats only part of it.
    for each in reversed(list(_chain(error))):
        if found := _tls_error(each) or _system_error(each):
            found.__cause__ = each if type(each).__module__ in _PYTHONS_OWN else None
            return found
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _tls_error(error: BaseException) -> TransportError | None:
    match error:
        case ssl.SSLCertVerificationError(verify_code=code, verify_message=reason):
            if code in (_HOSTNAME_MISMATCH, _IP_MISMATCH):
                return TLSError(f"its certificate is for another name: {reason}; tls_server_name says which to expect")
            return TLSError(
                f"its certificate is not trusted: {reason}; give the cluster's authority as ca_file or ca_data"
            )
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return ConnectionLostError("the server closed the connection")
        case ssl.SSLError(reason=reason):
            return TLSError(_TLS_ADVICE.get(reason or "") or f"the TLS handshake failed: {reason or error}")
        case _:
            return None


def _system_error(error: BaseException) -> TransportError | None:
    match error:
        case socket.gaierror():
            return ConnectError(f"the name cannot be resolved ({error.strerror}); check the host, and the DNS")
        case OSError(errno=errno.ECONNREFUSED):
            return ConnectRefusedError("nobody listens there; is the API server up, and are host and port right?")
        case OSError(errno=errno.ETIMEDOUT):
            return TransportTimeoutError("it does not react any more")
        case OSError(errno=number) if number in _LOST:
            return ConnectionLostError("the connection was reset")
        case OSError(errno=number) if number in _UNREACHABLE:
            return ConnectError(f"it cannot be reached ({error.strerror}); check the host, and the network")
        case OSError(errno=number) if number in _EXHAUSTED:
            return ConnectError(f"this machine cannot open another connection ({error.strerror})")
        case ConnectionError():
            return ConnectionLostError("the connection was closed")
        case TimeoutError():
            return TransportTimeoutError("it took too long")
        case _:
            return None
