"""The API server as a whole: put together from its parts, started and stopped.

async with APIServer() as server:
    async with ClientSet(server.config) as client: ...
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Self, Unpack

from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError, UsageError
from listwatch.meta import Resource
from listwatch.server.access.access import MASTERS, Access, Authorizer, token_path
from listwatch.server.access.persisted_secrets import kept_file
from listwatch.server.faults.faults import Faults
from listwatch.server.faults.request_log import Criteria, LoggedRequest, RequestLog, Stage
from listwatch.server.http.backend import Backend
from listwatch.server.http.listener import Listener
from listwatch.server.requests import User
from listwatch.server.storage.storage import MAX_AGE, MAX_EVENTS, Storage
from listwatch.server.verbs.verbs import Admission
from listwatch.server.watch.watching import Pace, Watches

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig
    from listwatch.server.access.certificates import CertificateAuthority, KeyPair

__all__ = ["APIServer", "Statistics"]

_ADMIN = User("listwatch-admin", groups=(MASTERS,))
_EVERYWHERE = ("0.0.0.0", "::", "")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the server is doing, at one moment."""

    revision: int
    requests: int
    connections: int
    watches: int


@dataclass(frozen=True, slots=True)
class _Running:
    """What there is between start and stop."""

    storage: Storage
    watches: Watches
    listener: Listener


class APIServer:
    """Serves the Kubernetes API from this process, at a port of its own, between `start` and `stop`.

    With `data_dir`, what was written and answered is there again at the next start; else `snapshot` may be what a
    server begins with. Whoever has `token`, or a token of `users`, may ask; what they may do, the `authorizer` decides.
    A `seed` makes all chance repeat. `resources` are custom ones, served beside those that are built in.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        data_dir: str | os.PathLike[str] | None = None,
        snapshot: Storage | None = None,
        token: str = "",
        users: Mapping[str, User] | None = None,
        anonymous: bool = False,
        authorizer: Authorizer | None = None,
        admission: Sequence[Admission] = (),
        resources: Sequence[Resource] = (),
        clock: Clock | None = None,
        seed: int | None = None,
        max_events: int = MAX_EVENTS,
        max_age: float = MAX_AGE,
        pace: Pace | None = None,
        watch_errors_as_http: bool = False,
    ) -> None:
        if data_dir and snapshot:
            raise UsageError("an API server begins with what is in its data_dir, or with a snapshot; choose one")
        # The name may stand for two addresses, with a port each.
        self._host = "127.0.0.1" if host == "localhost" else host
        self._port = port
        self._tls = tls
        self._data_dir = data_dir
        self._snapshot = snapshot
        self._token = token
        self._authority: CertificateAuthority | None = None
        self._admission = admission
        self._resources = resources
        self._clock = clock or SystemClock()
        self._random = Random(seed)
        self._max_events = max_events
        self._max_age = max_age
        self._pace = pace or Pace()
        self._watch_errors_as_http = watch_errors_as_http
        self._access = Access(users or {}, new_token=_new_token, authorizer=authorizer, anonymous=anonymous)
        self._running: _Running | None = None
        self.faults = Faults(self._random.random)
        self.requests = RequestLog()

    def __repr__(self) -> str:
        return f"<APIServer at {self.url}>" if self._running else "<APIServer, not running>"

    # --- Begin and end

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen; returns when the first request may come. After a stop, clients find everything where it was."""
        if self._running:
            raise UsageError("the API server is running already")
        storage = self._open_storage()
        try:
            self._running = await self._serve(storage)
        except BaseException:
            storage.close()
            raise

    async def stop(self) -> None:
        """End all watches and connections."""
        running, self._running = self._running, None
        if running:
            running.watches.close()
            await running.listener.stop()
            running.storage.close()

    async def _serve(self, storage: Storage) -> _Running:
        self._token = self._token or self._token_to_use()
        self._authority = self._authority or self._authority_to_use()
        self._access.add(self._token, _ADMIN)
        backend = self._backend(storage)
        listener = Listener(backend)
        hosts = dict.fromkeys([self._host, "localhost", "127.0.0.1"])
        tls = self._authority.server_context(hosts) if self._authority else None
        try:
            self._port = await listener.start(self._host, self._port, tls)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"the API server cannot listen on {self._host}:{self._port}: {reason}") from None
        return _Running(storage, backend.watches, listener)

    def _backend(self, storage: Storage) -> Backend:
        return Backend.over(
            storage,
            access=self._access,
            admin=_ADMIN,
            admission=self._admission,
            resources=self._resources,
            clock=self._clock,
            random=self._random,
            pace=self._pace,
            faults=self.faults,
            requests=self.requests,
            watch_errors_as_http=self._watch_errors_as_http,
            group_commit=self._data_dir is not None,
        )

    def _open_storage(self) -> Storage:
        def now() -> float:
            return self._clock.now().timestamp()

        if self._snapshot:
            return self._snapshot.fork()
        if self._data_dir is None:
            return Storage(now=now, max_events=self._max_events, max_age=self._max_age)
        # SQLite is only loaded by those who want it.
        from listwatch.server.storage.sqlite_journal import open_storage

        return open_storage(
            self._data_dir, now=now, max_events=self._max_events, max_age=self._max_age, group_commit=True
        )

    def _token_to_use(self) -> str:
        if self._data_dir is None:
            return _new_token()
        return kept_file(self._data_dir, "token", lambda: _new_token().encode()).decode().strip()

    def _authority_to_use(self) -> CertificateAuthority | None:
        if not self._tls:
            return None
        try:
            from listwatch.server.access.certificates import CertificateAuthority
        except ImportError:
            raise ConfigError("TLS needs the cryptography package: install listwatch[tls], or serve without") from None
        if self._data_dir is None:
            return CertificateAuthority.create()
        return CertificateAuthority(kept_file(self._data_dir, "ca.pem", lambda: CertificateAuthority.create().pem))

    # --- Ways in

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self._host in _EVERYWHERE else self._host
        scheme = "https" if self._tls else "http"
        self._check_started()
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self._port}"

    @property
    def token(self) -> str:
        """Of somebody who may do everything."""
        self._check_started()
        return self._token

    @property
    def ca_certificate(self) -> bytes:
        """What a client has to trust, in PEM; empty without TLS."""
        self._check_started()
        return self._authority.certificate if self._authority else b""

    @property
    def config(self) -> ClientConfig:
        """For the clients of this package, with which everything may be done."""
        return self.config_for_token(self.token)

    def config_for_token(self, token: str) -> ClientConfig:
        """The same for somebody else."""
        from listwatch.client.config.client_config import ClientConfig

        return ClientConfig(host=self.url, token=token, ca_data=self.ca_certificate)

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        """Write a file for kubectl and other clients, with which everything may be done."""
        from listwatch.client.config.client_config import ClientConfig
        from listwatch.client.config.kubeconfig_writer import write_kubeconfig

        # Without TLS, clients send no credentials that they find in such a file.
        config = self.config if self._tls else ClientConfig(host=self.url + token_path(self.token))
        write_kubeconfig(path, config)

    def issue_token(self, name: str, *, groups: Sequence[str] = ()) -> str:
        """A token of a user, who is known from now on."""
        return self._access.issue(User(name, groups=tuple(groups)))

    def issue_certificate(self, name: str, *, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate of a user."""
        self._check_started()
        if self._authority is None:
            raise UsageError("client certificates need an API server with tls=True")
        return self._authority.issue(name, groups=groups)

    # --- What tests want to see and do

    @property
    def storage(self) -> Storage:
        return self._check_started().storage

    @property
    def revision(self) -> int:
        return self.storage.revision

    def compact(self, revision: int | None = None) -> None:
        """Forget what happened up to a revision, or up to now: whoever goes on from before is told 410."""
        self.storage.compact(self.revision if revision is None else revision)

    def snapshot(self) -> Storage:
        """All that is stored, as another server can begin with it."""
        return self.storage.fork()

    def statistics(self) -> Statistics:
        running = self._check_started()
        return Statistics(self.revision, self.requests.total, running.listener.connections, len(running.watches))

    async def wait_for_requests(
        self, count: int = 1, *, until: Stage = "responded", **criteria: Unpack[Criteria]
    ) -> list[LoggedRequest]:
        """The requests of a pattern, once so many of them have come as far as that."""
        changed = asyncio.Event()
        unsubscribe = self.requests.subscribe(changed.set)
        try:
            while True:
                found = self.requests.matching(**criteria)
                if sum(each.has_come(until) for each in found) >= count:
                    return found
                changed.clear()
                await changed.wait()
        finally:
            unsubscribe()

    def _check_started(self) -> _Running:
        if self._running is None:
            raise UsageError("the API server is not running; use it within `async with`, or start it")
        return self._running


def _new_token() -> str:
    return secrets.token_urlsafe(24)
