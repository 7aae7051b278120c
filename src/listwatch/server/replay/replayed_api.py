"""Serves the resources of a recording: lists, gets and watches. Other requests are rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from listwatch.clock import Clock
from listwatch.errors import APIError, MethodNotAllowedError, NotFoundError
from listwatch.meta import GroupVersionResource, Resource
from listwatch.server.codec.representations import Representation
from listwatch.server.faults.faults import Action, Fail, Fault, FaultInjector, FaultPlan, Refuse
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import Environment
from listwatch.server.protocol.list_options import WatchOptions
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.replay.replayed_resource import ReplayedResource
from listwatch.server.requests import APIRequest, Replay, Response
from listwatch.server.schema.registry import CUSTOM_RESOURCE, Registry, builtin_traits
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, Stored
from listwatch.server.verbs.pipeline import Pipeline
from listwatch.server.verbs.reviews import Identities
from listwatch.server.watch.watch_feed import Feeds
from listwatch.server.watch.watching import StateConverter, Watch, Watches, WatchSettings

__all__ = ["ReplayedAPI", "registry_of"]

_READS = ("get", "list", "watch")


def registry_of(resources: Iterable[Resource]) -> Registry:
    """Return a registry of only these resources."""
    built_in = {each.gvr for each in builtin_schema().resources}
    registry = Registry()
    for each in resources:
        registry.add(each, builtin_traits(each) if each.gvr in built_in else CUSTOM_RESOURCE)
    return registry


class _Served:
    """One resource: its objects, and its watches. Each has revisions of its own, as they were recorded."""

    def __init__(
        self,
        replayed: ReplayedResource,
        environment: Environment,
        identities: Identities,
        clock: Clock,
        random: Random,
        settings: WatchSettings,
    ) -> None:
        objects = ObjectStore(replayed.storage, registry_of([replayed.resource]), builtin_schema())
        self.replayed = replayed
        self.pipeline = Pipeline(objects, environment, identities=identities)
        self.watches = Watches(Feeds(replayed.storage, objects.encode), clock, random, settings)


class ReplayedAPI:
    """Serves all clients, and applies the recorded failures to them.

    It has the methods of a Pipeline and of Watches that requests need, and those of Effects.
    """

    def __init__(
        self,
        file: str,
        resources: Iterable[ReplayedResource],
        *,
        environment: Environment,
        identities: Identities,
        injector: FaultInjector,
        clock: Clock,
        random: Random,
        settings: WatchSettings,
    ) -> None:
        self._file = file
        self._served = {
            each.resource.gvr: _Served(each, environment, identities, clock, random, settings) for each in resources
        }
        self.registry = registry_of(each.replayed.resource for each in self._served.values())
        empty = ObjectStore(Storage(), self.registry, builtin_schema())
        self.connections = Pipeline(empty, environment, identities=identities).connections
        self._injector = injector
        self._faults: dict[tuple[ReplayedResource, str], dict[str, Fault]] = {}

    # --- Requests

    def check(self, request: APIRequest, info: RequestInfo) -> None:
        """Raises MethodNotAllowedError unless the request reads objects."""
        if request.verb not in _READS or request.subresource:
            raise self.refusal(info)

    def refusal(self, info: RequestInfo) -> APIError:
        """Return the error of a request that is not served: of a write, a subresource, or another resource."""
        if GroupVersionResource(info.group, info.version, info.resource) in self._served:
            refused = f"the subresource {info.subresource}" if info.subresource else info.verb
            return MethodNotAllowedError(
                f"{refused} is not possible: the server replays the recording {self._file}, and serves only get, list "
                "and watch"
            )
        name = f"{info.resource}.{info.group}" if info.group else info.resource
        known = ", ".join(sorted(str(each.group_resource) for each in self._served)) or "no resources"
        return NotFoundError(f"the recording {self._file} does not contain {name} in {info.version}; it has {known}")

    def respond(self, request: APIRequest) -> Response:
        """Carry out a request; raises the APIError to respond with."""
        return self._served[request.resource.gvr].pipeline.respond(request)

    def needs_webhooks(self, request: APIRequest) -> bool:
        """Recorded objects are not converted."""
        return self._served[request.resource.gvr].pipeline.needs_webhooks(request)

    def admit_connection(self, request: APIRequest) -> APIRequest:
        """Return the request: nothing is admitted."""
        return request

    def converter(self, resource: Resource) -> Callable[[Sequence[Stored], Replay], list[Stored]] | None:
        """Recorded objects are not converted."""
        return self._served[resource.gvr].pipeline.converter(resource)

    def deprecation_warning(self, resource: Resource) -> str:
        """Return the warning for a deprecated version; empty if it is not deprecated."""
        return self._served[resource.gvr].pipeline.deprecation_warning(resource)

    def new(
        self,
        resource: Resource,
        storage_id: str,
        options: WatchOptions,
        representation: Representation,
        plan: FaultPlan,
        convert: StateConverter | None = None,
    ) -> Watch:
        """Return a watch of a resource."""
        return self._served[resource.gvr].watches.new(resource, storage_id, options, representation, plan, convert)

    # --- All resources

    def __len__(self) -> int:
        return sum(len(each.watches) for each in self._served.values())

    def close(self) -> None:
        """End all watches."""
        for each in self._served.values():
            each.watches.close()

    def on_opened(self, callback: Callable[[], object]) -> None:
        """Call back when a watch has begun."""
        for each in self._served.values():
            each.watches.on_opened = callback

    @property
    def backlog(self) -> int:
        """The number of events that the slowest client has not read."""
        return max((each.watches.backlog for each in self._served.values()), default=0)

    @property
    def revision(self) -> int:
        """The greatest revision of a resource."""
        return max((each.replayed.storage.revision for each in self._served.values()), default=0)

    def counts(self) -> dict[str, int]:
        """Return the number of objects of each resource that has some."""
        return {name: count for each in self._served.values() for name, count in each.replayed.storage.counts().items()}

    def snapshot(self) -> Storage:
        """Return the objects of all resources as they are now, for a server that accepts writes."""
        storages = [each.replayed.storage for each in self._served.values()]
        events = (
            Event("ADDED", name, stored, None, 0.0)
            for storage in storages
            for name in storage.resources
            for stored in storage.scan(name)
        )
        merged = Storage()
        revision = max([merged.revision, *(each.revision for each in storages)])
        merged.restore(events, revision=revision, compacted=revision)
        return merged

    # --- Effects

    def bookmark(self, resource: ReplayedResource) -> None:
        """Send a bookmark on the watches of a resource."""
        watches = self._served[resource.resource.gvr].watches
        watches.feeds.advance()
        watches.send_bookmarks()

    def advance(self) -> None:
        """Advance the watches to the revisions of their storages."""
        for each in self._served.values():
            if each.watches.feeds.revision != each.replayed.storage.revision:
                each.watches.feeds.advance()

    def interrupt(
        self, resource: ReplayedResource, namespace: str, *, error: APIError | None = None, cut: bool = False
    ) -> None:
        """End the watches of a resource."""
        self._served[resource.resource.gvr].watches.interrupt(namespace=namespace, error=error, cut=cut)

    def fail(self, resource: ReplayedResource, namespace: str, verb: str, error: APIError | None) -> None:
        """Make requests fail until `recover`."""
        action: Action = Fail(error) if error else Refuse()
        faults = self._faults.setdefault((resource, namespace), {})
        if verb in faults:
            self._injector.remove(faults[verb])
        gvr = resource.resource.gvr
        faults[verb] = Fault(
            action, verb=verb, group=gvr.group, version=gvr.version, resource=gvr.resource, namespace=namespace or "*"
        )
        self._injector.add(faults[verb])

    def recover(self, resource: ReplayedResource, namespace: str) -> None:
        """End the failures of requests."""
        for fault in self._faults.pop((resource, namespace), {}).values():
            self._injector.remove(fault)

    def recover_all(self) -> None:
        """End all failures."""
        for resource, namespace in tuple(self._faults):
            self.recover(resource, namespace)
