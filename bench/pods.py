"""Pods like those of a real cluster: 3 to 60 KB of JSON each, 4.5 on average, all different, the same in every run."""

from __future__ import annotations

import json
import random
import uuid
from typing import Any

__all__ = ["pod", "pod_list", "pods"]

_CREATED = "2026-01-02T03:04:05Z"


def pods(count: int, *, seed: int = 1) -> list[dict[str, Any]]:
    """So many different pods."""
    dice = random.Random(seed)
    return [pod(index, dice) for index in range(count)]


def pod_list(count: int) -> bytes:
    """The answer of a server to a list of so many pods."""
    content = {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": str(1_000_000 + count)},
        "items": pods(count),
    }
    return json.dumps(content, separators=(",", ":")).encode()


def pod(index: int, dice: random.Random) -> dict[str, Any]:
    """One running pod of a deployment."""
    app = f"app-{index % 40}"
    made = {
        "metadata": _metadata(index, app, _uid(dice), dice),
        "spec": _spec(index, app),
        "status": _status(index),
    }
    _vary(made, dice)
    return made


def _vary(made: dict[str, Any], dice: random.Random) -> None:
    """Few pods are average: some are started by hand, some have much to configure, some a sidecar, some an essay."""
    metadata, (main, *_) = made["metadata"], made["spec"]["containers"]
    if dice.random() < 0.40:
        del metadata["managedFields"][1], main["livenessProbe"], main["volumeMounts"], made["spec"]["volumes"]
    if dice.random() < 0.30:
        main["env"] += [
            {"name": f"OPTION_{number}", "value": f"{dice.getrandbits(64):x}"}
            for number in range(dice.randrange(3, 15))
        ]
    if dice.random() < 0.10:
        made["spec"]["containers"].append(main | {"name": "proxy", "image": "registry.example.com/mesh/proxy:1.22.3"})
        made["status"]["containerStatuses"] *= 2
    if dice.random() < 0.005:
        size = dice.randrange(5_000, 55_000)
        metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = '{"a":"b"}' * (size // 13)


def _metadata(index: int, app: str, owner: str, dice: random.Random) -> dict[str, Any]:
    template = f"{index % 400:08x}"
    return {
        "name": f"{app}-{template}-{index:05x}",
        "generateName": f"{app}-{template}-",
        "namespace": f"team-{index % 50}",
        "uid": _uid(dice),
        "resourceVersion": str(1_000_000 + index),
        "generation": 1,
        "creationTimestamp": _CREATED,
        "labels": {"app": app, "tier": "front", "pod-template-hash": template, "team": f"team-{index % 50}"},
        "annotations": {"prometheus.io/scrape": "true", "checksum/config": f"{dice.getrandbits(128):032x}"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{app}-{template}",
                "uid": owner,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [
            _managed("kube-controller-manager", _FIELDS_OF_CONTROLLER | {f'k:{{"uid":"{owner}"}}': {}}),
            _managed("kubelet", _FIELDS_OF_KUBELET) | {"subresource": "status"},
        ],
    }


def _spec(index: int, app: str) -> dict[str, Any]:
    return {
        "volumes": [
            {
                "name": "kube-api-access",
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                    ],
                    "defaultMode": 420,
                },
            }
        ],
        "containers": [
            {
                "name": app,
                "image": f"registry.example.com/team/{app}:v1.{index % 9}",
                "ports": [{"containerPort": 8080, "protocol": "TCP", "name": "http"}],
                "env": [
                    {"name": "LOG_LEVEL", "value": "info"},
                    {"name": "POD", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                ],
                "resources": {
                    "limits": {"cpu": "500m", "memory": "1Gi"},
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                },
                "volumeMounts": [
                    {
                        "name": "kube-api-access",
                        "readOnly": True,
                        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    }
                ],
                "livenessProbe": {
                    "httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                },
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "nodeName": f"node-{index % 300}",
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


def _status(index: int) -> dict[str, Any]:
    address = f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}"
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _CREATED}
            for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": f"192.168.0.{index % 250}",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": _CREATED,
        "containerStatuses": [
            {
                "name": f"app-{index % 40}",
                "state": {"running": {"startedAt": _CREATED}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": f"registry.example.com/team/app:v1.{index % 9}",
                "imageID": f"registry.example.com/team/app@sha256:{index:064x}",
                "containerID": f"containerd://{index:064x}",
                "started": True,
            }
        ],
        "qosClass": "Burstable",
    }


def _managed(manager: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": _CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _uid(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


def _owned(*names: str) -> dict[str, Any]:
    return {".": {}, **{f"f:{name}": {} for name in names}}


_FIELDS_OF_CONTROLLER = {
    "f:metadata": {
        "f:generateName": {},
        "f:labels": _owned("app", "tier", "pod-template-hash", "team"),
        "f:ownerReferences": {".": {}},
    },
    "f:spec": {
        "f:containers": {
            'k:{"name":"app"}': {
                **_owned("image", "imagePullPolicy", "name", "terminationMessagePath", "terminationMessagePolicy"),
                "f:env": {".": {}, 'k:{"name":"LOG_LEVEL"}': _owned("name", "value")},
                "f:ports": {".": {}, 'k:{"containerPort":8080,"protocol":"TCP"}': _owned("containerPort", "protocol")},
                "f:resources": {".": {}, "f:limits": _owned("cpu", "memory"), "f:requests": _owned("cpu", "memory")},
            }
        },
        **{f"f:{name}": {} for name in ("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName")},
    },
}
_FIELDS_OF_KUBELET = {
    "f:status": {
        "f:conditions": {
            f'k:{{"type":"{kind}"}}': _owned("lastProbeTime", "lastTransitionTime", "status", "type")
            for kind in ("ContainersReady", "Initialized", "Ready")
        },
        **{f"f:{name}": {} for name in ("containerStatuses", "hostIP", "phase", "podIP", "startTime")},
    }
}
