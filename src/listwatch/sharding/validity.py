"""Whether this replica may write for a shard, now: read by the write guard from any thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from listwatch.errors import ShardLostError

__all__ = ["SessionValidity"]


class SessionValidity:
    """The end of the session's validity and the tokens of its shards, which are replaced as a whole."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._state: tuple[float, Mapping[int, int]] = (-math.inf, {})
        self.refused = 0

    def publish(self, valid_until: float, tokens: Mapping[int, int]) -> None:
        """Set the state; called by the coordinator."""
        self._state = valid_until, tokens

    def token_of(self, shard: int) -> int | None:
        """The token of a shard that this replica owns now."""
        valid_until, tokens = self._state
        return tokens.get(shard) if self._monotonic() < valid_until else None

    def check(self, shard: int, token: int, what: str) -> None:
        """Raise ShardLostError unless the session is valid and the shard has this token."""
        valid_until, tokens = self._state
        if self._monotonic() < valid_until and tokens.get(shard) == token:
            return
        self.refused += 1
        reason = "its session is over" if self._monotonic() >= valid_until else "it does not own the shard any more"
        raise ShardLostError(
            f"{what} was not sent: this replica lost shard {shard} (token {token}), {reason}; "
            "another replica reconciles the object"
        )
