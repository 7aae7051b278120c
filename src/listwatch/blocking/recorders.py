"""The event recorder for programs without an event loop: it records in any thread and writes on the background loop."""

from __future__ import annotations

from listwatch.events import recorder

from .face import Opened

__all__ = ["EventRecorder"]


class EventRecorder(Opened, twin=recorder.EventRecorder): ...  # noqa: D101  # its documentation is its twin's
