"""The rules for all other kinds, each by what the real server answers when it is broken."""

import pytest
from tests.server.broken_objects import (
    CONFIG_KEY,
    IP,
    LABEL,
    NEGATIVE,
    PORT,
    check,
    duplicate,
    forbidden,
    invalid,
    required,
    service,
    unsupported,
)

OTHERS = [
    ("v1/Service", {}, [required("spec.ports")]),
    (
        "v1/Service",
        service(ports=[{"port": 0}]),
        [invalid("spec.ports[0].port", 0, PORT), invalid("spec.ports[0].targetPort", 0, PORT)],
    ),
    (
        "v1/Service",
        service(ports=[{"port": 80}, {"port": 81}]),
        [required("spec.ports[0].name"), required("spec.ports[1].name")],
    ),
    (
        "v1/Service",
        service(ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]),
        [duplicate("spec.ports[1].name", "a")],
    ),
    (
        "v1/Service",
        service(type="x"),
        [unsupported("spec.type", "x", "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")],
    ),
    ("v1/Service", service(type="ExternalName"), [required("spec.externalName")]),
    ("v1/Service", service(clusterIP="x"), [invalid("spec.clusterIPs[0]", "x", IP)]),
    (
        "v1/Service",
        service(type="LoadBalancer", clusterIP="None"),
        [invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")],
    ),
    (
        "v1/Service",
        service(ports=[{"port": 80, "nodePort": 30000}]),
        [forbidden("spec.ports[0].nodePort", "may not be used when `type` is 'ClusterIP'")],
    ),
    (
        "v1/Service",
        service(externalTrafficPolicy="Local"),
        [invalid("spec.externalTrafficPolicy", "Local", "may only be set for externally-accessible services")],
    ),
    ("v1/Endpoints", {"subsets": [{}]}, [required("subsets[0]", "must specify `addresses` or `notReadyAddresses`")]),
    (
        "discovery.k8s.io/v1/EndpointSlice",
        {"addressType": "IPv4", "endpoints": [{"addresses": []}], "ports": []},
        [
            required("endpoints[0].addresses", "must contain at least 1 address"),
        ],
    ),
    (
        "v1/ConfigMap",
        {"data": {"a b": "c", "..": "d"}},
        [
            invalid("data[a b]", "a b", CONFIG_KEY),
            invalid("data[..]", "..", "must not be '..'"),
        ],
    ),
    (
        "v1/ConfigMap",
        {"data": {"a": ""}, "binaryData": {"a": "YQ=="}},
        [invalid("data[a]", "a", "duplicate of key present in binaryData")],
    ),
    (
        "v1/ConfigMap",
        {"data": {"a": "x" * 1_048_577}},
        [("TooLong", "[]", "Too long: may not be more than 1048576 bytes")],
    ),
    ("v1/ConfigMap", {"data": {"a": "x" * 1_048_576}}, []),
    (
        "v1/Secret",
        {"stringData": {"a": "x" * 1_048_577}},
        [("TooLong", "data", "Too long: may not be more than 1048576 bytes")],
    ),
    ("v1/Secret", {"stringData": {"a": "x" * 1_048_576}}, []),
    ("v1/Secret", {"type": "kubernetes.io/tls"}, [required("data[tls.crt]"), required("data[tls.key]")]),
    ("v1/Secret", {"type": "kubernetes.io/basic-auth", "stringData": {"username": "u"}}, []),
    (
        "v1/Secret",
        {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "hush"}},
        [
            invalid(
                "data[.dockerconfigjson]",
                "<secret contents redacted>",
                "invalid character 'h' looking for beginning of value",
            ),
        ],
    ),
    (
        "v1/Secret",
        {"type": "kubernetes.io/service-account-token"},
        [required("metadata.annotations[kubernetes.io/service-account.name]")],
    ),
    (
        "v1/Namespace",
        {"spec": {"finalizers": ["foo"]}},
        [
            invalid("spec.finalizers", "foo", "name is neither a standard finalizer name nor is it fully qualified"),
        ],
    ),
    (
        "v1/LimitRange",
        {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "2"}}]}},
        [
            invalid("spec.limits[0].min[cpu]", "2", "min value 2 is greater than max value 1"),
        ],
    ),
    (
        "v1/ResourceQuota",
        {"spec": {"hard": {"pods": "-1", "count/pods": "1", "requests.cpu": "1"}}},
        [invalid("spec.hard[pods]", "-1", NEGATIVE)],
    ),
    (
        "coordination.k8s.io/v1/Lease",
        {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}},
        [
            invalid("spec.leaseDurationSeconds", 0, "must be greater than 0"),
            invalid("spec.leaseTransitions", -1, NEGATIVE),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"rules": [{}]},
        [
            required("rules[0].verbs", "verbs must contain at least one value"),
            required("rules[0].apiGroups", "resource rules must supply at least one api group"),
            required("rules[0].resources", "resource rules must supply at least one resource"),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
        [
            invalid("rules[0].nonResourceURLs", ["/x"], "namespaced rules cannot apply to non-resource URLs"),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        {"roleRef": {"kind": "Foo", "name": ""}},
        [
            unsupported("roleRef.kind", "Foo", "Role", "ClusterRole"),
            required("roleRef.name"),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        {"roleRef": {"kind": "ClusterRole", "name": "x"}, "subjects": [{"kind": "ServiceAccount", "name": "s"}]},
        [
            required("subjects[0].namespace"),
        ],
    ),
    (
        "v1/PersistentVolumeClaim",
        {},
        [
            required("spec.accessModes", "at least 1 access mode is required"),
            required("spec.resources[storage]"),
        ],
    ),
    (
        "v1/PersistentVolume",
        {},
        [
            required("spec.accessModes"),
            required("spec.capacity"),
            unsupported("spec.capacity", None, "storage"),
            required("spec", "must specify a volume type"),
        ],
    ),
    ("storage.k8s.io/v1/StorageClass", {}, [required("provisioner")]),
    (
        "networking.k8s.io/v1/Ingress",
        {},
        [invalid("spec", None, "either `defaultBackend` or `rules` must be specified")],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {"spec": {"rules": [{"http": {"paths": [{"path": "/"}]}}]}},
        [
            required("spec.rules[0].http.paths[0].pathType", "pathType must be specified"),
        ],
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {"spec": {"podSelector": {}, "ingress": [{"from": [{}]}]}},
        [
            required("spec.ingress[0].from[0]", "must specify a peer"),
        ],
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {
            "spec": {
                "podSelector": {},
                "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/8"]}}]}],
            }
        },
        [
            invalid("spec.egress[0].to[0].ipBlock.except[0]", "11.0.0.0/8", "must be a strict subset of `cidr`"),
        ],
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        {
            "spec": {
                "maxReplicas": 1,
                "minReplicas": 2,
                "scaleTargetRef": {"kind": "D", "name": "x", "apiVersion": "apps/v1"},
            }
        },
        [
            invalid("spec.maxReplicas", 1, "must be greater than or equal to `minReplicas`"),
        ],
    ),
    (
        "policy/v1/PodDisruptionBudget",
        {"spec": {"maxUnavailable": "101%"}},
        [invalid("spec.maxUnavailable", "101%", "must not be greater than 100%")],
    ),
    (
        "scheduling.k8s.io/v1/PriorityClass",
        {"value": 2_000_000_000},
        [forbidden("value", "maximum allowed value of a user defined priority is 1000000000")],
    ),
    ("v1/Event", {"metadata": {"namespace": "default"}, "involvedObject": {"namespace": "ns"}}, []),
    (
        "v1/Event",
        {"eventTime": "2024-01-01T00:00:00.000000Z", "involvedObject": {"namespace": "ns"}},
        [
            required("reportingComponent"),
            required("reportingInstance"),
            required("action"),
            required("reason"),
        ],
    ),
    (
        "events.k8s.io/v1/Event",
        {
            "eventTime": "2024-01-01T00:00:00.000000Z",
            "regarding": {"namespace": "ns"},
            "reportingController": "example.com/web",
            "reportingInstance": "x" * 129,
            "action": "A",
            "reason": "R",
        },
        [invalid("reportingInstance", "", "can have at most 128 characters")],
    ),
    (
        "v1/Event",
        {"involvedObject": {"namespace": "other"}},
        [invalid("involvedObject.namespace", "other", "does not match event.namespace")],
    ),
    ("node.k8s.io/v1/RuntimeClass", {"handler": "A"}, [invalid("handler", "A", LABEL)]),
    (
        "apps/v1/ControllerRevision",
        {"revision": -1},
        [invalid("revision", -1, NEGATIVE), required("data", "data is mandatory")],
    ),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), OTHERS)
def test_other_kinds_keep_their_rules(kind, fields, expected):
    check(kind, fields, expected)
