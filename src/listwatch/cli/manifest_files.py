"""The options `-f` and `-R`: manifests from files, folders and stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click

from listwatch.client.manifests import Manifest, load_manifests, read_manifests

__all__ = ["filename_options", "read_manifest_files"]

Function = Callable[..., object]


def filename_options(*, required: bool = True) -> Callable[[Function], Function]:
    """Return a decorator that adds `-f` and `-R`."""
    recursive = click.option("-R", "--recursive", is_flag=True, help="Read the folders of -f with their sub-folders.")
    filename = click.option(
        "-f",
        "--filename",
        multiple=True,
        required=required,
        metavar="FILE",
        type=click.Path(allow_dash=True),
        help="A file or folder with YAML or JSON; - is stdin. May be repeated.",
    )
    return lambda function: filename(recursive(function))


def read_manifest_files(paths: Sequence[str], *, recursive: bool) -> list[Manifest]:
    """Read the objects of files, folders and stdin."""
    found: list[Manifest] = []
    for path in paths:
        if path == "-":
            found += read_manifests(sys.stdin.buffer.read(), "stdin")
        else:
            found += load_manifests(path, recursive=recursive)
    if not found:
        raise click.UsageError(f"{', '.join(paths)} has no objects.")
    return found
