"""Sets what new pods get from their RuntimeClass: the overhead, a node selector and tolerations."""

from __future__ import annotations

from listwatch.errors import ForbiddenError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.quantity import parse_quantity
from listwatch.server.json_tree import copied, ensure_object, list_at, object_at, text_at
from listwatch.server.lifecycle.object_store import ObjectStore

__all__ = ["RUNTIME_CLASS", "RuntimeClasses"]

RUNTIME_CLASS = "RuntimeClass"
"""The name of the plugin."""

_RUNTIME_CLASSES = "node.k8s.io/runtimeclasses"


class RuntimeClasses:
    """Looks up the RuntimeClass of each new pod."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def add(self, pod: JSONObject) -> None:
        """Raises ForbiddenError."""
        spec = object_at(pod, "spec")
        found: JSONObject | None = None
        if name := text_at(spec, "runtimeClassName"):
            found = self._objects.find(_RUNTIME_CLASSES, ObjectKey("", name))
            if found is None:
                raise _forbidden(pod, f'pod rejected: RuntimeClass "{name}" not found')
        if found is not None and "overhead" in found:
            self._set_overhead(pod, found)
        elif spec.get("overhead"):
            what = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise _forbidden(pod, f"pod rejected: {what}")
        if found is not None:
            self._set_scheduling(pod, object_at(found, "scheduling"))

    def _set_overhead(self, pod: JSONObject, runtime_class: JSONObject) -> None:
        spec, defined = ensure_object(pod, "spec"), object_at(runtime_class, "overhead", "podFixed")
        given = object_at(spec, "overhead")
        if given and _amounts(given) != _amounts(defined):
            raise _forbidden(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        if defined:
            spec["overhead"] = copied(defined)

    def _set_scheduling(self, pod: JSONObject, scheduling: JSONObject) -> None:
        spec = ensure_object(pod, "spec")
        for key, value in object_at(scheduling, "nodeSelector").items():
            selector = ensure_object(spec, "nodeSelector")
            if (given := selector.get(key, value)) != value:
                what = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {given}"
                raise _forbidden(pod, f"conflict: {what}")
            selector[key] = value
        present = list_at(spec, "tolerations")
        if added := [copied(each) for each in list_at(scheduling, "tolerations") if each not in present]:
            spec["tolerations"] = [*present, *added]


def _amounts(resources: JSONObject) -> dict[str, object]:
    return {name: parse_quantity(str(amount)) for name, amount in resources.items()}


def _forbidden(pod: JSONObject, why: str) -> ForbiddenError:
    name = text_at(pod, "metadata", "name") or text_at(pod, "metadata", "generateName")
    return ForbiddenError.of("pods", name, why)
