"""Shell completion with live names: contexts, namespaces, resources and objects.

This module is imported for `--help`: it imports no client. A completion that fails or takes too long suggests nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from listwatch.cli.cluster.session import Session

__all__ = ["complete_contexts", "complete_namespaces", "complete_objects", "complete_pods", "complete_resources"]

_TIMEOUT = 5.0
_MAX_NAMES = 1000


def complete_contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suggest the contexts of the kubeconfig."""
    from listwatch.client.config.kubeconfig import read_kubeconfig
    from listwatch.errors import ListWatchError

    try:
        file = ctx.params.get("kubeconfig") or ctx.find_root().params.get("kubeconfig")
        return _items(read_kubeconfig(file or None).contexts, incomplete)
    except ListWatchError:
        return []


def complete_namespaces(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suggest the namespaces of the cluster."""
    return _items(_query(ctx, _namespaces), incomplete)


def complete_resources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suggest the resources of the cluster, or the built-in ones without a cluster; after a comma, the next one."""
    done, comma, rest = incomplete.rpartition(",")
    return _items(_query(ctx, _resources) or _builtin_resources(), rest, prefix=done + comma)


def complete_objects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suggest a resource, then the names of its objects: `pods web-0`, or `pods/web-0`."""
    kind, slash, rest = incomplete.partition("/")
    given = ctx.params.get(param.name or "") or ()
    if slash:
        return _items(_query(ctx, lambda session: _names(session, kind)), rest, prefix=f"{kind}/")
    if not given:
        return complete_resources(ctx, param, incomplete)
    if "/" in given[0]:
        return []
    taken = set(given[1:])
    names = _query(ctx, lambda session: _names(session, given[0].partition(",")[0]))
    return _items([name for name in names if name not in taken], incomplete)


def complete_pods(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Suggest the names of pods; after `TYPE/`, the names of objects of that type."""
    if "/" in incomplete:
        return complete_objects(ctx, param, incomplete)
    return _items(_query(ctx, lambda session: _names(session, "pods")), incomplete)


def _items(names: Iterable[str], incomplete: str, *, prefix: str = "") -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(prefix + name) for name in names if name.startswith(incomplete)]


# --- Names from the cluster -------------------------------------------------------------------------------------------


def _query(ctx: click.Context, read: Callable[[Session], Awaitable[list[str]]]) -> list[str]:
    """Read names from the cluster that the options of the command line select; none if that fails."""
    import asyncio

    from listwatch.cli.cluster.session import ConnectionOptions, open_session
    from listwatch.errors import ListWatchError

    given = {**ctx.find_root().params, **{name: value for name, value in ctx.params.items() if value}}
    options = ConnectionOptions(
        **{name: given[name] for name in ConnectionOptions.__slots__ if given.get(name) and name != "verbose"}
    )

    async def run() -> list[str]:
        async with asyncio.timeout(_TIMEOUT), open_session(options) as session:
            return await read(session)

    try:
        return asyncio.run(run())
    except (ListWatchError, OSError):
        return []


async def _namespaces(session: Session) -> list[str]:
    return [each.name for each in await session.client.metadata.resource("v1", "Namespace").list(limit=_MAX_NAMES)]


async def _resources(session: Session) -> list[str]:
    resources = [each for each in await session.mapper.resources() if "list" in each.verbs]
    return sorted({each.plural for each in resources})


def _builtin_resources() -> list[str]:
    from listwatch.models import resources

    return sorted({each.plural for each in resources() if "list" in each.verbs})


async def _names(session: Session, kind: str) -> list[str]:
    from listwatch.client.resources.metadata_client import MetadataClient

    resource = await session.mapper.resource_for(kind)
    client = MetadataClient(session.client.rest, mapper=session.mapper)
    found = await client.resource(resource, namespace=session.namespace_of(resource)).list(limit=_MAX_NAMES)
    return [each.name for each in found]
