"""`listwatch demo`: the pipeline of an informer, live, while a Deployment rolls out and faults are injected."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command()
@click.option("--forever", is_flag=True, help="Repeat the story until Ctrl-C.")
def command(*, forever: bool) -> int:
    """Show the pipeline of an informer, live, on an embedded API server.

    A Deployment rolls out, a pod is deleted, a watch is cut, and the server compacts its history. The demo ends by
    itself after about twenty seconds with a summary of what was seen. Without a terminal, it prints plain lines.
    """
    # Imported here: `--help` needs neither rich nor a server.
    from rich.console import Console

    from listwatch.cli.running import run_async
    from listwatch.cli.scenario.demo import play_demo

    return run_async(play_demo(Console(), forever=forever))
