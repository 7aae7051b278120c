"""Runs an API server until SIGINT or SIGTERM: `python -m listwatch.server --port 8001 --write-kubeconfig FILE`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence

from listwatch.errors import ListWatchError
from listwatch.server.api_server import APIServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_serve(options))
    except ListWatchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m listwatch.server", description="Run an embedded API server.")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="the port to listen on (default: a free port)")
    parser.add_argument(
        "--write-kubeconfig", metavar="FILE", help="write a kubeconfig with the administrator's token to FILE"
    )
    parser.add_argument(
        "--data-dir", metavar="DIR", help="persist all objects in this directory (default: memory only)"
    )
    parser.add_argument("--tls", action="store_true", help="serve HTTPS, with a generated certificate authority")
    parser.add_argument("--token", default="", help="the bearer token of the administrator (default: generated)")
    parser.add_argument("--anonymous", action="store_true", help="allow requests without credentials")
    return parser


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; pass a number from 0 to 65535")
    return int(text)


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
            server.kubeconfig(options.write_kubeconfig)
        print(f"listening on {server.url}", flush=True)
        await stop_requested.wait()


if __name__ == "__main__":
    sys.exit(main())
