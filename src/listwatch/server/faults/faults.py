"""What goes wrong on purpose, for which requests and how often. `http` and `watching` make it happen.

    faults.add(Fault(Refuse(), resource="pods", verb="list", times=2))
    faults.add(Fault(Fail(TooManyRequestsError("slow down", retry_after=1)), user="system:serviceaccount:*"))
    held = faults.add(Fault(HoldEvents(), verb="watch", user_agent="replica-2*"))
    faults.remove(held)

A fault strikes requests that come after it, and watches that are open when it is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, Unpack

from listwatch.errors import APIError, UsageError
from listwatch.server.faults.request_log import Criteria, LoggedRequest, RequestPattern

__all__ = [
    "CutStream",
    "Delay",
    "DropBookmarks",
    "DropResponse",
    "Expire",
    "Fail",
    "Fault",
    "Faults",
    "HoldEvents",
    "Plan",
    "Refuse",
]

ActionT = TypeVar("ActionT", bound="Action")

# --- What can go wrong ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """Something that goes wrong."""


@dataclass(frozen=True, slots=True)
class Refuse(Action):
    """The connection is reset, and nothing is done."""


@dataclass(frozen=True, slots=True)
class Delay(Action):
    """It takes that many seconds until anything is done."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail(Action):
    """The answer is this error, and nothing is done."""

    error: APIError


@dataclass(frozen=True, slots=True)
class DropResponse(Action):
    """All is done, and then the connection is reset: who asked cannot know."""


@dataclass(frozen=True, slots=True)
class Expire(Action):
    """The version or the continue token that was given is too old now; a watch is told so as one that is open is."""


@dataclass(frozen=True, slots=True)
class CutStream(Action):
    """The connection of a watch is reset after so many events or bytes; given neither, before anything more is sent."""

    after_events: int | None = None
    after_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DropBookmarks(Action):
    """A watch sends no bookmarks, not even the one that marks the end of the initial events."""


@dataclass(frozen=True, slots=True)
class HoldEvents(Action):
    """A watch sends nothing until the fault is removed: a stale view. After that it sends all."""


# What can also befall a watch that is open already, and what befalls nothing else.
_ON_OPEN_WATCHES = (Expire, CutStream, DropBookmarks, HoldEvents)
_ONLY_ON_WATCHES = (CutStream, DropBookmarks, HoldEvents)


class Fault:
    """Something that goes wrong with requests of one pattern.

    The first `skip` of them are spared, then it strikes `times` of them, or all; each by chance, if it is not certain.
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
            raise UsageError("a fault skips none or some requests, strikes once or more, with a probability up to 1")
        self.action = action
        self.pattern = RequestPattern(**criteria)
        self.skip = skip
        self.times = times
        self.probability = probability

    def concerns(self, request: LoggedRequest) -> bool:
        if isinstance(self.action, _ONLY_ON_WATCHES) and request.verb != "watch":
            return False
        return self.pattern.matches(request)

    def __repr__(self) -> str:
        return f"<Fault {self.action!r} on requests with {self.pattern!r}>"


# --- When it does -----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Armed:
    """A fault, and how often it could have struck and did."""

    fault: Fault
    seen: int = 0
    struck: int = 0

    def strikes(self, request: LoggedRequest, chance: Callable[[], float]) -> bool:
        fault = self.fault
        if (fault.times is not None and self.struck >= fault.times) or not fault.concerns(request):
            return False
        self.seen += 1
        if self.seen <= fault.skip or (fault.probability < 1.0 and chance() >= fault.probability):
            return False
        self.struck += 1
        return True


@dataclass(slots=True, eq=False)
class Plan:
    """What goes wrong with one request; `on_change` is called when that changes while it lasts."""

    request: LoggedRequest
    faults: list[Fault] = field(default_factory=list)
    on_change: Callable[[], object] = lambda: None

    def find(self, kind: type[ActionT]) -> ActionT | None:
        """The first action of a kind."""
        if not self.faults:  # as it is nearly always
            return None
        return next((fault.action for fault in self.faults if isinstance(fault.action, kind)), None)

    @property
    def delay(self) -> float:
        return sum(fault.action.seconds for fault in self.faults if isinstance(fault.action, Delay))


class Faults:
    """The faults there are, each counting for itself; `chance` gives numbers from 0 up to 1."""

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._armed: dict[Fault, _Armed] = {}
        self._plans: dict[Plan, None] = {}

    def add(self, fault: Fault) -> Fault:
        """Let it happen from now on; returns the fault, for `remove`."""
        armed = self._armed.setdefault(fault, _Armed(fault))
        open_ones = self._plans if isinstance(fault.action, _ON_OPEN_WATCHES) else ()
        for plan in tuple(open_ones):
            if plan.request.verb == "watch" and armed.strikes(plan.request, self._chance):
                plan.faults.append(fault)
                plan.on_change()
        return fault

    def remove(self, fault: Fault) -> None:
        """Let it happen no longer, not even to those whom it has struck."""
        self._armed.pop(fault, None)
        for plan in tuple(self._plans):
            if fault in plan.faults:
                plan.faults.remove(fault)
                plan.on_change()

    def clear(self) -> None:
        for fault in tuple(self._armed):
            self.remove(fault)

    def __len__(self) -> int:
        return len(self._armed)

    def struck(self, fault: Fault) -> int:
        """How often it has."""
        armed = self._armed.get(fault)
        return armed.struck if armed else 0

    # What the server does with it

    def begin(self, request: LoggedRequest) -> Plan:
        """What goes wrong with a request, until `end`."""
        armed = tuple(self._armed.values())
        plan = Plan(request, [each.fault for each in armed if each.strikes(request, self._chance)])
        self._plans[plan] = None
        return plan

    def end(self, plan: Plan) -> None:
        self._plans.pop(plan, None)
