"""`listwatch cache RESOURCE`: the size, memory and sync time of a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from listwatch.cli.cluster.completion import complete_resources
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.targets import selector_options
from listwatch.cli.output import format_size
from listwatch.wording import counted

if TYPE_CHECKING:
    from listwatch.cli.cache_report import CacheReport
    from listwatch.cli.cluster.session import Session

__all__ = ["command"]

_STRIP = "strip managedFields with transform=strip_managed_fields"


@click.command()
@click.argument("resource", shell_complete=complete_resources)
@selector_options
@click.option("--metadata", "metadata_only", is_flag=True, help="Cache only the metadata of the objects.")
@click.option("--strip-managed-fields", is_flag=True, help="Do not cache metadata.managedFields.")
@click.option("--list", "use_list", is_flag=True, help="Read by list requests, also where the server can stream.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the cache.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@connected()
async def command(
    session: Session,
    resource: str,
    selector: str,
    field_selector: str,
    *,
    metadata_only: bool,
    strip_managed_fields: bool,
    use_list: bool,
    timeout: float,
    output: str,
) -> None:
    """Sync a cache of a resource, and report objects, bytes, memory, time and the largest objects.

    \b
        listwatch cache pods -A
        listwatch cache pods -A --strip-managed-fields
    """
    from listwatch.cli.cache_report import measure_cache

    found = await session.mapper.resource_for(resource)
    source = await session.checked_source(
        found, metadata_only=metadata_only, label_selector=selector, field_selector=field_selector
    )
    report = await measure_cache(
        source,
        source.kind,
        resource=str(found.group_resource),
        namespace=session.namespace_of(found),
        streaming=not use_list,
        strip=strip_managed_fields,
        clock=session.clock,
        timeout=timeout,
    )
    if output == "json":
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        click.echo(_text(report), nl=False)


def _text(report: CacheReport) -> str:
    where = f"in {report.namespace}" if report.namespace else "in all namespaces"
    lines = [
        f"{report.resource} {where}: {report.objects:,} objects at version {report.resource_version}",
        "",
        _row("synced in", f"{report.seconds:.2f} s", f"by {report.synced_by}, {counted(report.requests, 'request')}"),
        _row("JSON", format_size(report.bytes), f"{format_size(report.bytes // max(report.objects, 1))} per object"),
        _row("managedFields", _share(report.managed_fields, report.bytes), _advice(report)),
    ]
    if report.memory is not None:
        per_object = format_size(max(report.memory, 0) // max(report.objects, 1))
        lines.append(
            _row("memory", format_size(max(report.memory, 0)), f"{per_object} per object, growth of this process")
        )
    if report.skipped:
        lines.append(_row("not stored", str(report.skipped), "objects that cannot be decoded"))
    for title, sizes in (("parts", report.parts), ("namespaces", report.namespaces)):
        lines += ["", f"largest {title}"]
        lines += [f"  {format_size(size):>9}  {_share(size, report.bytes):>5}  {name}" for name, size in sizes.items()]
    lines += ["", "largest objects"]
    lines += [f"  {format_size(each.bytes):>9}  {each.key}" for each in report.largest]
    lines += [f"problem: {each}" for each in report.problems]
    return "".join(f"{line}\n" for line in lines)


def _advice(report: CacheReport) -> str:
    return f"{format_size(report.managed_fields)}; {_STRIP}" if report.managed_fields else "none"


def _row(name: str, value: str, comment: str) -> str:
    return f"  {name:<14}{value:>9}  {comment}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"
