"""Commands in containers, on the embedded server."""

import asyncio
from pathlib import Path

import pytest
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree, served_pods

from listwatch.client import Output
from listwatch.errors import (
    BadRequestError,
    CommandFailedError,
    CommandTimeoutError,
    InternalServerError,
    NotFoundError,
    RequestError,
    ResponseTooLargeError,
    UsageError,
)
from listwatch.server import AttachSession, ExecSession, FunctionKubelet


async def test_a_command_returns_its_exit_code_and_output():
    async with served_pods(LocalKubelet()) as pods:
        result = await pods.exec("web-0", ["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"out\n", b"err\n")
    assert result.text == "out\n"


async def test_input_is_sent_and_ended():
    async with served_pods(LocalKubelet()) as pods:
        assert (await pods.exec("web-0", ["cat"], stdin="some text")).text == "some text"
        assert (await pods.exec("web-0", ["cat"], stdin=b"")).text == ""


async def test_a_megabyte_passes_through_a_command_unchanged():
    data = bytes(range(256)) * 4096
    async with served_pods(LocalKubelet()) as pods:
        assert (await pods.exec("web-0", ["cat"], stdin=data)).stdout == data


async def test_a_command_need_not_read_its_input():
    async with served_pods(LocalKubelet()) as pods:
        result = await pods.exec("web-0", ["true"], stdin=b"x" * 2**22)
    assert result.exit_code == 0


async def test_check_raises_the_exit_code_with_the_last_line_of_stderr():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(CommandFailedError) as caught:
            await pods.exec("web-0", ["sh", "-c", "echo first >&2; echo why >&2; exit 7"], check=True)
    assert str(caught.value) == "exec sh in pod web-0 ended with exit code 7: why"
    assert (caught.value.exit_code, caught.value.stderr) == (7, b"first\nwhy\n")


async def test_output_is_read_while_the_command_runs():
    async with served_pods(LocalKubelet()) as pods:
        async with pods.stream_exec("web-0", ["cat"], stdin=True) as process:
            await process.write("one\n")
            assert await anext(process) == Output("stdout", b"one\n")
            assert process.exit_code is None
            await process.write("two\n")
            assert await anext(process) == Output("stdout", b"two\n")
            await process.close_stdin()
            assert await process.wait() == 0
        assert process.exit_code == 0


async def test_leaving_the_block_ends_the_command():
    ended = asyncio.Event()

    async def run(session: ExecSession) -> int:
        try:
            await session.stdout.write("started")
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with served_pods(FunctionKubelet(exec=run)) as pods:
        async with pods.stream_exec("web-0", ["sleep"]) as process:
            await anext(process)
        await asyncio.wait_for(ended.wait(), 10)
        assert process.is_closed


async def test_cancelling_exec_ends_the_command():
    started, ended = asyncio.Event(), asyncio.Event()

    async def run(session: ExecSession) -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with served_pods(FunctionKubelet(exec=run)) as pods:
        task = asyncio.create_task(pods.exec("web-0", ["sleep"]))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 10)
        assert pods._rest.statistics().open_streams == 0


async def test_a_command_that_takes_too_long_raises():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(
            CommandTimeoutError, match=r"exec sleep in pod web-0: the command did not end within 0.05 s"
        ):
            await pods.exec("web-0", ["sleep", "60"], timeout=0.05)


async def test_too_much_output_raises():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(ResponseTooLargeError, match="more than 1,000 bytes of output"):
            await pods.exec("web-0", ["head", "-c", "5000", "/dev/zero"], max_output=1000)


async def test_a_pod_without_that_container_is_a_bad_request():
    async with served_pods(LocalKubelet(), pod_tree("web-0", "a", "b")) as pods:
        with pytest.raises(BadRequestError, match="container c is not valid for pod web-0"):
            await pods.exec("web-0", ["true"], container="c")
        with pytest.raises(BadRequestError, match="a container name must be specified"):
            await pods.exec("web-0", ["true"])
        assert (await pods.exec("web-0", ["true"], container="b")).exit_code == 0


async def test_a_missing_pod_is_not_found():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(NotFoundError, match='pods "no" not found'):
            await pods.exec("no", ["true"])


async def test_a_missing_program_is_the_error_of_the_kubelet():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(InternalServerError, match="executable file not found"):
            await pods.exec("web-0", ["no-such-program"])


@pytest.mark.parametrize("command", ["ls -l", [], [1], None])
async def test_a_command_is_a_sequence_of_strings(command: object):
    async with served_pods(None) as pods:
        with pytest.raises(RequestError, match="the command must be a sequence of strings"):
            await pods.exec("web-0", command)  # type: ignore[arg-type]  # wrong on purpose, or options by name


async def test_writing_needs_an_input():
    async with served_pods(LocalKubelet()) as pods, pods.stream_exec("web-0", ["true"]) as process:
        with pytest.raises(UsageError, match="pass stdin=True"):
            await process.write("x")
        assert await process.wait() == 0


async def test_two_tasks_cannot_read_the_same_output():
    async with served_pods(LocalKubelet()) as pods, pods.stream_exec("web-0", ["cat"], stdin=True) as process:
        reading = asyncio.create_task(anext(process))
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="another task is already reading"):
            await anext(process)
        process.close()
        with pytest.raises(StopAsyncIteration):
            await reading


async def test_a_terminal_has_one_output_and_is_resized():
    sizes = []

    async def run(session: ExecSession) -> int:
        await session.stdout.write("tty" if session.tty else "no tty")
        await session.stderr.write("dropped")
        async for size in session.resizes:
            sizes.append(size)
            return 0
        return 1

    async with (
        served_pods(FunctionKubelet(exec=run)) as pods,
        pods.stream_exec("web-0", ["sh"], stdin=True, tty=True) as process,
    ):
        await process.resize(120, 40)
        output = [each async for each in process]
    assert output == [("stdout", b"tty")]
    assert sizes == [(120, 40)]


async def test_attach_connects_to_the_process_of_the_container():
    async def attach(session: AttachSession) -> int:
        await session.stdout.write(f"hello from {session.container}")
        await session.stdout.write(await session.stdin.read())
        return 5

    async with served_pods(FunctionKubelet(attach=attach)) as pods, pods.attach("web-0", stdin=True) as process:
        result = await process.communicate(", and input")
    assert (result.text, result.exit_code) == ("hello from main, and input", 5)


async def test_a_hundred_commands_run_at_once(tmp_path: Path):
    async def run(session: ExecSession) -> int:
        await session.stdout.write(session.command[0])
        return int(session.command[0]) % 7

    async with served_pods(FunctionKubelet(exec=run)) as pods:
        results = await asyncio.gather(*[pods.exec("web-0", [str(number)]) for number in range(100)])
        assert [(each.text, each.exit_code) for each in results] == [(str(n), n % 7) for n in range(100)]
        assert pods._rest.statistics().open_streams == 0
