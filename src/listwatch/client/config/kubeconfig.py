"""Finds the configuration of a program as kubectl does, and makes a ClientConfig of it.

    path given ─┐
    KUBECONFIG ─┼─▶ files ─▶ merged, the first wins ─▶ context ─▶ cluster, user, namespace ─▶ overrides ─▶ ClientConfig
    ~/.kube/config                                        └─ nothing there: the pod's service account (`in_cluster`)

`kubeconfig_reader` reads the files, and `kubeconfig_draft` says what the chosen entries mean together.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from listwatch.client.config.client_config import ClientConfig, ExecConfig, Impersonation, OIDCConfig, ServerWarning
from listwatch.client.config.in_cluster import SERVICE_ACCOUNT_FOLDER, ServiceAccount
from listwatch.client.config.kubeconfig_draft import Draft
from listwatch.client.config.kubeconfig_entries import Cluster, Context, Kubeconfig, Named, User
from listwatch.client.config.kubeconfig_reader import read_file, together
from listwatch.errors import ConfigError, EmptyConfigError, UsageError

__all__ = ["Overrides", "load_config", "load_kube_config", "read_kubeconfig"]

_log = logging.getLogger(__name__)

NamedT = TypeVar("NamedT", bound=Named[Any])


class Overrides(TypedDict, total=False):
    """What a program may say instead of its kubeconfig, by the names that ClientConfig has for it."""

    host: str | None
    tls_server_name: str | None
    insecure_skip_tls_verify: bool | None
    ca_file: str | None
    ca_data: bytes | None
    proxy_url: str | None
    disable_compression: bool | None
    token: str | None
    token_file: str | None
    username: str | None
    password: str | None
    client_cert_file: str | None
    client_cert_data: bytes | None
    client_key_file: str | None
    client_key_data: bytes | None
    exec: ExecConfig | None
    auth_provider: OIDCConfig | None
    impersonate: Impersonation | None
    user_agent: str | None
    timeout: float | None
    qps: float | None
    burst: int | None
    warning_handler: Callable[[ServerWarning], None] | None


class _Choice(NamedTuple):
    """The entries that are meant."""

    context: Named[Context] | None
    cluster: Named[Cluster] | None
    user: Named[User] | None


def load_config(
    kubeconfig: str | os.PathLike[str] | None = None,
    context: str | None = None,
    *,
    cluster: str | None = None,
    user: str | None = None,
    namespace: str | None = None,
    allow_exec: bool | Collection[str] = True,
    service_account_folder: str | os.PathLike[str] = SERVICE_ACCOUNT_FOLDER,
    **overrides: Unpack[Overrides],
) -> ClientConfig:
    """The configuration that kubectl would use here; without any, the one of the pod that this runs in.

    `context`, `cluster` and `user` name other entries than the current ones. `allow_exec` says whether exec plugins may
    be run, or which. The rest is set over what the entries say; None and empty texts count as not given.
    """
    found = read_kubeconfig(kubeconfig)
    draft = Draft({**overrides, "namespace": namespace}, allow_exec=allow_exec)
    return _finished(draft, found, _choice(found, context, cluster, user), ServiceAccount(service_account_folder))


def load_kube_config(
    kubeconfig: str | os.PathLike[str] | None = None,
    context: str | None = None,
    *,
    cluster: str | None = None,
    user: str | None = None,
    namespace: str | None = None,
    allow_exec: bool | Collection[str] = True,
    **overrides: Unpack[Overrides],
) -> ClientConfig:
    """The same as load_config, from kubeconfig files alone: it does not matter whether this runs in a pod."""
    found = read_kubeconfig(kubeconfig)
    draft = Draft({**overrides, "namespace": namespace}, allow_exec=allow_exec)
    return _finished(draft, found, _choice(found, context, cluster, user), None)


def read_kubeconfig(path: str | os.PathLike[str] | None = None) -> Kubeconfig:
    """What the file says, or without a path the files of KUBECONFIG together, or ~/.kube/config."""
    if path:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"a kubeconfig is the path of a file, as text or a Path, not a {type(path).__name__}")
        try:
            return read_file(os.path.expanduser(path))
        except FileNotFoundError:
            raise ConfigError("there is no such file", file=os.fspath(path)) from None
    listed = [path for path in dict.fromkeys(os.environ.get("KUBECONFIG", "").split(os.pathsep)) if path]
    found = _read_those_that_exist(listed or [os.path.join("~", ".kube", "config")])
    if listed and not found:
        _log.warning("none of the files in KUBECONFIG exists: %s", ", ".join(listed))
    return reduce(Kubeconfig.merged, found, Kubeconfig())


def _read_those_that_exist(paths: Iterable[str]) -> list[Kubeconfig]:
    found, mistakes = [], []
    for path in paths:
        try:
            found.append(read_file(os.path.expanduser(path)))
        except FileNotFoundError:
            _log.debug("%s does not exist", path)
        except ConfigError as error:
            mistakes.append(error)
    if mistakes:
        raise together(mistakes)
    return found


def _choice(found: Kubeconfig, context: str | None, cluster: str | None, user: str | None) -> _Choice:
    files = os.pathsep.join(found.files)
    chosen = _named("context", context or found.current_context, found.contexts, files)
    return _Choice(
        chosen,
        _named("cluster", cluster, found.clusters, files) or _named_by(chosen, "cluster", found.clusters),
        _named("user", user, found.users, files) or _named_by(chosen, "user", found.users),
    )


def _named(kind: str, name: str | None, entries: Mapping[str, NamedT], files: str) -> NamedT | None:
    if not name:
        return None
    if name not in entries:
        raise ConfigError(f"was not found; {_known(entries)}", file=files, entry=f'{kind} "{name}"')
    return entries[name]


def _named_by(context: Named[Context] | None, kind: str, entries: Mapping[str, NamedT]) -> NamedT | None:
    name = getattr(context.body, kind) if context else ""
    if context and name and name not in entries:
        message = f'there is no {kind} "{name}"; {_known(entries)}'
        raise ConfigError(message, file=context.file, entry=context.entry, field=kind)
    return entries.get(name)


def _known(entries: Collection[str]) -> str:
    return f"there are: {', '.join(sorted(entries))}" if entries else "there are none"


def _finished(draft: Draft, found: Kubeconfig, choice: _Choice, account: ServiceAccount | None) -> ClientConfig:
    in_pod = account if account and account.is_there() else None
    draft.take("namespace", in_pod.namespace() if in_pod else "")
    if choice.cluster is None and "host" not in draft:
        _take_surroundings(draft, found, choice, in_pod)
    else:
        draft.take("host", os.environ.get("KUBERNETES_MASTER"))
    if choice.context:
        draft.take_context(choice.context)
    if choice.cluster:
        draft.take_cluster(choice.cluster)
    if choice.user:
        draft.take_user(choice.user, choice.cluster)
    return draft.finished()


def _take_surroundings(draft: Draft, found: Kubeconfig, choice: _Choice, in_pod: ServiceAccount | None) -> None:
    """What there is where no kubeconfig names a server."""
    if choice.context:
        raise ConfigError("is missing", file=choice.context.file, entry=choice.context.entry, field="cluster")
    if in_pod:
        connection = in_pod.connection()
        if choice.user:
            del connection["token_file"]  # somebody else is asked for by name
        for name, value in connection.items():
            draft.take(name, value)
    elif master := os.environ.get("KUBERNETES_MASTER"):
        draft.take("host", master)
    else:
        raise _nothing_found(found)


def _nothing_found(found: Kubeconfig) -> EmptyConfigError:
    if found.contexts:
        message = f"no current context is set, and none was asked for; {_known(found.contexts)}"
    elif found.files:
        message = "nothing in there names an API server"
    elif listed := os.environ.get("KUBECONFIG"):
        message = f"there is no API server to talk to: no file of KUBECONFIG={listed} exists, and this is no pod"
    else:
        message = (
            "there is no API server to talk to: no KUBECONFIG is set, no ~/.kube/config exists, and this is no pod"
        )
    return EmptyConfigError(message, file=os.pathsep.join(found.files))
