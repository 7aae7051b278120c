"""What a contender can do: one library, used as its own documentation does. `contenders/` has one module for each.

A module says how pods are read (`READING`), and has those of these that the library can do:

    client(url)           asynchronous context manager of a `Client`
    informer(url, see)    asynchronous context manager of a `Cache`, which is entered when all objects are held and
                          `see` has seen them; from then on `see` is called with each change

One whose informer takes a `resource` too says in `OTHERS` how those other than pods are read.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["DICTS", "MODELS", "OTHER_DICTS", "PYTHON_MODELS", "Cache", "Client", "Reading", "See"]

See = Callable[[Any], Any]


@dataclass(frozen=True)
class Reading:
    """How a handler reads an object: a glance at its metadata; a look at every part; what its annotations are."""

    glance: See
    touch: See
    annotations: Callable[[Any], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Client:
    """Reads pods; whoever takes no part in a discipline leaves it out."""

    pods: Callable[[], Awaitable[Iterable[Any]]]
    changes: Callable[[], AsyncGenerator[Any]] | None = None
    pod: Callable[[], Awaitable[Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Cache:
    """Reads what an informer holds."""

    keys: Callable[[], list[tuple[str, str]]]
    by_key: Callable[[str, str], Any] | None = None
    by_index: Callable[[str], Any] | None = None
    by_label: Callable[[str, str], Any] | None = None


# --- Three ways in which libraries give an object ---------------------------------------------------------------------


def _glance_at_model(pod: Any) -> Any:
    metadata = pod.metadata
    return metadata.name, metadata.namespace, metadata.labels


def _touch_model(pod: Any) -> Any:
    managed = [entry.manager for entry in pod.metadata.managedFields or ()]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.nodeName, pod.spec.volumes, pod.status.podIP


def _touch_python_model(pod: Any) -> Any:
    managed = [entry.manager for entry in pod.metadata.managed_fields or ()]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.node_name, pod.spec.volumes, pod.status.pod_ip


def _glance_at_dict(pod: Any) -> Any:
    metadata = pod["metadata"]
    return metadata["name"], metadata["namespace"], metadata["labels"]


def _touch_dict(pod: Any) -> Any:
    spec, status = pod["spec"], pod["status"]
    managed = [entry["manager"] for entry in pod["metadata"]["managedFields"]]
    containers = [(each["image"], each["env"], each["ports"], each["resources"]) for each in spec["containers"]]
    conditions = [each["type"] for each in status["conditions"]]
    return managed, containers, conditions, spec.get("nodeName"), spec.get("volumes"), status.get("podIP")


def _touch_data(found: Any) -> Any:
    managed = [entry["manager"] for entry in found["metadata"]["managedFields"]]
    return managed, list(found["data"].items()), found.get("type")


def _touch_widget(found: Any) -> Any:
    managed = [entry["manager"] for entry in found["metadata"]["managedFields"]]
    parts = [(each["name"], each["weight"], each["tags"]) for each in found["spec"]["parts"]]
    return managed, parts, found["status"]["phase"]


def _dict_annotations(found: Any) -> Mapping[str, str]:
    annotations: Mapping[str, str] = found["metadata"]["annotations"]
    return annotations


MODELS = Reading(_glance_at_model, _touch_model, lambda pod: pod.metadata.annotations)
"""Classes with the API's own names."""
PYTHON_MODELS = Reading(_glance_at_model, _touch_python_model, lambda pod: pod.metadata.annotations)
"""Classes with names as Python has them."""
DICTS = Reading(_glance_at_dict, _touch_dict, _dict_annotations)
"""What a JSON library makes of it."""
OTHER_DICTS = {
    "configmaps": Reading(_glance_at_dict, _touch_data, _dict_annotations),
    "secrets": Reading(_glance_at_dict, _touch_data, _dict_annotations),
    "widgets": Reading(_glance_at_dict, _touch_widget, _dict_annotations),
}
"""The same for what is no pod."""
