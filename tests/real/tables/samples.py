"""Objects of all kinds in many states, whose tables are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Tree = dict[str, Any]

LONG_AGO = "2020-02-03T04:05:06Z"
LATER = "2020-02-03T05:06:07Z"


@dataclass(frozen=True)
class Sample:
    """An object to create, and the status to give it. A deleted one has a finalizer, so that it stays."""

    version: str
    plural: str
    name: str
    fields: Tree
    status: Tree | None = None
    metadata: Tree = field(default_factory=dict)
    namespaced: bool = True
    deleted: bool = False

    def collection(self, namespace: str) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"

    def body(self) -> Tree:
        metadata = {"name": self.name, **self.metadata}
        if self.deleted:
            metadata["finalizers"] = ["example.com/hold"]
        return {"metadata": metadata, **self.fields}


def local(version: str, plural: str, name: str, status: Tree | None = None, **fields: Any) -> Sample:
    metadata, deleted = fields.pop("metadata", {}), fields.pop("deleted", False)
    return Sample(version, plural, name, fields, status, metadata, deleted=deleted)


def cluster(version: str, plural: str, name: str, status: Tree | None = None, **fields: Any) -> Sample:
    metadata, deleted = fields.pop("metadata", {}), fields.pop("deleted", False)
    return Sample(version, plural, name, fields, status, metadata, namespaced=False, deleted=deleted)


def condition(type_: str, status: str = "True", **more: Any) -> Tree:
    return {"type": type_, "status": status, **more}


def full_condition(type_: str, status: str = "True", **more: Any) -> Tree:
    return {
        "type": type_,
        "status": status,
        "reason": "Because",
        "message": "m",
        "lastTransitionTime": LONG_AGO,
        **more,
    }


CONTAINERS = [{"name": "web", "image": "web:1"}, {"name": "log", "image": "example.com/log:2"}]
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}
ONCE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "web"}}
LONG_SELECTOR = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "old", "operator": "DoesNotExist"},
        {"key": "app", "operator": "Exists"},
        {"key": "env", "operator": "NotIn", "values": ["test"]},
    ],
}


# --- Pods -------------------------------------------------------------------------------------------------------------


def ended(code: int, **more: Any) -> Tree:
    return {"terminated": {"exitCode": code, "startedAt": LONG_AGO, "finishedAt": LATER, **more}}


def state(name: str, now: Tree | None = None, last: Tree | None = None, **more: Any) -> Tree:
    found = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0, **more}
    return {**found, "state": now or {}, "lastState": last or {}}


RUNNING = {"running": {"startedAt": LONG_AGO}}
WAITING = {"waiting": {"reason": "CrashLoopBackOff"}}


def pod(
    name: str,
    *statuses: Tree,
    phase: str = "Running",
    init: list[Tree] | None = None,
    spec: Tree | None = None,
    deleted: bool = False,
    **status: Any,
) -> Sample:
    """A pod with two containers and two init containers, the second of which may be a sidecar."""
    given = {"phase": phase, "containerStatuses": list(statuses), **status}
    if init is not None:
        given["initContainerStatuses"] = init
    initial = [{"name": "first", "image": "i"}, {"name": "side", "image": "i", "restartPolicy": "Always"}]
    containers = {"containers": CONTAINERS, "initContainers": initial if init is not None else []}
    return local("v1", "pods", name, given, spec={**containers, **(spec or {})}, deleted=deleted)


DONE = state("first", ended(0))
SIDE = state("side", RUNNING, started=True, ready=True, restartCount=3, last=None)
READY = [state("web", RUNNING, ready=True), state("log", RUNNING, ready=True)]

PODS = [
    pod("pending", phase="Pending"),
    pod("running", *READY, podIPs=[{"ip": "10.1.2.3"}, {"ip": "fd00::1"}], podIP="10.1.2.3", spec={"nodeName": "n1"}),
    pod("half", state("web", RUNNING, ready=True), state("log", RUNNING)),
    pod("nominated", phase="Pending", nominatedNodeName="n2"),
    pod("reason", phase="Failed", reason="Evicted"),
    pod("succeeded", state("web", ended(0, reason="Completed")), phase="Succeeded"),
    pod("completed-failed", state("web", ended(0, reason="Completed")), state("log", ended(1, reason="Error"))),
    pod("failed", state("web", ended(2)), state("log", ended(0)), phase="Failed"),
    pod("signal", state("web", ended(0, signal=9))),
    pod("signal-and-code", state("web", ended(137, signal=9))),
    pod("waiting", state("web", WAITING, ended(1), restartCount=5), state("log", RUNNING, ready=True, restartCount=1)),
    pod("restarted", state("web", RUNNING, ended(1), restartCount=2, ready=True), READY[1]),
    pod("restarted-without-date", state("web", RUNNING, restartCount=2, ready=True), READY[1]),
    pod(
        "completed-and-ready",
        state("web", ended(0, reason="Completed")),
        READY[1],
        conditions=[condition("Ready")],
    ),
    pod("completed-not-ready", state("web", ended(0, reason="Completed")), READY[1]),
    pod(
        "completed-failed-running",
        state("web", ended(0, reason="Completed")),
        state("log", ended(3, reason="Error")),
        READY[1] | {"name": "other"},
    ),
    pod("init-zero", init=[state("first", {"waiting": {"reason": "PodInitializing"}})], phase="Pending"),
    pod("init-empty", init=[state("first")], phase="Pending"),
    pod("init-running", init=[state("first", RUNNING, restartCount=1)], phase="Pending"),
    pod("init-waiting", init=[state("first", WAITING, ended(1), restartCount=4)], phase="Pending"),
    pod("init-failed", init=[state("first", ended(1, reason="Error"))], phase="Pending"),
    pod("init-code", init=[state("first", ended(3))], phase="Pending"),
    pod("init-signal", init=[state("first", ended(3, signal=15))], phase="Pending"),
    pod("init-second", init=[DONE, state("side")], phase="Pending"),
    pod("sidecar", *READY, init=[DONE, SIDE]),
    pod("sidecar-unready", *READY, init=[DONE, SIDE | {"ready": False}]),
    pod("sidecar-restarted", *READY, init=[DONE, SIDE | {"lastState": ended(1)}]),
    pod("sidecar-crashed", *READY, init=[DONE, state("side", WAITING, ended(1), restartCount=2)]),
    pod(
        "initialized-anyway",
        *READY,
        init=[state("first", RUNNING, restartCount=1)],
        conditions=[condition("Initialized")],
    ),
    pod("unknown-init", *READY, init=[state("other", RUNNING, started=True, ready=True)]),
    pod("gated", phase="Pending", conditions=[condition("PodScheduled", "False", reason="SchedulingGated")]),
    pod(
        "gates",
        *READY,
        spec={"readinessGates": [{"conditionType": "example.com/a"}, {"conditionType": "example.com/b"}]},
        conditions=[condition("example.com/a"), condition("example.com/b", "False")],
    ),
    pod("terminating", *READY, deleted=True, spec={"nodeName": "n1"}),
    pod("terminating-lost", *READY, deleted=True, reason="NodeLost", spec={"nodeName": "n1"}),
    pod("terminating-done", state("web", ended(0, reason="Completed")), phase="Succeeded", deleted=True),
    pod("unknown", phase="Unknown"),
]


# --- Workloads --------------------------------------------------------------------------------------------------------


def job(name: str, *conditions: Tree, spec: Tree | None = None, deleted: bool = False, **status: Any) -> Sample:
    given = {"conditions": list(conditions), **status} if conditions or status else None
    return local("batch/v1", "jobs", name, given, spec={"template": ONCE, **(spec or {})}, deleted=deleted)


def autoscaler(name: str, metrics: list[Tree], current: list[Tree] | None = None, **spec: Any) -> Sample:
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    fields = {"scaleTargetRef": target, "maxReplicas": 5, "metrics": metrics, **spec}
    status = {"currentReplicas": 2, "desiredReplicas": 3, "currentMetrics": current} if current is not None else None
    return local("autoscaling/v2", "horizontalpodautoscalers", name, status, spec=fields)


def resource_metric(**target: Any) -> Tree:
    kind = "Utilization" if "averageUtilization" in target else "AverageValue"
    return {"type": "Resource", "resource": {"name": "memory", "target": {"type": kind, **target}}}


def container_metric(**target: Any) -> Tree:
    kind = "Utilization" if "averageUtilization" in target else "AverageValue"
    source = {"name": "cpu", "container": "web", "target": {"type": kind, **target}}
    return {"type": "ContainerResource", "containerResource": source}


def other_metric(type_: str, **target: Any) -> Tree:
    kind = "AverageValue" if "averageValue" in target else "Value"
    source: Tree = {"metric": {"name": "m"}, "target": {"type": kind, **target}}
    if type_ == "Object":
        source["describedObject"] = {"kind": "Service", "name": "web", "apiVersion": "v1"}
    return {"type": type_, type_.lower(): source}


def current_metric(type_: str, **current: Any) -> Tree:
    name = type_[0].lower() + type_[1:]
    source: Tree = {"current": current}
    if "Resource" in type_:
        source["name"] = "cpu"
        if type_ == "ContainerResource":
            source["container"] = "web"
    else:
        source["metric"] = {"name": "m"}
    if type_ == "Object":
        source["describedObject"] = {"kind": "Service", "name": "web", "apiVersion": "v1"}
    return {"type": type_, name: source}


COUNTS = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1, "observedGeneration": 1}

WORKLOADS = [
    local("v1", "podtemplates", "a", template=TEMPLATE),
    local("v1", "podtemplates", "plain", template={"spec": {"containers": CONTAINERS[:1]}}),
    local(
        "v1",
        "replicationcontrollers",
        "a",
        COUNTS,
        spec={"replicas": 4, "selector": {"app": "web"}, "template": TEMPLATE},
    ),
    local("v1", "replicationcontrollers", "plain", spec={"template": TEMPLATE}),
    local("apps/v1", "replicasets", "a", COUNTS, spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE}),
    local("apps/v1", "replicasets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE}),
    local(
        "apps/v1",
        "deployments",
        "a",
        {**COUNTS, "updatedReplicas": 3, "unavailableReplicas": 2},
        spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE},
    ),
    local(
        "apps/v1",
        "deployments",
        "selector",
        spec={
            "replicas": 0,
            "selector": LONG_SELECTOR,
            "template": {**TEMPLATE, "metadata": {"labels": {"app": "web", "tier": "a"}}},
        },
    ),
    local(
        "apps/v1",
        "statefulsets",
        "a",
        {"replicas": 3, "readyReplicas": 2},
        spec={"replicas": 4, "selector": SELECTOR, "template": TEMPLATE, "serviceName": "web"},
    ),
    local("apps/v1", "statefulsets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE, "serviceName": "web"}),
    local(
        "apps/v1",
        "daemonsets",
        "a",
        {
            "desiredNumberScheduled": 5,
            "currentNumberScheduled": 4,
            "numberReady": 3,
            "updatedNumberScheduled": 2,
            "numberAvailable": 1,
            "numberMisscheduled": 0,
        },
        spec={
            "selector": SELECTOR,
            "template": {**TEMPLATE, "spec": {"containers": CONTAINERS, "nodeSelector": {"b": "2", "a": "1"}}},
        },
    ),
    local("apps/v1", "daemonsets", "plain", spec={"selector": SELECTOR, "template": TEMPLATE}),
    local("apps/v1", "controllerrevisions", "a", revision=7, data={"a": 1}),
    local(
        "apps/v1",
        "controllerrevisions",
        "owned",
        revision=8,
        data={},
        metadata={
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"},
                {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "2", "controller": True},
            ]
        },
    ),
    job("plain"),
    job("started", startTime=LONG_AGO, active=1),
    job(
        "complete",
        condition("SuccessCriteriaMet"),
        condition("Complete"),
        startTime=LONG_AGO,
        completionTime=LATER,
        succeeded=1,
    ),
    job("failed", condition("FailureTarget"), condition("Failed"), startTime=LONG_AGO, failed=1),
    job("suspended", condition("Suspended"), spec={"suspend": True}),
    job("target", condition("FailureTarget"), startTime=LONG_AGO),
    job("criteria", condition("SuccessCriteriaMet"), startTime=LONG_AGO),
    job("several", spec={"completions": 5, "parallelism": 2}, startTime=LONG_AGO, succeeded=2),
    job("work-queue", spec={"parallelism": 3, "completions": None}, startTime=LONG_AGO),
    job("deleted", deleted=True),
    local("batch/v1", "cronjobs", "a", spec={"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": ONCE}}}),
    local(
        "batch/v1",
        "cronjobs",
        "b",
        {
            "lastScheduleTime": LONG_AGO,
            "active": [{"kind": "Job", "name": "x"}, {"kind": "Job", "name": "y"}],
        },
        spec={
            "schedule": "@daily",
            "timeZone": "Europe/Berlin",
            "suspend": True,
            "jobTemplate": {"spec": {"template": ONCE}},
        },
    ),
    local("policy/v1", "poddisruptionbudgets", "a", spec={"minAvailable": 2, "selector": SELECTOR}),
    local(
        "policy/v1",
        "poddisruptionbudgets",
        "b",
        {
            "disruptionsAllowed": 3,
            "currentHealthy": 4,
            "desiredHealthy": 1,
            "expectedPods": 4,
        },
        spec={"maxUnavailable": "30%", "selector": SELECTOR},
    ),
    local("policy/v1", "poddisruptionbudgets", "c"),
    local(
        "autoscaling/v1",
        "horizontalpodautoscalers",
        "old",
        spec={
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 40,
        },
    ),
    autoscaler("plain", [], minReplicas=2),
    autoscaler(
        "resources",
        [resource_metric(averageUtilization=70), resource_metric(averageValue="1500Mi")],
        [
            current_metric("Resource", averageUtilization=33, averageValue="5"),
            current_metric("Resource", averageValue="1Gi"),
        ],
    ),
    autoscaler("unknown", [resource_metric(averageUtilization=70), resource_metric(averageValue="1Gi")]),
    autoscaler(
        "containers",
        [container_metric(averageUtilization=70), container_metric(averageValue="500m")],
        [current_metric("ContainerResource", averageUtilization=5, averageValue="5"), {"type": "Resource"}],
    ),
    autoscaler(
        "pods",
        [other_metric("Pods", averageValue="100"), other_metric("Pods", averageValue="1k")],
        [current_metric("Pods", averageValue="50")],
    ),
    autoscaler(
        "objects",
        [other_metric("Object", value="100"), other_metric("Object", averageValue="5")],
        [current_metric("Object", value="1500m"), current_metric("Object", value="1", averageValue="2")],
    ),
    autoscaler(
        "external",
        [other_metric("External", value="100"), other_metric("External", averageValue="5")],
        [current_metric("External", value="20"), current_metric("External", value="2")],
    ),
    autoscaler(
        "many",
        [other_metric("External", value=str(number)) for number in range(1, 6)],
        [current_metric("External", value="0.5")],
        behavior={"scaleDown": {"stabilizationWindowSeconds": 5}},
    ),
]


# --- Configuration ----------------------------------------------------------------------------------------------------


NODE_INFO = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion"),
    *("kubeProxyVersion", "operatingSystem", "architecture"),
)


def node(name: str, *conditions: Tree, labels: Tree | None = None, info: Tree | None = None, **more: Any) -> Sample:
    spec, addresses = more.pop("spec", {}), more.pop("addresses", [])
    empty = dict.fromkeys(NODE_INFO, "")
    status = {"conditions": list(conditions), "addresses": addresses, "nodeInfo": {**empty, **(info or {})}}
    return cluster("v1", "nodes", name, status, spec=spec, metadata={"labels": labels or {}})


def event(name: str, **fields: Any) -> Sample:
    about = {"kind": "Pod", "name": "web", "namespace": "{namespace}", "fieldPath": "spec.containers{web}"}
    return local("v1", "events", name, **{"involvedObject": about, **fields})


CONFIGURATION = [
    local("v1", "configmaps", "a", data={"a": "1", "b": "2"}, binaryData={"c": "AA=="}),
    local("v1", "configmaps", "empty"),
    local("v1", "secrets", "a", type="example.com/any", data={"a": "eA=="}),
    local("v1", "secrets", "string", stringData={"a": "x", "b": "y"}),
    local("v1", "serviceaccounts", "a"),
    local("v1", "limitranges", "a", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}),
    cluster("v1", "namespaces", "table-namespace"),
    node("table-plain"),
    node(
        "table-ready",
        condition("Ready"),
        labels={
            "node-role.kubernetes.io/worker": "",
            "node-role.kubernetes.io/control-plane": "x",
            "kubernetes.io/role": "db",
        },
        info={
            "kubeletVersion": "v1.36.3",
            "osImage": "Debian GNU/Linux 13",
            "kernelVersion": "6.12",
            "containerRuntimeVersion": "containerd://2.1",
            "architecture": "amd64",
        },
        addresses=[
            {"type": "Hostname", "address": "n"},
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "InternalIP", "address": "10.0.0.2"},
            {"type": "ExternalIP", "address": "192.0.2.1"},
        ],
    ),
    node("table-cordoned", condition("Ready", "False"), spec={"unschedulable": True}, info={"architecture": "arm64"}),
    node("table-unknown", condition("Ready", "Unknown"), labels={"kubernetes.io/role": ""}),
    event("plain"),
    event(
        "core",
        type="Warning",
        reason="Failed",
        message="\n it failed \n",
        count=3,
        firstTimestamp=LONG_AGO,
        lastTimestamp=LATER,
    ),
    event("source", source={"component": "kubelet", "host": "n1"}, firstTimestamp=LONG_AGO),
    event("component", source={"component": "scheduler"}),
    event(
        "series",
        eventTime="2020-02-03T04:05:06.000007Z",
        series={"count": 9, "lastObservedTime": "2021-02-03T04:05:06.000007Z"},
        reportingComponent="example.com/me",
        reportingInstance="me-0",
        action="Start",
        reason="Started",
        type="Normal",
    ),
    event("nameless", involvedObject={"kind": "Pod", "namespace": "{namespace}"}, reportingComponent="c"),
    local("v1", "resourcequotas", "plain", spec={"hard": {"pods": "1"}}),
    local(
        "v1",
        "resourcequotas",
        "used",
        {
            "hard": {"pods": "10", "limits.cpu": "4", "requests.cpu": "1500m", "limits.memory": "1Gi", "count/a": "1k"},
            "used": {"pods": "3", "limits.cpu": "500m", "requests.cpu": "1", "limits.memory": "1000Ki"},
        },
        spec={"hard": {"pods": "10"}},
    ),
    local("coordination.k8s.io/v1", "leases", "a", spec={"holderIdentity": "me"}),
    local("coordination.k8s.io/v1", "leases", "free"),
    local(
        "coordination.k8s.io/v1beta1",
        "leasecandidates",
        "a",
        spec={
            "leaseName": "l",
            "binaryVersion": "1.36.0",
            "emulationVersion": "1.35.0",
            "strategy": "OldestEmulationVersion",
            # The real server deletes expired ones.
            "renewTime": "2100-01-01T00:00:00.000000Z",
        },
    ),
    cluster("node.k8s.io/v1", "runtimeclasses", "table-class", handler="runc"),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        "table-b",
        {"conditions": [full_condition("Dangling", "False")]},
        spec={
            "priorityLevelConfiguration": {"name": "exempt"},
            "matchingPrecedence": 9000,
            "distinguisherMethod": {"type": "ByUser"},
        },
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        "table-a",
        {"conditions": [full_condition("Dangling", "True")]},
        spec={"priorityLevelConfiguration": {"name": "table-none"}, "matchingPrecedence": 9500},
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "prioritylevelconfigurations",
        "table-reject",
        spec={"type": "Limited", "limited": {"nominalConcurrencyShares": 7, "limitResponse": {"type": "Reject"}}},
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "prioritylevelconfigurations",
        "table-queue",
        spec={
            "type": "Limited",
            "limited": {
                "limitResponse": {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 3}}
            },
        },
    ),
    cluster("internal.apiserver.k8s.io/v1alpha1", "storageversions", "table.example.com.things", spec={}),
    cluster(
        "internal.apiserver.k8s.io/v1alpha1",
        "storageversions",
        "table.example.com.others",
        {
            "commonEncodingVersion": "v1",
            "storageVersions": [
                {"apiServerID": f"server-{number}", "encodingVersion": "v1", "decodableVersions": ["v1"]}
                for number in range(5)
            ],
        },
        spec={},
    ),
    cluster(
        "storagemigration.k8s.io/v1beta1",
        "storageversionmigrations",
        "table-migration",
        spec={"resource": {"resource": "configmaps"}},
    ),
    cluster(
        "storagemigration.k8s.io/v1beta1",
        "storageversionmigrations",
        "table-running",
        {"conditions": [full_condition("Succeeded", "False"), full_condition("Running")], "resourceVersion": "5"},
        spec={"resource": {"group": "apps", "resource": "deployments"}},
    ),
]


# --- Networking -------------------------------------------------------------------------------------------------------


def service(name: str, status: Tree | None = None, **spec: Any) -> Sample:
    return local("v1", "services", name, status, spec={"ports": [{"port": 80}], **spec})


def endpoints(name: str, *subsets: tuple[list[str], list[int]]) -> Sample:
    made = [
        {
            "addresses": [{"ip": address} for address in addresses],
            "ports": [{"name": f"p{port}", "port": port} for port in ports],
        }
        for addresses, ports in subsets
    ]
    return local("v1", "endpoints", name, subsets=made)


def ingress(name: str, *hosts: str, status: Tree | None = None, **spec: Any) -> Sample:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rules = [
        {"host": host} if host else {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
        for host in hosts
    ]
    return local(
        "networking.k8s.io/v1", "ingresses", name, status, spec={"defaultBackend": backend, "rules": rules, **spec}
    )


BALANCED = {
    "loadBalancer": {"ingress": [{"hostname": "b.example.com"}, {"ip": "192.0.2.7"}, {"hostname": "a.example.com"}]}
}

NETWORKING = [
    service("plain"),
    service("headless", clusterIP="None", selector={"b": "2", "a": "1"}),
    service("external-ips", externalIPs=["192.0.2.1", "192.0.2.2"]),
    service(
        "node-port",
        type="NodePort",
        ports=[
            {"port": 80, "nodePort": 30080, "name": "a"},
            {"port": 53, "protocol": "UDP", "name": "b", "nodePort": 30053},
        ],
    ),
    service("pending", type="LoadBalancer", allocateLoadBalancerNodePorts=False),
    service("balanced", BALANCED, type="LoadBalancer", allocateLoadBalancerNodePorts=False),
    service(
        "balanced-external",
        BALANCED,
        type="LoadBalancer",
        allocateLoadBalancerNodePorts=False,
        externalIPs=["192.0.2.1"],
    ),
    service("name", type="ExternalName", externalName="example.com", ports=[]),
    endpoints("none"),
    endpoints("one", (["10.1.2.3"], [80])),
    endpoints("two-ports", (["10.1.2.3", "10.1.2.4"], [80, 443])),
    endpoints("headless", (["10.1.2.3", "10.1.2.4"], [])),
    endpoints("many", ([f"10.1.2.{number}" for number in range(1, 9)], [80])),
    endpoints("many-headless", ([f"10.1.2.{number}" for number in range(1, 9)], [])),
    endpoints("six", (["fd00::1"], [80]), (["10.1.2.3"], [90])),
    *(
        local(
            "discovery.k8s.io/v1",
            "endpointslices",
            name,
            addressType="IPv4",
            endpoints=[{"addresses": [f"10.1.2.{number}"]} for number in range(1, count + 1)],
            ports=ports,
        )
        for name, count, ports in (
            ("none", 0, []),
            ("one", 1, [{"port": 80}]),
            ("named", 3, [{"name": "http", "port": 80}, {"name": "any"}]),
            ("many", 7, [{"name": f"p{number}", "port": number} for number in range(1, 6)]),
            ("unnamed", 2, [{}]),
        )
    ),
    ingress("plain"),
    ingress("class", "a.example.com", ingressClassName="nginx"),
    ingress("hosts", "a.example.com", "b.example.com", "", "c.example.com", "d.example.com", "e.example.com"),
    ingress("three", "a.example.com", "b.example.com", "c.example.com"),
    ingress("anonymous", "", status=BALANCED),
    ingress("tls", "a.example.com", tls=[{"hosts": ["a.example.com"]}]),
    cluster("networking.k8s.io/v1", "ingressclasses", "table-plain", spec={"controller": "example.com/a"}),
    cluster(
        "networking.k8s.io/v1",
        "ingressclasses",
        "table-default",
        spec={
            "controller": "example.com/a",
            "parameters": {"kind": "Config", "name": "c", "apiGroup": "example.com", "scope": "Cluster"},
        },
        metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
    ),
    cluster(
        "networking.k8s.io/v1",
        "ingressclasses",
        "table-core",
        spec={"controller": "example.com/a", "parameters": {"kind": "ConfigMap", "name": "c", "scope": "Cluster"}},
        metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "false"}},
    ),
    local("networking.k8s.io/v1", "networkpolicies", "all", spec={"podSelector": {}}),
    local("networking.k8s.io/v1", "networkpolicies", "some", spec={"podSelector": LONG_SELECTOR}),
    cluster("networking.k8s.io/v1", "servicecidrs", "table-cidrs", spec={"cidrs": ["10.99.0.0/24", "fd99::/112"]}),
    cluster(
        "networking.k8s.io/v1",
        "ipaddresses",
        "10.99.0.7",
        spec={"parentRef": {"resource": "services", "namespace": "default", "name": "a"}},
    ),
    cluster(
        "networking.k8s.io/v1",
        "ipaddresses",
        "10.99.0.8",
        spec={"parentRef": {"group": "example.com", "resource": "things", "name": "a"}},
    ),
]


# --- Storage ----------------------------------------------------------------------------------------------------------


def volume(
    name: str, status: Tree | None = None, deleted: bool = False, metadata: Tree | None = None, **spec: Any
) -> Sample:
    source = {
        "csi": {"driver": "d", "volumeHandle": "h"},
        "capacity": {"storage": "1024Mi"},
        "accessModes": ["ReadWriteOnce"],
    }
    return cluster(
        "v1", "persistentvolumes", name, status, spec={**source, **spec}, deleted=deleted, metadata=metadata or {}
    )


def claim(
    name: str, status: Tree | None = None, deleted: bool = False, metadata: Tree | None = None, **spec: Any
) -> Sample:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return local(
        "v1", "persistentvolumeclaims", name, status, spec={**wanted, **spec}, deleted=deleted, metadata=metadata or {}
    )


CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"

STORAGE = [
    volume("table-plain"),
    volume(
        "table-bound",
        {"phase": "Bound", "reason": "R"},
        accessModes=["ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"],
        claimRef={"namespace": "n", "name": "c"},
        storageClassName="fast",
        persistentVolumeReclaimPolicy="Delete",
        volumeMode="Block",
        volumeAttributesClassName="gold",
    ),
    volume("table-annotated", accessModes=["ReadWriteOncePod"], metadata={"annotations": {CLASS_ANNOTATION: "old"}}),
    volume("table-deleted", deleted=True),
    claim("plain"),
    claim("class", storageClassName="fast", volumeAttributesClassName="gold", volumeMode="Block"),
    claim("annotated", metadata={"annotations": {CLASS_ANNOTATION: "old"}}),
    claim(
        "bound",
        {"phase": "Bound", "capacity": {"storage": "2048Mi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
        volumeName="table-bound",
    ),
    claim("bound-empty", volumeName="table-bound"),
    claim("deleted", deleted=True),
    cluster("storage.k8s.io/v1", "storageclasses", "table-plain", provisioner="example.com/a"),
    cluster(
        "storage.k8s.io/v1",
        "storageclasses",
        "table-default",
        provisioner="example.com/a",
        reclaimPolicy="Retain",
        volumeBindingMode="WaitForFirstConsumer",
        allowVolumeExpansion=True,
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "storageclasses",
        "table-beta",
        provisioner="example.com/a",
        metadata={"annotations": {"storageclass.beta.kubernetes.io/is-default-class": "true"}},
    ),
    cluster("storage.k8s.io/v1", "volumeattributesclasses", "table-gold", driverName="d", parameters={"a": "b"}),
    cluster(
        "storage.k8s.io/v1",
        "volumeattachments",
        "table-a",
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "volumeattachments",
        "table-attached",
        {"attached": True},
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
    cluster(
        "storage.k8s.io/v1",
        "csinodes",
        "table-a",
        spec={"drivers": [{"name": "a", "nodeID": "n"}, {"name": "b", "nodeID": "n"}]},
    ),
    cluster("storage.k8s.io/v1", "csinodes", "table-none", spec={"drivers": []}),
    cluster("storage.k8s.io/v1", "csidrivers", "table.example.com", spec={}),
    cluster(
        "storage.k8s.io/v1",
        "csidrivers",
        "table-full.example.com",
        spec={
            "attachRequired": False,
            "podInfoOnMount": True,
            "storageCapacity": True,
            "requiresRepublish": True,
            "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
            "volumeLifecycleModes": ["Persistent", "Ephemeral"],
        },
    ),
    local("storage.k8s.io/v1", "csistoragecapacities", "a", storageClassName="c", capacity="10Gi"),
]


# --- Access -----------------------------------------------------------------------------------------------------------

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
SUBJECTS = [
    {"kind": "User", "name": "u1", "apiGroup": RBAC},
    {"kind": "Group", "name": "g1", "apiGroup": RBAC},
    {"kind": "ServiceAccount", "name": "s1", "namespace": "n1"},
    {"kind": "User", "name": "u2", "apiGroup": RBAC},
]
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
NEVER = {"resourceRules": [{**RULE, "resourceNames": ["never"]}]}
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": '[JSONPatch{op: "remove", path: "/a"}]'}}


def webhook(name: str) -> Tree:
    return {
        "name": name,
        "clientConfig": {"url": "https://example.com/a"},
        "rules": [{**RULE, "resources": ["nothing"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
    }


def policy_bindings(version: str, plural: str, **more: Any) -> list[Sample]:
    references: dict[str, Tree] = {
        "table-plain": {},
        "table-named": {"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}},
        "table-local": {"paramRef": {"name": "p", "namespace": "n", "parameterNotFoundAction": "Allow"}},
        "table-selected": {"paramRef": {"selector": LONG_SELECTOR, "parameterNotFoundAction": "Allow"}},
        "table-everything": {"paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"}},
    }
    return [
        cluster(f"{ADMISSION}/{version}", plural, name, spec={"policyName": "table-missing", **spec, **more})
        for name, spec in references.items()
    ]


ACCESS = [
    local(f"{RBAC}/v1", "roles", "a", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    cluster(f"{RBAC}/v1", "clusterroles", "table-a", rules=[]),
    local(
        f"{RBAC}/v1", "rolebindings", "a", subjects=SUBJECTS, roleRef={"kind": "Role", "name": "a", "apiGroup": RBAC}
    ),
    local(f"{RBAC}/v1", "rolebindings", "none", roleRef={"kind": "ClusterRole", "name": "a", "apiGroup": RBAC}),
    cluster(
        f"{RBAC}/v1",
        "clusterrolebindings",
        "table-a",
        subjects=SUBJECTS,
        roleRef={"kind": "ClusterRole", "name": "a", "apiGroup": RBAC},
    ),
    cluster(f"{ADMISSION}/v1", "mutatingwebhookconfigurations", "table-none"),
    cluster(
        f"{ADMISSION}/v1",
        "validatingwebhookconfigurations",
        "table-two",
        webhooks=[webhook("a.example.com"), webhook("b.example.com")],
    ),
    cluster(
        f"{ADMISSION}/v1",
        "validatingadmissionpolicies",
        "table-a",
        spec={"matchConstraints": NEVER, "validations": [{"expression": "true"}, {"expression": "false"}]},
    ),
    cluster(
        f"{ADMISSION}/v1",
        "validatingadmissionpolicies",
        "table-param",
        spec={
            "matchConstraints": NEVER,
            "validations": [{"expression": "true"}],
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        },
    ),
    cluster(
        f"{ADMISSION}/v1",
        "mutatingadmissionpolicies",
        "table-a",
        spec={
            "matchConstraints": NEVER,
            "mutations": [MUTATION],
            "reinvocationPolicy": "Never",
            "failurePolicy": "Fail",
        },
    ),
    *policy_bindings("v1", "validatingadmissionpolicybindings", validationActions=["Deny"]),
    *policy_bindings("v1", "mutatingadmissionpolicybindings"),
    *(
        cluster(
            "certificates.k8s.io/v1beta1",
            "clustertrustbundles",
            name,
            spec={**signer, "trustBundle": "{certificate}"},
        )
        for name, signer in (("table-a", {}), ("example.com:signer:table", {"signerName": "example.com/signer"}))
    ),
    *(
        cluster(
            "certificates.k8s.io/v1",
            "certificatesigningrequests",
            f"table-{name}",
            spec={"request": "{request}", "signerName": "example.com/signer", "usages": ["client auth"], **spec},
        )
        for name, spec in (("a", {}), ("short", {"expirationSeconds": 3600}), ("long", {"expirationSeconds": 864000}))
    ),
]


# --- Scheduling -------------------------------------------------------------------------------------------------------

CLAIM = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a.example.com"}}]}}
ALLOCATION = {
    "allocation": {
        "devices": {"results": [{"request": "a", "driver": "a.example.com", "pool": "p", "device": "d"}]},
    }
}
RESERVED = {"reservedFor": [{"resource": "pods", "name": "web", "uid": "1"}]}

SCHEDULING = [
    cluster("scheduling.k8s.io/v1", "priorityclasses", "table-a", value=-5),
    cluster(
        "scheduling.k8s.io/v1", "priorityclasses", "table-never", value=5, preemptionPolicy="Never", description="d"
    ),
    cluster("resource.k8s.io/v1", "deviceclasses", "table-a", spec={}),
    local("resource.k8s.io/v1", "resourceclaims", "pending", spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "allocated", ALLOCATION, spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "reserved", {**ALLOCATION, **RESERVED}, spec=CLAIM),
    local("resource.k8s.io/v1", "resourceclaims", "deleted", spec=CLAIM, deleted=True),
    local("resource.k8s.io/v1", "resourceclaims", "deleted-allocated", ALLOCATION, spec=CLAIM, deleted=True),
    local("resource.k8s.io/v1", "resourceclaimtemplates", "a", spec={"spec": CLAIM}),
    cluster(
        "resource.k8s.io/v1",
        "resourceslices",
        "table-a",
        spec={
            "driver": "a.example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        },
    ),
    cluster(
        "resource.k8s.io/v1",
        "resourceslices",
        "table-all",
        spec={
            "driver": "a.example.com",
            "allNodes": True,
            "pool": {"name": "q", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d"}],
        },
    ),
    cluster(
        "resource.k8s.io/v1beta2",
        "devicetaintrules",
        "table-a",
        spec={"taint": {"key": "example.com/a", "value": "v", "effect": "NoSchedule", "timeAdded": LONG_AGO}},
    ),
    cluster(
        "resource.k8s.io/v1beta2",
        "devicetaintrules",
        "table-b",
        spec={"taint": {"key": "example.com/a", "effect": "NoExecute"}},
    ),
]

SAMPLES = [*PODS, *WORKLOADS, *CONFIGURATION, *NETWORKING, *STORAGE, *ACCESS, *SCHEDULING]
