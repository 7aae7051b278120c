"""`listwatch record` and `listwatch serve --replay` as processes."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from tests.cli.test_process import Start

from listwatch.client import ClientSet
from listwatch.recording.recording_file import read_entries
from listwatch.recording.records import Stop


async def test_a_recording_is_complete_at_ctrl_c_and_can_be_served(client: ClientSet, start: Start, tmp_path: Path):
    await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}, "data": {"color": "blue"}})
    process = await start("record", "configmaps", "-o", str(file := tmp_path / "a.lwrec"))
    while not file.exists() or b"blue" not in b"".join(each.body for each in read_entries(file)):  # noqa: ASYNC110  # another process writes it
        await asyncio.sleep(0.05)
    process.process.send_signal(signal.SIGINT)
    done = await process.end()
    assert (done.code, done.out) == (0, f"{file}: 0.0 MB\n"), done
    assert isinstance([*read_entries(file)][-1].record, Stop)
    process = await start("serve", "--replay", str(file), "--speed", "max", "--token", "some-token")
    assert (await process.line()).startswith("listening on")
    assert (await process.line()).startswith(f"replaying {file}: ")
    process.process.send_signal(signal.SIGINT)
    assert (await process.end()).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "configmaps", "-o", "/missing/a.lwrec"], "/missing/a.lwrec: the recording cannot be written"),
        (["serve", "--replay", "a", "--speed", "fast"], '--speed must be a number or "max"'),
    ],
)
async def test_wrong_arguments_are_explained(client: ClientSet, start: Start, arguments: list[str], message: str):
    done = await (await start(*arguments)).end()
    assert done.code != 0
    assert message in done.errors
    assert "Traceback" not in done.errors
