"""The hand-written part of the blocking EtcdLease."""

from __future__ import annotations

from listwatch.blocking.runtime.blocking_object import BlockingObject, unwrap
from listwatch.sources.etcd.lease import EtcdLease

__all__ = ["LeaseHolding"]


class LeaseHolding(BlockingObject):
    """Writes objects of blocking stores with a lease."""

    _async: EtcdLease

    def _do_hold(self, store: object, key: str, value: object) -> None:
        self._run(self._async.hold(unwrap(store), key, value))
