"""Prints the changes of a resource, for `listwatch watch` and `listwatch get --watch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import find_target, object_tree
from listwatch.cli.output import OutputFormat, format_objects, format_table, object_name, write
from listwatch.cli.reporting_informer import synced_informer
from listwatch.cli.tables.table import Row
from listwatch.cli.tables.table_source import TableSource
from listwatch.informer.handlers import Change, ObjectAdded
from listwatch.keyed import Cached
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["watch_objects"]

T = TypeVar("T", bound=Cached)

_STATUS_WIDTH = len("ContainerCreating")


async def watch_objects(
    session: Session,
    targets: Sequence[str],
    selector: str,
    field_selector: str,
    output: OutputFormat,
    *,
    changes_only: bool = False,
) -> None:
    """Print the objects that the arguments name, then each change of them."""
    target = await find_target(session, targets)
    fields = target.watched_fields(field_selector)
    if output.is_table:
        await _watch_table(session, target.resource, selector, fields, output, changes_only=changes_only)
    else:
        await _watch_objects(session, target.resource, selector, fields, output, changes_only=changes_only)


async def _watch_table(
    session: Session, resource: Resource, selector: str, fields: str, output: OutputFormat, *, changes_only: bool
) -> None:
    source = TableSource(session, resource, label_selector=selector, field_selector=fields)
    wide, namespace = output.name == "wide", session.all_namespaces and resource.namespaced
    show_headers = True
    async with synced_informer(source.list_watch(), Row, name=resource.plural) as informer:
        # Wide enough for all rows, and for the states that usually follow.
        headers = ["Event", *source.table.headers(wide=wide, namespace=namespace)]
        widths = [len("MODIFIED"), *(_STATUS_WIDTH if each == "Status" else 0 for each in headers[1:])]
        rows = [source.table.cells(each, wide=wide, namespace=namespace) for each in informer.indexer.list()]
        format_table(headers, [["", *row] for row in rows], widths=widths)
        async for change in informer.changes():
            if changes_only and _is_initial(change):
                continue
            headers = ["Event", *source.table.headers(wide=wide, namespace=namespace)]
            row = [change.type, *source.table.cells(change.object, wide=wide, namespace=namespace)]
            write(format_table(headers, [row], show_headers=show_headers, widths=widths))
            show_headers = False


async def _watch_objects(
    session: Session, resource: Resource, selector: str, fields: str, output: OutputFormat, *, changes_only: bool
) -> None:
    client = session.resource_client(resource).selecting(label_selector=selector or None, field_selector=fields or None)
    is_first = True
    async with synced_informer(client, Unstructured, name=resource.plural) as informer:
        async for change in informer.changes():
            if changes_only and _is_initial(change):
                continue
            tree = object_tree(change.object.without_managed_fields(), resource)
            match output.name:
                case "name":
                    write(f"{object_name(resource, tree)}\n")
                case "json":
                    write(msgspec.json.encode({"type": change.type, "object": tree}).decode() + "\n")
                case "yaml":
                    write(("" if is_first else "---\n") + format_objects([tree], output, as_list=False))
                case _:
                    write(format_objects([tree], output, as_list=False))
            is_first = False


def _is_initial(change: Change[T]) -> bool:
    return isinstance(change, ObjectAdded) and change.is_initial
