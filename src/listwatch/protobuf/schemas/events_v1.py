"""The messages of events_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Event 1:metadata:#meta_v1.ObjectMeta!@ObjectMeta 2:eventTime:#meta_v1.MicroTime! 3:series:#EventSeries*
 4:reportingController:s 5:reportingInstance:s 6:action:s 7:reason:s 8:regarding:#core_v1.ObjectReference
 9:related:#core_v1.ObjectReference* 10:note:s 11:type:s 12:deprecatedSource:#core_v1.EventSource
 13:deprecatedFirstTimestamp:#meta_v1.Time 14:deprecatedLastTimestamp:#meta_v1.Time 15:deprecatedCount:i
EventList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Event!
EventSeries 1:count:i! 2:lastObservedTime:#meta_v1.MicroTime!
"""
