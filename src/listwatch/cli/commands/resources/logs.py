"""`listwatch logs`: the log of a container, or of the pods of a workload."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import aclosing

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import write
from listwatch.errors import NotFoundError, UsageError
from listwatch.models.core_v1 import Pod
from listwatch.objects.unstructured import Unstructured

__all__ = ["command"]

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def _parse_duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    found = _DURATION.fullmatch(value)
    if not value or found is None:
        raise click.BadParameter(f"{value!r} is not a duration, as in 90s, 5m or 1h30m", ctx, param)
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


@click.command()
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_pods)
@click.option("-c", "--container", default="", metavar="NAME", help="The container. [default: the first one]")
@click.option("--all-containers", is_flag=True, help="All containers of the pod, each line with the container's name.")
@click.option("-f", "--follow", is_flag=True, help="Print new lines until the container ends.")
@click.option("-p", "--previous", is_flag=True, help="The log of the container's previous run.")
@click.option("--tail", type=click.IntRange(min=0), metavar="LINES", help="Only the last lines.")
@click.option("--since", callback=_parse_duration, metavar="DURATION", help="Only lines newer than this, as in 5m.")
@click.option("--timestamps", is_flag=True, help="Print the time before each line.")
@connected(all_namespaces=False)
async def command(
    session: Session,
    *,
    pod: str,
    container: str,
    all_containers: bool,
    follow: bool,
    previous: bool,
    tail: int | None,
    since: float | None,
    timestamps: bool,
) -> None:
    """Print the logs of a pod, or of the first pod of a workload.

    \b
      listwatch logs web-0 --tail 20
      listwatch logs -f deploy/web -c nginx
    """
    if follow and previous:
        raise click.UsageError("--follow and --previous exclude each other: the previous run has ended.")
    found = await _find_pod(session, pod)
    containers = [each.name for each in found.spec.containers]
    chosen = containers if all_containers else [container or _default_container(found, containers)]
    if missing := [each for each in chosen if each not in _all_containers(found)]:
        raise UsageError(f"pod {found.name} has no container {missing[0]}; it has {', '.join(_all_containers(found))}")
    pods = session.client.core_v1.pods(session.namespace)
    options = {"tail_lines": tail, "since_seconds": since, "timestamps": timestamps}

    async def print_log(name: str) -> None:
        prefix = f"[{name}] " if len(chosen) > 1 else ""
        if follow:
            async with aclosing(pods.follow_logs(found.name, container=name, **options)) as stream:  # type: ignore[arg-type]  # mixed types
                async for lines in stream.batches():
                    write("".join(f"{prefix}{line}\n" for line in lines))
            return
        text = await pods.logs(found.name, container=name, previous=previous, **options)  # type: ignore[arg-type]  # mixed types
        write("".join(f"{prefix}{line}\n" for line in text.splitlines()) if prefix else text)

    if follow:
        await asyncio.gather(*map(print_log, chosen))
        return
    for name in chosen:
        await print_log(name)


def _default_container(pod: Pod, containers: list[str]) -> str:
    name = pod.metadata.annotations.get("kubectl.kubernetes.io/default-container", "")
    if name in containers:
        return name
    if len(containers) > 1:
        print(f"container {containers[0]} of {', '.join(containers)}; select one with -c", file=sys.stderr)
    return containers[0]


def _all_containers(pod: Pod) -> list[str]:
    spec = pod.spec
    ephemeral = [each.name for each in spec.ephemeral_containers]
    return [*(each.name for each in (*spec.containers, *spec.init_containers)), *ephemeral]


async def _find_pod(session: Session, text: str) -> Pod:
    pods = session.client.core_v1.pods(session.namespace)
    kind, slash, name = text.rpartition("/")
    resource = await session.mapper.resource_for(kind) if slash else None
    if resource is None or resource.kind == "Pod":
        return await pods.get(name)
    owner = await session.resource_client(resource).get(name)
    labels = _selected_labels(owner)
    if not labels:
        raise UsageError(f"{text} selects no pods: it has no spec.selector; name a pod, as in pod/web-0")
    found = sorted(await pods.list(label_selector=labels), key=lambda each: each.name)
    if not found:
        raise NotFoundError(f"{text} has no pods now")
    if len(found) > 1:
        print(f"{text} has {len(found)} pods; printing the log of {found[0].name}", file=sys.stderr)
    return found[0]


def _selected_labels(owner: Unstructured) -> dict[str, str]:
    selector = (owner.get("spec") or {}).get("selector") or {}
    labels = selector.get("matchLabels", selector)
    return {name: value for name, value in labels.items() if isinstance(value, str)}
