"""`listwatch inspect`: informers of some resources, and the inspector page that shows them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import Target, find_targets, selector_options, target_argument
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.inspector.inspector import Inspector
from listwatch.inspector.options import options_at
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]


@click.command()
@target_argument(required=False)
@selector_options
@click.option(
    "--address",
    default="127.0.0.1:0",
    metavar="HOST:PORT",
    help="The address to listen on. [default: 127.0.0.1, and a free port]",
)
@connected()
async def command(
    session: Session, *, targets: tuple[str, ...], selector: str, field_selector: str, address: str
) -> None:
    """Cache resources with informers, and serve a live page with their states and objects until Ctrl-C.

    Without arguments, the resources of the category `all` are cached. The page is read-only and never shows the data
    of Secrets.

    \b
      listwatch inspect pods,deployments -A
      listwatch inspect pods -l app=web --address 127.0.0.1:8090
    """
    options = options_at(address)
    found = await find_targets(session, targets or ("all",))
    informers = [_informer(session, target, selector, field_selector) for target in found]
    async with AsyncExitStack() as stack:
        for informer in informers:
            await stack.enter_async_context(informer)
        inspector = await stack.enter_async_context(Inspector(*informers, session.client, options=options))
        print(f"{', '.join(each.name for each in informers)}: {inspector.url}", flush=True)
        await asyncio.Event().wait()


def _informer(
    session: Session, target: Target, selector: str, field_selector: str
) -> SharedIndexInformer[Unstructured]:
    fields = target.watched_fields(field_selector)
    client = session.resource_client(target.resource).selecting(
        label_selector=selector or None, field_selector=fields or None
    )
    return SharedIndexInformer(client, Unstructured, name=str(target.resource.group_resource))
