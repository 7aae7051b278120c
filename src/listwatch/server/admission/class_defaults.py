"""Sets what new pods and claims get from classes: priorities of PriorityClasses, and the default StorageClass."""

from __future__ import annotations

from collections.abc import Callable, Collection

from listwatch.errors import ForbiddenError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind, ObjectKey
from listwatch.quantity import Quantity
from listwatch.server.admission.runtime_classes import RUNTIME_CLASS
from listwatch.server.json_tree import ensure_object, flag_at, integer_at, object_at, text_at, value_at
from listwatch.server.lifecycle.built_in_admission import Additions
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.storage.values import Event

__all__ = ["CLAIM_RESIZE", "CLASS_PLUGINS", "PRIORITY", "Priorities", "check_claim_resize", "with_class_defaults"]

PRIORITY, _STORAGE, _INGRESS = "Priority", "DefaultStorageClass", "DefaultIngressClass"
CLAIM_RESIZE = "PersistentVolumeClaimResize"
CLASS_PLUGINS = frozenset({PRIORITY, _STORAGE, _INGRESS, CLAIM_RESIZE, RUNTIME_CLASS})
"""The names of the plugins."""
_PRIORITY_CLASSES, _STORAGE_CLASSES = "scheduling.k8s.io/priorityclasses", "storage.k8s.io/storageclasses"
_IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_INGRESS_ANNOTATION = "kubernetes.io/ingress.class"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_PREEMPTION = "PreemptLowerPriority"


def with_class_defaults(additions: Additions, objects: ObjectStore, disabled: Collection[str]) -> Additions:
    """Return the additions with the default class of claims, unless its plugin is disabled."""
    found = {**additions}
    claim = GroupKind("", "PersistentVolumeClaim")
    if _STORAGE not in disabled:
        found[claim] = _after(_StorageClasses(objects).add, found.get(claim))
    if _INGRESS not in disabled:
        found[GroupKind("networking.k8s.io", "Ingress")] = _IngressClasses(objects).add
    return found


def _after(
    first: Callable[[JSONObject], None], second: Callable[[JSONObject], None] | None
) -> Callable[[JSONObject], None]:
    def add(new: JSONObject) -> None:
        first(new)
        if second:
            second(new)

    return add


class _Defaults:
    """Knows the default class among those of a resource."""

    def __init__(self, objects: ObjectStore, resource: str) -> None:
        self._objects = objects
        self._resource = resource
        self._default: JSONObject | None = None
        objects.storage.subscribe(self._on_event, resource=resource)
        self._update()

    def _on_event(self, _event: Event) -> None:
        self._update()

    def _update(self) -> None:
        stored = self._objects.storage.scan(self._resource)
        self._default = self._select([decode_stored(each) for each in stored])

    def _select(self, classes: list[JSONObject]) -> JSONObject | None:
        raise NotImplementedError


class Priorities(_Defaults):
    """The PriorityClasses, one of which may be the default."""

    def __init__(self, objects: ObjectStore) -> None:
        super().__init__(objects, _PRIORITY_CLASSES)

    def _select(self, classes: list[JSONObject]) -> JSONObject | None:
        defaults = [each for each in classes if flag_at(each, "globalDefault")]
        return min(defaults, key=lambda each: integer_at(each, "value"), default=None)

    def add(self, pod: JSONObject) -> None:
        """Set the priority of a pod, which is 0 without a class; raises ForbiddenError."""
        spec = ensure_object(pod, "spec")
        name = text_at(spec, "priorityClassName")
        found = self._objects.find(_PRIORITY_CLASSES, ObjectKey("", name)) if name else self._default
        if name and found is None:
            raise _forbidden(pod, f"no PriorityClass with name {name} was found")
        priority, policy = integer_at(found, "value"), text_at(found, "preemptionPolicy") or _PREEMPTION
        given = integer_at(spec, "priority", default=priority)
        computed = "priority admission controller computed"
        if given != priority:
            what = f"the integer value of priority ({given}) must not be provided in pod spec"
            raise _forbidden(pod, f"{what}; {computed} {priority} from the given PriorityClass name")
        if (text_at(spec, "preemptionPolicy") or policy) != policy:
            what = f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec"
            raise _forbidden(pod, f"{what}; {computed} {policy} from the given PriorityClass name")
        spec["priority"], spec["preemptionPolicy"] = priority, policy
        if found is not None:
            spec["priorityClassName"] = text_at(found, "metadata", "name")

    def check_default(self, priority_class: JSONObject) -> None:
        """Raise ForbiddenError for a default class if another one is the default."""
        name, default = text_at(priority_class, "metadata", "name"), text_at(self._default, "metadata", "name")
        if flag_at(priority_class, "globalDefault") and default not in ("", name):
            why = f"PriorityClass {default} is already marked as default. Only one default can exist"
            raise ForbiddenError.of("priorityclasses", name, why, group="scheduling.k8s.io")


class _StorageClasses(_Defaults):
    RESOURCE = _STORAGE_CLASSES
    IS_DEFAULT: tuple[str, ...] = _IS_DEFAULT

    def __init__(self, objects: ObjectStore) -> None:
        super().__init__(objects, self.RESOURCE)

    def _select(self, classes: list[JSONObject]) -> JSONObject | None:
        """Of several default classes, the newest one counts."""
        defaults = [each for each in classes if _is_default(each, self.IS_DEFAULT)]
        by_name = sorted(defaults, key=lambda each: text_at(each, "metadata", "name"))
        return max(by_name, key=lambda each: text_at(each, "metadata", "creationTimestamp"), default=None)

    def add(self, claim: JSONObject) -> None:
        spec = ensure_object(claim, "spec")
        has_class = "storageClassName" in spec or _CLASS_ANNOTATION in object_at(claim, "metadata", "annotations")
        if not has_class and (found := self._default):
            spec["storageClassName"] = text_at(found, "metadata", "name")


class _IngressClasses(_StorageClasses):
    """The IngressClasses; the default one is chosen as that of claims."""

    RESOURCE = "networking.k8s.io/ingressclasses"
    IS_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)

    def add(self, ingress: JSONObject) -> None:
        spec = ensure_object(ingress, "spec")
        has_class = "ingressClassName" in spec or _INGRESS_ANNOTATION in object_at(ingress, "metadata", "annotations")
        if not has_class and (found := self._default):
            spec["ingressClassName"] = text_at(found, "metadata", "name")


def check_claim_resize(new: JSONObject, old: JSONObject, objects: ObjectStore) -> None:
    """Raise ForbiddenError if a claim requests more than before, and its class does not allow that."""
    requested, before = (
        Quantity(str(value_at(each, "spec", "resources", "requests", "storage") or 0)) for each in (new, old)
    )
    if requested <= before:
        return
    why = ""
    annotated = text_at(object_at(new, "metadata", "annotations"), _CLASS_ANNOTATION)
    name = annotated or text_at(new, "spec", "storageClassName")
    if text_at(old, "status", "phase") != "Bound":
        why = "Only bound persistent volume claims can be expanded"
    elif not flag_at(objects.find(_STORAGE_CLASSES, ObjectKey("", name)) if name else None, "allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support"
        )
        why += " resize"
    if why:
        raise ForbiddenError.of("persistentvolumeclaims", text_at(new, "metadata", "name"), why)


def _is_default(tree: JSONObject, names: tuple[str, ...]) -> bool:
    annotations = object_at(tree, "metadata", "annotations")
    return any(annotations.get(name) == "true" for name in names)


def _forbidden(pod: JSONObject, why: str) -> ForbiddenError:
    name = text_at(pod, "metadata", "name") or text_at(pod, "metadata", "generateName")
    return ForbiddenError.of("pods", name, why)
