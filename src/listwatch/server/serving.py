"""Serves an API server until SIGINT or SIGTERM, for `python -m listwatch.server` and `listwatch serve`."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from listwatch.errors import ConfigError, DecodeError, UsageError
from listwatch.server.access.persisted_secrets import checked_token
from listwatch.server.api_server import APIServer

if TYPE_CHECKING:
    from listwatch.server.replay.playback import Playback
    from listwatch.simulation.options import SimulationOptions

__all__ = ["TOKEN_VARIABLE", "AuthorizationMode", "ServeOptions", "serve"]

AuthorizationMode = Literal["AlwaysAllow", "RBAC"]
"""The names that kube-apiserver has for its modes."""

TOKEN_VARIABLE = "LISTWATCH_TOKEN"

# Objects after whose creation Python looks for unreferenced cycles. Requests create hardly any cycles, and the search
# takes a tenth of the time of a create.
_GARBAGE_THRESHOLDS = (20_000, 20, 20)

_PLAIN_HTTP = (
    "note: over plain HTTP, kubectl and most clients do not send the token of a kubeconfig; send it as "
    "`Authorization: Bearer TOKEN`, or pass --anonymous"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How to serve. `tls` None selects HTTPS if a kubeconfig is written.

    Without a token, a data directory or `anonymous`, a kubeconfig is written to a temporary directory.
    """

    host: str = "127.0.0.1"
    port: int = 0
    data_dir: str | None = None
    snapshot: str | None = None
    imports: Sequence[str] = ()
    """YAML files, whose objects are stored as they are."""
    tls: bool | None = None
    token: str | None = None
    token_file: str | None = None
    anonymous: bool = False
    authorization_mode: AuthorizationMode = "AlwaysAllow"
    enable_admission_plugins: str = ""
    disable_admission_plugins: str = ""
    """Names, separated by commas."""
    controllers: str = "*"
    """As the flag of kube-controller-manager."""
    webhook_service: Sequence[str] = ()
    """Each NAMESPACE/NAME=URL."""
    write_kubeconfig: str | None = None
    simulate: bool = False
    simulated_nodes: int = 3
    stages: str | None = None
    """A file with the stages of simulated pods and nodes."""
    replay: str | None = None
    """A recording to play, instead of serving objects that can be changed."""
    speed: str = "1"
    """Of the replay: a number, or "max"."""
    start_at: float = 0.0
    wait_for_watches: int = 0


def serve(options: ServeOptions) -> None:
    """Serve until SIGINT or SIGTERM; prints the URL, and how to use the server. Raises ListWatchError."""
    token = _token(options)
    with ExitStack() as stack:
        prints_token = False
        if not (token or options.write_kubeconfig or options.data_dir or options.anonymous):
            if options.tls is not False and _has_cryptography():
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="listwatch-"))
                options = replace(options, write_kubeconfig=os.path.join(folder, "kubeconfig"))
            else:
                prints_token = True  # clients would not send the token of a kubeconfig over plain HTTP
        options = _with_tls(options)
        if options.write_kubeconfig:
            options = replace(options, write_kubeconfig=_absolute(options.write_kubeconfig))
        asyncio.run(_serve(options, token, prints_token=prints_token))


def _token(options: ServeOptions) -> str:
    """Return the token of the options or the environment; empty if it is to be generated."""
    if options.token_file is not None:
        return checked_token(_read(options.token_file, "token"), options.token_file)
    if options.token is not None:
        return checked_token(options.token, "--token")
    return checked_token(os.environ[TOKEN_VARIABLE], f"${TOKEN_VARIABLE}") if TOKEN_VARIABLE in os.environ else ""


def _read(file: str, what: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"the {what} cannot be read: {reason}", file=file) from None


def _simulation(options: ServeOptions) -> bool | SimulationOptions:
    if not options.simulate:
        if options.stages:
            raise ConfigError("--stages needs --simulate", file=options.stages)
        return False
    from listwatch.simulation.options import SimulationOptions
    from listwatch.simulation.stages import read_stages

    stages = read_stages(_read(options.stages, "file of stages"), file=options.stages) if options.stages else ()
    return SimulationOptions(nodes=options.simulated_nodes, stages=stages)


def _playback(options: ServeOptions) -> Playback | None:
    if options.replay is None:
        return None
    from listwatch.server.replay.playback import Playback

    speed = math.inf if options.speed == "max" else _number(options.speed)
    return Playback(options.replay, speed=speed, start_at=options.start_at, wait_for_watches=options.wait_for_watches)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f'--speed must be a number or "max", not {text!r}') from None


def _control_playback(playback: Playback) -> None:
    """Print what is played, and let signals pause and step it."""
    summary = playback.summary
    names = ", ".join(sorted(str(each.group_resource) for each in summary.resources)) or "no resources"
    print(f"replaying {playback.file}: {summary.duration:.0f} s of {names}; SIGUSR1 pauses and resumes, SIGUSR2 steps")

    def toggle() -> None:
        action = playback.resume if playback.is_paused else playback.pause
        action()
        print(f"{'paused' if playback.is_paused else 'resumed'} at {playback.position:.1f} s", flush=True)

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, toggle)
    loop.add_signal_handler(signal.SIGUSR2, playback.step)


def _has_cryptography() -> bool:
    try:
        import listwatch.server.access.certificates  # noqa: F401  # only whether it can be imported
    except ImportError:
        return False
    return True


def _with_tls(options: ServeOptions) -> ServeOptions:
    tls = options.write_kubeconfig is not None if options.tls is None else options.tls
    if options.write_kubeconfig and not tls and not options.anonymous:
        print(_PLAIN_HTTP, file=sys.stderr)
    return replace(options, tls=tls)


def _absolute(kubeconfig: str) -> str:
    """Return the absolute path of a file; ConfigError if its directory does not exist."""
    path = Path(kubeconfig).absolute()
    if not path.parent.is_dir():
        raise ConfigError(f"the directory {str(path.parent)!r} does not exist; create it first", file=kubeconfig)
    return str(path)


def _webhook_service(text: str) -> tuple[str, str]:
    service, _, url = text.partition("=")
    if service.count("/") != 1 or not url.startswith(("https://", "http://")):
        raise UsageError(f"--webhook-service {text!r} is not of the form NAMESPACE/NAME=https://…")
    return service, url


async def _import(server: APIServer, file: str) -> int:
    try:
        return await server.import_yaml(_read(file, "file"))
    except DecodeError as error:
        raise ConfigError(f"the objects cannot be imported: {error}", file=file) from None


async def _serve(options: ServeOptions, token: str, *, prints_token: bool) -> None:
    stop_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    server = APIServer(
        host=options.host,
        port=options.port,
        data_dir=options.data_dir,
        snapshot=options.snapshot,
        tls=bool(options.tls),
        token=token,
        anonymous=options.anonymous,
        authorization="rbac" if options.authorization_mode == "RBAC" else "always-allow",
        enable_admission_plugins=[name for name in options.enable_admission_plugins.split(",") if name],
        disable_admission_plugins=[name for name in options.disable_admission_plugins.split(",") if name],
        controllers=options.controllers,
        webhook_services=dict(map(_webhook_service, options.webhook_service)),
        simulate=_simulation(options),
        replay=_playback(options),
    )
    async with server:
        imported = {file: await _import(server, file) for file in options.imports}
        if options.write_kubeconfig:
            server.kubeconfig(options.write_kubeconfig, plain_http=not options.tls)
        print(f"listening on {server.url}")
        if options.write_kubeconfig:
            print(f"export KUBECONFIG={shlex.quote(options.write_kubeconfig)}")
        elif prints_token:
            print(f"token: {server.token}")
        elif options.data_dir and not token:
            print(f"the token is in {os.path.join(options.data_dir, 'token')}")
        for file, count in imported.items():
            print(f"imported {count} object{'' if count == 1 else 's'} of {file}")
        if options.replay:
            _control_playback(server.playback)
        sys.stdout.flush()
        gc.collect()
        gc.freeze()  # what exists now lives as long as the process
        gc.set_threshold(*_GARBAGE_THRESHOLDS)
        await stop_requested.wait()
