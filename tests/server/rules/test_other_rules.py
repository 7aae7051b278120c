"""The rules of all other kinds: each violation has the causes that a real API server returns."""

import pytest
from tests.server.broken_objects import (
    CONFIG_KEY,
    DOTS,
    IP,
    LABEL,
    NAME_PART,
    NEGATIVE,
    PORT,
    SUBDOMAIN,
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
    ("v1/Namespace", {"metadata": {"name": "a.b"}}, [invalid("metadata.name", "a.b", DOTS)]),
    ("v1/Namespace", {"metadata": {"name": "A"}}, [invalid("metadata.name", "A", LABEL)]),
    (
        "v1/Service",
        {"metadata": {"name": "a.b"}, "spec": {"ports": [{"port": 80}]}},
        [invalid("metadata.name", "a.b", DOTS)],
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"metadata": {"name": "a/b"}},
        [invalid("metadata.name", "a/b", "may not contain '/'")],
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"metadata": {"name": ".."}},
        [invalid("metadata.name", "..", "may not be '..'")],
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"metadata": {"name": "a%b"}},
        [invalid("metadata.name", "a%b", "may not contain '%'")],
    ),
    ("v1/Service", service(ports=[]), [required("spec.ports")]),
    (
        "v1/Service",
        service(ports=[{"port": 70000, "targetPort": 70000, "protocol": "x"}]),
        [
            invalid("spec.ports[0].port", 70000, PORT),
            unsupported("spec.ports[0].protocol", "x", "SCTP", "TCP", "UDP"),
            invalid("spec.ports[0].targetPort", 70000, PORT),
        ],
    ),
    (
        "v1/Service",
        service(ports=[{"port": 80, "targetPort": "UPPER"}]),
        [
            invalid(
                "spec.ports[0].targetPort",
                "UPPER",
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            ),
            invalid("spec.ports[0].targetPort", "UPPER", "must contain at least one letter (a-z)"),
        ],
    ),
    ("v1/Service", service(ports=[{"port": 80, "name": "A"}]), [invalid("spec.ports[0].name", "A", LABEL)]),
    ("v1/Service", service(type="ExternalName", externalName="A_B"), [invalid("spec.externalName", "A_B", SUBDOMAIN)]),
    ("v1/Service", service(sessionAffinity="x"), [unsupported("spec.sessionAffinity", "x", "ClientIP", "None")]),
    (
        "v1/Service",
        service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 0}}),
        [
            invalid(
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 0, "must be greater than 0 and less than 86400"
            )
        ],
    ),
    ("v1/Service", service(selector={"a b": "c"}), [invalid("spec.selector", "a b", NAME_PART)]),
    (
        "v1/Service",
        service(type="NodePort", externalTrafficPolicy="x"),
        [unsupported("spec.externalTrafficPolicy", "x", "Cluster", "Local")],
    ),
    (
        "v1/Service",
        service(internalTrafficPolicy="x"),
        [unsupported("spec.internalTrafficPolicy", "x", "Cluster", "Local")],
    ),
    ("v1/Service", service(externalIPs=["x"]), [invalid("spec.externalIPs[0]", "x", IP)]),
    (
        "v1/Service",
        service(loadBalancerSourceRanges=["10.0.0.0/8"]),
        [forbidden("spec.LoadBalancerSourceRanges", "may only be used when `type` is 'LoadBalancer'")],
    ),
    (
        "v1/Service",
        service(ipFamilyPolicy="x", ipFamilies=["IPv5"]),
        [
            unsupported("spec.ipFamilies[0]", "IPv5", "IPv4", "IPv6"),
            unsupported("spec.ipFamilyPolicy", "x", "PreferDualStack", "RequireDualStack", "SingleStack"),
        ],
    ),
    (
        "v1/ConfigMap",
        {"data": {"a": "c"}, "binaryData": {"a": "YQ==", "b/c": "YQ=="}},
        [
            invalid("data[a]", "a", "duplicate of key present in binaryData"),
            invalid("binaryData[b/c]", "b/c", CONFIG_KEY),
        ],
    ),
    ("v1/Secret", {"data": {"a b": "YQ=="}}, [invalid("data[a b]", "a b", CONFIG_KEY)]),
    (
        "v1/Secret",
        {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "YQ=="}},
        [
            invalid(
                "data[.dockerconfigjson]",
                "<secret contents redacted>",
                "invalid character 'a' looking for beginning of value",
            )
        ],
    ),
    ("v1/Secret", {"type": "kubernetes.io/dockerconfigjson"}, [required("data[.dockerconfigjson]")]),
    ("v1/Secret", {"type": "kubernetes.io/dockercfg"}, [required("data[.dockercfg]")]),
    ("v1/Secret", {"type": "kubernetes.io/basic-auth"}, [required("data[username]"), required("data[password]")]),
    ("v1/Secret", {"type": "kubernetes.io/ssh-auth"}, [required("data[ssh-privatekey]")]),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {"rules": [{"verbs": ["get"], "apiGroups": [""]}]},
        [required("rules[0].resources", "resource rules must supply at least one resource")],
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRole",
        {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["x"], "apiGroups": [""]}]},
        [
            invalid(
                "rules[0].nonResourceURLs", ["/x"], "rules cannot apply to both regular resources and non-resource URLs"
            )
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        {"roleRef": {"kind": "Role", "name": "a/b", "apiGroup": "x"}},
        [
            unsupported("roleRef.apiGroup", "x", "rbac.authorization.k8s.io"),
            invalid("roleRef.name", "a/b", "may not contain '/'"),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        {
            "roleRef": {"kind": "Role", "name": "x"},
            "subjects": [
                {"kind": "Foo", "name": ""},
                {"kind": "ServiceAccount", "name": "A", "apiGroup": "x"},
                {"kind": "User", "name": "u", "apiGroup": "x"},
                {"kind": "Group", "name": ""},
            ],
        },
        [
            required("subjects[0].name"),
            unsupported("subjects[0].kind", "Foo", "ServiceAccount", "User", "Group"),
            invalid("subjects[1].name", "A", SUBDOMAIN),
            unsupported("subjects[1].apiGroup", "x", ""),
            unsupported("subjects[2].apiGroup", "x", "rbac.authorization.k8s.io"),
            required("subjects[3].name"),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        {"roleRef": {"kind": "Role", "name": "x"}},
        [unsupported("roleRef.kind", "Role", "ClusterRole")],
    ),
    (
        "v1/PersistentVolumeClaim",
        {"spec": {}},
        [required("spec.accessModes", "at least 1 access mode is required"), required("spec.resources[storage]")],
    ),
    (
        "v1/PersistentVolumeClaim",
        {
            "spec": {
                "accessModes": ["x"],
                "resources": {"requests": {"storage": "-1"}},
                "volumeMode": "x",
                "storageClassName": "A",
            }
        },
        [
            unsupported("spec.accessModes", "x", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
            invalid("spec.resources[storage]", "-1", "must be greater than zero"),
            invalid("spec.storageClassName", "A", SUBDOMAIN),
            unsupported("spec.volumeMode", "x", "Block", "Filesystem"),
        ],
    ),
    (
        "v1/PersistentVolumeClaim",
        {"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}},
        [
            forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes"),
            invalid("spec.resources[storage]", "0", "must be greater than zero"),
        ],
    ),
    (
        "v1/PersistentVolume",
        {"spec": {}},
        [
            required("spec.accessModes"),
            required("spec.capacity"),
            unsupported("spec.capacity", None, "storage"),
            required("spec", "must specify a volume type"),
        ],
    ),
    (
        "storage.k8s.io/v1/StorageClass",
        {"provisioner": "A B", "reclaimPolicy": "x", "volumeBindingMode": "y"},
        [
            invalid("provisioner", "a b", NAME_PART),
            unsupported("reclaimPolicy", "x", "Delete", "Retain"),
            unsupported("volumeBindingMode", "y", "Immediate", "WaitForFirstConsumer"),
        ],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {"spec": {}},
        [invalid("spec", None, "either `defaultBackend` or `rules` must be specified")],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {"spec": {"rules": [{"host": "A", "http": {"paths": []}}]}},
        [invalid("spec.rules[0].host", "A", SUBDOMAIN), required("spec.rules[0].http.paths")],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {"spec": {"rules": [{"http": {"paths": [{"path": "x", "backend": {}}]}}]}},
        [required("spec.rules[0].http.paths[0].pathType", "pathType must be specified")],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {
            "spec": {
                "rules": [
                    {
                        "host": "1.2.3.4",
                        "http": {
                            "paths": [
                                {"path": "x", "pathType": "Foo", "backend": {"service": {"name": "", "port": {}}}},
                                {
                                    "path": "x",
                                    "pathType": "Prefix",
                                    "backend": {
                                        "service": {"name": "A", "port": {"number": 80, "name": "x"}},
                                        "resource": {"kind": "", "name": ""},
                                    },
                                },
                            ]
                        },
                    }
                ]
            }
        },
        [
            invalid("spec.rules[0].host", "1.2.3.4", "must be a DNS name, not an IP address"),
            unsupported("spec.rules[0].http.paths[0].pathType", "Foo", "Exact", "ImplementationSpecific", "Prefix"),
            required("spec.rules[0].http.paths[0].backend.service.name"),
            required("spec.rules[0].http.paths[0].backend", "port name or number is required"),
            invalid("spec.rules[0].http.paths[1].path", "x", "must be an absolute path"),
            invalid("spec.rules[0].http.paths[1].backend", "", "cannot set both resource and service backends"),
        ],
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {
            "spec": {
                "defaultBackend": {"service": {"name": "x", "port": {"number": 70000}}},
                "ingressClassName": "A",
                "tls": [{"hosts": ["A"]}],
            }
        },
        [
            invalid("spec.defaultBackend.service.port.number", 70000, PORT),
            invalid("spec.tls[0].hosts[0]", "A", SUBDOMAIN),
            invalid("spec.ingressClassName", "A", SUBDOMAIN),
        ],
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {
            "spec": {
                "podSelector": {"matchLabels": {"a b": "c"}},
                "policyTypes": ["x"],
                "ingress": [
                    {
                        "from": [{}],
                        "ports": [{"port": 70000, "protocol": "x"}, {"port": "UPPER"}, {"port": 80, "endPort": 70}],
                    }
                ],
            }
        },
        [
            invalid("spec.podSelector.matchLabels", "a b", NAME_PART),
            unsupported("spec.ingress[0].ports[0].protocol", "x", "TCP", "UDP", "SCTP"),
            invalid("spec.ingress[0].ports[0].port", 70000, PORT),
            invalid(
                "spec.ingress[0].ports[1].port",
                "UPPER",
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            ),
            invalid("spec.ingress[0].ports[1].port", "UPPER", "must contain at least one letter (a-z)"),
            invalid("spec.ingress[0].ports[2].endPort", 80, "must be greater than or equal to `port`"),
            required("spec.ingress[0].from[0]", "must specify a peer"),
            unsupported("spec.policyTypes[0]", "x", "Ingress", "Egress"),
        ],
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {
            "spec": {
                "podSelector": {},
                "egress": [
                    {"to": [{"ipBlock": {"cidr": "x"}, "podSelector": {}}]},
                    {"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/8"]}}, {"ipBlock": {}}]},
                ],
            }
        },
        [
            invalid(
                "spec.egress[0].to[0].ipBlock.cidr",
                "x",
                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
            ),
            forbidden("spec.egress[0].to[0]", "may not specify both ipBlock and another peer"),
            invalid("spec.egress[1].to[0].ipBlock.except[0]", "11.0.0.0/8", "must be a strict subset of `cidr`"),
            required("spec.egress[1].to[1].ipBlock.cidr"),
        ],
    ),
    (
        "discovery.k8s.io/v1/EndpointSlice",
        {"endpoints": [{"addresses": []}], "ports": [{"name": "A", "port": 70000, "protocol": "x"}]},
        [
            required("addressType"),
            invalid("ports[0].name", "A", LABEL),
            unsupported("ports[0].protocol", "x", "SCTP", "TCP", "UDP"),
            required("endpoints[0].addresses", "must contain at least 1 address"),
        ],
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        {
            "spec": {
                "maxReplicas": 1,
                "minReplicas": 2,
                "scaleTargetRef": {"kind": "a/b", "name": "..", "apiVersion": "apps/v1"},
            }
        },
        [
            invalid("spec.maxReplicas", 1, "must be greater than or equal to `minReplicas`"),
            invalid("spec.scaleTargetRef.kind", "a/b", "may not contain '/'"),
            invalid("spec.scaleTargetRef.name", "..", "may not be '..'"),
        ],
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        {
            "spec": {
                "maxReplicas": 1,
                "scaleTargetRef": {"kind": "D", "name": "x", "apiVersion": "apps/v1"},
                "metrics": [
                    {"type": "Foo"},
                    {"type": "Resource"},
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}},
                    {"type": ""},
                ],
            }
        },
        [
            unsupported("spec.metrics[0].type", "Foo", "ContainerResource", "External", "Object", "Pods", "Resource"),
            required("spec.metrics[1].resource", "must populate information for the given metric source"),
            required(
                "spec.metrics[2].resource.target.averageUtilization",
                "must set either a target raw value or a target utilization",
            ),
            required("spec.metrics[3].type", "must specify a metric source type"),
            unsupported("spec.metrics[3].type", "", "ContainerResource", "External", "Object", "Pods", "Resource"),
        ],
    ),
    (
        "policy/v1/PodDisruptionBudget",
        {"spec": {"minAvailable": -1, "selector": {"matchLabels": {"a b": "c"}}, "unhealthyPodEvictionPolicy": "x"}},
        [
            invalid("spec.minAvailable", -1, NEGATIVE),
            invalid("spec.selector.matchLabels", "a b", NAME_PART),
            unsupported("spec.unhealthyPodEvictionPolicy", "x", "AlwaysAllow", "IfHealthyBudget"),
        ],
    ),
    (
        "scheduling.k8s.io/v1/PriorityClass",
        {"value": 1, "preemptionPolicy": "x"},
        [unsupported("preemptionPolicy", "x", "PreemptLowerPriority", "Never")],
    ),
    (
        "scheduling.k8s.io/v1/PriorityClass",
        {"metadata": {"name": "system-foo"}, "value": 1},
        [
            forbidden(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only. "
                "error: system-foo is not a known system priority class",
            )
        ],
    ),
    (
        "v1/Event",
        {"involvedObject": {"namespace": "other", "kind": "Pod", "name": "x"}, "type": "x"},
        [invalid("involvedObject.namespace", "other", "does not match event.namespace")],
    ),
    ("v1/Event", {}, [invalid("involvedObject.namespace", "", "does not match event.namespace")]),
    (
        "v1/LimitRange",
        {"spec": {"limits": [{"type": ""}]}},
        [
            invalid("spec.limits[0].type", "", "name part must be non-empty"),
            invalid("spec.limits[0].type", "", NAME_PART),
        ],
    ),
    (
        "v1/ResourceQuota",
        {"spec": {"hard": {"pods": "-1", "foo": "1"}, "scopes": ["x"]}},
        [
            invalid("spec.hard[pods]", "-1", NEGATIVE),
            invalid("spec.hard[foo]", "foo", "must be a standard resource type or fully qualified"),
            invalid("spec.hard[foo]", "foo", "must be a standard resource for quota"),
            invalid("spec.scopes", ["x"], "unsupported scope"),
        ],
    ),
    (
        "v1/Node",
        {"spec": {"podCIDR": "x", "taints": [{"key": "", "effect": "x"}]}},
        [
            invalid("metadata.taints[0].key", "", "name part must be non-empty"),
            invalid("metadata.taints[0].key", "", NAME_PART),
            unsupported("metadata.taints[0].effect", "x", "NoSchedule", "PreferNoSchedule", "NoExecute"),
            invalid("spec.podCIDRs[0]", "x", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ],
    ),
    (
        "networking.k8s.io/v1/IngressClass",
        {"spec": {"controller": "x"}},
        [invalid("spec.controller", "x", 'must be a domain-prefixed path (such as "acme.io/foo")')],
    ),
    (
        "networking.k8s.io/v1/IngressClass",
        {"spec": {"controller": "a.b/c", "parameters": {"kind": "", "name": "", "scope": "x"}}},
        [
            required("spec.parameters.kind"),
            required("spec.parameters.name"),
            unsupported("spec.parameters.scope", "x", "Cluster", "Namespace"),
        ],
    ),
    (
        "v1/PodTemplate",
        {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}},
        [required("template.spec.containers")],
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
        {"webhooks": [{"name": "x", "sideEffects": "x", "admissionReviewVersions": [], "clientConfig": {}}]},
        [
            invalid("webhooks[0].name", "x", "should be a domain with at least three segments separated by dots"),
            unsupported("webhooks[0].sideEffects", "x", "None", "NoneOnDryRun"),
            required("webhooks[0].clientConfig", "exactly one of url or service is required"),
            required("webhooks[0].admissionReviewVersions", "must specify one of v1, v1beta1"),
        ],
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "clientConfig": {"url": "http://x"},
                    "timeoutSeconds": 31,
                    "failurePolicy": "x",
                    "matchPolicy": "y",
                    "rules": [{"operations": [], "apiGroups": [], "apiVersions": [], "resources": []}],
                }
            ]
        },
        [
            required("webhooks[0].rules[0].operations"),
            required("webhooks[0].rules[0].apiGroups"),
            required("webhooks[0].rules[0].apiVersions"),
            required("webhooks[0].rules[0].resources"),
            unsupported("webhooks[0].failurePolicy", "x", "Fail", "Ignore"),
            unsupported("webhooks[0].matchPolicy", "y", "Equivalent", "Exact"),
            invalid("webhooks[0].timeoutSeconds", 31, "the timeout value must be between 1 and 30 seconds"),
            invalid(
                "webhooks[0].clientConfig.url",
                "http",
                "'https' is the only allowed URL scheme; desired format: https://host[/path]",
            ),
        ],
    ),
    (
        "storage.k8s.io/v1/CSIDriver",
        {"spec": {"fsGroupPolicy": "x", "volumeLifecycleModes": ["y"]}},
        [
            unsupported("spec.fsGroupPolicy", "x", "File", "None", "ReadWriteOnceWithFSType"),
            unsupported("spec.volumeLifecycleModes", "y", "Persistent", "Ephemeral"),
        ],
    ),
    (
        "storage.k8s.io/v1/VolumeAttachment",
        {"spec": {"attacher": "", "nodeName": "", "source": {}}},
        [
            required("spec.attacher"),
            required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName"),
            invalid("spec.nodeName", "", SUBDOMAIN),
        ],
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        {
            "roleRef": {"kind": "ClusterRole", "name": "x"},
            "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
        },
        [],
    ),
    ("v1/ResourceQuota", {"spec": {"scopes": ["BestEffort"]}}, []),
    (
        "v1/Service",
        service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 86400}}),
        [],
    ),
    (
        "storage.k8s.io/v1/VolumeAttachment",
        {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
        [],
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {"spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress", "Ingress"]}},
        [
            invalid(
                "spec.policyTypes",
                ["Ingress", "Egress", "Ingress"],
                "may not specify more than two policyTypes",
            )
        ],
    ),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), OTHERS)
def test_an_invalid_object_is_rejected_with_the_causes_of_a_real_server(kind, fields, expected):
    check(kind, fields, expected)
