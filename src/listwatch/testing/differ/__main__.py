"""`python -m listwatch.testing.differ`: run the same requests on the embedded server and on a real one.

Exits with 1 if a difference between the responses is not accepted.
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
from listwatch.testing.differ.accepted import accepted_list
from listwatch.testing.differ.differ import compare_servers
from listwatch.testing.differ.report import Report
from listwatch.testing.differ.runner import Server
from listwatch.testing.differ.scenarios import Scenario, read_scenarios, write_scenarios

_USAGE = """\
Without --url, etcd and kube-apiserver are started, from KUBEBUILDER_ASSETS or from the directory of `make real`.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.accepted:
        print(accepted_list(), end="")
        return 0
    scenarios = list(read_scenarios(options.replay)) if options.replay else _generated(options.requests, options.seed)
    if options.record:
        write_scenarios(options.record, scenarios)
    report = asyncio.run(_compare(scenarios, options))
    print(report.text())
    if options.found:
        first = [scenario for scenario in scenarios if scenario.is_first]
        write_scenarios(options.found, [*first, *(each for each in report.differing if each not in first)])
    return 1 if report.found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m listwatch.testing.differ",
        description="Run the same requests on the embedded API server and on a real one, and report differences.",
        epilog=_USAGE,
    )
    parser.add_argument("--requests", type=int, default=2000, help="number of requests (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generator (default: %(default)s)")
    parser.add_argument("--parallel", type=int, default=4, help="scenarios at a time (default: %(default)s)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the scenarios to a file, one per line")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run recorded scenarios instead of generating them")
    parser.add_argument("--found", type=Path, metavar="FILE", help="write the scenarios with differences to a file")
    parser.add_argument("--accepted", action="store_true", help="print the accepted differences, and run nothing")
    parser.add_argument("--url", help="URL of a running real server, instead of starting one")
    parser.add_argument("--token-file", type=Path, help="file with the bearer token of a member of system:masters")
    parser.add_argument("--ca-file", type=Path, help="CA certificate of the real server")
    return parser


def _generated(count: int, seed: int) -> list[Scenario]:
    try:
        from listwatch.testing.differ.generation.scenarios import generate
    except ImportError:
        raise SystemExit("generating requests needs hypothesis: pip install hypothesis") from None
    return generate(count, seed=seed)


async def _compare(scenarios: Sequence[Scenario], options: argparse.Namespace) -> Report:
    # A real server has no controllers here; it counts what is used of quotas in admission.
    embedded_server = APIServer(controllers=["resourcequota-controller"], authorization="rbac")
    async with embedded_server as embedded, _real_server(options) as real:
        servers = (Server("embedded", embedded.url, embedded.token), real)
        compare = partial(compare_servers, progress=partial(_show, len(scenarios)), parallel=options.parallel)
        report = await asyncio.to_thread(compare, scenarios, servers)
    print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)
    return report


def _show(total: int, number: int) -> None:
    print(f"\r  scenario {number:,} of {total:,}", end="", file=sys.stderr, flush=True)


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
