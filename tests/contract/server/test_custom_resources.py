import secrets
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, JSON_PATCH, STRATEGIC_MERGE_PATCH, Tree, causes
from tests.contract.server.definitions import (
    ANYTHING,
    DEFINITIONS,
    Widgets,
    definition,
    spec_of,
    version,
    wait_until,
)

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERBS = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
TEXT = {"type": "string"}
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    yield found
    found.remove()


def refusal(api: API, widgets: Widgets, *versions: Tree, **names: Tree) -> set[tuple[str, str]]:
    """The causes for rejecting a definition."""
    response = api.post(DEFINITIONS, definition(widgets.group, *versions, **names), dryRun="All")
    return causes(response.failed(422, "Invalid"))


def in_schema(place: str) -> str:
    return f"spec.validation.openAPIV3Schema.properties[spec].properties[a]{place}"


# --- definitions ------------------------------------------------------------------------------------------------------


def test_a_new_definition_gets_its_names_and_its_stored_version(api: API, widgets: Widgets):
    made = api.post(DEFINITIONS, definition(widgets.group)).ok(201)
    assert made["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}
    names = {"plural": "", "kind": ""}
    assert made["status"] == {"conditions": None, "acceptedNames": names, "storedVersions": ["v1"]}
    assert made["metadata"]["generation"] == 1


def test_a_definition_is_established_by_itself(widgets: Widgets):
    status = widgets.define(version(), shortNames=["wd"])["status"]
    found = [(each["type"], each["status"], each["reason"], each["message"]) for each in status["conditions"]]
    assert found == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert status["acceptedNames"]["shortNames"] == ["wd"]
    assert status["storedVersions"] == ["v1"]


def test_a_dry_run_defines_nothing(api: API, widgets: Widgets):
    api.post(DEFINITIONS, definition(widgets.group), dryRun="All").ok(201)
    api.get(widgets.definition).failed(404, "NotFound")
    assert api.get(widgets.path()).status == 404


def test_names_that_another_definition_of_the_group_has_are_not_accepted(api: API, widgets: Widgets):
    widgets.define(version(), shortNames=["wd"])
    api.post(DEFINITIONS, definition(widgets.group, plural="others", kind="Widget")).ok(201)
    path = f"{DEFINITIONS}/others.{widgets.group}"
    wait_until(lambda: api.get(path).ok()["status"]["conditions"])
    accepted, established = api.get(path).ok()["status"]["conditions"]
    assert (accepted["status"], accepted["reason"]) == ("False", "ListKindConflict")
    assert (established["status"], established["reason"]) == ("False", "NotAccepted")
    assert api.get(api.path("others", version=f"{widgets.group}/v1")).status == 404
    api.delete(path).ok()


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"plural": "Widgets"}, {"metadata.name", "spec.names.plural"}),
        ({"kind": "a_b"}, {"spec.names.kind", "spec.names.singular", "spec.names.listKind"}),
        ({"shortNames": ["A"]}, {"spec.names.shortNames[0]"}),
        ({"scope": "Everywhere"}, {"spec.scope"}),
    ],
)
def test_invalid_names_are_rejected(api: API, widgets: Widgets, change: Tree, where: set[str]):
    assert {field for _, field in refusal(api, widgets, **change)} == where


def test_a_definition_is_named_after_its_plural_and_group(api: API, widgets: Widgets):
    wrong = definition(widgets.group)
    wrong["metadata"]["name"] = "widgets"
    assert causes(api.post(DEFINITIONS, wrong).failed(422, "Invalid")) == {("FieldValueInvalid", "metadata.name")}


@pytest.mark.parametrize(
    "versions",
    [
        [version(storage=False)],
        [version("v1"), version("v2")],
        [version("v1"), version("v1", storage=False)],
    ],
)
def test_exactly_one_version_is_stored_and_version_names_are_unique(api: API, widgets: Widgets, versions: list[Tree]):
    assert ("FieldValueInvalid", "spec.versions") in refusal(api, widgets, *versions)


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({}, ("FieldValueRequired", ".type")),
        ({"type": "text"}, ("FieldValueNotSupported", ".type")),
        ({"type": "array"}, ("FieldValueRequired", ".items")),
        ({"type": "string", "pattern": "("}, ("FieldValueInvalid", ".pattern")),
        ({"type": "string", "default": 1}, ("FieldValueTypeInvalid", ".default")),
        ({"type": "string", "x-kubernetes-list-type": "set"}, ("FieldValueInvalid", ".type")),
        ({"type": "array", "items": TEXT, "uniqueItems": True}, ("FieldValueForbidden", ".uniqueItems")),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "some"},
            ("FieldValueNotSupported", ".x-kubernetes-list-type"),
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"},
            ("FieldValueRequired", ".x-kubernetes-list-map-keys"),
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
            ("FieldValueInvalid", ".items.x-kubernetes-map-type"),
        ),
        (
            {"type": "object", "properties": {"b": TEXT}, "additionalProperties": TEXT},
            ("FieldValueForbidden", ".additionalProperties"),
        ),
        ({"type": "string", "anyOf": [{"type": "string"}]}, ("FieldValueForbidden", ".anyOf[0].type")),
        ({"type": "string", "$ref": "b"}, ("FieldValueForbidden", ".$ref")),
    ],
)
def test_a_schema_that_is_not_structural_is_rejected(api: API, widgets: Widgets, schema: Tree, found: tuple[str, str]):
    reason, place = found
    assert refusal(api, widgets, version(schema=spec_of(a=schema))) == {(reason, in_schema(place))}


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a**", "invalid nested repetition operator: `**`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        ("(a", "missing closing ): `(a`"),
    ],
)
def test_a_pattern_has_the_syntax_of_go(api: API, widgets: Widgets, pattern: str, problem: str):
    schema = spec_of(a={"type": "string", "pattern": pattern})
    status = api.post(DEFINITIONS, definition(widgets.group, version(schema=schema))).failed(422, "Invalid")
    assert f"must be a valid regular expression, but isn't: error parsing regexp: {problem}" in status["message"]


def test_a_whole_object_cannot_be_nullable(api: API, widgets: Widgets):
    found = refusal(api, widgets, version(schema={**spec_of(a=TEXT), "nullable": True}))
    assert found == {("FieldValueForbidden", "spec.validation.openAPIV3Schema.nullable")}


def test_the_keys_of_a_map_list_are_required_or_have_a_default(api: API, widgets: Widgets):
    items = {"type": "object", "properties": {"name": TEXT}}
    by_name = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    found = refusal(api, widgets, version(schema=spec_of(a={"type": "array", "items": items, **by_name})))
    assert found == {("FieldValueRequired", in_schema(".items.properties[name].default"))}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"subresources": {"scale": {}}}, "spec.subresources.scale.specReplicasPath"),
        (
            {"subresources": {"scale": {**SCALE, "specReplicasPath": "spec"}}},
            "spec.subresources.scale.specReplicasPath",
        ),
        ({"selectableFields": [{"jsonPath": ".spec.b"}]}, "spec.selectableFields[0].jsonPath"),
        ({"deprecationWarning": "old"}, "spec.versions[0].deprecationWarning"),
        (
            {"additionalPrinterColumns": [{"name": "A", "type": "x", "jsonPath": ".a"}]},
            "spec.additionalPrinterColumns[0].type",
        ),
    ],
)
def test_the_fields_of_a_version_are_validated(api: API, widgets: Widgets, more: Tree, found: str):
    assert found in {field for _, field in refusal(api, widgets, version(schema=spec_of(a=TEXT), **more))}


# --- discovery --------------------------------------------------------------------------------------------------------


def test_a_custom_resource_is_discovered_with_all_its_names(api: API, widgets: Widgets):
    subresources = {"status": {}, "scale": SCALE}
    widgets.define(version(subresources=subresources), shortNames=["wd"], categories=["things"])
    plain = api.get(f"/apis/{widgets.group}/v1").ok()["resources"]
    assert [each["name"] for each in plain] == ["widgets", "widgets/status", "widgets/scale"]
    assert plain[0]["singularName"] == "widget"
    assert (plain[0]["shortNames"], plain[0]["categories"], plain[0]["namespaced"]) == (["wd"], ["things"], True)
    assert set(plain[0]["verbs"]) == VERBS
    assert (plain[2]["group"], plain[2]["version"], plain[2]["kind"]) == ("autoscaling", "v1", "Scale")
    assert len(plain[0]["storageVersionHash"]) == 12


def test_a_custom_resource_is_in_the_aggregated_discovery(api: API, widgets: Widgets):
    widgets.define(version(subresources={"status": {}}), shortNames=["wd"])

    def groups() -> dict[str, Tree]:
        response = api.request("GET", "/apis", headers={"Accept": V2})
        return {each["metadata"]["name"]: each for each in response.json["items"]}

    wait_until(lambda: widgets.group in groups())
    (found,) = groups()[widgets.group]["versions"]
    kind = {"group": widgets.group, "version": "v1", "kind": "Widget"}
    (resource,) = found["resources"]
    assert (resource["resource"], resource["responseKind"], resource["scope"]) == ("widgets", kind, "Namespaced")
    assert [each["subresource"] for each in resource["subresources"]] == ["status"]
    assert resource["subresources"][0]["responseKind"] == kind


def test_versions_are_discovered_by_their_priority(api: API, widgets: Widgets):
    names = ["v1beta1", "v2", "v1", "v10alpha1"]
    widgets.define(*(version(each, storage=each == "v1") for each in names))
    found = api.get(f"/apis/{widgets.group}").ok()
    assert [each["version"] for each in found["versions"]] == ["v2", "v1", "v1beta1", "v10alpha1"]
    assert found["preferredVersion"]["version"] == "v2"


def test_an_undefined_resource_in_a_defined_group_is_not_found(api: API, widgets: Widgets):
    widgets.define()
    for path in (f"/apis/{widgets.group}/v1/gadgets", f"/apis/{widgets.group}/v2/widgets"):
        response = api.get(path)
        assert (response.status, response.body) == (404, b"404 page not found\n")


# --- objects ----------------------------------------------------------------------------------------------------------


def test_custom_objects_are_created_changed_listed_and_deleted(api: API, widgets: Widgets):
    widgets.define()
    made = widgets.create("a", spec={"color": "red"})
    assert made["metadata"]["generation"] == 1
    made["spec"]["color"] = "blue"
    changed = api.put(widgets.path("a"), made).ok()
    assert changed["metadata"]["generation"] == 2
    listed = api.get(widgets.path()).ok()
    assert (listed["kind"], listed["metadata"]["continue"]) == ("WidgetList", "")
    assert listed["items"] == [changed]
    patched = api.patch(widgets.path("a"), [{"op": "remove", "path": "/spec/color"}], JSON_PATCH).ok()
    assert patched["spec"] == {}
    assert api.delete(widgets.path("a")).ok()["status"] == "Success"
    api.get(widgets.path("a")).failed(404, "NotFound")


def test_a_custom_object_has_its_kind_and_api_version(api: API, widgets: Widgets):
    widgets.define()
    body = widgets.body("a")
    nameless = api.post(widgets.path(), {**body, "kind": ""}).failed(400, "BadRequest")
    assert "Object 'Kind' is missing in" in nameless["message"]
    api.post(widgets.path(), {**body, "apiVersion": f"{widgets.group}/v2"}).failed(400, "BadRequest")
    other = api.post(widgets.path(), {**body, "kind": "Gadget"}).failed(422, "Invalid")
    assert causes(other) == {("FieldValueInvalid", "kind")}


def test_an_update_of_a_custom_object_requires_its_resource_version(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    blind = api.put(widgets.path("a"), widgets.body("a", spec={})).failed(422, "Invalid")
    assert causes(blind) == {("FieldValueInvalid", "metadata.resourceVersion")}


def test_custom_objects_do_not_support_strategic_merge_patches(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    api.patch(widgets.path("a"), {}, STRATEGIC_MERGE_PATCH).failed(415, "UnsupportedMediaType")


def test_cluster_wide_custom_objects_have_no_namespace(api: API, widgets: Widgets):
    defined = definition(widgets.group, scope="Cluster")
    api.post(DEFINITIONS, defined).ok(201)
    path = f"/apis/{widgets.group}/v1/widgets"
    wait_until(lambda: api.get(path).status == 200)
    made = api.post(path, widgets.body("a")).ok(201)
    assert "namespace" not in made["metadata"]
    assert api.get(widgets.path()).status == 404


def test_the_generation_counts_changes_of_the_spec_and_not_of_the_status(api: API, widgets: Widgets):
    widgets.define(version(subresources={"status": {}}))
    made = widgets.create("a", spec={"x": 1}, status={"ready": True})
    assert "status" not in made
    path = widgets.path("a")
    assert api.patch(path, {"metadata": {"labels": {"x": "y"}}}).ok()["metadata"]["generation"] == 1
    patched = api.patch(
        f"{path}/status", {"status": {"ready": True}, "spec": {"x": 2}, "metadata": {"labels": None}}
    ).ok()
    assert (patched["spec"], patched["status"], patched["metadata"]["generation"]) == ({"x": 1}, {"ready": True}, 1)
    assert patched["metadata"]["labels"] == {"x": "y"}
    kept = api.patch(path, {"status": {"ready": False}, "spec": {"x": 3}}).ok()
    assert (kept["status"], kept["metadata"]["generation"]) == ({"ready": True}, 2)


def test_without_a_status_subresource_the_status_is_an_ordinary_field(api: API, widgets: Widgets):
    widgets.define()
    assert widgets.create("a", status={"ready": True})["status"] == {"ready": True}
    patched = api.patch(widgets.path("a"), {"status": {"ready": False}}).ok()
    assert (patched["status"], patched["metadata"]["generation"]) == ({"ready": False}, 2)
    assert api.get(widgets.path("a", "status")).status == 404


@pytest.mark.parametrize(
    "changes",
    [{"spec": {"replicas": "x"}}, {"kind": "Other"}, {"apiVersion": "autoscaling/v2"}, {"apiVersion": "a/b/c"}],
)
def test_an_undecodable_scale_of_a_custom_object_is_a_bad_request(api: API, widgets: Widgets, changes: Tree):
    widgets.define(version(subresources={"scale": SCALE}))
    widgets.create("a", spec={"replicas": 3})
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, **changes}
    status = api.put(widgets.path("a", "scale"), scale).failed(400, "BadRequest")
    assert status["message"] == 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'


def test_a_patch_cannot_remove_the_kind_or_the_version_of_a_custom_object(api: API, widgets: Widgets):
    widgets.define(version(subresources={"scale": SCALE}))
    widgets.create("a", spec={"replicas": 3})
    status = api.patch(widgets.path("a"), {"kind": None}).failed(422, "Invalid")
    assert "Object 'Kind' is missing in '{" in status["message"]
    status = api.patch(widgets.path("a"), {"apiVersion": None}).failed(500, "InternalError")
    missing = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
    assert status["message"] == f"Internal error occurred: {missing}"
    assert status["details"] == {"causes": [{"message": missing}]}
    assert api.patch(widgets.path("a", "scale"), {"apiVersion": None}).ok()["spec"] == {"replicas": 3}


def test_the_scale_of_a_custom_object_uses_the_paths_of_its_definition(api: API, widgets: Widgets):
    scale = {**SCALE, "labelSelectorPath": ".status.selector"}
    widgets.define(version(subresources={"status": {}, "scale": scale}))
    widgets.create("a", spec={"replicas": 2})
    api.patch(widgets.path("a", "status"), {"status": {"replicas": 1, "selector": "app=a"}}).ok()
    found = api.get(widgets.path("a", "scale")).ok()
    assert (found["kind"], found["spec"], found["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 1, "selector": "app=a"},
    )
    assert api.patch(widgets.path("a", "scale"), {"spec": {"replicas": 5}}).ok()["spec"] == {"replicas": 5}
    scaled = api.get(widgets.path("a")).ok()
    assert (scaled["spec"], scaled["metadata"]["generation"]) == ({"replicas": 5}, 2)
    widgets.create("b")
    api.get(widgets.path("b", "scale")).failed(500, "InternalError")


def test_custom_objects_are_watched(api: API, widgets: Widgets):
    widgets.define()
    version_of_list = api.get(widgets.path()).ok()["metadata"]["resourceVersion"]
    with api.watch(widgets.path(), resourceVersion=version_of_list) as watch:
        made = widgets.create("a", spec={"x": 1})
        assert watch.next() == ("ADDED", made)
        patched = api.patch(widgets.path("a"), {"spec": {"x": 2}}).ok()
        assert watch.next() == ("MODIFIED", patched)
        api.delete(widgets.path("a")).ok()
        assert watch.take(1) == [("DELETED", "a")]


def test_a_watch_of_custom_objects_marks_the_end_of_its_initial_events(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    options = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with api.watch(widgets.path(), **options) as watch:
        assert watch.take(1) == [("ADDED", "a")]
        kind, bookmark = watch.next()
    assert (kind, bookmark["kind"], bookmark["apiVersion"]) == ("BOOKMARK", "Widget", f"{widgets.group}/v1")
    assert bookmark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_custom_objects_are_selected_by_the_fields_that_their_definition_names(api: API, widgets: Widgets):
    schema = spec_of(color=TEXT, size={"type": "integer"})
    fields = [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]
    widgets.define(version(schema=schema, selectableFields=fields))
    widgets.create("a", spec={"color": "red", "size": 1})
    widgets.create("b", spec={"color": "blue"})
    assert api.names(widgets.path(), fieldSelector="spec.color=red") == ["a"]
    assert api.names(widgets.path(), fieldSelector="spec.color!=red,metadata.name=b") == ["b"]
    assert api.names(widgets.path(), fieldSelector="spec.size=1") == ["a"]
    api.get(widgets.path(), fieldSelector="spec.shape=round").failed(400, "BadRequest")
    with api.watch(widgets.path(), fieldSelector="spec.color=red") as watch:
        assert watch.take(1) == [("ADDED", "a")]
        api.patch(widgets.path("a"), {"spec": {"color": "blue"}}).ok()
        assert watch.take(1) == [("DELETED", "a")]


# --- schemas ----------------------------------------------------------------------------------------------------------


def test_fields_that_the_schema_does_not_declare_are_dropped_and_reported(api: API, widgets: Widgets):
    part = {"type": "object", "properties": {"name": TEXT}}
    widgets.define(version(schema=spec_of(a=TEXT, parts={"type": "array", "items": part}, free=ANYTHING)))
    spec = {"a": "x", "b": "y", "parts": [{"name": "p", "more": 1}], "free": {"any": {"thing": [1]}}}
    body = widgets.body("a", spec=spec, other=1)
    response = api.post(widgets.path(), body)
    assert response.ok(201)["spec"] == {"a": "x", "parts": [{"name": "p"}], "free": {"any": {"thing": [1]}}}
    assert response.warnings == [
        '299 - "unknown field \\"other\\""',
        '299 - "unknown field \\"spec.b\\""',
        '299 - "unknown field \\"spec.parts[0].more\\""',
    ]
    strict = api.post(widgets.path(), {**body, "metadata": {"name": "b"}}, fieldValidation="Strict")
    assert 'strict decoding error: unknown field "other"' in strict.failed(400, "BadRequest")["message"]


def test_an_embedded_resource_keeps_kind_api_version_and_metadata(widgets: Widgets):
    template = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "properties": {"spec": {"type": "object", "properties": {"a": TEXT}}},
    }
    widgets.define(version(schema=spec_of(template=template)))
    inner = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"a": "1", "b": "2"}, "more": 1}
    made = widgets.create("a", spec={"template": inner})
    assert made["spec"]["template"] == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {"name": "x"},
        "spec": {"a": "1"},
    }


def test_defaults_are_filled_in_if_their_parent_is_set(widgets: Widgets):
    nested = {"type": "object", "properties": {"b": {"type": "integer", "default": 7}}}
    listed = {"type": "array", "items": nested}
    widgets.define(version(schema=spec_of(a={"type": "string", "default": "x"}, nested=nested, listed=listed)))
    assert widgets.create("a", spec={"nested": {}, "listed": [{}, {"b": 1}]})["spec"] == {
        "a": "x",
        "nested": {"b": 7},
        "listed": [{"b": 7}, {"b": 1}],
    }
    assert widgets.create("b", spec={"a": None})["spec"] == {"a": "x"}
    assert "spec" not in widgets.create("c")


def test_nulls_are_kept_only_in_nullable_fields(widgets: Widgets):
    widgets.define(version(schema=spec_of(a=TEXT, b={"type": "string", "nullable": True})))
    assert widgets.create("a", spec={"a": None, "b": None})["spec"] == {"b": None}


def refused(api: API, widgets: Widgets, spec: Tree) -> set[tuple[str, str]]:
    return causes(api.post(widgets.path(), widgets.body("bad", spec=spec)).failed(422, "Invalid"))


@pytest.mark.parametrize(
    ("schema", "good", "bad", "found"),
    [
        (TEXT, "x", 1, {("FieldValueTypeInvalid", "spec.a")}),
        ({"type": "integer"}, 1, "1", {("FieldValueTypeInvalid", "spec.a")}),
        ({"type": "number"}, 1, True, {("FieldValueTypeInvalid", "spec.a")}),
        ({"type": "boolean"}, False, "no", {("FieldValueTypeInvalid", "spec.a")}),
        ({"type": "array", "items": TEXT}, ["x"], ["x", 1], {("FieldValueTypeInvalid", "spec.a[1]")}),
        ({"type": "string", "enum": ["x", "y"]}, "x", "z", {("FieldValueNotSupported", "spec.a")}),
        ({"type": "string", "pattern": "^x+$"}, "xx", "xy", {("FieldValueInvalid", "spec.a")}),
        ({"type": "string", "maxLength": 2}, "xx", "xxx", {("FieldValueTooLong", "spec.a")}),
        ({"type": "string", "minLength": 2}, "xx", "x", {("FieldValueInvalid", "spec.a")}),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3, 4, {("FieldValueInvalid", "spec.a")}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2, 1, {("FieldValueInvalid", "spec.a")}),
        ({"type": "integer", "multipleOf": 5}, 10, 11, {("FieldValueInvalid", "spec.a")}),
        ({"type": "array", "items": TEXT, "maxItems": 1}, ["x"], ["x", "y"], {("FieldValueTooMany", "spec.a")}),
        ({"type": "array", "items": TEXT, "minItems": 1}, ["x"], [], {("FieldValueInvalid", "spec.a")}),
        (
            {"type": "string", "format": "date-time"},
            "2024-01-02T03:04:05Z",
            "now",
            {("FieldValueTypeInvalid", "spec.a")},
        ),
        ({"type": "string", "format": "ipv4"}, "10.0.0.1", "::1", {("FieldValueTypeInvalid", "spec.a")}),
        ({"x-kubernetes-int-or-string": True}, "50%", True, {("FieldValueTypeInvalid", "spec.a")}),
        (
            {"type": "object", "additionalProperties": TEXT},
            {"b": "x"},
            {"b": 1},
            {("FieldValueTypeInvalid", "spec.a.b")},
        ),
        (
            {"type": "object", "properties": {"b": TEXT}, "required": ["b"]},
            {"b": "x"},
            {},
            {("FieldValueRequired", "spec.a.b")},
        ),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            ["x", "y"],
            ["x", "x"],
            {("FieldValueDuplicate", "spec.a[1]")},
        ),
        ({"type": "string", "not": {"enum": ["x"]}}, "y", "x", {("FieldValueInvalid", "<nil>")}),
        (
            {"type": "integer", "anyOf": [{"minimum": 5}, {"multipleOf": 3}]},
            3,
            4,
            {("FieldValueInvalid", "<nil>"), ("FieldValueInvalid", "spec.a")},
        ),
    ],
)
def test_custom_objects_are_validated_by_their_schema(
    api: API, widgets: Widgets, schema: Tree, good: Tree, bad: Tree, found: set[tuple[str, str]]
):
    widgets.define(version(schema=spec_of(a=schema)))
    assert widgets.create("good", spec={"a": good})["spec"] == {"a": good}
    assert refused(api, widgets, {"a": bad}) == found


def test_unchanged_invalid_fields_do_not_block_an_update(api: API, widgets: Widgets):
    widgets.define(version(schema=spec_of(a=TEXT, b=TEXT)))
    widgets.create("a", spec={"a": "long", "b": "x"})

    def shorten(spec: Tree) -> None:
        spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"]["maxLength"] = 2

    widgets.redefine(shorten, "v1")
    wait_until(lambda: api.post(widgets.path(), widgets.body("b", spec={"a": "long"}), dryRun="All").status == 422)
    assert api.patch(widgets.path("a"), {"spec": {"b": "y"}}).ok()["spec"] == {"a": "long", "b": "y"}
    found = causes(api.patch(widgets.path("a"), {"spec": {"a": "longer"}}).failed(422, "Invalid"))
    assert found == {("FieldValueTooLong", "spec.a")}


# --- versions ---------------------------------------------------------------------------------------------------------


def test_an_object_is_read_in_every_version_that_is_served(api: API, widgets: Widgets):
    widgets.define(version("v1"), version("v2", storage=False))
    made = widgets.create("a", spec={"x": 1})
    newer = api.get(widgets.path("a", version="v2")).ok()
    assert newer["apiVersion"] == f"{widgets.group}/v2"
    assert {**newer, "apiVersion": made["apiVersion"]} == made
    assert [each["apiVersion"] for each in api.get(widgets.path(version="v2")).ok()["items"]] == [newer["apiVersion"]]
    patched = api.patch(widgets.path("a", version="v2"), {"spec": {"x": 2}}).ok()
    assert (patched["apiVersion"], patched["metadata"]["generation"]) == (f"{widgets.group}/v2", 2)
    with api.watch(widgets.path(version="v2")) as watch:
        assert watch.next()[1]["apiVersion"] == f"{widgets.group}/v2"


def test_fields_that_the_stored_version_does_not_declare_are_dropped(api: API, widgets: Widgets):
    widgets.define(version("v1", spec_of(a=TEXT)), version("v2", spec_of(a=TEXT, b=TEXT), storage=False))
    widgets.create("a", version="v2", spec={"a": "1", "b": "2"})
    assert api.get(widgets.path("a", version="v2")).ok()["spec"] == {"a": "1"}


def test_every_version_that_was_stored_is_in_stored_versions(api: API, widgets: Widgets):
    widgets.define(version("v1"), version("v2", storage=False))

    def swap(spec: Tree) -> None:
        spec["versions"][0]["storage"], spec["versions"][1]["storage"] = False, True

    assert widgets.redefine(swap, "v1", "v2")["status"]["storedVersions"] == ["v1", "v2"]
    found = api.get(widgets.definition).ok()
    del found["spec"]["versions"][0]
    gone = causes(api.put(widgets.definition, found).failed(422, "Invalid"))
    assert gone == {("FieldValueInvalid", "status.storedVersions[0]")}


def test_a_version_is_served_as_long_as_the_definition_serves_it(api: API, widgets: Widgets):
    widgets.define(version("v1"))
    widgets.create("a")
    widgets.redefine(lambda spec: spec["versions"].append(version("v2", storage=False)), "v1", "v2")
    assert api.get(widgets.path("a", version="v2")).ok()["apiVersion"] == f"{widgets.group}/v2"
    widgets.redefine(lambda spec: spec["versions"][0].update(served=False), "v2")
    wait_until(lambda: api.get(widgets.path("a")).status == 404)
    wait_until(lambda: widgets.discovered() == {"v2"})
    assert api.get(widgets.path("a", version="v2")).ok()["metadata"]["name"] == "a"


def test_scope_kind_and_plural_are_immutable_once_established(api: API, widgets: Widgets):
    found = widgets.define()
    found["spec"]["scope"] = "Cluster"
    found["spec"]["names"].update(kind="Gadget", plural="gadgets")
    refused = causes(api.put(widgets.definition, found).failed(422, "Invalid"))
    assert {field for _, field in refused} >= {"spec.scope", "spec.names.kind", "spec.names.plural"}


def test_short_names_may_change(api: API, widgets: Widgets):
    widgets.define()
    widgets.redefine(lambda spec: spec["names"].update(shortNames=["wd"]), "v1")
    wait_until(lambda: api.get(widgets.definition).ok()["status"]["acceptedNames"].get("shortNames") == ["wd"])
    wait_until(lambda: api.get(f"/apis/{widgets.group}/v1").ok()["resources"][0].get("shortNames") == ["wd"])


def test_a_default_added_later_is_filled_in_when_an_object_is_read(api: API, widgets: Widgets):
    widgets.define(version(schema=spec_of(a=TEXT, b=TEXT)))
    widgets.create("a", spec={"a": "x"})

    def add_default(spec: Tree) -> None:
        spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["b"]["default"] = "y"

    widgets.redefine(add_default, "v1")
    wait_until(lambda: api.get(widgets.path("a")).ok()["spec"] == {"a": "x", "b": "y"})
    assert api.get(widgets.path()).ok()["items"][0]["spec"] == {"a": "x", "b": "y"}


def test_the_use_of_a_deprecated_version_causes_a_warning(api: API, widgets: Widgets):
    widgets.define(version(deprecated=True))
    assert api.get(widgets.path()).warnings == [f'299 - "{widgets.group}/v1 Widget is deprecated"']


# --- the end ----------------------------------------------------------------------------------------------------------


def test_deleting_a_definition_deletes_its_objects_and_ends_their_watches(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    with api.watch(widgets.path()) as watch:
        assert watch.take(1) == [("ADDED", "a")]
        marked = api.delete(widgets.definition).ok()
        assert marked["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert marked["metadata"]["generation"] == 1
        terminating = marked["status"]["conditions"][-1]
        assert (terminating["type"], terminating["reason"]) == ("Terminating", "InstanceDeletionPending")
        assert [(kind, found["metadata"]["name"]) for kind, found in watch] == [("DELETED", "a")]
    wait_until(lambda: api.get(widgets.definition).status == 404)
    wait_until(lambda: api.get(widgets.path()).status == 404)
    wait_until(lambda: api.get(f"/apis/{widgets.group}").status == 404)


def test_the_deletion_of_a_definition_waits_for_objects_with_finalizers(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a", metadata={"finalizers": ["example.com/hold"]})
    api.delete(widgets.definition).ok()
    wait_until(lambda: "deletionTimestamp" in api.get(widgets.path("a")).ok()["metadata"])
    late = api.post(widgets.path(), widgets.body("b")).failed(403, "Forbidden")
    assert "create not allowed while custom resource definition is terminating" in late["message"]
    assert "deletionTimestamp" in api.get(widgets.definition).ok()["metadata"]
    api.patch(widgets.path("a"), {"metadata": {"finalizers": None}}).ok()
    wait_until(lambda: api.get(widgets.definition).status == 404)


def test_a_resource_that_is_defined_again_is_empty(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    widgets.remove()
    widgets.define()
    assert api.names(widgets.path()) == []
    assert widgets.create("a")["metadata"]["generation"] == 1


def test_a_subresource_that_a_custom_resource_does_not_have_is_not_found(api: API, widgets: Widgets):
    widgets.define()
    for method in ("GET", "PUT", "PATCH", "POST"):
        response = api.request(method, widgets.path("a", "status"), b"{}")
        assert response.failed(404, "NotFound")["message"] == f'widgets.{widgets.group} "a" not found'


def test_deleted_custom_objects_have_their_kinds(api: API, widgets: Widgets):
    widgets.define()
    widgets.create("a")
    [item] = api.delete(widgets.path()).ok()["items"]
    assert (item["apiVersion"], item["kind"]) == (f"{widgets.group}/v1", "Widget")


def test_the_type_of_a_patch_is_checked_before_the_object_is_read(api: API, widgets: Widgets):
    widgets.define()
    response = api.patch(widgets.path("missing"), {}, STRATEGIC_MERGE_PATCH)
    response.failed(415, "UnsupportedMediaType")


def test_the_verb_of_a_request_does_not_depend_on_the_rest_of_the_path(api: API, widgets: Widgets):
    widgets.define()
    replaced = api.put(widgets.path(), widgets.body("a")).failed(400, "BadRequest")
    assert replaced["message"] == "name must be provided"
    assert api.patch(widgets.path(), {}).failed(400, "BadRequest")["message"] == "name must be provided"
    api.patch(widgets.path(), {}, STRATEGIC_MERGE_PATCH).failed(415, "UnsupportedMediaType")
    made = api.post(widgets.path("another"), widgets.body("a")).ok(201)
    assert made["metadata"]["name"] == "a"


@pytest.mark.parametrize(("method", "verb"), [("POST", "create"), ("DELETE", "delete"), ("OPTIONS", "")])
def test_a_subresource_of_a_custom_resource_rejects_verbs_by_name(api: API, widgets: Widgets, method: str, verb: str):
    widgets.define(version("v1", ANYTHING, subresources={"status": {}}))
    status = api.request(method, widgets.path("a", "status"), b"{}").failed(405, "MethodNotAllowed")
    assert status["message"] == f'{verb} is not supported on resources of kind "widgets.{widgets.group}"'
    assert status["details"] == {"group": widgets.group, "kind": "widgets"}


def test_a_custom_resource_has_no_options(api: API, widgets: Widgets):
    widgets.define()
    status = api.request("OPTIONS", widgets.path("a")).failed(405, "MethodNotAllowed")
    assert status["message"] == f' is not supported on resources of kind "widgets.{widgets.group}"'


def test_custom_objects_cannot_be_written_in_all_namespaces(api: API, widgets: Widgets):
    widgets.define()
    path = f"/apis/{widgets.group}/v1/widgets"
    for method in ("POST", "PUT", "DELETE"):
        assert api.request(method, path, widgets.body("a")).status == 404
    api.get(path).ok()


def test_the_kind_of_a_custom_object_is_validated_last(api: API, widgets: Widgets):
    tags = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
    widgets.define(version("v1", spec_of(tags=tags)))
    other = {**widgets.body("a"), "kind": "Other"}
    api.put(widgets.path("a"), other).failed(404, "NotFound")
    made = widgets.create("a")
    api.put(widgets.path("b"), other).failed(400, "BadRequest")
    other["metadata"] = made["metadata"]
    status = api.put(widgets.path("a"), other).failed(422, "Invalid")
    assert status["message"] == f'Other.{widgets.group} "a" is invalid: kind: Invalid value: "Other": must be Widget'
    other = {**widgets.body("c"), "kind": "Other", "spec": {"tags": ["x", "x"]}}
    status = api.post(widgets.path(), other).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", "kind"), ("FieldValueDuplicate", "spec.tags[1]")}


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {}, "does not match the expected API version"),
        ({"metadata": []}, {}, "json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
        ({"x": 1}, {"fieldValidation": "Strict"}, "does not match the expected API version"),
    ],
)
def test_the_version_of_a_custom_object_is_checked_after_it_is_decoded(
    api: API, widgets: Widgets, changes: Tree, options: dict[str, str], message: str
):
    widgets.define(version("v1", spec_of(a=TEXT)))
    body = {**widgets.body("a"), "apiVersion": "other", **changes}
    assert message in api.post(widgets.path(), body, **options).failed(400, "BadRequest")["message"]


def test_duplicates_in_lists_are_listed_after_the_problems_of_the_schema(api: API, widgets: Widgets):
    tags: Tree = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
    groups: Tree = {"type": "object", "additionalProperties": tags}
    widgets.define(version("v1", spec_of(groups=groups, size={"type": "integer"})))
    spec: Tree = {"groups": {"one": ["x", "x", "y", "x"]}, "size": "x"}
    status = api.post(widgets.path(), {**widgets.body("a"), "spec": spec}).failed(422, "Invalid")
    assert status["message"] == (
        f'Widget.{widgets.group} "a" is invalid: [spec.size: Invalid value: "string": spec.size in body must be of '
        'type integer: "string", spec.groups[one][1]: Duplicate value: "x"]'
    )


def test_an_object_with_duplicates_in_a_list_may_get_others(api: API, widgets: Widgets):
    lists: Tree = {"tags": {"type": "array", "items": TEXT}, "names": {"type": "array", "items": TEXT}}
    widgets.define(version("v1", spec_of(**lists)))
    widgets.create("a", spec={"tags": ["x", "x"]})
    widgets.create("b", spec={"tags": ["x"]})

    def make_sets(spec: Tree) -> None:
        schema = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        for each in schema["properties"].values():
            each["x-kubernetes-list-type"] = "set"

    widgets.redefine(make_sets, "v1")
    added: Tree = {"spec": {"names": ["y", "y"]}}
    wait_until(lambda: api.patch(widgets.path("b"), added, dryRun="All").status == 422)
    status = api.patch(widgets.path("b"), added).failed(422, "Invalid")
    assert causes(status) == {("FieldValueDuplicate", "spec.names[1]")}
    assert api.patch(widgets.path("a"), added).ok()["spec"] == {"tags": ["x", "x"], "names": ["y", "y"]}


@pytest.mark.parametrize(("metadata", "found"), [([], "array"), ("", "string")])
def test_the_metadata_of_a_custom_object_must_be_an_object(api: API, widgets: Widgets, metadata: Tree, found: str):
    widgets.define()
    status = api.post(widgets.path(), {**widgets.body("a"), "metadata": metadata}).failed(400, "BadRequest")
    assert status["message"].endswith(f"json: cannot unmarshal {found} into Go value of type v1.ObjectMeta")


@pytest.mark.parametrize(
    ("value", "found"), [(70_000, "int64"), (1.5, "float64"), (True, ""), ({}, "")], ids=["int", "float", "bool", "map"]
)
def test_a_value_of_another_type_is_compared_with_the_format(api: API, widgets: Widgets, value: Tree, found: str):
    widgets.define(version("v1", spec_of(until={"type": "string", "format": "date-time"})))
    status = api.post(widgets.path(), {**widgets.body("a"), "spec": {"until": value}}).failed(422, "Invalid")
    why = f'Invalid value: "{found}": spec.until in body must be of type date-time: "{found}"'
    assert [cause["message"] for cause in status["details"]["causes"]] == [why]


def test_a_map_that_becomes_another_value_has_no_managed_members(api: API, widgets: Widgets):
    widgets.define(version("v1", ANYTHING))
    made = api.post(widgets.path(), {**widgets.body("a"), "spec": {"free": {"a": {"b": 1}}}}).ok(201)
    changed = api.put(widgets.path("a"), {**made, "spec": {"free": 1}}).ok()
    [entry] = changed["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:spec"] == {".": {}, "f:free": {}}
    again = api.put(widgets.path("a"), {**changed, "spec": {"free": {"a": {"b": 1}}}}).ok()
    [entry] = again["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:spec"]["f:free"] == {".": {}, "f:a": {".": {}, "f:b": {}}}


@pytest.mark.parametrize(
    ("field", "value", "group"), [("kind", "Other", ""), ("apiVersion", "example.com/v9", "example.com")]
)
def test_a_patch_cannot_change_the_kind_of_a_custom_object(
    api: API, widgets: Widgets, field: str, value: str, group: str
):
    widgets.define()
    expected = widgets.create("a")[field]
    status = api.patch(widgets.path("a"), {field: value}).failed(422, "Invalid")
    kind = f"{value if field == 'kind' else 'Widget'}.{group or widgets.group}"
    assert status["message"] == f'{kind} "a" is invalid: {field}: Invalid value: "{value}": must be {expected}'


@pytest.mark.parametrize("spec", [{"a": None}, {"c": {}}], ids=["null", "without its members"])
def test_an_applied_null_is_rejected(api: API, widgets: Widgets, spec: Tree):
    widgets.define(version("v1", spec_of(a=TEXT, c={"type": "object", "properties": {"a": TEXT}})))
    headers = {"Content-Type": "application/apply-patch+yaml"}
    body = {**widgets.body("a"), "spec": {"c": {"a": "x"}}}
    path = widgets.path("a")
    api.request("PATCH", path, body, headers=headers, fieldManager="me").ok(201)
    response = api.request("PATCH", path, {**body, "spec": spec}, headers=headers, fieldManager="me")
    assert causes(response.failed(422, "Invalid")) == {("FieldValueTypeInvalid", f"spec.{next(iter(spec))}")}
    api.patch(path, {"spec": {"a": None}}).ok()
