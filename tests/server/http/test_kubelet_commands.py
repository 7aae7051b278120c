"""Exec and attach over WebSockets."""

import asyncio
import json
import logging
from base64 import b64encode
from typing import Any

import aiohttp
import pytest
from tests.server.caller import Caller
from tests.server.http.kubelet_server import POD, PODS, abort, messages, served, web_socket

from listwatch.errors import BadRequestError
from listwatch.server import AttachSession, ExecSession, FunctionKubelet, Kubelet, TerminalSize, User

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
ALL = "stdin=true&stdout=true&stderr=true"


async def cat(session: ExecSession) -> int:
    await session.stderr.write(f"{' '.join(session.command)} in {session.pod.metadata.name}/{session.container}")
    async for piece in session.stdin:
        await session.stdout.write(piece)
    return 0


def outputs(received: list[bytes], channel: int) -> bytes:
    return b"".join(each[1:] for each in received if each[0] == channel)


def status(received: list[bytes]) -> Any:
    return json.loads(outputs(received, 3))


async def test_a_command_receives_stdin_until_it_is_closed_and_its_output_arrives():
    async with (
        served(FunctionKubelet(exec=cat)) as call,
        web_socket(call, f"{POD}/exec?command=cat&command=-u&{ALL}", V5, V4) as socket,
    ):
        assert socket.protocol == V5
        assert (await socket.receive()).data == b"\1"
        await socket.send_bytes(b"\0one ")
        await socket.send_bytes(b"\0two")
        await socket.send_bytes(b"\xff\0")
        received = await messages(socket)
        assert socket.close_code == 1000
    assert outputs(received, 1) == b"one two"
    assert outputs(received, 2) == b"cat -u in p/a"
    assert status(received) == {"metadata": {}, "status": "Success"}


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_an_exit_code_is_a_cause_of_the_status(protocol: str):
    async def fail(_: ExecSession) -> int:
        return 3

    async with (
        served(FunctionKubelet(exec=fail)) as call,
        web_socket(call, f"{POD}/exec?command=x&stdout=1", protocol) as socket,
    ):
        found = status(await messages(socket))
    assert (found["status"], found["reason"]) == ("Failure", "NonZeroExitCode")
    assert found["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]


async def test_old_protocols_report_errors_as_text_and_base64_is_text():
    async def fail(session: ExecSession) -> int:
        await session.stdout.write(await session.stdin.read(3))
        return 7

    async with served(FunctionKubelet(exec=fail)) as call:
        path = f"{POD}/exec?command=x&{ALL}"
        async with web_socket(call, path) as socket:
            await socket.send_bytes(b"\0abc")
            received = await messages(socket)
        assert outputs(received, 1) == b"abc"
        assert outputs(received, 3).endswith(b"exit code 7")
        async with web_socket(call, path, "v4.base64.channel.k8s.io") as socket:
            assert (await socket.receive()).data == "1"
            await socket.send_str("0" + b64encode(b"abc").decode())
            assert (await socket.receive()).data == "1" + b64encode(b"abc").decode()


async def test_streams_that_were_not_requested_are_dropped():
    async def run(session: ExecSession) -> None:
        assert await session.stdin.read() == b""
        await session.stdout.write(b"out")
        await session.stderr.write(b"err")

    async with served(FunctionKubelet(exec=run)) as call:
        async with web_socket(call, f"{POD}/exec?command=x&stderr=true", V5) as socket:
            assert (await socket.receive()).data == b"\2"
            received = await messages(socket)
        assert (outputs(received, 1), outputs(received, 2)) == (b"", b"err")
        # A terminal has no separate stderr.
        async with web_socket(call, f"{POD}/exec?command=x&stdout=true&stderr=true&tty=true", V5) as socket:
            received = await messages(socket)
        assert (outputs(received, 1), outputs(received, 2)) == (b"out", b"")


async def test_a_command_sees_how_the_terminal_is_resized():
    async def run(session: ExecSession) -> int:
        assert session.tty
        assert await anext(session.resizes) == TerminalSize(80, 24)
        assert await anext(session.resizes) == TerminalSize(100, 30)
        return 0

    async with (
        served(FunctionKubelet(exec=run)) as call,
        web_socket(call, f"{POD}/exec?command=x&stdout=true&tty=true", V5) as socket,
    ):
        await socket.send_bytes(b'\4{"Width":80,"Height":24}\n')
        await socket.send_bytes(b"\4not JSON")
        await socket.send_bytes(b'\4{"width":100,"height":30}')
        assert status(await messages(socket))["status"] == "Success"


async def test_attach_has_no_command():
    async def attach(session: AttachSession) -> None:
        await session.stdout.write(await session.stdin.readline())

    async with (
        served(FunctionKubelet(attach=attach)) as call,
        web_socket(call, f"{POD}/attach?stdin=true&stdout=true", V5) as socket,
    ):
        await socket.send_bytes(b"\0hello\nyou")
        assert outputs(await messages(socket), 1) == b"hello\n"


# Errors


async def test_an_exception_of_the_kubelet_is_an_error_for_the_client_and_logged_once(
    caplog: pytest.LogCaptureFixture,
):
    async def fail(_: ExecSession) -> int:
        raise ValueError("no such tool")

    async with served(FunctionKubelet(exec=fail)) as call:
        for _ in range(2):
            caplog.clear()
            async with web_socket(call, f"{POD}/exec?command=x&stdout=true", V5) as socket:
                found = status(await messages(socket))
            text = "error executing command in container: ValueError: no such tool"
            assert found["message"] == f"Internal error occurred: {text}"
            assert (found["reason"], found["code"]) == ("InternalError", 500)
            assert [each.levelno for each in caplog.records] == [logging.ERROR]


async def test_an_api_error_of_the_kubelet_is_the_status(caplog: pytest.LogCaptureFixture):
    async def fail(_: ExecSession) -> int:
        raise BadRequestError("the container is not running")

    async with (
        served(FunctionKubelet(exec=fail)) as call,
        web_socket(call, f"{POD}/exec?command=x&stdout=true", V5) as socket,
    ):
        found = status(await messages(socket))
    assert (found["message"], found["code"]) == ("the container is not running", 400)
    assert not caplog.records


async def test_a_kubelet_that_does_not_serve_commands_is_not_reached():
    class OnlyLogs(Kubelet):
        pass

    async with served(OnlyLogs()) as call:
        node = {"metadata": {"name": "n1"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}}
        assert (await call("POST", "/api/v1/nodes", node)).status == 201
        async with web_socket(call, f"{POD}/attach?stdout=true", V5) as socket:
            found = status(await messages(socket))
    assert found["message"].endswith("dial tcp 10.0.0.9:10250: connect: connection refused")


async def refusal(call: Caller, path: str, *protocols: str) -> int:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        async with web_socket(call, path, *protocols):
            pass
    return caught.value.status


async def test_requests_that_cannot_be_served_are_refused_before_the_upgrade():
    async with served(FunctionKubelet(exec=cat)) as call:
        assert await refusal(call, f"{PODS}/none/exec?command=x&stdout=1", V5) == 404
        assert await refusal(call, f"{POD}/exec?command=x&stdout=1&container=z", V5) == 400
        assert await refusal(call, f"{POD}/exec?command=x", V4) == 400
        assert await refusal(call, f"{POD}/exec?command=x&stdout=1", "v6.channel.k8s.io") == 403
        reply = await call("GET", f"{POD}/exec?command=x&stdout=1")
        assert reply.json["message"] == "Upgrade request required"
        reply = await call("GET", f"{POD}/exec?command=x", Connection="Upgrade", Upgrade="websocket")
        assert reply.status == 400
        async with web_socket(call, f"{POD}/exec?command=x", V5) as socket:
            assert "at least 1 of stdin, stdout, stderr" in status(await messages(socket))["message"]


async def test_an_upgrade_to_spdy_is_refused_with_a_text():
    async with served(FunctionKubelet(exec=cat)) as call:
        spdy = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X_Stream_Protocol_Version": "v4.channel.k8s.io"}
        reply = await call("POST", f"{POD}/exec?command=x&stdout=1", **spdy)
    assert reply.status == 403
    assert b"unable to negotiate protocol: client supports [v4.channel.k8s.io], server accepts []" in reply.body


async def test_a_websocket_needs_the_permission_to_create():
    class Reader:
        def authorize(self, user: User, request: Any) -> Any:
            return type("D", (), {"allowed": request.verb == "get", "reason": ""})()

    async with served(FunctionKubelet(exec=cat), authorizer=Reader(), users={"t": User("jo")}) as admin:
        admin.session.headers["Authorization"] = "Bearer t"
        for subresource in ("exec", "attach", "portforward"):
            assert await refusal(admin, f"{POD}/{subresource}?command=x&stdout=1&ports=1", V5) == 403


# Cancellation and slow sides


async def test_a_command_is_cancelled_when_its_client_goes():
    began, ended = asyncio.Event(), asyncio.Event()

    async def run(_: ExecSession) -> int:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with served(FunctionKubelet(exec=run)) as call:
        for closes in (True, False):
            began.clear()
            ended.clear()
            async with web_socket(call, f"{POD}/exec?command=x&stdin=true&stdout=true", V5) as socket:
                await began.wait()
                if closes:
                    await socket.close()
                else:
                    abort(socket)
                await ended.wait()


@pytest.mark.parametrize("catches", [True, False])
async def test_a_client_that_goes_while_a_command_writes_is_no_failure_of_the_kubelet(
    caplog: pytest.LogCaptureFixture, catches: bool
):
    began, ended = asyncio.Event(), asyncio.Event()

    async def write(session: ExecSession) -> None:
        while True:
            await session.stdout.write(b"x" * 65536)
            began.set()

    async def run(session: ExecSession) -> int:
        try:
            await write(session)
        except ConnectionError as error:
            if catches:
                raise RuntimeError("the output is lost") from error
            raise
        finally:
            ended.set()
        return 0

    async with served(FunctionKubelet(exec=run)) as call:
        for _ in range(20):  # the server notices it when it reads or when it writes
            began.clear()
            ended.clear()
            async with web_socket(call, f"{POD}/exec?command=yes&stdout=true", V5) as socket:
                await began.wait()
                abort(socket)
                await ended.wait()
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


async def test_a_command_is_cancelled_when_the_server_stops():
    began, ended = asyncio.Event(), asyncio.Event()

    async def run(_: ExecSession) -> int:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with served(FunctionKubelet(exec=run)) as call:
        socket = await call.session.ws_connect(f"{call._url}{POD}/exec?command=x&stdout=1", protocols=[V5])
        await began.wait()
    assert ended.is_set()
    await socket.close()


async def test_a_client_that_does_not_read_makes_the_command_wait():
    written, began = 0, asyncio.Event()

    async def run(session: ExecSession) -> int:
        nonlocal written
        while True:
            await session.stdout.write(b"x" * 65536)
            written += 65536
            began.set()

    async with (
        served(FunctionKubelet(exec=run)) as call,
        web_socket(call, f"{POD}/exec?command=yes&stdout=true", V5) as socket,
    ):
        await began.wait()
        before = -1
        while before != written:
            before = written
            for _ in range(1000):
                await asyncio.sleep(0)
        assert written < 64 * 1024 * 1024
        assert len((await socket.receive()).data) > 0


async def test_a_command_that_ends_without_reading_its_stdin_reports_its_status():
    async def run(session: ExecSession) -> int:
        assert await session.stdin.read(1) == b"x"
        return 5

    async with (
        served(FunctionKubelet(exec=run)) as call,
        web_socket(call, f"{POD}/exec?command=head&stdin=true&stdout=true", V5) as socket,
    ):
        for _ in range(20):
            await socket.send_bytes(b"\0" + b"x" * 65536)
        assert status(await messages(socket))["details"]["causes"][0]["message"] == "5"
