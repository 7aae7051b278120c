"""The plugin PodSecurity: rejects pods that violate the level of their namespace, or warns about them.

Templates of pods, such as those of Deployments, are checked for warnings only. The labels of namespaces are checked
too, and an update to a stricter level returns warnings about the pods that violate it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from listwatch.errors import ForbiddenError, InvalidError
from listwatch.json_value import JSONObject
from listwatch.server.json_tree import object_at, objects_at, text_at, value_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.pod_security.levels import PREFIX, LevelVersion, policy_of, strictness
from listwatch.server.requests import APIRequest
from listwatch.server.storage.values import Event

if TYPE_CHECKING:
    from listwatch.server.pod_security.checks import Violation

__all__ = ["POD_SECURITY", "PodSecurity"]

POD_SECURITY = "PodSecurity"
"""The name of the plugin."""

_NAMESPACES, _PODS = "/namespaces", "/pods"
_TEMPLATES = {
    "/podtemplates": ("template",),
    "/replicationcontrollers": ("spec", "template"),
    "apps/replicasets": ("spec", "template"),
    "apps/deployments": ("spec", "template"),
    "apps/statefulsets": ("spec", "template"),
    "apps/daemonsets": ("spec", "template"),
    "batch/jobs": ("spec", "template"),
    "batch/cronjobs": ("spec", "jobTemplate", "spec", "template"),
}
_IGNORED_SUBRESOURCES = frozenset(["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"])
_MAX_PODS = 3000
"""The pods that are checked when a namespace gets a stricter level."""


class PodSecurity:
    """Checks writes of namespaces, pods and templates of pods; `resources` has the storage ids of these."""

    resources = frozenset({_NAMESPACES, _PODS, *_TEMPLATES})

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._labels: dict[str, JSONObject] = {}
        """The labels of the namespaces that select a level."""
        objects.storage.subscribe(self._on_namespace, resource=_NAMESPACES)
        for stored in objects.storage.scan(_NAMESPACES):
            self._add(stored.key.name, decode_stored(stored))

    @property
    def namespaces(self) -> Container[str]:
        """The namespaces that select a level."""
        return self._labels

    def _on_namespace(self, event: Event) -> None:
        self._labels.pop(event.key.name, None)
        if event.type != "DELETED":
            self._add(event.key.name, decode_stored(event.stored))

    def _add(self, name: str, namespace: JSONObject) -> None:
        labels = object_at(namespace, "metadata", "labels")
        if any(label.startswith(PREFIX) for label in labels):
            self._labels[name] = labels

    def validate(self, storage_id: str, request: APIRequest, new: JSONObject, old: JSONObject | None) -> None:
        """Raise ForbiddenError or InvalidError, or add warnings to the request."""
        if storage_id == _NAMESPACES:
            if not request.subresource:
                self._check_namespace(request, new, old)
        elif not (labels := self._labels.get(request.namespace)):
            return
        elif storage_id != _PODS:
            template = value_at(new, *_TEMPLATES[storage_id])
            if not request.subresource and isinstance(template, dict):
                self._check_pod(request, labels, template, enforces=False)
        elif request.subresource not in _IGNORED_SUBRESOURCES and (old is None or _has_other_images(new, old)):
            self._check_pod(request, labels, new, enforces=True)

    # --- Pods

    def _check_pod(self, request: APIRequest, labels: JSONObject, pod: JSONObject, *, enforces: bool) -> None:
        policy, problems = policy_of(labels)
        annotations = request.audit_annotations
        if policy.is_privileged:
            if enforces and not problems:
                annotations[f"{PREFIX}enforce-policy"] = str(LevelVersion())
            return
        if problems:
            shown = "; ".join(f"{each.field}: {each.message}" for each in problems)
            annotations[f"{PREFIX}error"] = f"Failed to parse policy: {shown}"
        denied = self._violations(policy.enforce, pod) if enforces else []
        if enforces:
            annotations[f"{PREFIX}enforce-policy"] = str(policy.enforce)
        if audited := self._violations(policy.audit, pod):
            annotations[f"{PREFIX}audit-violations"] = f"would {_violates(policy.audit, audited)}"
        if denied:
            why = _violates(policy.enforce, denied).replace("violate", "violates", 1)
            raise ForbiddenError.of(request.resource.plural, text_at(pod, "metadata", "name"), why)
        if warned := self._violations(policy.warn, pod):
            request.warnings.append(f"would {_violates(policy.warn, warned)}")

    def _violations(self, level: LevelVersion, pod: JSONObject) -> list[Violation]:
        if level.level == "privileged":
            return []
        # Few servers have namespaces with a level.
        from listwatch.server.pod_security.checks import violations

        return violations(level, object_at(pod, "metadata"), object_at(pod, "spec"))

    # --- Namespaces

    def _check_namespace(self, request: APIRequest, new: JSONObject, old: JSONObject | None) -> None:
        labels = object_at(new, "metadata", "labels")
        policy, problems = policy_of(labels)
        before, old_problems = policy_of(object_at(old, "metadata", "labels"))
        name = text_at(new, "metadata", "name")
        if problems and problems != old_problems:
            raise InvalidError.of("Namespace", name, problems)
        wanted = policy.enforce
        if old is None or wanted == before.enforce or wanted.level == "privileged":
            return
        if wanted.minor == before.enforce.minor and strictness(wanted.level) <= strictness(before.enforce.level):
            return
        request.warnings += self._warnings_of_pods(name, wanted)

    def _warnings_of_pods(self, namespace: str, level: LevelVersion) -> Iterator[str]:
        """Yield what the pods of a namespace violate, each once."""
        found: dict[str, list[str]] = {}
        pods = self._pods(namespace)
        for pod in pods[:_MAX_PODS]:
            if violated := self._violations(level, pod):
                reasons = ", ".join(each.reason for each in violated)
                found.setdefault(reasons, []).append(text_at(pod, "metadata", "name"))
        if len(pods) > _MAX_PODS:
            count = f"the first {_MAX_PODS} of {len(pods)} existing pods"
            yield f"new PodSecurity enforce level only checked against {count}"
        if found:
            yield f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level "{level}"'
        yield from sorted(f"{_first(names)}: {reasons}" for reasons, names in found.items())

    def _pods(self, namespace: str) -> list[JSONObject]:
        """Return the pods of a namespace, those of the same controller after all others."""
        first: list[JSONObject] = []
        others: list[JSONObject] = []
        controllers: set[str] = set()
        for stored in self._objects.storage.scan(_PODS, namespace=namespace):
            pod = decode_stored(stored)
            owners = objects_at(pod, "metadata", "ownerReferences")
            uid = next((text_at(each, "uid") for each in owners if each.get("controller")), "")
            (others if uid in controllers else first).append(pod)
            if uid:
                controllers.add(uid)
        return first + others


def _violates(level: LevelVersion, found: list[Violation]) -> str:
    return f'violate PodSecurity "{level}": {", ".join(map(str, found))}'


def _first(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other {'pod' if others == 1 else 'pods'})"


def _has_other_images(new: JSONObject, old: JSONObject) -> bool:
    """Whether an update of a pod changes what the checks depend on; the other fields cannot be changed."""
    for kind in ("containers", "initContainers"):
        found, before = ([text_at(each, "image") for each in objects_at(pod, "spec", kind)] for pod in (new, old))
        if found != before:
            return True
    images = {text_at(each, "name"): text_at(each, "image") for each in objects_at(old, "spec", "ephemeralContainers")}
    added = objects_at(new, "spec", "ephemeralContainers")
    return any(images.get(text_at(each, "name")) != text_at(each, "image") for each in added)
