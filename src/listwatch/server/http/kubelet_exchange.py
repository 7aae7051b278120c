"""Serves the requests that lead to a kubelet: logs and proxied requests here, streams in the modules next to this one.

    exec, attach    kubelet_commands    over a WebSocket; with v5.channel.k8s.io, errors are sent after the upgrade
    portforward     kubelet_ports       over a WebSocket, with channels or with SPDY frames inside

A request to upgrade the connection itself to SPDY is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from datetime import UTC, datetime

from aiohttp import web

from listwatch.errors import BadRequestError
from listwatch.models.core_v1 import Pod
from listwatch.server.http.kubelet_commands import CommandExchange
from listwatch.server.http.kubelet_ports import TUNNEL, ChannelPortExchange, TunnelPortExchange
from listwatch.server.http.messages import reset
from listwatch.server.http.web_sockets import KubeletCall
from listwatch.server.kubelet.channel_protocols import COMMANDS, PORTS, TRANSLATED, choose
from listwatch.server.kubelet.kubelet import Kubelet, NotServedError
from listwatch.server.kubelet.sessions import LogRequest, ProxyRequest
from listwatch.server.requests import APIRequest, Response
from listwatch.server.verbs.connections import (
    ConnectionHandler,
    Connections,
    LogHandler,
    PodTarget,
    check_log_options,
    is_upgrade,
    is_web_socket,
    no_log,
    requested_protocols,
)

__all__ = ["KubeletExchange"]

# Headers that belong to one connection, and the credentials of the client.
_HOP_HEADERS = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade", "authorization", "content-length"),
    }
)


class KubeletExchange:
    """One request for a log, a command, ports or a proxy, and its response."""

    def __init__(
        self,
        http: web.BaseRequest,
        request: APIRequest,
        connections: Connections,
        kubelet: Kubelet | None,
        *,
        headers: Mapping[str, str],
        started: Callable[[int], None],
    ) -> None:
        self._http = http
        self._request = request
        self._connections = connections
        self._kubelet = kubelet
        self._headers = dict(headers)
        self._started = started

    async def run(self) -> web.StreamResponse | Response:
        """Serve the request. An error before a response has begun is raised."""
        kubelet = self._kubelet
        if self._request.subresource in ("exec", "attach"):
            return await self._run_command()
        assert kubelet is not None
        match self._request.subresource:
            case "log":
                return await self._send_log(kubelet)
            case "portforward":
                return await self._forward_ports(kubelet)
            case _:
                return await self._proxy(kubelet)

    # --- Streams

    async def _run_command(self) -> web.StreamResponse:
        target = self._stream_target()
        requested = requested_protocols(self._request.headers)
        protocol = choose(requested, TRANSLATED) or choose(requested, COMMANDS)
        if protocol is None or not is_web_socket(self._request.headers):
            return self._refuse_protocol(requested)
        if self._kubelet is None:
            self._connections.kubelet_address(target.node)  # a missing node is reported before the upgrade
        return await CommandExchange(
            self._http,
            self._request,
            target,
            protocol,
            self._kubelet,
            lambda: self._connections.refused_command(self._request, target),
        ).run(self._started)

    async def _forward_ports(self, kubelet: Kubelet) -> web.StreamResponse:
        target = self._stream_target()

        def refused() -> str:
            return f"error dialing backend: {self._connections.refused(target.node)}"

        requested = requested_protocols(self._request.headers)
        if not is_web_socket(self._request.headers):
            return self._refuse_protocol(requested)
        if TUNNEL in requested:
            return await TunnelPortExchange(self._http, self._request, target, kubelet, refused).run(self._started)
        if protocol := choose(requested, PORTS):
            exchange = ChannelPortExchange(self._http, self._request, target, protocol, kubelet, refused)
            return await exchange.run(self._started)
        return self._refuse_protocol(requested)

    def _stream_target(self) -> PodTarget:
        target = self._connections.stream_target(self._request)
        if not is_upgrade(self._request.headers):
            raise BadRequestError("Upgrade request required")
        return target

    def _refuse_protocol(self, requested: tuple[str, ...]) -> web.Response:
        """Respond as a kubelet to a protocol that it does not know; clients print the text."""
        if is_web_socket(self._request.headers):
            self._started(403)
            return web.Response(status=403)
        offered = [each.strip() for each in self._http.headers.getall("X-Stream-Protocol-Version", [])]
        text = f"unable to negotiate protocol: client supports [{' '.join(offered)}], server accepts []"
        self._started(403)
        return web.Response(status=403, text=f"unable to upgrade: {text}\n")

    # --- Logs

    async def _send_log(self, kubelet: Kubelet) -> web.StreamResponse | Response:
        check_log_options(self._request.name, self._request.query)
        target = self._connections.pod_target(self._request)
        if not target.node:
            return no_log()
        call = KubeletCall(self._request, doing="error reading the log of a container")
        try:
            pieces = aiter(kubelet.logs(self._log_request(target)))
            # A kubelet, too, responds with its first bytes; until then, an error is a response.
            first = await anext(pieces, b"")
        except NotServedError:
            LogHandler(self._connections).refuse(self._request, target)
        except Exception as error:  # noqa: BLE001  # the kubelet is code of a user
            raise call.error(error) from None
        response = web.StreamResponse(headers={**self._headers, "Content-Type": "text/plain"})
        try:
            limited = _limited(first, pieces, self._request.query.number("limitBytes"))
            return await self._send_pieces(response, limited, call)
        finally:
            await _close(pieces)

    def _log_request(self, target: PodTarget) -> LogRequest:
        query = self._request.query
        return LogRequest(
            pod=Pod.from_wire(target.pod),
            container=target.container,
            user=self._request.user,
            follow=query.flag("follow"),
            previous=query.flag("previous"),
            timestamps=query.flag("timestamps"),
            tail_lines=query.number("tailLines"),
            limit_bytes=query.number("limitBytes"),
            since_seconds=query.number("sinceSeconds"),
            since_time=_time(query.text("sinceTime")),
        )

    async def _send_pieces(
        self, response: web.StreamResponse, pieces: AsyncIterable[bytes], call: KubeletCall
    ) -> web.StreamResponse:
        """Send a response in pieces; if the kubelet fails, it is cut off."""
        if self._http.version >= (1, 1) and "Content-Length" not in response.headers:
            response.enable_chunked_encoding()
        self._started(response.status)
        await response.prepare(self._http)
        try:
            async for piece in pieces:
                if piece:
                    await response.write(piece)
        except Exception as error:  # noqa: BLE001  # the kubelet is code of a user
            if not self._is_disconnected():
                call.error(error)
            return reset(self._http)
        await response.write_eof()
        return response

    def _is_disconnected(self) -> bool:
        return self._http.transport is None or self._http.transport.is_closing()

    # --- Proxies

    async def _proxy(self, kubelet: Kubelet) -> web.StreamResponse:
        request = self._request
        target = self._connections.proxy_target(request)
        if not request.subpath and request.method in ("GET", "HEAD"):
            self._started(301)
            query = f"?{self._http.query_string}" if self._http.query_string else ""
            return web.Response(status=301, headers={**self._headers, "Location": f"{request.path}/{query}"})
        call = KubeletCall(request, doing="error trying to reach service")
        try:
            proxied = await kubelet.proxy(
                ProxyRequest(
                    resource=request.resource.plural,
                    namespace=request.namespace,
                    name=target.name,
                    scheme=target.scheme,
                    port=target.port,
                    method=request.method,
                    path=request.subpath or "/",
                    query_string=self._http.query_string,
                    user=request.user,
                    headers=_forwarded(self._http.headers),
                    body=self._http.content.iter_any(),
                )
            )
        except NotServedError:
            ConnectionHandler(self._connections)(request)
        except Exception as error:  # noqa: BLE001  # the kubelet is code of a user
            raise call.error(error) from None
        headers = {**self._headers, **_forwarded(proxied.headers)}
        body = proxied.body.encode() if isinstance(proxied.body, str) else proxied.body
        if isinstance(body, bytes):
            self._started(proxied.status)
            return web.Response(body=body, status=proxied.status, headers=headers)
        response = web.StreamResponse(status=proxied.status, headers=headers)
        try:
            return await self._send_pieces(response, body, call)
        finally:
            await _close(body)


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_HEADERS}


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequestError(f'parsing time "{text}": it is not in the format of RFC 3339') from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


async def _limited(first: bytes, pieces: AsyncIterator[bytes], limit: int | None) -> AsyncIterator[bytes]:
    """Yield the first piece and the others, up to a number of bytes."""
    left = limit
    piece: bytes | None = first
    while piece is not None:
        if left is not None:
            piece = piece[:left]
            left -= len(piece)
        yield piece
        if left == 0:
            return
        piece = await anext(pieces, None)


async def _close(pieces: object) -> None:
    """Close an asynchronous generator that may not be at its end."""
    close = getattr(pieces, "aclose", None)
    if close is not None:
        await close()
