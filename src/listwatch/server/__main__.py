"""Runs an API server until SIGINT or SIGTERM: `python -m listwatch.server --port 8001 --write-kubeconfig FILE`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from listwatch.errors import ConfigError, ListWatchError
from listwatch.server.access.persisted_secrets import checked_token
from listwatch.server.api_server import APIServer

_TOKEN_VARIABLE = "LISTWATCH_TOKEN"

_DESCRIPTION = """\
Run an embedded API server until SIGINT or SIGTERM.

    python -m listwatch.server --write-kubeconfig kubeconfig
    kubectl --kubeconfig kubeconfig get --raw /readyz
"""

_NO_CREDENTIALS = (
    "no client could authenticate: pass --write-kubeconfig FILE, a token with --token-file FILE or "
    f"${_TOKEN_VARIABLE}, --data-dir DIR, which contains the token, or --anonymous"
)
_PLAIN_HTTP = (
    "note: over plain HTTP, kubectl and most clients do not send the token of a kubeconfig; send it as "
    "`Authorization: Bearer TOKEN`, or pass --anonymous"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not given and _TOKEN_VARIABLE not in os.environ:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args(given)
    try:
        options.token = _token(options)
        if not (options.token or options.write_kubeconfig or options.data_dir or options.anonymous):
            parser.error(_NO_CREDENTIALS)
        _select_tls(options)
        asyncio.run(_serve(options))
    except ListWatchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m listwatch.server",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="the port to listen on (default: a free port)")
    parser.add_argument(
        "--write-kubeconfig",
        metavar="FILE",
        help="write a kubeconfig with the administrator's token to FILE, readable by its owner only",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="persist all objects, the token and the certificate authority in this directory (default: memory only)",
    )
    parser.add_argument(
        "--tls",
        action=argparse.BooleanOptionalAction,
        help="serve HTTPS, with a generated certificate authority (default: with --write-kubeconfig)",
    )
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"a file with the bearer token of the administrator (default: ${_TOKEN_VARIABLE}, or generated)",
    )
    token.add_argument(
        "--token", help="the bearer token itself; other users of this machine can see it in the list of processes"
    )
    parser.add_argument("--anonymous", action="store_true", help="allow requests without credentials")
    return parser


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; pass a number from 0 to 65535")
    return int(text)


def _token(options: argparse.Namespace) -> str:
    """Return the token of the options or the environment; empty if it is to be generated."""
    if options.token_file is not None:
        return checked_token(_read(options.token_file), options.token_file)
    if options.token is not None:
        return checked_token(options.token, "--token")
    return checked_token(os.environ[_TOKEN_VARIABLE], f"${_TOKEN_VARIABLE}") if _TOKEN_VARIABLE in os.environ else ""


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(f"the token cannot be read: {reason}", file=file) from None


def _select_tls(options: argparse.Namespace) -> None:
    if options.tls is None:
        options.tls = options.write_kubeconfig is not None
    if options.write_kubeconfig and not options.tls and not options.anonymous:
        print(_PLAIN_HTTP, file=sys.stderr)


async def _serve(options: argparse.Namespace) -> None:
    stop_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    server = APIServer(
        host=options.host,
        port=options.port,
        data_dir=options.data_dir,
        tls=options.tls,
        token=options.token,
        anonymous=options.anonymous,
    )
    async with server:
        if options.write_kubeconfig:
            server.kubeconfig(options.write_kubeconfig, plain_http=not options.tls)
        print(f"listening on {server.url}", flush=True)
        await stop_requested.wait()


if __name__ == "__main__":
    sys.exit(main())
