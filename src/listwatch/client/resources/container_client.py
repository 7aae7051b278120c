"""The operations on the containers of a pod: logs, commands and connections to ports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from listwatch.api.options import LogSource, QueryValue, log_parameters
from listwatch.client.pods.channels import COMMAND_PROTOCOLS, PORT_PROTOCOLS
from listwatch.client.pods.pod_facts import check_port
from listwatch.client.pods.port_forward import PortForward
from listwatch.client.pods.port_opener import PortOpener
from listwatch.client.pods.port_stream import PortStream
from listwatch.client.pods.remote_process import (
    DEFAULT_MAX_OUTPUT,
    CommandResult,
    RemoteProcess,
    describe_command,
)
from listwatch.client.resources.base_resource_client import BaseResourceClient
from listwatch.client.rest.streams import ByteStream, LogStream
from listwatch.client.rest.transport_protocols import ResponseStream, WebSocket
from listwatch.errors import RequestError
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelectorLike

__all__ = ["ContainerClient"]

T = TypeVar("T", bound=Object)


class ContainerClient(BaseResourceClient[T]):
    """The containers of pods, by the names of the pods."""

    # --- commands ----------------------------------------------------------------------------------------------------

    async def exec(
        self,
        name: str,
        command: Sequence[str],
        *,
        container: str = "",
        stdin: bytes | str | None = None,
        tty: bool = False,
        check: bool = False,
        timeout: float | None = None,
        max_output: int = DEFAULT_MAX_OUTPUT,
    ) -> CommandResult:
        """Run a command in a container, and return its exit code and output.

        A pod with a single container needs no `container`. `stdin` is sent as the input, and then ended. With `check`,
        an exit code other than 0 raises CommandFailedError. CommandTimeoutError after `timeout` seconds, which closes
        the connection.
        """
        process = self.stream_exec(name, command, container=container, stdin=stdin is not None, tty=tty)
        async with process:
            result = await process.communicate(stdin, timeout=timeout, max_output=max_output)
        return result.check(describe_command(name, command, container)) if check else result

    def stream_exec(
        self,
        name: str,
        command: Sequence[str],
        *,
        container: str = "",
        stdin: bool = False,
        stdout: bool = True,
        stderr: bool = True,
        tty: bool = False,
    ) -> RemoteProcess:
        """Run a command whose input is written and whose output is read while it runs: use it with `async with`.

        The command starts when the block is entered, and ends at the latest when it is left.
        """
        if isinstance(command, str) or not command or not all(isinstance(each, str) for each in command):
            advice = 'pass a list, as in ["sh", "-c", "ls | wc -l"]'
            raise RequestError(f"the command must be a sequence of strings, not {command!r:.80}; {advice}")
        parameters = _stream_parameters(container, stdin=stdin, stdout=stdout, stderr=stderr, tty=tty)
        return self._process(name, "exec", command, parameters)

    def attach(
        self,
        name: str,
        *,
        container: str = "",
        stdin: bool = False,
        stdout: bool = True,
        stderr: bool = True,
        tty: bool = False,
    ) -> RemoteProcess:
        """Connect to the main process of a container: use it with `async with`.

        `tty` must be that of the container. Leaving the block does not end the process.
        """
        parameters = _stream_parameters(container, stdin=stdin, stdout=stdout, stderr=stderr, tty=tty)
        return self._process(name, "attach", (), parameters)

    def _process(
        self, name: str, subresource: str, command: Sequence[str], parameters: dict[str, QueryValue]
    ) -> RemoteProcess:
        async def open_socket() -> WebSocket:
            request = await self._request("GET", name, subresource)
            return await request.param("command", [*command]).params(parameters)._open_web_socket(*COMMAND_PROTOCOLS)

        return RemoteProcess(
            open_socket,
            doing=describe_command(name, command, str(parameters.get("container", ""))),
            clock=self._rest._clock,
            has_stdin=bool(parameters.get("stdin")),
        )

    # --- ports -------------------------------------------------------------------------------------------------------

    def open_port(self, name: str, port: int) -> PortStream:
        """Open one connection to a port of a pod: use it with `async with`."""
        check_port(port)

        async def open_socket() -> WebSocket:
            request = await self._request("GET", name, "portforward")
            return await request.param("ports", port)._open_web_socket(*PORT_PROTOCOLS)

        return PortStream(open_socket, doing=f"port {port} of pod {name}")

    def port_forward(
        self,
        name: str = "",
        port: int | str = 0,
        *,
        label_selector: LabelSelectorLike = None,
        local_port: int = 0,
        address: str = "127.0.0.1",
    ) -> PortForward:
        """Listen at a local port, and connect its connections to a port of a pod: use it with `async with`.

        The port is a number or the name of a container port. With `label_selector` instead of `name`, each connection
        leads to a pod that is ready at that time. Without `local_port`, the system chooses one.
        """
        if type(local_port) is not int or not 0 <= local_port < 2**16:
            raise RequestError(f"local_port must be a number from 0 to 65535, not {local_port!r}")
        if not isinstance(port, str):
            check_port(port)

        opener = PortOpener(self, name, label_selector, clock=self._rest._clock, waits_for_name=True)
        return PortForward(
            lambda: opener.open(port),
            address=address,
            local_port=local_port,
            doing=f"port {port} of {opener}",
            clock=self._rest._clock,
        )

    # --- logs --------------------------------------------------------------------------------------------------------

    async def logs(
        self,
        name: str,
        *,
        container: str = "",
        since_seconds: float | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        previous: bool = False,
        timestamps: bool = False,
        limit_bytes: int | None = None,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> str:
        """Read the log of a container: everything, or what was written since a time or in the last seconds."""
        parameters = log_parameters(
            container=container,
            since_seconds=since_seconds,
            since_time=since_time,
            tail_lines=tail_lines,
            previous=previous,
            timestamps=timestamps,
            limit_bytes=limit_bytes,
            stream=stream,
            insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
        )
        body = await self._log_stream(name, parameters).read_all()
        return body.decode(errors="replace")

    def follow_logs(
        self,
        name: str,
        *,
        container: str = "",
        since_seconds: float | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        timestamps: bool = False,
        limit_bytes: int | None = None,
        stream: LogSource = "",
        insecure_skip_tls_verify_backend: bool = False,
    ) -> LogStream:
        """Stream the lines of a container's log, and new lines as they are written, until the container ends."""
        parameters = log_parameters(
            follow=True,
            container=container,
            since_seconds=since_seconds,
            since_time=since_time,
            tail_lines=tail_lines,
            timestamps=timestamps,
            limit_bytes=limit_bytes,
            stream=stream,
            insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
        )
        return LogStream(self._log_stream(name, parameters))

    def _log_stream(self, name: str, parameters: dict[str, QueryValue]) -> ByteStream:
        async def open_stream() -> ResponseStream:
            request = await self._request("GET", name, "log")
            return await request.params(parameters).header("Accept", "*/*")._open_stream()

        return ByteStream(open_stream)


def _stream_parameters(container: str, *, stdin: bool, stdout: bool, stderr: bool, tty: bool) -> dict[str, QueryValue]:
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr and not tty, "tty": tty}
    if not any((stdin, stdout, stderr)):
        raise RequestError("a command needs at least one of stdin, stdout and stderr")
    chosen: dict[str, QueryValue] = {"container": container} if container else {}
    return chosen | {each: True for each, is_set in streams.items() if is_set}
