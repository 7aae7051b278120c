"""The options `-f` and `-R`: manifests from files, folders, URLs and stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click

from listwatch._version import __version__
from listwatch.client.manifests import Manifest, load_manifests, read_manifests
from listwatch.errors import UsageError

__all__ = ["filename_options", "read_manifest_files"]

Function = Callable[..., object]

_SCHEMES = ("http://", "https://")
_TIMEOUT = 30.0
_MAX_SIZE = 64 * 2**20


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
        help="A file, folder or URL with YAML or JSON; - is stdin. May be repeated.",
    )
    return lambda function: filename(recursive(function))


def read_manifest_files(paths: Sequence[str], *, recursive: bool) -> list[Manifest]:
    """Read the objects of files, folders, URLs and stdin."""
    found: list[Manifest] = []
    for path in paths:
        if path == "-":
            found += read_manifests(sys.stdin.buffer.read(), "stdin")
        elif path.startswith(_SCHEMES):
            found += read_manifests(_download(path), path)
        else:
            found += load_manifests(path, recursive=recursive)
    if not found:
        raise click.UsageError(f"{', '.join(paths)} has no objects.")
    return found


def _download(url: str) -> bytes:
    """Return the body at a URL; the proxies of the environment are used."""
    # Imported here: most commands download nothing.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    if "@" in url.split("/")[2]:
        raise UsageError("a URL with a user name or a password cannot be read: download it, and pass the file")
    try:
        request = Request(url, headers={"User-Agent": f"listwatch/{__version__}"})
        with urlopen(request, timeout=_TIMEOUT) as response:
            body: bytes = response.read(_MAX_SIZE + 1)
            missing: int = response.length or 0  # no error: an HTTPResponse that ends early looks complete
    except (OSError, HTTPException, ValueError) as error:
        raise UsageError(f"cannot read {url}: {getattr(error, 'reason', '') or error}") from None
    if len(body) > _MAX_SIZE:
        raise UsageError(f"cannot read {url}: it has more than {_MAX_SIZE // 2**20} MiB")
    if missing:
        raise UsageError(f"cannot read {url}: the connection was closed {missing} bytes before its end")
    return body
