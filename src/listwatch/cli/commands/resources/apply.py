"""`listwatch apply`: server-side apply of manifests."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import object_tree
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.failures import explain
from listwatch.cli.manifest_files import filename_options, read_manifest_files
from listwatch.cli.output import OutputFormat, format_objects, object_name, output_option, write
from listwatch.client.manifests import Manifest, ManifestApplier, in_order
from listwatch.errors import APIError, ListWatchError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_VOLATILE = ("resourceVersion", "generation", "managedFields")


@click.command()
@filename_options()
@click.option(
    "--field-manager", default="listwatch", show_default=True, metavar="NAME", help="The manager of the fields."
)
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
    force_conflicts: bool,
    dry_run: bool,
    output: OutputFormat,
) -> int:
    """Apply the objects of files, folders or stdin server-side: namespaces and definitions first.

    An object that cannot be applied is reported with its file and document, and the others are applied.

    \b
      listwatch apply -f deploy/
      kustomize build . | listwatch apply -f -
    """
    manifests = in_order(read_manifest_files(filename, recursive=recursive))
    applier = ManifestApplier(
        dynamic=session.dynamic,
        namespace=session.namespace,
        server_side=True,
        force=force_conflicts,
        field_manager=field_manager,
        dry_run=dry_run,
    )
    code = ExitCode.OK
    stored: list[JSONObject] = []
    for manifest in manifests:
        try:
            resource, tree, outcome = await _apply(applier, manifest)
        except ListWatchError as error:
            message, failed = explain(error) or (str(error), ExitCode.FAILED)
            if failed is ExitCode.NO_CLUSTER:
                raise
            code = failed
            print(f"error: {manifest.place}: {_describe(manifest)}: {message}", file=sys.stderr)
            continue
        stored.append(tree)
        name = object_name(resource, tree)
        if output.is_table:
            write(f"{name} {outcome}{' (dry run)' if dry_run else ''}\n")
        elif output.name == "name":
            write(f"{name}\n")
    if stored and not (output.is_table or output.name == "name"):
        write(format_objects(stored, output, as_list=len(manifests) != 1))
    return code


async def _apply(applier: ManifestApplier, manifest: Manifest) -> tuple[Resource, JSONObject, str]:
    """Apply one object; return its resource, its content as stored, and whether it was created or changed."""
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
    tree = object_tree(after.without_managed_fields(), resource)
    if before is None:
        return resource, tree, "created"
    return resource, tree, "unchanged" if _content(before) == _content(after) else "configured"


def _content(obj: Unstructured) -> JSONObject:
    tree: JSONObject = obj.to_dict()
    metadata = tree.get("metadata")
    if isinstance(metadata, dict):
        tree["metadata"] = {name: value for name, value in metadata.items() if name not in _VOLATILE}
    return tree


def _describe(manifest: Manifest) -> str:
    return Unstructured.from_dict(manifest.content).describe()
