"""`listwatch logs`: the log of a container, or the merged logs of many pods."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing

import click

from listwatch.cli.cluster.completion import complete_pods
from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.pods import choose_container, find_pod
from listwatch.cli.cluster.session import Session
from listwatch.cli.output import write
from listwatch.client.containers.pod_logs import PodLogs
from listwatch.client.rest.streams import LogStream
from listwatch.models.core_v1 import Pod

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
@click.argument("pod", metavar="[POD|TYPE/NAME]", default="", shell_complete=complete_pods)
@click.option("-l", "--selector", default="", metavar="SELECTOR", help="All pods with these labels, as in app=web.")
@click.option("-c", "--container", default="", metavar="NAME", help="The container. [default: the first one]")
@click.option("--all-containers", is_flag=True, help="All containers of the pod, each line with the container's name.")
@click.option("-f", "--follow", is_flag=True, help="Print new lines until the container ends.")
@click.option("-p", "--previous", is_flag=True, help="The log of the container's previous run.")
@click.option("--tail", type=click.IntRange(min=0), metavar="LINES", help="Only the last lines.")
@click.option("--since", callback=_parse_duration, metavar="DURATION", help="Only lines newer than this, as in 5m.")
@click.option("--prefix/--no-prefix", default=None, help="Print pod and container before each line. [default: with -l]")
@click.option("--timestamps", is_flag=True, help="Print the time before each line.")
@connected(all_namespaces=False)
async def command(
    session: Session,
    *,
    pod: str,
    selector: str,
    container: str,
    all_containers: bool,
    follow: bool,
    previous: bool,
    tail: int | None,
    since: float | None,
    prefix: bool | None,
    timestamps: bool,
) -> None:
    """Print the logs of a pod, of the first pod of a workload, or of all pods with some labels.

    With -l and -f, the logs of new pods are included, and a lost connection neither loses nor repeats a line.

    \b
      listwatch logs web-0 --tail 20
      listwatch logs -f deploy/web -c nginx
      listwatch logs -f -l app=web --all-containers
    """
    if bool(pod) == bool(selector):
        raise click.UsageError("Name a pod, or select pods with -l.")
    if follow and previous:
        raise click.UsageError("--follow and --previous exclude each other: the previous run has ended.")
    pods = session.client.core_v1.pods(session.namespace)
    if selector:
        if previous:
            raise click.UsageError("--previous needs the name of a pod.")
        logs = PodLogs(
            pods,
            label_selector=selector,
            container=container,
            all_containers=all_containers,
            follow=follow,
            since_seconds=since,
            tail_lines=tail,
        )
        await _print_many(logs, has_prefix=prefix is not False, timestamps=timestamps)
        return
    found = await find_pod(session, pod, purpose="printing the log of")
    containers = [each.name for each in found.spec.containers]
    chosen = containers if all_containers else [choose_container(found, container)]
    has_prefix = len(chosen) > 1 if prefix is None else prefix
    options = {"tail_lines": tail, "since_seconds": since, "timestamps": timestamps}

    async def print_log(name: str) -> None:
        start = f"[{name}] " if has_prefix else ""
        if follow:
            await _follow(pods.follow_logs(found.name, container=name, **options), start)  # type: ignore[arg-type]  # mixed types
            return
        text = await pods.logs(found.name, container=name, previous=previous, **options)  # type: ignore[arg-type]  # mixed types
        write("".join(f"{start}{line}\n" for line in text.splitlines()) if start else text)

    if follow:
        await asyncio.gather(*map(print_log, chosen))
        return
    for name in chosen:
        await print_log(name)


async def _follow(stream: LogStream, start: str) -> None:
    async with aclosing(stream):
        async for lines in stream.batches():
            write("".join(f"{start}{line}\n" for line in lines))


async def _print_many(logs: PodLogs[Pod], *, has_prefix: bool, timestamps: bool) -> None:
    async with logs:
        async for line in logs:
            start = f"[pod/{line.pod}/{line.container}] " if has_prefix else ""
            time = f"{line.time} " if timestamps else ""
            write(f"{start}{time}{line.text}\n")
