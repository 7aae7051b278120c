"""The Tables of the embedded server, compared with those of a real one: all kinds, in lists, gets and watches.

Ages and other numbers that differ between any two servers are replaced: seconds since something happened in this test,
addresses, uids and versions.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pprint import pformat
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.real.tables.sample import Sample
from tests.real.tables.samples import SAMPLES

from listwatch.server.api_server import APIServer
from listwatch.server.schema.schema import builtin_schema
from listwatch.testing.api_server_thread import APIServerThread
from listwatch.testing.differ.runner import Response, Runner, Server
from listwatch.testing.differ.scenarios import Request
from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread

NAMESPACE = "tables"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MERGE_PATCH = "application/merge-patch+json"
INITIAL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
# All groups, also those that are off by default, and as many addresses as the embedded server has.
FLAGS = (
    "--runtime-config=api/all=true",
    "--feature-gates=AllBeta=true",
    "--service-cluster-ip-range=10.0.0.0/16",
)

# The real server keeps these until a controller removes a finalizer.
PROTECTED = {"namespaces", "persistentvolumes", "persistentvolumeclaims", "volumeattributesclasses"}

_RECENT = re.compile(r"\d+s")
_CLUSTER_IP = re.compile(r"10\.(0|96)\.\d+\.\d+")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NOW = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")

Tree = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """The embedded and the real server."""

    servers: tuple[Server, Server]
    runners: tuple[Runner, Runner]
    executor: ThreadPoolExecutor

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[Response, Response]:
        request = Request(method=method, path=path, body=body, **more)
        one, other = self.executor.map(lambda runner: runner.send(request), self.runners)
        return one, other

    def same(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[Response, Response]:
        """Send a request, to which both servers have to respond with the same status."""
        one, other = self.send(method, path, body, **more)
        assert one.status == other.status, (method, path, one.body, other.body)
        return one, other

    def table(self, path: str, **query: str) -> tuple[Tree, Tree]:
        one, other = self.same("GET", path, headers={"Accept": TABLE}, query=query)
        assert one.status == 200, one.body
        return one.tree, other.tree  # type: ignore[return-value]  # a Table is an object

    def events(self, requests: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, tuple[list[Tree], list[Tree]]]:
        """The events of watches that end after a second, by path; each has the query for each server."""
        watches = [
            (path, *each) for path, queries in requests.items() for each in zip(self.servers, queries, strict=True)
        ]
        with ThreadPoolExecutor(16) as executor:
            found = list(executor.map(watched, *zip(*watches, strict=True)))
        return {path: (found[2 * index], found[2 * index + 1]) for index, path in enumerate(requests)}

    @cached_property
    def served(self) -> list[str]:
        """The collections that both servers serve."""
        return [path for path in COLLECTIONS if {each.status for each in self.send("GET", path)} == {200}]


def watched(path: str, server: Server, query: Mapping[str, str]) -> list[Tree]:
    runner = Runner(server, NAMESPACE)
    options = {"watch": "true", "timeoutSeconds": "1", **query}
    response = runner.send(Request(method="GET", path=path, headers={"Accept": TABLE}, query=options))
    runner.disconnect()
    assert response.status == 200, response.body
    return response.events


def collection(api_version: str, plural: str, *, namespaced: bool) -> str:
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return f"{root}/namespaces/{NAMESPACE}/{plural}" if namespaced else f"{root}/{plural}"


COLLECTIONS = [
    collection(each.api_version, each.plural, namespaced=each.namespaced)
    for each in builtin_schema().resources
    if "list" in each.verbs and each.kind != "ComponentStatus"
]


# --- The servers, with all samples ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    real = RealAPIServerThread(RealAPIServer(flags=FLAGS))
    # The real server has no controller that writes the status of quotas.
    embedded_server = APIServerThread(APIServer(disable_admission_plugins=["ResourceQuota"]))
    with real, embedded_server as embedded, ThreadPoolExecutor(2) as executor:
        servers = (
            Server("embedded", embedded.url, embedded.token),
            Server("real", real.url, real.token, real.ca_certificate),
        )
        runners = Runner(servers[0], NAMESPACE), Runner(servers[1], NAMESPACE)
        for runner in runners:
            runner.open()
        found = Pair(servers, runners, executor)
        for sample in SAMPLES:
            create(found, sample)
        approve(found)
        yield found
        for runner in runners:
            runner.close()


def create(pair: Pair, sample: Sample) -> None:
    path = sample.collection(NAMESPACE)
    text = json.dumps(sample.body()).replace("{namespace}", NAMESPACE)
    text = text.replace("{certificate}", CERTIFICATE.replace("\n", "\\n")).replace("{request}", REQUEST)
    created, _ = pair.same("POST", path, json.loads(text))
    assert created.status == 201, (path, sample.name, created.body)
    if sample.status:
        headers = {"Content-Type": MERGE_PATCH}
        changed, _ = pair.same("PATCH", f"{path}/{sample.name}/status", {"status": sample.status}, headers=headers)
        assert changed.status == 200, (path, sample.name, changed.body)
    if sample.deleted:
        pair.same("DELETE", f"{path}/{sample.name}", {"propagationPolicy": "Background"})


def approve(pair: Pair) -> None:
    """Deny one request for a certificate, and approve another."""
    for name, type_ in (("table-short", "Denied"), ("table-long", "Approved")):
        path = f"/apis/certificates.k8s.io/v1/certificatesigningrequests/{name}/approval"
        condition = {"type": type_, "status": "True", "reason": "Test", "message": "m"}
        headers = {"Content-Type": MERGE_PATCH}
        changed, _ = pair.same("PATCH", path, {"status": {"conditions": [condition]}}, headers=headers)
        assert changed.status == 200, changed.body


def _certificates() -> tuple[str, str]:
    """A certificate, and a request for one in base64."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "table")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(9)
    )
    authority = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = authority.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    request = x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())
    return certificate.decode(), base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


CERTIFICATE, REQUEST = _certificates()


# --- Comparison -------------------------------------------------------------------------------------------------------


def name_of(row: Tree) -> str:
    return str(row["object"]["metadata"].get("name", ""))


def normalized(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    if _RECENT.fullmatch(cell):
        return "seconds"
    cell = _CLUSTER_IP.sub("an address", cell)
    cell = _NOW.sub("now", cell)
    return _UID.sub("a uid", cell)


def comparable(row: Tree) -> Tree:
    """A row without what differs between any two servers; of the object, only what every server sets."""
    included = row["object"]
    metadata = included and {name: included["metadata"].get(name) for name in ("name", "namespace")}
    return {
        "cells": [normalized(cell) for cell in row["cells"]],
        "conditions": row.get("conditions"),
        "object": included and {"kind": included["kind"], "apiVersion": included["apiVersion"], "metadata": metadata},
        "keys": sorted(row),
    }


def common_rows(one: Tree, other: Tree) -> tuple[dict[str, Tree], dict[str, Tree]]:
    """The rows of the objects that both servers have, by name: each has some of its own."""
    left, right = ({name_of(row): row for row in table["rows"] or ()} for table in (one, other))
    return {name: left[name] for name in left if name in right}, {name: right[name] for name in right if name in left}


def test_all_kinds_have_the_same_columns(pair: Pair):
    assert len(pair.served) > 70
    for path in pair.served:
        one, other = pair.table(path, limit="1")
        assert one["columnDefinitions"] == other["columnDefinitions"], path


def different_rows(one: Tree, other: Tree) -> list[Any]:
    left, right = common_rows(one, other)
    assert list(left) == list(right), "the rows are in another order"
    pairs = ((comparable(left[name]), comparable(right[name])) for name in left)
    return [each for each in pairs if each[0] != each[1]]


def test_all_rows_of_all_lists_are_equal(pair: Pair, record_property: Callable[[str, object], None]):
    tables = {path: pair.table(path) for path in pair.served}
    differences = {path: found for path, each in tables.items() if (found := different_rows(*each))}
    assert differences == {}, pformat(differences, width=200)
    count = sum(len(common_rows(*each)[0]) for each in tables.values())
    record_property("rows of Tables compared", count)
    assert count > len(SAMPLES)


def test_a_row_of_one_object_is_that_of_the_list(pair: Pair):
    differences = []
    for sample in SAMPLES[::5]:
        path = f"{sample.collection(NAMESPACE)}/{sample.name}"
        for include in ("Object", "None", "Metadata"):
            one, other = pair.table(path, includeObject=include)
            assert one["columnDefinitions"] == other["columnDefinitions"]
            left, right = ([comparable(row) for row in table["rows"]] for table in (one, other))
            differences += [(path, left, right)] if left != right else []
    assert differences == [], pformat(differences, width=200)


def first_samples() -> dict[str, Sample]:
    """A sample of each collection."""
    return {sample.collection(NAMESPACE): sample for sample in reversed(SAMPLES)}


@pytest.mark.parametrize("subresource", ["status", "scale"])
def test_subresources_have_tables_where_the_real_server_has_them(pair: Pair, subresource: str):
    differences = []
    for path, sample in first_samples().items():
        one, other = pair.send("GET", f"{path}/{sample.name}/{subresource}", headers={"Accept": TABLE})
        if other.status == 404:
            continue
        left, right = (
            [comparable(row) for row in each.tree["rows"]] if each.status == 200 else each.status
            for each in (one, other)
        )
        if left != right:
            differences.append((path, left, right))
    assert differences == [], pformat(differences, width=200)


def initial_events(events: list[Tree], known: set[str]) -> list[Any]:
    """The types and rows of the events of known objects, up to the first bookmark."""
    found: list[Any] = []
    for event in events:
        (row,) = event["object"]["rows"]
        if event["type"] == "BOOKMARK" or name_of(row) in known:
            found.append((event["type"], comparable(row)))
        if event["type"] == "BOOKMARK":
            break
    return found


def has_columns(events: list[Tree]) -> list[bool]:
    return [event["object"]["columnDefinitions"] is not None for event in events]


def test_the_initial_events_of_all_watches_are_equal(pair: Pair):
    differences = []
    known = {path: set(common_rows(*pair.table(path))[0]) for path in pair.served}
    for path, (one, other) in pair.events(dict.fromkeys(pair.served, (INITIAL, INITIAL))).items():
        left, right = (initial_events(events, known[path]) for events in (one, other))
        differences += [(path, left, right)] if left != right else []
        # The first event has the columns, whatever it is; those of one kind all have them.
        repeats = "/apiservices" in path
        for events in (one, other):
            assert has_columns(events) == [True, *[repeats] * (len(events) - 1)], path
    assert differences == [], pformat(differences, width=200)


def test_changes_and_deletions_are_watched_as_equal_rows(pair: Pair):
    samples = first_samples()
    queries = {path: [{"resourceVersion": version_of(each)} for each in pair.table(path)] for path in samples}
    for path, sample in samples.items():
        patch = {"metadata": {"labels": {"example.com/changed": "yes"}}}
        if sample.plural != "controllerrevisions":  # the real server accepts no merge patch of these
            pair.same("PATCH", f"{path}/{sample.name}", patch, headers={"Content-Type": MERGE_PATCH})
        if sample.plural not in PROTECTED:
            pair.same("DELETE", f"{path}/{sample.name}", {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
    differences = []
    for path, (one, other) in pair.events(queries).items():
        left, right = (events_of(samples[path].name, events) for events in (one, other))
        assert left, path
        differences += [(path, left, right)] if left != right else []
    assert differences == [], pformat(differences, width=200)


def version_of(table: Tree) -> str:
    return str(table["metadata"]["resourceVersion"])


def events_of(name: str, events: list[Tree]) -> list[Any]:
    rows = [(event["type"], row) for event in events for row in event["object"]["rows"]]
    return [(type_, comparable(row)) for type_, row in rows if name_of(row) == name]
