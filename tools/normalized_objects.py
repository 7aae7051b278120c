"""Objects without what differs from run to run, so that those of two clusters can be compared."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["normalized", "sort_key"]

_VOLATILE = {
    *("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "observedGeneration"),
    *("lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime", "startTime", "startedAt"),
    *("finishedAt", "completionTime", "podIP", "podIPs", "hostIP", "hostIPs", "ip", "addresses", "nodeName"),
    *("containerID", "clusterIP", "clusterIPs", "kubernetes.io/hostname", "qosClass"),
    *("batch.kubernetes.io/controller-uid", "controller-uid"),
    *("lastScheduleTime", "lastSuccessfulTime", "batch.kubernetes.io/cronjob-scheduled-timestamp"),
}
_NAME = re.compile(r"(?<![a-z0-9])[bcdfghjklmnpqrstvwxz2456789]{5,10}(?![a-z0-9])")


_MINUTES = re.compile(r"(?<=tick-)\d+")
"""The scheduled time in the name of a Job."""


def sort_key(value: Any) -> str:
    """A text that is the same for equal trees."""
    return json.dumps(value, sort_keys=True)


def normalized(value: Any, key: str = "") -> Any:
    """A value without what differs from run to run: times, uids, addresses, hashes and generated names."""
    if isinstance(value, dict):
        kept = {name: normalized(each, name) for name, each in value.items() if name not in _VOLATILE}
        if key == "nodeAffinity":
            return "pinned to a node"
        return kept
    if isinstance(value, list):
        trees = [normalized(each, key) for each in value]
        return sorted(trees, key=sort_key) if key in ("conditions", "endpoints") else trees
    if isinstance(value, str):
        return _MINUTES.sub("MINUTES", _NAME.sub("HASH", value))
    return value
