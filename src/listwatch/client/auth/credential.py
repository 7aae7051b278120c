"""Credentials as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from listwatch.client.config.tls import ClientCertificate

__all__ = ["Credential", "IssuedCredential"]


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """An Authorization header, a client certificate, or both. Without either, requests are anonymous."""

    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        present = (name for name in self.__slots__ if getattr(self, name))
        return f"Credential(<hidden: {', '.join(present) or 'nothing'}>)"


@dataclass(frozen=True, slots=True)
class IssuedCredential:
    """A credential from an issuer, and its expiry if it has one."""

    credential: Credential
    expires: datetime | None = None
