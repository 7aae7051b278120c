"""Selectable fields, and the events within a selection."""

import json
from typing import Any

import pytest

from listwatch.errors import BadRequestError
from listwatch.meta import ObjectKey, Resource
from listwatch.selectors import FieldSelector, LabelSelector
from listwatch.server.protocol.field_selectors import Selection, check_fields
from listwatch.server.schema.registry import Registry
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, Stored

REGISTRY = Registry.builtin()


def resource(path: str) -> Resource:
    *group, version, plural = path.split("/")
    found = REGISTRY.lookup("".join(group), version, plural)
    assert found
    return found


def stored(tree: dict[str, Any], path: str = "ns/x", revision: int = 1) -> Stored:
    namespace, _, name = path.rpartition("/")
    return Stored(ObjectKey(namespace, name), json.dumps(tree).encode(), revision)


def selection(path: str, fields: str = "", labels: str = "", namespace: str = "") -> Selection:
    requested = resource(path)
    return Selection(
        REGISTRY.stored_as(requested).group_resource,
        namespace,
        LabelSelector.parse(labels),
        check_fields(FieldSelector.parse(fields), requested),
    )


POD = {
    "spec": {"nodeName": "n1", "restartPolicy": "Always", "schedulerName": "s", "serviceAccountName": "me"},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "::1"}], "podIP": "10.0.0.1",
               "nominatedNodeName": "n2"},
}  # fmt: skip
EVENT = {
    "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "web", "uid": "u", "apiVersion": "v1",
                       "resourceVersion": "5", "fieldPath": "spec"},
    "reason": "Started",
    "type": "Normal",
    "reportingComponent": "kubelet",
    "source": {"component": "agent"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "tree", "fields"),
    [
        ("v1/pods", POD, "spec.nodeName=n1,spec.restartPolicy=Always,spec.schedulerName=s,spec.serviceAccountName=me"),
        ("v1/pods", POD, "status.phase=Running,status.podIP=10.0.0.1,status.nominatedNodeName=n2"),
        ("v1/pods", POD, "spec.host=n1,spec.hostNetwork=false,status.podIPs="),
        ("v1/pods", {"spec": {"hostNetwork": True}}, "spec.hostNetwork=true,spec.nodeName=,status.phase="),
        ("v1/pods", {"status": {"podIP": "10.0.0.9"}}, "status.podIP=10.0.0.9"),
        ("v1/pods", {"status": {"podIPs": []}}, "status.podIP="),
        ("v1/events", EVENT, "involvedObject.kind=Pod,involvedObject.uid=u,involvedObject.resourceVersion=5"),
        ("v1/events", EVENT, "involvedObject.name=web,involvedObject.namespace=ns,involvedObject.fieldPath=spec"),
        ("v1/events", EVENT, "reason=Started,type=Normal,reportingComponent=kubelet,source=agent"),
        ("v1/events", {"reportingComponent": "kubelet"}, "source=kubelet"),
        ("events.k8s.io/v1/events", EVENT, "regarding.kind=Pod,regarding.name=web,reportingController=kubelet"),
        ("events.k8s.io/v1/events", EVENT, "metadata.name=x,metadata.namespace=ns,reason=Started,type=Normal"),
        ("v1/nodes", {"spec": {"unschedulable": True}}, "spec.unschedulable=true"),
        ("v1/nodes", {"spec": {}}, "spec.unschedulable=false"),
        ("v1/namespaces", {"status": {"phase": "Active"}}, "status.phase=Active"),
        ("v1/replicationcontrollers", {"status": {"replicas": 3}}, "status.replicas=3"),
        ("v1/replicationcontrollers", {}, "status.replicas=0"),
        ("v1/secrets", {"type": "Opaque"}, "type=Opaque"),
        (
            "v1/services",
            {"spec": {"clusterIP": "None", "type": "ClusterIP"}},
            "spec.clusterIP=None,spec.type=ClusterIP",
        ),
        ("batch/v1/jobs", {"status": {"succeeded": 2}}, "status.successful=2"),
        ("batch/v1/jobs", {"status": {}}, "status.successful=0"),
        ("certificates.k8s.io/v1/certificatesigningrequests", {"spec": {"signerName": "s"}}, "spec.signerName=s"),
        (
            "resource.k8s.io/v1/resourceslices",
            {"spec": {"nodeName": "n", "driver": "d"}},
            "spec.driver=d,spec.nodeName=n",
        ),
        ("apps/v1/deployments", {}, "metadata.name=x,metadata.namespace=ns"),
        ("v1/configmaps", {}, "metadata.name!=y"),
    ],
)
def test_each_resource_can_be_selected_by_its_fields(path, tree, fields):
    assert selection(path, fields).matches(stored(tree))
    for field in fields.split(","):
        name, _, value = field.replace("!=", "=").partition("=")
        operator = "=" if "!=" in field else "!="
        assert not selection(path, f"{name}{operator}{value}").matches(stored(tree))


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        ("v1/pods", "spec.containers", "field label not supported: spec.containers"),
        ("v1/nodes", "metadata.namespace", "field label not supported: metadata.namespace"),
        ("v1/events", "regarding.name", "field label not supported: regarding.name"),
        ("events.k8s.io/v1/events", "involvedObject.name", "field label not supported: involvedObject.name"),
        ("batch/v1/jobs", "status.active", 'field label "status.active" not supported for Job'),
        (
            "resource.k8s.io/v1beta1/resourceslices",
            "spec.pool",
            "field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: spec.pool",
        ),
        (
            "v1/configmaps",
            "data.x",
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (
            "apps/v1/replicasets",
            "status.replicas",
            '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)
def test_no_object_can_be_selected_by_other_fields(path, field, message):
    with pytest.raises(BadRequestError) as caught:
        selection(path, f"{field}=1")
    assert caught.value.message == message


def test_labels_fields_and_namespace_must_all_match():
    both = selection("v1/pods", "spec.nodeName=n1", "app=web", "ns")
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": {"nodeName": "n1"}}
    assert both.matches(stored(pod))
    assert not both.matches(stored(pod, "other/x"))
    assert not both.matches(stored({**pod, "metadata": {"labels": {"app": "db"}}}))
    assert not both.matches(stored({**pod, "metadata": {}}))
    assert not both.matches(stored({**pod, "spec": {"nodeName": "n2"}}))


def test_a_selection_without_selectors_is_everything_in_its_namespace():
    assert selection("v1/pods", namespace="ns").is_everything
    assert not selection("v1/pods", labels="app").is_everything
    assert not selection("v1/pods", fields="metadata.name=x").is_everything
    assert selection("v1/pods", namespace="ns").matches(stored({}))
    assert not selection("v1/pods", namespace="ns").matches(stored({}, "other/x"))


def test_a_selection_by_name_has_that_name():
    assert selection("v1/pods", "metadata.name=x,spec.nodeName=n1").name == "x"
    assert selection("v1/pods", "metadata.name!=x").name == ""


def test_a_name_is_checked_without_reading_the_object():
    unreadable = Stored(ObjectKey("ns", "x"), b"not json", 1)
    assert selection("v1/pods", "metadata.name=x").matches(unreadable)
    assert not selection("v1/pods", "metadata.name=y,spec.nodeName=n1", "app=web").matches(unreadable)


# --- Events -----------------------------------------------------------------------------------------------------------


def pod(app: str) -> bytes:
    return json.dumps({"metadata": {"labels": {"app": app}}}).encode()


def history(*steps: str) -> list[Event]:
    """What happens when an object gets these labels in turn; "-" deletes it."""
    storage, key = Storage(), ObjectKey("ns", "x")
    for step in steps:
        if step == "-":
            storage.delete("/pods", key, lambda revision: storage_value(storage, key))
        elif storage.get("/pods", key):
            storage.update("/pods", key, lambda revision, step=step: pod(step))
        else:
            storage.create("/pods", key, lambda revision, step=step: pod(step))
    return list(storage.events("/pods", after=1))


def storage_value(storage: Storage, key: ObjectKey) -> bytes:
    found = storage.get("/pods", key)
    assert found
    return found.value


@pytest.mark.parametrize(
    ("steps", "seen"),
    [
        ("web web -", ["ADDED", "MODIFIED", "DELETED"]),
        ("db db -", [None, None, None]),
        ("db web db web -", [None, "ADDED", "DELETED", "ADDED", "DELETED"]),
        ("web db -", ["ADDED", "DELETED", None]),
        ("web - web", ["ADDED", "DELETED", "ADDED"]),
    ],
)
def test_objects_enter_and_leave_a_selection(steps, seen):
    web = selection("v1/pods", labels="app=web")
    assert [web.change(event) for event in history(*steps.split())] == seen


def test_without_selectors_event_types_are_unchanged_and_other_namespaces_are_excluded():
    events = history("web", "db", "-")
    assert [selection("v1/pods").change(event) for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [selection("v1/pods", namespace="other").change(event) for event in events] == [None, None, None]
