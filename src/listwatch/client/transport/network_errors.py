"""Translates errors of aiohttp, TLS and the operating system to TransportErrors.

Decides by exception types and error numbers, never by message texts.
"""

from __future__ import annotations

import errno
import socket
import ssl
import zlib
from collections.abc import Iterator

import aiohttp

from listwatch.client.config.redaction import without_frames
from listwatch.errors import (
    ConnectError,
    ConnectionLostError,
    ConnectRefusedError,
    ProtocolError,
    TLSError,
    TransportError,
    TransportTimeoutError,
)

__all__ = ["CONNECT_TIMEOUT", "FOREIGN", "TRANSLATABLE", "to_transport_error", "translate_error"]

CONNECT_TIMEOUT = 30.0
"""Seconds for name resolution, connection, proxy and TLS handshake together."""

FOREIGN = (aiohttp.ClientError, OSError, zlib.error, EOFError)
"""Errors that `to_transport_error` translates."""
TRANSLATABLE = (*FOREIGN, TransportError)
"""Errors that `translate_error` takes."""

_RESET = {errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ENOTCONN, errno.ESHUTDOWN, errno.EBADF}
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EADDRNOTAVAIL}
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_STANDARD_LIBRARY = ("builtins", "socket", "ssl")

_NOT_YET_VALID = 9
_EXPIRED = 10
_HOSTNAME_MISMATCH = 62
_IP_MISMATCH = 64
_NOT_TLS = "the server does not use TLS on this port; write http:// in the URL"
_OLD_TLS = "the server supports only TLS versions that are no longer secure"
_TLS_MESSAGES = {
    "WRONG_VERSION_NUMBER": _NOT_TLS,
    "HTTP_REQUEST": _NOT_TLS,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate; set one in the ClientConfig",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server rejected the TLS handshake; it may require a client certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the server rejected the client certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": (
        "the client certificate has expired; renew it, in the kubeconfig or where client_cert_file points to"
    ),
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust the authority of the client certificate",
    "TLSV1_ALERT_PROTOCOL_VERSION": _OLD_TLS,
    "UNSUPPORTED_PROTOCOL": _OLD_TLS,
}


def translate_error(error: Exception, doing: str, host: str) -> Exception:
    """Return a TransportError for an error of aiohttp or the system. It names the request and the host.

    TransportErrors get these names too. Any other error is returned as it is. The frames of aiohttp are removed: they
    hold the headers of the request, with its credentials.
    """
    translated = to_transport_error(error) if isinstance(error, FOREIGN) else error
    if isinstance(translated, TransportError):
        translated.doing, translated.host = doing, host
    return without_frames(translated)


def to_transport_error(error: Exception) -> TransportError:
    """Return the TransportError for one of the FOREIGN errors."""
    match error:
        case aiohttp.ClientHttpProxyError(status=status):
            return ConnectError(f"the proxy rejected the connection (status {status})")
        case aiohttp.ClientProxyConnectionError():
            return ConnectError(f"the proxy cannot be reached ({error.strerror}); check proxy_url or the environment")
        case aiohttp.ConnectionTimeoutError():
            return TransportTimeoutError(f"no connection within {CONNECT_TIMEOUT:g} s; check host, port and network")
        case aiohttp.ClientPayloadError():
            return ConnectionLostError("the connection was closed in the middle of the response")
        case aiohttp.ServerDisconnectedError():
            return ConnectionLostError("the server closed the connection without a response")
        case aiohttp.ClientResponseError(message=message):
            # The first line is the reason. The others quote the response, which may hold secrets.
            reason, *_ = message.splitlines() or [""]
            return ProtocolError(f"the response is not valid HTTP ({reason.strip(' :')})")
        case zlib.error():
            return ProtocolError("the response has the Content-Encoding gzip, but is not gzip")
        case EOFError():
            return ConnectionLostError("the compressed response is truncated")
        case _:
            return _from_causes(error) or ConnectionLostError(f"the connection failed ({type(error).__name__})")


def _from_causes(error: BaseException) -> TransportError | None:
    """Translate the innermost TLS or system error in a chain of causes, which is the most specific one.

    That error becomes the cause of ours if it is of the standard library. Errors of other libraries may hold secrets.
    """
    for each in reversed(list(_causes(error))):
        if translated := _tls_error(each) or _system_error(each):
            translated.__cause__ = each if type(each).__module__ in _STANDARD_LIBRARY else None
            return translated
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _tls_error(error: BaseException) -> TransportError | None:
    match error:
        case ssl.SSLCertVerificationError(verify_code=code, verify_message=reason):
            if code in (_HOSTNAME_MISMATCH, _IP_MISMATCH):
                return TLSError(
                    f"the server certificate is for another name: {reason}; set tls_server_name to its name"
                )
            if code in (_NOT_YET_VALID, _EXPIRED):
                found = "has expired" if code == _EXPIRED else "is not valid yet"
                return TLSError(
                    f"the server certificate {found}; renew it on the server, or correct the clock of this machine"
                )
            return TLSError(
                f"the server certificate is not trusted: {reason}; set ca_file or ca_data "
                "(certificate-authority in a kubeconfig) to the cluster's authority"
            )
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return ConnectionLostError("the server closed the connection")
        case ssl.SSLError(reason=reason):
            return TLSError(_TLS_MESSAGES.get(reason or "") or f"the TLS handshake failed: {reason or error}")
        case _:
            return None


def _system_error(error: BaseException) -> TransportError | None:
    match error:
        case socket.gaierror():
            return ConnectError(f"the host name cannot be resolved ({error.strerror}); check the host and the DNS")
        case OSError(errno=errno.ECONNREFUSED):
            return ConnectRefusedError(
                "connection refused; check that the server is running and that host and port are right"
            )
        case OSError(errno=errno.ETIMEDOUT):
            return TransportTimeoutError("the server no longer responds")
        case OSError(errno=number) if number in _RESET:
            return ConnectionLostError("the connection was reset")
        case OSError(errno=number) if number in _UNREACHABLE:
            return ConnectError(f"the host is unreachable ({error.strerror}); check the host and the network")
        case OSError(errno=number) if number in _EXHAUSTED:
            return ConnectError(f"this machine cannot open another connection ({error.strerror})")
        case ConnectionError():
            return ConnectionLostError("the connection was closed")
        case TimeoutError():
            return TransportTimeoutError("the operation timed out")
        case _:
            return None
