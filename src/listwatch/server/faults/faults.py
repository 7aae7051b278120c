"""Fault injection: which requests fail, how, and how often. `exchange` and `watching` apply the faults.

    faults.add(Fault(Refuse(), resource="pods", verb="list", times=2))
    faults.add(Fault(Fail(TooManyRequestsError("slow down", retry_after=1)), user="system:serviceaccount:*"))
    held = faults.add(Fault(HoldEvents(), verb="watch", user_agent="replica-2*"))
    faults.remove(held)

A fault affects requests that start after it was added. Expire, CutStream, DropBookmarks and HoldEvents also affect
watches that are open then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, Unpack

from listwatch.errors import APIError, UsageError
from listwatch.server.faults.request_log import Criteria, LoggedRequest, RequestPattern

__all__ = [
    "Action",
    "CutStream",
    "Delay",
    "DropBookmarks",
    "DropResponse",
    "Expire",
    "Fail",
    "Fault",
    "FaultInjector",
    "FaultPlan",
    "Faults",
    "HoldEvents",
    "Refuse",
]

ActionT = TypeVar("ActionT", bound="Action")

# --- Actions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """What a fault does to a request."""


@dataclass(frozen=True, slots=True)
class Refuse(Action):
    """Resets the connection before the request is handled."""


@dataclass(frozen=True, slots=True)
class Delay(Action):
    """Waits for some seconds before the request is handled."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail(Action):
    """Responds with an error; the request is not handled."""

    error: APIError


@dataclass(frozen=True, slots=True)
class DropResponse(Action):
    """Handles the request, then resets the connection instead of sending a successful response; ignored for watches."""


@dataclass(frozen=True, slots=True)
class Expire(Action):
    """Treats the resourceVersion or continue token as too old; an open watch gets the same ERROR event."""


@dataclass(frozen=True, slots=True)
class CutStream(Action):
    """Resets the connection of a watch after some events or bytes; without either, before anything more is sent."""

    after_events: int | None = None
    after_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DropBookmarks(Action):
    """A watch sends no bookmarks, not even the one that marks the end of the initial events."""


@dataclass(frozen=True, slots=True)
class HoldEvents(Action):
    """A watch sends nothing until the fault is removed, so that its client has a stale view; then it sends them."""


# Actions that affect watches that are open already, and actions that affect watches only.
_ON_OPEN_WATCHES = (Expire, CutStream, DropBookmarks, HoldEvents)
_ONLY_ON_WATCHES = (CutStream, DropBookmarks, HoldEvents)


class Fault:
    """An action on the requests that match some criteria.

    The first `skip` matching requests are not affected, then `times` of them are, or all; with a `probability` below 1,
    each of them at random.
    """

    __slots__ = ("action", "pattern", "probability", "skip", "times")

    def __init__(
        self,
        action: Action,
        *,
        skip: int = 0,
        times: int | None = None,
        probability: float = 1.0,
        **criteria: Unpack[Criteria],
    ) -> None:
        if not isinstance(action, Action):
            raise UsageError(f"a fault needs an action such as Refuse() or Delay(1.0), not {action!r}")
        if skip < 0 or (times is not None and times < 1) or not 0.0 <= probability <= 1.0:
            raise UsageError("a fault needs skip >= 0, times >= 1 or None, and a probability from 0 to 1")
        self.action = action
        self.pattern = RequestPattern(**criteria)
        self.skip = skip
        self.times = times
        self.probability = probability

    def matches(self, request: LoggedRequest) -> bool:
        """Whether the action and the criteria apply to a request, regardless of skip, times and probability."""
        if isinstance(self.action, _ONLY_ON_WATCHES) and request.verb != "watch":
            return False
        return self.pattern.matches(request)

    def __repr__(self) -> str:
        return f"<Fault {self.action!r} on {self.pattern}>"


# --- Injection --------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _ActiveFault:
    """A fault with the number of requests that it matched and affected."""

    fault: Fault
    matched: int = 0
    hits: int = 0

    def affects(self, request: LoggedRequest, random: Callable[[], float]) -> bool:
        fault = self.fault
        if (fault.times is not None and self.hits >= fault.times) or not fault.matches(request):
            return False
        self.matched += 1
        if self.matched <= fault.skip or (fault.probability < 1.0 and random() >= fault.probability):
            return False
        self.hits += 1
        return True


@dataclass(slots=True, eq=False)
class FaultPlan:
    """The faults of one request; `on_change` is called when they change while it is handled."""

    request: LoggedRequest
    faults: list[Fault] = field(default_factory=list)
    on_change: Callable[[], object] = lambda: None

    def find(self, kind: type[ActionT]) -> ActionT | None:
        """Return the first action of a kind."""
        if not self.faults:  # the usual case
            return None
        return next((fault.action for fault in self.faults if isinstance(fault.action, kind)), None)

    @property
    def delay(self) -> float:
        return sum(fault.action.seconds for fault in self.faults if isinstance(fault.action, Delay))


class FaultInjector:
    """Decides which faults affect a request; `random` returns numbers from 0 up to 1."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._active: dict[Fault, _ActiveFault] = {}
        self._plans: dict[FaultPlan, None] = {}

    def __len__(self) -> int:
        return len(self._active)

    def add(self, fault: Fault) -> Fault:
        active = self._active.setdefault(fault, _ActiveFault(fault))
        open_plans = self._plans if isinstance(fault.action, _ON_OPEN_WATCHES) else ()
        for plan in tuple(open_plans):
            if plan.request.verb == "watch" and active.affects(plan.request, self._random):
                plan.faults.append(fault)
                plan.on_change()
        return fault

    def remove(self, fault: Fault) -> None:
        self._active.pop(fault, None)
        for plan in tuple(self._plans):
            if fault in plan.faults:
                plan.faults.remove(fault)
                plan.on_change()

    def clear(self) -> None:
        for fault in tuple(self._active):
            self.remove(fault)

    def hits(self, fault: Fault) -> int:
        active = self._active.get(fault)
        return active.hits if active else 0

    def begin(self, request: LoggedRequest) -> FaultPlan:
        """Return the faults of a request, which may change until `end`."""
        active = tuple(self._active.values())
        plan = FaultPlan(request, [each.fault for each in active if each.affects(request, self._random)])
        self._plans[plan] = None
        return plan

    def end(self, plan: FaultPlan) -> None:
        self._plans.pop(plan, None)


class Faults:
    """The faults of an API server; each counts the requests that it affects."""

    def __init__(self, injector: FaultInjector) -> None:
        self._injector = injector

    def __repr__(self) -> str:
        return f"<Faults: {len(self)}>"

    def __len__(self) -> int:
        return len(self._injector)

    def add(self, fault: Fault) -> Fault:
        """Inject a fault from now on; returns it, for `remove`."""
        return self._injector.add(fault)

    def remove(self, fault: Fault) -> None:
        """Stop a fault, also for the requests that it affects now."""
        self._injector.remove(fault)

    def clear(self) -> None:
        """Stop all faults."""
        self._injector.clear()

    def hits(self, fault: Fault) -> int:
        """Return the number of requests that a fault has affected; 0 once it is removed."""
        return self._injector.hits(fault)
