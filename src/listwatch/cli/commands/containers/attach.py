"""`listwatch attach`: the main process of a container."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import choose_container, find_pod
from listwatch.cli.cluster.session import Session
from listwatch.cli.terminal.process_streams import run_process, wants_terminal
from listwatch.models.core_v1 import Pod

__all__ = ["command"]


@click.command()
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_pods)
@click.option("-c", "--container", default="", metavar="NAME", help="The container. [default: the first one]")
@click.option("-i", "--stdin", is_flag=True, help="Send the standard input to the process.")
@click.option("-t", "--tty", is_flag=True, help="Use a terminal; the container must have one (tty: true).")
@connected(all_namespaces=False)
async def command(session: Session, *, pod: str, container: str, stdin: bool, tty: bool) -> int:
    """Show the output of the main process of a container, and send input to it.

    \b
      listwatch attach web-0
      listwatch attach -it shell-0
    """
    found = await find_pod(session, pod, purpose="attaching to")
    chosen = choose_container(found, container)
    if tty and not _has_terminal(found, chosen):
        print(f"no terminal is used: container {chosen} has none", file=sys.stderr)
        tty = False
    has_terminal = wants_terminal(tty=tty, stdin=stdin)
    pods = session.client.core_v1.pods(session.namespace)
    process = pods.attach(found.name, container=chosen, stdin=stdin, tty=has_terminal)
    return await run_process(process, stdin=stdin, tty=has_terminal)


def _has_terminal(pod: Pod, container: str) -> bool:
    spec = pod.spec
    ephemeral = [(each.name, each.tty) for each in spec.ephemeral_containers]
    return (container, True) in [*((each.name, each.tty) for each in spec.containers), *ephemeral]
