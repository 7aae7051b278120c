"""Compares a server, over HTTP, with a simple model: a dictionary, and a list of its events.

Every watch must send a part of that list without gaps, in order and each event once, whatever else happens; every list
must equal the dictionary at the version of the list.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from tests.server.caller import Caller

from listwatch.server.api_server import APIServer
from listwatch.testing.clocks import VirtualClock

T = TypeVar("T")

NAMESPACES = ["default", "kube-public"]
APPS = ["web", "api"]

TIMEOUT = 30.0

Key = tuple[str, str]
keys = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(["a", "b", "c"]))
apps = st.sampled_from(APPS)
values = st.sampled_from(["1", "2"])
moments = st.integers(0, 12)


class Thing(NamedTuple):
    """A ConfigMap, as the model knows it."""

    app: str
    value: str
    version: int


class Change(NamedTuple):
    """A write: what was there before it and after."""

    revision: int
    key: Key
    before: Thing | None
    after: Thing | None


class Selection(NamedTuple):
    """What a list or watch selects."""

    namespace: str | None
    app: str | None

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps" if self.namespace else "/api/v1/configmaps"

    @property
    def query(self) -> str:
        return "labelSelector=" + quote(f"app={self.app}" if self.app else "app")

    def includes(self, key: Key, thing: Thing | None) -> bool:
        return thing is not None and self.namespace in (None, key[0]) and self.app in (None, thing.app)

    def of(self, things: dict[Key, Thing]) -> dict[Key, Thing]:
        return {key: thing for key, thing in sorted(things.items()) if self.includes(key, thing)}

    def event_of(self, change: Change) -> tuple[str, Key, Thing] | None:
        """The event of a change in a watch of a selection."""
        was, is_ = self.includes(change.key, change.before), self.includes(change.key, change.after)
        if is_ and change.after:
            return "MODIFIED" if was else "ADDED", change.key, change.after
        if was and change.before:
            return "DELETED", change.key, change.before._replace(version=change.revision)
        return None


selections = st.builds(Selection, st.sampled_from([None, *NAMESPACES]), st.sampled_from([None, *APPS]))


@dataclass
class Watching:
    """A watch that is open, and where it is."""

    selection: Selection
    response: aiohttp.ClientResponse
    version: int
    unread: list[tuple[str, Key, Thing]]


@dataclass
class Paging:
    """A list that is being read page by page."""

    selection: Selection
    revision: int
    token: str
    rest: dict[Key, Thing]


def thing_in(item: Any) -> tuple[Key, Thing]:
    metadata = item["metadata"]
    thing = Thing(metadata["labels"]["app"], item["data"]["value"], int(metadata["resourceVersion"]))
    return (metadata["namespace"], metadata["name"]), thing


def body_of(key: Key, app: str, value: str, version: str = "") -> dict[str, Any]:
    metadata = {"name": key[1], "labels": {"app": app}, "resourceVersion": version}
    return {"metadata": metadata, "data": {"value": value}}


class Server(RuleBasedStateMachine):
    """A server and a model of it, to which the same happens."""

    keeps_data = False

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.runner = asyncio.Runner()
        self.things: dict[Key, Thing] = {}
        self.log: list[Change] = []
        self.watches: list[Watching] = []
        self.lists: list[Paging] = []
        self.start()
        self.compacted = self.server.storage.compacted_revision
        self.states: dict[int, dict[Key, Thing]] = {self.compacted: {}}

    def start(self) -> None:
        self.server = APIServer(clock=VirtualClock(), data_dir=self.folder if self.keeps_data else None)
        self.run(self.server.start())
        self.clients = [Caller(self.server), Caller(self.server)]
        for client in self.clients:
            self.run(client.__aenter__())

    def stop(self) -> None:
        for watch in self.watches:
            watch.response.close()
        for client in self.clients:
            self.run(client.__aexit__())
        self.run(self.server.stop())

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run the event loop until the coroutine is done, or fail after a timeout."""
        return self.runner.run(asyncio.wait_for(coroutine, TIMEOUT))

    def teardown(self) -> None:
        try:
            for namespace in NAMESPACES:
                for app in APPS:
                    self.create((namespace, f"last-{app}"), app, "1")
            for number in range(len(self.watches)):
                self.read(number)
        finally:
            self.stop()
            self.runner.close()
            shutil.rmtree(self.folder)

    # --- Writes

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        # One client after the other.
        self.clients.append(self.clients.pop(0))
        reply = self.run(self.clients[0](method, path, body, **headers))
        return reply.status, reply.json

    def path(self, key: Key) -> str:
        return f"/api/v1/namespaces/{key[0]}/configmaps/{key[1]}"

    def happened(self, key: Key, after: Thing | None, revision: int) -> None:
        assert revision > max(self.states)
        change = Change(revision, key, self.things.pop(key, None), after)
        if after:
            self.things[key] = after
        self.log.append(change)
        self.states[revision] = dict(self.things)
        for watch in self.watches:
            if revision > watch.version and (event := watch.selection.event_of(change)):
                watch.unread.append(event)

    def written(self, key: Key, item: Any) -> None:
        found, thing = thing_in(item)
        assert found == key
        if thing != self.things.get(key):
            self.happened(key, thing, thing.version)

    @rule(key=keys, app=apps, value=values)
    def create(self, key: Key, app: str, value: str) -> None:
        status, item = self.call("POST", Selection(key[0], None).path, body_of(key, app, value))
        assert status == (409 if key in self.things else 201)
        if status == 201:
            self.written(key, item)

    @rule(key=keys, app=apps, value=values, version=st.sampled_from(["", "right", "stale"]))
    def update(self, key: Key, app: str, value: str, version: str) -> None:
        present = self.things.get(key)
        given = {"": "", "right": str(present.version if present else 1), "stale": "1"}[version]
        status, item = self.call("PUT", self.path(key), body_of(key, app, value, given))
        assert status == (404 if not present else 409 if version == "stale" else 200)
        if status == 200:
            assert (item["metadata"]["labels"]["app"], item["data"]["value"]) == (app, value)
            self.written(key, item)

    @rule(key=keys, app=apps)
    def patch(self, key: Key, app: str) -> None:
        patch = {"metadata": {"labels": {"app": app}}}
        status, item = self.call("PATCH", self.path(key), patch, Content_Type="application/merge-patch+json")
        assert status == (200 if key in self.things else 404)
        if status == 200:
            assert item["data"]["value"] == self.things[key].value
            self.written(key, item)

    @rule(key=keys)
    def delete(self, key: Key) -> None:
        status, _ = self.call("DELETE", self.path(key))
        assert status == (200 if key in self.things else 404)
        if status == 200:
            self.happened(key, None, self.server.revision)

    @rule(namespace=st.sampled_from(NAMESPACES), app=st.none() | apps)
    def delete_collection(self, namespace: str, app: str | None) -> None:
        selection = Selection(namespace, app)
        doomed = selection.of(self.things)
        before = self.server.revision
        status, listed = self.call("DELETE", f"{selection.path}?{selection.query}")
        assert status == 200
        assert dict(map(thing_in, listed["items"])) == doomed
        for number, key in enumerate(doomed, start=1):
            self.happened(key, None, before + number)

    @rule()
    def compact(self) -> None:
        self.server.compact()
        self.compacted = self.server.revision

    # --- Lists

    def state_at(self, revision: int) -> dict[Key, Thing]:
        return self.states[max(each for each in self.states if each <= revision)]

    @rule(selection=selections)
    def list_now(self, selection: Selection) -> None:
        status, listed = self.call("GET", f"{selection.path}?{selection.query}")
        assert status == 200
        assert listed["metadata"]["resourceVersion"] == str(self.server.revision)
        assert dict(map(thing_in, listed["items"])) == selection.of(self.things)

    @rule(selection=selections, back=moments)
    def list_at(self, selection: Selection, back: int) -> None:
        revision = max(self.server.revision - back, 1)
        query = f"{selection.query}&resourceVersion={revision}&resourceVersionMatch=Exact"
        status, listed = self.call("GET", f"{selection.path}?{query}")
        if revision < self.compacted:
            assert (status, listed["reason"]) == (410, "Expired")
        else:
            assert listed["metadata"]["resourceVersion"] == str(revision)
            assert dict(map(thing_in, listed["items"])) == selection.of(self.state_at(revision))

    @rule(selection=selections, limit=st.integers(1, 3))
    def begin_pages(self, selection: Selection, limit: int) -> None:
        status, listed = self.call("GET", f"{selection.path}?{selection.query}&limit={limit}")
        assert status == 200
        revision = int(listed["metadata"]["resourceVersion"])
        self.turn_page(Paging(selection, revision, "", selection.of(self.things)), listed)

    @precondition(lambda self: self.lists)
    @rule(limit=st.integers(1, 3), number=st.integers(0, 9))
    def go_on_with_pages(self, limit: int, number: int) -> None:
        paging = self.lists.pop(number % len(self.lists))
        query = f"{paging.selection.query}&limit={limit}&continue={paging.token}"
        status, listed = self.call("GET", f"{paging.selection.path}?{query}")
        if paging.revision < self.compacted:
            assert (status, listed["reason"]) == (410, "Expired")
            return
        assert listed["metadata"]["resourceVersion"] == str(paging.revision)
        self.turn_page(paging, listed)

    def turn_page(self, paging: Paging, listed: Any) -> None:
        expected = iter(list(paging.rest.items()))
        for item in listed["items"]:
            key, thing = thing_in(item)
            assert (key, thing) == next(expected)
            del paging.rest[key]
        paging.token = listed["metadata"].get("continue", "")
        if paging.token:
            self.lists.append(paging)
        else:
            assert paging.rest == {}

    # --- Watches

    @rule(selection=selections)
    def watch_all(self, selection: Selection) -> None:
        response = self.open(selection, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0")
        unread = [("ADDED", key, thing) for key, thing in selection.of(self.things).items()]
        self.watches.append(Watching(selection, response, self.server.revision, unread))

    @rule(selection=selections, back=moments)
    def watch_after(self, selection: Selection, back: int) -> None:
        self.watch_from(selection, max(self.server.revision - back, 1))

    def watch_from(self, selection: Selection, version: int) -> None:
        response = self.open(selection, f"resourceVersion={version}")
        if version < self.compacted:
            assert json.loads(self.run(response.content.readline()))["object"]["code"] == 410
            assert self.run(response.content.readline()) == b""
            return
        events = (selection.event_of(change) for change in self.log if change.revision > version)
        self.watches.append(Watching(selection, response, version, [event for event in events if event]))

    def open(self, selection: Selection, query: str) -> aiohttp.ClientResponse:
        url = f"{self.server.url}{selection.path}?watch=1&{selection.query}&{query}"

        async def get() -> aiohttp.ClientResponse:
            return await self.clients[0].session.get(aiohttp.client.URL(url, encoded=True))

        return self.run(get())

    @precondition(lambda self: self.watches)
    @rule(number=st.integers(0, 9))
    def read(self, number: int) -> None:
        watch = self.watches[number % len(self.watches)]
        for event in watch.unread:
            line = json.loads(self.run(watch.response.content.readline()))
            assert (line["type"], *thing_in(line["object"])) == event
            watch.version = max(watch.version, event[2].version)
        watch.unread.clear()

    @precondition(lambda self: self.watches)
    @rule(number=st.integers(0, 9))
    def lose_and_resume(self, number: int) -> None:
        """The client disconnects, and resumes from the last version that it received."""
        watch = self.watches.pop(number % len(self.watches))
        watch.response.close()
        self.watch_from(watch.selection, watch.version)


class KeptServer(Server):
    """The same on disk, with restarts."""

    keeps_data = True

    @rule()
    def restart(self) -> None:
        self.stop()
        lost, self.watches = self.watches, []
        self.start()
        for watch in lost:
            self.watch_from(watch.selection, watch.version)


@pytest.mark.parametrize("machine", [Server, KeptServer])
def test_a_server_behaves_like_a_dictionary(machine: type[Server]):
    run_state_machine_as_test(
        machine, settings=settings(max_examples=settings.default.max_examples // 3, stateful_step_count=40)
    )
