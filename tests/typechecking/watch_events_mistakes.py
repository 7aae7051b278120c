# pyright: strict
"""Each statement in here is a mistake that type checkers see."""

from listwatch.client import AddedEvent, ErrorEvent, WatchEvent
from listwatch.models.core_v1 import Pod, Secret


def compared(event: WatchEvent[Pod], failed: ErrorEvent) -> None:
    print(event.type == "CREATED")  # no such type
    print(event.ends_initial_events)  # only bookmarks have it
    print(event.object.data)  # a Pod has no data
    event.object = Pod()  # events are frozen
    added: AddedEvent[Secret] = AddedEvent(Pod())
    print(failed.error.nmae, added)
