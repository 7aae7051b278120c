# pyright: strict
"""The types of watch events. Type checkers read this file; it is not run."""

from typing import Literal, assert_never, assert_type

import listwatch as lw
from listwatch.client import (
    AddedEvent,
    BookmarkEvent,
    DeletedEvent,
    ErrorEvent,
    ModifiedEvent,
    UndecodableEvent,
    WatchEvent,
)
from listwatch.models.core_v1 import Pod


async def by_type(client: lw.ClientSet) -> None:
    async for event in client.core_v1.pods("default").watch():
        assert_type(event, WatchEvent[Pod])
        assert_type(event.type, Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"])
        if event.type == "ADDED":
            assert_type(event, AddedEvent[Pod])
        elif event.type == "BOOKMARK":
            assert_type(event, BookmarkEvent[Pod])
            assert_type(event.ends_initial_events, bool)
        else:
            assert_type(event, ModifiedEvent[Pod] | DeletedEvent[Pod])
        assert_type(event.object.spec.node_name, str | None)


async def by_class(client: lw.ClientSet) -> None:
    async with client.core_v1.pods("default").watch() as stream:
        async for batch in stream.batches():
            for event in batch:
                match event:
                    case AddedEvent(pod) | ModifiedEvent(pod) | DeletedEvent(pod):
                        assert_type(pod, Pod)
                    case BookmarkEvent():
                        assert_type(event.resource_version, str)
                    case ErrorEvent():
                        assert_type(event.type, Literal["ERROR"])
                        assert_type(event.error, lw.errors.APIError)
                    case UndecodableEvent():
                        assert_type(event.type, Literal["UNDECODABLE"])
                        assert_type(event.error, lw.errors.DecodeError)
                    case _:
                        assert_never(event)
