"""`listwatch diff`: what an apply of manifests would change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

from listwatch.cli.applied_manifests import apply_options, begin_set, make_applier, report_failure
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.failures import explain
from listwatch.cli.manifest_files import filename_options, read_manifest_files
from listwatch.cli.output import write
from listwatch.client.manifests import Manifest, ManifestApplier
from listwatch.client.server_side_apply.apply_object import compare
from listwatch.client.server_side_apply.object_diff import ObjectDiff, changed_fields
from listwatch.errors import ListWatchError, NoMatchError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_DIFFERENT = ExitCode.FAILED  # 1, as with diff and kubectl diff
_COLORS = {"+": "green", "-": "red", "~": "yellow", "!": "magenta", "@": "cyan"}


@click.command()
@filename_options()
@apply_options
@connected(all_namespaces=False)
async def command(
    session: Session, *, filename: tuple[str, ...], recursive: bool, field_manager: str, applyset: str, prune: bool
) -> int:
    """Show what `apply` would change, field by field, and which fields other managers own.

    The server compares, by a dry run. The exit code is 0 without differences, 1 with differences, greater than 1 after
    an error.

    \b
      listwatch diff -f deploy/
      kustomize build . | listwatch diff -f -
    """
    try:
        manifests = read_manifest_files(filename, recursive=recursive)
        applier = make_applier(session, field_manager=field_manager, force=False, dry_run=True)
        found, members = await begin_set(applier, manifests, applyset=applyset, prune=prune)
        code, kept = await _compare_all(applier, members)
        if found is not None and code <= _DIFFERENT:
            for client, obj in await found.obsolete(kept):
                kind = client.resource.kind if client.resource else ""
                _show(f"- {kind} {obj.key} (pruned)")
                code = _DIFFERENT
    except (ListWatchError, OSError) as error:
        if isinstance(error, BrokenPipeError) or (explained := explain(error)) is None:
            raise
        # Not 1, which is the code for differences.
        print(f"error: {explained.message}", file=sys.stderr)
        return max(explained.code, ExitCode.USAGE)
    return code


async def _compare_all(applier: ManifestApplier, manifests: list[Manifest]) -> tuple[int, set[str]]:
    """Print the differences of all objects; return the exit code, and the uids of the objects that exist."""
    pending = _Pending(manifests)
    code, kept = 0, set[str]()
    for manifest in manifests:
        obj = Unstructured.from_dict(manifest.content)
        try:
            difference = await compare(applier, obj)
        except (NoMatchError, NotFoundError) as error:
            if not pending.explains(obj):
                code = max(code, report_failure(manifest, error), ExitCode.USAGE)
                continue
            kind: JSONObject = {"apiVersion": obj.api_version, "kind": obj.kind}
            difference = ObjectDiff(obj.describe(), False, changed_fields(kind, obj.to_dict()))
        except ListWatchError as error:
            code = max(code, report_failure(manifest, error), ExitCode.USAGE)
            continue
        kept.add(difference.uid)
        if difference:
            _show(str(difference))
            code = max(code, _DIFFERENT)
    return code, kept


class _Pending:
    """The namespaces and kinds that the manifests themselves create, so that the server may not have them yet."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._namespaces: set[str] = set()
        self._kinds: set[tuple[str, str]] = set()
        for each in manifests:
            match each.content:
                case {"kind": "Namespace", "metadata": {"name": str(name)}}:
                    self._namespaces.add(name)
                case {"kind": "CustomResourceDefinition", "spec": {"group": str(group), "names": {"kind": str(kind)}}}:
                    self._kinds.add((group, kind))

    def explains(self, obj: Unstructured) -> bool:
        """Whether an object cannot be compared because its namespace or kind does not exist yet."""
        return obj.namespace in self._namespaces or (obj.api_version.partition("/")[0], obj.kind) in self._kinds


def _show(text: str) -> None:
    """Print lines, on a terminal in colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        write(f"{text}\n")
        return
    for number, line in enumerate(text.split("\n")):
        color = _COLORS.get(line.removeprefix("    ")[:1])
        write(click.style(line, fg=color, bold=True if number == 0 and color is None else None) + "\n")
