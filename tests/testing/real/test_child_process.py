"""Child processes: output, exit and cleanup."""

import asyncio
import os
import select
import signal
import sys
from pathlib import Path

import pytest

from listwatch.errors import ProgramError, UsageError
from listwatch.testing.real.child_process import ChildProcess, overridden

TIMEOUT = 60_000
"""Milliseconds after which something is taken never to happen."""


def python(code: str, log: Path) -> ChildProcess:
    return ChildProcess([sys.executable, "-c", code], log=log)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def said(log: Path) -> str:
    return log.read_text()


async def never() -> bool:
    return False


def has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(TIMEOUT))


PARENT = """
import asyncio, sys
from pathlib import Path
from listwatch.testing.real.child_process import ChildProcess

async def main():
    child = ChildProcess([sys.executable, "-c", "import time; time.sleep(1000)"], log=Path(sys.argv[1]))
    await child.start()
    print(child.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
async def test_a_child_ends_when_its_parent_is_killed(log: Path):
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(log), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = os.pidfd_open(int(await parent.stdout.readline()))
    try:
        parent.kill()
        await parent.communicate()
        assert has_ended(child)
    finally:
        os.close(child)


async def test_its_output_is_in_the_log(log: Path):
    child = python("import sys; print('said', flush=True); print('cried', file=sys.stderr)", log)
    await child.start()
    with pytest.raises(ProgramError):
        await child.wait_until(never, timeout=60)
    assert said(log) == "said\ncried\n"


async def test_one_that_ends_instead_of_getting_ready_is_reported_with_its_last_words(log: Path):
    child = python("for n in range(100): print('line', n)", log)
    await child.start()
    with pytest.raises(ProgramError) as error:
        await child.wait_until(never, timeout=60)
    assert "exited before it was ready; the end of its log:\n  line 85\n" in str(error.value)
    assert str(error.value).endswith("line 99")
    assert not child.is_running


async def test_one_that_does_not_get_ready_is_given_up(log: Path):
    child = python("import time; time.sleep(1000)", log)
    await child.start()
    with pytest.raises(ProgramError, match=r"was not ready after 0\.01 s; its log is empty"):
        await child.wait_until(never, timeout=0.01)
    await child.kill()


async def test_it_can_be_started_again_after_it_was_killed_but_not_twice_at_once(log: Path):
    child = python("import time; print('up', flush=True); time.sleep(1000)", log)

    async def says_up() -> bool:
        return said(log) == "up\n" * times

    times = 1
    await child.start()
    await child.wait_until(says_up, timeout=60)
    with pytest.raises(UsageError, match="is already running"):
        await child.start()
    await child.kill()
    assert not child.is_running
    times = 2
    await child.start()
    await child.wait_until(says_up, timeout=60)
    await child.stop()
    assert not child.is_running


DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(1000)"


async def start_deaf(log: Path) -> ChildProcess:
    child = python(DEAF, log)
    await child.start()

    async def is_deaf() -> bool:
        return said(log) == "deaf\n"

    await child.wait_until(is_deaf, timeout=60)
    return child


async def test_one_that_does_not_listen_is_killed(log: Path):
    child = await start_deaf(log)
    await child.stop(patience=0.01)
    assert not child.is_running


async def test_a_process_is_killed_when_stopping_it_is_cancelled(log: Path):
    child = await start_deaf(log)
    pidfd = os.pidfd_open(child.pid)
    stopping = asyncio.create_task(child.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert has_ended(pidfd)
    os.close(pidfd)
    await child.kill()


async def test_ending_one_that_has_ended_or_was_never_started_is_no_error(log: Path):
    child = python("", log)
    await child.stop()
    await child.kill()
    await child.start()
    with pytest.raises(ProgramError):
        await child.wait_until(never, timeout=60)
    await child.stop()
    await child.kill()


async def test_it_runs_in_its_own_process_group(log: Path):
    child = python("import time; time.sleep(1000)", log)
    await child.start()
    assert os.getpgid(child.pid) != os.getpgid(0)
    os.kill(child.pid, signal.SIGKILL)
    await child.kill()


def test_flags_replace_those_of_the_same_name():
    assert overridden(["--a=1", "--b=2", "--c"], ["--b=3", "--d=4"]) == ["--a=1", "--c", "--b=3", "--d=4"]
