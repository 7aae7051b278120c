"""Requests to one API server, built step by step. All other clients use a RESTClient.

    async with RESTClient(config) as rest:
        pod = (await rest.get().namespace("default").resource("pods").name("web-0").do()).into(Pod)

`request` has the steps, `sender` sends requests, `transport` has the connections.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple, Self

from listwatch.api.http_messages import PATCH_TYPES, api_path
from listwatch.client.config.client_config import ClientConfig, check_config, closed_client
from listwatch.client.rest.client_statistics import ClientStatistics
from listwatch.client.rest.rate_limiter import RateLimiter, TokenBucket
from listwatch.client.rest.request import Request
from listwatch.client.rest.sender import Sender
from listwatch.client.rest.transport_protocols import Transport
from listwatch.client.rest.warnings import WarningReporter
from listwatch.clock import Clock, SystemClock
from listwatch.errors import APIError
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.tasks.async_only import AsyncOnly, missing_attribute

if TYPE_CHECKING:
    from listwatch.recording.recorder import Recorder

__all__ = ["RESTClient"]


class RESTClient(AsyncOnly):
    """Requests to one API server, relative to one group-version.

    Without a config, `load_config()` is called on entering `async with`, or with the first request. With `record`, what
    is received is written to a file, which `APIServer(replay=file)` plays back; a Recorder is closed by the caller.
    """

    def __init__(
        self,
        config: ClientConfig | None = None,
        *,
        group_version: str = "v1",
        transport: Transport | None = None,
        rate_limiter: RateLimiter | None = None,
        clock: Clock | None = None,
        record: Recorder | str | os.PathLike[str] | None = None,
    ) -> None:
        self._group_version = group_version
        self._prefix = api_path(group_version)
        self._owns_session = True
        self._session = _Session(config, transport, rate_limiter, clock or SystemClock(), _recording(record, clock))
        self._name_owner(type(self).__name__)

    def _name_owner(self, name: str) -> None:
        """Set the class of the client that has to be closed, for messages."""
        self._session.owner = name

    @property
    def config(self) -> ClientConfig:
        """The configuration of the client. If none was given, it is loaded."""
        return self._session.config

    @property
    def group_version(self) -> str:
        """The group-version to which the paths of requests are relative."""
        return self._group_version

    def for_group_version(self, group_version: str) -> Self:
        """Return a client for another group-version, such as `apps/v1`. It shares the connections of this client."""
        sibling = copy.copy(self)
        sibling._group_version, sibling._prefix = group_version, api_path(group_version)
        sibling._owns_session = False
        return sibling

    @property
    def _has_own_transport(self) -> bool:
        """Whether requests use a transport of the caller, which may belong to one event loop."""
        return self._session.has_own_transport

    @property
    def _clock(self) -> Clock:
        return self._session.clock

    def _server_identity(self) -> str:
        """The address of the server, and a hash of the certificate authority that is expected of it."""
        config = self.config
        authority = config.ca_data.strip() or config.ca_file.encode()
        return f"{config.base_url} {config.tls_server_name} {hashlib.sha256(authority).hexdigest()[:16]}"

    async def _server_uid(self) -> str:
        """The uid of the namespace `kube-system`, which identifies a cluster; empty if it cannot be read."""
        request = self.for_group_version("v1").get().resource("namespaces").name("kube-system")
        try:
            return (await request.do()).into(PartialObjectMetadata).uid
        except APIError:
            return ""  # not allowed, or there is none

    # --- verbs -------------------------------------------------------------------------------------------------------

    def get(self) -> Request:
        """A GET request."""
        return self.verb("GET")

    def post(self) -> Request:
        """A POST request."""
        return self.verb("POST")

    def put(self) -> Request:
        """A PUT request."""
        return self.verb("PUT")

    def patch(self, patch_type: str) -> Request:
        """A patch of the type `json`, `merge`, `strategic` or `apply`, or of another content type."""
        return self.verb("PATCH").header("Content-Type", PATCH_TYPES.get(patch_type, patch_type))

    def delete(self) -> Request:
        """A DELETE request."""
        return self.verb("DELETE")

    def verb(self, method: str) -> Request:
        """A request with any HTTP method."""
        session = self._session
        return Request(
            session.sender,
            method.upper(),
            prefix=self._prefix,
            timeout=session.config.timeout,
            group_version=self._group_version,
            content_type=session.config.content_type,
        )

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    def statistics(self) -> ClientStatistics:
        """Return the counters of this client and of those that share its connections."""
        return self._session.sender.statistics()

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        if self._owns_session:
            await self._session.aclose()

    async def __aenter__(self) -> Self:
        self._session.load()
        self._session.open_recorder()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<RESTClient of {self._session} {self._group_version}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise missing_attribute(self, name)


class _Session:
    """The configuration and the sender, which clients of several group-versions share.

    Without a config, both are missing until `load`.
    """

    def __init__(
        self,
        config: ClientConfig | None,
        transport: Transport | None,
        limiter: RateLimiter | None,
        clock: Clock,
        recording: _Recording | None,
    ) -> None:
        self._config: ClientConfig | None = None
        self._sender: Sender | None = None
        self._transport = transport
        self.has_own_transport = transport is not None
        """Whether the caller has passed the transport."""
        self._limiter = limiter
        self.clock = clock
        self._recording = recording
        self._is_closed = False
        self._owner = ""
        if config is not None:
            self._configure(config)

    @property
    def owner(self) -> str:
        """The class of the client that has to be closed."""
        return self._owner

    @owner.setter
    def owner(self, name: str) -> None:
        self._owner = name
        if self._transport is not None and hasattr(self._transport, "owner"):
            self._transport.owner = name

    @property
    def config(self) -> ClientConfig:
        return self._config or self.load()[0]

    @property
    def sender(self) -> Sender:
        return self._sender or self.load()[1]

    def load(self) -> tuple[ClientConfig, Sender]:
        """Load the configuration, unless there is one."""
        if self._config is not None and self._sender is not None:
            return self._config, self._sender
        if self._is_closed:
            raise closed_client()
        # Imported here because programs that pass a ClientConfig need no YAML.
        from listwatch.client.config.kubeconfig import load_config

        return self._configure(load_config())

    def _configure(self, config: ClientConfig) -> tuple[ClientConfig, Sender]:
        check_config(config)
        self._config = config
        if self._transport is None:
            self._transport = _default_transport(config, self.clock, self._owner)
        self._sender = Sender(
            _recorded(self._transport, self._recording.recorder) if self._recording else self._transport,
            limiter=self._limiter or _default_limiter(config, self.clock),
            warnings=WarningReporter(config.warning_handler),
            clock=self.clock,
            server=config.base_url,
            max_retry_after=config.max_retry_after,
        )
        return self._config, self._sender

    def open_recorder(self) -> None:
        """Open the recording, if there is one, instead of with the first request. Raises ConfigError."""
        if self._recording:
            self._recording.recorder.open()

    async def aclose(self) -> None:
        self._is_closed = True
        if self._sender is not None:
            await self._sender.aclose()
        if self._recording and self._recording.is_owned:
            await asyncio.to_thread(self._recording.recorder.close)  # waits for the disk

    def __str__(self) -> str:
        return self._config.base_url if self._config else "the default server"


class _Recording(NamedTuple):
    """A recorder, and whether it is closed with the client."""

    recorder: Recorder
    is_owned: bool


def _recording(record: Recorder | str | os.PathLike[str] | None, clock: Clock | None) -> _Recording | None:
    if record is None:
        return None
    # Imported here because most programs record nothing.
    from listwatch.recording.recorder import Recorder

    if isinstance(record, Recorder):
        return _Recording(record, is_owned=False)
    return _Recording(Recorder(record, clock=clock), is_owned=True)


def _recorded(transport: Transport, recorder: Recorder) -> Transport:
    from listwatch.client.rest.recording_transport import RecordingTransport

    return RecordingTransport(transport, recorder)


def _default_transport(config: ClientConfig, clock: Clock, owner: str) -> Transport:
    # Imported here because programs that pass a transport need no HTTP library.
    from listwatch.client.transport.aiohttp_transport import AiohttpTransport

    transport = AiohttpTransport(config, clock=clock)
    transport.owner = owner
    return transport


def _default_limiter(config: ClientConfig, clock: Clock) -> RateLimiter | None:
    return None if config.qps is None else TokenBucket(qps=config.qps, burst=config.burst, clock=clock)
