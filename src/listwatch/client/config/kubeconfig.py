"""Loads the configuration of a program as kubectl does.

    path given ─┐
    KUBECONFIG ─┼─▶ files ─▶ merged, the first wins ─▶ context ─▶ cluster, user, namespace ─▶ overrides ─▶ ClientConfig
    ~/.kube/config                                        └─ if there is none: the pod's service account (`in_cluster`)

`kubeconfig_reader` reads the files, `config_builder` combines the selected entries and the overrides.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import reduce
from typing import NamedTuple, TypedDict, TypeVar, Unpack

from listwatch.client.config.client_config import ClientConfig, ExecConfig, Impersonation, OIDCConfig, ServerWarning
from listwatch.client.config.config_builder import ConfigBuilder
from listwatch.client.config.in_cluster import SERVICE_ACCOUNT_FOLDER, ServiceAccount
from listwatch.client.config.kubeconfig_entries import Cluster, Context, Kubeconfig, NamedEntry, Section, User
from listwatch.client.config.kubeconfig_reader import combine_errors, read_file
from listwatch.client.config.redaction import without_frames
from listwatch.errors import ConfigError, EmptyConfigError, UsageError

__all__ = ["Overrides", "load_config", "load_kube_config", "read_kubeconfig"]

_log = logging.getLogger("listwatch.client")

_ADVICE = "Set KUBECONFIG, or start a server to try things out: python -m listwatch.server --write-kubeconfig FILE"

EntryT = TypeVar("EntryT", bound=NamedEntry[Section])


class Overrides(TypedDict, total=False):
    """The fields of a ClientConfig that the caller may override."""

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
    max_event_size: int | None
    max_response_size: int | None
    warning_handler: Callable[[ServerWarning], None] | None


class _Selection(NamedTuple):
    """The selected entries."""

    context: NamedEntry[Context] | None
    cluster: NamedEntry[Cluster] | None
    user: NamedEntry[User] | None


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
    """Load the configuration that kubectl would use, or else that of the pod this program runs in.

    `context`, `cluster` and `user` select other entries than the current ones. `allow_exec` permits exec plugins: all,
    none, or those named. The other arguments override fields of the ClientConfig, unless they are None or empty.
    """
    builder = ConfigBuilder({**overrides, "namespace": namespace}, allow_exec=allow_exec)
    del overrides  # secrets
    return _load(builder, kubeconfig, context, cluster, user, ServiceAccount(service_account_folder))


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
    """Load the configuration as `load_config` does, but from kubeconfig files only."""
    builder = ConfigBuilder({**overrides, "namespace": namespace}, allow_exec=allow_exec)
    del overrides  # secrets
    return _load(builder, kubeconfig, context, cluster, user, None)


def _load(
    builder: ConfigBuilder,
    kubeconfig: str | os.PathLike[str] | None,
    context: str | None,
    cluster: str | None,
    user: str | None,
    account: ServiceAccount | None,
) -> ClientConfig:
    try:
        found = read_kubeconfig(kubeconfig)
        return _build(builder, found, _select(found, context, cluster, user), account)
    except ConfigError as error:
        problem = without_frames(error)  # they hold the contents of the files
    raise problem


def read_kubeconfig(path: str | os.PathLike[str] | None = None) -> Kubeconfig:
    """Read one file, or without a path the merged files of KUBECONFIG, or ~/.kube/config."""
    if path:
        if not isinstance(path, str | os.PathLike):
            raise UsageError(
                f"`kubeconfig` must be the path of a file, as a str or a Path, not a {type(path).__name__}"
            )
        try:
            return read_file(os.path.expanduser(path))
        except FileNotFoundError:
            raise ConfigError("the file does not exist", file=os.fspath(path)) from None
    files = _listed_files() or [os.path.join("~", ".kube", "config")]
    return reduce(Kubeconfig.merge, _read_existing(files), Kubeconfig())


def _listed_files() -> list[str]:
    return [path for path in dict.fromkeys(os.environ.get("KUBECONFIG", "").split(os.pathsep)) if path]


def _read_existing(paths: Iterable[str]) -> list[Kubeconfig]:
    found, errors = [], []
    for path in paths:
        try:
            found.append(read_file(os.path.expanduser(path)))
        except FileNotFoundError:
            _log.debug("The kubeconfig file %s does not exist", path, extra={"file": path})
        except ConfigError as error:
            errors.append(error)
    if errors:
        raise combine_errors(errors)
    return found


def _select(found: Kubeconfig, context: str | None, cluster: str | None, user: str | None) -> _Selection:
    files = os.pathsep.join(found.files)
    selected = _named("context", context or found.current_context, found.contexts, files)
    return _Selection(
        selected,
        _named("cluster", cluster, found.clusters, files) or _referenced(selected, "cluster", found.clusters),
        _named("user", user, found.users, files) or _referenced(selected, "user", found.users),
    )


def _named(kind: str, name: str | None, entries: Mapping[str, EntryT], files: str) -> EntryT | None:
    if not name:
        return None
    if name not in entries:
        raise ConfigError(f"does not exist; {_known(entries)}", file=files, entry=f'{kind} "{name}"')
    return entries[name]


def _referenced(context: NamedEntry[Context] | None, kind: str, entries: Mapping[str, EntryT]) -> EntryT | None:
    name = getattr(context.body, kind) if context else ""
    if context and name and name not in entries:
        message = f'there is no {kind} "{name}"; {_known(entries)}'
        raise ConfigError(message, file=context.file, entry=context.label, field=kind)
    return entries.get(name)


def _known(entries: Collection[str]) -> str:
    return f"known: {', '.join(sorted(entries))}" if entries else "none is defined"


def _build(
    builder: ConfigBuilder, found: Kubeconfig, selected: _Selection, account: ServiceAccount | None
) -> ClientConfig:
    pod = account if account and account.is_present() else None
    builder.set("namespace", pod.namespace() if pod else "")
    if selected.cluster is None and "host" not in builder:
        _set_default_server(builder, found, selected, pod)
    else:
        builder.set("host", os.environ.get("KUBERNETES_MASTER"))
    if not found.files and (listed := _listed_files()):
        _log.warning("None of the files in KUBECONFIG exists: %s", ", ".join(listed), extra={"files": listed})
    if selected.context:
        builder.set_context(selected.context)
    if selected.cluster:
        builder.set_cluster(selected.cluster)
    if selected.user:
        builder.set_user(selected.user, selected.cluster)
    return builder.build()


def _set_default_server(
    builder: ConfigBuilder, found: Kubeconfig, selected: _Selection, pod: ServiceAccount | None
) -> None:
    """Set the server if no kubeconfig names one: that of the pod, or KUBERNETES_MASTER."""
    if selected.context:
        raise ConfigError("is missing", file=selected.context.file, entry=selected.context.label, field="cluster")
    if pod:
        connection = pod.connection()
        if selected.user:
            del connection["token_file"]  # the selected user's credentials are used instead
        for name, value in connection.items():
            builder.set(name, value)
    elif master := os.environ.get("KUBERNETES_MASTER"):
        builder.set("host", master)
    else:
        raise _no_server(found)


def _no_server(found: Kubeconfig) -> EmptyConfigError:
    if found.contexts:
        message = f"no current context is set; pass `context`; {_known(found.contexts)}"
    elif found.files:
        message = "no API server is configured"
    elif listed := os.environ.get("KUBECONFIG"):
        message = f"no API server is configured: no file of KUBECONFIG={listed} exists, and this is not a pod"
    else:
        message = (
            "no API server is configured: KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod"
        )
    error = EmptyConfigError(message, file=os.pathsep.join(found.files))
    if not found.files:
        error.add_note(_ADVICE)  # in tracebacks only: the command line has its own advice
    return error
