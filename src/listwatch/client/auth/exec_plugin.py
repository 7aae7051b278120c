"""Runs the exec plugin of a kubeconfig and reads the credential that it prints.

The plugin gets the cluster in KUBERNETES_EXEC_INFO and prints an ExecCredential to standard output. It inherits
standard error. Its output appears in no error and no log. A plugin that prints too much, or runs for too long, is
killed with the processes that it has started. `credentials` decides when to run it.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shutil
import signal
import sys
from collections import deque
from datetime import datetime
from typing import Annotated

import msgspec

from listwatch.client.auth.credential import Credential, IssuedCredential
from listwatch.client.config.client_config import ClientConfig, ExecConfig, is_header_value
from listwatch.client.config.kubeconfig_reader import load_document
from listwatch.client.config.redaction import HiddenStruct
from listwatch.client.config.tls import ClientCertificate, check_certificate, read_ca_bundle
from listwatch.clock import Clock, time_limit
from listwatch.errors import ConfigError, CredentialError
from listwatch.json_value import JSONObject
from listwatch.objects.json.reading import read

__all__ = ["ExecPlugin"]

_MAX_OUTPUT_SIZE = 2**20
_HINTS_PER_HOUR = 10
_HOUR = 3600.0


class _Status(HiddenStruct, frozen=True, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(HiddenStruct, frozen=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class ExecPlugin:
    """Issues the credential that a plugin prints. Each call runs the plugin once."""

    def __init__(self, config: ClientConfig, plugin: ExecConfig, *, clock: Clock) -> None:
        self._config = config
        self._plugin = plugin
        self._clock = clock
        self._hints: deque[float] = deque(maxlen=_HINTS_PER_HOUR)

    def __repr__(self) -> str:
        return f"ExecPlugin({self._plugin.command!r})"

    def __str__(self) -> str:
        return f"the exec plugin {self._plugin.command!r}"

    async def issue(self, *, renew: bool) -> IssuedCredential:
        return self._credential_in(await self._output())

    async def _output(self) -> bytes:
        program, interactive = self._program(), self._is_interactive()
        # A process group can be killed as a whole, but a background group must not read from a terminal.
        group = 0 if os.name == "posix" and not interactive else None
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *self._plugin.args,
                stdin=sys.stdin if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=self._environment(interactive=interactive),
                process_group=group,
            )
        except OSError as error:
            raise self._error(f"cannot be run: {error.strerror}") from None
        # A plugin with a terminal may wait for its user.
        timeout = None if interactive else self._plugin.timeout
        try:
            async with time_limit(self._clock, timeout):
                output = await _read_output(process, has_group=group is not None)
        except TimeoutError:
            raise self._error(f"was killed because it ran for more than {timeout:g} s") from None
        if output is None:
            raise self._error(f"was killed because it printed more than {_MAX_OUTPUT_SIZE:,} bytes")
        if process.returncode:
            raise self._error(f"failed with exit code {process.returncode}; its messages are on standard error")
        return output

    def _program(self) -> str:
        if program := shutil.which(self._plugin.command):
            return program
        if os.path.exists(self._plugin.command):
            raise self._error("is not executable")
        raise self._error(f"was not found; install it, or correct PATH or the kubeconfig. {self._hint()}".strip())

    def _hint(self) -> str:
        """The install hint of the kubeconfig, at most ten times per hour."""
        now = self._clock.monotonic()
        if len(self._hints) == _HINTS_PER_HOUR and now - self._hints[0] < _HOUR:
            return ""
        self._hints.append(now)
        return self._plugin.install_hint

    def _is_interactive(self) -> bool:
        if self._plugin.interactive_mode == "Never":
            return False
        has_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        if self._plugin.interactive_mode == "Always" and not has_terminal:
            raise self._error("requires a terminal (interactiveMode is Always), but standard input is not a terminal")
        return has_terminal

    def _environment(self, *, interactive: bool) -> dict[str, str]:
        spec: JSONObject = {"interactive": interactive}
        if self._plugin.provide_cluster_info:
            spec["cluster"] = self._cluster()
        info = {"kind": "ExecCredential", "apiVersion": self._plugin.api_version, "spec": spec}
        try:
            encoded = msgspec.json.encode(info).decode()
        except (TypeError, ValueError, RecursionError):
            encoded = ""
        if not encoded:
            raise self._error("cannot be run: the exec extension of the cluster cannot be encoded as JSON")
        return {**os.environ, **self._plugin.env, "KUBERNETES_EXEC_INFO": encoded}

    def _cluster(self) -> JSONObject:
        config = self._config
        fields: JSONObject = {
            "server": config.host,
            "tls-server-name": config.tls_server_name,
            "insecure-skip-tls-verify": config.insecure_skip_tls_verify,
            "certificate-authority-data": base64.b64encode(read_ca_bundle(config)).decode("ascii"),
            "proxy-url": config.proxy_url,
            "disable-compression": config.disable_compression,
        }
        return {name: value for name, value in fields.items() if value} | {"config": self._plugin.cluster_config}

    def _credential_in(self, output: bytes) -> IssuedCredential:
        printed = self._decode(output)
        if printed.kind != "ExecCredential" or printed.api_version != self._plugin.api_version:
            raise self._error(f"did not print an ExecCredential of {self._plugin.api_version}")
        if printed.status is None:
            raise self._error("printed an ExecCredential without a status")
        token, certificate = printed.status.token or "", self._certificate(printed.status)
        if not (token or certificate):
            raise self._error("printed neither a token nor a certificate with its key")
        if not is_header_value(token):
            raise self._error("printed a token with line breaks")
        authorization = f"Bearer {token}" if token else ""
        return IssuedCredential(Credential(authorization, certificate), printed.status.expiration_timestamp)

    def _decode(self, output: bytes) -> _ExecCredential:
        try:
            credential: _ExecCredential = read(load_document(output), _ExecCredential)
        except msgspec.ValidationError as error:
            problem = f"printed an invalid ExecCredential: {error}"
        except ValueError:
            problem = "did not print JSON"
        else:
            return credential
        raise self._error(problem)

    def _certificate(self, status: _Status) -> ClientCertificate | None:
        certificate, key = status.client_certificate_data or "", status.client_key_data or ""
        if bool(certificate) != bool(key):
            raise self._error("printed a certificate without its key, or a key without its certificate")
        if not certificate:
            return None
        pair = ClientCertificate(certificate.encode(), key.encode())
        try:
            check_certificate(pair)
        except ConfigError as error:
            raise self._error(f"printed a certificate that cannot be used: {error.message}") from None
        return pair

    def _error(self, problem: str) -> CredentialError:
        user = self._plugin.kubeconfig_user
        file, entry = (user.file, user.entry) if user else ("", "")
        return CredentialError(f"{self} {problem}", file=file, entry=entry)


async def _read_output(process: asyncio.subprocess.Process, *, has_group: bool) -> bytes | None:
    """Read the output of a process until it ends. Return None if it is too long.

    In that case, and on cancellation, the process is killed.
    """
    assert process.stdout is not None
    output, is_complete = bytearray(), False
    try:
        while len(output) <= _MAX_OUTPUT_SIZE:
            piece = await process.stdout.read(_MAX_OUTPUT_SIZE)
            if not piece:
                await process.wait()
                is_complete = True
                return bytes(output)
            output += piece
        return None
    finally:
        if not is_complete:
            # The plugin may have exited while a child process of it keeps the pipe open.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL) if has_group else process.kill()
            # asyncio waits for the end of the pipe, too. It does not notice it while its buffer is full, and a child
            # that has left the group keeps the pipe open. There is no public way to close it.
            process.stdout._transport.close()  # type: ignore[attr-defined]  # see above
            try:
                await process.wait()
            finally:
                process._transport.close()  # type: ignore[attr-defined]  # see above
