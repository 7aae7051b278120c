"""`listwatch top RESOURCE`: a live table of any resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from listwatch.cli.cluster.completion import complete_resources
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.targets import selector_options

if TYPE_CHECKING:
    from listwatch.cli.cluster.session import Session

__all__ = ["command"]


@click.command()
@click.argument("resource", shell_complete=complete_resources)
@selector_options
@click.option("--sort", default="", metavar="COLUMN", help="The column to sort by. [default: the first]")
@click.option("--reverse", is_flag=True, help="Sort in the other direction.")
@click.option("--filter", "words", default="", metavar="WORDS", help="Parts of namespace/name; !part; app=web.")
@click.option("--metadata", "metadata_only", is_flag=True, help="Read only the metadata: less memory, fewer columns.")
@click.option("--once", is_flag=True, help="Print the table once and exit, as without a terminal.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.02),
    default=0.1,
    show_default=True,
    metavar="SECONDS",
    help="The time between two frames.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="How long --once waits for the cache.",
)
@connected()
async def command(
    session: Session,
    resource: str,
    selector: str,
    field_selector: str,
    *,
    sort: str,
    reverse: bool,
    words: str,
    metadata_only: bool,
    once: bool,
    interval: float,
    timeout: float,
) -> None:
    """Show a live table of any resource: sort, filter and scroll; smooth with 100,000 objects.

    \b
        listwatch top pods -A
        listwatch top deployments --sort changes
        listwatch top secrets -A --metadata --filter 'team- !kube-system app=web'
    """
    import sys

    from rich.console import Console

    from listwatch.cli.output import write
    from listwatch.cli.top.live import Top

    found = await session.mapper.resource_for(resource)
    source = await session.checked_source(
        found, metadata_only=metadata_only, label_selector=selector, field_selector=field_selector
    )
    namespace = session.namespace_of(found)
    where = f"in {namespace}" if namespace else "in all namespaces" if found.namespaced else ""
    top = Top(source, source.kind, found, where=where, metadata_only=metadata_only, clock=session.clock)
    if sort:
        top.rows.sort(top.column(sort))
    if words:
        top.table.filter = words
    top.rows.is_reversed = reverse
    console = Console()
    if once or not (console.is_terminal and sys.stdin.isatty()):
        write(await top.text(timeout))
    else:
        await top.run(console, interval=interval)
