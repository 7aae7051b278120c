"""Work queues: deduplication, delays, rate limits, priorities and draining."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "BucketLimiter": "listwatch.workqueue.rate_limiters",
    "DURATION_BOUNDS": "listwatch.workqueue.queue_state",
    "ExponentialLimiter": "listwatch.workqueue.rate_limiters",
    "FastSlowLimiter": "listwatch.workqueue.rate_limiters",
    "ItemLimiter": "listwatch.workqueue.rate_limiters",
    "LOW_PRIORITY": "listwatch.workqueue.queue_state",
    "MaxOfLimiter": "listwatch.workqueue.rate_limiters",
    "MaxWaitLimiter": "listwatch.workqueue.rate_limiters",
    "WorkQueue": "listwatch.workqueue.queue",
    "WorkQueueStatistics": "listwatch.workqueue.queue_state",
    "default_limiter": "listwatch.workqueue.rate_limiters",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.workqueue.queue import WorkQueue as WorkQueue
    from listwatch.workqueue.queue_state import DURATION_BOUNDS as DURATION_BOUNDS
    from listwatch.workqueue.queue_state import LOW_PRIORITY as LOW_PRIORITY
    from listwatch.workqueue.queue_state import WorkQueueStatistics as WorkQueueStatistics
    from listwatch.workqueue.rate_limiters import BucketLimiter as BucketLimiter
    from listwatch.workqueue.rate_limiters import ExponentialLimiter as ExponentialLimiter
    from listwatch.workqueue.rate_limiters import FastSlowLimiter as FastSlowLimiter
    from listwatch.workqueue.rate_limiters import ItemLimiter as ItemLimiter
    from listwatch.workqueue.rate_limiters import MaxOfLimiter as MaxOfLimiter
    from listwatch.workqueue.rate_limiters import MaxWaitLimiter as MaxWaitLimiter
    from listwatch.workqueue.rate_limiters import default_limiter as default_limiter
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
