"""`listwatch events`: the events of a namespace or an object."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.completion import complete_objects
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import Target, find_target, object_tree, read_objects
from listwatch.cli.output import OutputFormat, format_objects, format_table, object_name, output_option, write
from listwatch.cli.reporting_informer import synced_informer
from listwatch.cli.tables.event_table import EVENT_HEADERS, event_row, event_time
from listwatch.informer.handlers import ObjectAdded, ObjectDeleted
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]


@click.command()
@click.option(
    "--for", "about", default="", metavar="TYPE/NAME", shell_complete=complete_objects, help="Events of one object."
)
@click.option("--types", default="", metavar="TYPES", help="Only these types, as in Warning or Normal,Warning.")
@click.option("-w", "--watch", is_flag=True, help="Print new events until Ctrl-C.")
@click.option("--no-headers", is_flag=True, help="Print the table without headers.")
@output_option()
@connected()
async def command(
    session: Session, *, about: str, types: str, watch: bool, no_headers: bool, output: OutputFormat
) -> None:
    """Show events, the newest last.

    \b
      listwatch events -A --types Warning
      listwatch events --for deploy/web --watch
    """
    resource = await session.mapper.resource_for("v1", "Event")
    selector = await _selector(session, about)
    accepted = {each.lower() for each in types.split(",") if each}
    printer = _Printer(session, resource, output, show_headers=not no_headers)
    if watch:
        await _watch(session, resource, selector, accepted, printer)
        return
    found = await read_objects(session, Target(resource), field_selector=selector, managed_fields=False)
    chosen = sorted((each for each in found if _is_accepted(each, accepted)), key=event_time)
    printer.write(chosen, as_list=True)
    if not chosen and output.is_table:
        print("No events found.", file=sys.stderr)


async def _watch(session: Session, resource: Resource, selector: str, accepted: set[str], printer: _Printer) -> None:
    client = session.resource_client(resource).selecting(field_selector=selector or None)
    async with synced_informer(client, Unstructured, name="events") as informer:
        present = [object_tree(each, resource) for each in informer.indexer.list()]
        printer.write(sorted((each for each in present if _is_accepted(each, accepted)), key=event_time), as_list=True)
        async for change in informer.changes():
            if isinstance(change, ObjectDeleted) or (isinstance(change, ObjectAdded) and change.is_initial):
                continue
            tree = object_tree(change.object, resource)
            if _is_accepted(tree, accepted):
                printer.write([tree], as_list=False)


async def _selector(session: Session, about: str) -> str:
    if not about:
        return ""
    target = await find_target(session, [about], named=True)
    return f"involvedObject.kind={target.resource.kind},involvedObject.name={target.names[0]}"


def _is_accepted(event: JSONObject, types: set[str]) -> bool:
    return not types or str(event.get("type", "")).lower() in types


class _Printer:
    def __init__(self, session: Session, resource: Resource, output: OutputFormat, *, show_headers: bool) -> None:
        self._session = session
        self._resource = resource
        self._output = output
        self._show_headers = show_headers
        self._widths: list[int] = []

    def write(self, events: list[JSONObject], *, as_list: bool) -> None:
        if self._output.is_table:
            self._write_table(events)
        elif self._output.name == "name":
            write("".join(f"{object_name(self._resource, each)}\n" for each in events))
        else:
            write(format_objects(events, self._output, as_list=as_list))

    def _write_table(self, events: list[JSONObject]) -> None:
        if not events:
            return
        now = self._session.clock.now()
        rows = [event_row(each, now) for each in events]
        headers = EVENT_HEADERS
        if self._session.all_namespaces:
            headers = ["Namespace", *headers]
            rows = [[_namespace(event), *row] for event, row in zip(events, rows, strict=True)]
        write(format_table(headers, rows, show_headers=self._show_headers, widths=self._widths))
        self._show_headers = False


def _namespace(event: JSONObject) -> object:
    metadata = event.get("metadata")
    return metadata.get("namespace") if isinstance(metadata, dict) else ""
