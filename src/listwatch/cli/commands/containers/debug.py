"""`listwatch debug`: an ephemeral container in a running pod."""

from __future__ import annotations

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import find_pod
from listwatch.cli.cluster.session import Session
from listwatch.cli.terminal.process_streams import run_process, wants_terminal
from listwatch.client.containers.debug_container import add_debug_container

__all__ = ["command"]


@click.command()
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_pods)
@click.argument("arguments", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", required=True, metavar="IMAGE", help="The image of the container.")
@click.option("-c", "--container", default="", metavar="NAME", help="The name of the container. [default: a new one]")
@click.option("--target", default="", metavar="NAME", help="The container whose processes it sees.")
@click.option("-i", "--stdin", is_flag=True, help="Attach, and send the standard input.")
@click.option("-t", "--tty", is_flag=True, help="Run in a terminal; with -i, this terminal.")
@connected(all_namespaces=False)
async def command(
    session: Session,
    *,
    pod: str,
    arguments: tuple[str, ...],
    image: str,
    container: str,
    target: str,
    stdin: bool,
    tty: bool,
) -> int | None:
    """Add an ephemeral container to a pod, print its name, and with -i attach to it.

    \b
      listwatch debug web-0 --image busybox -it -- sh
    """
    found = await find_pod(session, pod, purpose="debugging")
    has_terminal = wants_terminal(tty=tty, stdin=stdin)
    pods = session.client.core_v1.pods(session.namespace)
    name = await add_debug_container(
        pods,
        found.name,
        image,
        container=container,
        command=arguments,
        target=target,
        stdin=stdin,
        tty=has_terminal,
        wait=stdin,
    )
    print(f"added container {name} to pod {found.name}", flush=True)
    if not stdin:
        return None
    process = pods.attach(found.name, container=name, stdin=True, tty=has_terminal)
    return await run_process(process, stdin=True, tty=has_terminal)
