"""Events as rows of a table."""

from __future__ import annotations

from datetime import datetime

from listwatch.cli.cluster.session import Session
from listwatch.cli.output import age_of
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.object import Object

__all__ = ["EVENT_HEADERS", "event_row", "event_time", "events_about"]

EVENT_HEADERS = ["Last Seen", "Type", "Reason", "Object", "Message"]


async def events_about(session: Session, tree: JSONObject) -> list[JSONObject]:
    """Read the events of an object, the oldest first."""
    metadata = tree.get("metadata")
    meta: JSONObject = metadata if isinstance(metadata, dict) else {}
    # Events of cluster-scoped objects are in the namespace `default`.
    namespace = str(meta.get("namespace") or "default")
    client = session.client.core_v1.events(namespace)
    found = await client.list(field_selector={"involvedObject.uid": str(meta.get("uid", ""))})
    return sorted(map(_tree, found), key=event_time)


def _tree(event: Object) -> JSONObject:
    tree: JSONObject = event.to_dict()
    return tree


def event_time(event: JSONObject) -> str:
    """Return when the event was last seen, as a timestamp."""
    series, metadata = event.get("series"), event.get("metadata")
    times: list[JSON] = [
        series.get("lastObservedTime") if isinstance(series, dict) else None,
        event.get("lastTimestamp"),
        event.get("eventTime"),
        event.get("firstTimestamp"),
        metadata.get("creationTimestamp") if isinstance(metadata, dict) else None,
    ]
    return next((each for each in times if isinstance(each, str) and each), "")


def event_row(event: JSONObject, now: datetime) -> list[object]:
    """Return the cells of an event, in the order of EVENT_HEADERS."""
    about = event.get("involvedObject")
    subject = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}" if isinstance(about, dict) else ""
    count = event.get("count")
    repeated = f" (x{count})" if isinstance(count, int) and count > 1 else ""
    return [
        age_of(event_time(event), now) + repeated,
        event.get("type"),
        event.get("reason"),
        subject,
        str(event.get("message", "")).strip(),
    ]
