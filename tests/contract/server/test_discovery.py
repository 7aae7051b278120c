import pytest
from tests.contract.server.api import API, JSON, Tree

AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def named(items: list[Tree], name: str, key: str = "name") -> Tree:
    [found] = [item for item in items if item[key] == name]
    return found


def test_the_versions_of_the_core_group_are_listed(api: API):
    found = api.get("/api").json
    assert (found["kind"], found["versions"]) == ("APIVersions", ["v1"])


def test_groups_are_listed_with_their_preferred_version(api: API):
    found = api.get("/apis").json
    assert (found["kind"], found["apiVersion"]) == ("APIGroupList", "v1")
    apps = named(found["groups"], "apps")
    assert apps["versions"] == [{"groupVersion": "apps/v1", "version": "v1"}]
    autoscaling = named(found["groups"], "autoscaling")
    assert [each["version"] for each in autoscaling["versions"]] == ["v2", "v1"]
    assert autoscaling["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}


def test_one_group_can_be_requested(api: API):
    found = api.get("/apis/apps").json
    assert (found["kind"], found["name"]) == ("APIGroup", "apps")
    assert found["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}


@pytest.mark.parametrize(("path", "group_version"), [("/api/v1", "v1"), ("/apis/apps/v1", "apps/v1")])
def test_the_resources_of_a_version_are_listed(api: API, path: str, group_version: str):
    found = api.get(path).json
    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", group_version)


def test_a_resource_is_listed_with_names_scope_and_verbs(api: API):
    pods = named(api.get("/api/v1").json["resources"], "pods")
    assert pods.pop("storageVersionHash", "")
    assert pods == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
    }


def test_subresources_are_listed_beside_their_resource(api: API):
    resources = api.get("/apis/apps/v1").json["resources"]
    scale = named(resources, "deployments/scale")
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    assert scale["verbs"] == ["get", "patch", "update"]
    assert named(resources, "deployments/status")["kind"] == "Deployment"


def test_an_unserved_group_version_is_not_found(api: API):
    for path in ("/apis/nothing.example.com", "/apis/apps/v9", "/api/v9", "/nothing"):
        assert api.get(path).status == 404


def test_all_groups_are_in_the_aggregated_discovery(api: API):
    response = api.get("/apis", headers={"Accept": AGGREGATED})
    assert response.status == 200
    parameters = dict(response.headers.get_params() or [])
    assert (parameters["g"], parameters["v"], parameters["as"]) == (
        "apidiscovery.k8s.io",
        "v2",
        "APIGroupDiscoveryList",
    )
    found = response.json
    assert (found["kind"], found["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    [apps] = [item for item in found["items"] if item["metadata"]["name"] == "apps"]
    [version] = apps["versions"]
    assert (version["version"], version["freshness"]) == ("v1", "Current")
    deployments = named(version["resources"], "deployments", "resource")
    assert deployments["responseKind"]["kind"] == "Deployment"
    assert (deployments["scope"], deployments["singularResource"]) == ("Namespaced", "deployment")
    assert {each["subresource"] for each in deployments["subresources"]} == {"scale", "status"}


def test_the_core_group_is_discovered_by_its_own_path(api: API):
    [core] = api.get("/api", headers={"Accept": AGGREGATED}).json["items"]
    assert core["metadata"].get("name", "") == ""
    pods = named(core["versions"][0]["resources"], "pods", "resource")
    assert pods["shortNames"] == ["po"]


def test_versions_of_a_group_are_sorted_by_preference(api: API):
    items = api.get("/apis", headers={"Accept": AGGREGATED}).json["items"]
    [autoscaling] = [item for item in items if item["metadata"]["name"] == "autoscaling"]
    assert [each["version"] for each in autoscaling["versions"]] == ["v2", "v1"]


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_discovery_with_a_known_etag_is_not_sent_again(api: API, path: str):
    tag = api.get(path, headers={"Accept": AGGREGATED}).headers["ETag"]
    again = api.get(path, headers={"Accept": AGGREGATED, "If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["ETag"] == tag
    other = api.get(path, headers={"Accept": AGGREGATED, "If-None-Match": '"other"'})
    assert other.status == 200


def test_the_first_accepted_form_is_returned(api: API):
    response = api.get("/apis", headers={"Accept": f"{AGGREGATED},{JSON}"})
    assert response.json["kind"] == "APIGroupDiscoveryList"
    assert api.get("/apis", headers={"Accept": JSON}).json["kind"] == "APIGroupList"


def test_the_server_returns_its_version(api: API):
    response = api.get("/version")
    assert response.status == 200
    assert response.json.keys() >= {"major", "minor", "gitVersion", "platform", "goVersion"}
    assert int(response.json["minor"].rstrip("+")) >= 30


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/ping"])
def test_the_server_reports_that_it_is_healthy(api: API, path: str):
    response = api.get(path, headers={"Accept": "*/*"})
    assert (response.status, response.body) == (200, b"ok")
    assert response.headers.get_content_type() == "text/plain"


def test_the_server_reports_the_health_of_each_part(api: API):
    body = api.get("/readyz", headers={"Accept": "*/*"}, verbose="true").body.decode()
    assert "[+]ping ok" in body
    assert body.endswith("readyz check passed\n")


def test_an_unknown_check_is_not_found(api: API):
    assert api.get("/livez/nothing", headers={"Accept": "*/*"}).status == 404


@pytest.mark.parametrize("known", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_openapi_document_is_not_sent_again(api: API, known: str):
    path = "/openapi/v3/api/v1"
    tag = api.get(path).headers["ETag"]
    again = api.get(path, headers={"If-None-Match": known.format(tag)})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1", "/metrics"])
def test_documents_and_metrics_respond_to_head(api: API, path: str):
    response = api.request("HEAD", path)
    assert (response.status, response.body) == (200, b"")
