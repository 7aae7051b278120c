"""The options that `apply` and `diff` share, and the manifests that they read, as members of a set if one is named."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import click

from listwatch.cli.cluster.session import Session
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.failures import explain
from listwatch.client.manifests import Manifest, ManifestApplier, in_order
from listwatch.client.server_side_apply.apply_set import ApplySet
from listwatch.errors import ListWatchError
from listwatch.json_value import JSON
from listwatch.objects.unstructured import Unstructured

__all__ = ["apply_options", "begin_set", "make_applier", "report_failure"]

Function = Callable[..., object]

_NOT_SHOWN = "(not shown)"
_WRONG_VALUE = re.compile(r"&value\.valueUnstructured\{Value:[^\n]*?\}(?=\s|$)")
"""How kube-apiserver prints a value of the wrong type."""


def apply_options(function: Function) -> Function:
    """Add `--field-manager`, `--applyset` and `--prune`."""
    prune = click.option("--prune", is_flag=True, help="Delete the objects of the --applyset that are not given now.")
    applyset = click.option(
        "--applyset",
        default="",
        metavar="NAME",
        help="The set that the objects belong to: a ConfigMap of this name in the namespace.",
    )
    manager = click.option(
        "--field-manager", default="listwatch", show_default=True, metavar="NAME", help="The manager of the fields."
    )
    return manager(applyset(prune(function)))


def make_applier(session: Session, *, field_manager: str, force: bool, dry_run: bool) -> ManifestApplier:
    """Return an applier in the namespace of the session."""
    return ManifestApplier(
        dynamic=session.dynamic,
        namespace=session.namespace,
        server_side=True,
        force=force,
        field_manager=field_manager,
        dry_run=dry_run,
    )


async def begin_set(
    applier: ManifestApplier, manifests: Sequence[Manifest], *, applyset: str, prune: bool
) -> tuple[ApplySet | None, list[Manifest]]:
    """Return the set that is named, and the manifests in the order of their application, with the label of the set."""
    if prune != bool(applyset):
        missing, given = ("--applyset NAME", "--prune") if prune else ("--prune", "--applyset")
        raise click.UsageError(f"{given} needs {missing}: the set records what an earlier apply created.")
    ordered = in_order(manifests)
    if not prune:
        return None, ordered
    found = ApplySet(applier, applyset)
    members = await found.begin([each.content for each in ordered])
    return found, [replace(each, content=member.to_dict()) for each, member in zip(ordered, members, strict=True)]


def report_failure(manifest: Manifest, error: ListWatchError) -> ExitCode:
    """Print why an object failed, with its file and document; an unreachable cluster is raised."""
    message, code = explain(error) or (str(error), ExitCode.FAILED)
    if code is ExitCode.NO_CLUSTER:
        raise error
    obj = Unstructured.from_dict(manifest.content)
    if obj.kind == "Secret":
        message = _without_values(message, manifest.content)
    print(f"error: {manifest.place}: {obj.describe()}: {message}", file=sys.stderr)
    return code


def _without_values(message: str, secret: Mapping[str, JSON]) -> str:
    """Return an error of the server without the values of a Secret: it names those that have another type."""
    values = {text for name in ("data", "stringData") for text in _texts(secret.get(name))}
    for text in sorted(values, key=len, reverse=True):
        message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", _NOT_SHOWN, message)
    return _WRONG_VALUE.sub(_NOT_SHOWN, message)


def _texts(value: JSON) -> Iterator[str]:
    """Return all values within a value, as text."""
    match value:
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case str() | int() | float() if str(value).strip():
            yield str(value)
