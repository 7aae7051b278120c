"""The commands demo, top and cache as users start them: in pipes, and on a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from listwatch.client import ClientSet

Run = Callable[..., Awaitable[Any]]

ALTERNATE_SCREEN, NORMAL_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


async def create_maps(client: ClientSet, *names: str) -> None:
    for name in names:
        await client.core_v1.configmaps("default").create({"metadata": {"name": name}, "data": {"k": name}})


# --- Without a terminal -----------------------------------------------------------------------------------------------


async def test_top_prints_the_table_once_without_a_terminal(client: ClientSet, run: Run) -> None:
    await create_maps(client, "b", "a", "c")
    done = await run("top", "configmaps", "--sort", "name", "--reverse")
    assert done.code == 0
    assert [row[1] for row in done.rows] == ["NAME", "c", "b", "a"]
    assert "\x1b" not in done.out


async def test_top_filters_by_words(client: ClientSet, run: Run) -> None:
    await create_maps(client, "web-1", "web-2", "db-1")
    done = await run("top", "cm", "--metadata", "--filter", "web !2")
    assert [row[1] for row in done.rows] == ["NAME", "web-1"]


async def test_top_names_the_columns_if_there_is_none_of_that_name(client: ClientSet, run: Run) -> None:
    done = await run("top", "configmaps", "--sort", "size")
    assert done.code == 2
    assert "the columns are namespace, name, status, changes, changed, age" in done.errors


@pytest.mark.parametrize("command", ["top", "cache"])
async def test_an_unknown_resource_ends_the_command(client: ClientSet, run: Run, command: str) -> None:
    done = await run(command, "podz")
    assert done.code == 2
    assert "podz" in done.errors


async def test_cache_reports_objects_and_the_largest_of_them(client: ClientSet, run: Run) -> None:
    await create_maps(client, "a", "long-name")
    done = await run("cache", "configmaps")
    assert done.code == 0
    assert "configmaps in default: 2 objects" in done.out
    assert "by stream" in done.out
    done = await run("cache", "configmaps", "--metadata", "-o", "json")
    report = msgspec.json.decode(done.out)
    assert (report["objects"], report["syncedBy"]) == (2, "stream")
    assert "data" not in report["parts"]


async def test_the_demo_needs_no_home_and_no_terminal(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", "demo"),
        env={"HOME": str(tmp_path / "none"), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert "equal to the server" in out.decode()
    assert not (tmp_path / "none").exists()


# --- On a terminal ----------------------------------------------------------------------------------------------------


class Terminal:
    """A program on a pseudo-terminal of 100 × 30 characters."""

    def __init__(self, process: asyncio.subprocess.Process, master: int, reader: asyncio.StreamReader) -> None:
        self.process = process
        self.screen = ""
        self._master = master
        self._reader = reader

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    async def wait_for(self, wanted: str) -> None:
        """Wait until the program has written this text since the last call."""
        start = len(self.screen)
        while wanted not in self.screen[start:]:
            data = await self._reader.read(65536)
            assert data, f"the program ended without {wanted!r}; the end of its output: {self.screen[-2000:]!r}"
            self.screen += data.decode(errors="replace")

    async def end(self) -> int:
        with contextlib.suppress(OSError):  # Linux reports the end of a pseudo-terminal as an error
            while data := await self._reader.read(65536):
                self.screen += data.decode(errors="replace")
        return await self.process.wait()


@asynccontextmanager
async def terminal(*arguments: str) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (30, 100))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch", *arguments),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(slave), os.O_RDWR)),  # makes it the controlling terminal
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(slave)
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(master), "rb", 0)
    )
    try:
        async with asyncio.timeout(90):  # not a measurement: a program that hangs must not hang the tests
            yield Terminal(process, master, reader)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        transport.close()
        os.close(master)


async def test_top_shows_changes_and_follows_the_keys(client: ClientSet) -> None:
    await create_maps(client, "web-1", "web-2", "db-1")
    async with terminal("top", "configmaps") as top:
        await top.wait_for("web-2")
        assert ALTERNATE_SCREEN in top.screen
        await create_maps(client, "new-one")
        await top.wait_for("new-one")
        top.press("/db\r")
        await top.wait_for("1 shown")
        top.press("\r")
        await top.wait_for("kind: ConfigMap")
        top.press("qq")
        assert await top.end() == 0
        assert NORMAL_SCREEN in top.screen


async def test_ctrl_c_ends_top_at_once_and_restores_the_terminal(client: ClientSet) -> None:
    await create_maps(client, "web-1")
    async with terminal("top", "configmaps") as top:
        await top.wait_for("web-1")
        top.press("\x03")
        assert await top.end() == 130
        assert NORMAL_SCREEN in top.screen
        assert "Traceback" not in top.screen


async def test_ctrl_c_ends_the_demo_at_once_and_restores_the_terminal() -> None:
    async with terminal("demo") as demo:
        await demo.wait_for("Reflector")
        demo.process.send_signal(signal.SIGINT)
        assert await demo.end() == 130
        assert NORMAL_SCREEN in demo.screen
        assert "Traceback" not in demo.screen
