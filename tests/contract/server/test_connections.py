"""Logs, exec, attach, port-forward and proxies on a server without kubelets."""

import json
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, Response, Tree, causes
from tests.contract.target import Target

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


@pytest.mark.parametrize("name", ["a:b:c:d", "ftp:p:80"])
def test_the_target_of_a_proxy_is_a_name_with_a_scheme_and_a_port(api: API, name: str):
    found = message(api.get(f"{api.path('pods', name)}/proxy/x"), 400, "BadRequest")
    assert found == f'invalid pod request "{name}"'


def test_a_log_can_only_be_accepted_as_an_object(api: API):
    path = f"{pod(api, 'p')}/log"
    assert api.get(path, headers={"Accept": "application/json"}).status == 204
    found = message(api.get(path, headers={"Accept": "text/plain"}), 406, "NotAcceptable")
    offered = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    assert found == f"only the following media types are accepted: {offered}"


# WebSockets


def channel_messages(target: Target, path: str) -> Iterator[bytes]:
    """Open a WebSocket with the newest protocol, and yield its messages."""
    connection = target.connect()
    connection.connect()
    try:
        lines = [
            *(f"GET {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {target.token}", "Connection: Upgrade"),
            *("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
            "Sec-WebSocket-Protocol: v5.channel.k8s.io",
        ]
        connection.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        stream = connection.sock.makefile("rb")
        assert b" 101 " in stream.readline()
        while stream.readline().strip():
            pass
        while header := stream.read(2):
            size = header[1] & 127
            size = int.from_bytes(stream.read(2)) if size == 126 else size
            if header[0] & 15 == 2:
                yield stream.read(size)
    finally:
        connection.close()


@pytest.mark.parametrize("subresource", ["exec?command=x&stdout=1", "attach?stdout=1"])
def test_a_missing_node_is_reported_before_the_upgrade(api: API, subresource: str):
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
    }
    response = api.get(f"{pod(api, 'p', nodeName='missing')}/{subresource}", headers=headers)
    assert response.failed(404, "NotFound")["message"] == 'pods "missing" not found'


@pytest.mark.parametrize(
    ("subresource", "query", "channel", "sent"),
    [
        ("exec", "command=x&command=y%20z&stdout=true&stdin=true", 1, "command=x&command=y+z&input=1&output=1"),
        ("exec", "command=x&stderr=true&stdout=false", 2, "command=x&error=1"),
        ("attach", "stdout=true&tty=true", 1, "output=1&tty=1"),
        ("exec", "command=x", 3, "command=x"),
    ],
)
def test_errors_arrive_on_the_error_channel_of_a_websocket(
    api: API, target: Target, subresource: str, query: str, channel: int, sent: str
):
    node = f"node-{api.namespace}"
    status = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}
    api.post("/api/v1/nodes", {"metadata": {"name": node}}).ok(201)
    try:
        api.patch(f"/api/v1/nodes/{node}/status", {"status": status}).ok()
        received = channel_messages(target, f"{pod(api, 'p', nodeName=node)}/{subresource}?{query}")
        assert next(received) == bytes((channel,))
        found = next(received)
        received.close()
    finally:
        api.delete(f"/api/v1/nodes/{node}").ok()
    assert found[0] == 3
    url = f"https://127.0.0.1:10250/{subresource}/{api.namespace}/p/a?{sent}"
    reason = f'error sending request: Post "{url}": dial tcp 127.0.0.1:10250: connect: connection refused'
    assert json.loads(found[1:]) == {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {reason}",
        "reason": "InternalError",
        "details": {"causes": [{"message": reason}]},
        "code": 500,
    }
