"""Compares the pipeline, without HTTP, with a dictionary: every verb, finalizers, dry runs, lists and watches.

`test_server_model` does the same over HTTP with fewer verbs and real connections.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.server.bare_server import CONFIG_MAPS, MERGE_PATCH, BareServer, Tree

from listwatch.errors import AlreadyExistsError, APIError, ConflictError, ExpiredError, NotFoundError
from listwatch.meta import GroupResource
from listwatch.selectors import FieldSelector, LabelSelector
from listwatch.server.codec.representations import Representation
from listwatch.server.protocol.field_selectors import Selection
from listwatch.server.storage.values import RevisionCompactedError
from listwatch.server.watch.watch_feed import Feeds, Reader

HOLD = "example.com/hold"

names = st.sampled_from(["a", "b", "c", "d"])
apps = st.sampled_from(["web", "api", ""])
values = st.sampled_from(["1", "2", "3"])
moments = st.integers(0, 8)
choices = st.integers(0, 99)


class Thing(NamedTuple):
    """A ConfigMap, as the model knows it."""

    version: int
    app: str
    value: str
    is_held: bool = False
    is_ending: bool = False


class Observed(NamedTuple):
    """An event of a watch."""

    type: str
    name: str
    thing: Thing


class Change(NamedTuple):
    """One write: what was there before it and after."""

    revision: int
    name: str
    before: Thing | None
    after: Thing | None

    def observed(self, app: str | None) -> Observed | None:
        """The event of a watch that selects an app, or everything."""
        was, is_ = (thing is not None and app in (None, thing.app) for thing in (self.before, self.after))
        if is_ and self.after:
            return Observed("MODIFIED" if was else "ADDED", self.name, self.after)
        if was and self.before:
            return Observed("DELETED", self.name, self.before._replace(version=self.revision))
        return None


class Watching(NamedTuple):
    """A watch, and the events that it has not sent yet."""

    app: str | None
    reader: Reader
    unread: list[Observed]


def read(item: Tree) -> tuple[str, Thing]:
    metadata = item["metadata"]
    return metadata["name"], Thing(
        version=int(metadata["resourceVersion"]),
        app=metadata.get("labels", {}).get("app", ""),
        value=item["data"]["value"],
        is_held="finalizers" in metadata,
        is_ending="deletionTimestamp" in metadata,
    )


class Core(RuleBasedStateMachine):
    """The server's core and a dictionary, to which the same happens."""

    def __init__(self) -> None:
        super().__init__()
        self.server = BareServer()
        self.feeds = Feeds(self.server.storage, self.server.objects.encode)
        self.things: dict[str, Thing] = {}
        self.log: list[Change] = []
        self.watches: list[Watching] = []
        self.begun = self.compacted = self.server.storage.revision

    # --- Writes

    def happened(self, name: str, after: Thing | None) -> None:
        """One write, at the next revision."""
        revision = self.log[-1].revision + 1 if self.log else self.begun + 1
        after = after and after._replace(version=revision)
        change = Change(revision, name, self.things.pop(name, None), after)
        if after:
            self.things[name] = after
        self.log.append(change)
        for watch in self.watches:
            if event := change.observed(watch.app):
                watch.unread.append(event)

    def refused(self, expected: type[APIError], request: Callable[[], Any]) -> None:
        try:
            request()
        except expected:
            return
        raise AssertionError(f"this should have been refused with {expected.__name__}")

    @rule(name=names, app=apps, value=values, is_held=st.booleans(), dry=st.booleans())
    def create(self, name: str, app: str, value: str, is_held: bool, dry: bool) -> None:
        metadata = {"name": name, "labels": {"app": app} if app else {}, "finalizers": [HOLD] * is_held}
        path = f"{CONFIG_MAPS}?dryRun=All" if dry else CONFIG_MAPS

        def request() -> Tree:
            return self.server.call("POST", path, {"metadata": metadata, "data": {"value": value}})

        if name in self.things:
            self.refused(AlreadyExistsError, request)
            return
        response = request()
        if not dry:
            self.happened(name, Thing(0, app, value, is_held))
            assert read(response) == (name, self.things[name])

    @rule(name=names, app=apps, value=values, version=st.sampled_from(["", "right", "stale"]), dry=st.booleans())
    def update(self, name: str, app: str, value: str, version: str, dry: bool) -> None:
        present = self.things.get(name)
        metadata: Tree = {"name": name, "labels": {"app": app} if app else {}}
        metadata["finalizers"] = [HOLD] * (present is not None and present.is_held)
        if version:
            metadata["resourceVersion"] = str(present.version if present and version == "right" else 1)
        path = f"{CONFIG_MAPS}/{name}" + "?dryRun=All" * dry

        def request() -> Tree:
            return self.server.call("PUT", path, {"metadata": metadata, "data": {"value": value}})

        if present is None:
            self.refused(NotFoundError, request)
        elif version == "stale":
            self.refused(ConflictError, request)
        else:
            response = request()
            self.changed(name, present._replace(app=app, value=value), dry=dry)
            if not dry:
                assert read(response) == (name, self.things[name])

    @rule(name=names, value=values, app=st.none() | apps)
    def patch(self, name: str, value: str, app: str | None) -> None:
        present = self.things.get(name)
        labels = {} if app is None else {"metadata": {"labels": {"app": app or None}}}

        def request() -> Tree:
            body = {"data": {"value": value}, **labels}
            return self.server.call("PATCH", f"{CONFIG_MAPS}/{name}", body, content_type=MERGE_PATCH)

        if present is None:
            self.refused(NotFoundError, request)
            return
        response = request()
        self.changed(name, present._replace(value=value, app=present.app if app is None else app))
        assert read(response) == (name, self.things[name])

    @rule(name=names)
    def release(self, name: str) -> None:
        """Remove the finalizer, which may complete a deletion."""
        present = self.things.get(name)
        if present is None:
            return
        self.server.patch(f"{CONFIG_MAPS}/{name}", {"metadata": {"finalizers": None}})
        if present.is_ending:
            self.happened(name, None)
        else:
            self.changed(name, present._replace(is_held=False))

    def changed(self, name: str, after: Thing, *, dry: bool = False) -> None:
        """A write without changes has no event."""
        if not dry and after != self.things[name]:
            self.happened(name, after)

    @rule(name=names, dry=st.booleans(), uid=st.sampled_from(["", "wrong"]))
    def delete(self, name: str, dry: bool, uid: str) -> None:
        options: Tree = {"dryRun": ["All"] * dry, **({"preconditions": {"uid": uid}} if uid else {})}

        def request() -> Tree:
            return self.server.call("DELETE", f"{CONFIG_MAPS}/{name}", options)

        if name not in self.things:
            self.refused(NotFoundError, request)
        elif uid:
            self.refused(ConflictError, request)
        else:
            request()
            self.deleted(name, dry=dry)

    def deleted(self, name: str, *, dry: bool = False) -> None:
        present = self.things[name]
        if not dry and not present.is_ending:
            self.happened(name, present._replace(is_ending=True) if present.is_held else None)

    @rule(app=apps)
    def delete_collection(self, app: str) -> None:
        doomed = [name for name, thing in sorted(self.things.items()) if thing.app == app]
        selector = f"app={app}" if app else "!app"
        listed = self.server.call("DELETE", f"{CONFIG_MAPS}?labelSelector={selector}")
        assert [item["metadata"]["name"] for item in listed["items"]] == doomed
        for name in doomed:
            self.deleted(name)

    @rule(back=moments)
    def compact(self, back: int) -> None:
        revision = max(self.server.storage.revision - back, self.compacted)
        self.server.storage.compact(revision)
        self.compacted = revision

    # --- Lists

    def state_at(self, revision: int) -> dict[str, Thing]:
        state: dict[str, Thing] = {}
        for change in self.log:
            if change.revision > revision:
                break
            state.pop(change.name, None)
            if change.after:
                state[change.name] = change.after
        return dict(sorted(state.items()))

    @invariant()
    def a_list_is_the_model(self) -> None:
        listed = self.server.get(CONFIG_MAPS)
        assert int(listed["metadata"]["resourceVersion"]) == self.server.storage.revision
        assert list(map(read, listed["items"])) == sorted(self.things.items())

    @rule(back=moments, limit=st.integers(1, 3))
    def list_then(self, back: int, limit: int) -> None:
        """All pages of a list at a revision."""
        revision = max(self.server.storage.revision - back, self.begun)
        query = f"limit={limit}&resourceVersion={revision}&resourceVersionMatch=Exact"
        if revision < self.compacted:
            self.refused(ExpiredError, lambda: self.server.get(f"{CONFIG_MAPS}?{query}"))
            return
        found = []
        while query:
            page = self.server.get(f"{CONFIG_MAPS}?{query}")
            assert page["metadata"]["resourceVersion"] == str(revision)
            found += map(read, page["items"])
            token = page["metadata"].get("continue")
            query = token and f"limit={limit}&continue={token}"
        assert found == list(self.state_at(revision).items())

    # --- Watches

    @rule(app=st.none() | st.sampled_from(["web", "api"]), back=moments)
    def watch(self, app: str | None, back: int) -> None:
        storage, revision = self.server.storage, max(self.server.storage.revision - back, self.begun)
        try:
            past = storage.events("/configmaps", after=revision)
        except RevisionCompactedError:
            assert revision < self.compacted
            return
        resource = self.server.objects.registry.lookup("", "v1", "configmaps")
        assert resource is not None
        labels = LabelSelector.parse(f"app={app}" if app else "")
        selection = Selection(GroupResource("", "configmaps"), "default", labels, FieldSelector())
        view = self.feeds.view(resource, selection, Representation())
        reader = self.feeds.reader("/configmaps", view, lambda: None, after=revision, past=past)
        unread = [event for change in self.log if change.revision > revision and (event := change.observed(app))]
        self.watches.append(Watching(app, reader, unread))

    @precondition(lambda self: self.watches)
    @rule(which=choices, size=st.sampled_from([1, 300, 1 << 20]))
    def read_some(self, which: int, size: int) -> None:
        watch = self.watches[which % len(self.watches)]
        for line in watch.reader.take(size):
            event = msgspec.json.decode(line)
            assert Observed(event["type"], *read(event["object"])) == watch.unread.pop(0)

    def teardown(self) -> None:
        for number, watch in enumerate(self.watches):
            self.read_some(number, 1 << 30)
            assert watch.unread == []


def test_the_pipeline_behaves_like_a_dictionary():
    run_state_machine_as_test(Core, settings=settings(stateful_step_count=50))
