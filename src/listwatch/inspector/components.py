"""The components that an inspector shows, and their state as snapshots.

Everything is read from `statistics()` and from state that exists anyway; nothing is added to the paths of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.clock import Clock
from listwatch.errors import UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.reflector.reflector import ReflectorStatistics
from listwatch.informer.shared_informer import AnyInformer, SharedIndexInformer
from listwatch.inspector.reconcile_history import ReconcileHistory
from listwatch.inspector.redaction import Redactor
from listwatch.inspector.snapshot import (
    ClientSnapshot,
    ControllerSnapshot,
    HandlerSnapshot,
    InformerSnapshot,
    LeadershipSnapshot,
    ManagerSnapshot,
    QueueSnapshot,
    Snapshot,
    SourceSnapshot,
)
from listwatch.leaderelection.elector import LeaderElector
from listwatch.workqueue.queue import WorkQueue
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = ["Components", "Inspectable", "InspectedCluster", "InspectedController", "queue_snapshot"]

T = TypeVar("T")


@runtime_checkable
class Inspectable(Protocol):
    """A component that consists of others, as a manager does."""

    def _inspected(self) -> Iterator[object]:
        """The parts: informers, factories, queues, electors, clients, InspectedController and ManagerSnapshot."""


@dataclass(frozen=True, slots=True)
class InspectedController:
    """What an inspector reads of a controller."""

    name: str
    snapshot: Callable[[Redactor], ControllerSnapshot]
    history: ReconcileHistory


@dataclass(frozen=True, slots=True)
class InspectedCluster:
    """What an inspector reads of one of several clusters."""

    name: str
    factory: SharedInformerFactory
    client: BaseClient


@dataclass(slots=True)
class _Parts:
    """The components of one moment, without duplicates."""

    informers: dict[str, AnyInformer] = field(default_factory=dict)
    controllers: dict[str, InspectedController] = field(default_factory=dict)
    queues: list[WorkQueue[Any]] = field(default_factory=list)
    electors: list[LeaderElector] = field(default_factory=list)
    clients: list[RESTClient] = field(default_factory=list)
    clusters: dict[str, RESTClient] = field(default_factory=dict)
    """The clients of several clusters, by name; they are in `clients`, too."""
    manager: ManagerSnapshot | None = None


class Components:
    """The components of an inspector. Informers that a factory creates later are included."""

    def __init__(self, given: Iterable[object], *, clock: Clock, token: str = "") -> None:
        self._given = [*given]
        self._clock = clock
        self._token = token
        self._ids: WeakKeyDictionary[AnyInformer, str] = WeakKeyDictionary()
        self._numbers = count(1)
        self.sizes: WeakKeyDictionary[AnyInformer, int] = WeakKeyDictionary()
        """The bytes of the objects of each informer, as far as they were computed."""
        self._parts()  # raises UsageError now

    @property
    def informers(self) -> dict[str, AnyInformer]:
        """The informers by id; an informer keeps its id."""
        return self._parts().informers

    @property
    def controllers(self) -> dict[str, InspectedController]:
        """The controllers by name."""
        return self._parts().controllers

    def client_of(self, informer: str) -> ClientSet | None:
        """The client for the events of the objects of an informer, by its id; None if no client was given."""
        parts = self._parts()
        found = parts.informers.get(informer)
        if found is not None and (client := parts.clusters.get(found._cluster)) is not None:
            return ClientSet(client)
        return ClientSet(parts.clients[0]) if parts.clients else None

    def redactor(self) -> Redactor:
        """Hides the credentials of the clients and the token of the inspector."""
        return Redactor(self._credentials(self._parts().clients))

    def snapshot(self) -> Snapshot:
        """The state of all components."""
        parts = self._parts()
        redactor = Redactor(self._credentials(parts.clients))
        return Snapshot(
            now=self._clock.now().timestamp(),
            manager=parts.manager,
            informers=[
                _informer_snapshot(identifier, each, redactor, self.sizes.get(each))
                for identifier, each in parts.informers.items()
            ],
            controllers=[each.snapshot(redactor) for each in parts.controllers.values()],
            queues=[queue_snapshot(each.statistics()) for each in parts.queues],
            leadership=[_leadership_snapshot(each, redactor) for each in parts.electors],
            clients=[_client_snapshot(each) for each in parts.clients],
        )

    # --- finding components ------------------------------------------------------------------------------------------

    def _parts(self) -> _Parts:
        parts = _Parts()
        for each in self._given:
            self._add(parts, each)
        return parts

    def _add(self, parts: _Parts, given: object) -> None:
        match given:
            case SharedIndexInformer():
                identifier = self._ids.get(given) or self._ids.setdefault(given, str(next(self._numbers)))
                parts.informers[identifier] = given
            case SharedInformerFactory():
                for shared in [*given._shared.values()]:
                    self._add(parts, shared.informer)
            case InspectedController():
                parts.controllers.setdefault(given.name, given)
            case WorkQueue():
                _append(parts.queues, given)
            case LeaderElector():
                _append(parts.electors, given)
            case RESTClient():
                if not any(each._session is given._session for each in parts.clients):
                    parts.clients.append(given)
            case BaseClient():
                self._add(parts, given.rest)
            case InspectedCluster():
                parts.clusters[given.name] = given.client.rest
                self._add(parts, given.factory)
                self._add(parts, given.client)
            case ManagerSnapshot():
                parts.manager = given
            case Inspectable():
                for each in given._inspected():
                    self._add(parts, each)
            case _:
                raise UsageError(
                    f"cannot inspect {given!r}: expected an informer, a factory, a manager, a controller, a queue, "
                    "a leader elector or a client"
                )

    def _credentials(self, clients: Iterable[RESTClient]) -> Iterator[str]:
        yield self._token
        for client in clients:
            yield client.config.token
            yield client.config.password


def _append(found: list[T], component: T) -> None:
    if not any(each is component for each in found):
        found.append(component)


# --- snapshots --------------------------------------------------------------------------------------------------------


def _informer_snapshot(
    identifier: str, informer: AnyInformer, redactor: Redactor, size: int | None
) -> InformerSnapshot:
    statistics = informer.statistics()
    sources = [
        _source_snapshot(pipeline.reflector.name, source, redactor)
        for pipeline, source in zip(informer._pipelines, statistics.sources, strict=True)
    ]
    handlers = [
        HandlerSnapshot(
            name=each.name,
            pending=each.pending,
            handled=each.handled,
            failed=each.failed,
            coalesced=each.coalesced,
            has_synced=each.has_synced,
        )
        for each in statistics.handlers
    ]
    problems = informer._on_problem
    gvk = getattr(informer.kind, "gvk", None)
    return InformerSnapshot(
        id=identifier,
        name=statistics.name,
        cluster=informer._cluster,
        kind=gvk.kind if gvk else informer.kind.__name__,
        state=_informer_state(informer, [each.state for each in sources]),
        read_by=" and ".join(sorted({each.synced_by for each in statistics.sources if each.synced_by})),
        resource_version=statistics.resource_version,
        objects=statistics.objects,
        bytes=size,
        queued=statistics.queued,
        pending=max((each.pending for each in handlers), default=0),
        events=sum(each.events for each in sources),
        last_contact=None if statistics.last_contact is None else statistics.last_contact.timestamp(),
        last_error=redactor(problems.last_text),
        last_error_at=None if problems.last_at is None else problems.last_at.timestamp(),
        failures_in_a_row=max(each.failures_in_a_row for each in sources),
        sources=sources,
        handlers=handlers,
    )


_STATES = ("retrying", "listing", "streaming", "connecting", "watching")
"""The states of a source; the first one of any source is that of its informer."""


def _informer_state(informer: AnyInformer, sources: list[str]) -> str:
    if informer.is_stopped:
        return "stopped"
    if not informer._has_begun:
        return "not started"
    return min(sources, key=_STATES.index)


def _source_snapshot(name: str, statistics: ReflectorStatistics, redactor: Redactor) -> SourceSnapshot:
    is_failing = statistics.failures_in_a_row and not statistics.is_watching
    return SourceSnapshot(
        name=name,
        state="retrying" if is_failing else "connecting" if statistics.state == "backing off" else statistics.state,
        resource_version=statistics.resource_version,
        lists=statistics.lists,
        watches=statistics.watches,
        events=statistics.events,
        skipped=statistics.skipped,
        failures_in_a_row=statistics.failures_in_a_row,
        last_error=redactor.error(statistics.last_error),
        last_contact=None if statistics.last_contact is None else statistics.last_contact.timestamp(),
    )


def queue_snapshot(queue: WorkQueueStatistics) -> QueueSnapshot:
    """The state of a queue."""
    return QueueSnapshot(
        name=queue.name,
        depth=queue.depth,
        processing=queue.processing,
        readded=queue.readded,
        delayed=queue.delayed,
        adds=queue.adds,
        retries=queue.retries,
        taken=queue.taken,
        longest_running=queue.longest_running,
        mean_wait=queue.queue_duration.mean,
        mean_work=queue.work_duration.mean,
        is_shut_down=queue.is_shut_down,
    )


def _leadership_snapshot(elector: LeaderElector, redactor: Redactor) -> LeadershipSnapshot:
    statistics = elector.statistics()
    return LeadershipSnapshot(
        lock=statistics.lock,
        identity=statistics.identity,
        leader=statistics.leader,
        is_leader=statistics.is_leader,
        transitions=statistics.transitions,
        terms=statistics.terms,
        losses=statistics.losses,
        renewals=statistics.renewals,
        failures_in_a_row=statistics.failures_in_a_row,
        last_error=redactor.error(statistics.last_error),
    )


def _client_snapshot(client: RESTClient) -> ClientSnapshot:
    statistics = client.statistics()
    return ClientSnapshot(
        host=client.config.base_url,
        attempts=[(method, code, number) for (method, code), number in sorted(statistics.attempts.items())],
        retries=statistics.retries,
        throttled=statistics.throttled,
        open_watches=statistics.open_watches,
    )
