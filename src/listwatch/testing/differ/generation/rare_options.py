"""Requests with options that are rare elsewhere.

Deletions of collections, duplicate fields, tokens, bindings, dry runs, and media types of writes.
"""

from __future__ import annotations

import base64
import json

from hypothesis import strategies as st

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.generation.objects import objects
from listwatch.testing.differ.generation.samples import Kind
from listwatch.testing.differ.scenarios import Request

__all__ = ["rare_requests"]

_MERGE = "application/merge-patch+json"
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def rare_requests(kind: Kind) -> st.SearchStrategy[Request]:
    found = [_collections(kind), _duplicate_fields(kind), _tokens(kind), _writes_in_media_types(kind), _dry_runs(kind)]
    if kind.plural == "pods":
        found += [_bindings(kind), _evictions(kind)]
    return st.one_of(*found)


def _selector(kind: Kind) -> dict[str, str]:
    """All scenarios share the collections of cluster-scoped kinds."""
    return {} if kind.namespaced else {"labelSelector": "scenario={namespace}"}


@st.composite
def _collections(draw: st.DrawFn, kind: Kind) -> Request:
    """Deletions of all objects, with options in the body or in the query."""
    query = _selector(kind)
    if draw(st.integers(0, 2)) == 0:
        query["fieldSelector"] = draw(st.sampled_from(("metadata.name=a", "metadata.name!=a", "spec.odd=1")))
    if draw(st.integers(0, 3)) == 0:
        query["limit"] = "1"
    if draw(st.integers(0, 3)) == 0:
        query["dryRun"] = draw(st.sampled_from(("All", "Some")))
    if draw(st.integers(0, 5)) == 0:
        query["resourceVersion"] = draw(st.sampled_from(("0", "x")))
    bodies: tuple[JSON, ...] = (
        None,
        {},
        {"dryRun": ["All"]},
        {"propagationPolicy": "Orphan"},
        {"propagationPolicy": "Sideways"},
        {"gracePeriodSeconds": 0},
        {"preconditions": {"uid": "other"}},
        {"preconditions": {"resourceVersion": "1"}},
        {"kind": "DeleteOptions", "apiVersion": "v1", "unheardOf": 1},
        {"kind": "Other", "apiVersion": "v1"},
    )
    return Request(method="DELETE", path=kind.path, query=query, body=draw(st.sampled_from(bodies)))


@st.composite
def _duplicate_fields(draw: st.DrawFn, kind: Kind) -> Request:
    """Objects with a field twice, and one that is not declared, in each mode of field validation."""
    text = json.dumps(draw(objects(kind, valid=True)))
    members = draw(
        st.sampled_from(('"kind": "' + kind.kind + '"', '"unheardOf": {"a": 1}', '"metadata": {"labels": {}}'))
    )
    text = text.replace("{", "{" + members + ", ", 1)
    query: dict[str, str] = {}
    if draw(st.integers(0, 3)):
        query["fieldValidation"] = draw(st.sampled_from(("Strict", "Warn", "Ignore")))
    content_type = draw(st.sampled_from(("application/json", "application/json", "application/yaml")))
    headers = {"Content-Type": content_type}
    if draw(st.booleans()):
        return Request(method="POST", path=kind.path, body=text, query=query, headers=headers)
    name = draw(st.sampled_from(kind.names))
    headers = {"Content-Type": draw(st.sampled_from((_MERGE, "application/apply-patch+yaml")))}
    query |= {"fieldManager": "me"}
    return Request(method="PATCH", path=f"{kind.path}/{name}", body=text, query=query, headers=headers)


def _token(tree: JSON) -> str:
    return base64.urlsafe_b64encode(json.dumps(tree).encode()).decode().rstrip("=")


_TOKENS = (
    _token({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}),
    _token({"v": "meta.k8s.io/v1", "rv": -1, "start": ""}),
    _token({"v": "meta.k8s.io/v2", "rv": 1, "start": "a"}),
    _token({"v": "meta.k8s.io/v1", "rv": "x", "start": "a"}),
    _token({"v": "meta.k8s.io/v1"}),
    _token([]),
    "AA",
    "a b",
)


@st.composite
def _tokens(draw: st.DrawFn, kind: Kind) -> Request:
    query = {**_selector(kind), "continue": draw(st.sampled_from(_TOKENS)), "limit": "1"}
    if draw(st.integers(0, 3)) == 0:
        query["resourceVersion"] = draw(st.sampled_from(("0", "1")))
    return Request(method="GET", path=kind.path, query=query)


@st.composite
def _writes_in_media_types(draw: st.DrawFn, kind: Kind) -> Request:
    headers = {"Accept": draw(st.sampled_from((_TABLE, _PARTIAL, "application/yaml", "text/plain", f"{_TABLE},*/*")))}
    name = draw(st.sampled_from(kind.names))
    match draw(st.sampled_from(("POST", "PATCH", "DELETE"))):
        case "POST":
            return Request(method="POST", path=kind.path, body=draw(objects(kind, valid=True)), headers=headers)
        case "PATCH":
            body: JSON = {"metadata": {"annotations": {"a": "b"}}}
            headers["Content-Type"] = _MERGE
            return Request(method="PATCH", path=f"{kind.path}/{name}", body=body, headers=headers)
    return Request(method="DELETE", path=f"{kind.path}/{name}", headers=headers)


@st.composite
def _dry_runs(draw: st.DrawFn, kind: Kind) -> Request:
    name, query = draw(st.sampled_from(kind.names)), {"dryRun": "All"}
    path = f"{kind.path}/{name}"
    match draw(st.sampled_from(("PUT", "PATCH", "DELETE"))):
        case "PUT":
            body = draw(objects(kind, valid=True))
            if isinstance(metadata := body.get("metadata"), dict):
                metadata["name"] = name
            return Request(method="PUT", path=path, body=body, query=query)
        case "PATCH":
            patch: JSON = {"metadata": {"labels": {"dry": "run"}}}
            return Request(method="PATCH", path=path, body=patch, query=query, headers={"Content-Type": _MERGE})
    more = draw(st.sampled_from(({}, {"gracePeriodSeconds": "0"}, {"propagationPolicy": "Foreground"})))
    return Request(method="DELETE", path=path, query=query | more)


_TARGETS: tuple[JSONObject, ...] = ({"kind": "Node", "name": "n1"}, {"kind": "Pod", "name": "n1"}, {"kind": "Node"}, {})


@st.composite
def _bindings(draw: st.DrawFn, kind: Kind) -> Request:
    name = draw(st.sampled_from(kind.names))
    body: JSONObject = {"metadata": {"name": name}, "target": draw(st.sampled_from(_TARGETS))}
    query = {"dryRun": "All"} if draw(st.integers(0, 3)) == 0 else {}
    if draw(st.booleans()):
        return Request(method="POST", path=f"{kind.path}/{name}/binding", body=body, query=query)
    return Request(method="POST", path="/api/v1/namespaces/{namespace}/bindings", body=body, query=query)


@st.composite
def _evictions(draw: st.DrawFn, kind: Kind) -> Request:
    name = draw(st.sampled_from(kind.names))
    options: tuple[JSON, ...] = (
        {"dryRun": ["All"]},
        {"gracePeriodSeconds": 0},
        {"preconditions": {"uid": "other"}},
        {"preconditions": {"resourceVersion": "1"}},
    )
    body: JSON = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name},
        "deleteOptions": draw(st.sampled_from(options)),
    }
    return Request(method="POST", path=f"{kind.path}/{name}/eviction", body=body)
