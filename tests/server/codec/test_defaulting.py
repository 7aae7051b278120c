"""Default values, and what the server adds to new objects."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.meta import GroupVersionKind
from listwatch.server.codec.decoding import decode_body
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.json_tree import value_at
from listwatch.server.lifecycle.strategy import add_tolerations, complete_new
from listwatch.server.schema.schema import builtin_schema

SCHEMA = builtin_schema()
CONTAINER = {"name": "a", "image": "nginx"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
SELECTOR = {"matchLabels": {"a": "b"}}


def defaulted(api_version, kind, **fields):
    body = json.dumps({"metadata": {"name": "x"}, **fields}).encode()
    tree = decode_body(body, "application/json", GroupVersionKind.of(api_version, kind), SCHEMA).tree
    apply_defaults(tree, SCHEMA)
    again = deepcopy(tree)
    apply_defaults(again, SCHEMA)
    assert again == tree, "a second time changes something"
    return tree


def pod(**spec):
    return defaulted("v1", "Pod", spec={"containers": [CONTAINER], **spec})


# --- Pods -------------------------------------------------------------------------------------------------------------


def test_a_pod_gets_its_defaults():
    assert pod()["spec"] == {
        "containers": [
            {
                "name": "a",
                "image": "nginx",
                "imagePullPolicy": "Always",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.2", "IfNotPresent"),
        ("host:5000/a/nginx", "Always"),
        ("host:5000/a/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
        ("nginx:latest@sha256:abc", "Always"),
        ("", "IfNotPresent"),
    ],
)
def test_the_pull_policy_depends_on_the_tag(image, policy):
    found = pod(containers=[{"name": "a", "image": image}])
    assert found["spec"]["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({}, {"emptyDir": {}}),
        ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        ({"image": {"reference": "a:1"}}, {"image": {"reference": "a:1", "pullPolicy": "IfNotPresent"}}),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                    "defaultMode": 420,
                }
            },
        ),
    ],
)
def test_volumes_get_their_defaults(volume, expected):
    assert pod(volumes=[{"name": "v", **volume}])["spec"]["volumes"] == [{"name": "v", **expected}]


def test_parts_of_containers_get_their_defaults():
    env = [{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    probe = {"httpGet": {"port": 80}}
    [container] = pod(containers=[{**CONTAINER, "ports": [{"containerPort": 80}], "livenessProbe": probe, "env": env}])[
        "spec"
    ]["containers"]
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert container["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def test_missing_requests_default_to_the_limits():
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    [container] = pod(containers=[{**CONTAINER, "resources": resources}])["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_host_ports_default_to_container_ports_on_the_host_network():
    [container] = pod(hostNetwork=True, containers=[{**CONTAINER, "ports": [{"containerPort": 80}]}])["spec"][
        "containers"
    ]
    assert container["ports"][0]["hostPort"] == 80


@pytest.mark.parametrize("name", ["serviceAccount", "serviceAccountName"])
def test_the_service_account_is_written_to_both_fields(name):
    spec = pod(**{name: "me"})["spec"]
    assert (spec["serviceAccount"], spec["serviceAccountName"]) == ("me", "me")


# --- Workloads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "spec", "path", "expected"),
    [
        ("Deployment", {}, "replicas", 1),
        ("Deployment", {"replicas": 0}, "replicas", 0),
        ("Deployment", {}, "revisionHistoryLimit", 10),
        ("Deployment", {}, "progressDeadlineSeconds", 600),
        (
            "Deployment",
            {},
            "strategy",
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        ),
        (
            "Deployment",
            {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
            "strategy.rollingUpdate",
            {"maxUnavailable": "25%", "maxSurge": 0},
        ),
        ("Deployment", {"strategy": {"type": "Recreate"}}, "strategy", {"type": "Recreate"}),
        ("Deployment", {}, "template.spec.restartPolicy", "Always"),
        ("Deployment", {}, "template.spec.enableServiceLinks", None),
        ("ReplicaSet", {}, "replicas", 1),
        ("StatefulSet", {}, "podManagementPolicy", "OrderedReady"),
        ("StatefulSet", {}, "replicas", 1),
        ("StatefulSet", {}, "revisionHistoryLimit", 10),
        ("DaemonSet", {}, "revisionHistoryLimit", 10),
        ("StatefulSet", {}, "updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete"}}, "updateStrategy", {"type": "OnDelete"}),
        (
            "StatefulSet",
            {},
            "persistentVolumeClaimRetentionPolicy",
            {"whenDeleted": "Retain", "whenScaled": "Retain"},
        ),
        (
            "DaemonSet",
            {},
            "updateStrategy",
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        ),
    ],
)
def test_workloads_get_their_defaults(kind, spec, path, expected):
    found = defaulted("apps/v1", kind, spec={"selector": SELECTOR, "template": TEMPLATE, **spec})
    assert value_at(found["spec"], *path.split(".")) == expected


def test_claim_templates_of_a_stateful_set_get_a_kind():
    claim = {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    found = defaulted("apps/v1", "StatefulSet", spec={"template": TEMPLATE, "volumeClaimTemplates": [claim]})
    [claim] = found["spec"]["volumeClaimTemplates"]
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert claim["status"] == {"phase": "Pending"}
    assert claim["spec"]["volumeMode"] == "Filesystem"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {"completions": 1, "parallelism": 1, "backoffLimit": 6}),
        ({"parallelism": 2}, {"completions": None, "parallelism": 2}),
        ({"completions": 3}, {"completions": 3, "parallelism": 1}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2**31 - 1}),
        ({}, {"completionMode": "NonIndexed", "suspend": False, "manualSelector": False}),
        ({}, {"podReplacementPolicy": "TerminatingOrFailed"}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
    ],
)
def test_jobs_get_their_defaults(spec, expected):
    found = defaulted("batch/v1", "Job", spec={"template": TEMPLATE, **spec})
    assert {name: found["spec"].get(name) for name in expected} == expected
    assert found["metadata"]["labels"] == {"a": "b"}


def test_the_job_template_of_a_cron_job_gets_no_job_defaults():
    found = defaulted("batch/v1", "CronJob", spec={"jobTemplate": {"spec": {"template": TEMPLATE}}})
    assert found["spec"]["concurrencyPolicy"] == "Allow"
    assert (found["spec"]["successfulJobsHistoryLimit"], found["spec"]["failedJobsHistoryLimit"]) == (3, 1)
    assert found["spec"]["suspend"] is False
    assert "parallelism" not in found["spec"]["jobTemplate"]["spec"]


def test_a_replication_controller_defaults_to_the_labels_of_its_template():
    found = defaulted("v1", "ReplicationController", spec={"template": TEMPLATE})
    assert (found["spec"]["replicas"], found["spec"]["selector"]) == (1, {"a": "b"})
    assert found["metadata"]["labels"] == {"a": "b"}


# --- Others -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"ports": [{"port": 80}]},
            {
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
                "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
                "externalTrafficPolicy": None,
            },
        ),
        (
            {"ports": [{"port": 80, "targetPort": "web"}]},
            {"ports": [{"port": 80, "protocol": "TCP", "targetPort": "web"}]},
        ),
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster"}),
        ({"externalIPs": ["1.2.3.4"]}, {"externalTrafficPolicy": "Cluster"}),
        ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
        ({"type": "ExternalName", "externalName": "a"}, {"internalTrafficPolicy": None}),
        ({"sessionAffinity": "ClientIP"}, {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}),
        ({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1}}}, {"sessionAffinityConfig": None}),
    ],
)
def test_services_get_their_defaults(spec, expected):
    found = defaulted("v1", "Service", spec=spec)["spec"]
    assert {name: found.get(name) for name in expected} == expected


def test_string_data_of_a_secret_is_moved_to_data():
    found = defaulted("v1", "Secret", data={"a": "YQ==", "b": "Yg=="}, stringData={"b": "ü"})
    assert found["type"] == "Opaque"
    assert found["data"] == {"a": "YQ==", "b": "w7w="}
    assert "stringData" not in found


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "path", "expected"),
    [
        ("v1", "Namespace", {}, "metadata.labels", {"kubernetes.io/metadata.name": "x"}),
        ("v1", "Namespace", {}, "status.phase", "Active"),
        ("v1", "PersistentVolumeClaim", {}, "spec.volumeMode", "Filesystem"),
        ("v1", "PersistentVolume", {}, "spec.persistentVolumeReclaimPolicy", "Retain"),
        ("v1", "Node", {"status": {"capacity": {"cpu": "4"}}}, "status.allocatable", {"cpu": "4"}),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", {}, "roleRef.apiGroup", "rbac.authorization.k8s.io"),
        ("storage.k8s.io/v1", "StorageClass", {}, "volumeBindingMode", "Immediate"),
        ("storage.k8s.io/v1", "CSIDriver", {}, "spec.volumeLifecycleModes", ["Persistent"]),
        ("scheduling.k8s.io/v1", "PriorityClass", {}, "preemptionPolicy", "PreemptLowerPriority"),
        ("networking.k8s.io/v1", "NetworkPolicy", {}, "spec.policyTypes", ["Ingress"]),
        (
            "networking.k8s.io/v1",
            "NetworkPolicy",
            {"spec": {"egress": [{}]}},
            "spec.policyTypes",
            ["Ingress", "Egress"],
        ),
        ("autoscaling/v2", "HorizontalPodAutoscaler", {}, "spec.minReplicas", 1),
    ],
)
def test_other_kinds_get_their_defaults(api_version, kind, fields, path, expected):
    assert value_at(defaulted(api_version, kind, **fields), *path.split(".")) == expected


def test_subjects_other_than_service_accounts_get_an_api_group():
    subjects = [{"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "name": "s"}]
    found = defaulted("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", subjects=subjects)["subjects"]
    assert [subject.get("apiGroup") for subject in found] == ["rbac.authorization.k8s.io"] * 2 + [None]


def test_limits_default_to_each_other():
    limit = {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Mi"}}
    [found] = defaulted("v1", "LimitRange", spec={"limits": [limit]})["spec"]["limits"]
    assert (found["default"], found["defaultRequest"]) == ({"cpu": "2"}, {"cpu": "2", "memory": "1Mi"})


def test_an_autoscaler_defaults_to_the_cpu_and_a_behavior():
    found = defaulted("autoscaling/v2", "HorizontalPodAutoscaler", spec={"behavior": {"scaleUp": {"policies": []}}})
    [metric] = found["spec"]["metrics"]
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}
    assert found["spec"]["behavior"]["scaleDown"]["selectPolicy"] == "Max"


def test_defaults_are_not_shared_between_objects():
    pod()["spec"]["securityContext"]["runAsUser"] = 1
    assert pod()["spec"]["securityContext"] == {}


@pytest.mark.parametrize("resource", SCHEMA.resources, ids=lambda resource: f"{resource.api_version}/{resource.kind}")
def test_every_kind_can_be_defaulted_from_an_empty_object(resource):
    if SCHEMA.type_of(resource.api_version, resource.kind):
        defaulted(resource.api_version, resource.kind)


# --- New objects ------------------------------------------------------------------------------------------------------


def new(api_version, kind, **fields):
    tree = defaulted(api_version, kind, **fields)
    tree["metadata"]["uid"] = "u-1"
    complete_new(tree)
    return tree


def test_a_new_namespace_has_a_finalizer():
    assert new("v1", "Namespace")["spec"]["finalizers"] == ["kubernetes"]
    assert new("v1", "Namespace", spec={"finalizers": ["a/b"]})["spec"]["finalizers"] == ["a/b", "kubernetes"]


def test_a_new_pod_is_pending_and_tolerates_unready_nodes_for_a_while():
    found = new("v1", "Pod", spec={"containers": [CONTAINER]})
    add_tolerations(found)
    assert found["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert [toleration["tolerationSeconds"] for toleration in found["spec"]["tolerations"]] == [300, 300]


def test_a_pod_that_tolerates_everything_gets_no_tolerations():
    tolerations = [{"operator": "Exists"}]
    found = new("v1", "Pod", spec={"containers": [CONTAINER], "tolerations": tolerations})
    add_tolerations(found)
    assert found["spec"]["tolerations"] == tolerations


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"limits": {"example.com/gpu": "1"}}, "BestEffort"),
    ],
)
def test_resources_decide_the_quality_of_service(resources, quality):
    found = new("v1", "Pod", spec={"containers": [{**CONTAINER, "resources": resources}]})
    assert found["status"]["qosClass"] == quality


def test_a_new_job_selects_its_pods_by_uid():
    spec = new("batch/v1", "Job", spec={"template": TEMPLATE})["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-1"}}
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert spec["template"]["metadata"]["labels"]["job-name"] == "x"


def test_a_job_may_choose_its_own_selector():
    fields = {"template": TEMPLATE, "manualSelector": True, "selector": SELECTOR}
    assert new("batch/v1", "Job", spec=fields)["spec"]["selector"] == SELECTOR


def test_completing_again_under_another_name_replaces_the_first_name():
    for kind, api_version in (("Namespace", "v1"), ("Job", "batch/v1")):
        tree = new(api_version, kind)
        tree["metadata"]["name"] = "y"
        complete_new(tree)
        assert "y" in tree["metadata"]["labels"].values()
        assert "x" not in tree["metadata"]["labels"].values()


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, {"allocationMode": "ExactCount", "count": 1}),
        ({"count": 2}, {"allocationMode": "ExactCount", "count": 2}),
        ({"allocationMode": "All"}, {"allocationMode": "All"}),
    ],
)
def test_a_device_request_defaults_to_one_device(request_, expected):
    exactly = {"deviceClassName": "c", **request_}
    spec = {"devices": {"requests": [{"name": "a", "exactly": exactly}]}}
    found = defaulted("resource.k8s.io/v1", "ResourceClaim", spec=spec)
    assert found["spec"]["devices"]["requests"][0]["exactly"] == {"deviceClassName": "c", **expected}


@given(st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy")))
def test_values_of_the_client_are_kept(labels):
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
    found = defaulted("apps/v1", "Deployment", spec={"replicas": 7, "template": template})
    assert found["spec"]["replicas"] == 7
    assert found["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    assert found["spec"]["template"]["metadata"].get("labels", {}) == labels
