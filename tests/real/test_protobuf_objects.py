"""Generated objects of every kind, sent to a real server as JSON and as protobuf: both mean the same to it.

Most generated objects are invalid. Then the server has to find the same problems in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.protobuf.trees import trees
from tests.real.tables.samples import SAMPLES

from listwatch.meta import Resource
from listwatch.protobuf import decode_object, encode_object
from listwatch.protobuf.schema import find_kind
from listwatch.server.schema.schema import builtin_schema
from listwatch.testing.differ.runner import Runner, Server
from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread

FLAGS = ("--runtime-config=api/all=true", "--feature-gates=AllBeta=true")
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
NAMESPACE = "generated"
VARYING = ("uid", "creationTimestamp", "managedFields")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NO_VALUE = re.compile(r"Invalid value: (null|\{\}):")  # protobuf has no empty maps: they are sent like missing ones
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
UNCOMPARED = {
    "CSINode": "status",  # JSON of Kubernetes 1.37 always has it, 1.36 does not know it
    "SelfSubjectRulesReview": "status",  # in random order
}
KINDS = [each for each in builtin_schema().resources if "create" in each.verbs]
TRIED = settings(
    max_examples=max(6, settings.default.max_examples // 5),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Client:
    """Sends the same object in both media types."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = server.connect()

    def send(self, method: str, target: str, body: bytes | None = None, media_type: str = JSON) -> tuple[int, bytes]:
        headers = {
            "Authorization": f"Bearer {self._server.token}",
            "Content-Type": media_type,
            "Accept": media_type,
        }
        self._connection.request(method, target, body, headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def check_same(self, path: str, tree: dict[str, Any]) -> None:
        target = f"{path}?dryRun=All"
        status, plain = self.send("POST", target, json.dumps(tree).encode())
        other, encoded = self.send("POST", target, encode_object(tree), PROTOBUF)
        assert result(other, decode_object(encoded)) == result(status, json.loads(plain)), tree

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with RealAPIServerThread(RealAPIServer(flags=FLAGS)) as real:
        server = Server("real", real.url, real.token, real.ca_certificate)
        runner, found = Runner(server, NAMESPACE), Client(server)
        runner.open()
        found.send("GET", "/version")  # connects
        yield found
        found.close()
        runner.close()


def collection(resource: Resource) -> str:
    root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    return f"{root}/namespaces/{NAMESPACE}/{resource.plural}" if resource.namespaced else f"{root}/{resource.plural}"


def result(status: int, tree: dict[str, Any]) -> Any:
    """The part of a response that depends on the meaning of the object only."""
    if status >= 300:
        causes = tree.get("details", {}).get("causes")
        # A cause can contain the object, with the time of the request.
        texts = (json.dumps(each, sort_keys=True) for each in causes or ())
        same = (NO_VALUE.sub("Invalid value: none:", TIME.sub("time", each)) for each in texts)
        return status, sorted(same) if causes else tree["message"]
    metadata = {name: value for name, value in tree["metadata"].items() if name not in VARYING}
    whole = {name: value for name, value in tree.items() if name != UNCOMPARED.get(tree["kind"])}
    return status, json.loads(UID.sub("uid", json.dumps({**whole, "metadata": metadata})))


def without_empty_lists(tree: Any) -> Any:
    """Protobuf has no empty lists: they are sent like missing ones."""
    if isinstance(tree, dict):
        return {name: without_empty_lists(value) for name, value in tree.items() if value != []}
    return [without_empty_lists(each) for each in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: f"{each.api_version}/{each.plural}")
def test_an_object_means_the_same_in_both_media_types(client: Client, resource: Resource):
    path = collection(resource)
    if client.send("GET", path)[0] == 404:
        pytest.skip("only Kubernetes 1.37 has this kind")
    names = {"kind": resource.kind, "apiVersion": resource.api_version}
    for sample in SAMPLES:
        if sample.collection(NAMESPACE) == path and resource.kind != "CertificateSigningRequest":  # has placeholders
            text = json.dumps({**names, **sample.body()}).replace("{namespace}", NAMESPACE)
            client.check_same(path, json.loads(text))

    @TRIED
    @given(trees(find_kind(resource.api_version, resource.kind)))
    def check(tree: dict[str, Any]) -> None:
        client.check_same(path, {**without_empty_lists(tree), **names, "metadata": {"name": "generated"}})

    check()
