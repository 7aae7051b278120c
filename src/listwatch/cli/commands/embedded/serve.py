"""`listwatch serve`: the embedded API server, for kubectl and other clients."""

from __future__ import annotations

import sys
from typing import Any

import click

from listwatch.cli.exit_codes import ExitCode
from listwatch.errors import ConfigError, UsageError
from listwatch.server.serving import TOKEN_VARIABLE, ServeOptions, serve

__all__ = ["command"]


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 2**16 - 1), default=0, help="The port to listen on. [default: a free port]"
)
@click.option(
    "--write-kubeconfig",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a kubeconfig with the administrator's token to FILE. [default: a temporary file]",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Persist all objects, the token and the certificate authority in this directory. [default: memory only]",
)
@click.option(
    "--snapshot",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Start with the objects of a file of APIServer.save_snapshot.",
)
@click.option(
    "--import",
    "imports",
    type=click.Path(dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Store the objects of a YAML file as they are, such as the output of kubectl get -o yaml. Can be repeated.",
)
@click.option("--tls/--no-tls", default=None, help="Serve HTTPS. [default: if a kubeconfig is written]")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help=f"A file with the bearer token of the administrator. [default: ${TOKEN_VARIABLE}, or generated]",
)
@click.option("--token", help="The bearer token; other users of this machine can see it in the list of processes.")
@click.option("--anonymous", is_flag=True, help="Allow requests without credentials.")
@click.option(
    "--authorization-mode",
    type=click.Choice(["AlwaysAllow", "RBAC"]),
    default="AlwaysAllow",
    help="Whether roles and bindings decide what users may do. [default: AlwaysAllow]",
)
@click.option(
    "--enable-admission-plugins",
    default="",
    metavar="NAMES",
    help="Admission plugins to enable that are disabled by default: ServiceAccount.",
)
@click.option(
    "--disable-admission-plugins",
    default="",
    metavar="NAMES",
    help="Admission plugins to disable, separated by commas, such as ResourceQuota.",
)
@click.option(
    "--controllers",
    default="*",
    metavar="NAMES",
    help="The built-in controllers to run, as for kube-controller-manager: *,-NAME for all but one. [default: all]",
)
@click.option(
    "--webhook-service",
    multiple=True,
    metavar="NAMESPACE/NAME=URL",
    help="Where the service of a webhook listens; NAMESPACE may be *. Can be repeated.",
)
@click.option("--simulate", is_flag=True, help="Simulate a cluster: nodes, a scheduler, controllers, running pods.")
@click.option(
    "--simulated-nodes",
    type=click.IntRange(0, 10_000),
    default=3,
    show_default=True,
    metavar="N",
    help="The number of simulated nodes.",
)
@click.option(
    "--stages",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A YAML file with stages of simulated pods and nodes, such as crashes.",
)
@click.option(
    "--replay",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Replay a recording of `listwatch record` or of a client; writes are rejected.",
)
@click.option("--speed", default="1", show_default=True, help="The speed of the replay: a number, or max.")
@click.option(
    "--start-at",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Play the first seconds as fast as possible.",
)
@click.option(
    "--wait-for-watches",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Start the replay when N watches are open.",
)
def command(**given: Any) -> int | None:
    """Serve an embedded API server until Ctrl-C, and print the line to use it.

    \b
      listwatch serve --data-dir data --write-kubeconfig kubeconfig
      export KUBECONFIG=$PWD/kubeconfig
      kubectl get namespaces
    """
    options = ServeOptions(**given)
    if options.token and options.token_file:
        raise click.UsageError("--token and --token-file exclude each other.")
    try:
        serve(options)
    except (ConfigError, UsageError) as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.FAILED
    return None
