"""Writes kubeconfig files that kubectl accepts: a new one, or new tokens into one that `kubeconfig_reader` reads.

A file is replaced as a whole or not at all, and only its owner may read it.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from listwatch.client.config.client_config import ClientConfig, ExecConfig, OIDCConfig, Origin
from listwatch.client.config.kubeconfig_draft import (
    CLUSTER_FIELDS,
    EXEC_EXTENSION,
    IMPERSONATION_FIELDS,
    OIDC_FIELDS,
    USER_FIELDS,
)
from listwatch.client.config.kubeconfig_entries import AuthProvider, Cluster, Context, Exec, Extension, User, Variable
from listwatch.client.config.kubeconfig_reader import parsed
from listwatch.errors import ConfigError

__all__ = ["write_kubeconfig", "write_tokens"]


def write_kubeconfig(path: str | os.PathLike[str], config: ClientConfig, *, name: str = "listwatch") -> None:
    """Write a file with one context, of that name, that stands for the config; a file that is there is replaced."""
    context = Context(cluster=name, user=name, namespace=config.namespace)
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": msgspec.to_builtins(_cluster(config))}],
        "users": [{"name": name, "user": msgspec.to_builtins(_user(config))}],
        "contexts": [{"name": name, "context": msgspec.to_builtins(context)}],
        "current-context": name,
    }
    _replace(Path(path), tree)


def write_tokens(origin: Origin, tokens: Mapping[str, str]) -> None:
    """Put new tokens into the auth provider of a user entry, and leave all else in the file as it is."""
    file = Path(origin.file).resolve()  # a link stays a link
    with _locked(file):
        try:
            tree = parsed(file.read_bytes())
            [user] = [entry["user"] for entry in tree["users"] if entry["name"] == origin.user]
            user["auth-provider"]["config"].update(tokens)
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            raise ConfigError("is no longer what it was", file=origin.file, entry=origin.entry) from None
        _replace(file, tree)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Keep kubectl, and others who know its custom, from changing the file meanwhile."""
    lock = file.with_name(f"{file.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise ConfigError(f"somebody else is changing it; if not, remove {lock}", file=str(file)) from None
    except OSError as error:
        raise ConfigError(f"cannot be locked: {error.strerror}", file=str(file)) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(file: Path, tree: Any) -> None:
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # for its owner alone
        try:
            with open(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text)
            os.replace(temporary, file)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=str(file)) from None


# --- Entries ----------------------------------------------------------------------------------------------------------


def _cluster(config: ClientConfig) -> Cluster:
    extension = config.exec.cluster_config if config.exec else None
    extensions = (Extension(name=EXEC_EXTENSION, extension=extension),) if extension is not None else ()
    said = {attribute: _said(config, name) for name, attribute in CLUSTER_FIELDS.items()}
    return Cluster(**said | {"server": config.base_url, "extensions": extensions})


def _user(config: ClientConfig) -> User:
    said = {attribute: _said(config, name) for name, attribute in USER_FIELDS.items()}
    if config.impersonate:
        said |= {attribute: getattr(config.impersonate, name) for name, attribute in IMPERSONATION_FIELDS.items()}
    plugin, provider = config.exec, config.auth_provider
    return User(**said, exec=_exec(plugin) if plugin else None, auth_provider=_oidc(provider) if provider else None)


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
    said = {key: _said(provider, name) for name, key in OIDC_FIELDS.items()}
    return AuthProvider(name="oidc", config={key: value for key, value in said.items() if value})


def _said(values: ClientConfig | OIDCConfig, name: str) -> Any:
    """A field, as a kubeconfig has it."""
    value = getattr(values, name)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return os.path.abspath(value) if value and name.endswith("_file") else value
