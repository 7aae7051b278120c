"""The options that select a cluster and a namespace. They are accepted before and after the name of a command.

    @click.command()
    @connected()
    @click.argument("name")
    async def command(session: Session, name: str) -> None: ...

This module is imported for `--help` and for completion: it imports no client. `session.py` opens the clients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import click

from listwatch.cli.cluster.completion import complete_contexts, complete_namespaces

if TYPE_CHECKING:
    from listwatch.cli.cluster.session import ConnectionOptions

__all__ = ["connected", "connection_options", "take_options"]

_LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"

Function = Callable[..., object]


def connected(
    *, namespaced: bool = True, all_namespaces: bool = True
) -> Callable[[Callable[..., Coroutine[object, object, object]]], Callable[..., object]]:
    """Add the connection options to a command, and call its async function with a Session.

    What the function returns is the exit code; None is success. `connection_options` has the parameters.
    """

    def decorate(function: Callable[..., Coroutine[object, object, object]]) -> Callable[..., object]:
        @functools.wraps(function)
        def command(**arguments: object) -> object:
            # Imported here: `--help` needs no client.
            from listwatch.cli.cluster.session import open_session
            from listwatch.cli.running import RetryReporter, run_async
            from listwatch.tasks.retry_observer import observing_retries

            options = take_options(arguments)
            _configure_logging(options.verbose)

            async def run() -> object:
                with observing_retries(RetryReporter()):
                    async with open_session(options) as session:
                        return await function(session, **arguments)

            return run_async(run())

        return connection_options(namespaced=namespaced, all_namespaces=all_namespaces)(command)

    return decorate


def connection_options(*, namespaced: bool = True, all_namespaces: bool = True) -> Callable[[Function], Function]:
    """Return a decorator that adds the options; `namespaced` adds --namespace, `all_namespaces` --all-namespaces."""
    options = [*_CONNECTION]
    if namespaced and all_namespaces:
        options.insert(0, _ALL_NAMESPACES)
    if namespaced:
        options.insert(0, _NAMESPACE)

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def take_options(arguments: dict[str, object]) -> ConnectionOptions:
    """Remove the options from the arguments of the running command; those before its name are the defaults."""
    from listwatch.cli.cluster.session import ConnectionOptions

    before = click.get_current_context().find_root().params
    names = [name for name in ConnectionOptions.__slots__ if name in arguments]
    values: dict[str, Any] = {name: arguments.pop(name) or before.get(name) for name in names}  # of mixed types
    return ConnectionOptions(**{name: value for name, value in values.items() if value})


def _configure_logging(verbose: int) -> None:
    """Log warnings to stderr, with 1 also what happens, with 2 also each request."""
    import logging
    import sys

    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, stream=sys.stderr, format=_LOG_FORMAT if verbose else "%(message)s")
    logging.getLogger("asyncio").setLevel(logging.WARNING)


_NAMESPACE = click.option(
    "-n",
    "--namespace",
    default="",
    metavar="NAME",
    shell_complete=complete_namespaces,
    help="The namespace. [default: that of the context]",
)
_ALL_NAMESPACES = click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces.")
_CONNECTION = [
    click.option(
        "--kubeconfig",
        default="",
        type=click.Path(dir_okay=False),
        help="The kubeconfig file. [default: $KUBECONFIG, ~/.kube/config, or the service account of the pod]",
    ),
    click.option(
        "--context",
        default="",
        metavar="NAME",
        shell_complete=complete_contexts,
        help="The context of the kubeconfig. [default: its current context]",
    ),
    click.option("--embedded", is_flag=True, help="Start an embedded API server with sample objects for this command."),
    click.option(
        "--request-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="The timeout of a request. [default: 20]",
    ),
    click.option("-v", "--verbose", count=True, help="Log to stderr; -vv logs each request."),
]
