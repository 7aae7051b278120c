"""The contents of a kubeconfig as values: read by `kubeconfig_reader`, combined by `config_builder`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from listwatch.client.config.redaction import HiddenStruct

__all__ = [
    "AuthProvider",
    "Cluster",
    "Context",
    "Exec",
    "Extension",
    "Kubeconfig",
    "NamedEntry",
    "Section",
    "User",
    "Variable",
]


class Section(HiddenStruct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    """A mapping in a kubeconfig."""


class Extension(Section, frozen=True):
    """Data of another program."""

    name: str = ""
    extension: Any = None  # msgspec cannot decode the recursive type JSON


class Cluster(Section, frozen=True):
    """An API server and how to verify it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[Extension, ...] = ()


class Context(Section, frozen=True):
    """A combination of cluster, user and namespace."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""
    extensions: tuple[Extension, ...] = ()


class Variable(Section, frozen=True):
    """An environment variable of a plugin."""

    name: str = ""
    value: str = ""


class Exec(Section, frozen=True, rename="camel"):
    """A credential plugin."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(Section, frozen=True):
    """A login method that was once built into kubectl; only `oidc` is still supported."""

    name: str = ""
    config: dict[str, str] = msgspec.field(default_factory=dict)


class User(Section, frozen=True):
    """Credentials."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    act_as: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    auth_provider: AuthProvider | None = None
    exec: Exec | None = None
    extensions: tuple[Extension, ...] = ()


SectionT_co = TypeVar("SectionT_co", bound=Section, covariant=True)


@dataclass(frozen=True, slots=True)
class NamedEntry(Generic[SectionT_co]):
    """A named cluster, context or user, and the file that defines it."""

    name: str
    file: str
    body: SectionT_co

    @property
    def label(self) -> str:
        """Kind and name of the entry, for messages."""
        return f'{type(self.body).__name__.lower()} "{self.name}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """The entries of one kubeconfig file, or of several merged files."""

    files: tuple[str, ...] = ()
    current_context: str = ""
    clusters: Mapping[str, NamedEntry[Cluster]] = field(default_factory=dict)
    contexts: Mapping[str, NamedEntry[Context]] = field(default_factory=dict)
    users: Mapping[str, NamedEntry[User]] = field(default_factory=dict)

    def merge(self, other: Kubeconfig) -> Kubeconfig:
        """Return both merged; entries of this one win."""
        return Kubeconfig(
            files=self.files + other.files,
            current_context=self.current_context or other.current_context,
            clusters={**other.clusters, **self.clusters},
            contexts={**other.contexts, **self.contexts},
            users={**other.users, **self.users},
        )
