"""`listwatch watch`: the changes of a resource, through an informer that resumes and relists by itself."""

from __future__ import annotations

import click
import msgspec

from listwatch.cli.connection import connected
from listwatch.cli.output import OutputFormat, format_objects, format_table, object_name, output_option, write
from listwatch.cli.reporting_informer import synced_informer
from listwatch.cli.session import Session
from listwatch.cli.tables import object_row
from listwatch.cli.targets import Target, find_target, object_tree, selector_options, target_argument
from listwatch.informer.handlers import Change, ObjectAdded
from listwatch.objects.unstructured import Unstructured

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
    target = await find_target(session, targets)
    if len(target.names) > 1:
        raise click.UsageError("Watch one object, or select several with --selector.")
    fields = ",".join(filter(None, (field_selector, *(f"metadata.name={name}" for name in target.names))))
    client = session.resource_client(target.resource).selecting(
        label_selector=selector or None, field_selector=fields or None
    )
    async with synced_informer(client) as informer:
        printer = _Printer(session, target, output)
        printer.align([*informer.indexer.list()])
        async for change in informer.changes():
            if not (changes_only and isinstance(change, ObjectAdded) and change.is_initial):
                printer.write(change)


class _Printer:
    """Writes each change in the format of `-o`."""

    def __init__(self, session: Session, target: Target, output: OutputFormat) -> None:
        self._resource = target.resource
        self._output = output
        self._clock = session.clock
        self._shows_namespace = session.all_namespaces and target.resource.namespaced
        # States change while a watch runs: the columns are wide enough for the usual ones.
        self._widths = [8, *([9] if self._shows_namespace else []), 20, 11]
        self._is_first = True

    def align(self, objects: list[Unstructured]) -> None:
        """Make the columns wide enough for these objects."""
        if self._output.is_table:
            format_table([], [self._cells("MODIFIED", each) for each in objects], widths=self._widths)

    def write(self, change: Change[Unstructured]) -> None:
        """Write one change."""
        obj = change.object
        if self._output.is_table:
            headers = ["Event", *(["Namespace"] if self._shows_namespace else []), "Name", "Status", "Age"]
            row = self._cells(change.type, obj)
            write(format_table(headers, [row], show_headers=self._is_first, widths=self._widths))
        else:
            tree = object_tree(obj.without_managed_fields(), self._resource)
            match self._output.name:
                case "name":
                    write(f"{object_name(self._resource, tree)}\n")
                case "json":
                    write(msgspec.json.encode({"type": change.type, "object": tree}).decode() + "\n")
                case "yaml":
                    separator = "" if self._is_first else "---\n"
                    write(separator + format_objects([tree], self._output, as_list=False))
                case _:
                    write(format_objects([tree], self._output, as_list=False))
        self._is_first = False

    def _cells(self, event: str, obj: Unstructured) -> list[object]:
        row = object_row(object_tree(obj, self._resource), self._clock.now())
        return [event, *([obj.namespace] if self._shows_namespace else []), *row.cells]
