"""The behaviour of single kinds: those with two versions, and those with allocated addresses."""

import ipaddress
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import POD, create_event

NEWER = "events.k8s.io/v1"


# --- events -----------------------------------------------------------------------------------------------------------


def test_an_event_of_the_core_group_is_served_in_the_events_group(api: API):
    create_event(api, "e", reason="Started", message="It runs.", type="Normal", count=3, source={"component": "me"})
    found = api.get(api.path("events", "e", version=NEWER)).ok()
    assert (found["kind"], found["apiVersion"]) == ("Event", NEWER)
    assert found["regarding"]["name"] == api.namespace
    assert (found["note"], found["reason"], found["deprecatedCount"]) == ("It runs.", "Started", 3)
    assert found["deprecatedSource"] == {"component": "me"}


def test_an_event_of_the_events_group_is_served_in_the_core_group(api: API):
    body = {
        "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "example.com/me",
        "reportingInstance": "me-0",
        "action": "Start",
        "reason": "Started",
        "type": "Normal",
        "note": "It runs.",
        "regarding": {"kind": "Namespace", "namespace": api.namespace, "name": api.namespace},
    }
    created = api.post(api.path("events", version=NEWER), body).ok(201)
    assert created["note"] == "It runs."
    found = api.get(api.path("events", "e")).ok()
    assert (found["apiVersion"], found["message"]) == ("v1", "It runs.")
    assert found["reportingComponent"] == "example.com/me"
    assert found["involvedObject"]["name"] == api.namespace
    assert found["metadata"]["uid"] == created["metadata"]["uid"]


def test_events_are_listed_and_watched_in_both_groups(api: API):
    create_event(api, "e", message="text")
    listed = api.list(api.path("events", version=NEWER))
    assert (listed["kind"], listed["items"][0]["note"]) == ("EventList", "text")
    with api.watch(api.path("events", version=NEWER)) as watch:
        type_, found = watch.next()
    assert (type_, found["apiVersion"], found["note"]) == ("ADDED", NEWER, "text")


def test_events_are_selected_by_their_object(api: API):
    create_event(api, "e1", reason="A")
    create_event(api, "e2", reason="B")
    about = f"involvedObject.name={api.namespace},involvedObject.kind=Namespace"
    assert api.names(api.path("events"), fieldSelector=f"{about},reason=B") == ["e2"]


def test_the_object_of_an_event_must_be_in_its_namespace(api: API):
    body = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "other", "name": "x"}}
    status = api.post(api.path("events"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "involvedObject.namespace")}


# --- autoscalers ------------------------------------------------------------------------------------------------------


def autoscaler(**spec: Tree) -> Tree:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": reference, "maxReplicas": 5, **spec}}


def test_an_autoscaler_can_be_written_in_one_version_and_read_in_another(api: API):
    body = autoscaler(targetCPUUtilizationPercentage=70)
    created = api.post(api.path("horizontalpodautoscalers", version="autoscaling/v1"), body).ok(201)
    assert created["apiVersion"] == "autoscaling/v1"
    assert created["spec"]["targetCPUUtilizationPercentage"] == 70
    found = api.get(api.path("horizontalpodautoscalers", "web", version="autoscaling/v2")).ok()
    assert found["spec"]["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
    ]


def test_fields_that_an_older_version_lacks_are_not_lost(api: API):
    target = {"type": "AverageValue", "averageValue": "1Gi"}
    body = autoscaler(metrics=[{"type": "Resource", "resource": {"name": "memory", "target": target}}])
    created = api.post(api.path("horizontalpodautoscalers", version="autoscaling/v2"), body).ok(201)
    path = api.path("horizontalpodautoscalers", "web", version="autoscaling/v1")
    older = api.get(path).ok()
    assert "autoscaling.alpha.kubernetes.io/metrics" in older["metadata"]["annotations"]
    older["spec"]["maxReplicas"] = 7
    api.put(path, older).ok()
    newer = api.get(api.path("horizontalpodautoscalers", "web", version="autoscaling/v2")).ok()
    assert newer["spec"]["metrics"] == created["spec"]["metrics"]
    assert newer["spec"]["maxReplicas"] == 7
    assert "annotations" not in newer["metadata"]


def test_a_watch_shows_the_requested_api_version(api: API):
    api.post(api.path("horizontalpodautoscalers", version="autoscaling/v2"), autoscaler()).ok(201)
    for version in ("autoscaling/v1", "autoscaling/v2"):
        with api.watch(api.path("horizontalpodautoscalers", version=version)) as watch:
            assert watch.next()[1]["apiVersion"] == version


# --- services ---------------------------------------------------------------------------------------------------------

PORTS = [{"port": 80}]


@pytest.fixture(autouse=True)
def gives_addresses_back(api: API) -> Iterator[None]:
    """Addresses are few, and not every server deletes the contents of namespaces."""
    yield
    api.delete(api.path("services")).ok()


def service(api: API, name: str, **spec: Tree) -> Tree:
    return api.create("services", name, spec={"ports": PORTS, "selector": {"app": "web"}, **spec})


def test_a_service_gets_a_unique_address(api: API):
    specs = [service(api, name)["spec"] for name in ("a", "b")]
    for spec in specs:
        assert spec["type"] == "ClusterIP"
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        assert ipaddress.ip_address(spec["clusterIP"]).is_private
        assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
        assert spec["internalTrafficPolicy"] == "Cluster"
        assert spec["sessionAffinity"] == "None"
        assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert specs[0]["clusterIP"] != specs[1]["clusterIP"]


def test_a_new_service_has_no_load_balancer(api: API):
    assert service(api, "a")["status"] == {"loadBalancer": {}}


def test_a_service_keeps_its_address(api: API):
    before = service(api, "a")
    path = api.path("services", "a")
    body = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 81}], "selector": {"app": "web"}}}
    after = api.put(path, body).ok()
    assert after["spec"]["clusterIP"] == before["spec"]["clusterIP"]
    assert after["spec"]["ports"][0]["port"] == 81
    other = "10.0.0.99" if after["spec"]["clusterIP"] != "10.0.0.99" else "10.0.0.98"
    status = api.patch(path, {"spec": {"clusterIP": other, "clusterIPs": [other]}}).failed(422, "Invalid")
    assert ("FieldValueInvalid", "spec.clusterIPs[0]") in causes(status)


def test_an_address_is_free_again_when_its_service_is_deleted(api: API):
    address = service(api, "a")["spec"]["clusterIP"]
    status = api.post(
        api.path("services"), {"metadata": {"name": "b"}, "spec": {"ports": PORTS, "clusterIP": address}}
    ).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.clusterIPs")}
    assert "provided IP is already allocated" in status["message"]
    api.delete(api.path("services", "a")).ok()
    assert service(api, "b", clusterIP=address)["spec"]["clusterIP"] == address


def test_a_headless_service_has_no_address(api: API):
    spec = service(api, "a", clusterIP="None")["spec"]
    assert (spec["clusterIP"], spec["clusterIPs"]) == ("None", ["None"])


def test_an_external_name_service_has_no_address(api: API):
    created = api.create("services", "a", spec={"type": "ExternalName", "externalName": "example.com"})
    assert "clusterIP" not in created["spec"]
    assert "ipFamilies" not in created["spec"]


def test_a_node_port_service_gets_a_node_port(api: API):
    specs = [service(api, name, type="NodePort")["spec"] for name in ("a", "b")]
    ports = [spec["ports"][0]["nodePort"] for spec in specs]
    assert all(30000 <= port <= 32767 for port in ports)
    assert ports[0] != ports[1]
    assert specs[0]["externalTrafficPolicy"] == "Cluster"


def test_a_node_port_is_allocated_once(api: API):
    port = service(api, "a", type="NodePort")["spec"]["ports"][0]["nodePort"]
    body = {"metadata": {"name": "b"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}}
    status = api.post(api.path("services"), body).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "spec.ports[0].nodePort")}
    assert "provided port is already allocated" in status["message"]
    body["spec"]["ports"] = [{"port": 80, "nodePort": 80}]
    status = api.post(api.path("services"), body).failed(422, "Invalid")
    assert "provided port is not in the valid range" in status["message"]


def test_a_service_that_becomes_cluster_ip_releases_its_node_port(api: API):
    port = service(api, "a", type="NodePort")["spec"]["ports"][0]["nodePort"]
    patched = api.patch(api.path("services", "a"), {"spec": {"type": "ClusterIP"}}).ok()
    assert "nodePort" not in patched["spec"]["ports"][0]
    again = service(api, "b", type="NodePort", ports=[{"port": 80, "nodePort": port}])
    assert again["spec"]["ports"][0]["nodePort"] == port


def test_a_service_that_becomes_node_port_gets_node_ports(api: API):
    service(api, "a")
    patched = api.patch(api.path("services", "a"), {"spec": {"type": "NodePort"}}).ok()
    assert patched["spec"]["ports"][0]["nodePort"] >= 30000


def test_a_dry_run_allocates_no_node_port(api: API):
    ports = service(api, "a", type="NodePort")["spec"]["ports"]
    api.delete(api.path("services", "a")).ok()
    body = {"metadata": {"name": "b"}, "spec": {"type": "NodePort", "ports": ports}}
    assert api.post(api.path("services"), body, dryRun="All").ok(201)["spec"]["clusterIP"]
    assert service(api, "c", type="NodePort", ports=ports)["spec"]["ports"] == ports


# --- others -----------------------------------------------------------------------------------------------------------


def test_a_new_claim_is_pending(api: API):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    created = api.create("persistentvolumeclaims", "a", spec=spec)
    assert created["status"] == {"phase": "Pending"}
    assert created["spec"]["volumeMode"] == "Filesystem"
    api.patch(api.path("persistentvolumeclaims", "a"), {"metadata": {"finalizers": None}}).ok()


def test_quantities_are_stored_in_canonical_form(api: API):
    resources = {"requests": {"cpu": "0.5", "memory": "1024Mi"}}
    spec = {"containers": [{**POD["containers"][0], "resources": resources}]}
    created = api.create("pods", "web", spec=spec)
    assert created["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert created["status"]["qosClass"] == "Burstable"


def test_namespaces_are_selected_by_phase(api: API):
    fields = f"status.phase=Active,metadata.name={api.namespace}"
    assert api.names("/api/v1/namespaces", fieldSelector=fields) == [api.namespace]
