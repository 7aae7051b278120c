"""The rules of pods: each violation has the causes that a real API server returns."""

import pytest
from tests.server.broken_objects import (
    CONTAINER,
    DOTS,
    IP,
    LABEL,
    LABEL_VALUE,
    NAME_PART,
    NEGATIVE,
    PORT,
    SUBDOMAIN,
    causes,
    check,
    container,
    cron_job,
    duplicate,
    forbidden,
    invalid,
    pod,
    required,
    template,
    unsupported,
    workload,
)

PODS = [
    ({}, [required("spec.containers")]),
    (pod(containers=[{}]), [required("spec.containers[0].name"), required("spec.containers[0].image")]),
    (container(name="A"), [invalid("spec.containers[0].name", "A", LABEL)]),
    (container(name="a.b"), [invalid("spec.containers[0].name", "a.b", DOTS)]),
    (
        container(image=" x"),
        [invalid("spec.containers[0].image", " x", "must not have leading or trailing whitespace")],
    ),
    (pod(containers=[CONTAINER, CONTAINER]), [duplicate("spec.containers[1].name", "a")]),
    (pod(initContainers=[CONTAINER]), [duplicate("spec.initContainers[0].name", "a")]),
    (pod(restartPolicy="Sometimes"), [unsupported("spec.restartPolicy", "Sometimes", "Always", "OnFailure", "Never")]),
    (
        pod(dnsPolicy="x"),
        [unsupported("spec.dnsPolicy", "x", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")],
    ),
    (pod(dnsPolicy="None"), [required("spec.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")]),
    (
        pod(activeDeadlineSeconds=0),
        [invalid("spec.activeDeadlineSeconds", 0, "must be between 1 and 2147483647, inclusive")],
    ),
    (pod(nodeName="A"), [invalid("spec.nodeName", "A", SUBDOMAIN)]),
    (
        pod(hostname="a.b", subdomain="A"),
        [invalid("spec.hostname", "a.b", DOTS), invalid("spec.subdomain", "A", LABEL)],
    ),
    (pod(nodeSelector={"a b": "c"}), [invalid("spec.nodeSelector", "a b", NAME_PART)]),
    (pod(hostAliases=[{"ip": "x"}]), [invalid("spec.hostAliases[0].ip", "x", IP)]),
    (
        container(imagePullPolicy="x"),
        [unsupported("spec.containers[0].imagePullPolicy", "x", "Always", "IfNotPresent", "Never")],
    ),
    (
        container(securityContext={"procMount": "x"}),
        [unsupported("spec.containers[0].securityContext.procMount", "x", "Default", "Unmasked")],
    ),
    (container(ports=[{}]), [required("spec.containers[0].ports[0].containerPort")]),
    (
        container(ports=[{"containerPort": 70000, "hostPort": 70000}]),
        [
            invalid("spec.containers[0].ports[0].containerPort", 70000, PORT),
            invalid("spec.containers[0].ports[0].hostPort", 70000, PORT),
        ],
    ),
    (
        container(ports=[{"containerPort": 80, "protocol": "x"}]),
        [unsupported("spec.containers[0].ports[0].protocol", "x", "SCTP", "TCP", "UDP")],
    ),
    (
        container(ports=[{"containerPort": 80, "name": "A--"}]),
        [
            invalid(
                "spec.containers[0].ports[0].name",
                "A--",
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            ),
            invalid("spec.containers[0].ports[0].name", "A--", "must contain at least one letter (a-z)"),
            invalid("spec.containers[0].ports[0].name", "A--", "must not contain consecutive hyphens"),
            invalid("spec.containers[0].ports[0].name", "A--", "must not begin or end with a hyphen"),
        ],
    ),
    (
        container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        [duplicate("spec.containers[0].ports[1].name", "a")],
    ),
    (
        container(ports=[{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}]),
        [duplicate("spec.containers[0].ports[1].hostPort", "TCP//9")],
    ),
    (
        pod(hostNetwork=True, containers=[{**CONTAINER, "ports": [{"containerPort": 80, "hostPort": 81}]}]),
        [
            invalid(
                "spec.containers[0].ports[0].hostPort", 81, "must match `containerPort` when `hostNetwork` is true"
            ),
        ],
    ),
    (container(env=[{}]), [required("spec.containers[0].env[0].name")]),
    (
        container(env=[{"name": "a=b"}]),
        [
            invalid(
                "spec.containers[0].env[0].name",
                "a=b",
                "a valid environment variable name must consist only of printable ASCII characters other than '='",
            ),
        ],
    ),
    (
        container(env=[{"name": "a", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        [
            invalid("spec.containers[0].env[0].valueFrom", "", "may not be specified when `value` is not empty"),
        ],
    ),
    (
        container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.foo"}}}]),
        [
            invalid(
                "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
                "metadata.foo",
                "error converting fieldPath: field label not supported: metadata.foo",
            ),
        ],
    ),
    (
        container(volumeMounts=[{"name": "v"}]),
        [
            ("NotFound", "spec.containers[0].volumeMounts[0].name", 'Not found: "v"'),
            required("spec.containers[0].volumeMounts[0].mountPath"),
        ],
    ),
    (
        pod(
            volumes=[{"name": "v"}], containers=[{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/x"}] * 2}]
        ),
        [
            invalid("spec.containers[0].volumeMounts[1].mountPath", "/x", "must be unique"),
        ],
    ),
    (pod(volumes=[{"name": "v"}, {"name": "v"}]), [duplicate("spec.volumes[1].name", "v")]),
    (pod(volumes=[{}]), [required("spec.volumes[0].name")]),
    (
        pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
        [
            forbidden("spec.volumes[0].hostPath", "may not specify more than 1 volume type"),
        ],
    ),
    # Only the source that is checked first is checked further, in whichever order the sources are written.
    (
        pod(volumes=[{"name": "v", "hostPath": {"path": ""}, "emptyDir": {}}]),
        [forbidden("spec.volumes[0].hostPath", "may not specify more than 1 volume type")],
    ),
    (
        pod(volumes=[{"name": "v", "configMap": {}, "secret": {}}]),
        [
            required("spec.volumes[0].secret.secretName"),
            forbidden("spec.volumes[0].configMap", "may not specify more than 1 volume type"),
        ],
    ),
    (pod(volumes=[{"name": "v", "configMap": {}}]), [required("spec.volumes[0].configMap.name")]),
    (pod(volumes=[{"name": "v", "secret": {}}]), [required("spec.volumes[0].secret.secretName")]),
    (
        pod(volumes=[{"name": "v", "persistentVolumeClaim": {}}]),
        [required("spec.volumes[0].persistentVolumeClaim.claimName")],
    ),
    (
        pod(volumes=[{"name": "v", "hostPath": {"path": "/a/../b"}}]),
        [invalid("spec.volumes[0].hostPath.path", "/a/../b", "must not contain '..'")],
    ),
    (container(livenessProbe={}), [required("spec.containers[0].livenessProbe", "must specify a handler type")]),
    (
        container(livenessProbe={"tcpSocket": {"port": 0}, "successThreshold": 2}),
        [
            invalid("spec.containers[0].livenessProbe.tcpSocket.port", 0, PORT),
            invalid("spec.containers[0].livenessProbe.successThreshold", 2, "must be 1"),
        ],
    ),
    (
        container(readinessProbe={"exec": {}, "periodSeconds": -1}),
        [
            required("spec.containers[0].readinessProbe.exec.command"),
            invalid("spec.containers[0].readinessProbe.periodSeconds", -1, NEGATIVE),
        ],
    ),
    (
        container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
        [
            invalid("spec.containers[0].resources.requests", "2", "must be less than or equal to cpu limit of 1"),
        ],
    ),
    (
        container(resources={"requests": {"cpu": "-1"}}),
        [invalid("spec.containers[0].resources.requests[cpu]", "-1", NEGATIVE)],
    ),
    (
        container(resources={"requests": {"a.b/c": "1500m"}}),
        [
            invalid("spec.containers[0].resources.requests[a.b/c]", "1500m", "must be an integer"),
            required("spec.containers[0].resources.limits", "Limit must be set for non overcommitable resources"),
        ],
    ),
    (
        pod(tolerations=[{"value": "x"}]),
        [
            invalid(
                "spec.tolerations[0].operator",
                "",
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
        ],
    ),
    (
        pod(tolerations=[{"key": "a", "operator": "x"}]),
        [unsupported("spec.tolerations[0].operator", "x", "Equal", "Exists")],
    ),
    (
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
        [
            invalid("spec.topologySpreadConstraints[0].maxSkew", 0, "must be greater than zero"),
        ],
    ),
    (
        pod(ephemeralContainers=[{"name": "e", "image": "x"}]),
        [forbidden("spec.ephemeralContainers", "cannot be set on create")],
    ),
    (pod(containers=[]), [required("spec.containers")]),
    (pod(containers=[{"name": "a", "image": ""}]), [required("spec.containers[0].image")]),
    (pod(initContainers=[{"name": "i"}]), [required("spec.initContainers[0].image")]),
    (pod(serviceAccountName="A"), [invalid("spec.serviceAccountName", "A", SUBDOMAIN)]),
    (
        pod(nodeSelector={"a b": "c d"}),
        [invalid("spec.nodeSelector", "a b", NAME_PART), invalid("spec.nodeSelector", "c d", LABEL_VALUE)],
    ),
    (
        pod(hostAliases=[{"ip": "x", "hostnames": ["A"]}]),
        [invalid("spec.hostAliases[0].ip", "x", IP), invalid("spec.hostAliases[0].hostnames[0]", "A", SUBDOMAIN)],
    ),
    (
        pod(readinessGates=[{"conditionType": "a b"}]),
        [invalid("spec.readinessGates[0].conditionType", "a b", NAME_PART)],
    ),
    (
        pod(tolerations=[{"operator": "Equal", "value": "x"}]),
        [
            invalid(
                "spec.tolerations[0].operator",
                "Equal",
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        ],
    ),
    (
        pod(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]),
        [invalid("spec.tolerations[0].operator", "x", "value must be empty when `operator` is 'Exists'")],
    ),
    (
        pod(tolerations=[{"key": "a b", "effect": "x"}]),
        [
            invalid("spec.tolerations[0].key", "a b", NAME_PART),
            unsupported("spec.tolerations[0].effect", "x", "NoSchedule", "PreferNoSchedule", "NoExecute"),
        ],
    ),
    (
        pod(tolerations=[{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        [
            invalid(
                "spec.tolerations[0].effect", "NoSchedule", "effect must be 'NoExecute' when `tolerationSeconds` is set"
            )
        ],
    ),
    (
        container(terminationMessagePolicy="x"),
        [unsupported("spec.containers[0].terminationMessagePolicy", "x", "File", "FallbackToLogsOnError")],
    ),
    (container(ports=[{"containerPort": 0}]), [required("spec.containers[0].ports[0].containerPort")]),
    (
        container(ports=[{"containerPort": 80, "protocol": "x", "name": "UPPER"}]),
        [
            invalid(
                "spec.containers[0].ports[0].name",
                "UPPER",
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            ),
            invalid("spec.containers[0].ports[0].name", "UPPER", "must contain at least one letter (a-z)"),
            unsupported("spec.containers[0].ports[0].protocol", "x", "SCTP", "TCP", "UDP"),
        ],
    ),
    (
        container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]),
        [duplicate("spec.containers[0].ports[1].name", "a")],
    ),
    (
        container(ports=[{"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1}]),
        [duplicate("spec.containers[0].ports[1].hostPort", "TCP//1")],
    ),
    (container(env=[{"value": "x"}]), [required("spec.containers[0].env[0].name")]),
    (
        container(env=[{"name": "a", "valueFrom": {}}]),
        [
            invalid(
                "spec.containers[0].env[0].valueFrom",
                "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` "
                "or `fileKeyRef`",
            )
        ],
    ),
    (
        container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": ""}}}]),
        [required("spec.containers[0].env[0].valueFrom.fieldRef.fieldPath")],
    ),
    (
        container(env=[{"name": "a", "valueFrom": {"configMapKeyRef": {"name": "x"}}}]),
        [required("spec.containers[0].env[0].valueFrom.configMapKeyRef.key")],
    ),
    (
        container(env=[{"name": "a", "valueFrom": {"secretKeyRef": {"key": "x"}}}]),
        [invalid("spec.containers[0].env[0].valueFrom.secretKeyRef.name", "", SUBDOMAIN)],
    ),
    (
        container(
            env=[
                {
                    "name": "a",
                    "valueFrom": {
                        "secretKeyRef": {"key": "x", "name": "y"},
                        "configMapKeyRef": {"key": "x", "name": "y"},
                    },
                }
            ]
        ),
        [invalid("spec.containers[0].env[0].valueFrom", "", "may not have more than one field specified at a time")],
    ),
    (
        container(envFrom=[{}]),
        [invalid("spec.containers[0].envFrom", "", "must specify one of: `configMapRef` or `secretRef`")],
    ),
    (container(envFrom=[{"configMapRef": {}}]), [required("spec.containers[0].envFrom[0].configMapRef.name")]),
    (
        container(volumeMounts=[{"name": "v", "mountPath": "/x"}]),
        [("NotFound", "spec.containers[0].volumeMounts[0].name", 'Not found: "v"')],
    ),
    (
        container(volumeMounts=[{"mountPath": "/x"}]),
        [
            required("spec.containers[0].volumeMounts[0].name"),
            ("NotFound", "spec.containers[0].volumeMounts[0].name", 'Not found: ""'),
        ],
    ),
    (
        pod(
            containers=[
                {
                    "name": "a",
                    "image": "x",
                    "volumeMounts": [
                        {"name": "v", "mountPath": "/x", "subPath": "/a"},
                        {"name": "v", "mountPath": "/y", "subPath": "../a"},
                    ],
                }
            ],
            volumes=[{"name": "v"}],
        ),
        [
            invalid("spec.containers[0].volumeMounts.subPath", "/a", "must be a relative path"),
            invalid("spec.containers[0].volumeMounts.subPath", "../a", "must not contain '..'"),
        ],
    ),
    (
        pod(
            containers=[
                {
                    "name": "a",
                    "image": "x",
                    "volumeMounts": [{"name": "v", "mountPath": "/x", "mountPropagation": "foo"}],
                }
            ],
            volumes=[{"name": "v"}],
        ),
        [
            unsupported(
                "spec.containers[0].volumeMounts.mountPropagation", "foo", "Bidirectional", "HostToContainer", "None"
            )
        ],
    ),
    (pod(volumes=[{"name": "A"}]), [invalid("spec.volumes[0].name", "A", LABEL)]),
    (pod(volumes=[{"name": "v", "hostPath": {}}]), [required("spec.volumes[0].hostPath.path")]),
    (
        pod(volumes=[{"name": "v", "hostPath": {"path": "/a", "type": "x"}}]),
        [
            unsupported(
                "spec.volumes[0].hostPath.type",
                "x",
                "",
                "BlockDevice",
                "CharDevice",
                "Directory",
                "DirectoryOrCreate",
                "File",
                "FileOrCreate",
                "Socket",
            )
        ],
    ),
    (
        pod(volumes=[{"name": "v", "configMap": {"name": "x", "defaultMode": 4096}}]),
        [
            invalid(
                "spec.volumes[0].configMap.defaultMode",
                4096,
                "must be a number between 0 and 0777 (octal), both inclusive",
            )
        ],
    ),
    (
        pod(
            volumes=[
                {
                    "name": "v",
                    "configMap": {
                        "name": "x",
                        "items": [
                            {"key": "", "path": ""},
                            {"key": "a", "path": "/abs"},
                            {"key": "a", "path": "a/../b"},
                        ],
                    },
                }
            ]
        ),
        [
            required("spec.volumes[0].configMap.items[0].key"),
            required("spec.volumes[0].configMap.items[0].path"),
            invalid("spec.volumes[0].configMap.items[1].path", "/abs", "must be a relative path"),
            invalid("spec.volumes[0].configMap.items[2].path", "a/../b", "must not contain '..'"),
        ],
    ),
    (
        pod(volumes=[{"name": "v", "nfs": {}}]),
        [
            required("spec.volumes[0].nfs.server"),
            required("spec.volumes[0].nfs.path"),
            invalid("spec.volumes[0].nfs.path", "", "must be an absolute path"),
        ],
    ),
    (
        pod(volumes=[{"name": "v", "emptyDir": {"medium": "x", "sizeLimit": "-1"}}]),
        [forbidden("spec.volumes[0].emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity")],
    ),
    (
        pod(volumes=[{"name": "v", "downwardAPI": {"items": [{"path": "a"}]}}]),
        [required("spec.volumes[0].downwardAPI", "one of fieldRef and resourceFieldRef is required")],
    ),
    (pod(volumes=[{"name": "v", "csi": {}}]), [required("spec.volumes[0].csi.driver")]),
    (
        container(livenessProbe={"httpGet": {"port": 0}, "successThreshold": 2}),
        [
            invalid("spec.containers[0].livenessProbe.httpGet.port", 0, PORT),
            invalid("spec.containers[0].livenessProbe.successThreshold", 2, "must be 1"),
        ],
    ),
    (
        container(livenessProbe={"httpGet": {"port": "UPPER"}, "exec": {"command": ["x"]}}),
        [forbidden("spec.containers[0].livenessProbe.httpGet", "may not specify more than 1 handler type")],
    ),
    (
        container(
            readinessProbe={
                "exec": {},
                "initialDelaySeconds": -1,
                "timeoutSeconds": -1,
                "periodSeconds": -1,
                "successThreshold": -1,
                "failureThreshold": -1,
            }
        ),
        [
            required("spec.containers[0].readinessProbe.exec.command"),
            invalid("spec.containers[0].readinessProbe.initialDelaySeconds", -1, NEGATIVE),
            invalid("spec.containers[0].readinessProbe.timeoutSeconds", -1, NEGATIVE),
            invalid("spec.containers[0].readinessProbe.periodSeconds", -1, NEGATIVE),
            invalid("spec.containers[0].readinessProbe.successThreshold", -1, NEGATIVE),
            invalid("spec.containers[0].readinessProbe.failureThreshold", -1, NEGATIVE),
        ],
    ),
    (
        container(readinessProbe={"httpGet": {"port": 80, "scheme": "x"}}),
        [unsupported("spec.containers[0].readinessProbe.httpGet.scheme", "x", "HTTP", "HTTPS")],
    ),
    (
        container(livenessProbe={"tcpSocket": {"port": 70000}}),
        [invalid("spec.containers[0].livenessProbe.tcpSocket.port", 70000, PORT)],
    ),
    (
        container(lifecycle={"preStop": {}}),
        [required("spec.containers[0].lifecycle.preStop", "must specify a handler type")],
    ),
    (
        container(resources={"limits": {"cpu": "-1"}}),
        [
            invalid("spec.containers[0].resources.limits[cpu]", "-1", NEGATIVE),
            invalid("spec.containers[0].resources.requests[cpu]", "-1", NEGATIVE),
        ],
    ),
    (
        container(resources={"requests": {"foo": "2"}}),
        [
            invalid(
                "spec.containers[0].resources.requests[foo]",
                "foo",
                "must be a standard resource type or fully qualified",
            ),
            invalid("spec.containers[0].resources.requests[foo]", "foo", "must be a standard resource for containers"),
        ],
    ),
    (
        container(resources={"requests": {"a.b/c": "1.5"}}),
        [
            invalid("spec.containers[0].resources.requests[a.b/c]", "1500m", "must be an integer"),
            required("spec.containers[0].resources.limits", "Limit must be set for non overcommitable resources"),
        ],
    ),
    (
        container(resources={"requests": {"a.b/c": "2"}}),
        [required("spec.containers[0].resources.limits", "Limit must be set for non overcommitable resources")],
    ),
    (
        container(securityContext={"runAsUser": -1, "runAsGroup": -1}),
        [
            invalid("spec.containers[0].securityContext.runAsUser", -1, "must be between 0 and 2147483647, inclusive"),
            invalid("spec.containers[0].securityContext.runAsGroup", -1, "must be between 0 and 2147483647, inclusive"),
        ],
    ),
    (
        pod(securityContext={"runAsUser": -1, "fsGroup": -1}),
        [
            invalid("spec.securityContext.fsGroup", -1, "must be between 0 and 2147483647, inclusive"),
            invalid("spec.securityContext.runAsUser", -1, "must be between 0 and 2147483647, inclusive"),
        ],
    ),
    (
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "x"}]),
        [
            invalid("spec.topologySpreadConstraints[0].maxSkew", 0, "must be greater than zero"),
            required("spec.topologySpreadConstraints[0].topologyKey", "can not be empty"),
            unsupported("spec.topologySpreadConstraints[0].whenUnsatisfiable", "x", "DoNotSchedule", "ScheduleAnyway"),
        ],
    ),
    (
        pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        [
            required(
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
                "must have at least one node selector term",
            )
        ],
    ),
    (
        pod(
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "x"}]}]
                    }
                }
            }
        ),
        [
            invalid(
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
                "x",
                "not a valid selector operator",
            )
        ],
    ),
    (
        pod(
            affinity={
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": ""}
                    ]
                }
            }
        ),
        [
            required(
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
                "can not be empty",
            ),
            invalid(
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
                "",
                "name part must be non-empty",
            ),
            invalid(
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
                "",
                NAME_PART,
            ),
        ],
    ),
    (
        pod(
            affinity={
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 0,
                            "podAffinityTerm": {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "x"},
                        }
                    ]
                }
            }
        ),
        [
            invalid(
                "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
                0,
                "must be in the range 1-100",
            )
        ],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), PODS)
def test_an_invalid_pod_is_rejected_with_the_causes_of_a_real_server(fields, expected):
    check("v1/Pod", fields, expected)


def test_the_rules_of_pods_apply_to_pod_templates():
    broken = template(containers=[{}])
    path = "spec.template.spec.containers[0]"
    assert required(f"{path}.image") in causes("apps/v1/Deployment", workload(template=broken))
    assert required(f"spec.jobTemplate.{path}.image") in causes(
        "batch/v1/CronJob", cron_job(jobTemplate={"spec": {"template": broken}})
    )
