import json
import secrets
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, STRATEGIC_MERGE_PATCH, Response, Tree, causes
from tests.contract.server.definitions import ANYTHING, Widgets, spec_of, version
from tests.contract.server.samples import TEMPLATE

APPLY = "application/apply-patch+yaml"
APPS = "apps/v1"
TEXT = {"type": "string"}


def apply(api: API, path: str, body: Tree, manager: str = "me", **query: object) -> Response:
    return api.patch(path, body, APPLY, fieldManager=manager, **query)


def config_map(name: str = "a", metadata: Tree = None, **fields: Tree) -> Tree:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **(metadata or {})}, **fields}


def deployment(*containers: Tree, **spec: Tree) -> Tree:
    template = {**TEMPLATE, "spec": {"containers": list(containers)}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {"apiVersion": APPS, "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def managers(tree: Tree) -> dict[tuple[str, str, str], Tree]:
    """The managed fields by manager, operation and subresource."""
    entries = tree["metadata"].get("managedFields", [])
    return {(each["manager"], each["operation"], each.get("subresource", "")): each["fieldsV1"] for each in entries}


@pytest.fixture
def a(api: API) -> str:
    """The path of a config map that does not exist yet."""
    return api.path("configmaps", "a")


@pytest.fixture
def web(api: API) -> str:
    """The path of a deployment that does not exist yet."""
    return api.path("deployments", "web", version=APPS)


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    yield found
    found.remove()


# --- applying ---------------------------------------------------------------------------------------------------------


def test_a_missing_object_is_created_by_an_apply(api: API, a: str):
    made = apply(api, a, config_map(data={"x": "1"})).ok(201)
    assert made["metadata"]["managedFields"] == [
        {
            "manager": "me",
            "operation": "Apply",
            "apiVersion": "v1",
            "time": made["metadata"]["creationTimestamp"],
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:x": {}}},
        }
    ]
    assert api.get(a).ok() == made


def test_applying_the_same_again_changes_nothing(api: API, a: str):
    made = apply(api, a, config_map(data={"x": "1"})).ok(201)
    assert apply(api, a, config_map(data={"x": "1"})).ok() == made


def test_a_field_that_is_no_longer_applied_is_removed(api: API, a: str):
    apply(api, a, config_map(data={"x": "1", "y": "2"}, metadata={"labels": {"app": "web"}})).ok(201)
    left = apply(api, a, config_map(data={"x": "1"})).ok()
    assert left["data"] == {"x": "1"}
    assert "labels" not in left["metadata"]
    assert "data" not in apply(api, a, config_map()).ok()


def test_a_field_that_another_manager_applies_too_is_kept(api: API, a: str):
    apply(api, a, config_map(data={"x": "1", "y": "2"}), "me").ok(201)
    both = apply(api, a, config_map(data={"x": "1"}), "you").ok()
    assert managers(both) == {
        ("me", "Apply", ""): {"f:data": {"f:x": {}, "f:y": {}}},
        ("you", "Apply", ""): {"f:data": {"f:x": {}}},
    }
    left = apply(api, a, config_map(), "me").ok()
    assert left["data"] == {"x": "1"}
    assert managers(left) == {("you", "Apply", ""): {"f:data": {"f:x": {}}}}


def test_fields_that_were_not_applied_are_kept(api: API, a: str):
    api.create("configmaps", "a", data={"x": "1"})
    assert apply(api, a, config_map(data={"y": "2"})).ok()["data"] == {"x": "1", "y": "2"}


def test_a_dry_run_applies_nothing(api: API, a: str):
    assert apply(api, a, config_map(data={"x": "1"}), dryRun="All").ok(201)["data"] == {"x": "1"}
    api.get(a).failed(404, "NotFound")
    made = apply(api, a, config_map(data={"x": "1"})).ok(201)
    assert apply(api, a, config_map(data={"x": "2"}), dryRun="All").ok()["data"] == {"x": "2"}
    assert api.get(a).ok() == made


def test_an_apply_configuration_may_be_yaml(api: API, a: str):
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '1'\n"
    assert apply(api, a, body).ok(201)["data"] == {"x": "1"}


def test_the_name_of_an_existing_object_may_be_omitted(api: API, a: str):
    body = config_map(data={"x": "1"})
    del body["metadata"]
    nameless = apply(api, a, body).failed(400, "BadRequest")
    assert "name must be provided" in nameless["message"]
    api.create("configmaps", "a")
    assert apply(api, a, body).ok()["data"] == {"x": "1"}


def test_applying_an_empty_map_keeps_the_entries_of_others(api: API, a: str):
    api.create("configmaps", "a", data={"x": "1"})
    for empty in ({}, None):
        assert apply(api, a, config_map(data=empty), force="true").ok()["data"] == {"x": "1"}


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_applying_another_value_of_a_managed_field_is_a_conflict(api: API, a: str):
    apply(api, a, config_map(data={"x": "1"}), "me").ok(201)
    status = apply(api, a, config_map(data={"x": "2"}), "you").failed(409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "me": .data.x'
    assert status["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".data.x"}]
    }
    assert api.get(a).ok()["data"] == {"x": "1"}


def test_all_conflicts_are_reported_at_once(api: API, a: str):
    apply(api, a, config_map(data={"x": "1"}), "me").ok(201)
    api.patch(a, {"data": {"y": "1", "z": "1"}}, fieldManager="you").ok()
    status = apply(api, a, config_map(data={"x": "2", "y": "2", "z": "2"}), "they").failed(409, "Conflict")
    assert status["message"] == (
        'Apply failed with 3 conflicts: conflicts with "me":\n- .data.x\n'
        'conflicts with "you" using v1:\n- .data.y\n- .data.z'
    )
    assert causes(status) == {("FieldManagerConflict", f".data.{name}") for name in "xyz"}


def test_conflicts_of_a_level_come_before_those_of_deeper_levels(api: API):
    path = api.path("deployments", "a", version="apps/v1")

    def deployment(value: str, replicas: int) -> Tree:
        container = {"name": "web", "image": f"web:{value}", "env": [{"name": "COLOR", "value": value}]}
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}

    apply(api, path, deployment("red", 1), "me").ok(201)
    status = apply(api, path, deployment("blue", 2), "you").failed(409, "Conflict")
    assert [each["field"] for each in status["details"]["causes"]] == [
        ".spec.replicas",
        '.spec.template.spec.containers[name="web"].image',
        '.spec.template.spec.containers[name="web"].env[name="COLOR"].value',
    ]


def test_a_forced_apply_takes_a_field_over(api: API, a: str):
    apply(api, a, config_map(data={"x": "1", "y": "1"}), "me").ok(201)
    forced = apply(api, a, config_map(data={"x": "2"}), "you", force="true").ok()
    assert forced["data"] == {"x": "2", "y": "1"}
    assert managers(forced) == {
        ("me", "Apply", ""): {"f:data": {"f:y": {}}},
        ("you", "Apply", ""): {"f:data": {"f:x": {}}},
    }


def test_an_update_takes_a_field_over_without_a_conflict(api: API, a: str):
    apply(api, a, config_map(data={"x": "1", "y": "1"}), "me").ok(201)
    patched = api.patch(a, {"data": {"x": "2"}}, fieldManager="you").ok()
    assert managers(patched) == {
        ("me", "Apply", ""): {"f:data": {"f:y": {}}},
        ("you", "Update", ""): {"f:data": {"f:x": {}}},
    }
    apply(api, a, config_map(data={"x": "1", "y": "1"}), "me").failed(409, "Conflict")


def test_applying_the_current_value_is_no_conflict(api: API, a: str):
    api.post(api.path("configmaps"), config_map(data={"x": "1"}), fieldManager="you").ok(201)
    shared = managers(apply(api, a, config_map(data={"x": "1"}), "me").ok())
    assert shared == {
        ("me", "Apply", ""): {"f:data": {"f:x": {}}},
        ("you", "Update", ""): {"f:data": {".": {}, "f:x": {}}},
    }


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_an_apply_requires_a_field_manager(api: API, a: str):
    status = api.patch(a, config_map(), APPLY).failed(422, "Invalid")
    assert causes(status) == {("FieldValueRequired", "fieldManager")}


def test_only_an_apply_may_be_forced(api: API, a: str):
    api.create("configmaps", "a")
    assert causes(api.patch(a, {}, force="true").failed(422, "Invalid")) == {("FieldValueForbidden", "force")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apiVersion": ""}, "invalid object type: /, Kind=ConfigMap"),
        ({"kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        ({"metadata": {"name": "b"}}, "the name of the object (b) does not match the name on the URL (a)"),
        ({"metadata": {"name": "a", "managedFields": []}}, "metadata.managedFields must be nil"),
        (
            {"metadata": {"name": "a", "namespace": "elsewhere"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
def test_an_applied_object_must_match_its_path(api: API, a: str, change: Tree, message: str):
    status = apply(api, a, {**config_map(), **change}).failed(400, "BadRequest")
    assert status["message"] == message


@pytest.mark.parametrize("body", [b"{", b"a: b: c", b"[]"])
def test_a_body_that_is_not_an_object_is_not_applied(api: API, a: str, body: bytes):
    assert apply(api, a, body).failed(400, "BadRequest")["message"].startswith("error decoding YAML: ")


def test_fields_that_the_schema_does_not_declare_are_rejected(api: API, a: str):
    status = apply(api, a, config_map(more=1)).failed(500, "")
    assert status["message"] == (
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .more: field not declared in schema"
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"paused": "x"}, ".spec.paused: expected boolean, got &{x}"),
        ({"selector": ["x"]}, ".spec.selector: expected map, got &{[x]}"),
        ({"template": {"spec": {"containers": "x"}}}, ".spec.template.spec.containers: expected list, got &{x}"),
    ],
)
def test_values_of_another_type_are_rejected(api: API, web: str, spec: Tree, message: str):
    assert message in apply(api, web, {**deployment(), "spec": spec}).failed(500, "")["message"]


@pytest.mark.parametrize(
    ("cpu", "why"),
    [
        ("1Gi2", "unable to parse quantity's suffix"),
        ("a b", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ],
)
def test_values_that_cannot_be_converted_are_rejected(api: API, web: str, cpu: str, why: str):
    container = {"name": "a", "image": "a", "resources": {"limits": {"cpu": cpu}}}
    kind = "apps/v1, Kind=Deployment"
    status = apply(api, web, deployment(container)).failed(500, "")
    assert status["message"] == (
        f"failed to convert new object (/web; {kind}) to proper version: "
        f"unable to convert unstructured object to {kind}: {why}"
    )


def test_the_status_of_a_missing_object_is_not_found_whatever_is_applied(api: API, web: str):
    apply(api, f"{web}/status", deployment({"name": 1})).failed(404, "NotFound")


def test_the_labels_of_a_deployment_are_not_managed_through_its_status(api: API, web: str):
    api.post(web.rpartition("/")[0], deployment({"name": "a", "image": "a"})).ok(201)
    body = {**deployment(), "metadata": {"name": "web", "labels": {"a": "b"}}, "status": {"replicas": 1}}
    del body["spec"]
    entries = managers(apply(api, f"{web}/status", body, manager="you").ok())
    [fields] = [entry for (name, *_), entry in entries.items() if name == "you"]
    assert set(fields) == {"f:status"}


def test_duplicate_elements_are_rejected(api: API, web: str):
    status = apply(api, web, deployment({"name": "web", "image": "a"}, {"name": "web", "image": "b"})).failed(500, "")
    assert '.spec.template.spec.containers: duplicate entries for key [name="web"]' in status["message"]


def test_an_apply_with_another_resource_version_is_a_conflict(api: API, a: str):
    made = apply(api, a, config_map(data={"x": "1"})).ok(201)
    seen = {"resourceVersion": made["metadata"]["resourceVersion"]}
    apply(api, a, config_map(data={"x": "2"}, metadata=seen)).ok()
    apply(api, a, config_map(data={"x": "3"}, metadata=seen)).failed(409, "Conflict")


# --- managed fields ---------------------------------------------------------------------------------------------------


def test_a_create_makes_its_manager_own_all_fields(api: API, web: str):
    body = deployment({"name": "web", "image": "web:1", "ports": [{"containerPort": 80}]})
    body["metadata"] = {"name": "web", "labels": {"app": "web"}}
    made = api.post(api.path("deployments", version=APPS), body, headers={"User-Agent": "tool/1.0 (linux)"}).ok(201)
    assert managers(made) == {
        ("tool", "Update", ""): {
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {
                "f:progressDeadlineSeconds": {},
                "f:replicas": {},
                "f:revisionHistoryLimit": {},
                "f:selector": {},
                "f:strategy": {
                    "f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}},
                    "f:type": {},
                },
                "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {
                        "f:containers": {
                            'k:{"name":"web"}': {
                                ".": {},
                                "f:image": {},
                                "f:imagePullPolicy": {},
                                "f:name": {},
                                "f:ports": {
                                    ".": {},
                                    'k:{"containerPort":80,"protocol":"TCP"}': {
                                        ".": {},
                                        "f:containerPort": {},
                                        "f:protocol": {},
                                    },
                                },
                                "f:resources": {},
                                "f:terminationMessagePath": {},
                                "f:terminationMessagePolicy": {},
                            }
                        },
                        "f:dnsPolicy": {},
                        "f:restartPolicy": {},
                        "f:schedulerName": {},
                        "f:securityContext": {},
                        "f:terminationGracePeriodSeconds": {},
                    },
                },
            },
        }
    }


def test_the_status_is_managed_through_its_subresource(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    body = {"apiVersion": APPS, "kind": "Deployment", "metadata": {"name": "web"}}
    status = {"replicas": 3, "conditions": [{"type": "Available", "status": "True"}]}
    applied = apply(api, f"{web}/status", {**body, "status": status, "spec": {"replicas": 9}}, "you").ok()
    assert (applied["status"]["replicas"], applied["spec"]["replicas"]) == (3, 1)
    assert managers(applied)[("you", "Apply", "status")] == {
        "f:status": {
            "f:conditions": {'k:{"type":"Available"}': {".": {}, "f:status": {}, "f:type": {}}},
            "f:replicas": {},
        }
    }
    patched = api.patch(f"{web}/status", {"status": {"readyReplicas": 1}}, fieldManager="they").ok()
    assert managers(patched)[("they", "Update", "status")] == {"f:status": {"f:readyReplicas": {}}}


def test_a_write_of_the_scale_manages_the_replicas(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"}, replicas=2)).ok(201)
    api.patch(f"{web}/scale", {"spec": {"replicas": 5}}, fieldManager="scaler").ok()
    found = managers(api.get(web).ok())
    assert found[("scaler", "Update", "scale")] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in found[("me", "Apply", "")]["f:spec"]


@pytest.mark.parametrize("entries", [[], [{}]])
def test_managed_fields_can_be_cleared(api: API, a: str, entries: list[Tree]):
    apply(api, a, config_map(data={"x": "1"})).ok(201)
    cleared = api.patch(a, {"metadata": {"managedFields": entries}}).ok()
    assert "managedFields" not in cleared["metadata"]
    assert "managedFields" not in api.patch(a, {"data": {"y": "1"}}).ok()["metadata"]
    status = apply(api, a, config_map(data={"y": "2"})).failed(409, "Conflict")
    assert 'conflict with "before-first-apply" using v1: .data.y' in status["message"]
    taken = apply(api, a, config_map(data={"z": "2"})).ok()
    assert managers(taken) == {
        ("me", "Apply", ""): {"f:data": {"f:z": {}}},
        ("before-first-apply", "Update", ""): {"f:data": {".": {}, "f:x": {}, "f:y": {}}},
    }


def test_an_update_without_managed_fields_keeps_them(api: API, a: str):
    made = apply(api, a, config_map(data={"x": "1"})).ok(201)
    before = made["metadata"].pop("managedFields")
    assert api.put(a, made).ok()["metadata"]["managedFields"] == before


def test_a_client_may_set_managed_fields(api: API, a: str):
    made = apply(api, a, config_map(data={"x": "1"}), "me").ok(201)
    made["metadata"]["managedFields"][0]["manager"] = "you"
    assert managers(api.put(a, made).ok()) == {("you", "Apply", ""): {"f:data": {"f:x": {}}}}
    made["metadata"]["managedFields"][0]["fieldsV1"] = {"no": {}}
    made["metadata"].pop("resourceVersion")
    assert managers(api.put(a, made).ok()) == {("you", "Apply", ""): {"f:data": {"f:x": {}}}}


def test_each_finalizer_is_managed_separately(api: API, a: str):
    apply(api, a, config_map(metadata={"finalizers": ["example.com/a"]}), "me").ok(201)
    both = apply(api, a, config_map(metadata={"finalizers": ["example.com/b"]}), "you").ok()
    assert both["metadata"]["finalizers"] == ["example.com/a", "example.com/b"]
    assert managers(both)[("you", "Apply", "")] == {"f:metadata": {"f:finalizers": {'v:"example.com/b"': {}}}}
    left = apply(api, a, config_map(), "me").ok()
    assert left["metadata"]["finalizers"] == ["example.com/b"]
    api.patch(a, {"metadata": {"finalizers": None}}).ok()


# --- lists ------------------------------------------------------------------------------------------------------------


def containers(tree: Tree) -> list[tuple[str, str]]:
    return [(each["name"], each["image"]) for each in tree["spec"]["template"]["spec"]["containers"]]


def test_elements_merge_by_their_keys(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1", "args": ["a"]}), "me").ok(201)
    extended = deployment({"name": "log", "image": "log:1"}, {"name": "web", "env": [{"name": "A", "value": "1"}]})
    both = apply(api, web, extended, "you").ok()
    assert containers(both) == [("log", "log:1"), ("web", "web:1")]
    assert both["spec"]["template"]["spec"]["containers"][1]["env"] == [{"name": "A", "value": "1"}]
    status = apply(api, web, deployment({"name": "web", "image": "web:2"}), "you").failed(409, "Conflict")
    assert causes(status) == {("FieldManagerConflict", '.spec.template.spec.containers[name="web"].image')}
    gone = apply(api, web, deployment({"name": "web"}), "you").ok()
    assert containers(gone) == [("web", "web:1")]
    assert "env" not in gone["spec"]["template"]["spec"]["containers"][0]


def test_an_omitted_key_of_an_element_has_its_default(api: API, web: str):
    port = {"containerPort": 80}
    made = apply(api, web, deployment({"name": "web", "image": "web:1", "ports": [port]}), "me").ok(201)
    inside = managers(made)[("me", "Apply", "")]["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"web"}']
    assert inside["f:ports"] == {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    named = deployment(
        {"name": "web", "ports": [{**port, "protocol": "TCP", "name": "http"}, {**port, "protocol": "UDP"}]}
    )
    both = apply(api, web, named, "you").ok()
    assert both["spec"]["template"]["spec"]["containers"][0]["ports"] == [
        {"name": "http", "containerPort": 80, "protocol": "TCP"},
        {"containerPort": 80, "protocol": "UDP"},
    ]


def test_an_atomic_list_has_one_manager(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1", "args": ["a", "b"]}), "me").ok(201)
    status = apply(api, web, deployment({"name": "web", "args": ["a", "c"]}), "you").failed(409, "Conflict")
    assert causes(status) == {("FieldManagerConflict", '.spec.template.spec.containers[name="web"].args')}


@pytest.mark.parametrize(
    ("live", "applied", "found"),
    [
        (["a", "b"], ["c"], ["a", "b", "c"]),
        (["a", "b", "c"], ["c", "a"], ["b", "c", "a"]),
        (["a", "b", "c"], ["d", "b"], ["a", "d", "b", "c"]),
        (["a", "x", "b"], ["b", "y", "a"], ["x", "b", "y", "a"]),
        (["a", "b", "c", "d"], ["e", "d", "b"], ["a", "c", "e", "d", "b"]),
    ],
)
def test_elements_are_in_the_order_of_the_last_apply(
    api: API, widgets: Widgets, live: list[str], applied: list[str], found: list[str]
):
    names = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
    widgets.define(version(schema=spec_of(names=names)))
    widgets.create("a", spec={"names": live})
    assert apply(api, widgets.path("a"), widgets.body("a", spec={"names": applied})).ok()["spec"]["names"] == found


# --- custom resources -------------------------------------------------------------------------------------------------


def test_custom_objects_merge_according_to_their_schema(api: API, widgets: Widgets):
    part = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "size": {"type": "integer"}}}
    by_name = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    schema = spec_of(
        parts={"type": "array", "items": part, **by_name},
        whole={"type": "array", "items": TEXT},
        atom={"type": "object", "additionalProperties": TEXT, "x-kubernetes-map-type": "atomic"},
        free=ANYTHING,
    )
    widgets.define(version(schema=schema))
    path = widgets.path("a")
    mine = {"parts": [{"name": "a", "size": 1}], "whole": ["x"], "atom": {"k": "v"}, "free": {"x": {"y": [1]}}}
    made = apply(api, path, widgets.body("a", spec=mine), "me").ok(201)
    assert managers(made) == {
        ("me", "Apply", ""): {
            "f:spec": {
                "f:parts": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:size": {}}},
                "f:whole": {},
                "f:atom": {},
                "f:free": {"f:x": {".": {}, "f:y": {}}},
            }
        }
    }
    yours = {"parts": [{"name": "b", "size": 2}], "free": {"z": 1}}
    both = apply(api, path, widgets.body("a", spec=yours), "you").ok()
    assert both["spec"]["parts"] == [{"name": "a", "size": 1}, {"name": "b", "size": 2}]
    assert both["spec"]["free"] == {"x": {"y": [1]}, "z": 1}
    for other in ({"whole": ["y"]}, {"atom": {"l": "w"}}, {"free": {"x": {"y": [2]}}}):
        apply(api, path, widgets.body("a", spec=other), "they").failed(409, "Conflict")


def test_a_create_of_a_custom_object_makes_its_manager_own_all_fields(widgets: Widgets):
    widgets.define(version(schema=spec_of(a=TEXT, b={"type": "string", "default": "x"})))
    made = widgets.create("a", spec={"a": "1"})
    ((manager, fields),) = managers(made).items()
    assert manager[1:] == ("Update", "")
    assert fields == {"f:spec": {".": {}, "f:a": {}, "f:b": {}}}
    assert managers(widgets.create("b")) == {}


def test_a_set_of_maps_is_accepted_though_it_cannot_be_managed(api: API, widgets: Widgets):
    item = {"type": "object", "properties": {"a": TEXT}, "x-kubernetes-map-type": "atomic"}
    widgets.define(version(schema=spec_of(set={"type": "array", "items": item, "x-kubernetes-list-type": "set"})))
    made = widgets.create("a", spec={"set": [{"a": "1"}, {"a": "2"}]})
    assert made["spec"]["set"] == [{"a": "1"}, {"a": "2"}]
    assert managers(made) == {}
    assert api.patch(widgets.path("a"), {"spec": {"set": [{"a": "3"}]}}).ok()["spec"]["set"] == [{"a": "3"}]
    apply(api, widgets.path("a"), widgets.body("a", spec={"set": [{"a": "4"}]})).failed(500, "")


def test_a_status_update_with_repeated_elements_of_a_set_keeps_the_managers(api: API, widgets: Widgets):
    names = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
    schema = spec_of(names=names)
    schema["properties"]["status"] = ANYTHING
    widgets.define(version(schema=schema, subresources={"status": {}}))
    widgets.create("a", spec={"names": ["one"]})
    changes = {"spec": {"names": ["two", "two"]}, "status": {"phase": "Ready"}}
    changed = api.patch(widgets.path("a", "status"), changes).ok()
    assert changed["spec"]["names"] == ["one"]
    assert [subresource for _, _, subresource in managers(changed)] == ["", "status"]


def test_fields_that_the_schema_of_a_custom_resource_does_not_declare_are_rejected(api: API, widgets: Widgets):
    widgets.define(version(schema=spec_of(a=TEXT)))
    status = apply(api, widgets.path("a"), widgets.body("a", spec={"b": "1"})).failed(500, "")
    assert ".spec.b: field not declared in schema" in status["message"]


def test_the_status_of_a_custom_object_is_applied_through_its_subresource(api: API, widgets: Widgets):
    widgets.define(version(subresources={"status": {}}))
    apply(api, widgets.path("a"), widgets.body("a", spec={"x": 1}, status={"y": 1})).ok(201)
    applied = apply(api, widgets.path("a", "status"), widgets.body("a", status={"y": 2}), "you").ok()
    assert (applied["spec"], applied["status"]) == ({"x": 1}, {"y": 2})
    assert managers(applied) == {
        ("me", "Apply", ""): {"f:spec": {".": {}, "f:x": {}}},
        ("you", "Apply", "status"): {"f:status": {".": {}, "f:y": {}}},
    }


# --- applies without changes, and invalid applies ---------------------------------------------------------------------


def test_an_apply_that_changes_nothing_has_no_time(api: API):
    api.create("configmaps", "a", data={"x": "1"})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    agreed = api.patch(api.path("configmaps", "a"), body, APPLY, fieldManager="me").ok()
    times = {entry["manager"]: "time" in entry for entry in agreed["metadata"]["managedFields"]}
    assert times.pop("me") is False
    assert list(times.values()) == [True]


def test_a_selector_is_managed_as_a_whole(api: API):
    spec = {"podSelector": {"matchLabels": {"app": "web"}}}
    policy = api.create("networkpolicies", "a", version="networking.k8s.io/v1", spec=spec)
    (entry,) = policy["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:spec"]["f:podSelector"] == {}


def test_an_applied_object_with_an_invalid_kind_is_rejected(api: API):
    body = {"apiVersion": "v1", "kind": 5, "metadata": {"name": "a"}}
    response = api.patch(api.path("configmaps", "a"), body, APPLY, fieldManager="me")
    assert response.failed(400, "BadRequest")["message"] == "invalid object type: /v1, Kind="


def test_the_body_of_an_apply_is_validated_before_its_name(api: API):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": "text"}
    response = api.patch(api.path("configmaps", "a"), body, APPLY, fieldManager="me")
    assert ".data: expected map, got &{text}" in response.failed(500, "")["message"]


# --- names of managers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "manager"),
    [
        ("tool/1.0 (linux) extra/2", "tool"),
        ("Mozilla", "Mozilla"),
        ("two words/1", "two words"),
        ("", "unknown"),
        ("/1.0", "unknown"),
        ("x" * 200 + "/1", "x" * 128),
        ("a\tb/1", "ab"),
    ],
)
def test_a_manager_without_a_name_is_named_after_its_program(api: API, agent: str, manager: str):
    body = {"metadata": {"name": "a"}, "data": {"x": "1"}}
    made = api.post(api.path("configmaps"), body, headers={"User-Agent": agent}).ok(201)
    assert [*managers(made)] == [(manager, "Update", "")]


def test_a_field_manager_takes_precedence_over_the_program(api: API):
    body = {"metadata": {"name": "a"}, "data": {"x": "1"}}
    made = api.post(api.path("configmaps"), body, headers={"User-Agent": "tool/1"}, fieldManager="me").ok(201)
    assert [*managers(made)] == [("me", "Update", "")]


# --- the scale --------------------------------------------------------------------------------------------------------


def scale(replicas: int | None, **metadata: Tree) -> Tree:
    spec = {} if replicas is None else {"spec": {"replicas": replicas}}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web", **metadata}, **spec}


def entries(tree: Tree) -> list[tuple[str, str, str, str, bool]]:
    """Manager, operation, subresource and version of each entry, and whether it has a time."""
    names = ("manager", "operation", "subresource", "apiVersion")
    found = tree["metadata"]["managedFields"]
    return [(*(each.get(name, "") for name in names), "time" in each) for each in found]


def test_replicas_that_were_scaled_to_zero_have_no_manager(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"}, replicas=2)).ok(201)
    for replicas in (0, 3):
        api.patch(f"{web}/scale", {"spec": {"replicas": replicas}}, fieldManager="scaler").ok()
        found = managers(api.get(web).ok())
        assert [*found] == [("me", "Apply", "")]
        assert "f:replicas" not in found[("me", "Apply", "")]["f:spec"]


def test_the_scale_is_applied(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    status = apply(api, f"{web}/scale", scale(5), "scaler").failed(409, "Conflict")
    before = '"before-first-apply" with subresource "scale" using autoscaling/v1'
    assert status["message"] == f"Apply failed with 1 conflict: conflict with {before}: .spec.replicas"
    applied = apply(api, f"{web}/scale", scale(5), "scaler", force="true").ok()
    assert (applied["kind"], applied["spec"]) == ("Scale", {"replicas": 5})
    found = api.get(web).ok()
    assert found["spec"]["replicas"] == 5
    assert managers(found)[("scaler", "Apply", "scale")] == {"f:spec": {"f:replicas": {}}}
    assert entries(found) == [("scaler", "Apply", "scale", APPS, False), ("me", "Apply", "", APPS, True)]
    again = apply(api, f"{web}/scale", scale(6), "scaler").ok()
    assert again["spec"] == {"replicas": 6}
    assert entries(api.get(web).ok()) == entries(found)


def test_an_applied_scale_conflicts_with_the_managers_of_the_replicas(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"}, replicas=2)).ok(201)
    status = apply(api, f"{web}/scale", scale(5), "scaler").failed(409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "me": .spec.replicas'
    assert causes(status) == {("FieldManagerConflict", ".spec.replicas")}
    assert api.get(web).ok()["spec"]["replicas"] == 2
    apply(api, f"{web}/scale", scale(5), "scaler", force="true").ok()
    found = managers(api.get(web).ok())
    assert found[("scaler", "Apply", "scale")] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in found[("me", "Apply", "")]["f:spec"]


def test_an_update_of_the_replicas_conflicts_with_an_applied_scale(api: API, web: str):
    api.post(api.path("deployments", version=APPS), deployment({"name": "web", "image": "web:1"}, replicas=2)).ok(201)
    status = apply(api, f"{web}/scale", scale(5), "scaler").failed(409, "Conflict")
    assert status["message"].startswith("Apply failed with 1 conflict: conflict with ")
    assert status["message"].endswith(" using autoscaling/v1: .spec.replicas")


def test_an_applied_scale_that_changes_nothing_shares_the_replicas(api: API, web: str):
    body = deployment({"name": "web", "image": "web:1"}, replicas=2)
    api.post(api.path("deployments", version=APPS), body, fieldManager="maker").ok(201)
    apply(api, f"{web}/scale", scale(2), "scaler").ok()
    found = api.get(web).ok()
    assert entries(found) == [
        ("scaler", "Apply", "scale", APPS, False),
        ("maker", "Update", "", APPS, False),
        ("maker", "Update", "", APPS, True),
    ]
    (_, replicas, rest) = found["metadata"]["managedFields"]
    assert replicas["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in rest["fieldsV1"]["f:spec"]


def test_a_scale_without_replicas_is_no_longer_managed(api: API, web: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    apply(api, f"{web}/scale", scale(5), "scaler", force="true").ok()
    left = apply(api, f"{web}/scale", scale(None), "scaler").ok()
    assert left["spec"] == {}
    found = api.get(web).ok()
    assert found["spec"]["replicas"] == 0
    assert entries(found) == [("me", "Apply", "", APPS, True)]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({**scale(1), "kind": "Deployment"}, 400, "invalid object type: autoscaling/v1, Kind=Deployment"),
        (scale(1, name="other"), 400, "the name of the object (other) does not match the name on the URL (web)"),
        (scale(-1), 422, 'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than'),
        ({**scale(1), "extra": 1}, 500, ".extra: field not declared in schema"),
    ],
)
def test_a_scale_that_cannot_be_applied_is_rejected(api: API, web: str, body: Tree, code: int, message: str):
    apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    response = apply(api, f"{web}/scale", body, "scaler", force="true")
    assert (response.status, message in response.json["message"]) == (code, True), response.json


def test_an_applied_scale_may_name_the_version_that_it_changes(api: API, web: str):
    made = apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    version = made["metadata"]["resourceVersion"]
    apply(api, f"{web}/scale", scale(3, resourceVersion=version), "scaler", force="true").ok()
    apply(api, f"{web}/scale", scale(4, resourceVersion=version), "scaler", force="true").failed(409, "Conflict")


def test_a_dry_run_applies_no_scale(api: API, web: str):
    made = apply(api, web, deployment({"name": "web", "image": "web:1"})).ok(201)
    assert apply(api, f"{web}/scale", scale(3), "scaler", force="true", dryRun="All").ok()["spec"] == {"replicas": 3}
    assert api.get(web).ok() == made


def test_the_scale_of_a_missing_object_is_not_applied(api: API, web: str):
    apply(api, f"{web}/scale", scale(3), "scaler").failed(404, "NotFound")


def test_the_scale_of_a_custom_object_cannot_be_applied(api: API, widgets: Widgets):
    paths = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    widgets.define(version("v1", subresources={"status": {}, "scale": paths}))
    body = {"apiVersion": f"{widgets.group}/v1", "kind": "Widget", "metadata": {"name": "web"}, "spec": {"size": 2}}
    api.post(widgets.path(), body, fieldManager="maker").ok(201)
    path = widgets.path("web")
    status = apply(api, f"{path}/scale", scale(3), "scaler").failed(409, "Conflict")
    assert status["message"] == (
        'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas'
    )
    # The real server cannot apply it.
    status = apply(api, f"{path}/scale", scale(3), "scaler", force="true").failed(500, "")
    assert "request to convert CR to an invalid group/version: autoscaling/v1" in status["message"]
    assert api.get(path).ok()["spec"] == {"size": 2}


# --- after client-side apply ------------------------------------------------------------------------------------------

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CLIENT_SIDE = "kubectl-client-side-apply"


def apply_on_client(api: API, body: Tree) -> Tree:
    """Create an object as `kubectl apply` does."""
    text = json.dumps(body, separators=(",", ":"), sort_keys=True) + "\n"
    metadata = {**body["metadata"], "annotations": {**body["metadata"].get("annotations", {}), LAST_APPLIED: text}}
    sent = {**body, "metadata": metadata}
    return api.post(api.path("configmaps"), sent, fieldManager=CLIENT_SIDE).ok(201)


def test_kubectl_takes_over_the_fields_of_its_client_side_apply(api: API, a: str):
    apply_on_client(api, config_map(data={"x": "1", "y": "2"}))
    applied = apply(api, a, config_map(data={"x": "3", "y": "2"}), "kubectl").ok()
    assert applied["data"] == {"x": "3", "y": "2"}
    found = managers(applied)
    assert found[("kubectl", "Apply", "")] == {"f:data": {"f:x": {}, "f:y": {}}}
    assert found[(CLIENT_SIDE, "Update", "")]["f:data"] == {".": {}, "f:y": {}}


def test_other_managers_do_not_take_over_from_client_side_apply(api: API, a: str):
    apply_on_client(api, config_map(data={"x": "1"}))
    status = apply(api, a, config_map(data={"x": "3"}), "me").failed(409, "Conflict")
    assert f'conflict with "{CLIENT_SIDE}" using v1: .data.x' in status["message"]


def test_fields_that_changed_since_the_client_side_apply_are_conflicts(api: API, a: str):
    apply_on_client(api, config_map(data={"x": "1", "y": "2"}))
    api.patch(a, {"data": {"x": "9"}}, fieldManager="editor").ok()
    status = apply(api, a, config_map(data={"x": "3", "y": "4"}), "kubectl").failed(409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "editor" using v1: .data.x'


def test_kubectl_keeps_the_last_applied_configuration_up_to_date(api: API, a: str):
    apply_on_client(api, config_map(data={"x": "1"}))
    body = config_map(data={"x": "<3> & ü"}, metadata={"labels": {"a": "b"}})
    applied = apply(api, a, body, "kubectl").ok()
    text = json.dumps(body, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    assert applied["metadata"]["annotations"] == {LAST_APPLIED: f"{escaped}\n"}
    with_namespace = {**body, "metadata": {**body["metadata"], "namespace": api.namespace}}
    applied = apply(api, a, with_namespace, "kubectl").ok()
    assert json.loads(applied["metadata"]["annotations"][LAST_APPLIED]) == with_namespace


def test_other_managers_leave_the_last_applied_configuration(api: API, a: str):
    made = apply_on_client(api, config_map(data={"x": "1"}))
    applied = apply(api, a, config_map(data={"y": "1"}), "me").ok()
    assert applied["metadata"]["annotations"] == made["metadata"]["annotations"]


def test_kubectl_records_nothing_on_objects_without_the_annotation(api: API, a: str):
    api.create("configmaps", "a", data={"x": "1"})
    assert "annotations" not in apply(api, a, config_map(data={"y": "1"}), "kubectl").ok()["metadata"]


@pytest.mark.parametrize("text", ["{", "[]", '{"apiVersion":"v2"}', '{"apiVersion":"v1","kind":"ConfigMap","data":1}'])
def test_an_annotation_that_is_no_configuration_gives_nothing_away(api: API, a: str, text: str):
    metadata = {"annotations": {LAST_APPLIED: text}}
    api.post(api.path("configmaps"), config_map(data={"x": "1"}, metadata=metadata), fieldManager=CLIENT_SIDE).ok(201)
    apply(api, a, config_map(data={"x": "3"}), "kubectl").failed(409, "Conflict")


def test_a_configuration_that_is_too_long_for_an_annotation_is_not_recorded(api: API, a: str):
    apply_on_client(api, config_map(data={"x": "1"}))
    applied = apply(api, a, config_map(data={"x": "y" * (256 << 10)}), "kubectl").ok()
    assert LAST_APPLIED not in applied["metadata"].get("annotations", {})


def test_a_create_does_not_manage_the_status_that_the_server_sets(api: API):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = api.post(api.path("persistentvolumeclaims"), {"metadata": {"name": "a"}, "spec": spec}).ok(201)
    [fields] = managers(made).values()
    assert set(fields) == {"f:spec"}


def test_the_fields_of_a_custom_object_are_those_of_the_requested_version(api: API, widgets: Widgets):
    atomic = spec_of(
        place={"type": "object", "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": True}
    )
    widgets.define(version("v1", atomic), version("v2", ANYTHING, storage=False))
    place = {"place": {"zone": "a"}}
    found = [
        next(iter(managers(widgets.create(name, version=each, spec=place)).values()))["f:spec"]
        for name, each in (("a", "v1"), ("b", "v2"))
    ]
    assert found == [{".": {}, "f:place": {}}, {".": {}, "f:place": {".": {}, "f:zone": {}}}]


def test_conflicts_are_reported_before_values_that_cannot_be_converted(api: API, web: str):
    container = {"name": "a", "image": "a", "resources": {"limits": {"cpu": "1"}}}
    apply(api, web, deployment(container)).ok(201)
    container = {**container, "resources": {"limits": {"cpu": "a b"}}}
    apply(api, web, deployment(container), manager="you").failed(409, "Conflict")
    forced = apply(api, web, deployment(container), manager="you", force=True).failed(500, "")
    assert forced["message"].startswith("failed to convert new object (/web; ")


def test_an_applied_number_that_is_too_large_loses_its_upper_bits(api: API, web: str):
    made = apply(api, web, deployment({"name": "a", "image": "a"}, replicas=2**40 + 3)).ok(201)
    assert made["spec"]["replicas"] == 3
    patched = api.patch(web, {"spec": {"replicas": 2**33 + 1}}, STRATEGIC_MERGE_PATCH).ok()
    assert patched["spec"]["replicas"] == 1


def test_an_applied_object_without_metadata_has_no_name(api: API, a: str):
    status = apply(api, a, {**config_map(), "metadata": None}).failed(400, "BadRequest")
    assert "was undeterminable: name must be provided" in status["message"]
    api.create("configmaps", "a")
    assert apply(api, a, {**config_map(), "metadata": None}).ok()["metadata"]["name"] == "a"


def test_an_apply_that_changes_only_what_it_cannot_write_has_a_time(api: API, web: str):
    apply(api, web, deployment({"name": "a", "image": "a"})).ok(201)
    body = {**deployment(), "status": {"replicas": 1}}
    for manager, replicas in (("first", 1), ("other", 5), ("same", 1)):
        applied = apply(api, f"{web}/status", {**body, "spec": {"replicas": replicas}}, manager).ok()
    entries = {entry["manager"]: entry for entry in applied["metadata"]["managedFields"]}
    assert {name for name in ("first", "other", "same") if "time" in entries[name]} == {"first", "other"}


def test_conflicts_are_reported_before_names_and_strict_errors(api: API, a: str):
    apply(api, a, config_map(data={"x": "1"})).ok(201)
    body = json.dumps({**config_map("other"), "data": {"x": "2"}}).replace("{", '{"kind": "ConfigMap", ', 1).encode()
    apply(api, a, body, "you", fieldValidation="Strict").failed(409, "Conflict")
    status = apply(api, a, body, "you", fieldValidation="Strict", force=True).failed(400, "BadRequest")
    assert status["message"].startswith("error strict decoding YAML: ")
    status = apply(api, a, body, "you", force=True).failed(400, "BadRequest")
    assert status["message"] == "the name of the object (other) does not match the name on the URL (a)"


def test_duplicate_fields_are_ignored_if_the_request_says_so(api: API, a: str):
    body = json.dumps(config_map()).replace("{", '{"kind": "ConfigMap", ', 1).encode()
    assert len(apply(api, a, body, fieldValidation="Warn").warnings) == 1
    assert apply(api, a, body, fieldValidation="Ignore").warnings == []
