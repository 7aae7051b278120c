"""What clients have to know of `replay.py`. Apart from it, because they run in environments that have little else."""

from __future__ import annotations

__all__ = ["LISTS", "NAME", "NAMESPACE", "PLAYED", "SENT", "VERSION", "WIDGETS"]

NAMESPACE, NAME = "team-0", "one"
VERSION = "1000000000"
"""Of the list; events count on from here."""
WIDGETS = ("bench.example.com", "v1", "widgets")
"""The custom resource: its group, version and name."""
LISTS = "/lists"
"""The prefix of paths under which there are no streams."""
PLAYED = "/played"
"""The prefix of paths under which a watch sends one event for each object at once."""
SENT = "bench/sent"
"""The annotation that says when an event was sent: nanoseconds of the clock that all processes share."""
