"""Tables: columns and cells of objects, in responses and in watches."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tests.contract.server.api import API, JSON, YAML, Tree
from tests.contract.server.definitions import DEFINITIONS, Widgets, definition, version
from tests.contract.server.samples import DEPLOYMENT, POD, create_event

META = "g=meta.k8s.io;v=v1"
TABLE = {"Accept": f"{JSON};as=Table;{META}"}
PROTOBUF = "application/vnd.kubernetes.protobuf"


def table(api: API, path: str, **query: object) -> Tree:
    found = api.get(path, headers=TABLE, **query).ok()
    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return found


def columns(found: Tree) -> list[str]:
    return [column["name"] for column in found["columnDefinitions"]]


def cells(found: Tree) -> list[dict[str, Any]]:
    """The cells of each row by column, without the ages."""
    rows = [dict(zip(columns(found), row["cells"], strict=True)) for row in found["rows"]]
    return [{name: cell for name, cell in row.items() if name != "Age"} for row in rows]


def names(found: Tree) -> list[str]:
    return [row["object"]["metadata"]["name"] for row in found["rows"]]


# --- Objects and lists ------------------------------------------------------------------------------------------------


def test_a_list_is_a_table_with_a_row_for_each_object(api: API):
    api.create("pods", "a", spec=POD)
    api.create("pods", "b", spec={**POD, "nodeName": "n1"})
    found = table(api, api.path("pods"))
    assert columns(found) == [
        *("Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates")
    ]
    assert [column["priority"] for column in found["columnDefinitions"]] == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    rest = {"IP": "<none>", "Nominated Node": "<none>", "Readiness Gates": "<none>"}
    state = {"Ready": "0/1", "Status": "Pending", "Restarts": "0"}
    assert cells(found) == [
        {"Name": "a", **state, "Node": "<none>", **rest},
        {"Name": "b", **state, "Node": "n1", **rest},
    ]
    assert found["metadata"]["resourceVersion"]


def test_a_column_has_a_name_a_type_a_format_a_description_and_a_priority(api: API):
    name, status, _age = table(api, f"/api/v1/namespaces/{api.namespace}")["columnDefinitions"]
    assert name.keys() == {"name", "type", "format", "description", "priority"}
    assert name["description"].startswith("Name must be unique within a namespace.")
    assert (name["type"], name["format"]) == ("string", "name")
    assert status == {
        "name": "Status",
        "type": "string",
        "format": "",
        "description": "The status of the namespace",
        "priority": 0,
    }


def test_one_object_is_a_table_with_its_version(api: API):
    created = api.create("configmaps", "a", data={"x": "1", "y": "2"}, binaryData={"z": ""})
    found = table(api, api.path("configmaps", "a"))
    assert cells(found) == [{"Name": "a", "Data": 3}]
    assert found["metadata"] == {"resourceVersion": created["metadata"]["resourceVersion"]}


def test_the_age_is_the_time_since_the_creation(api: API):
    api.create("configmaps", "a")
    (row,) = table(api, api.path("configmaps", "a"))["rows"]
    assert row["cells"][2].endswith("s")


def test_the_row_of_a_finished_pod_has_a_condition(api: API):
    api.create("pods", "a", spec=POD)
    status = {"status": {"phase": "Failed", "reason": "Evicted"}}
    found = api.patch(api.path("pods", "a", "status"), status, headers=TABLE).ok()
    assert cells(found)[0]["Status"] == "Evicted"
    assert found["rows"][0]["conditions"] == [
        {"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}
    ]


def test_a_kind_without_columns_of_its_own_shows_when_objects_were_created(api: API):
    path = api.path("limitranges")
    found = table(api, path)
    assert columns(found) == ["Name", "Created At"]
    assert found["rows"] is None
    created = api.create("limitranges", "a", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]})
    assert table(api, path)["rows"][0]["cells"] == ["a", created["metadata"]["creationTimestamp"]]


def test_an_empty_list_of_a_kind_with_columns_has_no_rows(api: API):
    assert table(api, api.path("pods"))["rows"] == []


def test_a_long_list_comes_in_pages_of_rows(api: API):
    for name in "abc":
        api.create("configmaps", name)
    page = table(api, api.path("configmaps"), limit=2)
    assert names(page) == ["a", "b"]
    assert page["metadata"]["remainingItemCount"] == 1
    rest = table(api, api.path("configmaps"), limit=2, **{"continue": page["metadata"]["continue"]})
    assert names(rest) == ["c"]
    assert rest["metadata"].keys() == {"resourceVersion"}


def test_an_event_has_the_same_columns_in_both_groups(api: API):
    create_event(api, "e", reason="Started", message=" It runs.\n", type="Normal", count=3, source={"component": "me"})
    older, newer = (table(api, api.path("events", version=each)) for each in ("v1", "events.k8s.io/v1"))
    assert older["columnDefinitions"] == newer["columnDefinitions"]
    assert cells(older) == cells(newer)
    (row,) = cells(older)
    assert row["Object"] == f"namespace/{api.namespace}"
    assert (row["Message"], row["Count"], row["Source"], row["Last Seen"]) == ("It runs.", 3, "me", "<unknown>")


def test_an_autoscaler_shows_its_metrics_in_both_versions(api: API):
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 5,
        "targetCPUUtilizationPercentage": 70,
    }
    api.create("horizontalpodautoscalers", "a", version="autoscaling/v1", spec=spec)
    for each in ("autoscaling/v1", "autoscaling/v2"):
        (row,) = cells(table(api, api.path("horizontalpodautoscalers", version=each)))
        assert (row["Targets"], row["Reference"]) == ("cpu: <unknown>/70%", "Deployment/web")


def test_flow_schemas_are_in_the_order_of_their_precedence(api: API):
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    labels = {"of": api.namespace}
    for name, precedence in (("a", 9002), ("b", 9001)):
        metadata = {"name": f"{name}-{api.namespace}", "labels": labels}
        spec = {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": precedence}
        api.post(path, {"metadata": metadata, "spec": spec}).ok(201)
    found = table(api, path, labelSelector=f"of={api.namespace}")
    assert names(found) == [f"b-{api.namespace}", f"a-{api.namespace}"]
    api.delete(path, labelSelector=f"of={api.namespace}").ok()


# --- Options ----------------------------------------------------------------------------------------------------------


def test_a_row_includes_the_metadata_of_its_object(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    for query in ({}, {"includeObject": "Metadata"}, {"includeObject": ""}):
        (row,) = table(api, api.path("configmaps"), **query)["rows"]
        assert row["object"] == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": created["metadata"],
        }


def test_a_row_can_include_the_whole_object_or_nothing(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    (row,) = table(api, api.path("configmaps"), includeObject="Object")["rows"]
    assert row["object"] == {"kind": "ConfigMap", "apiVersion": "v1", **created}
    (row,) = table(api, api.path("configmaps"), includeObject="None")["rows"]
    assert row["object"] is None


def test_nothing_else_can_be_included(api: API):
    response = api.get(api.path("configmaps"), headers=TABLE, includeObject="Spec")
    assert response.failed(400, "BadRequest")["message"] == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "Spec": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


def test_the_older_version_of_tables_is_served(api: API):
    api.create("configmaps", "a")
    accept = f"{JSON};as=Table;g=meta.k8s.io;v=v1beta1"
    found = api.get(api.path("configmaps"), headers={"Accept": accept}).ok()
    assert found["apiVersion"] == found["rows"][0]["object"]["apiVersion"] == "meta.k8s.io/v1beta1"


def test_a_table_can_be_yaml(api: API):
    api.create("configmaps", "a", data={"x": "1"})
    response = api.get(api.path("configmaps", "a"), headers={"Accept": f"{YAML};as=Table;{META}"})
    assert response.headers.get_content_type() == YAML
    found = yaml.safe_load(response.body)
    assert (found["kind"], cells(found)) == ("Table", [{"Name": "a", "Data": 1}])


@pytest.mark.parametrize("accept", [f"{PROTOBUF};as=Table;{META}", f"{JSON};as=Table;g=meta.k8s.io;v=v2"])
def test_a_table_in_protobuf_or_of_another_version_is_not_acceptable(api: API, accept: str):
    for query in ({}, {"watch": "true"}):
        api.get(api.path("configmaps"), headers={"Accept": accept}, **query).failed(406, "NotAcceptable")
    fallback = {"Accept": f"{accept},{JSON}"}
    assert api.get(api.path("configmaps"), headers=fallback).ok()["kind"] == "ConfigMapList"


def test_a_response_that_is_not_an_object_of_the_resource_has_no_table(api: API):
    review = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    api.post(path, review, headers=TABLE).failed(406, "NotAcceptable")
    accept = {"Accept": f"{TABLE['Accept']},{JSON}"}
    assert api.post(path, review, headers=accept).ok(201)["kind"] == "SelfSubjectAccessReview"


def test_the_response_to_a_write_can_be_a_table(api: API):
    body = {"metadata": {"name": "a"}, "data": {"x": "1"}}
    assert cells(api.post(api.path("configmaps"), body, headers=TABLE).ok(201)) == [{"Name": "a", "Data": 1}]
    deleted = api.delete(api.path("configmaps", "a"), headers=TABLE).ok()
    assert (deleted["kind"], deleted["status"]) == ("Status", "Success")


def test_an_error_is_a_status_for_a_client_that_accepts_only_tables(api: API):
    api.get(api.path("configmaps", "none"), headers=TABLE).failed(404, "NotFound")


def test_a_status_and_a_scale_have_tables(api: API):
    api.create("deployments", "a", version="apps/v1", spec={**DEPLOYMENT, "replicas": 3})
    path = api.path("deployments", "a", "status", version="apps/v1")
    assert cells(table(api, path))[0]["Ready"] == "0/3"
    found = table(api, api.path("deployments", "a", "scale", version="apps/v1"))
    assert cells(found) == [{"Name": "a", "Desired": 3, "Available": 0}]


# --- Watches ----------------------------------------------------------------------------------------------------------


def test_only_the_first_event_of_a_watch_has_the_columns(api: API):
    api.create("configmaps", "a")
    api.create("configmaps", "b")
    with api.watch(api.path("configmaps"), headers=TABLE) as watch:
        (first, one), (second, other) = watch.next(), watch.next()
        assert (first, second) == ("ADDED", "ADDED")
        assert columns(one) == ["Name", "Data", "Age"]
        assert names(one) == ["a"]
        assert other["columnDefinitions"] is None
        assert names(other) == ["b"]
        changed = api.patch(api.path("configmaps", "b"), {"data": {"x": "1"}}).ok()
        type_, found = watch.next()
        assert (type_, found["rows"][0]["cells"][:2]) == ("MODIFIED", ["b", 1])
        assert found["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
        api.delete(api.path("configmaps", "b"))
        type_, found = watch.next()
        assert (type_, found["rows"][0]["cells"][0]) == ("DELETED", "b")
        assert found["metadata"]["resourceVersion"] > changed["metadata"]["resourceVersion"]


def test_the_first_event_has_the_columns_also_if_nothing_existed(api: API):
    version = api.list(api.path("configmaps"))["metadata"]["resourceVersion"]
    with api.watch(api.path("configmaps"), headers=TABLE, resourceVersion=version, includeObject="None") as watch:
        api.create("configmaps", "a")
        api.create("configmaps", "b")
        (_, one), (_, other) = watch.next(), watch.next()
        assert columns(one) == ["Name", "Data", "Age"]
        assert other["columnDefinitions"] is None
        assert one["rows"][0]["object"] is other["rows"][0]["object"] is None


def test_the_bookmark_after_the_initial_events_is_a_row_of_an_empty_object(api: API):
    api.create("pods", "a", spec=POD)
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with api.watch(api.path("pods"), headers=TABLE, includeObject="None", **query) as watch:
        assert watch.next()[1]["rows"][0]["object"] is None
        type_, found = watch.next()
    (row,) = found["rows"]
    assert type_ == "BOOKMARK"
    assert row["cells"] == ["", "0/0", "", "0", "<unknown>", "<none>", "<none>", "<none>", "<none>"]
    assert row["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert row["object"]["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


def test_an_invalid_option_of_a_watch_is_rejected(api: API):
    with api.watch(api.path("configmaps"), headers=TABLE, includeObject="Spec") as watch:
        watch.read().failed(400, "BadRequest")


# --- Custom resources -------------------------------------------------------------------------------------------------


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    yield found
    found.remove()


def column(name: str, path: str, type_: str = "string", **more: Tree) -> Tree:
    return {"name": name, "jsonPath": path, "type": type_, **more}


def test_a_custom_resource_without_columns_shows_its_age(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    found = table(api, widgets.path())
    assert [(each["name"], each["type"]) for each in found["columnDefinitions"]] == [
        ("Name", "string"),
        ("Age", "date"),
    ]
    assert cells(found) == [{"Name": "a"}]


def test_the_columns_of_a_custom_resource_are_those_of_its_definition(api: API, widgets: Widgets):
    defined = [
        column("Size", ".spec.size", "integer", description="How large", format="int32"),
        column("Ready", '.status.conditions[?(@.type=="Ready")].status', priority=1),
    ]
    widgets.define(version(additionalPrinterColumns=defined))
    widgets.create("a", spec={"size": 3}, status={"conditions": [{"type": "Ready", "status": "True"}]})
    widgets.create("b")
    found = table(api, widgets.path())
    assert found["columnDefinitions"][1:] == [
        {"name": "Size", "type": "integer", "format": "int32", "description": "How large", "priority": 0},
        {
            "name": "Ready",
            "type": "string",
            "format": "",
            "description": "Custom resource definition column (in JSONPath format): "
            '.status.conditions[?(@.type=="Ready")].status',
            "priority": 1,
        },
    ]
    assert cells(found) == [{"Name": "a", "Size": 3, "Ready": "True"}, {"Name": "b", "Size": None, "Ready": None}]


VALUES: dict[str, Tree] = {
    "text": "x",
    "yes": True,
    "whole": 5,
    "large": 1234567.0,
    "fraction": 2.5,
    "larger": 1234567.5,
    "object": {"b": [1, 2.0, "<&>"], "a": None},
    "list": ["x", 1],
    "date": "2020-01-01T00:00:00Z",
    "not-a-date": "yesterday",
    "empty": "",
}
CELLS: dict[str, dict[str, Tree]] = {
    "string": {
        "text": "x",
        "yes": "true",
        "whole": "5",
        "large": "1234567",
        "fraction": "2.5",
        "larger": "1.2345675e+06",
        "object": '{"a":null,"b":[1,2,"\\u003c\\u0026\\u003e"]}',
        "list": '["x",1]',
        "date": "2020-01-01T00:00:00Z",
        "not-a-date": "yesterday",
        "empty": "",
    },
    "integer": {"whole": 5, "large": 1234567, "fraction": 2, "larger": 1234567},
    "number": {"whole": 5, "large": 1234567, "fraction": 2.5, "larger": 1234567.5},
    "boolean": {"yes": True},
    "date": {"text": "<invalid>", "not-a-date": "<invalid>", "empty": "<unknown>", "date": ...},
}


@pytest.mark.parametrize("type_", list(CELLS))
def test_a_cell_has_the_type_of_its_column_or_is_null(api: API, widgets: Widgets, type_: str):
    defined = [column(name, f".spec.{name}", type_) for name in VALUES]
    widgets.define(version(additionalPrinterColumns=defined))
    widgets.create("a", spec=VALUES)
    (found,) = cells(table(api, widgets.path()))
    if type_ == "date":
        assert found["date"].endswith("d")
        found["date"] = ...
    assert found == {"Name": "a", **{name: CELLS[type_].get(name) for name in VALUES}}


def test_the_columns_after_an_invalid_path_are_left_out(api: API, widgets: Widgets):
    defined = [column("A", ".spec.a"), column("B", ".spec["), column("C", ".spec.c")]
    widgets.define(version(additionalPrinterColumns=defined))
    assert columns(table(api, widgets.path())) == ["Name", "A"]


def test_a_changed_definition_changes_the_columns(api: API, widgets: Widgets):
    widgets.define(version(additionalPrinterColumns=[column("A", ".spec.a")]))
    widgets.create("a", spec={"a": "x"})
    assert columns(table(api, widgets.path())) == ["Name", "A"]

    def change(spec: Tree) -> None:
        spec["versions"][0]["additionalPrinterColumns"] = [column("B", ".spec.b")]

    widgets.redefine(change, "v1")
    for _ in range(20_000):
        if (found := columns(table(api, widgets.path()))) != ["Name", "A"]:
            break
    assert found == ["Name", "B"]


def test_the_scale_of_a_custom_resource_has_a_table(api: API, widgets: Widgets):
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    widgets.define(version(subresources={"status": {}, "scale": scale}))
    widgets.create("a", spec={"replicas": 3})
    assert cells(table(api, widgets.path("a", "scale"))) == [{"Name": "a", "Desired": 3, "Available": 0}]
    assert cells(table(api, widgets.path("a", "status"))) == [{"Name": "a"}]


def test_a_column_with_an_unknown_format_is_rejected(api: API, widgets: Widgets):
    defined = definition(widgets.group, version(additionalPrinterColumns=[column("A", ".a", format="odd")]))
    status = api.post(DEFINITIONS, defined).failed(422, "Invalid")
    assert {cause["field"] for cause in status["details"]["causes"]} == {"spec.additionalPrinterColumns[0].format"}
