"""The configuration that Kubernetes gives to every pod: a service account's folder and two environment variables."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.tls import trusting
from listwatch.client.config.token_file import read_token
from listwatch.errors import ConfigError, NotInClusterError

__all__ = ["SERVICE_ACCOUNT_FOLDER", "ServiceAccount", "load_incluster_config"]

_log = logging.getLogger(__name__)

SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def load_incluster_config(*, service_account_folder: str | os.PathLike[str] = SERVICE_ACCOUNT_FOLDER) -> ClientConfig:
    """The configuration of a program in a pod; raises NotInClusterError if this is none."""
    account = ServiceAccount(service_account_folder)
    return ClientConfig(**account.connection(), namespace=account.namespace() or "default")


class ServiceAccount:
    """What a pod can tell about itself and the API server of its cluster; it is read when it is asked for."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def __repr__(self) -> str:
        return f"ServiceAccount({str(self._folder)!r})"

    def is_there(self) -> bool:
        """Whether this process runs in a pod that may talk to the API server."""
        return all(self._address()) and (self._folder / "token").is_file()

    def namespace(self) -> str:
        """The pod's namespace, or nothing if it cannot be known."""
        if named := os.environ.get("POD_NAMESPACE"):
            return named
        try:
            return (self._folder / "namespace").read_text("utf-8").strip()
        except (OSError, ValueError):
            return ""

    def connection(self) -> dict[str, Any]:
        """The fields of a ClientConfig."""
        host, port = self._address()
        if not (host and port):
            raise NotInClusterError("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod")
        server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
        return {"host": server, "token_file": self._token_file(), "ca_file": self._ca_file()}

    def _address(self) -> tuple[str, str]:
        return os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")

    def _token_file(self) -> str:
        path = str(self._folder / "token")
        read_token(path)  # to find out now whether it can be read
        return path

    def _ca_file(self) -> str:
        path = str(self._folder / "ca.crt")
        try:
            trusting(ca_file=path)
        except ConfigError as error:
            _log.warning("the system's certificate authorities are used instead of the cluster's own: %s", error)
            return ""
        return path
