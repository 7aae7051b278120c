"""What proves who is asking, once. `auth` says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from listwatch.client.config.tls import ClientCertificate

__all__ = ["Credential", "Issued"]


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """The value of an Authorization header, or a certificate, or both, or nothing for somebody unknown."""

    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        held = (name for name in self.__slots__ if getattr(self, name))
        return f"Credential(<hidden: {', '.join(held) or 'nothing'}>)"


@dataclass(frozen=True, slots=True)
class Issued:
    """A credential that somebody gave, and when it ends, if it does."""

    credential: Credential
    expires: datetime | None = None
