"""`listwatch cp`: files to and from a container."""

from __future__ import annotations

import sys

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import choose_container
from listwatch.cli.cluster.session import Session
from listwatch.client.containers.archives import CopyResult
from listwatch.client.containers.copy_files import copy_from_pod, copy_to_pod
from listwatch.errors import UsageError

__all__ = ["command"]


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("-c", "--container", default="", metavar="NAME", help="The container. [default: the first one]")
@connected(all_namespaces=False)
async def command(session: Session, *, source: str, target: str, container: str) -> None:
    """Copy files and directories to or from a container, which needs `tar`. One of both is [NAMESPACE/]POD:PATH.

    \b
      listwatch cp config.yaml web-0:/etc/app/
      listwatch cp default/web-0:/var/log/app ./logs -c main
    """
    remote_source, remote_target = _parse(source), _parse(target)
    if (remote_source is None) == (remote_target is None):
        raise click.UsageError("One of SOURCE and TARGET must be POD:PATH, and the other one a local path.")
    namespace, name, path = remote_source or remote_target or ("", "", "")
    if not path:
        raise click.UsageError("The path in the container is empty, as in web-0:/tmp.")
    pods = session.client.core_v1.pods(namespace or session.namespace)
    chosen = choose_container(await pods.get(name), container)
    if remote_target is not None:
        try:
            result = await copy_to_pod(pods, name, source, path, container=chosen)
        except FileNotFoundError as error:
            raise UsageError(f"{error.filename}: no such file or directory") from None
    else:
        result = await copy_from_pod(pods, name, path, target, container=chosen)
    _report_skipped(result)


def _report_skipped(result: CopyResult) -> None:
    for path, reason in result.skipped.items():
        print(f"skipped {path}: {reason}", file=sys.stderr)


def _parse(text: str) -> tuple[str, str, str] | None:
    """Return namespace, pod and path; None for a local path, which may contain a colon after a slash or a dot."""
    pod, colon, path = text.partition(":")
    namespace, slash, name = pod.rpartition("/")
    if not colon or pod.startswith((".", "/")) or namespace.count("/"):
        return None
    if not name:
        raise click.UsageError(f"{text!r} names no pod, as in web-0:/tmp.")
    return namespace if slash else "", name, path
