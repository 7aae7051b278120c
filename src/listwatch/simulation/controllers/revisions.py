"""The ControllerRevisions of StatefulSets and DaemonSets: the history of their templates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import msgspec

from listwatch.controller.object_fields.owners import owner_reference
from listwatch.controller.reconcile.context import ReconcileContext
from listwatch.errors import AlreadyExistsError, NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.models.apps_v1 import ControllerRevision, DaemonSet, StatefulSet
from listwatch.simulation.controllers.pod_control import owner_index, template_hash

__all__ = ["HASH_LABEL", "Revisions"]

HASH_LABEL = "controller-revision-hash"
_HASHES = {"StatefulSet": "controller.kubernetes.io/hash", "DaemonSet": HASH_LABEL}
"""The labels of revisions with their hashes, by the kind of the set."""


@dataclass(slots=True)
class Revisions:
    """The revisions of one set: the history, the newest last, and the one of the current template."""

    history: list[ControllerRevision]
    update: ControllerRevision
    collisions: int

    @classmethod
    async def of(cls, owner: StatefulSet | DaemonSet, context: ReconcileContext[StatefulSet | DaemonSet]) -> Revisions:
        """Read the revisions of a set; one is created for a template that is new, or moved to the end."""
        history = sorted(
            context.indexer(ControllerRevision).by_index(owner_index, owner.uid),
            key=lambda each: (each.revision, str(each.metadata.creation_timestamp), each.name),
        )
        template: JSONObject = owner.to_dict()["spec"]["template"]
        # With sorted names, as the real controllers write it: clients compare the bytes.
        encoded = msgspec.json.encode({"spec": {"template": {**template, "$patch": "replace"}}}, order="deterministic")
        data: JSONObject = msgspec.json.decode(encoded)
        client = context.client.apps_v1.controllerrevisions(owner.namespace)
        latest = history[-1].revision if history else 0
        collisions = owner.status.collision_count or 0
        for each in history:
            if each.to_dict().get("data") == data:
                if each is not history[-1]:
                    each = await client.patch(each.name, {"revision": latest + 1}, type="merge")
                return cls(history, each, collisions)
        while True:
            name_hash = template_hash(encoded, collisions)
            body: JSONObject = {
                "metadata": {
                    "name": f"{owner.name[:223]}-{name_hash}",
                    "labels": {**owner.spec.template.metadata.labels, _HASHES[owner.kind]: name_hash},
                    "annotations": {**owner.metadata.annotations},
                    "ownerReferences": [owner_reference(owner).to_dict()],
                },
                "data": data,
                "revision": latest + 1,
            }
            try:
                return cls(history, await client.create(body), collisions)
            except AlreadyExistsError:
                collisions += 1

    @property
    def update_hash(self) -> str:
        """The hash of the current template."""
        return next((self.update.labels[name] for name in _HASHES.values() if name in self.update.labels), "")

    def named(self, name: str | None) -> ControllerRevision:
        """The revision with this name, or that of the current template."""
        return next((each for each in self.history if each.name == name), self.update)

    @staticmethod
    def template_of(revision: ControllerRevision) -> JSONObject:
        """The template that a revision keeps."""
        template: JSON = revision.to_dict()["data"]["spec"]["template"]
        assert isinstance(template, dict)
        return {name: value for name, value in template.items() if name != "$patch"}

    async def truncate(
        self, limit: int, live: Collection[str], context: ReconcileContext[StatefulSet | DaemonSet]
    ) -> None:
        """Delete the oldest revisions that no pod has, until `limit` of them are left."""
        unused = [each for each in self.history if each.name not in live and each.name != self.update.name]
        for each in unused[: max(0, len(unused) - limit)]:
            try:
                await context.client.apps_v1.controllerrevisions(each.namespace).delete(each.name, uid=each.uid)
            except NotFoundError:
                continue
