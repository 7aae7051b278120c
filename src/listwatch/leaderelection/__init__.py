"""Leader election: one of several replicas leads."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "ElectorStatistics": "listwatch.leaderelection.elector",
    "LeaderElector": "listwatch.leaderelection.elector",
    "LeaderLock": "listwatch.leaderelection.candidate",
    "LeaderRecord": "listwatch.leaderelection.elector_state",
    "LeaseEventRecorder": "listwatch.leaderelection.lease_lock",
    "LeaseLock": "listwatch.leaderelection.lease_lock",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.leaderelection.candidate import LeaderLock as LeaderLock
    from listwatch.leaderelection.elector import ElectorStatistics as ElectorStatistics
    from listwatch.leaderelection.elector import LeaderElector as LeaderElector
    from listwatch.leaderelection.elector_state import LeaderRecord as LeaderRecord
    from listwatch.leaderelection.lease_lock import LeaseEventRecorder as LeaseEventRecorder
    from listwatch.leaderelection.lease_lock import LeaseLock as LeaseLock
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
