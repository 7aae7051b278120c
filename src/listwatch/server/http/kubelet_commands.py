"""Serves exec and attach: the streams of a command over the channels of a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from aiohttp import web

from listwatch.errors import BadRequestError
from listwatch.json_value import JSONObject
from listwatch.models.core_v1 import Pod
from listwatch.server.http.web_sockets import KubeletCall, WebSocket, run_until_disconnected
from listwatch.server.internal_errors import internal_error
from listwatch.server.kubelet.byte_streams import InputStream, OutputStream
from listwatch.server.kubelet.channel_protocols import ERROR, RESIZE, STDERR, STDIN, STDOUT, ChannelProtocol
from listwatch.server.kubelet.command_status import encode_status, exit_status, failure_status
from listwatch.server.kubelet.kubelet import Kubelet, NotServedError
from listwatch.server.kubelet.sessions import AttachSession, ExecSession, TerminalSize, TerminalSizes
from listwatch.server.requests import APIRequest
from listwatch.server.verbs.connections import PodTarget

__all__ = ["CommandExchange"]

_NO_STREAM = "you must specify at least 1 of stdin, stdout, stderr"
_DOING = {"exec": "error executing command in container", "attach": "error attaching to container"}


class _Size(msgspec.Struct):
    """The message of the resize channel; clients spell its members in two ways, as Go reads both."""

    Width: int = 0
    Height: int = 0
    width: int = 0
    height: int = 0


_decode_size = msgspec.json.Decoder(_Size).decode


class CommandExchange:
    """One exec or attach, from the upgrade of the connection to the status of the command."""

    def __init__(
        self,
        http: web.BaseRequest,
        request: APIRequest,
        target: PodTarget,
        protocol: ChannelProtocol,
        kubelet: Kubelet | None,
        refused: Callable[[], str],
    ) -> None:
        self._request = request
        self._protocol = protocol
        self._kubelet = kubelet
        self._socket = WebSocket(http, protocol.name)
        self._call = KubeletCall(request, doing=_DOING[request.subresource], refused=refused)
        flag = request.query.flag
        self._has_stdin, self._has_stdout = flag("stdin"), flag("stdout")
        # A terminal has one output.
        self._has_stderr = flag("stderr") and not flag("tty")
        self._session = self._new_session(target)
        self._status: JSONObject | None = None

    def _new_session(self, target: PodTarget) -> AttachSession:
        query = self._request.query
        session = AttachSession(
            pod=Pod.from_wire(target.pod),
            container=target.container,
            user=self._request.user,
            tty=query.flag("tty"),
            stdin=InputStream(),
            stdout=self._output(STDOUT, is_requested=self._has_stdout),
            stderr=self._output(STDERR, is_requested=self._has_stderr),
            resizes=TerminalSizes(),
        )
        if not self._has_stdin:
            session.stdin.close()
        if self._request.subresource == "attach":
            return session
        fields = {name: getattr(session, name) for name in AttachSession.__slots__}
        return ExecSession(**fields, command=query.all("command"))

    def _output(self, channel: int, *, is_requested: bool) -> OutputStream:
        async def send(data: bytes) -> None:
            await self._send(channel, data)

        return OutputStream(send if is_requested else None)

    async def run(self, started: Callable[[int], None]) -> web.StreamResponse:
        """Serve the session; returns when the command has ended or the client has gone."""
        if not self._has_streams() and not self._protocol.has_close:
            raise BadRequestError(_NO_STREAM)  # a kubelet checks this before it upgrades
        await self._socket.open(started)
        # Clients wait for this message, on the first channel that they can read.
        first = STDOUT if self._has_stdout else STDERR if self._has_stderr else ERROR
        await self._send(first, b"")
        work = asyncio.get_running_loop().create_task(self._work())
        await run_until_disconnected(self._receive(), work)
        if self._status is not None and not self._socket.is_disconnected:
            if message := encode_status(self._status, has_status=self._protocol.has_status):
                await self._send(ERROR, message)
            await self._socket.close()
        return self._socket.response

    def _has_streams(self) -> bool:
        return self._has_stdin or self._has_stdout or self._has_stderr

    async def _send(self, channel: int, data: bytes) -> None:
        await self._socket.send(self._protocol.encode(channel, data))

    async def _work(self) -> None:
        """Let the kubelet run the command, and keep the status of its end."""
        try:
            self._status = exit_status(await self._run_command() or 0)
        except Exception as error:  # noqa: BLE001  # the kubelet is code of a user
            if self._socket.is_disconnected:
                self._call.ignore(error)
            else:
                self._status = failure_status(self._call.error(error))

    async def _run_command(self) -> int | None:
        session = self._session
        if self._kubelet is None:
            raise NotServedError
        if not self._has_streams():
            raise internal_error(f"unable to upgrade connection: {_NO_STREAM}")
        if isinstance(session, ExecSession):
            return await self._kubelet.exec(session)
        return await self._kubelet.attach(session)

    async def _receive(self) -> None:
        session = self._session
        while (message := await self._socket.receive()) is not None:
            try:
                received = self._protocol.decode(message)
            except ValueError:
                break
            if received is None:
                continue
            if received.channel == STDIN and received.is_close:
                session.stdin.close()
            elif received.channel == STDIN:
                await session.stdin.feed(received.data)
            elif received.channel == RESIZE and (size := _size_of(received.data)):
                session.resizes.add(size)


def _size_of(message: bytes) -> TerminalSize | None:
    try:
        size = _decode_size(message)
    except msgspec.DecodeError:
        return None
    return TerminalSize(size.Width or size.width, size.Height or size.height)
