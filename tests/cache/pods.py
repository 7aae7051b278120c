"""Pods to put into caches."""

from listwatch.cache.deltas import AddedDelta, DeletedDelta, UpdatedDelta
from listwatch.cache.keys import key_of
from listwatch.models.core_v1 import Pod


def pod(name, version=1, *, namespace="default", node=None, labels=None, **rest):
    metadata = {"name": name, "namespace": namespace, "resourceVersion": str(version), "labels": labels or {}}
    spec = {"nodeName": node} if node else {}
    return Pod.from_dict({"metadata": metadata, "spec": {**spec, **rest}})


def added(item):
    return AddedDelta(item, key=key_of(item))


def updated(item):
    return UpdatedDelta(item, key=key_of(item))


def deleted(item):
    return DeletedDelta(item, key=key_of(item))


def lost(key, item=None):
    """A deletion that was missed."""
    return DeletedDelta(item, final_state_known=False, key=key)


def names(items):
    return sorted(item.name for item in items)
