"""`listwatch exec`: a command in a container."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import choose_container, find_pod
from listwatch.cli.cluster.session import Session
from listwatch.cli.terminal.process_streams import run_process, wants_terminal

__all__ = ["command"]


@click.command()
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_pods)
@click.argument("arguments", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-c", "--container", default="", metavar="NAME", help="The container. [default: the first one]")
@click.option("-i", "--stdin", is_flag=True, help="Send the standard input to the command.")
@click.option("-t", "--tty", is_flag=True, help="Run the command in a terminal; with -i, this terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Do not report which container was chosen.")
@connected(all_namespaces=False)
async def command(
    session: Session, *, pod: str, arguments: tuple[str, ...], container: str, stdin: bool, tty: bool, quiet: bool
) -> int:
    """Run a command in a container of a pod, or of the first pod of a workload. Its exit code is that of the command.

    \b
      listwatch exec web-0 -- ls -l /etc
      listwatch exec -it deploy/web -c nginx -- sh
    """
    found = await find_pod(session, pod, purpose="running the command in")
    chosen = choose_container(found, container, quiet=quiet)
    has_terminal = wants_terminal(tty=tty, stdin=stdin)
    pods = session.client.core_v1.pods(session.namespace)
    process = pods.stream_exec(found.name, arguments, container=chosen, stdin=stdin, tty=has_terminal)
    code = await run_process(process, stdin=stdin, tty=has_terminal)
    if code:
        print(f"command terminated with exit code {code}", file=sys.stderr)
    return code
