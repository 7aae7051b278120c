"""Certificates that another program writes into files: cert-manager, a mounted Secret, an operator."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from listwatch.errors import ConfigError, UsageError
from listwatch.webhooks.certificates.serving_certificate import ServingCertificate

__all__ = ["CertificateFiles"]

_MAX_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The certificate of a server in a folder, such as a mounted Secret; it is reloaded when a file changes.

    The names are those of a Secret of type kubernetes.io/tls. If the file `ca` exists, its certificates are written
    into the configurations. The files are read every `interval` seconds.
    """

    folder: str | os.PathLike[str]
    certificate: str = "tls.crt"
    key: str = "tls.key"
    ca: str = "ca.crt"
    interval: float = 10.0

    def __post_init__(self) -> None:
        if not self.interval > 0:
            raise UsageError(f"interval={self.interval!r}: expected a number of seconds greater than 0")

    def read(self) -> ServingCertificate:
        """Read the files; raises ConfigError if one is missing or cannot be used."""
        # A kubelet replaces the folder that the files are links to. All files are read from one state of it.
        folder = Path(self.folder).resolve()
        data = folder / "..data"
        if data.is_dir():
            folder = data.resolve()
        chain = _read(folder / self.certificate)
        key = _read(folder / self.key)
        ca = folder / self.ca
        bundle = _read(ca) if self.ca and ca.exists() else b""
        return ServingCertificate(chain, key, bundle, source=str(Path(self.folder, self.certificate)))


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_FILE + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror or error}") from None
    if len(content) > _MAX_FILE:
        raise ConfigError(f"{file} is larger than 1 MiB: expected a certificate or a key in PEM")
    return content
