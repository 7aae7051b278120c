"""The API server: assembled from its parts, started and stopped.

async with APIServer() as server:
    async with ClientSet(server.config) as client: ...
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import socket
import ssl
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from listwatch.clock import Clock, SystemClock, epoch_time
from listwatch.errors import APIError, ConfigError, UsageError
from listwatch.meta import Resource
from listwatch.server.access.access import MASTERS, Access, Authorizer
from listwatch.server.access.origins import AllowedHosts
from listwatch.server.access.persisted_secrets import read_or_create_token
from listwatch.server.access.service_account_tokens import ISSUER, ServiceAccountTokens, SigningKey
from listwatch.server.access.signing_keys import signing_key
from listwatch.server.admission.class_defaults import (
    CLAIM_RESIZE,
    CLASS_PLUGINS,
    PRIORITY,
    Priorities,
    check_claim_resize,
    with_class_defaults,
)
from listwatch.server.admission.configured_admission import PLUGINS, ConfiguredAdmission
from listwatch.server.admission.runtime_classes import RUNTIME_CLASS, RuntimeClasses
from listwatch.server.admission.service_accounts import SERVICE_ACCOUNT, ServiceAccounts
from listwatch.server.bootstrap.bootstrap import Bootstrap
from listwatch.server.built_in_controllers import BuiltInControllers
from listwatch.server.controllers.enabled_controllers import (
    NODE_LIFECYCLE,
    enabled_controllers,
)
from listwatch.server.controllers.owner_graph import StorageKey
from listwatch.server.faults.faults import FaultInjector, Faults
from listwatch.server.faults.request_log import Criteria, LoggedRequest, RequestLog, RequestRecorder, Stage
from listwatch.server.http.exchange import Backend, RequestHandler
from listwatch.server.http.listener import ConnectionSettings, Listener
from listwatch.server.lifecycle.built_in_admission import (
    IN_USE_PROTECTION,
    NODE_TAINTS,
    TOLERATIONS,
    additions_without,
)
from listwatch.server.lifecycle.manifests import Manifests
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import Environment, IDGenerator
from listwatch.server.openapi.descriptions import descriptions_of
from listwatch.server.openapi.documents import OpenAPI
from listwatch.server.pod_security.pod_security import POD_SECURITY, PodSecurity
from listwatch.server.protocol.non_resources import Issuer, NonResources
from listwatch.server.requests import Admission, User
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.statistics import Statistics, metrics_text
from listwatch.server.storage.commits import Commits
from listwatch.server.storage.snapshot_file import read_snapshot, write_snapshot
from listwatch.server.storage.storage import MAX_AGE, MAX_EVENTS, Storage
from listwatch.server.tables.tables import Tables
from listwatch.server.verbs.pipeline import Pipeline
from listwatch.server.watch.watch_feed import Feeds
from listwatch.server.watch.watching import Watches, WatchSettings
from listwatch.server.webhook_calls import ResponseBudget

if TYPE_CHECKING:
    from listwatch.client.config.client_config import ClientConfig
    from listwatch.models.core_v1 import Pod
    from listwatch.server.access.certificates import CertificateAuthority, KeyPair
    from listwatch.server.kubelet.kubelet import Kubelet
    from listwatch.server.replay.playback import Playback
    from listwatch.server.replay.replayed_api import ReplayedAPI
    from listwatch.server.replay.replayed_resource import ReplayedResource
    from listwatch.simulation.cluster import SimulatedCluster
    from listwatch.simulation.options import SimulationOptions

__all__ = ["APIServer", "Statistics"]

_log = logging.getLogger("listwatch.server")

_ADMIN = User("listwatch-admin", uid="listwatch-admin", groups=(MASTERS,))
_SIMULATION = User("system:simulation", groups=(MASTERS,))
_QUOTA_PLUGIN = "ResourceQuota"
_NAMESPACE_PLUGIN = "NamespaceLifecycle"
_PLUGINS = {
    _QUOTA_PLUGIN,
    _NAMESPACE_PLUGIN,
    SERVICE_ACCOUNT,
    TOLERATIONS,
    POD_SECURITY,
    IN_USE_PROTECTION,
    NODE_TAINTS,
    *PLUGINS,
    *CLASS_PLUGINS,
}
"""The admission plugins that can be enabled and disabled."""
_DISABLED_BY_DEFAULT = {SERVICE_ACCOUNT}
_ALL_ADDRESSES = ("0.0.0.0", "::", "")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class _Running:
    """The state between start and stop."""

    storage: Storage
    watches: Watches | ReplayedAPI
    listener: Listener
    commits: Commits
    manifests: Manifests
    replayed: ReplayedAPI | None


class APIServer:
    """Serves the Kubernetes API from this process, between `start` and `stop`.

    With `data_dir`, objects are persisted there and available after the next start; else the server starts with the
    objects of `snapshot`, if given: that of another server, or a file of `save_snapshot`. A request needs `token`, a
    token of `users`, a client certificate, or `anonymous`; the `authorizer` decides what its user may do; with
    `authorization="rbac"`, Roles, ClusterRoles and their bindings do. `resources` are served in addition to the
    built-in ones. With a `seed`, uids, generated names, watch timeouts and faults are reproducible; tokens are not.
    Without `compression`, no response is compressed: some clients read only the first gzip member of a watch. Without
    `shard_selectors`, the parameter `shardSelector` is ignored, as by servers whose gate ShardedListAndWatch is off.

    A new server has what a new cluster has: system roles, bindings, priority classes, flow schemas, APIServices, the
    Service `default/kubernetes`, the service account `default` in every namespace and, with `tls`, the CA certificate
    in the ConfigMap `kube-root-ca.crt`. Without `bootstrap`, it has only the four initial namespaces.

    The `kubelet` serves the logs of pods, exec, attach, port-forward and proxies; without one, they respond as if no
    node could be reached. With `simulate`, a `SimulatedCluster` runs on the server: nodes, a scheduler, controllers,
    and pods that seem to run.

    ResourceQuotas, LimitRanges, Pod Security levels, admission policies and webhooks are enforced, unless
    `disable_admission_plugins` names their plugins, such as "ResourceQuota". Pods get a service account and its token
    volume only if `enable_admission_plugins` has "ServiceAccount". `webhook_services` has the URLs of the services of
    webhooks, by namespace and name: `{"default/hooks": "http://127.0.0.1:8080"}`.

    Some controllers of kube-controller-manager are built in, such as the garbage collector. `controllers` selects them
    as the flag of that program does: `["*", "-root-ca-certificate-publisher-controller"]` are all but one, `[]` none.

    With `replay`, the server plays a recording of a client: it serves the recorded objects as they change, with the
    recorded versions, bookmarks and failures, and rejects writes.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        data_dir: str | os.PathLike[str] | None = None,
        snapshot: Storage | str | os.PathLike[str] | None = None,
        token: str = "",
        users: Mapping[str, User] | None = None,
        anonymous: bool = False,
        authorizer: Authorizer | None = None,
        authorization: Literal["always-allow", "rbac"] = "always-allow",
        admission: Sequence[Admission] = (),
        resources: Sequence[Resource] = (),
        clock: Clock | None = None,
        seed: int | None = None,
        max_events: int = MAX_EVENTS,
        max_age: float = MAX_AGE,
        watch_settings: WatchSettings | None = None,
        connection_settings: ConnectionSettings | None = None,
        watch_errors_as_http: bool = False,
        compression: bool = True,
        shard_selectors: bool = True,
        bootstrap: bool = True,
        kubelet: Kubelet | None = None,
        webhook_services: Mapping[str, str] | None = None,
        enable_admission_plugins: Collection[str] = (),
        disable_admission_plugins: Collection[str] = (),
        controllers: str | Collection[str] = "*",
        simulate: bool | SimulationOptions = False,
        replay: Playback | str | os.PathLike[str] | None = None,
    ) -> None:
        if bool(data_dir) + bool(snapshot) + bool(replay) > 1:
            raise UsageError("data_dir, snapshot and replay cannot be combined: the server has the objects of one")
        if replay and (simulate or authorization == "rbac"):
            raise UsageError("replay cannot be combined with simulate or authorization='rbac'")
        _check_authorization(authorization, authorizer)
        self._disabled_plugins = _disabled_plugins(enable_admission_plugins, disable_admission_plugins)
        self._enabled_controllers = enabled_controllers(controllers)
        self._authorization = authorization
        # "localhost" may resolve to two addresses, which would get different free ports.
        self._host = "127.0.0.1" if host == "localhost" else host
        self._port = port
        self._tls = tls
        self._data_dir = data_dir
        self._snapshot = snapshot
        self._token = token
        self._authority: CertificateAuthority | None = None
        self._service_account_key: SigningKey | None = None
        self._https_port = 0  # in addition to that of plain HTTP
        self._admission = tuple(admission)
        self._resources = resources
        self._clock = clock or SystemClock()
        self._random = Random(seed)
        self._max_events = max_events
        self._max_age = max_age
        # A recording contains its own bookmarks.
        self._watch_settings = watch_settings or WatchSettings(bookmark_interval=math.inf if replay else 60.0)
        self._connection_settings = connection_settings or ConnectionSettings()
        self._watch_errors_as_http = watch_errors_as_http
        self._compression = compression
        self._shard_selectors = shard_selectors
        self._bootstraps = bootstrap
        self._kubelet = kubelet
        self._webhook_services = dict(webhook_services or {})
        self._playback = _playback(replay) if replay else None
        self._simulate = simulate
        self._simulation: SimulatedCluster | None = None
        self._access = Access(users or {}, new_token=_new_token, authorizer=authorizer, anonymous=anonymous)
        self._running: _Running | None = None
        self._injector = FaultInjector(self._random.random)
        self._recorder = RequestRecorder()
        self.faults = Faults(self._injector)
        self.requests = RequestLog(self._recorder)

    def __repr__(self) -> str:
        return f"<APIServer at {self.url}>" if self._running else "<APIServer, not running>"

    # --- Start and stop

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start listening. After a stop, it listens on the same port, with the same token and certificates."""
        if self._running:
            raise UsageError("the API server is running already")
        storage = self._open_storage()
        try:
            # The recording is read in a thread, because it may be long.
            loaded = await asyncio.to_thread(self._playback._load) if self._playback else ()
            self._running = await self._serve(storage, loaded)
        except BaseException:
            storage.close()
            raise
        _log.info("The API server listens on %s", self.url, extra={"server": self.url})
        if self._playback and self._running.replayed is not None:
            self._playback._start(self._running.replayed, self._clock)
        if self._simulate:
            try:
                await self._start_simulation()
            except BaseException:
                await self.stop()
                raise

    async def stop(self) -> None:
        """End all watches and close all connections."""
        simulation, self._simulation = self._simulation, None
        if simulation:
            await simulation.stop()
        running, self._running = self._running, None
        if self._playback:
            await self._playback._stop()
        if running:
            running.watches.close()
            await running.listener.stop()
            running.storage.close()
            _log.info("The API server on port %d has stopped", self._port, extra={"port": self._port})

    async def _start_simulation(self) -> None:
        from listwatch.simulation.cluster import SimulatedCluster  # imports informers and controllers

        options = None if isinstance(self._simulate, bool) else self._simulate
        token = self._access.issue(_SIMULATION)
        self._simulation = SimulatedCluster(self.config_for_token(token), options, clock=self._clock)
        await self._simulation.start()

    def _simulated_logs(self) -> Kubelet | None:
        if not self._simulate:
            return None
        from listwatch.server.kubelet.simulated_logs import SimulatedLogs

        def output(pod: Pod, container: str) -> str:
            return self._simulation.output_of(pod, container) if self._simulation else ""

        return SimulatedLogs(output, lambda: self.storage, self._clock)

    async def _serve(self, storage: Storage, loaded: Sequence[ReplayedResource]) -> _Running:
        self._token = self._token or self._read_token()
        self._access.add(self._token, _ADMIN)
        tls = self._tls_context() if self._tls else None
        if self._playback:
            backend, manifests, bootstrap = self._assemble_replay(self._playback, loaded, storage)
            assert backend.replayed is not None
            await self._playback._skip_to_start(backend.replayed)
        else:
            backend, manifests, bootstrap = self._assemble(storage)
        listener = Listener(RequestHandler(backend), self._connection_settings)
        try:
            self._port = await listener.start(self._host, self._port, tls)
            backend.non_resources.set_address(f"{self._host}:{self._port}")
            if self._https_port:
                listener.also_listen(self._host, self._https_port, self._tls_context())
        except (OSError, OverflowError) as error:
            await listener.stop()
            raise ConfigError(f"the API server cannot listen on {self._host}:{self._port}: {_reason(error)}") from None
        if bootstrap:
            # No connection is accepted before the next await.
            bootstrap.publish(listener.address, self._port)
            storage.sync()
        return _Running(storage, backend.watches, listener, backend.commits, manifests, backend.replayed)

    def _assemble(self, storage: Storage) -> tuple[Backend, Manifests, Bootstrap | None]:
        """Assemble the parts over a storage, create the initial objects, and finish deletions that were pending."""
        clock, ids = self._clock, IDGenerator(self._random.getrandbits)
        objects = ObjectStore(storage, self._new_registry(), builtin_schema())
        environment = Environment(clock.now, ids.uid, ids.name_suffix)
        self._access.service_accounts = ServiceAccountTokens(self._signing_key, objects.find, clock.now)
        pipeline = Pipeline(
            objects,
            environment,
            identities=self._access,
            admission=self._admission,
            additions=with_class_defaults(additions_without(self._unused_plugins()), objects, self._disabled_plugins),
        )
        if self._authorization == "rbac":
            pipeline.steps.check_escalation = self._use_rbac(storage)
        if PRIORITY not in self._disabled_plugins:
            pipeline.steps.priorities = Priorities(objects)
        if CLAIM_RESIZE not in self._disabled_plugins:
            pipeline.steps.check_claim_resize = partial(check_claim_resize, objects=objects)
        if RUNTIME_CLASS not in self._disabled_plugins:
            pipeline.steps.runtime_classes = RuntimeClasses(objects)
        if SERVICE_ACCOUNT not in self._disabled_plugins:
            pipeline.steps.service_accounts = ServiceAccounts(objects, ids.name_suffix)
        pipeline.steps.checks_namespaces = _NAMESPACE_PLUGIN not in self._disabled_plugins
        if POD_SECURITY not in self._disabled_plugins:
            pipeline.steps.pod_security = PodSecurity(objects)
        pipeline.use_policies(
            lambda shape: ConfiguredAdmission(objects, self._access.review, shape, ids.uid, self._disabled_plugins)
        )
        watches = Watches(Feeds(storage, objects.encode), clock, self._random, self._watch_settings)
        controllers = BuiltInControllers(
            objects,
            environment,
            pipeline,
            watches.finish,
            enabled=self._enabled_controllers,
            quotas=_QUOTA_PLUGIN not in self._disabled_plugins,
            taints=not self._simulate,
            ca_certificate=self._ca_certificate() if self._bootstraps else None,
            on_rejected=_log_rejected,
        )
        commits = Commits(storage, controllers.all, grouped=self._data_dir is not None)
        controllers.start(commits)
        backend = self._make_backend(objects, pipeline, watches, commits, ids)
        return backend, Manifests(objects, environment, commits.commit), controllers.bootstrap

    def _assemble_replay(
        self, playback: Playback, resources: Sequence[ReplayedResource], storage: Storage
    ) -> tuple[Backend, Manifests, None]:
        """Assemble the parts that serve a recording; the storage stays empty."""
        from listwatch.server.replay.replayed_api import ReplayedAPI

        ids = IDGenerator(self._random.getrandbits)
        environment = Environment(self._clock.now, ids.uid, ids.name_suffix)
        api = ReplayedAPI(
            playback.file,
            resources,
            environment=environment,
            identities=self._access,
            injector=self._injector,
            clock=self._clock,
            random=self._random,
            settings=self._watch_settings,
        )
        objects = ObjectStore(storage, api.registry, builtin_schema())
        commits = Commits(storage, (), grouped=False)
        backend = self._make_backend(objects, api, api, commits, ids)
        return replace(backend, replayed=api), Manifests(objects, environment, commits.commit), None

    def _new_registry(self) -> Registry:
        registry = Registry.builtin()
        registry.has_shard_selectors = self._shard_selectors
        for resource in self._resources:
            registry.add(resource)
        return registry

    def _make_backend(
        self,
        objects: ObjectStore,
        pipeline: Pipeline | ReplayedAPI,
        watches: Watches | ReplayedAPI,
        commits: Commits,
        ids: IDGenerator,
    ) -> Backend:
        registry, storage = objects.registry, objects.storage
        return Backend(
            registry=registry,
            access=self._access,
            allowed_hosts=AllowedHosts(self._host),
            pipeline=pipeline,
            non_resources=NonResources(
                registry,
                ready_checks={"storage": storage.is_writable},
                openapi=OpenAPI(registry, objects.definitions, descriptions_of).respond,
                metrics=lambda: metrics_text(self.statistics(), storage.counts()),
                issuer=lambda: Issuer(self.url, ISSUER, self._signing_key().public_keys),
            ),
            watches=watches,
            tables=Tables(registry, objects.definitions, descriptions_of, self._clock.now),
            commits=commits,
            faults=self._injector,
            requests=self._recorder,
            clock=self._clock,
            new_id=ids.uid,
            watch_errors_as_http=self._watch_errors_as_http,
            body_timeout=self._connection_settings.body_timeout,
            compression=self._compression,
            kubelet=self._kubelet or self._simulated_logs(),
            webhook_services=self._webhook_services,
            webhook_responses=ResponseBudget(),
        )

    def _unused_plugins(self) -> frozenset[str]:
        # The controller would remove the taint of a new node at once.
        needless = {NODE_TAINTS} if NODE_LIFECYCLE in self._enabled_controllers else set()
        return self._disabled_plugins | needless

    def _use_rbac(self, storage: Storage) -> Admission:
        """Authorize by the roles and bindings of a storage; returns the check that protects them."""
        from listwatch.server.rbac.authorizer import RBACAuthorizer
        from listwatch.server.rbac.escalation import EscalationCheck
        from listwatch.server.rbac.policy import Policy

        policy = Policy(storage)
        self._access.authorizer = RBACAuthorizer(policy)
        return EscalationCheck(policy, self._access)

    def _open_storage(self) -> Storage:
        now = epoch_time(self._clock)
        if isinstance(self._snapshot, Storage):
            return self._snapshot.fork()
        if self._snapshot:
            return read_snapshot(self._snapshot, now=now)
        if self._data_dir is None:
            return Storage(now=now, max_events=self._max_events, max_age=self._max_age)
        # SQLite is loaded only if it is used.
        from listwatch.server.storage.sqlite_journal import open_storage

        return open_storage(
            self._data_dir, now=now, max_events=self._max_events, max_age=self._max_age, group_commit=True
        )

    def _read_token(self) -> str:
        if self._data_dir is None:
            return _new_token()
        return read_or_create_token(self._data_dir, _new_token)

    def _tls_context(self) -> ssl.SSLContext:
        self._authority = self._authority or self._read_authority()
        own = socket.gethostname() if self._host in _ALL_ADDRESSES else self._host
        return self._authority.server_context(dict.fromkeys([own, *_LOOPBACK]))

    def _read_authority(self) -> CertificateAuthority:
        try:
            from listwatch.server.access.certificates import CertificateAuthority
        except ImportError:
            raise ConfigError(
                "TLS needs the cryptography package: pip install 'listwatch[server]'; or serve plain HTTP (--no-tls), "
                "where clients have to send the token themselves"
            ) from None
        folder = self._data_dir
        return CertificateAuthority.create() if folder is None else CertificateAuthority.persisted(folder)

    def _signing_key(self) -> SigningKey:
        # Made when a token is signed or verified: the import of cryptography takes longer than the start of a server.
        self._service_account_key = self._service_account_key or signing_key(self._data_dir)
        return self._service_account_key

    # --- Access

    @property
    def url(self) -> str:
        """The URL of the running server; a restarted server has the same one."""
        self._check_started()
        return self._url("https" if self._tls else "http", self._port)

    def _url(self, scheme: str, port: int) -> str:
        host = "127.0.0.1" if self._host in _ALL_ADDRESSES else self._host
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    @property
    def token(self) -> str:
        """The bearer token of the administrator, a user with all permissions."""
        self._check_started()
        return self._token

    @property
    def ca_certificate(self) -> bytes:
        """The certificate that clients have to trust, in PEM; empty without TLS."""
        self._check_started()
        return self._ca_certificate()

    def _ca_certificate(self) -> bytes:
        return self._authority.certificate if self._tls and self._authority else b""

    @property
    def config(self) -> ClientConfig:
        """The configuration of the administrator, for listwatch clients."""
        return self.config_for_token(self.token)

    def config_for_token(self, token: str) -> ClientConfig:
        """Return a configuration for the user of another token."""
        from listwatch.client.config.client_config import ClientConfig

        return ClientConfig(host=self.url, token=token, ca_data=self.ca_certificate)

    def kubeconfig(self, path: str | os.PathLike[str], *, plain_http: bool = False) -> None:
        """Write a kubeconfig of the administrator, for kubectl and other clients. Only its owner can read the file.

        It selects HTTPS: a server without `tls` then serves HTTPS on another port as well. With `plain_http` it selects
        a server without TLS, to which kubectl and most other clients do not send the token of a kubeconfig.
        """
        from listwatch.client.config.client_config import ClientConfig
        from listwatch.client.config.kubeconfig_writer import write_kubeconfig

        running = self._check_started()
        if self._tls or plain_http:
            config = self.config
        else:
            if not self._https_port:
                self._https_port = running.listener.also_listen(self._host, 0, self._tls_context())
            assert self._authority is not None
            url = self._url("https", self._https_port)
            config = ClientConfig(host=url, token=self.token, ca_data=self._authority.certificate)
        write_kubeconfig(path, config)

    def issue_token(self, name: str, *, groups: Sequence[str] = ()) -> str:
        """Return a new token for a user of this name."""
        return self._access.issue(User(name, groups=tuple(groups)))

    def issue_certificate(self, name: str, *, groups: Sequence[str] = ()) -> KeyPair:
        """Return a new client certificate for a user of this name."""
        self._check_started()
        if self._authority is None:
            raise UsageError("client certificates need an API server with tls=True")
        return self._authority.issue(name, groups=groups)

    def recorded_permissions(self, user: str, *, name: str = "recorded") -> str:
        """Return what a user was allowed to do so far, as YAML of the smallest roles that allow it.

        There is one Role for each namespace, and a ClusterRole for requests without a namespace. To check
        that they suffice, run the controller with these roles and `authorization="rbac"`.
        """
        return self._access.permissions.roles_of(user, name=name)

    # --- Inspection and control, for tests

    @property
    def simulation(self) -> SimulatedCluster:
        """The simulated cluster of a running server with `simulate`."""
        if self._simulation is None:
            raise UsageError("no cluster is simulated: pass simulate=True, and start the server")
        return self._simulation

    @property
    def storage(self) -> Storage:
        """The storage of the running server."""
        return self._check_started().storage

    @property
    def revision(self) -> int:
        """The revision of the latest write; of a recording, the greatest version that was played."""
        replayed = self._check_started().replayed
        return self.storage.revision if replayed is None else replayed.revision

    @property
    def playback(self) -> Playback:
        """The playback of a server with `replay`."""
        if self._playback is None:
            raise UsageError("the server replays no recording: pass replay=FILE")
        return self._playback

    def compact(self, revision: int | None = None) -> None:
        """Drop the events up to a revision, by default the current one; a watch from before it gets a 410."""
        self.storage.compact(self.revision if revision is None else revision)

    def snapshot(self) -> Storage:
        """Return a copy of all objects, with which another server can start.

        During a replay, the copy has the current states of the objects, and the other server accepts writes.
        """
        replayed = self._check_started().replayed
        return self.storage.fork() if replayed is None else replayed.snapshot()

    def save_snapshot(self, file: str | os.PathLike[str]) -> None:
        """Write all objects to a file that only its owner can read; `APIServer(snapshot=file)` starts with them."""
        write_snapshot(self.snapshot() if self._playback else self.storage, file)

    def fork(self, **options: Any) -> APIServer:
        """Return another server with the same objects, which is not started; `options` are those of APIServer."""
        return APIServer(**{"snapshot": self.snapshot(), **options})

    def export_yaml(self) -> str:
        """Return all objects as YAML, one document each."""
        self._check_not_replaying()
        return self._check_started().manifests.export()

    async def import_yaml(self, text: str | bytes) -> int:
        """Store objects as they are in another cluster, as `kubectl get -o yaml` prints them; return their number.

        Their uids, owners and statuses are kept. Existing objects are replaced. Missing namespaces are not created.
        """
        self._check_not_replaying()
        running = self._check_started()
        try:
            return running.manifests.load(text)
        finally:
            await running.commits.wait_durable()

    def statistics(self) -> Statistics:
        """Return the revision, and the numbers of requests, open connections and open watches."""
        running = self._check_started()
        return Statistics(self.revision, self._recorder.total, running.listener.connections, len(running.watches))

    async def wait_for_requests(
        self, count: int = 1, *, until: Stage = "responded", **criteria: Unpack[Criteria]
    ) -> list[LoggedRequest]:
        """Wait until `count` matching requests have reached a stage; returns all matching requests."""
        changed = asyncio.Event()
        unsubscribe = self._recorder.subscribe(changed.set)
        try:
            while True:
                found = self.requests.matching(**criteria)
                if sum(each.has_reached(until) for each in found) >= count:
                    return found
                changed.clear()
                await changed.wait()
        finally:
            unsubscribe()

    def _check_not_replaying(self) -> None:
        if self._playback:
            raise UsageError("the server replays a recording; use APIServer(snapshot=server.snapshot()) for this")

    def _check_started(self) -> _Running:
        if self._running is None:
            raise UsageError("the API server is not running; use `async with`, or call start() first")
        return self._running


def _playback(replay: Playback | str | os.PathLike[str]) -> Playback:
    from listwatch.server.replay.playback import Playback  # few servers replay

    return replay if isinstance(replay, Playback) else Playback(replay)


def _check_authorization(authorization: str, authorizer: Authorizer | None) -> None:
    if authorization not in ("always-allow", "rbac"):
        raise UsageError(f'authorization is "always-allow" or "rbac", not {authorization!r}')
    if authorizer and authorization == "rbac":
        raise UsageError("authorizer and authorization='rbac' cannot be combined: one of them decides")


def _disabled_plugins(enabled: Collection[str], disabled: Collection[str]) -> frozenset[str]:
    if unknown := sorted({*enabled, *disabled} - _PLUGINS):
        known = ", ".join(sorted(_PLUGINS))
        raise UsageError(f"{unknown[0]!r} is not an admission plugin of the server, which has {known}")
    if both := sorted({*enabled} & {*disabled}):
        raise UsageError(f"the admission plugin {both[0]!r} cannot be both enabled and disabled")
    return frozenset((_DISABLED_BY_DEFAULT - {*enabled}) | {*disabled})


def _log_rejected(place: StorageKey, error: APIError) -> None:
    resource = place.storage_id.strip("/")  # the core group has no name
    _log.warning(
        "The garbage collector cannot process %s %s and retries it after each write: %s",
        resource,
        place.key,
        error,
        extra={"resource": resource, "key": str(place.key)},
    )


def _reason(error: OSError | OverflowError) -> object:
    # asyncio adds the address to the message of a failed bind, but not to that of a failed name lookup.
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    return error.strerror if isinstance(error, OSError) else error


def _new_token() -> str:
    return secrets.token_urlsafe(24)
