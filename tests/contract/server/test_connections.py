"""Logs, exec, attach, port-forward and proxies on a server without kubelets."""

import pytest
from tests.contract.server.api import API, Response, Tree, causes

TWO = [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]
STREAMS = ("exec", "attach", "portforward")


def pod(api: API, name: str, **spec: Tree) -> str:
    api.create("pods", name, spec={"containers": TWO[:1], **spec})
    return api.path("pods", name)


def message(response: Response, status: int, reason: str) -> str:
    return response.failed(status, reason)["message"]


def test_a_pod_that_never_ran_has_no_log(api: API):
    response = api.get(f"{pod(api, 'p')}/log")
    assert (response.status, response.body) == (204, b"")


@pytest.mark.parametrize("subresource", ["log", "exec", "attach"])
def test_the_container_must_exist_and_be_named_if_there_are_several(api: API, subresource: str):
    path = pod(api, "p", containers=TWO)
    found = message(api.get(f"{path}/{subresource}"), 400, "BadRequest")
    assert found == "a container name must be specified for pod p, choose one of: [a b]"
    found = message(api.get(f"{path}/{subresource}", container="c"), 400, "BadRequest")
    assert found == "container c is not valid for pod p"


@pytest.mark.parametrize("subresource", ["log", *STREAMS, "proxy", "proxy/x"])
def test_there_is_nothing_behind_a_missing_pod(api: API, subresource: str):
    assert message(api.get(api.path("pods", "no", subresource)), 404, "NotFound") == 'pods "no" not found'


def test_the_options_of_a_log_are_validated(api: API):
    path = pod(api, "p")
    status = api.get(f"{path}/log", tailLines=-1, limitBytes=0, sinceSeconds=0).failed(422, "Invalid")
    assert causes(status) == {("FieldValueInvalid", name) for name in ("tailLines", "limitBytes", "sinceSeconds")}
    status = api.get(f"{path}/log", sinceSeconds=5, sinceTime="2026-01-01T00:00:00Z").failed(422, "Invalid")
    assert causes(status) == {("FieldValueForbidden", "[]")}


@pytest.mark.parametrize("subresource", STREAMS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_pod_without_a_node_cannot_be_connected_to(api: API, subresource: str, method: str):
    response = api.request(method, f"{pod(api, 'p')}/{subresource}")
    assert message(response, 400, "BadRequest") == "pod p does not have a host assigned"


@pytest.mark.parametrize("subresource", ["log", *STREAMS])
def test_the_node_of_a_pod_must_exist_and_have_an_address(api: API, subresource: str):
    node = f"node-{api.namespace}"
    path = f"{pod(api, 'p', nodeName=node)}/{subresource}"
    assert message(api.get(path), 404, "NotFound") == f'pods "{node}" not found'
    api.post("/api/v1/nodes", {"metadata": {"name": node}}).ok(201)
    try:
        assert message(api.get(path), 500, "") == "no preferred addresses found; known addresses: []"
        status = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}}
        api.patch(f"/api/v1/nodes/{node}/status", status).ok()
        refused = "dial tcp 127.0.0.1:10250: connect: connection refused"
        if subresource == "log":
            url = f"https://127.0.0.1:10250/containerLogs/{api.namespace}/p/a"
            assert message(api.get(path), 500, "") == f'Get "{url}": {refused}'
        else:
            assert message(api.get(path), 400, "BadRequest") == "Upgrade request required"
            upgrade = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
            assert message(api.post(path, None, headers=upgrade), 500, "") == f"error dialing backend: {refused}"
    finally:
        api.delete(f"/api/v1/nodes/{node}").ok()


@pytest.mark.parametrize("subresource", STREAMS)
def test_a_connection_is_opened_by_get_or_post(api: API, subresource: str):
    path = f"{pod(api, 'p')}/{subresource}"
    for method in ("PUT", "DELETE", "PATCH"):
        assert api.request(method, path, headers={"Content-Type": "application/merge-patch+json"}).status == 405


def test_proxies_lead_to_addresses_of_pods_services_and_nodes(api: API):
    path = pod(api, "p")
    for target in (f"{path}/proxy", f"{path}:80/proxy/x", f"{api.path('pods', 'https:p:443')}/proxy/x/"):
        assert message(api.get(target), 400, "BadRequest") == "address not allowed"
    assert message(api.get(api.path("services", "no", "proxy")), 404, "NotFound") == 'services "no" not found'
    assert message(api.get("/api/v1/nodes/no/proxy/x"), 404, "NotFound") == 'nodes "no" not found'
