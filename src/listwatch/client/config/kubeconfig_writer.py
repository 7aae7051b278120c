"""Writes kubeconfig files: a new file, or new tokens into an existing one.

Files are replaced atomically and are readable by their owner only.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from listwatch.atomic_file import replace_file
from listwatch.client.config.bounded_files import read_regular_file
from listwatch.client.config.client_config import ClientConfig, ExecConfig, KubeconfigUser, OIDCConfig
from listwatch.client.config.config_builder import (
    CLUSTER_FIELDS,
    EXEC_EXTENSION,
    IMPERSONATION_FIELDS,
    OIDC_FIELDS,
    USER_FIELDS,
)
from listwatch.client.config.kubeconfig_entries import AuthProvider, Cluster, Context, Exec, Extension, User, Variable
from listwatch.client.config.kubeconfig_reader import load_document
from listwatch.errors import ConfigError
from listwatch.json_value import JSON

__all__ = ["write_kubeconfig", "write_tokens"]


def write_kubeconfig(path: str | os.PathLike[str], config: ClientConfig, *, name: str = "listwatch") -> None:
    """Write a kubeconfig with one context, which has this name and selects the config; an existing file is replaced."""
    context = Context(cluster=name, user=name, namespace=config.namespace)
    document: JSON = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": msgspec.to_builtins(_cluster(config))}],
        "users": [{"name": name, "user": msgspec.to_builtins(_user(config))}],
        "contexts": [{"name": name, "context": msgspec.to_builtins(context)}],
        "current-context": name,
    }
    _replace(Path(path), document)


def write_tokens(target: KubeconfigUser, tokens: Mapping[str, str]) -> None:
    """Write new tokens to the auth provider of a user entry. The rest of the file keeps its values."""
    file = Path(target.file).resolve()  # a symbolic link is kept
    with _locked(file):
        try:
            document: Any = load_document(read_regular_file(file))  # an unexpected shape raises below
            [user] = [entry["user"] for entry in document["users"] if entry["name"] == target.user]
            user["auth-provider"]["config"].update(tokens)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            message = "the tokens cannot be written: the entry was removed or changed"
            raise ConfigError(message, file=target.file, entry=target.entry) from None
        _replace(file, document)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold the lock file that kubectl uses as well."""
    lock = file.with_name(f"{file.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise ConfigError(
            f"is locked by another process; if that process has ended, remove {lock}", file=str(file)
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot be locked: {error.strerror}", file=str(file)) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(file: Path, document: JSON) -> None:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    try:
        replace_file(file, text.encode())
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=str(file)) from None


# --- Entries ----------------------------------------------------------------------------------------------------------


def _cluster(config: ClientConfig) -> Cluster:
    extension = config.exec.cluster_config if config.exec else None
    extensions = (Extension(name=EXEC_EXTENSION, extension=extension),) if extension is not None else ()
    fields = {attribute: _kubeconfig_value(config, name) for name, attribute in CLUSTER_FIELDS.items()}
    return Cluster(**fields | {"server": config.base_url, "extensions": extensions})


def _user(config: ClientConfig) -> User:
    fields = {attribute: _kubeconfig_value(config, name) for name, attribute in USER_FIELDS.items()}
    if config.impersonate:
        fields |= {attribute: getattr(config.impersonate, name) for name, attribute in IMPERSONATION_FIELDS.items()}
    plugin, provider = config.exec, config.auth_provider
    return User(**fields, exec=_exec(plugin) if plugin else None, auth_provider=_oidc(provider) if provider else None)


def _exec(plugin: ExecConfig) -> Exec:
    return Exec(
        command=plugin.command,
        args=tuple(plugin.args),
        env=tuple(Variable(name=name, value=value) for name, value in plugin.env.items()),
        api_version=plugin.api_version,
        install_hint=plugin.install_hint,
        provide_cluster_info=plugin.provide_cluster_info,
        interactive_mode=plugin.interactive_mode,
    )


def _oidc(provider: OIDCConfig) -> AuthProvider:
    fields = {key: _kubeconfig_value(provider, name) for name, key in OIDC_FIELDS.items()}
    return AuthProvider(name="oidc", config={key: value for key, value in fields.items() if value})


def _kubeconfig_value(config: ClientConfig | OIDCConfig, name: str) -> Any:  # the type depends on the field
    """Return a field as a kubeconfig has it: data in base64, paths absolute."""
    value = getattr(config, name)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return os.path.abspath(value) if value and name.endswith("_file") else value
