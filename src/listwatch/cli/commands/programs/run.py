"""`listwatch run FILE`: imports the controllers of a program and manages them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from listwatch.cli.cluster.connection import connection_options, take_options

if TYPE_CHECKING:
    from listwatch.cli.cluster.session import ConnectionOptions
    from listwatch.cli.programs.loader import Program
    from listwatch.cli.programs.managing import ManagerOptions

__all__ = ["command"]

_LOG_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--leader-election", default="", metavar="NAME", help="Reconcile only while holding the Lease NAME.")
@click.option("--lease-namespace", default="", metavar="NAME", help="The namespace of the Lease.")
@click.option(
    "--health-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Serve /healthz, /readyz and /metrics on this port.",
)
@click.option(
    "--health-host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address of the health port."
)
@click.option(
    "--resync",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Reconcile all objects this often. [default: never]",
)
@click.option(
    "--grace-period",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long running reconciles may take to end at a stop.",
)
@click.option("--inspect", is_flag=True, help="Serve the inspector page on a free port of this machine.")
@click.option("--dev", is_flag=True, help="Restart the program when a Python file below its folder changes.")
@connection_options(all_namespaces=False)
def command(
    *,
    file: Path,
    leader_election: str,
    lease_namespace: str,
    health_port: int | None,
    health_host: str,
    resync: float,
    grace_period: float,
    inspect: bool,
    dev: bool,
    **connection: object,
) -> int:
    """Run the controllers of a Python file until Ctrl-C or SIGTERM.

    The file defines controllers as variables of the module, or a function `setup(manager)` that adds them:

    \b
        widgets = lw.Controller(reconcile, for_=Widget)

    \b
        listwatch run operator.py --leader-election my-operator --health-port 8081
        listwatch run operator.py --dev --embedded

    Without --namespace, all namespaces are watched.
    """
    from listwatch.cli.programs.loader import load_program
    from listwatch.cli.programs.managing import ManagerOptions, end_with_parent
    from listwatch.cli.running import run_async

    options = take_options(connection)
    manager_options = ManagerOptions(
        namespaces=[options.namespace] if options.namespace else [],
        leader_election=leader_election,
        lease_namespace=lease_namespace,
        health_port=health_port,
        health_host=health_host,
        resync=resync,
        grace_period=grace_period,
        inspect=inspect,
    )
    if dev:
        return run_async(_supervise(file.resolve(), options, manager_options))
    _configure_logging(options.verbose)
    end_with_parent()
    program = load_program(file)  # not in the event loop, so that Ctrl-C ends also a slow import at once
    return run_async(_manage(program, options, manager_options))


async def _manage(program: Program, options: ConnectionOptions, manager_options: ManagerOptions) -> int:
    from listwatch.cli.cluster.session import open_session
    from listwatch.cli.programs.managing import manage

    async with _reachable(options) as reachable, open_session(reachable) as session:
        await manage(program, session.client, manager_options)
    return 0


async def _supervise(file: Path, options: ConnectionOptions, manager_options: ManagerOptions) -> int:
    """Run the same command without --dev as a child process, again after each change of a file."""
    import os
    import sys

    from listwatch.cli.programs.reloading import SourceFiles, run_with_reload
    from listwatch.clock import SystemClock

    # An embedded server runs in this process, so that its objects survive a restart of the program.
    async with _reachable(options) as reachable:
        arguments = _arguments(file, reachable, manager_options)
        await run_with_reload(
            [sys.executable, "-m", "listwatch", "run", *arguments],
            SourceFiles(file.parent, SystemClock()),
            environment=os.environ,
            grace_period=manager_options.grace_period,
            report=_report,
        )
    return 0


@asynccontextmanager
async def _reachable(options: ConnectionOptions) -> AsyncIterator[ConnectionOptions]:
    """Start the server of --embedded so that other processes can use it, too; yields options that connect to it."""
    if not options.embedded:
        yield options
        return
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from listwatch.cli.cluster.embedded import embedded_server

    with TemporaryDirectory(prefix="listwatch-") as folder:
        kubeconfig = Path(folder, "kubeconfig")
        async with embedded_server(kubeconfig=kubeconfig):
            _report(f"to use the embedded server in another terminal: export KUBECONFIG={kubeconfig}")
            yield replace(options, embedded=False, kubeconfig=str(kubeconfig))


def _report(line: str) -> None:
    click.echo(f"listwatch: {line}", err=True)


def _arguments(file: Path, options: ConnectionOptions, manager_options: ManagerOptions) -> list[str]:
    """The options of the child process."""
    given = {
        "--leader-election": manager_options.leader_election,
        "--lease-namespace": manager_options.lease_namespace,
        "--health-port": "" if manager_options.health_port is None else str(manager_options.health_port),
        "--health-host": manager_options.health_host,
        "--resync": str(manager_options.resync),
        "--grace-period": str(manager_options.grace_period),
        "--namespace": options.namespace,
        "--kubeconfig": options.kubeconfig,
        "--context": options.context,
        "--request-timeout": str(options.request_timeout),
    }
    return [
        str(file),
        *(part for name, value in given.items() if value for part in (name, value)),
        *["--inspect"] * manager_options.inspect,
        *["-v"] * options.verbose,
    ]


def _configure_logging(verbose: int) -> None:
    """Log what happens to stderr; with -v also each request. A program may replace this when it is imported."""
    import logging
    import sys

    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, stream=sys.stderr, format=_LOG_FORMAT)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
