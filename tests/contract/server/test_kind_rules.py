"""What the server sets on objects of single kinds, and warns of."""

import base64
import re
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import DEPLOYMENT, POD

ENDPOINTS_WARNING = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
SIGNING_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def test_every_request_for_a_deprecated_kind_has_a_warning(api: API):
    path = api.path("endpoints")
    assert ENDPOINTS_WARNING in api.post(path, {"metadata": {"name": "a"}}).warnings
    assert api.get(path).warnings == [ENDPOINTS_WARNING]
    assert api.get(api.path("endpoints", "none")).warnings == [ENDPOINTS_WARNING]
    assert api.get(path, watch="true", timeoutSeconds=1).warnings == [ENDPOINTS_WARNING]
    assert api.get(api.path("configmaps")).warnings == []


def test_an_annotation_counts_the_templates_of_a_daemon_set(api: API):
    def count(found: Tree) -> str:
        return found["metadata"]["annotations"][TEMPLATE_GENERATION]

    made = api.create("daemonsets", "a", version="apps/v1", spec=DEPLOYMENT)
    path = api.path("daemonsets", "a", version="apps/v1")
    assert count(made) == "1"
    assert count(api.patch(path, {"spec": {"minReadySeconds": 3}}).ok()) == "1"
    assert count(api.patch(path, {"metadata": {"annotations": {TEMPLATE_GENERATION: "7"}}}).ok()) == "1"
    template = {"metadata": {"annotations": {"changed": "yes"}}}
    assert count(api.patch(path, {"spec": {"template": template}}).ok()) == "2"


def signing_request(name: str) -> Tree:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "alice")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256())
    text = base64.b64encode(request.public_bytes(Encoding.PEM)).decode()
    spec = {"request": text, "signerName": "example.com/people", "usages": ["client auth"], "username": "mallory"}
    return {"metadata": {"name": name}, "spec": spec}


def test_a_signing_request_has_the_user_that_created_it(api: API):
    name = f"alice-{api.namespace}"
    made = api.post(SIGNING_REQUESTS, signing_request(name)).ok(201)
    try:
        assert made["spec"]["username"] not in ("", "mallory")
        assert "system:authenticated" in made["spec"]["groups"]
        change = {"spec": {"username": "mallory", "signerName": "example.com/others"}}
        assert api.patch(f"{SIGNING_REQUESTS}/{name}", change).ok()["spec"] == made["spec"]
    finally:
        api.delete(f"{SIGNING_REQUESTS}/{name}")


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"podIP": "10.1.0.1"}, {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}),
        ({"podIPs": [{"ip": "10.1.0.2"}]}, {"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.2"}]}),
        (
            {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.2"}, {"ip": "fd00::1"}]},
            {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]},
        ),
    ],
)
def test_the_address_of_a_pod_is_the_first_of_its_addresses(api: API, sent: Tree, stored: Tree):
    api.create("pods", "a", spec=POD)
    status = api.patch(api.path("pods", "a", "status"), {"status": sent}).ok()["status"]
    assert {name: status[name] for name in ("podIP", "podIPs")} == stored


def test_the_range_of_a_node_is_the_first_of_its_ranges(api: API):
    body = {"metadata": {"name": f"node-{api.namespace}"}, "spec": {"podCIDR": "10.1.0.0/24"}}
    spec = api.post("/api/v1/nodes", body, dryRun="All").ok(201)["spec"]
    assert (spec["podCIDR"], spec["podCIDRs"]) == ("10.1.0.0/24", ["10.1.0.0/24"])


@pytest.mark.parametrize(
    ("scopes", "hard", "problem"),
    [
        (["BestEffort"], {"cpu": "1", "pods": "2"}, "unsupported scope applied to resource"),
        (["BestEffort", "NotBestEffort"], {"pods": "2"}, "conflicting scopes"),
        (["Terminating"], {"services": "2"}, "unsupported scope applied to resource"),
        (["Sometimes"], {"pods": "2"}, "unsupported scope"),
    ],
)
def test_the_scopes_of_a_quota_fit_its_resources(api: API, scopes: list[str], hard: Tree, problem: str):
    body = {"metadata": {"name": "a"}, "spec": {"scopes": scopes, "hard": hard}}
    status = api.post(api.path("resourcequotas"), body).failed(422, "Invalid")
    assert {(each["field"], each["message"].rpartition(": ")[2]) for each in status["details"]["causes"]} == {
        ("spec.scopes", problem)
    }


def test_a_review_of_oneself_has_a_time(api: API):
    found = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).ok(201)
    assert found["metadata"]["creationTimestamp"].endswith("Z")
    assert "system:authenticated" in found["status"]["userInfo"]["groups"]


def test_discovery_has_the_address_of_the_server_and_hashes_of_stored_versions(api: API):
    [address] = api.get("/api").json["serverAddressByClientCIDRs"]
    assert address["serverAddress"].rpartition(":")[2].isdigit()
    found = {each["name"]: each.get("storageVersionHash", "") for each in api.get("/apis/apps/v1").json["resources"]}
    assert found["deployments"] == "8aSe+NMegvE="
    assert found["deployments/status"] == ""
    [scaler] = [each for each in api.get("/apis/autoscaling/v1").json["resources"] if "/" not in each["name"]]
    assert scaler["storageVersionHash"] == "qwQve8ut294="  # that of version 2


def test_the_problems_of_a_template_name_its_labels(api: API):
    template = {**DEPLOYMENT["template"], "metadata": {"labels": {"app": "web", "long": "x" * 64}}}
    spec = {**DEPLOYMENT, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    body = {"metadata": {"name": "a"}, "spec": spec}
    status = api.post(api.path("deployments", version="apps/v1"), body).failed(422, "Invalid")
    assert [each["field"] for each in status["details"]["causes"]] == ["spec.template.labels"]


def test_the_taints_of_a_node_are_unique_by_key_and_effect(api: API):
    taint = {"key": "spot", "effect": "NoSchedule"}
    node = {"metadata": {"name": api.namespace}, "spec": {"taints": [taint, {**taint, "value": "yes"}]}}
    status = api.post("/api/v1/nodes", node).failed(422, "Invalid")
    shown = '{"Key":"spot","Value":"yes","Effect":"NoSchedule","TimeAdded":null}'
    problem = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
    assert [(each["field"], each["message"]) for each in status["details"]["causes"]] == [
        ("metadata.taints[1]", problem)
    ]


def test_the_phase_of_a_volume_has_the_time_of_its_last_change(api: API):
    path = "/api/v1/persistentvolumes"
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    made = api.post(path, {"metadata": {"name": api.namespace}, "spec": spec}).ok(201)
    path = f"{path}/{api.namespace}"
    try:
        kept = api.put(f"{path}/status", {"metadata": {"name": api.namespace}, "status": {}}).ok()["status"]
        assert kept == made["status"]
        bound = api.patch(f"{path}/status", {"status": {"phase": "Bound"}}).ok()["status"]
        assert bound["lastPhaseTransitionTime"] >= kept["lastPhaseTransitionTime"]
        given = {"phase": "Failed", "lastPhaseTransitionTime": "2020-01-01T00:00:00Z"}
        assert api.patch(f"{path}/status", {"status": given}).ok()["status"] == given
    finally:
        api.patch(path, {"metadata": {"finalizers": None}})
        api.delete(path)


def test_a_storage_driver_keeps_its_modes_and_counts_other_changes(api: API):
    path = "/apis/storage.k8s.io/v1/csidrivers"
    made = api.post(path, {"metadata": {"name": api.namespace}, "spec": {"attachRequired": True}}).ok(201)
    path = f"{path}/{api.namespace}"
    try:
        assert "generation" not in made["metadata"]
        assert api.patch(path, {"spec": {"podInfoOnMount": True}}).ok()["metadata"]["generation"] == 1
        change = {"attachRequired": False, "volumeLifecycleModes": ["Ephemeral"]}
        status = api.patch(path, {"spec": change}).failed(422, "Invalid")
        fields = ["spec.attachedRequired", "spec.volumeLifecycleModes"]
        assert [each["field"] for each in status["details"]["causes"]] == fields
    finally:
        api.delete(path)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (None, "spec.controller: Required value"),
        ({"controller": "a"}, 'spec.controller: Invalid value: "a": must be a domain-prefixed path'),
        ({"controller": "a.io/" + "b" * 250}, "spec.controller: Too long: may not be more than 250 bytes"),
        (
            {"controller": "a.io/b", "parameters": {"kind": "K", "name": "..", "scope": "Cluster"}},
            "spec.parameters.name: Invalid value: \"..\": may not be '..'",
        ),
        (
            {"controller": "a.io/b", "parameters": {"kind": "K", "name": "n", "scope": "Namespace"}},
            "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
        ),
    ],
)
def test_an_ingress_class_needs_a_controller_and_valid_parameters(api: API, spec: Tree | None, problem: str):
    body = {"metadata": {"name": api.namespace}, **({"spec": spec} if spec else {})}
    status = api.post("/apis/networking.k8s.io/v1/ingressclasses", body).failed(422, "Invalid")
    assert f"is invalid: {problem}" in status["message"]


def test_the_preemption_policy_of_a_priority_class_cannot_change(api: API):
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    api.post(path, {"metadata": {"name": api.namespace}, "value": 10}).ok(201)
    try:
        status = api.patch(f"{path}/{api.namespace}", {"preemptionPolicy": "Always"}).failed(422, "Invalid")
        assert status["message"].endswith('is invalid: preemptionPolicy: Invalid value: "Always": field is immutable')
    finally:
        api.delete(f"{path}/{api.namespace}")


def test_the_problems_of_containers_are_listed_in_the_order_of_the_server(api: API):
    web = {
        "name": "web",
        "image": " web:1",
        "ports": [{"containerPort": 80, "hostPort": 70_000}],
        "envFrom": [{}],
        "volumeMounts": [{"name": "missing", "mountPath": "/a"}],
        "resources": {"limits": {"cpu": "-1"}},
        "readinessProbe": {},
    }
    init = {"name": "web", "image": "init:1", "livenessProbe": {"exec": {"command": ["true"]}}}
    spec = {"containers": [web], "initContainers": [init], "priority": 0, "hostname": "A", "dnsPolicy": "Mine"}
    message = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).failed(422, "Invalid")["message"]
    fields = re.findall(r"(spec\.[^ :]*): ", message)
    assert fields == [
        "spec.containers[0].ports[0].hostPort",
        "spec.containers[0].envFrom",
        "spec.containers[0].volumeMounts[0].name",
        "spec.containers[0].resources.limits[cpu]",
        "spec.containers[0].resources.requests[cpu]",  # its default is the limit
        "spec.containers[0].readinessProbe",
        "spec.initContainers[0].name",
        "spec.initContainers[0].livenessProbe",
        "spec.dnsPolicy",
        "spec.hostname",
        "spec.containers[0].image",
    ]


def test_a_restarted_init_container_may_have_probes(api: API):
    init = {"name": "init", "image": "init:1", "startupProbe": {"exec": {"command": ["true"]}}}
    spec = {"containers": [{"name": "web", "image": "web:1"}], "initContainers": [init]}
    status = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).failed(422, "Invalid")
    assert "may not be set for init containers without restartPolicy=Always" in status["message"]
    init["restartPolicy"] = "Always"
    api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)


def test_an_image_with_whitespace_is_rejected_in_pods_and_accepted_in_templates(api: API):
    spec = {"containers": [{"name": "web", "image": " "}]}
    api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).failed(422, "Invalid")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    deployment = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    path = api.path("deployments", version="apps/v1")
    api.post(path, {"metadata": {"name": "a"}, "spec": deployment}).ok(201)


def test_requests_of_resources_that_cannot_be_overcommitted_equal_their_limits(api: API):
    resources = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "2"}}
    spec = {"containers": [{"name": "web", "image": "web:1", "resources": resources}]}
    status = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.containers[0].resources.requests")}
    assert "must be equal to example.com/gpu limit of 2" in status["message"]


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def stateful_set(name: str, *, claims: list[Tree], **pod: Any) -> Tree:
    """A set whose container mounts the volume `data`."""
    [container] = POD["containers"]
    containers = [{**container, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]
    template = {**DEPLOYMENT["template"], "spec": {**POD, "containers": containers, **pod}}
    spec = {**DEPLOYMENT, "serviceName": "web", "template": template, "volumeClaimTemplates": claims}
    return {"metadata": {"name": name}, "spec": spec}


def test_containers_of_a_stateful_set_mount_the_volumes_of_its_claim_templates(api: API):
    path = api.path("statefulsets", version="apps/v1")
    volumes = [{"name": "data", "emptyDir": {}}]  # is replaced by the one of the claim
    api.post(path, stateful_set("a", claims=[CLAIM], hostname="Not A Name", volumes=volumes)).ok(201)
    api.patch(f"{path}/a", {"spec": {"replicas": 2}}).ok()
    refused = api.post(path, stateful_set("b", claims=[])).failed(422, "Invalid")
    place = "spec.template.spec.containers[0].volumeMounts[0].name"
    assert causes(refused) == {("FieldValueNotFound", place)}


def test_the_claim_templates_of_a_stateful_set_are_validated(api: API):
    claims = [CLAIM, {"metadata": {"name": "log"}, "spec": {"volumeMode": "odd"}}]
    refused = api.post(api.path("statefulsets", version="apps/v1"), stateful_set("a", claims=claims))
    place = "spec.volumeClaimTemplates[1].spec"
    assert causes(refused.failed(422, "Invalid")) == {
        ("FieldValueRequired", f"{place}.accessModes"),
        ("FieldValueRequired", f"{place}.resources[storage]"),
        ("FieldValueNotSupported", f"{place}.volumeMode"),
    }


@pytest.mark.parametrize(
    ("plural", "kind", "version"),
    [
        ("statefulsets", "StatefulSet", "apps/v1"),
        ("daemonsets", "DaemonSet", "apps/v1"),
        ("deployments", "ReplicaSet", "apps/v1"),
        ("replicationcontrollers", "ReplicationController", "v1"),
    ],
)
def test_pods_that_run_forever_have_no_deadline(api: API, plural: str, kind: str, version: str):
    template = {**DEPLOYMENT["template"], "spec": {**POD, "activeDeadlineSeconds": 5}}
    spec = {**DEPLOYMENT, "template": template}
    if kind == "ReplicationController":
        spec["selector"] = template["metadata"]["labels"]
    refused = api.post(api.path(plural, version=version), {"metadata": {"name": "a"}, "spec": spec})
    assert f"activeDeadlineSeconds in {kind} is not Supported" in refused.failed(422, "Invalid")["message"]


def test_existing_tolerations_of_a_pod_can_only_change_their_seconds(api: API):
    toleration = {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    spec = {"containers": [{"name": "web", "image": "web:1"}], "tolerations": [toleration]}
    made = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)
    added = {"key": "more", "operator": "Exists"}
    made["spec"]["tolerations"] = [{**toleration, "tolerationSeconds": 9}, added, *made["spec"]["tolerations"][1:]]
    changed = api.put(api.path("pods", "a"), made).ok()
    assert added in changed["spec"]["tolerations"]
    changed["spec"]["tolerations"][0]["key"] = "other"
    status = api.put(api.path("pods", "a"), changed).failed(422, "Invalid")
    why = "existing toleration can not be modified except its tolerationSeconds"
    assert status["message"] == f'Pod "a" is invalid: spec.tolerations: Forbidden: {why}'


def test_scheduling_gates_of_a_pod_can_only_be_removed(api: API):
    spec = {"containers": [{"name": "web", "image": "web:1"}], "schedulingGates": [{"name": "one"}]}
    made = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)
    made["spec"]["schedulingGates"] = [{"name": "two"}]
    status = api.put(api.path("pods", "a"), made).failed(422, "Invalid")
    assert "only deletion is allowed, but found new scheduling gate 'two'" in status["message"]
    del made["spec"]["schedulingGates"]
    assert "schedulingGates" not in api.put(api.path("pods", "a"), made).ok()["spec"]


def test_a_status_update_keeps_the_quality_of_service_of_a_pod(api: API):
    spec = {"containers": [{"name": "web", "image": "web:1"}]}
    made = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)
    path = api.path("pods", "a", "status")
    made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]}
    assert api.put(path, made).ok()["status"]["qosClass"] == "BestEffort"
    del made["status"]["conditions"][0]["observedGeneration"], made["metadata"]["resourceVersion"]
    assert api.put(path, made).ok()["status"]["conditions"][0]["observedGeneration"] == 1
    status = api.put(path, {**made, "status": {"qosClass": "Burstable"}}).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "status.qosClass")}


METRIC = "spec.metrics[0]"


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (
            {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Some", "averageUtilization": 50}}},
            {("FieldValueInvalid", f"{METRIC}.resource.target.type")},
        ),
        (
            {"type": "Resource", "resource": {"name": "cpu"}},
            {
                ("FieldValueRequired", f"{METRIC}.resource.target.type"),
                ("FieldValueInvalid", f"{METRIC}.resource.target.type"),
                ("FieldValueRequired", f"{METRIC}.resource.target.averageUtilization"),
            },
        ),
        (
            {"type": "Pods", "pods": {"metric": {"name": ""}, "target": {"type": "Value", "value": "0"}}},
            {
                ("FieldValueRequired", f"{METRIC}.pods.metric.name"),
                ("FieldValueInvalid", f"{METRIC}.pods.target.value"),
                ("FieldValueRequired", f"{METRIC}.pods.target.averageValue"),
            },
        ),
        (
            {
                "type": "External",
                "external": {"metric": {"name": "a"}, "target": {"type": "Value", "value": "1", "averageValue": "1"}},
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            },
            {("FieldValueForbidden", f"{METRIC}.external.target.value"), ("FieldValueForbidden", f"{METRIC}.resource")},
        ),
    ],
    ids=["type", "nothing", "pods", "two sources"],
)
def test_the_metrics_of_an_autoscaler_have_targets(api: API, metric: Tree, expected: set[tuple[str, str]]):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"metadata": {"name": "a"}, "spec": {"scaleTargetRef": target, "maxReplicas": 2, "metrics": [metric]}}
    path = api.path("horizontalpodautoscalers", version="autoscaling/v2")
    assert causes(api.post(path, body).failed(422, "Invalid")) == expected


def test_changes_that_are_not_allowed_are_listed_before_other_problems_of_an_ingress_class(api: API):
    path, name = "/apis/networking.k8s.io/v1/ingressclasses", api.namespace
    made = api.post(path, {"metadata": {"name": name}, "spec": {"controller": "example.com/a"}}).ok(201)
    try:
        message = api.put(f"{path}/{name}", {**made, "spec": {}}).failed(422, "Invalid")["message"]
        problems = '[spec.controller: Invalid value: "": field is immutable, spec.controller: Required value]'
        assert message.endswith(problems)
    finally:
        api.delete(f"{path}/{name}").ok()


def test_rules_that_a_role_does_not_have_have_no_manager(api: API):
    path = api.path("roles", version="rbac.authorization.k8s.io/v1")
    made = api.post(path, {"metadata": {"name": "a", "labels": {"a": "b"}}}).ok(201)
    [entry] = made["metadata"]["managedFields"]
    assert entry["fieldsV1"].keys() == {"f:metadata"}


def test_elements_with_the_same_key_are_managed_as_a_whole(api: API):
    ports = [{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}]
    spec = {"containers": [{"name": "web", "image": "web:1", "ports": ports}]}
    made = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)
    [entry] = made["metadata"]["managedFields"]
    managed = entry["fieldsV1"]["f:spec"]["f:containers"]['k:{"name":"web"}']["f:ports"]
    assert managed == {".": {}, 'k:{"containerPort":80,"protocol":"TCP"}': {}}


ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"


@pytest.mark.parametrize("name", ["192.0.2.77", "2001:db8::77"])
def test_the_name_of_an_ip_address_is_the_address(api: API, name: str):
    body = {"metadata": {"name": name}, "spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}}
    api.post(ADDRESSES, body).ok(201)
    try:
        changed = api.patch(f"{ADDRESSES}/{name}", {"spec": {"parentRef": {"name": "c"}}}).failed(422, "Invalid")
        assert causes(changed) == {("FieldValueInvalid", "spec.parentRef")}
    finally:
        api.delete(f"{ADDRESSES}/{name}").ok()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("web", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("192.0.2.0/24", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("fe80::1%eth0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("192.000.002.001", "must not have leading 0s"),
        ("::ffff:192.0.2.1", "must not be an IPv4-mapped IPv6 address"),
        ("2001:DB8:0::1", 'must be in canonical form ("2001:db8::1")'),
    ],
)
def test_an_ip_address_with_another_name_is_rejected(api: API, name: str, problem: str):
    refused = api.post(ADDRESSES, {"metadata": {"name": name}, "spec": {"parentRef": {"resource": "a/b"}}})
    found = refused.failed(422, "Invalid")
    assert f'metadata.name: Invalid value: "{name}": {problem}' in found["message"]
    assert causes(found) >= {
        ("FieldValueInvalid", "spec.parentRef.resource"),
        ("FieldValueRequired", "spec.parentRef.name"),
    }
