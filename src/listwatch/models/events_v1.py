"""The kinds and types of `events.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import core_v1
from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class EventSeries(Model):
    count: int = field(default_factory=int)
    last_observed_time: MicroTime | None = None


class Event(
    Object,
    resource=Resource(
        "events.k8s.io", "v1", "Event", "events", "event",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ev",),
    ),
):
    action: str | None = lazy(str | None)
    deprecated_count: int | None = lazy(int | None)
    deprecated_first_timestamp: datetime | None = lazy(datetime | None)
    deprecated_last_timestamp: datetime | None = lazy(datetime | None)
    deprecated_source: core_v1.EventSource = lazy(core_v1.EventSource)
    event_time: MicroTime | None = lazy(MicroTime | None)
    note: str | None = lazy(str | None)
    reason: str | None = lazy(str | None)
    regarding: core_v1.ObjectReference = lazy(core_v1.ObjectReference)
    related: core_v1.ObjectReference | None = lazy(core_v1.ObjectReference | None)
    reporting_controller: str | None = lazy(str | None)
    reporting_instance: str | None = lazy(str | None)
    series: EventSeries | None = lazy(EventSeries | None)
    type: str | None = lazy(str | None)


class EventList(ObjectList[Event], item=Event):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
