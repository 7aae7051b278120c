"""The kinds and types of `events.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.models import core_v1
from listwatch.objects.declarations.model import MicroTime, Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class EventSeries(Model):
    """EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some time. How often to update the EventSeries is up to the event reporters. The default event reporter in "k8s.io/client-go/tools/events/event_broadcaster.go" shows how this struct is updated on heartbeats and can guide customized reporter implementations."""
    count: int = 0
    """count is the number of occurrences in this series up to the last heartbeat time.

    JSON: `count`. Required."""
    last_observed_time: MicroTime | None = None
    """lastObservedTime is the time when last Event from the series was seen before last heartbeat.

    JSON: `lastObservedTime`. Required."""


class Event(Object):
    """Event is a report of an event somewhere in the cluster. It generally denotes some state change in the system. Events have a limited retention time and triggers and messages may evolve with time.  Event consumers should not rely on the timing of an event with a given Reason reflecting a consistent underlying trigger, or the continued existence of events with that Reason.  Events should be treated as informative, best-effort, supplemental data."""
    action: str | None = ...
    """action is what action was taken/failed regarding to the regarding object. It is machine-readable. This field cannot be empty for new Events and it can have at most 128 characters.

    JSON: `action`. Default: absent."""
    deprecated_count: int | None = ...
    """deprecatedCount is the deprecated field assuring backward compatibility with core.v1 Event type.

    JSON: `deprecatedCount`. Default: absent."""
    deprecated_first_timestamp: datetime | None = ...
    """deprecatedFirstTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type.

    JSON: `deprecatedFirstTimestamp`. Default: absent."""
    deprecated_last_timestamp: datetime | None = ...
    """deprecatedLastTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type.

    JSON: `deprecatedLastTimestamp`. Default: absent."""
    deprecated_source: core_v1.EventSource = ...
    """deprecatedSource is the deprecated field assuring backward compatibility with core.v1 Event type.

    JSON: `deprecatedSource`. Default: `{}`."""
    event_time: MicroTime | None = ...
    """eventTime is the time when this Event was first observed. It is required.

    JSON: `eventTime`. Required."""
    note: str | None = ...
    """note is a human-readable description of the status of this operation. Maximal length of the note is 1kB, but libraries should be prepared to handle values up to 64kB.

    JSON: `note`. Default: absent."""
    reason: str | None = ...
    """reason is why the action was taken. It is human-readable. This field cannot be empty for new Events and it can have at most 128 characters.

    JSON: `reason`. Default: absent."""
    regarding: core_v1.ObjectReference = ...
    """regarding contains the object this Event is about. In most cases it's an Object reporting controller implements, e.g. ReplicaSetController implements ReplicaSets and this event is emitted because it acts on some changes in a ReplicaSet object.

    JSON: `regarding`. Default: `{}`."""
    related: core_v1.ObjectReference | None = ...
    """related is the optional secondary object for more complex actions. E.g. when regarding object triggers a creation or deletion of related object.

    JSON: `related`. Default: absent."""
    reporting_controller: str | None = ...
    """reportingController is the name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`. This field cannot be empty for new Events.

    JSON: `reportingController`. Default: absent."""
    reporting_instance: str | None = ...
    """reportingInstance is the ID of the controller instance, e.g. `kubelet-xyzf`. This field cannot be empty for new Events and it can have at most 128 characters.

    JSON: `reportingInstance`. Default: absent."""
    series: EventSeries | None = ...
    """series is data about the Event series this event represents or nil if it's a singleton Event.

    JSON: `series`. Default: absent."""
    type: str | None = ...
    """type is the type of this event (Normal, Warning), new types could be added in the future. It is machine-readable. This field cannot be empty for new Events.

    JSON: `type`. Default: absent."""


class EventList(ObjectList[Event], item=Event):
    """A list of objects, as returned by one request."""
