"""`listwatch get`: objects as tables of the server, JSON, YAML, names or by a template."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import Target, find_targets, read_objects, selector_options, target_argument
from listwatch.cli.output import OutputFormat, format_objects, format_table, object_name, output_option, write
from listwatch.cli.tables.table import Table, read_table

__all__ = ["command"]


@click.command()
@target_argument()
@selector_options
@output_option()
@click.option("-w", "--watch", is_flag=True, help="Print the objects and each change, as `listwatch watch` does.")
@click.option("--no-headers", is_flag=True, help="Print tables without headers.")
@click.option("--show-labels", is_flag=True, help="Add a column with the labels.")
@click.option("--show-managed-fields", is_flag=True, help="Print metadata.managedFields in JSON and YAML.")
@connected()
async def command(
    session: Session,
    *,
    targets: tuple[str, ...],
    selector: str,
    field_selector: str,
    output: OutputFormat,
    watch: bool,
    no_headers: bool,
    show_labels: bool,
    show_managed_fields: bool,
) -> None:
    """Show objects.

    \b
      listwatch get pods -A
      listwatch get deploy/web -o yaml
      listwatch get pods -l app=web -o jsonpath='{.items[*].metadata.name}'
    """
    if watch:
        # Imported here: the other ways to call this command need no informer.
        from listwatch.cli.watching import watch_objects

        await watch_objects(session, targets, selector, field_selector, output)
        return
    found = await find_targets(session, targets)
    if output.is_table:
        tables = [await _table(session, each, selector, field_selector) for each in found]
        texts = [
            _format(
                table,
                wide=output.name == "wide",
                namespace=session.all_namespaces and each.resource.namespaced,
                labels=show_labels,
                prefix=object_name(each.resource) if len(found) > 1 else "",
                headers=not no_headers,
            )
            for each, table in zip(found, tables, strict=True)
            if table.rows
        ]
        write("\n".join(texts))
        if not texts:
            where = "" if session.all_namespaces else f" in the namespace {session.namespace}"
            print(f"No resources found{where}.", file=sys.stderr)
        return
    trees = [
        (each.resource, tree)
        for each in found
        for tree in await read_objects(
            session, each, selector=selector, field_selector=field_selector, managed_fields=show_managed_fields
        )
    ]
    if output.name == "name":
        write("".join(f"{object_name(resource, tree)}\n" for resource, tree in trees))
        return
    as_list = len(found) != 1 or len(found[0].names) != 1
    write(format_objects([tree for _, tree in trees], output, as_list=as_list))


async def _table(session: Session, target: Target, selector: str, field_selector: str) -> Table:
    if not target.names:
        return await read_table(session, target.resource, label_selector=selector, field_selector=field_selector)
    whole = Table()
    for name in target.names:
        table = await read_table(session, target.resource, name=name)
        whole.columns = table.columns
        whole.rows += table.rows
    return whole


def _format(table: Table, *, wide: bool, namespace: bool, labels: bool, prefix: str, headers: bool) -> str:
    table = table.without_empty_status()
    names = table.headers(wide=wide, namespace=namespace, labels=labels)
    rows = [table.cells(row, wide=wide, namespace=namespace, labels=labels, prefix=prefix) for row in table.rows]
    return format_table(names, rows, show_headers=headers)
