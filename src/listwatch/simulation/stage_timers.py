"""Decides which stage is next for an object, and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random

from listwatch.clock import Clock
from listwatch.models.core_v1 import Node, Pod
from listwatch.simulation.stages import Stage, State

__all__ = ["DueStage", "StageTimers"]

Adjust = Callable[[Stage, float], float]
"""Returns the delay of a stage in place of the given one."""


@dataclass(frozen=True, slots=True)
class DueStage:
    """The next stage of an object, and the seconds until it is due."""

    stage: Stage
    seconds: float


class _Progress:
    """What is known about one object."""

    def __init__(self) -> None:
        self.pending: tuple[str, State] | None = None
        self.due = 0.0
        self.applied: dict[str, int] = {}


class StageTimers:
    """Finds the first stage that matches an object. Its delay counts from when the object came into its state."""

    def __init__(self, stages: Sequence[Stage], clock: Clock, random: Random) -> None:
        self._stages = stages
        self._clock = clock
        self._random = random
        self._objects: dict[str, _Progress] = {}

    def next_for(
        self, item: Pod | Node, state: State, *, skip: Collection[Stage] = (), adjust: Adjust | None = None
    ) -> DueStage | None:
        """The next stage of an object, or None; `adjust` may change its delay; `skip` is not considered."""
        if not self._stages:
            return None
        progress = self._objects.get(item.uid)
        counts = progress.applied if progress else {}
        for stage in self._stages:
            if stage not in skip and stage.matches(item, state, counts.get(stage.name, 0)):
                break
        else:
            return None
        if progress is None:
            progress = self._objects[item.uid] = _Progress()
        now = self._clock.monotonic()
        if progress.pending != (stage.name, state):
            progress.pending = stage.name, state
            seconds = stage.seconds(self._random.random() if stage.jitter else 0.0)
            progress.due = now + (adjust(stage, seconds) if adjust else seconds)
        return DueStage(stage, max(0.0, progress.due - now))

    def applied(self, item: Pod | Node, stage: Stage) -> None:
        """Count an application; the search for the next stage starts over."""
        progress = self._objects.setdefault(item.uid, _Progress())
        progress.pending = None
        progress.applied[stage.name] = progress.applied.get(stage.name, 0) + 1

    def forget(self, uid: str) -> None:
        """Drop what is known about an object that does not exist any more."""
        self._objects.pop(uid, None)
