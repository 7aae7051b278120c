"""Generates pods like those of a real cluster: 3 to 60 KB, 4.5 on average, all different, the same in every run."""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.replay.managed_fields import entry, fields_of

__all__ = ["pod", "pod_list", "pods"]

_CREATED = "2026-01-02T03:04:05Z"
_UNSCHEDULABLE = {
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/300 nodes are available: 300 Insufficient cpu. preemption: 0/300 nodes are available: "
    "300 No preemption victims found for incoming pod.",
}
_TOKEN = "kube-api-access"
_ADMITTED = {
    "nodeName",
    "preemptionPolicy",
    "priority",
    "serviceAccount",
    "serviceAccountName",
    "tolerations",
    "volumes",
}
"""Fields that admission writes, which have no manager."""


@dataclass(frozen=True)
class _Traits:
    """How pods differ: most run, some are unschedulable; some are minimal, some have many options."""

    app: str
    is_running: bool
    is_bare: bool
    has_token: bool
    has_proxy: bool
    options: int


_PROXY = _Traits("proxy", is_running=True, is_bare=False, has_token=False, has_proxy=False, options=0)


def pods(count: int, *, seed: int = 1) -> list[dict[str, Any]]:
    """A number of different pods."""
    rng = random.Random(seed)
    return [pod(index, rng) for index in range(count)]


def pod_list(count: int) -> bytes:
    """The response body of a list of `count` pods."""
    content = {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": str(1_000_000 + count)},
        "items": pods(count),
    }
    return json.dumps(content, separators=(",", ":")).encode()


def pod(index: int, rng: random.Random) -> dict[str, Any]:
    """One pod of a deployment."""
    traits = _Traits(
        app=f"app-{index % 40}",
        is_running=rng.random() < 0.75,
        is_bare=rng.random() < 0.7,
        has_token=rng.random() < 0.3,
        has_proxy=rng.random() < 0.05,
        options=rng.randrange(3, 15) if rng.random() < 0.15 else 0,
    )
    metadata, status = _metadata(index, traits.app, rng), _status(index, traits)
    metadata["managedFields"] = _managed_fields(metadata, traits, status)
    if rng.random() < 0.005:  # a few pods are much larger
        size = rng.randrange(5_000, 55_000)
        metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = '{"a":"b"}' * (size // 13)
    return {"metadata": metadata, "spec": _spec(index, traits, rng), "status": status}


# --- Metadata ---------------------------------------------------------------------------------------------------------


def _metadata(index: int, app: str, rng: random.Random) -> dict[str, Any]:
    template = f"{index % 400:08x}"
    return {
        "name": f"{app}-{template}-{index:05x}",
        "generateName": f"{app}-{template}-",
        "namespace": f"team-{index % 50}",
        "uid": _uid(rng),
        "resourceVersion": str(1_000_000 + index),
        "generation": 1,
        "creationTimestamp": _CREATED,
        "labels": {"app": app, "pod-template-hash": template, "team": f"team-{index % 50}"},
        "annotations": {"checksum/config": f"{rng.getrandbits(128):032x}"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{app}-{template}",
                "uid": _uid(rng),
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def _managed_fields(metadata: dict[str, Any], traits: _Traits, status: dict[str, Any]) -> list[dict[str, Any]]:
    """Entries of the controller that created the pod, and of its kubelet or, if it is unschedulable, the scheduler."""
    owner = fields_of(metadata["ownerReferences"], "ownerReferences")
    made = {"f:metadata": {**_managed_metadata(), "f:ownerReferences": owner}, "f:spec": _managed_spec(traits)}
    seen = _managed_status(traits.is_running)
    if traits.is_running:
        seen = {**seen, "f:podIPs": fields_of(status["podIPs"], "podIPs")}
    return [
        entry("kube-controller-manager", made),
        entry("kubelet" if traits.is_running else "kube-scheduler", {"f:status": seen}, subresource="status"),
    ]


# Cached: most of this is the same in all pods with the same traits, and up to 100,000 pods are generated.


@cache
def _managed_metadata() -> dict[str, Any]:
    metadata = _metadata(0, "", random.Random(0))
    return fields_of({name: metadata[name] for name in ("annotations", "generateName", "labels")}, "metadata")


@cache
def _managed_spec(traits: _Traits) -> dict[str, Any]:
    """The fields that the controller wrote: without the node and the fields that admission adds."""
    spec = _spec(0, traits, random.Random(0))
    for container in spec["containers"]:
        container.pop("volumeMounts", None)
    return fields_of({name: value for name, value in spec.items() if name not in _ADMITTED}, "spec")


@cache
def _managed_status(is_running: bool) -> dict[str, Any]:  # noqa: FBT001  # the only parameter
    status = _status(0, _Traits("", is_running, is_bare=True, has_token=False, has_proxy=False, options=0))
    if not is_running:
        return fields_of({"conditions": status["conditions"]}, "status")
    written = {name: value for name, value in status.items() if name != "qosClass"}
    # The scheduler wrote the last condition; the others are sorted by name.
    written["conditions"] = sorted(status["conditions"][:-1], key=lambda each: str(each["type"]))
    return fields_of(written, "status")


def _uid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


# --- Spec and status --------------------------------------------------------------------------------------------------


def _spec(index: int, traits: _Traits, rng: random.Random) -> dict[str, Any]:
    containers = [_container(traits, f"registry.example.com/team/{traits.app}:v1.{index % 9}", rng)]
    if traits.has_proxy:
        containers.append(_container(_PROXY, "registry.example.com/mesh/proxy:1.22.3", rng))
    node = {"nodeName": f"node-{index % 300}"} if traits.is_running else {}
    return (
        (_token_volume() if traits.has_token else {})
        | node
        | {
            "containers": containers,
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "serviceAccount": "default",
            "securityContext": {},
            "schedulerName": "default-scheduler",
            "tolerations": [
                {
                    "key": "node.kubernetes.io/not-ready",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
            ],
            "priority": 0,
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
        }
    )


def _container(traits: _Traits, image: str, rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": traits.app,
        "image": image,
        "ports": [_port(traits)],
        "env": [{"name": "LOG_LEVEL", "value": "info"}],
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }
    for number in range(traits.options):
        made["env"].append({"name": f"OPTION_{number}", "value": f"{rng.getrandbits(64):x}"})
    if not traits.is_bare:
        made["resources"] = {"limits": {"memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "128Mi"}}
        made["livenessProbe"] = _probe()
    if traits.has_token:
        place = "/var/run/secrets/kubernetes.io/serviceaccount"
        made["volumeMounts"] = [{"name": _TOKEN, "readOnly": True, "mountPath": place}]
    return made


def _port(traits: _Traits) -> dict[str, Any]:
    name, number = ("mesh", 15001) if traits is _PROXY else ("http", 8080)
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def _probe() -> dict[str, Any]:
    return {
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def _token_volume() -> dict[str, Any]:
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
            }
        },
    ]
    return {"volumes": [{"name": _TOKEN, "projected": {"sources": sources, "defaultMode": 420}}]}


def _status(index: int, traits: _Traits) -> dict[str, Any]:
    if not traits.is_running:
        return {
            "phase": "Pending",
            "conditions": [_condition("PodScheduled") | _UNSCHEDULABLE],
            "qosClass": "Burstable",
        }
    address, host = f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}", f"192.168.0.{index % 250}"
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    names = (traits.app, _PROXY.app) if traits.has_proxy else (traits.app,)
    return {
        "phase": "Running",
        "conditions": [_condition(kind) for kind in kinds],
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": _CREATED,
        "containerStatuses": [_container_status(name, index) for name in names],
        "qosClass": "Burstable",
    }


def _condition(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _CREATED}


def _container_status(name: str, index: int) -> dict[str, Any]:
    return {
        "name": name,
        "state": {"running": {"startedAt": _CREATED}},
        "lastState": {},
        "ready": True,
        "restartCount": 0,
        "image": f"registry.example.com/team/app:v1.{index % 9}",
        "imageID": f"registry.example.com/team/app@sha256:{index:064x}",
        "containerID": f"containerd://{index:064x}",
        "started": True,
    }
