"""Protocols that are broken on purpose: the simulation has to notice each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from listwatch.sharding.protocol.configuration_state import Configuration
from listwatch.sharding.protocol.group_records import ShardRecord
from listwatch.sharding.protocol.ownership_state import Ownership
from listwatch.sharding.protocol.replica_state import ReplicaState


class ClaimsOnSilence(ReplicaState):
    """Takes the shards of a silent session without declaring it dead first."""

    class _Ownership(Ownership):
        def _may_claim(self, record: ShardRecord, now: float) -> bool:
            view = self._view
            is_silent = record.holder in view.sessions and now >= view.fence_at(record.holder, 1.0)
            return is_silent or super()._may_claim(record, now)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.ownership.__class__ = self._Ownership

    def _fence_silent_sessions(self, now: float) -> None:
        silent = [each for each in self.view.sessions if now >= self.view.fence_at(each, 1.0)]
        self.view.members = {key: each for key, each in self.view.members.items() if key not in silent}


class IgnoresItsDeadline(ReplicaState):
    """Goes on after its renew deadline, until it reads that its session has ended."""

    def _expire(self, now: float) -> None:
        pass

    def _become_valid(self, sent: float, now: float) -> None:
        self.valid_until = sent + 3600


class LooksBeforeItJoins(ReplicaState):
    """Reads the configuration before it joins, and never again."""

    class _Configuration(Configuration):
        def is_blocked(self, session: Any, generation: int, now: float) -> bool:
            return False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._configuration.__class__ = self._Configuration

    def _decide(self, session: Any, now: float) -> None:
        known = self.view.config
        if known is not None and known.generation != self._generation:
            self.view.config = replace(known, digest=self.config.digest, generation=self._generation, is_complete=True)
        super()._decide(session, now)
        self.view.config = known

    def _wait_for_config(self, now: float) -> None:
        config = self.view.config
        if config is not None and config.digest != self.config.digest and self._jitter() < 0.1:
            self._book.send("update", self._configuration.new_record(previous=config), now)
        else:
            super()._wait_for_config(now)


class RestartsTokens(ReplicaState):
    """Counts tokens from 0 when the configuration changes."""

    class _Configuration(Configuration):
        def new_record(self, *, previous: Any = None) -> Any:
            return replace(super().new_record(previous=previous), token_floor=0)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._configuration.__class__ = self._Configuration


VARIANTS: dict[str, dict[str, Any]] = {
    "clocks that run too differently": {"slowest": 0.4, "fastest": 1.6, "focus": "worst case"},
    "claims on silence": {"machine_type": ClaimsOnSilence},
    "ignores its deadline": {"machine_type": IgnoresItsDeadline},
    "looks before it joins": {"machine_type": LooksBeforeItJoins, "focus": "roll out"},
    "restarts tokens": {"machine_type": RestartsTokens, "focus": "roll out"},
    "catch-up skipped": {"catches_up": False},
    "released before the reconcile ended": {"releases_early": True},
}
