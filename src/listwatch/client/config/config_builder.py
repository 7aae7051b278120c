"""Builds a ClientConfig from the entries of a kubeconfig and the caller's overrides. `kubeconfig` selects the entries.

An override also removes what belongs to the overridden value: a host removes the `tls-server-name`, a certificate
authority removes the previous one and `insecure-skip-tls-verify`, a token removes every other login method.
"""

from __future__ import annotations

import base64
import logging
import shutil
from collections.abc import Collection, Mapping
from typing import NamedTuple

from listwatch.client.config.client_config import (
    EXEC_API,
    ClientConfig,
    ExecConfig,
    Impersonation,
    KubeconfigUser,
    OIDCConfig,
)
from listwatch.client.config.kubeconfig_entries import AuthProvider, Cluster, Context, Exec, NamedEntry, Section, User
from listwatch.client.config.kubeconfig_reader import combine_errors
from listwatch.client.config.tls import find_certificate_errors
from listwatch.client.config.token_file import read_token_file
from listwatch.client.config.validated_config import ConfigT, build_config, find_problems
from listwatch.errors import ConfigError
from listwatch.json_value import JSON

__all__ = ["CLUSTER_FIELDS", "EXEC_EXTENSION", "IMPERSONATION_FIELDS", "OIDC_FIELDS", "USER_FIELDS", "ConfigBuilder"]

_log = logging.getLogger("listwatch.client")

# The fields of a ClientConfig, and the fields of an entry that set them.
CLUSTER_FIELDS = {
    "host": "server",
    "tls_server_name": "tls_server_name",
    "insecure_skip_tls_verify": "insecure_skip_tls_verify",
    "ca_file": "certificate_authority",
    "ca_data": "certificate_authority_data",
    "proxy_url": "proxy_url",
    "disable_compression": "disable_compression",
}
USER_FIELDS = {
    "token": "token",
    "token_file": "token_file",
    "username": "username",
    "password": "password",
    "client_cert_file": "client_certificate",
    "client_cert_data": "client_certificate_data",
    "client_key_file": "client_key",
    "client_key_data": "client_key_data",
}
IMPERSONATION_FIELDS = {"user": "act_as", "uid": "as_uid", "groups": "as_groups", "extra": "as_user_extra"}
OIDC_FIELDS = {
    "issuer_url": "idp-issuer-url",
    "client_id": "client-id",
    "client_secret": "client-secret",
    "id_token": "id-token",
    "refresh_token": "refresh-token",
    "ca_file": "idp-certificate-authority",
    "ca_data": "idp-certificate-authority-data",
}

_TRUST = {"ca_file", "ca_data", "insecure_skip_tls_verify"}
_CERTIFICATE = {"client_cert_file", "client_cert_data"}
_KEY = {"client_key_file", "client_key_data"}
_LOGIN = {"token", "token_file", "username", "password"}
_PLUGIN = {"exec", "auth_provider"}
_CREDENTIALS = USER_FIELDS.keys() | _PLUGIN
# If one of the first fields is overridden, the second ones are not taken from the entries.
_REPLACES = (
    ({"host"}, {"tls_server_name"}),
    (_TRUST, _TRUST),
    (_CERTIFICATE, _CERTIFICATE),
    (_KEY, _KEY),
    (_LOGIN, _LOGIN | _PLUGIN),
    (_PLUGIN, _PLUGIN),
)

EXEC_EXTENSION = f"{EXEC_API}/exec"
_REPLACEMENTS = {
    "gcp": "install gke-gcloud-auth-plugin and run `gcloud container clusters get-credentials` again",
    "azure": "install kubelogin and run `kubelogin convert-kubeconfig`",
}


class Location(NamedTuple):
    """The file, entry and field that set a value, for errors."""

    file: str = ""
    entry: str = ""
    field: str = ""

    def error(self, message: str) -> ConfigError:
        return ConfigError(message, file=self.file, entry=self.entry, field=self.field)

    def below(self, field: str) -> Location:
        return self._replace(field=f"{self.field}.{field}")


class ConfigBuilder:
    """Collects the fields of a ClientConfig, the location of each, and all errors, which are raised together."""

    def __init__(self, overrides: Mapping[str, object], *, allow_exec: bool | Collection[str] = True) -> None:
        self._allow_exec = allow_exec
        self._overrides = {name: value for name, value in overrides.items() if value not in (None, "", b"")}
        self._fixed = self._overrides.keys() | _replaced_by(self._overrides)
        self._values: dict[str, object] = {}
        self._locations = {name: Location(field=name) for name in self._overrides}
        self._errors: list[ConfigError] = []

    def __contains__(self, name: str) -> bool:
        return name in self._values or name in self._overrides

    def set(self, name: str, value: object, location: Location | None = None) -> None:
        """Set a field, unless it is overridden or the value is empty."""
        if name in self._fixed:
            return
        if value:
            self._values[name] = value
        if value or name not in self._values:
            self._locations[name] = location or Location(field=name)

    def set_context(self, context: NamedEntry[Context]) -> None:
        self.set("namespace", context.body.namespace, _location(context, "namespace"))

    def set_cluster(self, cluster: NamedEntry[Cluster]) -> None:
        self._set_fields(cluster, CLUSTER_FIELDS)

    def set_user(self, user: NamedEntry[User], cluster: NamedEntry[Cluster] | None) -> None:
        self._set_fields(user, USER_FIELDS)
        source, plugin, provider = KubeconfigUser(user.file, user.name), user.body.exec, user.body.auth_provider
        if not _CREDENTIALS & self._overrides.keys():
            self.set("kubeconfig_user", source)
        if plugin and "exec" not in self._fixed:
            location = _location(user, "exec")
            self.set("exec", self._exec(plugin, location, source, cluster), location)
        if provider and "auth_provider" not in self._fixed:
            location = _location(user, "auth_provider")
            self.set("auth_provider", self._oidc(provider, location, source), location)
        if "impersonate" not in self._fixed:
            self.set("impersonate", self._impersonation(user), _location(user, "act_as"))

    def build(self) -> ClientConfig:
        """Return the ClientConfig; one ConfigError reports everything that is wrong."""
        values = self._values | self._overrides
        self._errors += [
            self._locations.get(field, Location(field=field)).error(message)
            for field, message in find_problems(ClientConfig, values)
        ]
        self._raise_errors()
        config = self._without_plaintext_credentials(values)
        self._check_files(config)
        self._raise_errors()
        return config

    def _set_fields(self, named: NamedEntry[Section], fields: Mapping[str, str]) -> None:
        for name, attribute in fields.items():
            if name not in self._fixed:
                location = _location(named, attribute)
                self.set(name, self._decoded(getattr(named.body, attribute), name, location), location)

    def _decoded(self, value: object, name: str, location: Location) -> object:
        """Decode the base64 value of a `_data` field; other values stay as they are."""
        if not (name.endswith("_data") and isinstance(value, str)):
            return value
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except ValueError:
            self._errors.append(location.error("is not valid base64"))
            return b""

    def _impersonation(self, user: NamedEntry[User]) -> Impersonation | None:
        values = {name: getattr(user.body, attribute) for name, attribute in IMPERSONATION_FIELDS.items()}
        locations = {name: _location(user, attribute) for name, attribute in IMPERSONATION_FIELDS.items()}
        return self._validated(Impersonation, values, locations) if any(values.values()) else None

    def _exec(
        self, plugin: Exec, location: Location, source: KubeconfigUser, cluster: NamedEntry[Cluster] | None
    ) -> ExecConfig | None:
        if not _is_allowed(plugin.command, allowed=self._allow_exec):
            self._errors.append(location.below("command").error("allow_exec does not permit this plugin"))
            return None
        default_mode = "IfAvailable" if plugin.api_version == f"{EXEC_API}/v1beta1" else ""
        values = {
            "command": plugin.command,
            "api_version": plugin.api_version,
            "args": plugin.args,
            "env": {variable.name: variable.value for variable in plugin.env},
            "interactive_mode": plugin.interactive_mode or default_mode,
            "provide_cluster_info": plugin.provide_cluster_info,
            "cluster_config": _exec_extension(cluster) if cluster else None,
            "install_hint": "".join(char for char in plugin.install_hint if char.isprintable() or char in "\n\t"),
            "kubeconfig_user": source,
        }
        names = dict(zip(plugin.__struct_fields__, plugin.__struct_encode_fields__, strict=True))
        return self._validated(ExecConfig, values, {name: location.below(names.get(name, name)) for name in values})

    def _oidc(self, provider: AuthProvider, location: Location, source: KubeconfigUser) -> OIDCConfig | None:
        if provider.name != "oidc":
            replacement = _REPLACEMENTS.get(provider.name, "use an exec plugin")
            message = f"the auth provider {provider.name!r} is not supported; {replacement}"
            self._errors.append(location.below("name").error(message))
            return None
        locations = {name: location.below(f"config.{key}") for name, key in OIDC_FIELDS.items()}
        values = {
            name: self._decoded(provider.config.get(key, ""), name, locations[name])
            for name, key in OIDC_FIELDS.items()
        }
        return self._validated(OIDCConfig, values | {"kubeconfig_user": source}, locations)

    def _validated(
        self, kind: type[ConfigT], values: dict[str, object], locations: Mapping[str, Location]
    ) -> ConfigT | None:
        problems = find_problems(kind, values)
        self._errors += [locations[field].error(message) for field, message in problems]
        return None if problems else build_config(kind, values)

    def _without_plaintext_credentials(self, values: dict[str, object]) -> ClientConfig:
        """Drop the credentials of the kubeconfig if the connection is not encrypted."""
        config = build_config(ClientConfig, values)
        unsafe = (self._values.keys() & _CREDENTIALS) - self._overrides.keys()
        if config.uses_tls or not unsafe:
            return config
        _log.warning(
            "The credentials of the kubeconfig are not sent, because the connection to %s is not encrypted",
            config.base_url,
            extra={"server": config.base_url},
        )
        return build_config(ClientConfig, {name: value for name, value in values.items() if name not in unsafe})

    def _check_files(self, config: ClientConfig) -> None:
        for error in [*find_certificate_errors(config), *_token_file_errors(config)] if config.uses_tls else []:
            location = self._locations.get(error.field, Location(field=error.field))
            about = f"{error.file}: " if error.file else ""
            self._errors.append(location.error(f"{about}{error.message}"))

    def _raise_errors(self) -> None:
        if self._errors:
            raise combine_errors(self._errors)


def _replaced_by(overrides: Mapping[str, object]) -> set[str]:
    given = {name for name, value in overrides.items() if value}
    return {name for cause, replaced in _REPLACES if cause & given for name in replaced}


def _location(named: NamedEntry[Section], attribute: str) -> Location:
    names = zip(named.body.__struct_fields__, named.body.__struct_encode_fields__, strict=True)
    return Location(named.file, named.label, dict(names)[attribute])


def _exec_extension(cluster: NamedEntry[Cluster]) -> JSON:
    extensions = {extension.name: extension.extension for extension in cluster.body.extensions}
    return extensions.get(EXEC_EXTENSION)


def _is_allowed(command: str, *, allowed: bool | Collection[str]) -> bool:
    if isinstance(allowed, bool):
        return allowed
    allowed = {allowed} if isinstance(allowed, str) else allowed
    found = shutil.which(command)
    return command in allowed or (found is not None and found in {shutil.which(each) for each in allowed})


def _token_file_errors(config: ClientConfig) -> list[ConfigError]:
    if not config.token_file or config.token:
        return []
    try:
        read_token_file(config.token_file)
    except ConfigError as error:
        return [error]
    return []
