"""`listwatch watch`: the changes of a resource, through an informer that resumes and relists by itself."""

from __future__ import annotations

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import selector_options, target_argument
from listwatch.cli.output import OutputFormat, output_option
from listwatch.cli.watching import watch_objects

__all__ = ["command"]


@click.command()
@target_argument()
@selector_options
@output_option()
@click.option("--changes-only", is_flag=True, help="Do not print the objects that exist already.")
@connected()
async def command(
    session: Session,
    *,
    targets: tuple[str, ...],
    selector: str,
    field_selector: str,
    output: OutputFormat,
    changes_only: bool,
) -> None:
    """Print the objects of a resource, then each change, until Ctrl-C.

    A lost watch is resumed, or the resource is listed again; stderr reports both.

    \b
      listwatch watch pods -A
      listwatch watch deploy/web -o jsonpath='{.status.readyReplicas}{"\\n"}'
    """
    await watch_objects(session, targets, selector, field_selector, output, changes_only=changes_only)
