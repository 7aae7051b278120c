"""The HTTP server of the inspector: the page, a stream of snapshots, and searches.

Files of the page contain no data and need no token. Everything under /api/ needs it, as a bearer token: a page of
another site cannot send it, and unlike a cookie it is not sent to other ports of this host.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from listwatch.clock import Clock
from listwatch.errors import ListWatchError, UsageError
from listwatch.inspector.components import Components
from listwatch.inspector.object_search import ObjectQuery, search, search_owned
from listwatch.inspector.object_view import events_of, view_of
from listwatch.inspector.options import InspectorOptions
from listwatch.inspector.snapshot_feed import SnapshotFeed
from listwatch.keyed import Cached

__all__ = ["InspectorServer"]

_log = logging.getLogger("listwatch.inspector")

_PAGE = Path(__file__).parent / "page"
_FILES = {
    "/": ("index.html", "text/html"),
    "/inspector.css": ("inspector.css", "text/css"),
    "/inspector.js": ("inspector.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SEND_TIMEOUT = 10.0
"""Seconds for which a page may read nothing before it is disconnected."""
_MAX_REQUESTS = 16
"""Searches and views in progress; further ones are rejected."""
_MAX_KEYS = 50
_SHUTDOWN_TIMEOUT = 1.0

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _Refused(Exception):  # noqa: N818  # it never leaves this module
    """Ends a request with an error response."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class InspectorServer:
    """Serves the page between `start` and `stop`. Every method except GET and HEAD is rejected."""

    def __init__(self, components: Components, options: InspectorOptions, *, token: str, clock: Clock) -> None:
        self._components = components
        self._options = options
        self._token = token.encode()
        self._clock = clock
        self._feed = SnapshotFeed(components, interval=options.interval)
        self._files = {path: (_PAGE / name).read_bytes() for path, (name, _) in _FILES.items()}
        self._streams = self._requests = 0
        self._runner: web.AppRunner | None = None
        self.port = options.port
        self._paths: dict[str, _Handler] = {
            "/api/snapshot": self._snapshot,
            "/api/stream": self._stream,
            "/api/search": self._search,
            "/api/object": self._object,
            "/api/owned": self._owned,
            "/api/events": self._events,
            "/api/reconciles": self._reconciles,
        }

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen; raises UsageError if the address cannot be used."""
        options = self._options
        # aiohttp's log of malformed requests quotes them, and they may contain the token.
        silent = logging.Logger("listwatch.inspector.http", level=logging.CRITICAL + 1)  # noqa: LOG001  # not shared
        self._runner = web.AppRunner(
            self._application(),
            handle_signals=False,
            access_log=None,
            logger=silent,
            handler_cancellation=True,
            shutdown_timeout=_SHUTDOWN_TIMEOUT,
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, options.host, options.port).start()
        except (OSError, OverflowError) as error:
            await self._runner.cleanup()
            raise UsageError(f"cannot serve the inspector at {options.host}:{options.port}: {error}") from error
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Disconnect all pages and stop listening."""
        self._feed.close()
        if self._runner is not None:
            await self._runner.cleanup()
        await self._feed.wait_ended()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=1024)
        application.router.add_route("*", "/{path:.*}", self._handle)
        return application

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_origin(request)
            if request.method not in ("GET", "HEAD"):
                raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, "the inspector is read-only: use GET")
            if request.path in _FILES:
                content_type = _FILES[request.path][1]
                body = self._files[request.path]
                return web.Response(body=body, content_type=content_type, charset="utf-8", headers=_HEADERS)
            if request.method == "HEAD":
                raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, "use GET")
            self._check_token(request)
            if (handler := self._paths.get(request.path)) is None:
                raise _Refused(HTTPStatus.NOT_FOUND, "there is no such path")
            return await handler(request)
        except _Refused as refused:
            return _json({"error": str(refused)}, refused.status)
        except ListWatchError as error:
            return _json({"error": self._components.redactor().error(error)}, HTTPStatus.BAD_REQUEST)
        except Exception:  # noqa: BLE001  # the page gets a response; without the query, which names objects
            _log.exception("The handler of %s failed", request.path, extra={"path": request.path})
            return _json({"error": "internal error; see the log"}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _check_origin(self, request: web.Request) -> None:
        """Reject requests that a page of another site has caused, also by DNS rebinding."""
        if not self._is_own_host(_host_of(f"//{request.headers.get('Host', '')}")):
            raise _Refused(
                HTTPStatus.FORBIDDEN,
                "the Host header does not name this server: use an IP address or localhost, or pass the name in "
                "InspectorOptions(allowed_hosts=[...])",
            )
        origin = request.headers.get("Origin", "")
        is_foreign = bool(origin) and origin.partition("://")[2] != request.headers.get("Host")
        # A link from another site to the page itself is harmless: the page contains no data.
        site = request.headers.get("Sec-Fetch-Site", "none") if request.path not in _FILES else "none"
        if is_foreign or site not in ("none", "same-origin"):
            raise _Refused(HTTPStatus.FORBIDDEN, "requests of other sites are rejected")

    def _is_own_host(self, host: str) -> bool:
        # Only a name can be pointed at this machine by another site; an address cannot.
        if host == "localhost" or host in (each.lower() for each in (*self._options.allowed_hosts, self._options.host)):
            return bool(host)
        try:
            ip_address(host)
        except ValueError:
            return False
        return True

    def _check_token(self, request: web.Request) -> None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        is_valid = hmac.compare_digest(given.strip().encode(errors="replace"), self._token)
        if scheme.lower() != "bearer" or not is_valid:
            raise _Refused(
                HTTPStatus.UNAUTHORIZED, "the token is missing or wrong: open the URL that was printed at the start"
            )

    # --- the stream --------------------------------------------------------------------------------------------------

    async def _snapshot(self, _: web.Request) -> web.StreamResponse:
        return _json(self._components.snapshot())

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        if self._streams >= self._options.max_streams:
            raise _Refused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{self._streams} pages are open already, which is the limit: close one, or raise max_streams",
            )
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
        self._streams += 1
        try:
            # A page that is gone raises ConnectionResetError, one that does not read TimeoutError.
            with suppress(ConnectionError, TimeoutError):
                await response.prepare(request)
                async for payload in self._feed.payloads():
                    async with asyncio.timeout(_SEND_TIMEOUT):
                        await response.write(b"event: snapshot\ndata: " + payload + b"\n\n")
        finally:
            self._streams -= 1
        return response

    # --- searches ----------------------------------------------------------------------------------------------------

    async def _search(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        objects = ObjectQuery(
            name=query.get("name", ""),
            namespace=query.get("namespace", ""),
            labels=query.get("labels", ""),
            limit=_number(query.get("limit", "50")),
        )
        informers = self._components.informers
        if identifier := query.get("informer", ""):
            informers = {key: each for key, each in informers.items() if key == identifier}
        with self._counted():
            return _json(await search(informers, objects))

    async def _object(self, request: web.Request) -> web.StreamResponse:
        identifier, key = request.query.get("informer", ""), request.query.get("key", "")
        informers = self._components.informers
        if identifier not in informers:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such informer any more")
        histories = {name: each.history for name, each in self._components.controllers.items()}
        with self._counted():
            view = await view_of(identifier, key, informers, self._components.redactor(), histories)
        if view is None:
            raise _Refused(HTTPStatus.NOT_FOUND, f"{key} is not in the cache: it was deleted, or is not selected")
        return _json(view)

    def _item(self, request: web.Request) -> Cached:
        informer = self._components.informers.get(request.query.get("informer", ""))
        item: Cached | None = None if informer is None else informer.indexer._find(request.query.get("key", ""))
        if item is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "the object is not in the cache")
        return item

    async def _owned(self, request: web.Request) -> web.StreamResponse:
        item = self._item(request)
        with self._counted():
            return _json(await search_owned(self._components.informers, item))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        item = self._item(request)
        with self._counted():
            client = self._components.client_of(request.query.get("informer", ""))
            return _json(await events_of(item, client, self._components.redactor(), self._clock))

    async def _reconciles(self, request: web.Request) -> web.StreamResponse:
        controller = self._components.controllers.get(request.query.get("controller", ""))
        if controller is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such controller")
        history, redactor = controller.history, self._components.redactor()
        records = history.of_text(request.query.get("key", ""))
        keys = [str(each) for each in history.keys_with(request.query.get("contains", ""), _MAX_KEYS)]
        snapshots = [each.snapshot() for each in records]
        shown = [msgspec.structs.replace(each, error=redactor(each.error)) for each in snapshots]
        return _json({"reconciles": shown, "keys": keys, "total": len(history)})

    def _counted(self) -> _Counted:
        return _Counted(self)


class _Counted:
    """Limits the searches in progress."""

    def __init__(self, server: InspectorServer) -> None:
        self._server = server

    def __enter__(self) -> None:
        if self._server._requests >= _MAX_REQUESTS:
            raise _Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many searches are in progress: try again")
        self._server._requests += 1

    def __exit__(self, *_: object) -> None:
        self._server._requests -= 1


def _json(value: object, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json", headers=_HEADERS)


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise _Refused(HTTPStatus.BAD_REQUEST, "limit is not a number")
    return int(text)
