"""Validation of valid objects, of metadata, of updates and of random objects. Each kind has more tests of its own."""

from copy import deepcopy
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.broken_objects import (
    CONTAINER,
    DOTS,
    LABEL,
    LABEL_VALUE,
    NAME_PART,
    RESOURCES,
    SCHEMA,
    SELECTOR,
    SUBDOMAIN,
    causes,
    check,
    complete,
    container,
    cron_job,
    invalid,
    job,
    pod,
    required,
    service,
    template,
    workload,
)

from listwatch.errors import APIError
from listwatch.meta import Resource
from listwatch.server.rules.validation import RULES, validate_create, validate_update

WITH_RULES = [kind for kind, resource in RESOURCES.items() if str(resource.gvk.group_kind) in RULES]
WIDGETS = Resource(group="example.com", version="v1", kind="Widget", plural="widgets")

GOOD = [
    ("v1/ConfigMap", {"data": {"a": "b", ".x": "", "A_b-c.d": ""}}),
    ("v1/Pod", pod()),
    (
        "v1/Pod",
        pod(volumes=[{"name": "v"}], containers=[{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/x"}]}]),
    ),
    ("v1/Pod", container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}])),
    ("v1/Pod", container(resources={"limits": {"cpu": "1", "example.com/gpu": "1"}, "requests": {"cpu": "1"}})),
    ("v1/Pod", pod(tolerations=[{"operator": "Exists"}, {"key": "a/b", "value": "c", "effect": "NoSchedule"}])),
    ("apps/v1/Deployment", workload()),
    ("apps/v1/Deployment", workload(selector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]})),
    ("apps/v1/Deployment", workload(selector={"matchExpressions": [{"key": "z", "operator": "DoesNotExist"}]})),
    ("apps/v1/ReplicaSet", workload()),
    ("apps/v1/StatefulSet", workload(serviceName="x")),
    ("apps/v1/DaemonSet", workload()),
    ("v1/ReplicationController", {"spec": {"template": template()}}),
    ("batch/v1/Job", job()),
    ("batch/v1/CronJob", cron_job()),
    *(
        ("batch/v1/CronJob", cron_job(schedule=text))
        for text in ("@daily", "*/5 0-6/2 1,15 jan-MAR ?", "@every 1h", "5/15 * * * 0")
    ),
    ("v1/Service", service()),
    ("v1/Service", service(clusterIP="None", ports=[])),
    ("v1/Service", service(type="ExternalName", externalName="a.b.")),
    ("v1/Secret", {"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}}),
    ("v1/Namespace", {}),
    ("v1/Node", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}),
    (
        "v1/PersistentVolumeClaim",
        {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "resources": {"requests": {"storage": "1Gi"}},
            }
        },
    ),
    (
        "v1/PersistentVolume",
        {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
    ),
    (
        "rbac.authorization.k8s.io/v1/Role",
        {
            "metadata": {"name": "system:Any_name"},
            "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
        },
    ),
    ("rbac.authorization.k8s.io/v1/ClusterRole", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}]}),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        {"roleRef": {"kind": "Role", "name": "x"}, "subjects": [{"kind": "User", "name": "u"}]},
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        {
            "spec": {
                "podSelector": {},
                "ingress": [{}],
                "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}],
            }
        },
    ),
    (
        "networking.k8s.io/v1/Ingress",
        {
            "spec": {
                "rules": [
                    {
                        "host": "*.a.b",
                        "http": {
                            "paths": [
                                {
                                    "path": "/",
                                    "pathType": "Prefix",
                                    "backend": {"service": {"name": "x", "port": {"name": "web"}}},
                                }
                            ]
                        },
                    }
                ]
            }
        },
    ),
    (
        "coordination.k8s.io/v1/Lease",
        {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 0}},
    ),
    ("policy/v1/PodDisruptionBudget", {"spec": {"maxUnavailable": "100%", "selector": SELECTOR}}),
    (
        "discovery.k8s.io/v1/EndpointSlice",
        {"addressType": "IPv6", "endpoints": [{"addresses": ["::2"]}], "ports": [{"name": "a"}, {"name": "b"}]},
    ),
]


@pytest.mark.parametrize(("kind", "fields"), GOOD)
def test_a_valid_object_is_accepted(kind, fields):
    check(kind, fields, [])


METADATA = [
    ({"name": ""}, [required("metadata.name", "name or generateName is required")]),
    ({"name": "A"}, [invalid("metadata.name", "A", SUBDOMAIN)]),
    ({"name": "x" * 254}, [invalid("metadata.name", "x" * 254, "must be no more than 253 characters")]),
    ({"generateName": "A_"}, [invalid("metadata.generateName", "A_", SUBDOMAIN)]),
    ({"generateName": "web-"}, []),
    ({"labels": {"a b": "c"}}, [invalid("metadata.labels", "a b", NAME_PART)]),
    ({"labels": {"a": "c d"}}, [invalid("metadata.labels", "c d", LABEL_VALUE)]),
    ({"labels": {"a": "x" * 64}}, [invalid("metadata.labels", "x" * 64, "must be no more than 63 bytes")]),
    ({"labels": {"x" * 64: ""}}, [invalid("metadata.labels", "x" * 64, "name part must be no more than 63 bytes")]),
    ({"labels": {"/x": ""}}, [invalid("metadata.labels", "/x", "prefix part must be non-empty")]),
    ({"labels": {"A.b/c": ""}}, [invalid("metadata.labels", "A.b/c", f"prefix part {SUBDOMAIN}")]),
    (
        {"labels": {"x/": ""}},
        [
            invalid("metadata.labels", "x/", "name part must be non-empty"),
            invalid("metadata.labels", "x/", NAME_PART),
        ],
    ),
    (
        {"labels": {"a/b/c": ""}},
        [
            invalid(
                "metadata.labels",
                "a/b/c",
                NAME_PART.replace("name part", "a valid label key")
                + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            )
        ],
    ),
    ({"annotations": {"A.B/c": "any text, of course"}}, []),
    ({"annotations": {"a b": ""}}, [invalid("metadata.annotations", "a b", NAME_PART)]),
    (
        {"annotations": {"a": "x" * 262_144}},
        [("TooLong", "metadata.annotations", "Too long: may not be more than 262144 bytes")],
    ),
    ({"annotations": {"a": "x" * 262_143}}, []),
    (
        {"finalizers": ["x"]},
        [invalid("metadata.finalizers[0]", "x", "name is neither a standard finalizer name nor is it fully qualified")],
    ),
    ({"finalizers": ["a.b/c", "orphan"]}, []),
    ({"finalizers": ["x y/z"]}, [invalid("metadata.finalizers", "x y/z", f"prefix part {SUBDOMAIN}")]),
    (
        {"finalizers": ["orphan", "foregroundDeletion"]},
        [
            invalid(
                "metadata.finalizers",
                ["orphan", "foregroundDeletion"],
                "finalizer orphan and foregroundDeletion cannot be both set",
            )
        ],
    ),
    (
        {"ownerReferences": [{}]},
        [
            invalid("metadata.ownerReferences.apiVersion", "", "version must not be empty"),
            *(invalid(f"metadata.ownerReferences.{name}", "", "must not be empty") for name in ("kind", "name", "uid")),
        ],
    ),
    (
        {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "K", "name": "n", "uid": "u"}]},
        [invalid("metadata.ownerReferences.apiVersion", "a/b/c", "version must not be empty")],
    ),
]


@pytest.mark.parametrize(("metadata", "expected"), METADATA)
def test_invalid_metadata_is_rejected(metadata, expected):
    check("v1/ConfigMap", {"metadata": metadata}, expected)


def test_a_second_controlling_owner_is_rejected():
    references = [
        {"apiVersion": "v1", "kind": "K", "name": name, "uid": name, "controller": True} for name in ("n", "m")
    ]
    [(reason, field, message)] = causes("v1/ConfigMap", {"metadata": {"ownerReferences": references}})
    assert (reason, field) == ("Invalid", "metadata.ownerReferences")
    assert message.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for K/n and K/m'
    )


@pytest.mark.parametrize(
    ("kind", "name", "detail"),
    [
        ("v1/Namespace", "a.b", DOTS),
        ("v1/Namespace", "A", LABEL),
        ("v1/Service", "a.b", DOTS),
        ("apps/v1/StatefulSet", "a.b", DOTS),
        ("rbac.authorization.k8s.io/v1/Role", "a/b", "may not contain '/'"),
        ("rbac.authorization.k8s.io/v1/Role", "..", "may not be '..'"),
        ("rbac.authorization.k8s.io/v1/Role", "a%b", "may not contain '%'"),
        ("policy/v1/PodDisruptionBudget", "a/b", "may not contain '/'"),
        ("batch/v1/CronJob", "x" * 53, "must be no more than 52 characters"),
        ("v1/Pod", "a_b", SUBDOMAIN),
    ],
)
def test_names_are_validated_by_the_format_of_their_kind(kind, name, detail):
    assert invalid("metadata.name", name, detail) in causes(kind, {"metadata": {"name": name}})


def test_namespaced_objects_require_a_namespace_and_others_reject_it():
    tree, resource = complete("v1/ConfigMap", {})
    del tree["metadata"]["namespace"]
    assert [cause.field for cause in validate_create(tree, resource)] == ["metadata.namespace"]
    node, resource = complete("v1/Node", {})
    node["metadata"]["namespace"] = "ns"
    [cause] = validate_create(node, resource)
    assert str(cause) == "metadata.namespace: Forbidden: not allowed on this type"


def test_the_metadata_of_custom_objects_is_validated():
    tree = {"metadata": {"name": "A", "namespace": "ns", "finalizers": ["short"], "labels": {"a b": ""}}}
    assert [cause.field for cause in validate_create(tree, WIDGETS)] == ["metadata.name", "metadata.labels"]


# --- updates ---

UPDATES = [
    ("v1/Pod", pod(), pod(containers=[{"name": "a", "image": "y"}]), []),
    ("v1/Pod", pod(), pod(tolerations=[{"key": "new", "operator": "Exists"}]), []),
    ("v1/Pod", pod(activeDeadlineSeconds=9), pod(activeDeadlineSeconds=5), []),
    (
        "v1/Pod",
        pod(activeDeadlineSeconds=5),
        pod(activeDeadlineSeconds=9),
        ["spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to previous value"],
    ),
    (
        "v1/Pod",
        pod(activeDeadlineSeconds=5),
        pod(),
        ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    ),
    (
        "v1/Pod",
        pod(),
        pod(containers=[CONTAINER, {"name": "b", "image": "x"}]),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ),
    ("v1/Pod", pod(), pod(nodeName="n"), ["spec: Forbidden: pod updates may not change fields other than"]),
    (
        "v1/Pod",
        pod(),
        container(env=[{"name": "A"}]),
        ["spec: Forbidden: pod updates may not change fields other than"],
    ),
    (
        "v1/Pod",
        pod(),
        pod(restartPolicy="x"),
        ["spec.restartPolicy: Unsupported value", "spec: Forbidden: pod updates may not change fields other than"],
    ),
    ("apps/v1/Deployment", workload(), workload(replicas=5), []),
    (
        "apps/v1/Deployment",
        workload(selector={"matchLabels": {}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}),
        workload(),
        ['spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable'],
    ),
    ("apps/v1/StatefulSet", workload(serviceName="x"), workload(serviceName="x", replicas=3), []),
    (
        "apps/v1/StatefulSet",
        workload(serviceName="x"),
        workload(serviceName="y"),
        ["spec: Forbidden: updates to statefulset spec for fields other than 'replicas'"],
    ),
    ("batch/v1/Job", job(), job(parallelism=3, completions=1), []),
    ("batch/v1/Job", job(), job(completions=3), ["spec.completions: Invalid value: 3: field is immutable"]),
    (
        "batch/v1/Job",
        job(),
        job(completionMode="Indexed"),
        ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
    ),
    (
        "batch/v1/Job",
        job(),
        job(template=template(restartPolicy="Never", nodeSelector={"a": "b"})),
        ["spec.template: Invalid value: "],
    ),
    ("batch/v1/Job", job(suspend=True), job(template=template(restartPolicy="Never", nodeSelector={"a": "b"})), []),
    ("v1/Service", service(clusterIP="10.0.0.1"), service(clusterIP="10.0.0.1", ports=[{"port": 81}]), []),
    ("v1/Service", service(clusterIP="10.0.0.1"), service(), []),
    (
        "v1/Service",
        service(clusterIP="10.0.0.1"),
        service(clusterIP="10.0.0.2"),
        ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
    ),
    ("v1/Service", service(clusterIP="10.0.0.1"), service(type="ExternalName", externalName="a"), []),
    ("v1/ConfigMap", {"data": {"a": "b"}}, {"data": {"a": "c"}, "immutable": True}, []),
    (
        "v1/ConfigMap",
        {"data": {"a": "b"}, "immutable": True},
        {"data": {"a": "c"}, "immutable": True},
        ["data: Forbidden: field is immutable when `immutable` is set"],
    ),
    ("v1/ConfigMap", {"immutable": True}, {}, ["immutable: Forbidden: field is immutable when `immutable` is set"]),
    ("v1/Secret", {}, {"type": "x"}, ['type: Invalid value: "x": field is immutable']),
    (
        "v1/Secret",
        {"immutable": True},
        {"immutable": True, "stringData": {"a": "b"}},
        ["data: Forbidden: field is immutable when `immutable` is set"],
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        {"roleRef": {"kind": "Role", "name": "x"}},
        {"roleRef": {"kind": "Role", "name": "y"}},
        ["cannot change roleRef"],
    ),
    (
        "v1/PersistentVolumeClaim",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}},
        {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1"}}}},
        ["spec: Forbidden: spec is immutable after creation except resources.requests"],
    ),
    (
        "v1/PersistentVolumeClaim",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}},
        {"spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "v", "resources": {"requests": {"storage": "1"}}}},
        [],
    ),
    (
        "v1/PersistentVolume",
        {"spec": {"capacity": {"storage": "1"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
        {"spec": {"capacity": {"storage": "2"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/y"}}},
        ["spec.persistentvolumesource is immutable after creation"],
    ),
    (
        "storage.k8s.io/v1/StorageClass",
        {"provisioner": "a.b"},
        {"provisioner": "c.d"},
        ['provisioner: Invalid value: "c.d": field is immutable'],
    ),
    (
        "scheduling.k8s.io/v1/PriorityClass",
        {"value": 1},
        {"value": 2},
        ["value: Forbidden: may not be changed in an update."],
    ),
    (
        "discovery.k8s.io/v1/EndpointSlice",
        {"addressType": "IPv4"},
        {"addressType": "IPv6"},
        ['addressType: Invalid value: "IPv6": field is immutable'],
    ),
    (
        "v1/Node",
        {"spec": {"providerID": "a"}},
        {"spec": {"providerID": "b"}},
        ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ),
    ("v1/Node", {}, {"spec": {"providerID": "b"}}, []),
    ("v1/ConfigMap", {}, {"metadata": {"labels": {"a b": ""}}}, ["metadata.labels: Invalid value"]),
]


@pytest.mark.parametrize(("kind", "before", "after", "expected"), UPDATES)
def test_an_update_of_an_immutable_field_is_rejected(kind, before, after, expected):
    old, resource = complete(kind, before)
    new, _ = complete(kind, after)
    found = [str(cause) for cause in validate_update(new, old, resource)]
    assert len(found) == len(expected), found
    for text in expected:
        assert any(text in each for each in found), found


def test_a_bound_claim_may_request_more_storage():
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    old, resource = complete("v1/PersistentVolumeClaim", {"spec": spec})
    old["status"]["phase"] = "Bound"
    new = deepcopy(old)
    new["spec"]["resources"]["requests"]["storage"] = "2Gi"
    assert validate_update(new, old, resource) == []


def test_a_finalizer_cannot_be_added_to_an_object_that_is_being_deleted():
    old, resource = complete("v1/ConfigMap", {"metadata": {"finalizers": ["a.b/c", "a.b/d"]}})
    old["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    new = deepcopy(old)
    new["metadata"]["finalizers"] = ["a.b/c"]
    assert validate_update(new, old, resource) == []
    new["metadata"]["finalizers"] = ["a.b/c", "x.y/z"]
    [cause] = validate_update(new, old, resource)
    assert str(cause) == (
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"x.y/z"}'
    )


def test_a_status_update_of_a_pod_validates_only_the_metadata():
    old, resource = complete("v1/Pod", pod())
    new, _ = complete("v1/Pod", pod(nodeName="n"))
    new["metadata"]["labels"] = {"a b": ""}
    assert [cause.field for cause in validate_update(new, old, resource, subresource="status")] == ["metadata.labels"]
    assert {cause.field for cause in validate_update(new, old, resource)} == {"metadata.labels", "spec"}


# --- random objects ---


def random_value(random, shape, depth):
    if random.random() < 0.03:
        return None
    match shape.type:
        case "string":
            return random.choice(["", "a", "A", "x/y", "10.0.0.1", "80", "-", "None", "*"])
        case "integer":
            return random.choice([-1, 0, 1, 80, 70000])
        case "boolean":
            return random.random() < 0.5
        case "int-or-string":
            return random.choice([-1, 0, 1, "x", "50%", "%"])
        case "list":
            return [random_value(random, shape.items, depth) for _ in range(random.randint(0, 2))]
        case "map":
            return {random.choice("ab "): random_value(random, shape.items, depth) for _ in range(random.randint(0, 2))}
        case "ref":
            return random_struct(random, SCHEMA.type(shape.ref), depth + 1)
        case _:
            return random.choice([1, "x", None, {}])


def random_struct(random, type_, depth):
    match type_.name.rpartition(".")[2]:
        case "Quantity":
            return random.choice(["1", "-1", "1Gi", "0.5", 2])
        case "Time":
            return "2024-01-01T00:00:00Z"
        case "MicroTime":
            return "2024-01-01T00:00:00.000000Z"
        case "IntOrString":
            return random.choice([-1, 0, 1, "x", "50%", "%", "²%", "9" * 5000 + "%"])
    if not type_.fields:
        return {}
    density = max(0.15, 0.8 - depth * 0.15)
    chosen = [field for field in type_.fields.values() if random.random() < (density if depth < 7 else 0)]
    return {field.name: None if random.random() < 0.05 else random_value(random, field.type, depth) for field in chosen}


@given(st.randoms(use_true_random=False), st.sampled_from(WITH_RULES))
def test_every_object_that_can_be_decoded_can_be_validated(random: Random, kind):
    resource = RESOURCES[kind]
    type_ = SCHEMA.type_of(resource.api_version, resource.kind)
    trees = []
    for _ in range(2):
        fields = random_struct(random, type_, 0)
        fields.pop("apiVersion", None), fields.pop("kind", None)
        if fields.get("metadata") is None:
            fields["metadata"] = {}
        try:
            trees.append(complete(kind, fields)[0])
        except APIError:
            return
    for cause in [*validate_create(trees[0], resource), *validate_update(trees[0], trees[1], resource)]:
        assert cause.reason
        assert cause.message


def test_every_kind_in_the_table_of_rules_exists():
    assert RULES.keys() <= {str(resource.gvk.group_kind) for resource in SCHEMA.resources}
