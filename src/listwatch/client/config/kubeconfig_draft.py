"""What entries of a kubeconfig mean together: a ClientConfig in the making. `kubeconfig` chooses the entries.

An override replaces what it makes pointless: another server its `tls-server-name`, another certificate authority the
old one and `insecure-skip-tls-verify`, a token every other way of logging in.
"""

from __future__ import annotations

import base64
import logging
import shutil
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeVar

from listwatch.client.config.client_config import EXEC_API, ClientConfig, ExecConfig, Impersonation, OIDCConfig, Origin
from listwatch.client.config.kubeconfig_entries import AuthProvider, Body, Cluster, Context, Exec, Named, User
from listwatch.client.config.kubeconfig_reader import together
from listwatch.client.config.tls import certificate_mistakes
from listwatch.client.config.token_file import read_token
from listwatch.client.config.validated_config import Checked
from listwatch.errors import ConfigError

__all__ = ["CLUSTER_FIELDS", "EXEC_EXTENSION", "IMPERSONATION_FIELDS", "OIDC_FIELDS", "USER_FIELDS", "Draft"]

_log = logging.getLogger(__name__)

# The fields of a ClientConfig, and the ones of an entry that they come from.
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
# What is overridden, and what is then no longer taken from the entries.
_REPLACES = (
    ({"host"}, {"tls_server_name"}),
    (_TRUST, _TRUST),
    (_CERTIFICATE, _CERTIFICATE),
    (_KEY, _KEY),
    (_LOGIN, _LOGIN | _PLUGIN),
    (_PLUGIN, _PLUGIN),
)

EXEC_EXTENSION = f"{EXEC_API}/exec"
_INSTEAD_OF = {
    "gcp": "install gke-gcloud-auth-plugin and run `gcloud container clusters get-credentials` again",
    "azure": "install kubelogin and run `kubelogin convert-kubeconfig`",
}

CheckedT = TypeVar("CheckedT", bound=Checked)


class Place(NamedTuple):
    """Where something was written."""

    file: str = ""
    entry: str = ""
    field: str = ""

    def mistake(self, message: str) -> ConfigError:
        return ConfigError(message, file=self.file, entry=self.entry, field=self.field)

    def below(self, field: str) -> Place:
        return self._replace(field=f"{self.field}.{field}")


class Draft:
    """The fields of a ClientConfig, the place that each comes from, and every mistake that was found on the way."""

    def __init__(self, overrides: Mapping[str, Any], *, allow_exec: bool | Collection[str] = True) -> None:
        self._allow_exec = allow_exec
        self._overrides = {name: value for name, value in overrides.items() if value not in (None, "", b"")}
        self._settled = self._overrides.keys() | _pointless_beside(self._overrides)
        self._values: dict[str, Any] = {}
        self._places = {name: Place(field=name) for name in self._overrides}
        self._mistakes: list[ConfigError] = []

    def __contains__(self, name: str) -> bool:
        return name in self._values or name in self._overrides

    def take(self, name: str, value: Any, place: Place | None = None) -> None:
        """Set a field, unless that is overridden or says nothing."""
        if name in self._settled:
            return
        if value:
            self._values[name] = value
        if value or name not in self._values:
            self._places[name] = place or Place(field=name)

    def take_context(self, context: Named[Context]) -> None:
        self.take("namespace", context.body.namespace, _place(context, "namespace"))

    def take_cluster(self, cluster: Named[Cluster]) -> None:
        self._take_fields(cluster, CLUSTER_FIELDS)

    def take_user(self, user: Named[User], cluster: Named[Cluster] | None) -> None:
        self._take_fields(user, USER_FIELDS)
        origin, plugin, provider = Origin(user.file, user.name), user.body.exec, user.body.auth_provider
        if plugin and "exec" not in self._settled:
            place = _place(user, "exec")
            self.take("exec", self._exec(plugin, place, origin, cluster), place)
        if provider and "auth_provider" not in self._settled:
            place = _place(user, "auth_provider")
            self.take("auth_provider", self._oidc(provider, place, origin), place)
        if "impersonate" not in self._settled:
            self.take("impersonate", self._impersonation(user), _place(user, "act_as"))

    def finished(self) -> ClientConfig:
        """The ClientConfig; raises one error for all mistakes."""
        values = self._values | self._overrides
        self._mistakes += [
            self._places.get(field, Place(field=field)).mistake(message)
            for field, message in ClientConfig.mistakes_in(values)
        ]
        self._raise_mistakes()
        config = self._without_secrets_in_the_open(values)
        self._check_files(config)
        self._raise_mistakes()
        return config

    def _take_fields(self, named: Named[Body], fields: Mapping[str, str]) -> None:
        for name, attribute in fields.items():
            if name not in self._settled:
                place = _place(named, attribute)
                self.take(name, self._plain(getattr(named.body, attribute), name, place), place)

    def _plain(self, value: Any, name: str, place: Place) -> Any:
        if not name.endswith("_data"):
            return value
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except ValueError:
            self._mistakes.append(place.mistake("is not valid base64"))
            return b""

    def _impersonation(self, user: Named[User]) -> Impersonation | None:
        values = {name: getattr(user.body, attribute) for name, attribute in IMPERSONATION_FIELDS.items()}
        places = {name: _place(user, attribute) for name, attribute in IMPERSONATION_FIELDS.items()}
        return self._checked(Impersonation, values, places) if any(values.values()) else None

    def _exec(self, plugin: Exec, place: Place, origin: Origin, cluster: Named[Cluster] | None) -> ExecConfig | None:
        if not _may_run(plugin.command, allowed=self._allow_exec):
            self._mistakes.append(place.below("command").mistake("this program does not allow that plugin to be run"))
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
            "origin": origin,
        }
        names = dict(zip(plugin.__struct_fields__, plugin.__struct_encode_fields__, strict=True))
        return self._checked(ExecConfig, values, {name: place.below(names.get(name, name)) for name in values})

    def _oidc(self, provider: AuthProvider, place: Place, origin: Origin) -> OIDCConfig | None:
        if provider.name != "oidc":
            instead = _INSTEAD_OF.get(provider.name, "use an exec plugin")
            message = f"there is no auth provider {provider.name!r}, or no longer; {instead}"
            self._mistakes.append(place.below("name").mistake(message))
            return None
        said = provider.config
        places = {name: place.below(f"config.{key}") for name, key in OIDC_FIELDS.items()}
        values = {name: self._plain(said.get(key, ""), name, places[name]) for name, key in OIDC_FIELDS.items()}
        return self._checked(OIDCConfig, values | {"origin": origin}, places)

    def _checked(self, kind: type[CheckedT], values: dict[str, Any], places: Mapping[str, Place]) -> CheckedT | None:
        mistakes = kind.mistakes_in(values)
        self._mistakes += [places[field].mistake(message) for field, message in mistakes]
        return None if mistakes else kind(**values)

    def _without_secrets_in_the_open(self, values: dict[str, Any]) -> ClientConfig:
        config = ClientConfig(**values)
        unsafe = (self._values.keys() & _CREDENTIALS) - self._overrides.keys()
        if config.uses_tls or not unsafe:
            return config
        _log.warning("the credentials of the kubeconfig are not sent, because %s is not encrypted", config.base_url)
        return ClientConfig(**{name: value for name, value in values.items() if name not in unsafe})

    def _check_files(self, config: ClientConfig) -> None:
        for error in [*certificate_mistakes(config), *_token_file_mistakes(config)] if config.uses_tls else []:
            place = self._places.get(error.field, Place(field=error.field))
            about = f"{error.file}: " if error.file else ""
            self._mistakes.append(place.mistake(f"{about}{error.message}"))

    def _raise_mistakes(self) -> None:
        if self._mistakes:
            raise together(self._mistakes)


def _pointless_beside(overrides: Mapping[str, Any]) -> set[str]:
    given = {name for name, value in overrides.items() if value}
    return {name for cause, replaced in _REPLACES if cause & given for name in replaced}


def _place(named: Named[Body], attribute: str) -> Place:
    names = zip(named.body.__struct_fields__, named.body.__struct_encode_fields__, strict=True)
    return Place(named.file, named.entry, dict(names)[attribute])


def _exec_extension(cluster: Named[Cluster]) -> Any:
    extensions = {extension.name: extension.extension for extension in cluster.body.extensions}
    return extensions.get(EXEC_EXTENSION)


def _may_run(command: str, *, allowed: bool | Collection[str]) -> bool:
    if isinstance(allowed, bool):
        return allowed
    allowed = {allowed} if isinstance(allowed, str) else allowed
    found = shutil.which(command)
    return command in allowed or (found is not None and found in {shutil.which(each) for each in allowed})


def _token_file_mistakes(config: ClientConfig) -> list[ConfigError]:
    if not config.token_file or config.token:
        return []
    try:
        read_token(config.token_file)
    except ConfigError as error:
        return [error]
    return []
