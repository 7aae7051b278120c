"""Kubernetes events: recording, correlation and series."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "EventRecorder": "listwatch.events.recorder",
    "EventRecorderStatistics": "listwatch.events.recorder",
    "EventSink": "listwatch.events.writer",
    "EventType": "listwatch.events.occurrence",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.events.occurrence import EventType as EventType
    from listwatch.events.recorder import EventRecorder as EventRecorder
    from listwatch.events.recorder import EventRecorderStatistics as EventRecorderStatistics
    from listwatch.events.writer import EventSink as EventSink
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
