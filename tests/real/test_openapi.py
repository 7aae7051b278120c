"""The OpenAPI documents of the embedded server, compared with those of a real one.

Both are read as facts: a place in the document, and the value there. Compared are the types and fields, the paths, the
operations and the parameters that both have; the embedded server has those of Kubernetes 1.37. Differences have to be
named here, with the reason. Descriptions are not compared: operations and parameters of the embedded server have none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import Any

import pytest

from listwatch.protobuf.wire_format import read_varint
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.differ.runner import Runner, Server
from listwatch.testing.differ.scenarios import Request
from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread

# All groups, also those that are off by default.
FLAGS = ("--runtime-config=api/all=true", "--feature-gates=AllBeta=true")
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

Tree = dict[str, Any]
Facts = dict[tuple[str, ...], Any]

NO_DISCOVERY = "the embedded documents do not describe discovery, which no client reads there"
OTHER_VERSION = "only one of Kubernetes 1.36 and 1.37 serves it"

DOCUMENTS = {
    r"api|apis|apis/[^/]+|version|logs|openid/.*|\.well-known/.*": NO_DISCOVERY,
    r"apis/.*/v\d+(alpha|beta)\d+": OTHER_VERSION,
    r"apis/(certificates|lifecycle|resource|scheduling|storagemigration)\.k8s\.io/v\d+.*": OTHER_VERSION,
}
"""Documents that only one server has."""
PATHS = {
    r"/(api|apis|version|logs|openid|\.well-known)(/[^{]*)?/|/logs/\{logpath\}": NO_DISCOVERY,
    r"/apis/(admissionregistration|certificates|coordination|lifecycle|networking|resource|scheduling|storage"
    r"|storagemigration)\.k8s\.io/.*": OTHER_VERSION,
}
"""Paths that only one server has."""
DIFFERENT: dict[str, str] = {
    r"schemas \S+\.PodStatus properties nodeAllocatableResourceClaimStatuses .*": "alpha, and a map since 1.37",
    r"schemas \S+ required": "Kubernetes 1.37 requires other fields",
    r"schemas \S+\.StorageVersionCondition properties lastTransitionTime .*": "the package has no description of it",
    r"schemas .* enum": "the schemas of which the package is generated have no enumerations",
    r"schemas \S+\.(DeleteOptions|WatchEvent) x-kubernetes-group-version-kind": OTHER_VERSION,
}
"""Facts of the same types, fields and operations that differ."""


class Documents:
    """The documents of one server."""

    def __init__(self, server: Server) -> None:
        self._runner = Runner(server, "default")
        self.get("/version")  # connects

    def get(self, path: str, accept: str = "application/json") -> bytes:
        response = self._runner.send(Request(method="GET", path=path, headers={"Accept": accept}))
        assert response.status == 200, (path, response.body)
        return response.body

    def tree(self, path: str) -> Tree:
        tree: Tree = json.loads(self.get(path))
        return tree

    def close(self) -> None:
        self._runner.disconnect()


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Documents, Documents]]:
    """The embedded server and the real one."""
    real = RealAPIServerThread(RealAPIServer(flags=FLAGS))
    with real, APIServerThread() as embedded:
        both = (
            Documents(Server("embedded", embedded.url, embedded.token)),
            Documents(Server("real", real.url, real.token, real.ca_certificate)),
        )
        yield both
        for each in both:
            each.close()


def is_accepted(name: str, reasons: Mapping[str, str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in reasons)


# --- Facts ------------------------------------------------------------------------------------------------------------


def schema_facts(document: Tree) -> Facts:
    """The facts of all types by name."""
    schemas = document.get("definitions") or document.get("components", {}).get("schemas", {})
    return dict(flattened(schemas, ("schemas",)))


def path_facts(document: Tree) -> Facts:
    """The facts of all operations, each with all of its parameters."""
    facts: Facts = {}
    for path, item in document["paths"].items():
        shared = item.get("parameters", [])
        for method, operation in item.items():
            if method == "parameters":
                continue
            given = [resolved(each, document) for each in (*shared, *operation.get("parameters", []))]
            parameters = {f"{each['in']} {each['name']}": each for each in given}
            facts |= dict(flattened({**operation, "parameters": parameters}, ("paths", path, method)))
    return facts


def resolved(parameter: Tree, document: Tree) -> Tree:
    reference = parameter.get("$ref", "")
    found: Tree = document["parameters"][reference.removeprefix("#/parameters/")] if reference else parameter
    return found


def flattened(tree: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(tree, dict) and tree:
        for name, value in tree.items():
            if name != "description" or place[-1] == "properties":
                yield from flattened(value, (*place, name))
    elif isinstance(tree, list):
        yield place, sorted(json.dumps(each, sort_keys=True) for each in tree)
    else:
        yield place, tree


def owner(fact: tuple[str, ...]) -> tuple[str, ...]:
    """What has to exist on both servers for a fact to be compared: a type, a field, or an operation of a path."""
    if fact[0] == "paths":
        return fact[:2]
    return fact[:4] if len(fact) > 3 and fact[2] == "properties" else fact[:2]


def differences(embedded: Facts, real: Facts) -> list[tuple[str, Any, Any]]:
    """The facts that differ, of what both servers have."""
    both = {owner(fact) for fact in embedded} & {owner(fact) for fact in real}
    found = []
    for fact in sorted(embedded.keys() | real.keys()):
        ours, theirs = embedded.get(fact), real.get(fact)
        if owner(fact) not in both:
            continue
        if fact[0] == "schemas" and fact[2:] == ("required",):
            # Required fields may be new.
            ours, theirs = (
                [name for name in side or () if (*fact[:2], "properties", json.loads(name)) in both]
                for side in (ours, theirs)
            )
        if ours != theirs and not is_accepted(" ".join(fact), DIFFERENT):
            found.append((" ".join(fact), ours, theirs))
    return found


# --- Version 3 --------------------------------------------------------------------------------------------------------


def test_the_index_names_the_same_documents(servers: tuple[Documents, Documents]):
    embedded, real = (set(each.tree("/openapi/v3")["paths"]) for each in servers)
    assert [name for name in embedded ^ real if not is_accepted(name, DOCUMENTS)] == []
    assert {"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"} <= embedded & real


def test_the_documents_of_version_3_have_the_same_types_and_operations(servers: tuple[Documents, Documents]):
    indices = [each.tree("/openapi/v3")["paths"] for each in servers]
    found: dict[str, Any] = {}
    for name in indices[0].keys() & indices[1].keys():
        trees = [each.tree(index[name]["serverRelativeURL"]) for each, index in zip(servers, indices, strict=True)]
        embedded, real = map(path_facts, trees)
        only = {fact[1] for fact in embedded} ^ {fact[1] for fact in real}
        missing = sorted(path for path in only if not is_accepted(path, PATHS))
        wrong = differences(embedded, real) + differences(*map(schema_facts, trees))
        if missing or wrong:
            found[name] = (missing, wrong[:20])
    assert found == {}, pformat(found)


# --- Version 2 --------------------------------------------------------------------------------------------------------


def test_the_document_of_version_2_has_the_same_types_and_operations(servers: tuple[Documents, Documents]):
    trees = [each.tree("/openapi/v2") for each in servers]
    embedded, real = map(path_facts, trees)
    only = {fact[1] for fact in embedded} ^ {fact[1] for fact in real}
    assert sorted(path for path in only if not is_accepted(path, PATHS)) == []
    assert differences(embedded, real)[:20] == []
    assert differences(*map(schema_facts, trees))[:20] == []


def test_version_2_in_protobuf_has_the_names_of_the_json(servers: tuple[Documents, Documents]):
    """Its values are not compared: the real server shares parameters, and writes extensions as YAML instead of JSON."""
    for documents in servers:
        tree = documents.tree("/openapi/v2")
        fields = dict(wire_fields(documents.get("/openapi/v2", PROTOBUF)))
        for number, name in ((8, "paths"), (9, "definitions")):
            names = [str(dict(wire_fields(each))[1], "utf-8") for _, each in wire_fields(fields[number])]
            assert sorted(names) == sorted(tree[name])


def wire_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message, which all have a length."""
    position = 0
    while position < len(data):
        key, position = read_varint(data, position)
        size, position = read_varint(data, position)
        yield key >> 3, data[position : position + size]
        position += size
