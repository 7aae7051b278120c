"""The rules for pods, each by what the real server answers when it is broken."""

import pytest
from tests.server.broken_objects import (
    CONTAINER,
    DOTS,
    IP,
    LABEL,
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
]


@pytest.mark.parametrize(("fields", "expected"), PODS)
def test_pods_keep_their_rules(fields, expected):
    check("v1/Pod", fields, expected)


def test_the_pods_of_a_template_keep_the_same_rules():
    broken = template(containers=[{}])
    path = "spec.template.spec.containers[0]"
    assert required(f"{path}.image") in causes("apps/v1/Deployment", workload(template=broken))
    assert required(f"spec.jobTemplate.{path}.image") in causes(
        "batch/v1/CronJob", cron_job(jobTemplate={"spec": {"template": broken}})
    )
