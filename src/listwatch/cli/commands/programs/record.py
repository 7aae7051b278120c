"""`listwatch record`: runs informers, and records everything that they receive to a file."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress

import click

from listwatch.cli.cluster.connection import connected
from listwatch.cli.cluster.session import Session
from listwatch.cli.cluster.targets import Target, find_targets, selector_options
from listwatch.cli.exit_codes import ExitCode
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.objects.unstructured import Unstructured
from listwatch.recording.recorder import DEFAULT_MAX_SIZE, Recorder

__all__ = ["command"]

_MEGABYTE = 1e6
_ON_TERMINAL, _IN_LOG = 1.0, 10.0
"""Seconds between two reports."""


@click.command()
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@selector_options
@click.option("-o", "--output", "file", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after this many seconds.")
@click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_MAX_SIZE / _MEGABYTE,
    metavar="MB",
    help="Stop when the file has this size. [default: 1074]",
)
@click.option("--secrets", is_flag=True, help="Record the values of Secrets, which are redacted by default.")
@connected()
async def command(
    session: Session,
    *,
    resources: tuple[str, ...],
    selector: str,
    field_selector: str,
    file: str,
    seconds: float | None,
    max_size: float,
    secrets: bool,
) -> int | None:
    """Record lists, events, bookmarks and failures of resources until Ctrl-C.

    `listwatch serve --replay FILE` plays the recording. An existing recording is continued.

    \b
      listwatch record pods deployments -A -o incident.lwrec
      listwatch record pods,events -l app=web -o incident.lwrec --for 600
    """
    targets = await find_targets(session, (",".join(resources),))
    recorder = Recorder(file, max_size=int(max_size * _MEGABYTE), secrets=secrets)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        recorder.open()
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(ClientSet(session.client.rest.config, record=recorder))
            dynamic = DynamicClient(client.rest, mapper=session.mapper)
            informers = [_informer(session, dynamic, each, selector, field_selector) for each in targets]
            for informer in informers:
                await stack.enter_async_context(informer)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await _report(session, recorder, informers, stop)
    finally:
        await asyncio.to_thread(recorder.close)
    stopped = recorder.statistics().stopped
    print(f"{file}: {recorder.statistics().written / _MEGABYTE:.1f} MB", flush=True)
    return ExitCode.FAILED if stopped else None


def _informer(
    session: Session, dynamic: DynamicClient, target: Target, selector: str, field_selector: str
) -> SharedIndexInformer[Unstructured]:
    client = dynamic.resource(target.resource, namespace=session.namespace_of(target.resource)).selecting(
        label_selector=selector or None, field_selector=target.watched_fields(field_selector) or None
    )
    return SharedIndexInformer(client, Unstructured, name=str(target.resource.group_resource))


async def _report(
    session: Session, recorder: Recorder, informers: Sequence[SharedIndexInformer[Unstructured]], stop: asyncio.Event
) -> None:
    """Print the progress until Ctrl-C, or until the recording stops."""
    is_terminal = sys.stderr.isatty()
    started = session.clock.monotonic()
    while recorder.is_recording and not stop.is_set():
        statistics = recorder.statistics()
        passed = int(session.clock.monotonic() - started)
        objects = ", ".join(f"{each.name} {len(each.indexer)}" for each in informers)
        sizes = f"received {statistics.received / _MEGABYTE:.1f} MB, written {statistics.written / _MEGABYTE:.1f} MB"
        line = f"{passed // 60:02d}:{passed % 60:02d}  {objects}; {sizes}"
        print(f"\r\x1b[K{line}" if is_terminal else line, end="" if is_terminal else "\n", file=sys.stderr, flush=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_ON_TERMINAL if is_terminal else _IN_LOG):
                await stop.wait()
    if is_terminal:
        print(file=sys.stderr)
