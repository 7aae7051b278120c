"""`python -m listwatch.testing.differ`: play the same requests on the embedded server and on a real one.

Exits with 1 if their answers differ in a way that `accepted` gives no reason for.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from listwatch.server import APIServer
from listwatch.testing.differ.both_servers import compare_servers
from listwatch.testing.differ.playing import Server
from listwatch.testing.differ.plays import Play, read_plays, write_plays
from listwatch.testing.differ.report import Report

_USAGE = """\
Without --url, etcd and kube-apiserver are started, from KUBEBUILDER_ASSETS or from where `make real` keeps them.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    plays = list(read_plays(options.replay)) if options.replay else _generated(options.requests, options.seed)
    if options.record:
        write_plays(options.record, plays)
    report = asyncio.run(_compare(plays, options))
    print(report.text())
    return 1 if report.found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m listwatch.testing.differ",
        description="Play the same requests on the embedded API server and on a real one, and tell where they differ.",
        epilog=_USAGE,
    )
    parser.add_argument("--requests", type=int, default=2000, help="how many to generate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: %(default)s)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep what was generated, a play a line")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="play what was recorded")
    parser.add_argument("--url", help="a real server that runs already, instead of one that is started")
    parser.add_argument(
        "--token-file", type=Path, help="a file with a bearer token of somebody in system:masters there"
    )
    parser.add_argument("--ca-file", type=Path, help="the certificate that signed that server's")
    return parser


def _generated(count: int, number: int) -> list[Play]:
    try:
        from listwatch.testing.differ.generation import generate
    except ImportError:
        raise SystemExit("requests are generated with hypothesis: pip install hypothesis") from None
    return generate(count, number=number)


async def _compare(plays: Sequence[Play], options: argparse.Namespace) -> Report:
    async with APIServer() as embedded, _real_server(options) as real:
        servers = (Server("embedded", embedded.url, embedded.token), real)
        report = await asyncio.to_thread(compare_servers, plays, servers, progress=partial(_show, len(plays)))
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)
    return report


def _show(total: int, number: int) -> None:
    print(f"\r  play {number + 1:,} of {total:,}", end="", file=sys.stderr, flush=True)


@asynccontextmanager
async def _real_server(options: argparse.Namespace) -> AsyncIterator[Server]:
    if options.url:
        token = options.token_file.read_text().strip() if options.token_file else ""
        yield Server("real", options.url, token, options.ca_file.read_bytes() if options.ca_file else b"")
        return
    from listwatch.testing.real.real_api_server import RealAPIServer

    async with RealAPIServer() as server:
        yield Server("real", server.url, server.token, server.ca_certificate)


if __name__ == "__main__":
    sys.exit(main())
