"""The API server as a whole: put together from its parts, started and stopped.

async with APIServer() as server:
    async with ClientSet(server.config) as client: ...
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Self, Unpack
from uuid import UUID

from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConfigError, UsageError
from listwatch.server.access import MASTERS, Access, Authorizer, token_path
from listwatch.server.bootstrap import add_namespaces
from listwatch.server.collector import Collector
from listwatch.server.commits import Commits
from listwatch.server.faults import Faults
from listwatch.server.http import Backend, Listener
from listwatch.server.kept_files import kept_file
from listwatch.server.non_resources import NonResources
from listwatch.server.registry import Registry
from listwatch.server.request_log import Criteria, LoggedRequest, RequestLog, Stage
from listwatch.server.requests import User
from listwatch.server.schema import builtin_schema
from listwatch.server.storage import MAX_AGE, MAX_EVENTS, Storage
from listwatch.server.verbs import Admission, Origin, Verbs
from listwatch.server.watch_feed import Feeds
from listwatch.server.watching import Pace, Watches

if TYPE_CHECKING:
    from listwatch.client.config import ClientConfig
    from listwatch.server.certificates import CertificateAuthority, KeyPair

__all__ = ["APIServer", "Statistics"]

_log = logging.getLogger(__name__)

_ADMIN = User("listwatch-admin", groups=(MASTERS,))
# Without vowels, so that chance makes no words.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
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
    port: int
    token: str
    authority: CertificateAuthority | None


class APIServer:
    """Serves the Kubernetes API from this process, at a port of its own, between `start` and `stop`.

    With `data_dir`, what was written and answered is there again at the next start; else `snapshot` may be what a
    server begins with. Whoever has `token`, or a token of `users`, may ask; what they may do, the `authorizer` decides.
    A `seed` makes all chance repeat.
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
        self._asked_port = port
        self._tls = tls
        self._data_dir = data_dir
        self._snapshot = snapshot
        self._asked_token = token
        self._admission = admission
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
        """Listen; returns when the first request may come."""
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
        token, authority = self._token_to_use(), self._authority_to_use()
        self._access.add(token, _ADMIN)
        backend = self._backend(storage)
        listener = Listener(backend)
        hosts = [self._host, "localhost", "127.0.0.1"]
        tls = authority.server_context(dict.fromkeys(hosts)) if authority else None
        try:
            port = await listener.start(self._host, self._asked_port, tls)
        except OSError as error:
            where = f"{self._host}:{self._asked_port}"
            raise ConfigError(f"the API server cannot listen on {where}: {error.strerror}") from None
        return _Running(storage, backend.watches, listener, port, token, authority)

    def _backend(self, storage: Storage) -> Backend:
        registry = Registry.builtin()
        origin = Origin(self._clock.now, self._new_uid, self._suffix)
        verbs = Verbs(storage, registry, builtin_schema(), origin, identities=self._access, admission=self._admission)
        collector = Collector(verbs)
        collector.recover()
        follow_up = _logged(collector.run_pending)
        add_namespaces(verbs, _ADMIN)
        follow_up()
        storage.sync()
        return Backend(
            registry=registry,
            access=self._access,
            verbs=verbs,
            non_resources=NonResources(registry),
            watches=Watches(Feeds(storage, verbs.sent), self._clock, self._random, self._pace),
            commits=Commits(storage, follow_up, grouped=self._data_dir is not None),
            faults=self.faults,
            requests=self.requests,
            clock=self._clock,
            new_id=self._new_uid,
            watch_errors_as_http=self._watch_errors_as_http,
        )

    def _open_storage(self) -> Storage:
        def now() -> float:
            return self._clock.now().timestamp()

        if self._snapshot:
            return self._snapshot.fork()
        if self._data_dir is None:
            return Storage(now=now, max_events=self._max_events, max_age=self._max_age)
        # SQLite is only loaded by those who want it.
        from listwatch.server.storage_sqlite import open_storage

        return open_storage(
            self._data_dir, now=now, max_events=self._max_events, max_age=self._max_age, group_commit=True
        )

    def _token_to_use(self) -> str:
        if self._asked_token or self._data_dir is None:
            return self._asked_token or _new_token()
        return kept_file(self._data_dir, "token", lambda: _new_token().encode()).decode().strip()

    def _authority_to_use(self) -> CertificateAuthority | None:
        if not self._tls:
            return None
        try:
            from listwatch.server.certificates import CertificateAuthority
        except ImportError:
            raise ConfigError("TLS needs the cryptography package: install listwatch[tls], or serve without") from None
        if self._data_dir is None:
            return CertificateAuthority.create()
        return CertificateAuthority(kept_file(self._data_dir, "ca.pem", lambda: CertificateAuthority.create().pem))

    def _new_uid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _suffix(self) -> str:
        return "".join(self._random.choices(_SUFFIX_LETTERS, k=5))

    # --- Ways in

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self._host in _EVERYWHERE else self._host
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self._started.port}"

    @property
    def token(self) -> str:
        """Of somebody who may do everything."""
        return self._started.token

    @property
    def ca_certificate(self) -> bytes:
        """What a client has to trust, in PEM; empty without TLS."""
        return self._started.authority.certificate if self._started.authority else b""

    @property
    def config(self) -> ClientConfig:
        """For the clients of this package, with which everything may be done."""
        return self.config_for_token(self.token)

    def config_for_token(self, token: str) -> ClientConfig:
        """The same for somebody else."""
        from listwatch.client.config import ClientConfig

        return ClientConfig(host=self.url, token=token, ca_data=self.ca_certificate)

    def kubeconfig(self, path: str | os.PathLike[str]) -> None:
        """Write a file for kubectl and other clients, with which everything may be done."""
        from listwatch.client.config import ClientConfig
        from listwatch.client.kubeconfig_writer import write_kubeconfig

        # Without TLS, clients send no credentials that they find in such a file.
        config = self.config if self._tls else ClientConfig(host=self.url + token_path(self.token))
        write_kubeconfig(path, config)

    def issue_token(self, name: str, *, groups: Sequence[str] = ()) -> str:
        """A token of a user, who is known from now on."""
        return self._access.issue(User(name, groups=tuple(groups)))

    def issue_certificate(self, name: str, *, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate of a user."""
        if self._started.authority is None:
            raise UsageError("client certificates need an API server with tls=True")
        return self._started.authority.issue(name, groups=groups)

    # --- What tests want to see and do

    @property
    def storage(self) -> Storage:
        return self._started.storage

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
        running = self._started
        return Statistics(self.revision, self.requests.total, running.listener.connections, len(running.watches))

    async def wait_for_requests(
        self, count: int = 1, *, until: Stage = "answered", **criteria: Unpack[Criteria]
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

    @property
    def _started(self) -> _Running:
        if self._running is None:
            raise UsageError("the API server is not running; use it within `async with`, or start it")
        return self._running


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _logged(follow_up: Callable[[], None]) -> Callable[[], None]:
    """Nobody who asked for something else is told of an error in what follows from it."""

    def run() -> None:
        try:
            follow_up()
        except Exception:  # noqa: BLE001  # it is not the mistake of whoever is asking
            _log.exception("what follows from a write could not be done")

    return run
