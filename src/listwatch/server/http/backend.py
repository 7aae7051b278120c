"""What answers are made from, put together: the verbs over a storage, and what goes on beside them. `http` asks it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

from listwatch.clock import Clock
from listwatch.meta import Resource
from listwatch.server.access.access import Access
from listwatch.server.controllers.bootstrap import add_namespaces
from listwatch.server.controllers.custom_resources import CustomResources
from listwatch.server.controllers.garbage_collector import Collector
from listwatch.server.faults.faults import Faults
from listwatch.server.faults.request_log import RequestLog
from listwatch.server.protocol.non_resources import NonResources
from listwatch.server.requests import User
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.storage.commits import Commits
from listwatch.server.storage.storage import Storage
from listwatch.server.verbs.verbs import Admission, Origin, Verbs
from listwatch.server.watch.watch_feed import Feeds
from listwatch.server.watch.watching import Pace, Watches

__all__ = ["Backend"]

_log = logging.getLogger(__name__)

# Without vowels, so that chance makes no words.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
# Of a uid, two digits tell how it was made: by chance.
_VERSION_4 = 4 << 76 | 8 << 60
_FREE_BITS = ~(0xF << 76 | 0xC << 60)


@dataclass(frozen=True, slots=True)
class Backend:
    """All that a request may need."""

    registry: Registry
    access: Access
    verbs: Verbs
    non_resources: NonResources
    watches: Watches
    commits: Commits
    faults: Faults
    requests: RequestLog
    clock: Clock
    new_id: Callable[[], str]
    watch_errors_as_http: bool
    """Refuse a watch that cannot begin with an HTTP status, and not with an event."""

    @classmethod
    def over(
        cls,
        storage: Storage,
        *,
        access: Access,
        admin: User,
        admission: Sequence[Admission],
        resources: Sequence[Resource] = (),
        clock: Clock,
        random: Random,
        pace: Pace,
        faults: Faults,
        requests: RequestLog,
        watch_errors_as_http: bool,
        group_commit: bool,
    ) -> Self:
        """With what every cluster has, and with an end to what was under way when the storage was left."""
        registry, chance = Registry.builtin(), _Chance(random)
        for resource in resources:
            registry.add(resource)
        origin = Origin(clock.now, chance.uid, chance.suffix)
        verbs = Verbs(storage, registry, builtin_schema(), origin, identities=access, admission=admission)
        watches = Watches(Feeds(storage, verbs.sent), clock, random, pace)
        custom_resources, collector = CustomResources(verbs, watches.finish), Collector(verbs)
        follow_up = _logged(custom_resources.run_pending, collector.run_pending)
        _logged(custom_resources.recover)()
        collector.recover()
        add_namespaces(verbs, admin)
        follow_up()
        storage.sync()
        return cls(
            registry=registry,
            access=access,
            verbs=verbs,
            non_resources=NonResources(registry),
            watches=watches,
            commits=Commits(storage, follow_up, grouped=group_commit),
            faults=faults,
            requests=requests,
            clock=clock,
            new_id=chance.uid,
            watch_errors_as_http=watch_errors_as_http,
        )


class _Chance:
    """Makes what has to be new, from numbers that a seed repeats."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def uid(self) -> str:
        # As uuid does it, in a fifth of the time: every answer and every new object gets one.
        digits = f"{self._random.getrandbits(128) & _FREE_BITS | _VERSION_4:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def suffix(self) -> str:
        return "".join(self._random.choices(_SUFFIX_LETTERS, k=5))


def _logged(*follow_ups: Callable[[], None]) -> Callable[[], None]:
    """Nobody who asked for something else is told of an error in what follows from it."""

    def run() -> None:
        for follow_up in follow_ups:
            try:
                follow_up()
            except Exception:  # noqa: BLE001  # it is not the mistake of whoever is asking
                _log.exception("what follows from a write could not be done")

    return run
