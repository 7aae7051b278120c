"""The objects that a server has without a client having created them."""

import json
from datetime import UTC, datetime

import pytest
from tests.contract.server.api import API, Tree
from tests.contract.server.definitions import wait_until

from listwatch.server.bootstrap.bootstrap_data import INITIAL_OBJECTS
from listwatch.server.bootstrap.initial_objects import read_templates
from listwatch.server.lifecycle.strategy import Environment

ENVIRONMENT = Environment(lambda: datetime.now(UTC), lambda: "", lambda: "")
EXPECTED = [template.decode() for template in read_templates(INITIAL_OBJECTS, ENVIRONMENT)]
PATHS = {
    "PriorityLevelConfiguration": "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    "FlowSchema": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/rolebindings",
}


def comparable(tree: Tree) -> Tree:
    """Without identity and times; the rules of aggregated roles depend on whether a controller runs."""
    tree = json.loads(json.dumps(tree), object_hook=_without_times)
    metadata = {name: value for name, value in tree["metadata"].items() if name not in ("uid", "resourceVersion")}
    managed = [each for each in metadata["managedFields"] if not each["manager"].startswith("clusterrole-aggregation")]
    rules = {"rules": None} if "aggregationRule" in tree else {}
    return {**tree, **rules, "kind": "", "apiVersion": "", "metadata": {**metadata, "managedFields": managed}}


def _without_times(tree: Tree) -> Tree:
    return {key: value for key, value in tree.items() if key not in ("creationTimestamp", "time", "lastTransitionTime")}


@pytest.mark.parametrize("kind", PATHS)
def test_a_server_has_initial_objects(api: API, kind: str):
    found = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]): each for each in api.list(PATHS[kind])["items"]
    }
    expected = [each for each in EXPECTED if each["kind"] == kind]
    for each in expected:
        key = each["metadata"].get("namespace"), each["metadata"]["name"]
        assert comparable(found[key]) == comparable(each)
    own = (None, "kube-system", "kube-public")
    system = {name for namespace, name in found if namespace in own and name.startswith("system:")}
    assert system <= {each["metadata"]["name"] for each in expected}


def test_the_server_has_a_service(api: API):
    found = api.get("/api/v1/namespaces/default/services/kubernetes").ok()
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    assert [(port["name"], port["port"]) for port in found["spec"]["ports"]] == [("https", 443)]
    assert found["spec"]["clusterIP"].endswith(".0.1")
    address = api.get(f"/apis/networking.k8s.io/v1/ipaddresses/{found['spec']['clusterIP']}").ok()
    assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "kubernetes"}


def test_a_served_version_has_an_api_service(api: API):
    found = api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps").ok()
    assert found["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")


def test_the_version_of_a_definition_has_an_api_service_while_it_is_served(api: API):
    group = f"{api.namespace}.example.com"
    names = {"plural": "widgets", "kind": "Widget"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    path = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{group}"
    api.post(definitions, {"metadata": {"name": f"widgets.{group}"}, "spec": spec}).ok(201)
    wait_until(lambda: api.get(path).status == 200)
    service = api.get(path).ok()
    assert service["spec"] == {"group": group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    assert service["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    api.delete(f"{definitions}/widgets.{group}").ok()
    wait_until(lambda: api.get(path).status == 404)
