"""`listwatch completion`: the completion script of a shell."""

from __future__ import annotations

import click

from listwatch.cli.output import write
from listwatch.cli.shells import SHELLS, completion_script

__all__ = ["command"]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script of a shell: names of commands, options, resources, namespaces and objects.

    `listwatch --install-completion` installs it.

    \b
      source <(listwatch completion bash)
    """
    write(completion_script(shell))
