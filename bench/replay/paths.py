"""Paths and names of the replay server, for contenders, whose environments cannot import the server itself."""

from __future__ import annotations

__all__ = ["LISTS", "MIXED", "NAME", "NAMESPACE", "PLAYED", "SENT", "VERSION", "WIDGETS"]

NAMESPACE, NAME = "team-0", "one"
VERSION = "1000000000"
"""The resourceVersion of the list; events continue from it."""
WIDGETS = ("bench.example.com", "v1", "widgets")
"""The custom resource: group, version and plural name."""
MIXED = tuple(f"widgets-{number}" for number in range(20))
"""The plural names of the custom resources of the mixed program, in the same group and version."""
LISTS = "/lists"
"""Path prefix under which sendInitialEvents is rejected, as by older servers."""
PLAYED = "/played"
"""Path prefix under which a watch immediately sends one event per object."""
SENT = "bench/sent"
"""The annotation with the time at which an event was sent: nanoseconds of the monotonic clock of the machine."""
