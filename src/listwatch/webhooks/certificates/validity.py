"""Reads the validity of a certificate, without the cryptography package, which certificate files do not need."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from datetime import UTC, datetime
from typing import NamedTuple

from listwatch.errors import ConfigError

__all__ = ["Validity", "certificates_in", "read_validity"]

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE, _INTEGER, _UTC_TIME, _GENERALIZED_TIME, _VERSION = 0x30, 0x02, 0x17, 0x18, 0xA0


class Validity(NamedTuple):
    """The first and the last moment at which a certificate is valid."""

    start: datetime
    end: datetime


def certificates_in(pem: bytes) -> list[bytes]:
    """Return the certificates of a PEM file, each as PEM; other sections, such as keys, are ignored."""
    return [match[0] + b"\n" for match in _PEM.finditer(pem)]


def read_validity(pem: bytes) -> Validity:
    """Return the validity of the first certificate in a PEM file; raises ConfigError."""
    found = _PEM.search(pem)
    if found is None:
        raise ConfigError("it contains no certificate in PEM")
    try:
        return _validity(b64decode(found[1]))
    except (binascii.Error, ValueError, IndexError):
        raise ConfigError("its first certificate is damaged") from None


def _validity(der: bytes) -> Validity:
    # Certificate { TBSCertificate { [0] version?, serialNumber, signature, issuer, validity { notBefore, notAfter } …
    tag, certificate, _ = _element(der)
    signed_tag, rest, _ = _element(certificate)
    if (tag, signed_tag) != (_SEQUENCE, _SEQUENCE):
        raise ValueError("no certificate")
    tag, _, after = _element(rest)
    rest = after if tag == _VERSION else rest
    for expected in (_INTEGER, _SEQUENCE, _SEQUENCE):
        tag, _, rest = _element(rest)
        if tag != expected:
            raise ValueError("no certificate")
    _, times, _ = _element(rest)
    start_tag, start, times = _element(times)
    end_tag, end, _ = _element(times)
    return Validity(_time(start_tag, start), _time(end_tag, end))


def _element(der: bytes) -> tuple[int, bytes, bytes]:
    """Return the tag and content of the first element of DER, and what follows it."""
    tag, length, start = der[0], der[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start])
    if len(der) < start + length:
        raise ValueError("the element is cut off")
    return tag, der[start : start + length], der[start + length :]


def _time(tag: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if tag == _UTC_TIME:
        text = ("19" if int(text[:2]) >= 50 else "20") + text  # RFC 5280
    elif tag != _GENERALIZED_TIME:
        raise ValueError("no time")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
