"""Copies files to and from a container, through `tar` in the container, as `kubectl cp` does."""

from __future__ import annotations

import asyncio
import errno
import os
import tarfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import ParamSpec, TypeVar

from listwatch.client.containers.archive_paths import split_remote_path
from listwatch.client.containers.archives import CopyResult, Extraction, pack
from listwatch.client.pods.remote_process import CommandResult, RemoteProcess
from listwatch.client.resources.container_client import ContainerClient
from listwatch.errors import (
    CommandFailedError,
    ConnectionLostError,
    ExitCodeLostError,
    RequestError,
    UnsafeArchiveError,
)
from listwatch.objects.object import Object

__all__ = ["copy_from_pod", "copy_to_pod"]

T = TypeVar("T", bound=Object)
R = TypeVar("R")
Q = TypeVar("Q")
P = ParamSpec("P")

_MAX_STDERR = 2**16


async def copy_to_pod(
    pods: ContainerClient[T], name: str, source: str | PathLike[str], target: str, *, container: str = ""
) -> CopyResult:
    """Copy a local file or directory into a container. If `target` is a directory there, it is copied into that.

    The container needs `tar`, and the server Kubernetes 1.30 or later. Symbolic links are copied as links.
    """
    local, local_name = await asyncio.to_thread(_local_source, source)
    if not target:
        raise RequestError("the path in the container is empty")
    found = await pods.exec(name, ["test", "-d", target], container=container)
    folder, base = split_remote_path(target)
    if not found.exit_code:
        folder, base = target, local_name
    command = ["tar", "-xmf", "-", "-C", folder]
    process = pods.stream_exec(name, command, container=container, stdin=True, stdout=True, stderr=True)
    async with process:
        if not process.can_close_stdin:
            await process.close_stdin()  # raises, before anything is sent
        reading = asyncio.create_task(_errors_of(process), name=f"output of {process!r}")
        try:
            result = await _in_thread(process, lambda push: pack(local, base, push), process.write)
            with suppress(ConnectionLostError):  # tar may end after the archive, before its input does
                await process.close_stdin()
        except ConnectionLostError:
            _check(await reading, command)  # tar has ended early, and its own error says more
            raise
        except BaseException:
            process.close()
            reading.cancel()
            raise
        finally:
            await asyncio.wait([reading])
        _check(reading.result(), command)
    return result


async def copy_from_pod(
    pods: ContainerClient[T],
    name: str,
    source: str,
    target: str | PathLike[str],
    *,
    container: str = "",
    max_size: int | None = None,
) -> CopyResult:
    """Copy a file or a directory of a container to a local path: a file into a directory that exists, else as `target`.

    The contents of a directory are merged into `target`. What a container sends is not trusted: UnsafeArchiveError if
    it names a path outside of `target`; devices, and links that lead out of it, are skipped. More than `max_size` bytes
    raise ResponseTooLargeError.
    """
    if not source:
        raise RequestError("the path in the container is empty")
    folder, base = split_remote_path(source)
    command = ["tar", "cf", "-", "-C", folder, "." if base == "." else f"./{base}"]
    extraction = Extraction(base, Path(target), max_size=max_size)
    process = pods.stream_exec(name, command, container=container)
    errors = bytearray()

    async def pull() -> bytes:
        async for stream, data in process:
            if stream == "stdout":
                return data
            errors.extend(data[: _MAX_STDERR - len(errors)])
        return b""

    async with process:
        try:
            await _in_thread(process, extraction.run, pull)
        except tarfile.TarError as error:
            _check(CommandResult(process.exit_code or 0, b"", bytes(errors)), command)
            raise UnsafeArchiveError(f"the output of tar in pod {name} is no valid archive: {error}") from None
        if process.exit_code is None:
            raise ExitCodeLostError("the copy was closed before its end", doing=f"copy from pod {name}")
        _check(CommandResult(process.exit_code, b"", bytes(errors)), command)
    return extraction.result


def _local_source(source: str | PathLike[str]) -> tuple[Path, str]:
    """Return a local path and its name; the path of a directory may end in a dot."""
    path = Path(source)
    if not path.exists() and not path.is_symlink():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(source))
    return path, path.name if path.name not in ("", "..") else path.resolve().name


def _check(result: CommandResult, command: Sequence[str]) -> None:
    if result.exit_code:
        last = result.stderr.decode(errors="replace").strip()[-1000:]
        raise CommandFailedError(
            f"{command[0]} in the container ended with exit code {result.exit_code}: {last}",
            exit_code=result.exit_code,
            stderr=result.stderr,
        )


async def _errors_of(process: RemoteProcess) -> CommandResult:
    """Read the output of a command to which an archive is being sent."""
    errors = bytearray()
    async for _, data in process:
        errors.extend(data[: _MAX_STDERR - len(errors)])
    return CommandResult(process.exit_code or 0, b"", bytes(errors))


async def _in_thread(
    process: RemoteProcess,
    work: Callable[[Callable[P, Q]], R],
    transfer: Callable[P, Coroutine[object, object, Q]],
) -> R:
    """Run blocking work in a thread; it transfers bytes by calling a coroutine function in the loop of this task.

    A cancellation closes the process, so that the next transfer of the thread fails, and waits for the thread.
    """
    loop = asyncio.get_running_loop()

    def call(*arguments: P.args, **options: P.kwargs) -> Q:
        return asyncio.run_coroutine_threadsafe(transfer(*arguments, **options), loop).result()

    running = asyncio.ensure_future(asyncio.to_thread(work, call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        process.close()
        await asyncio.wait([running])
        running.exception()  # it was cancelled by closing the process
        raise
