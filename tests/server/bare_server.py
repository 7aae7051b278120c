"""The server without HTTP and with a fixed clock: takes requests as values, and returns trees."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from listwatch.errors import APIError
from listwatch.server.access.access import Access
from listwatch.server.access.service_account_tokens import ServiceAccountTokens
from listwatch.server.access.signing_keys import SharedSecret
from listwatch.server.codec.representations import Representation, encode_response
from listwatch.server.controllers.garbage_collector import GarbageCollector
from listwatch.server.controllers.owner_graph import StorageKey
from listwatch.server.lifecycle.object_store import ObjectStore
from listwatch.server.lifecycle.strategy import Environment
from listwatch.server.protocol.routes import read_target, route
from listwatch.server.requests import Admission, APIRequest, Response
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event
from listwatch.server.verbs.pipeline import Pipeline

Tree = Any

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MERGE_PATCH = "application/merge-patch+json"

_REGISTRY = Registry.builtin()


class BareServer:
    """Responds to requests, and runs the garbage collector after those made with `call`."""

    def __init__(
        self,
        *,
        suffixes: Sequence[str] = (),
        admission: Sequence[Admission] = (),
        storage: Storage | None = None,
        namespaces: Sequence[str] = ("default",),
    ) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.storage = storage or Storage()
        self.events: list[Event] = []
        self.rejected: list[tuple[StorageKey, APIError]] = []
        self.storage.subscribe(self.events.append)
        counter = itertools.count()
        made = itertools.chain(suffixes, (f"{number:05}" for number in itertools.count()))
        environment = Environment(lambda: self.now, lambda: f"uid-{next(counter)}", lambda: next(made))
        self.objects = ObjectStore(self.storage, _REGISTRY, builtin_schema())
        self.identities = Access({}, new_token=lambda: "token")
        key = SharedSecret(b"secret")
        self.identities.service_accounts = ServiceAccountTokens(lambda: key, self.objects.find, lambda: self.now)
        self.pipeline = Pipeline(self.objects, environment, identities=self.identities, admission=admission)
        self.garbage_collector = GarbageCollector(
            self.objects,
            self.pipeline.deleter,
            now=lambda: self.now,
            on_rejected=lambda place, error: self.rejected.append((place, error)),
        )
        for name in namespaces:
            self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.events.clear()

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def request(self, method: str, target: str, body: Tree, content_type: str) -> APIRequest:
        data = b"" if body is None else msgspec.json.encode(body)
        found = route(read_target(method, target), _REGISTRY, headers={"Content-Type": content_type}, body=data)
        assert isinstance(found, APIRequest)
        return found

    def respond(
        self, method: str, target: str, body: Tree = None, *, content_type: str = "application/json"
    ) -> Response:
        """Raises the APIError that would be sent."""
        try:
            return self.pipeline.respond(self.request(method, target, body, content_type))
        finally:
            self.storage.sync()

    def call(self, method: str, target: str, body: Tree = None, *, content_type: str = "application/json") -> Tree:
        """Return the response as a tree, after the garbage collector has run."""
        response = self.respond(method, target, body, content_type=content_type)
        self.garbage_collector.run_pending()
        return msgspec.json.decode(encode_response(response, Representation()))

    def get(self, path: str) -> Tree:
        return self.call("GET", path)

    def create(self, path: str, name: str, **fields: Tree) -> Tree:
        metadata = {"name": name, **fields.pop("metadata", {})}
        return self.call("POST", path, {"metadata": metadata, **fields})

    def patch(self, path: str, changes: Tree) -> Tree:
        return self.call("PATCH", path, changes, content_type=MERGE_PATCH)

    def delete(self, path: str, **options: Tree) -> Tree:
        return self.call("DELETE", path, options or None)

    def names(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.get(path)["items"]]

    def published(self) -> list[tuple[str, str]]:
        """Return the types and names of the events since the last call."""
        events = [(event.type, event.key.name) for event in self.events]
        self.events.clear()
        return events


def owner(tree: Tree, **more: Tree) -> Tree:
    """A reference to an object as the owner of another."""
    identity = {name: tree["metadata"][name] for name in ("name", "uid")}
    return {"apiVersion": tree["apiVersion"], "kind": tree["kind"], **identity, **more}
