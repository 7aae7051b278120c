"""Sends requests to the members of an etcd cluster, one member at a time: logs in, and fails over.

    request ─▶ current member ──fails──▶ next member ──…──▶ after one round, the last error

`messages.py` has the requests and responses, `gateway_errors.py` the errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from random import Random
from typing import TypeVar
from urllib.parse import urlsplit

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, is_success
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.client.transport.connection import AiohttpStream
from listwatch.clock import Clock
from listwatch.errors import (
    BadRequestError,
    ConnectError,
    ProtocolError,
    TLSError,
    TransportError,
    UnauthorizedError,
)
from listwatch.json_value import JSONObject
from listwatch.sources.etcd.gateway_errors import MemberUnavailableError, error_from_response
from listwatch.sources.etcd.messages import Authenticated, Header, ListedRange, ServerVersion, decode, encode, text
from listwatch.tasks.retry_observer import notify_retry_observer

__all__ = ["Gateway", "Member"]

_log = logging.getLogger("listwatch.sources.etcd")

R = TypeVar("R")

_LEADER_REQUIRED = "Grpc-Metadata-Hasleader"
"""With this header, a member that has lost the quorum ends a watch instead of leaving it silent."""

# These fail before a member has processed the request, so that a write may be sent to another one.
_NOT_PROCESSED = (ConnectError, TLSError, MemberUnavailableError)


class Member:
    """One endpoint of the cluster."""

    def __init__(self, config: ClientConfig, *, owner: str, clock: Clock) -> None:
        self.url = config.base_url
        self.host = urlsplit(self.url).netloc
        self.transport = AiohttpTransport(config, clock=clock)
        self.transport.owner = owner

    def __repr__(self) -> str:
        return f"<Member {self.url}>"


class Gateway:
    """The members of one cluster, the current one of them, and the token of the user."""

    def __init__(
        self,
        configs: Sequence[ClientConfig],
        *,
        username: str,
        password: str,
        timeout: float,
        clock: Clock,
        random: Random,
        owner: str = "EtcdClient",
    ) -> None:
        self.clock = clock
        self.timeout = timeout
        self.members = [Member(config, owner=owner, clock=clock) for config in configs]
        # Clients start with different members, so that the load is distributed.
        self._current = random.randrange(len(self.members))
        self._username = username
        self._password = password
        self._token = ""
        self._is_auth_disabled = False
        self._login = asyncio.Lock()

    async def aclose(self) -> None:
        for member in self.members:
            await member.transport.aclose()

    def members_in_order(self) -> Iterator[Member]:
        """Each member once, the current one first. If another one is requested, the next requests skip this one."""
        start = self._current
        for number in range(len(self.members)):
            member = self.members[(start + number) % len(self.members)]
            yield member
            self.skip(member)

    def skip(self, member: Member) -> None:
        """Start with the next member, if this one is the current one."""
        if self.members[self._current] is member:
            self._current = (self._current + 1) % len(self.members)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def read(self, path: str, request: JSONObject, kind: type[R], *, timeout: float | None = None) -> R:
        """Send a request that may be repeated; on failure, to each member once. The timeout is that of one attempt."""
        return await self._send(path, request, kind, may_repeat=True, timeout=timeout)

    async def write(self, path: str, request: JSONObject, kind: type[R]) -> R:
        """Send a request once; to another member only if it was certainly not processed."""
        return await self._send(path, request, kind, may_repeat=False)

    async def _send(
        self, path: str, request: JSONObject, kind: type[R], *, may_repeat: bool, timeout: float | None = None
    ) -> R:
        body = encode(request)
        problem: TransportError | None = None
        for member in self.members_in_order():
            if problem is not None:
                notify_retry_observer(problem, 0.0)
            try:
                return await self.call(member, path, body, kind, timeout=timeout)
            except _NOT_PROCESSED as error:
                problem = error
            except TransportError as error:  # also that it is not an etcd: a proxy responds for a member that is down
                problem = error
                if not may_repeat:
                    self.skip(member)
                    raise
        assert problem is not None
        raise problem

    async def call(self, member: Member, path: str, body: bytes, kind: type[R], *, timeout: float | None = None) -> R:
        """Send a request to one member."""
        may_login = True
        while True:
            request = HTTPRequest("POST", path, await self._headers(member), body)
            started = self.clock.monotonic()
            response = await member.transport.send(request, timeout=timeout or self.timeout)
            if _log.isEnabledFor(logging.DEBUG):
                self._log_response(member, path, response.status, started)
            if is_success(response.status):
                return self._checked(decode(response.body, kind), member)
            error = error_from_response(response.status, response.body, request.describe(), member.host)
            if not may_login or not self.drop_rejected_token(error):
                raise error
            may_login = False

    def _checked(self, result: R, member: Member) -> R:
        """Raise ProtocolError for a response that does not have the revision that every response of etcd has."""
        header = getattr(result, "header", None)
        if isinstance(header, Header) and header.revision == "0":
            raise ProtocolError(
                f"{member.host} is not etcd's JSON gateway: its response has no revision; check the endpoint",
                host=member.host,
            )
        return result

    async def open_stream(
        self, member: Member, path: str, request: JSONObject, *, then: Sequence[JSONObject] = (), pause: float = 0.0
    ) -> AiohttpStream:
        """Send a request to one member; its response is read as it arrives.

        After each pause another request is sent on the same stream. The response begins after the last one.
        """

        async def parts() -> AsyncIterator[bytes]:
            yield body
            for each in then:
                await self.clock.sleep(pause)
                yield encode(each)

        may_login, body = True, encode(request)
        while True:
            headers = {**await self._headers(member), _LEADER_REQUIRED: "true"}
            http_request = HTTPRequest("POST", path, headers, body)
            started = self.clock.monotonic()
            opened = await member.transport.open_stream(
                http_request, timeout=self.timeout + pause * len(then), parts=parts if then else None
            )
            if _log.isEnabledFor(logging.DEBUG):
                self._log_response(member, path, opened.status, started)
            if not isinstance(opened, HTTPResponse):
                return opened
            error = error_from_response(opened.status, opened.body, http_request.describe(), member.host)
            if not may_login or not self.drop_rejected_token(error):
                raise error
            may_login = False

    def _log_response(self, member: Member, path: str, status: int, started: float) -> None:
        milliseconds = (self.clock.monotonic() - started) * 1000
        fields = {"method": "POST", "path": path, "status": status, "ms": milliseconds, "server": member.host}
        _log.debug("POST %s on %s: %d in %.1f ms", path, member.host, status, milliseconds, extra=fields)

    async def revision(self, member: Member, key: bytes, *, at: str = "0", timeout: float | None = None) -> Header:
        """Read the header of a linearizable read of one key; with `at`, the read fails if that revision is not there.

        Linearizable: it fails without a quorum, and is never behind what was read before.
        """
        request: JSONObject = {"key": text(key), "keys_only": True, "revision": at}
        return (await self.call(member, "/v3/kv/range", encode(request), ListedRange, timeout=timeout)).header

    async def version(self, member: Member) -> tuple[int, ...]:
        """The version of etcd at a member, such as (3, 6, 16); empty if it is not a release."""
        response = await member.transport.send(HTTPRequest("GET", "/version"), timeout=self.timeout)
        numbers = decode(response.body, ServerVersion).etcdserver.split(".") if is_success(response.status) else []
        return tuple(map(int, numbers)) if all(each.isdecimal() for each in numbers) else ()

    # --- login -------------------------------------------------------------------------------------------------------

    def drop_rejected_token(self, error: Exception) -> bool:
        """Drop the token if it caused this error; return whether the request may be repeated with a new one."""
        if not self._username or not isinstance(error, UnauthorizedError):
            return False
        self.forget_token()
        return True

    @property
    def has_user(self) -> bool:
        return bool(self._username)

    def forget_token(self) -> None:
        """Log in again before the next request."""
        self._token, self._is_auth_disabled = "", False

    async def _headers(self, member: Member) -> dict[str, str]:
        if not self._username or self._is_auth_disabled:
            return {}
        async with self._login:
            if not self._token and not self._is_auth_disabled:
                await self._authenticate(member)
        # Not "Bearer …", which etcd 3.5 refuses.
        return {"Authorization": self._token} if self._token else {}

    async def _authenticate(self, member: Member) -> None:
        body = encode({"name": self._username, "password": self._password})
        request = HTTPRequest("POST", "/v3/auth/authenticate", {}, body)
        response = await member.transport.send(request, timeout=self.timeout)
        if is_success(response.status):
            self._token = decode(response.body, Authenticated, shows_body=False).token
            if not self._token:
                raise ProtocolError(
                    f"{member.host} is not etcd's JSON gateway: a login gave no token; check the endpoint",
                    host=member.host,
                )
            return
        doing = request.describe()
        error = error_from_response(response.status, response.body, doing, member.host, shows_body=False)
        if not isinstance(error, BadRequestError) or "not enabled" not in error.message:
            raise error
        self._is_auth_disabled = True
