"""`listwatch delete`: objects by name, selector or manifest."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Literal, NamedTuple

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import find_targets, selector_options, target_argument
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.failures import message_of
from listwatch.cli.manifest_files import filename_options, read_manifest_files
from listwatch.cli.output import object_name, write
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.wait.conditions import deleted
from listwatch.client.wait.wait_for import wait_for
from listwatch.errors import NotFoundError
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_POLICIES: dict[str, Literal["Background", "Foreground", "Orphan"]] = {
    "background": "Background",
    "foreground": "Foreground",
    "orphan": "Orphan",
}


class _Deletion(NamedTuple):
    resource: Resource
    client: ResourceClient[Unstructured]
    name: str

    def __str__(self) -> str:
        return object_name(self.resource, {"metadata": {"name": self.name}})


@click.command()
@target_argument(required=False)
@filename_options(required=False)
@selector_options
@click.option("--all", "every", is_flag=True, help="All objects of the resource in the namespace.")
@click.option(
    "--cascade",
    type=click.Choice([*_POLICIES]),
    default="background",
    show_default=True,
    help="What happens to the objects that they own.",
)
@click.option("--grace-period", type=click.IntRange(min=0), metavar="SECONDS", help="The time that pods have to stop.")
@click.option("--ignore-not-found", is_flag=True, help="Succeed if an object does not exist.")
@click.option("--wait/--no-wait", default=True, help="Wait until the objects are gone. [default: wait]")
@click.option("--dry-run", is_flag=True, help="Let the server check everything and delete nothing.")
@connected()
async def command(
    session: Session,
    *,
    targets: tuple[str, ...],
    filename: tuple[str, ...],
    recursive: bool,
    selector: str,
    field_selector: str,
    every: bool,
    cascade: str,
    grace_period: int | None,
    ignore_not_found: bool,
    wait: bool,
    dry_run: bool,
) -> int:
    """Delete objects by name, by selector or by manifest.

    \b
      listwatch delete pod/web-0
      listwatch delete configmaps -l app=web
      listwatch delete -f deploy/
    """
    if bool(targets) == bool(filename):
        raise click.UsageError("Name objects, as in pod/web-0, or pass their manifests with -f.")
    if filename:
        deletions = await _from_files(session, filename, recursive=recursive)
    else:
        deletions = await _from_targets(session, targets, selector, field_selector, every=every)
    code = ExitCode.OK
    gone: list[_Deletion] = []
    for each in deletions:
        try:
            await each.client.delete(
                each.name, propagation_policy=_POLICIES[cascade], grace_period_seconds=grace_period, dry_run=dry_run
            )
        except NotFoundError as error:
            if not ignore_not_found:
                print(f"error: {message_of(error)}", file=sys.stderr)
                code = ExitCode.FAILED
            continue
        write(f"{each} deleted{' (dry run)' if dry_run else ''}\n")
        gone.append(each)
    if wait and not dry_run:
        for each in gone:
            await wait_for(each.client, each.name, deleted)
    if not deletions:
        print("No resources found.", file=sys.stderr)
    return code


async def _from_targets(
    session: Session, targets: tuple[str, ...], selector: str, field_selector: str, *, every: bool
) -> list[_Deletion]:
    found: list[_Deletion] = []
    for target in await find_targets(session, targets):
        if target.names:
            client = session.resource_client(target.resource)
            found += [_Deletion(target.resource, client, name) for name in target.names]
        elif selector or field_selector or every:
            client = session.resource_client(target.resource)
            listed = await client.list(label_selector=selector or None, field_selector=field_selector or None)
            found += [_Deletion(target.resource, client.namespace(each.namespace), each.name) for each in listed]
        else:
            raise click.UsageError(f"Name the {target.resource.plural} to delete, or pass --selector or --all.")
    return found


async def _from_files(session: Session, filename: Iterable[str], *, recursive: bool) -> list[_Deletion]:
    found: list[_Deletion] = []
    # In the reverse order: a namespace is deleted after what it contains.
    for manifest in reversed(read_manifest_files([*filename], recursive=recursive)):
        obj = Unstructured.from_dict(manifest.content)
        resource = await session.mapper.resource_for(obj.api_version, obj.kind)
        namespace = (obj.namespace or session.namespace) if resource.namespaced else ""
        found.append(_Deletion(resource, session.dynamic.resource(resource, namespace=namespace), obj.name))
    return found
