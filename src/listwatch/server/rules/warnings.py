"""Warnings about objects that are valid, but probably contain mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from listwatch.json_value import JSONObject
from listwatch.meta import GroupKind
from listwatch.quantity import Quantity
from listwatch.server.json_tree import object_at, text_at, value_at
from listwatch.server.rules.workloads.pods import new_pod_warnings, pod_warnings

__all__ = ["OBJECT_WARNINGS"]

Warn = Callable[[JSONObject, JSONObject | None], Iterator[str]]
"""Yields the warnings about a written object; the old object is None for a new one."""


def _quota(quota: JSONObject, old: JSONObject | None) -> Iterator[str]:
    """Requests never exceed limits, so a quota for requests that is larger cannot be used up."""
    hard = object_at(quota, "spec", "hard") if old is None else {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        names = (f"requests.{name}", name) if name in ("cpu", "memory") else (f"requests.{name}",)
        requested, limited = next((each for each in names if each in hard), ""), f"limits.{name}"
        if not requested or limited not in hard:
            continue
        request, limit = (Quantity(text_at(hard, each)) for each in (requested, limited))
        if request > limit:
            yield f"ResourceQuota {requested} ({request}) should be less than {limited} ({limit})"


def _workload(*path: str) -> Warn:
    """For a kind with the template of a pod at this path; updates that change only the metadata yield no warnings."""

    def warn(tree: JSONObject, old: JSONObject | None) -> Iterator[str]:
        if old is None or value_at(tree, "metadata", "generation") != value_at(old, "metadata", "generation"):
            yield from pod_warnings(object_at(tree, *path, "spec"), ".".join((*path, "spec")))

    return warn


OBJECT_WARNINGS: Mapping[GroupKind, Warn] = {
    GroupKind("", "ResourceQuota"): _quota,
    GroupKind("", "Pod"): new_pod_warnings,
    GroupKind("", "ReplicationController"): _workload("spec", "template"),
    **{
        GroupKind("apps", kind): _workload("spec", "template")
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
    },
    GroupKind("batch", "Job"): _workload("spec", "template"),
    GroupKind("batch", "CronJob"): _workload("spec", "jobTemplate", "spec", "template"),
}
