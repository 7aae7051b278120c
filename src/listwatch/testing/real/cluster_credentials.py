"""Keys, certificates and the admin token of a test cluster, as files for kube-apiserver."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from listwatch.errors import ConfigError
from listwatch.server.access.access import MASTERS
from listwatch.server.access.persisted_secrets import read_or_create
from listwatch.testing.real.reserved_port import LOOPBACK

if TYPE_CHECKING:
    from listwatch.server.access.certificates import CertificateAuthority

__all__ = ["ClusterCredentials"]


@dataclass(frozen=True, slots=True)
class ClusterCredentials:
    """A folder with keys, certificates and the admin token; created once and reused."""

    folder: Path
    authority: CertificateAuthority = field(repr=False)
    token: str = field(repr=False)

    @classmethod
    def within(cls, folder: Path, *, token: str = "") -> Self:
        """The credentials of the folder; created if they are missing."""
        authority = _authority(folder)
        read_or_create(folder, "ca.crt", lambda: authority.certificate)
        _keep_pair(folder, "server", authority, hosts=("localhost", LOOPBACK))
        _keep_pair(folder, "service-accounts", authority)
        token = token or read_or_create(folder, "token", lambda: secrets.token_urlsafe(24).encode()).decode()
        _write_users(folder, token)
        return cls(folder, authority, token)

    def flags(self) -> list[str]:
        """The flags for kube-apiserver."""
        return [
            f"--tls-cert-file={self.folder / 'server.crt'}",
            f"--tls-private-key-file={self.folder / 'server.key'}",
            f"--client-ca-file={self.folder / 'ca.crt'}",
            f"--token-auth-file={self.folder / 'users.csv'}",
            f"--service-account-key-file={self.folder / 'service-accounts.crt'}",
            f"--service-account-signing-key-file={self.folder / 'service-accounts.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
        ]


def _authority(folder: Path) -> CertificateAuthority:
    try:
        from listwatch.server.access.certificates import CertificateAuthority
    except ImportError:
        raise ConfigError("a real API server needs the cryptography package: install listwatch[server]") from None
    return CertificateAuthority.persisted(folder)


def _keep_pair(folder: Path, name: str, authority: CertificateAuthority, *, hosts: tuple[str, ...] = ()) -> None:
    if not Path(folder, f"{name}.crt").exists():
        pair = authority.issue(name, hosts=hosts)
        # The certificate is written last: if it exists, the key does too.
        Path(folder, f"{name}.key").unlink(missing_ok=True)
        read_or_create(folder, f"{name}.key", lambda: pair.key)
        read_or_create(folder, f"{name}.crt", lambda: pair.certificate)


def _write_users(folder: Path, token: str) -> None:
    Path(folder, "users.csv").unlink(missing_ok=True)
    read_or_create(folder, "users.csv", lambda: f'{token},listwatch-admin,listwatch-admin,"{MASTERS}"\n'.encode())
