"""The certificate that a webhook server presents, and the TLS context that always presents the current one."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from listwatch.errors import ConfigError
from listwatch.webhooks.certificates.validity import Validity, read_validity

__all__ = ["ReloadableContext", "ServingCertificate"]

_SHARED_MEMORY = "/dev/shm"


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """A certificate chain with its key, and the certificates of the authorities that API servers have to trust."""

    chain: bytes
    key: bytes = field(repr=False)
    ca_bundle: bytes = b""
    """Empty if unknown: then another program has to write them into the configurations."""
    source: str = ""
    """The origin of the certificate, for messages."""

    @property
    def validity(self) -> Validity:
        """Raises ConfigError if the certificate is damaged."""
        return read_validity(self.chain)

    def check_valid(self, now: datetime) -> None:
        """Raise ConfigError if the certificate has expired, or is not valid yet."""
        start, end = self.validity
        if now >= end:
            raise ConfigError(f"the certificate in {self.source} expired at {end:%Y-%m-%d %H:%M:%S} UTC: replace it")
        if now < start:
            raise ConfigError(f"the certificate in {self.source} is valid from {start:%Y-%m-%d %H:%M:%S} UTC only")

    def context(self) -> ssl.SSLContext:
        """Return a server context; raises ConfigError if certificate and key do not belong together."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # ssl reads files only. The folder is readable by this user only, and removed at once.
        with tempfile.TemporaryDirectory(dir=_folder_in_memory()) as folder:
            chain, key = Path(folder, "chain"), Path(folder, "key")
            chain.write_bytes(self.chain)
            key.touch(mode=0o600)
            key.write_bytes(self.key)
            try:
                context.load_cert_chain(chain, key, password=_no_password)
            except ssl.SSLError as error:
                mismatch = error.reason == "KEY_VALUES_MISMATCH"
                why = "the key does not belong to it" if mismatch else "it or its key is damaged or encrypted"
                raise ConfigError(f"the certificate in {self.source} cannot be used: {why}") from None
        return context


def _folder_in_memory() -> str | None:
    """Return a folder on no disk, if there is one; a pod with a read-only root file system can write to it."""
    return _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else None


def _no_password() -> bytes:
    """Without this function, OpenSSL would prompt for the password of an encrypted key on the terminal."""
    return b""


class ReloadableContext:
    """A server context whose new connections get the current certificate; without one, their handshake fails."""

    def __init__(self) -> None:
        self._current: ssl.SSLContext | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        # Called at the start of every handshake, also without a server name.
        self.context.sni_callback = self._select

    def use(self, context: ssl.SSLContext) -> None:
        """Present the certificate of this context from now on."""
        self._current = context

    def _select(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> int | None:
        if self._current is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._current
        return None
