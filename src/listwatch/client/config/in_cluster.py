"""The configuration of a program in a pod: the service account's folder and two environment variables."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TypedDict

from listwatch.client.config.bounded_files import read_regular_file
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.tls import ca_context
from listwatch.client.config.token_file import read_token_file
from listwatch.errors import ConfigError, NotInClusterError

__all__ = ["SERVICE_ACCOUNT_FOLDER", "ServiceAccount", "load_incluster_config"]

_log = logging.getLogger("listwatch.client")

SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def load_incluster_config(*, service_account_folder: str | os.PathLike[str] = SERVICE_ACCOUNT_FOLDER) -> ClientConfig:
    """Return the configuration of a program in a pod; NotInClusterError outside a pod."""
    account = ServiceAccount(service_account_folder)
    return ClientConfig(**account.connection(), namespace=account.namespace() or "default")


class Connection(TypedDict, total=False):
    """The fields of a ClientConfig that a service account sets."""

    host: str
    token_file: str
    ca_file: str


class ServiceAccount:
    """The service account of the pod that this process runs in. Files are read on each call."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def __repr__(self) -> str:
        return f"ServiceAccount({str(self._folder)!r})"

    def is_present(self) -> bool:
        """Whether this process runs in a pod with a service account."""
        return all(self._address()) and (self._folder / "token").is_file()

    def namespace(self) -> str:
        """Return the pod's namespace; empty if it is unknown."""
        if named := os.environ.get("POD_NAMESPACE"):
            return named
        try:
            return read_regular_file(self._folder / "namespace").decode().strip()
        except (OSError, ValueError):
            return ""

    def connection(self) -> Connection:
        """Return how to reach the API server of this cluster."""
        host, port = self._address()
        if not (host and port):
            raise NotInClusterError(
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod"
            )
        server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
        return {"host": server, "token_file": self._token_file(), "ca_file": self._ca_file()}

    def _address(self) -> tuple[str, str]:
        return os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")

    def _token_file(self) -> str:
        path = str(self._folder / "token")
        read_token_file(path)  # fails early if it cannot be read
        return path

    def _ca_file(self) -> str:
        path = str(self._folder / "ca.crt")
        try:
            ca_context(ca_file=path)
        except ConfigError as error:
            _log.warning(
                "The cluster's certificate authority cannot be used; the system's are used instead: %s",
                error,
                extra={"file": path},
            )
            return ""
        return path
