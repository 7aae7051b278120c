"""The entries of a kubeconfig, as values: `kubeconfig_reader` makes them, `kubeconfig_draft` says what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

__all__ = ["AuthProvider", "Body", "Cluster", "Context", "Exec", "Extension", "Kubeconfig", "Named", "User", "Variable"]


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    """A part of a kubeconfig; shows which fields are set, and never to what."""

    def __repr__(self) -> str:
        names = (name for name in self.__struct_fields__ if getattr(self, name))
        return f"{type(self).__name__}({', '.join(names)})"


class Extension(Body, frozen=True):
    """Something that another program keeps in a kubeconfig."""

    name: str = ""
    extension: Any = None


class Cluster(Body, frozen=True):
    """An API server and how to trust it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[Extension, ...] = ()


class Context(Body, frozen=True):
    """A cluster, a user and a namespace, under one name."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""
    extensions: tuple[Extension, ...] = ()


class Variable(Body, frozen=True):
    """An environment variable for a plugin."""

    name: str = ""
    value: str = ""


class Exec(Body, frozen=True, rename="camel"):
    """A program that prints credentials."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Variable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(Body, frozen=True):
    """One of the ways to log in that were once part of kubectl itself."""

    name: str = ""
    config: dict[str, str] = {}


class User(Body, frozen=True):
    """How to prove who is asking."""

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
    as_user_extra: dict[str, tuple[str, ...]] = {}
    auth_provider: AuthProvider | None = None
    exec: Exec | None = None
    extensions: tuple[Extension, ...] = ()


BodyT = TypeVar("BodyT", bound=Body)
BodyT_co = TypeVar("BodyT_co", bound=Body, covariant=True)


@dataclass(frozen=True, slots=True)
class Named(Generic[BodyT_co]):
    """An entry of a kubeconfig, and the file that it is in."""

    name: str
    file: str
    body: BodyT_co

    @property
    def entry(self) -> str:
        return f'{type(self.body).__name__.lower()} "{self.name}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """What one kubeconfig file says, or several together."""

    files: tuple[str, ...] = ()
    current_context: str = ""
    clusters: Mapping[str, Named[Cluster]] = field(default_factory=dict)
    contexts: Mapping[str, Named[Context]] = field(default_factory=dict)
    users: Mapping[str, Named[User]] = field(default_factory=dict)

    def merged(self, other: Kubeconfig) -> Kubeconfig:
        """Both together; where both say something, this one is right."""
        return Kubeconfig(
            files=self.files + other.files,
            current_context=self.current_context or other.current_context,
            clusters={**other.clusters, **self.clusters},
            contexts={**other.contexts, **self.contexts},
            users={**other.users, **self.users},
        )
