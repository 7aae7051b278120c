"""The event recorder for programs without an event loop: it records in any thread and writes on the background loop."""

from __future__ import annotations

from listwatch.blocking.face import Opened
from listwatch.events import recorder

__all__ = ["EventRecorder"]


class EventRecorder(Opened, twin=recorder.EventRecorder): ...  # noqa: D101  # its documentation is its twin's
