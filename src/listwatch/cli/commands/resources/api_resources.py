"""`listwatch api-resources`: what the server serves."""

from __future__ import annotations

import click
import msgspec

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import OutputFormat, format_objects, format_table, output_option, write
from listwatch.json_value import JSONObject
from listwatch.meta import Resource

__all__ = ["command"]


@click.command()
@output_option()
@click.option("--namespaced/--cluster-scoped", default=None, help="Only resources with, or without, namespaces.")
@click.option("--api-group", default=None, metavar="GROUP", help="Only resources of this group; '' is the core group.")
@click.option("--verbs", default="", metavar="VERBS", help="Only resources with all these verbs, as in list,watch.")
@click.option("--no-headers", is_flag=True, help="Print the table without headers.")
@connected(namespaced=False)
async def command(
    session: Session,
    *,
    output: OutputFormat,
    namespaced: bool | None,
    api_group: str | None,
    verbs: str,
    no_headers: bool,
) -> None:
    """List the resources of the server, each in its preferred version.

    \b
      listwatch api-resources --namespaced -o name
    """
    needed = {verb for verb in verbs.split(",") if verb}
    found = [
        each
        for each in await _preferred(session)
        if namespaced in (None, each.namespaced) and api_group in (None, each.group) and needed.issubset(each.verbs)
    ]
    if output.name == "name":
        write("".join(f"{each.group_resource}\n" for each in found))
    elif output.is_table:
        wide = output.name == "wide"
        headers = ["Name", "Shortnames", "APIVersion", "Namespaced", "Kind", *(["Verbs", "Categories"] if wide else [])]
        rows = [_row(each, wide=wide) for each in found]
        write(format_table(headers, rows, show_headers=not no_headers))
    else:
        trees: list[JSONObject] = [msgspec.to_builtins(each) for each in found]
        write(format_objects(trees, output, as_list=True))


async def _preferred(session: Session) -> list[Resource]:
    found: dict[object, Resource] = {}
    for resource in await session.mapper.resources():
        found.setdefault(resource.group_resource, resource)
    return sorted(found.values(), key=lambda each: (each.group, each.plural))


def _row(resource: Resource, *, wide: bool) -> list[object]:
    cells: list[object] = [
        resource.plural,
        ",".join(resource.short_names),
        resource.api_version,
        resource.namespaced,
        resource.kind,
    ]
    return [*cells, ",".join(resource.verbs), ",".join(resource.categories)] if wide else cells
