"""An object whose tables are compared, and parts of such objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Tree = dict[str, Any]

LONG_AGO = "2020-02-03T04:05:06Z"
LATER = "2020-02-03T05:06:07Z"


@dataclass(frozen=True)
class Sample:
    """An object to create, and the status to give it. A deleted one has a finalizer, so that it stays."""

    version: str
    plural: str
    name: str
    fields: Tree
    status: Tree | None = None
    metadata: Tree = field(default_factory=dict)
    namespaced: bool = True
    deleted: bool = False

    def collection(self, namespace: str) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"

    def body(self) -> Tree:
        metadata = {"name": self.name, **self.metadata}
        if self.deleted:
            metadata["finalizers"] = ["example.com/hold"]
        return {"metadata": metadata, **self.fields}


def local(version: str, plural: str, name: str, status: Tree | None = None, **fields: Any) -> Sample:
    metadata, deleted = fields.pop("metadata", {}), fields.pop("deleted", False)
    return Sample(version, plural, name, fields, status, metadata, deleted=deleted)


def cluster(version: str, plural: str, name: str, status: Tree | None = None, **fields: Any) -> Sample:
    metadata, deleted = fields.pop("metadata", {}), fields.pop("deleted", False)
    return Sample(version, plural, name, fields, status, metadata, namespaced=False, deleted=deleted)


def condition(type_: str, status: str = "True", **more: Any) -> Tree:
    return {"type": type_, "status": status, **more}


def full_condition(type_: str, status: str = "True", **more: Any) -> Tree:
    return {
        "type": type_,
        "status": status,
        "reason": "Because",
        "message": "m",
        "lastTransitionTime": LONG_AGO,
        **more,
    }


CONTAINERS = [{"name": "web", "image": "web:1"}, {"name": "log", "image": "example.com/log:2"}]
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}
ONCE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "web"}}
LONG_SELECTOR = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "old", "operator": "DoesNotExist"},
        {"key": "app", "operator": "Exists"},
        {"key": "env", "operator": "NotIn", "values": ["test"]},
    ],
}
