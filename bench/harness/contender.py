"""The interface of a contender: one library, used as its documentation recommends. See `bench/contenders/`.

A contender module defines `READER`, which reads its pods, and those of the following that the library supports:

    client(url)                 asynchronous context manager of a `Client`
    informer(url, on_object)    asynchronous context manager of a `Cache`. It is entered when the cache is synced and
                                `on_object` was called for every object; `on_object` is then called for each change

If `informer` also takes a `resource`, `OTHER_READERS` reads the objects of resources other than pods.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "CAMEL_CASE_READER",
    "DICT_READER",
    "OTHER_DICT_READERS",
    "SNAKE_CASE_READER",
    "Cache",
    "Client",
    "ObjectReader",
    "OnObject",
]

OnObject = Callable[[Any], Any]


@dataclass(frozen=True)
class ObjectReader:
    """How a handler reads an object: its metadata, something of every part of it, its annotations."""

    read_metadata: OnObject
    read_all: OnObject
    annotations: Callable[[Any], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Client:
    """Reads pods. Operations that the library does not support are None."""

    pods: Callable[[], Awaitable[Iterable[Any]]]
    changes: Callable[[], AsyncGenerator[Any]] | None = None
    pod: Callable[[], Awaitable[Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Cache:
    """Reads an informer's cache."""

    keys: Callable[[], list[tuple[str, str]]]
    by_key: Callable[[str, str], Any] | None = None
    by_index: Callable[[str], Any] | None = None
    by_label: Callable[[str, str], Any] | None = None
    touch: Callable[[str, str], Any] | None = None
    """Reads an object by key, and something of its spec."""
    settle: Callable[[], Awaitable[object]] | None = None
    """Waits until background work on the objects of the list is done."""


# --- Readers of models and of dicts -----------------------------------------------------------------------------------


def _read_model_metadata(pod: Any) -> Any:
    metadata = pod.metadata
    return metadata.name, metadata.namespace, metadata.labels


def _read_all_of_model(pod: Any) -> Any:
    managed = [entry.manager for entry in pod.metadata.managedFields or ()]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.nodeName, pod.spec.volumes, pod.status.podIP


def _read_all_of_python_model(pod: Any) -> Any:
    managed = [entry.manager for entry in pod.metadata.managed_fields or ()]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.node_name, pod.spec.volumes, pod.status.pod_ip


def _read_dict_metadata(pod: Any) -> Any:
    metadata = pod["metadata"]
    return metadata["name"], metadata["namespace"], metadata["labels"]


def _read_all_of_dict(pod: Any) -> Any:
    spec, status = pod["spec"], pod["status"]
    managed = [entry["manager"] for entry in pod["metadata"]["managedFields"]]
    containers = [(each["image"], each["env"], each["ports"], each["resources"]) for each in spec["containers"]]
    conditions = [each["type"] for each in status["conditions"]]
    return managed, containers, conditions, spec.get("nodeName"), spec.get("volumes"), status.get("podIP")


def _read_all_of_data(found: Any) -> Any:
    managed = [entry["manager"] for entry in found["metadata"]["managedFields"]]
    return managed, list(found["data"].items()), found.get("type")


def _read_all_of_widget(found: Any) -> Any:
    managed = [entry["manager"] for entry in found["metadata"]["managedFields"]]
    parts = [(each["name"], each["weight"], each["tags"]) for each in found["spec"]["parts"]]
    return managed, parts, found["status"]["phase"]


def _dict_annotations(found: Any) -> Mapping[str, str]:
    annotations: Mapping[str, str] = found["metadata"]["annotations"]
    return annotations


CAMEL_CASE_READER = ObjectReader(_read_model_metadata, _read_all_of_model, lambda pod: pod.metadata.annotations)
"""For models with the API's field names."""
SNAKE_CASE_READER = ObjectReader(_read_model_metadata, _read_all_of_python_model, lambda pod: pod.metadata.annotations)
"""For models with snake_case field names."""
DICT_READER = ObjectReader(_read_dict_metadata, _read_all_of_dict, _dict_annotations)
"""For decoded JSON."""
OTHER_DICT_READERS = {
    "configmaps": ObjectReader(_read_dict_metadata, _read_all_of_data, _dict_annotations),
    "secrets": ObjectReader(_read_dict_metadata, _read_all_of_data, _dict_annotations),
    "widgets": ObjectReader(_read_dict_metadata, _read_all_of_widget, _dict_annotations),
}
"""For decoded JSON of other resources than pods."""
