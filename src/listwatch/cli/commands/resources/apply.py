"""`listwatch apply`: server-side apply of manifests."""

from __future__ import annotations

import sys

import click

from listwatch.cli.applied_manifests import apply_options, begin_set, make_applier, report_failure
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import object_tree
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.manifest_files import filename_options, read_manifest_files
from listwatch.cli.output import OutputFormat, format_objects, object_name, output_option, write
from listwatch.client.manifests import Manifest, ManifestApplier
from listwatch.errors import APIError, ListWatchError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_VOLATILE = ("resourceVersion", "generation", "managedFields")


@click.command()
@filename_options()
@apply_options
@click.option("--force-conflicts", is_flag=True, help="Take over fields that other managers own.")
@click.option("--dry-run", is_flag=True, help="Let the server check everything and store nothing.")
@output_option()
@connected(all_namespaces=False)
async def command(
    session: Session,
    *,
    filename: tuple[str, ...],
    recursive: bool,
    field_manager: str,
    applyset: str,
    prune: bool,
    force_conflicts: bool,
    dry_run: bool,
    output: OutputFormat,
) -> int:
    """Apply the objects of files, folders or stdin server-side: namespaces and definitions first.

    An object that cannot be applied is reported with its file and document, and the others are applied. With --prune,
    what an earlier apply of the --applyset created and the files no longer contain is deleted, unless an object failed.

    \b
      listwatch apply -f deploy/
      listwatch apply -f deploy/ --prune --applyset shop
      kustomize build . | listwatch apply -f -
    """
    manifests = read_manifest_files(filename, recursive=recursive)
    applier = make_applier(session, field_manager=field_manager, force=force_conflicts, dry_run=dry_run)
    found, members = await begin_set(applier, manifests, applyset=applyset, prune=prune)
    code = ExitCode.OK
    stored: list[JSONObject] = []
    kept: set[str] = set()
    suffix = " (dry run)" if dry_run else ""
    for manifest in members:
        try:
            resource, after, outcome = await _apply(applier, manifest)
        except ListWatchError as error:
            code = report_failure(manifest, error)
            continue
        kept.add(after.uid)
        tree = object_tree(after.without_managed_fields(), resource)
        stored.append(tree)
        name = object_name(resource, tree)
        if output.is_table:
            write(f"{name} {outcome}{suffix}\n")
        elif output.name == "name":
            write(f"{name}\n")
    if found is not None and code is ExitCode.OK:
        for client, each in await found.finish(kept):
            if output.is_table and client.resource is not None:
                write(f"{object_name(client.resource, each.to_dict())} pruned{suffix}\n")
    elif found is not None:
        print("nothing was pruned, because an object could not be applied", file=sys.stderr)
    if stored and not (output.is_table or output.name == "name"):
        write(format_objects(stored, output, as_list=len(manifests) != 1))
    return code


async def _apply(applier: ManifestApplier, manifest: Manifest) -> tuple[Resource, Unstructured, str]:
    """Apply one object; return its resource, the object as stored, and whether it was created or changed."""
    obj = Unstructured.from_dict(manifest.content)
    client = await applier.client_of(obj)
    try:
        before = await client.get(obj.name) if obj.name else None
    except NotFoundError:
        before = None
    except APIError:
        before = obj  # without a permission to read it, it counts as changed
    after = await applier.apply(obj)
    resource = client.resource
    assert resource is not None
    if before is None:
        return resource, after, "created"
    return resource, after, "unchanged" if _content(before) == _content(after) else "configured"


def _content(obj: Unstructured) -> JSONObject:
    tree: JSONObject = obj.to_dict()
    metadata = tree.get("metadata")
    if isinstance(metadata, dict):
        tree["metadata"] = {name: value for name, value in metadata.items() if name not in _VOLATILE}
    return tree
