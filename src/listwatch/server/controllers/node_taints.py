"""Keeps the taints of nodes that follow from their conditions, and from being cordoned.

In a real cluster, kube-controller-manager does this, and also notices nodes without heartbeats, which this does not.
A simulated cluster has a controller for all of it, which replaces this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec

from listwatch.errors import APIError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import flag_at, objects_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import NOT_READY, timestamp
from listwatch.server.patch.patching import MERGE_PATCH
from listwatch.server.requests import APIRequest, Query, Response, User
from listwatch.server.storage.values import Event

__all__ = ["NodeTaints"]

_NODES = "/nodes"
_NAME = "node-controller"
_USER = User(f"system:serviceaccount:kube-system:{_NAME}", groups=("system:masters",))
_QUERY = Query.parse("fieldManager=kube-controller-manager")
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
# Taints by the type and the status of a condition.
_TAINTS = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): "node.kubernetes.io/unreachable",
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_MANAGED = {*_TAINTS.values(), _UNSCHEDULABLE}
_EFFECT = "NoSchedule"


class NodeTaints:
    """Writes the taints of a node after a change that they follow from."""

    def __init__(
        self, objects: ObjectStore, now: Callable[[], datetime], respond: Callable[[APIRequest], Response]
    ) -> None:
        self._objects = objects
        self._now = now
        self._respond = respond
        self._resource = objects.registry.by_storage_id(_NODES)
        self._pending: dict[str, None] = {}
        objects.storage.subscribe(self._on_event, resource=_NODES)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def recover(self) -> None:
        """Schedule all nodes of a storage that was used before."""
        for stored in self._objects.storage.scan(_NODES):
            self._pending[stored.key.name] = None

    def run_pending(self) -> None:
        """Write the taints of the nodes that events concern."""
        pending, self._pending = self._pending, {}
        for name in pending:
            if stored := self._objects.storage.get(_NODES, ObjectKey("", name)):
                self._process(name, decode_stored(stored))

    def _on_event(self, event: Event) -> None:
        if event.type != "DELETED":
            self._pending[event.key.name] = None

    def _process(self, name: str, node: JSONObject) -> None:
        present = objects_at(node, "spec", "taints")
        wanted = [*dict.fromkeys(_wanted_taints(node))]
        kept = [each for each in present if not _is_managed(each) or text_at(each, "key") in wanted]
        known = {text_at(each, "key") for each in kept if _is_managed(each)}
        time = timestamp(self._now())
        added: list[JSONObject] = [
            {"key": key, "effect": _EFFECT, "timeAdded": time} for key in wanted if key not in known
        ]
        if added or len(kept) != len(present):
            taints: list[JSON] = [*kept, *added]
            self._patch(name, {"spec": {"taints": taints or None}})

    def _patch(self, name: str, patch: JSONObject) -> None:
        request = APIRequest(
            "patch",
            self._resource,
            name=name,
            query=_QUERY,
            body=msgspec.json.encode(patch),
            content_type=MERGE_PATCH,
            user=_USER,
            method="PATCH",
        )
        try:
            self._respond(request)
        except APIError:  # admission rejects it; the next change of the node is another attempt
            return


def _wanted_taints(node: JSONObject) -> Iterator[str]:
    for condition in objects_at(node, "status", "conditions"):
        if taint := _TAINTS.get((text_at(condition, "type"), text_at(condition, "status"))):
            yield taint
    if flag_at(node, "spec", "unschedulable"):
        yield _UNSCHEDULABLE


def _is_managed(taint: JSONObject) -> bool:
    return text_at(taint, "effect") == _EFFECT and text_at(taint, "key") in _MANAGED
