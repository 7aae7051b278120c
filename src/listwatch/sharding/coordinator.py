"""Runs the state machine of a replica: sends its requests, watches the Leases, and keeps its timers.

replica_state.py decides ─▶ requests ─▶ Leases
       ▲                                  │
       └──── outcomes, list and watch ◀───┘
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from listwatch.client.resources.resource_client import ResourceClient
from listwatch.clock import Clock, time_limit
from listwatch.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    GoneError,
    ListWatchError,
    NotFoundError,
    ShardConfigError,
)
from listwatch.logs.folded_log import FoldedLog, cause_of_text
from listwatch.sharding.options import ShardingOptions
from listwatch.sharding.protocol.group_records import ConfigRecord, Record, SessionRecord, ShardRecord
from listwatch.sharding.protocol.lease_records import GROUP_LABEL, fill_lease, has_role, name_of, read_lease
from listwatch.sharding.protocol.replica_actions import (
    Action,
    Gone,
    Outcome,
    Refuse,
    Relist,
    Request,
    RequestFailure,
    SharedIdentity,
    StopAll,
)
from listwatch.sharding.protocol.replica_load import ReplicaLoad
from listwatch.sharding.protocol.replica_state import Phase, ReplicaState
from listwatch.sharding.validity import SessionValidity

if TYPE_CHECKING:
    from listwatch.models.coordination_v1 import Lease

__all__ = ["ShardCoordinator"]

_log = logging.getLogger("listwatch.sharding")

_VERBS = {"create": "create", "read": "get", "update": "update", "delete": "delete"}
_WATCH_SECONDS = 300


class ShardCoordinator:
    """One replica of a shard group, from `run` until it has left the group.

    `on_action` is called with every instruction and shard event for the replica, in order.
    """

    def __init__(
        self,
        leases: ResourceClient[Lease],
        options: ShardingOptions,
        *,
        namespace: str,
        clock: Clock,
        on_action: Callable[[Action], None],
        random: Random | None = None,
    ) -> None:
        self._leases = leases.namespace(namespace)
        self._namespace = namespace
        self._options = options
        self._clock = clock
        self._on_action = on_action
        self.validity = SessionValidity(clock.monotonic)
        dice = random or Random()
        self.state = ReplicaState(
            options.config,
            identity=options.replica,
            timing=options.timing,
            jitter=dice.random,
            new_session=lambda: secrets.token_hex(6),
            weight=options.weight,
            on_config_change=options.on_config_change,
        )
        self._requests: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._relist = asyncio.Event()
        self._gone = asyncio.Event()
        self._has_watched = False
        self._error: ShardConfigError | None = None
        self._load: ReplicaLoad | None = None
        self._log = FoldedLog(_log, clock)

    # --- inputs ------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return self._clock.monotonic()

    def prefetched(self) -> None:
        self.state.prefetched(self.now)
        self._do_actions()

    def caught_up(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        self.state.caught_up(shard, token, versions, self.now)
        self._do_actions()

    def drained(self, shard: int, token: int, versions: Mapping[str, str] | None) -> None:
        self.state.drained(shard, token, versions, self.now)
        self._do_actions()

    def stopped(self, session: str, *, is_clean: bool) -> None:
        self.state.stopped(session, self.now, is_clean=is_clean)
        self._do_actions()

    def leave(self) -> None:
        self.state.leave(self.now)
        self._do_actions()

    def cancel_drains(self) -> None:
        self.state.cancel_drains(self.now)
        self._do_actions()

    def give_up(self) -> bool:
        """End the session, because the program makes no progress; False if there is none."""
        if not self.state.is_valid_session:
            return False
        self.state.give_up(self.now)
        self._do_actions()
        return True

    def report_load(self, load: ReplicaLoad) -> None:
        """Write this with the next renewals; from any thread."""
        self._load = load

    def abandon(self) -> None:
        """Leave the session to expire, because some work cannot be stopped."""
        self.state.abandon()
        self._do_actions()

    # --- running -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Take part in the group until `leave` is done; raises ShardConfigError if that is not possible."""
        await self._check_permissions()
        tasks = [
            asyncio.create_task(self._keep_time(), name="timers of the shards"),
            asyncio.create_task(self._watch(), name="watch of the shards"),
        ]
        gone = asyncio.create_task(self._gone.wait(), name="end of the shards")
        try:
            await asyncio.wait([*tasks, gone], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
            if self._requests:
                await asyncio.wait(self._requests, timeout=self._options.timing.request_timeout)
        finally:
            self.validity.publish(-float("inf"), {})
            everything = [*tasks, gone, *self._requests]
            for each in everything:
                each.cancel()
            await asyncio.wait(everything)
        if self._error is not None:
            raise self._error

    async def _check_permissions(self) -> None:
        """Deleting is needed only at the end, and would fail too late: a Lease that does not exist can be deleted."""
        try:
            await self._leases.delete(name_of(SessionRecord(session="none"), self._options.group))
        except ForbiddenError as error:
            raise self._forbidden("delete", error) from error
        except ListWatchError:
            return

    def _forbidden(self, verb: str, error: object) -> ShardConfigError:
        return ShardConfigError(
            f"the shard group {self._options.group} needs the verb {verb} on leases.coordination.k8s.io in namespace "
            f"{self._namespace}: {error}; grant get, list, watch, create, update and delete"
        )

    async def _keep_time(self) -> None:
        while not self._gone.is_set():
            self._changed.clear()
            delay = self.state.next_deadline(self.now) - self.now
            try:
                async with time_limit(self._clock, max(delay, 0.001)):
                    await self._changed.wait()
            except TimeoutError:
                self.state.tick(self.now)
                self._do_actions()

    async def _watch(self) -> None:
        while True:
            self._relist.clear()
            try:
                await self._list_and_watch()
            except ForbiddenError as error:
                if not self._has_watched:
                    raise self._forbidden("watch" if self.state.view.is_listed else "list", error) from error
                self._failed("list or watch", error)
            except (ListWatchError, TimeoutError) as error:
                if not isinstance(error, GoneError):
                    self._failed("list or watch", error)
            await self._clock.sleep(min(1.0, self._options.timing.retry_period / 2))

    async def _list_and_watch(self) -> None:
        selector = {GROUP_LABEL: self._options.group}
        async with time_limit(self._clock, self._options.timing.lease_duration):
            listed = await self._leases.list(label_selector=selector)
        records = [record for each in listed if (record := self._read(each)) is not None]
        version = listed.resource_version
        self.state.observe_list(records, int(version), self.now)
        self._do_actions()
        watching = asyncio.create_task(self._read_watch(selector, version), name="watch of the leases")
        relist = asyncio.create_task(self._relist.wait(), name="relist of the leases")
        try:
            await asyncio.wait([watching, relist], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (watching, relist):
                task.cancel()
            await asyncio.wait([watching, relist])
        if not watching.cancelled():
            watching.result()

    async def _read_watch(self, selector: Mapping[str, str], version: str) -> None:
        stream = self._leases.watch(
            label_selector=selector,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=_WATCH_SECONDS,
        )
        async with stream as events:
            self._has_watched = True
            async for event in events:
                if event.type == "BOOKMARK":
                    self.state.observe_bookmark(int(event.object.resource_version), self.now)
                    continue
                record = self._read(event.object)
                if record is None and event.type == "DELETED":
                    self._relist.set()  # it may have been damaged after it was read
                if record is not None:
                    self.state.observe_event(record, self.now, is_deleted=event.type == "DELETED")
                    self._do_actions()

    def _read(self, lease: Lease) -> Record | None:
        group = self._options.group
        record = read_lease(lease, group)
        if record is None and has_role(lease):
            self._log.log(
                logging.WARNING,
                ("damaged", lease.name),
                "The Lease %s of the shard group %s is damaged, and is ignored: delete it, so that it is created again",
                lease.name,
                group,
                fields={"group": group, "lease": lease.name},
            )
        return record

    # --- actions -----------------------------------------------------------------------------------------------------

    def _do_actions(self) -> None:
        # Published first: a shard that is about to be released or lost must not be written for any more.
        state = self.state
        tokens = {shard: own.token for shard, own in state.ownership.owned.items() if own.phase != "releasing"}
        self.validity.publish(state.valid_until, tokens)
        while actions := state.take_actions():
            for action in actions:
                self._do(action)
        self._changed.set()

    def _do(self, action: Action) -> None:
        match action:
            case Request():
                task = asyncio.create_task(self._send(action), name=f"{action.verb} of a lease")
                self._requests.add(task)
                task.add_done_callback(self._requests.discard)
            case Relist():
                self._relist.set()
            case Refuse(message=message, is_forbidden=is_forbidden):
                group = self._options.group
                self._error = ShardConfigError(message) if is_forbidden else self._different(group, message)
            case SharedIdentity(session=session):
                group, identity = self._options.group, self._options.replica
                _log.warning(
                    "Shard group %s: another running replica, with the session %s, has the identity %s of this one; "
                    "each has its own shards, but reports cannot distinguish them: pass a different identity to each",
                    *(group, session, identity),
                    extra={"group": group, "session": session, "identity": identity},
                )
            case Gone():
                self._gone.set()
            case StopAll(session=session, reason=reason):
                _log.warning(
                    "Shard group %s: the session %s of this replica is over: %s; all reconciles are stopped until it "
                    "has another session",
                    *(self._options.group, session, reason),
                    extra={"group": self._options.group, "session": session},
                )
                self._on_action(action)
            case _:
                _log.info("Shard group %s: %s", self._options.group, action, extra={"group": self._options.group})
                self._on_action(action)

    def _different(self, group: str, message: str) -> ShardConfigError:
        return ShardConfigError(
            f"the shard group {group} {message}; this program asks for {self._options.config.text}: "
            "use another group name, or on_config_change='wait'"
        )

    async def _send(self, request: Request) -> None:
        outcome: Outcome
        try:
            async with time_limit(self._clock, self._options.timing.request_timeout):
                outcome = await self._execute(request)
        except NotFoundError as error:
            outcome = RequestFailure("missing", str(error))
        except (ConflictError, AlreadyExistsError) as error:
            outcome = RequestFailure("conflict", str(error))
        except ForbiddenError as error:
            outcome = RequestFailure("forbidden", str(self._forbidden(_VERBS[request.verb], error)))
            self._failed(request.verb, error)
        except ShardConfigError as error:
            outcome = RequestFailure("damaged", str(error))
            self._failed(request.verb, error)
        except (ListWatchError, TimeoutError) as error:
            outcome = RequestFailure("unknown", str(error))
            self._failed(request.verb, error)
        self.state.handle_outcome(request, outcome, self.now)
        self._do_actions()

    async def _execute(self, request: Request) -> Record:
        name = name_of(request.record, self._options.group)
        if request.verb == "delete":
            await self._leases.delete(name, uid=request.record.uid)
            return request.record
        if request.verb == "read":
            lease = await self._leases.get(name)
        else:
            lease = self._leases.kind()
            fill_lease(lease, self._stamped(request.record), self._options.group, self._namespace)
            lease = await (self._leases.create(lease) if request.verb == "create" else self._leases.update(lease))
        record = read_lease(lease, self._options.group)
        if record is None:
            raise ShardConfigError(
                f"the Lease {name} in namespace {self._namespace} has no record of the shard group "
                f"{self._options.group}: another program uses that name, or has changed it; use another group name, or "
                "delete the Lease"
            )
        return record

    def _stamped(self, record: Record) -> Record:
        """Add the time of day and the load, for people; a renewal has to change its record."""
        now = self._clock.now()
        match record:
            case SessionRecord():
                if record.identity != self._options.replica or record.state == "ended":
                    return record
                return replace(record, renewed=now, begun=record.begun or now, load=self._load)
            case ShardRecord() if record.holder:
                return replace(record, acquired=record.acquired or now)
            case ConfigRecord():
                return replace(record, written_at=record.written_at or now)
        return record

    def _failed(self, verb: str, error: Exception) -> None:
        self._log.log(
            logging.WARNING,
            cause_of_text(error),
            "Cannot %s the Leases of the shard group %s, retrying: %s",
            verb,
            self._options.group,
            str(error) or repr(error),
            fields={"group": self._options.group},
        )

    @property
    def phase(self) -> Phase:
        return self.state.phase
