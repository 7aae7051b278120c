"""What the server adds to an object once, when it is made: for kinds whose beginning is more than its defaults.

`defaulting` fills in what is missing at any time; this comes after it, when the object has its name and uid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from listwatch.quantity import Quantity
from listwatch.server.json_tree import children

__all__ = ["complete_changed", "complete_new"]

Map = dict[str, Any]

_FIVE_MINUTES = 300
_NODE_TROUBLES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_COMPUTED = ("cpu", "memory")


def complete_changed(tree: Map, old: Map) -> None:
    """Puts back, in place, what the server sees to at every change: an update may have come without it."""
    if (tree["apiVersion"], tree["kind"]) != ("v1", "Pod"):
        return
    spec = tree.setdefault("spec", {})
    for name in ("priority", "preemptionPolicy"):
        if name in old["spec"]:
            spec.setdefault(name, old["spec"][name])
    _tolerate_troubles(spec)


def complete_new(tree: Map) -> None:
    """Completes, in place, an object that is about to be stored for the first time; again if it gets another name."""
    group = tree["apiVersion"].rpartition("/")[0]
    if complete := _BEGINNINGS.get((group, tree["kind"])):
        complete(tree)


def _namespace(namespace: Map) -> None:
    # Whoever empties the namespace takes the finalizer away, and no update may put it back.
    spec, metadata = namespace.setdefault("spec", {}), namespace["metadata"]
    spec["finalizers"] = list(dict.fromkeys([*spec.get("finalizers", ()), "kubernetes"]))
    metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata.get("name", "")


def _job(job: Map) -> None:
    """A job finds its pods by its own uid, unless it was told otherwise."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    own = {"controller-uid": metadata["uid"], "job-name": metadata.get("name", "")}
    labels = own | {f"batch.kubernetes.io/{name}": value for name, value in own.items()}
    template = spec.setdefault("template", {}).setdefault("metadata", {})
    given, inherited = metadata.get("labels"), template.get("labels")
    template["labels"] = {**(inherited or {}), **labels}
    # The real server has one set of labels for both, where it has not copied the job to try out a name.
    if given is None or (given is inherited and not metadata.get("generateName")):
        metadata["labels"] = template["labels"]
    selected = spec.setdefault("selector", {}).setdefault("matchLabels", {})
    selected["batch.kubernetes.io/controller-uid"] = metadata["uid"]


def _pod(pod: Map) -> None:
    spec = pod["spec"]
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    _tolerate_troubles(spec)
    pod["status"] = {"phase": "Pending", "qosClass": _quality_of_service(spec)}


def _tolerate_troubles(spec: Map) -> None:
    """A pod stays for five minutes on a node that is in trouble."""
    tolerations = spec.get("tolerations", [])
    for trouble in _NODE_TROUBLES:
        if not any(_tolerates(toleration, trouble) for toleration in tolerations):
            tolerations.append(
                {"key": trouble, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _FIVE_MINUTES}
            )
    spec["tolerations"] = tolerations


def _tolerates(toleration: Map, trouble: str) -> bool:
    return toleration.get("key", "") in ("", trouble) and toleration.get("effect", "") in ("", "NoExecute")


def _quality_of_service(spec: Map) -> str:
    guaranteed, burstable = True, False
    for container in [*children(spec, "containers"), *children(spec, "initContainers")]:
        resources = container.get("resources", {})
        limits, requests = _computed(resources, "limits"), _computed(resources, "requests")
        burstable = burstable or bool(limits or requests)
        guaranteed = guaranteed and limits.keys() == {*_COMPUTED} and limits == requests
    return "Guaranteed" if guaranteed else "Burstable" if burstable else "BestEffort"


def _computed(resources: Map, name: str) -> dict[str, Quantity]:
    found = {key: Quantity(value) for key, value in resources.get(name, {}).items() if key in _COMPUTED}
    return {key: quantity for key, quantity in found.items() if quantity > 0}


_BEGINNINGS: Mapping[tuple[str, str], Callable[[Map], None]] = {
    ("", "Namespace"): _namespace,
    ("", "Pod"): _pod,
    ("batch", "Job"): _job,
}
