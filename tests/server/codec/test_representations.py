"""Content negotiation, and the encoding of responses and events."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import NotAcceptableError
from listwatch.meta import Resource
from listwatch.server.codec.representations import (
    Representation,
    encode_bookmark,
    encode_event,
    encode_object,
    encode_plain,
    encode_response,
    negotiate,
    negotiate_error,
    negotiate_watch,
    parse_accept,
    wants_pretty,
    with_resource_version,
)
from listwatch.server.requests import ListResponse, Query, Response

PODS = Resource("", "v1", "Pod", "pods")
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "resourceVersion": "7", "managedFields": [{"manager": "me"}], "labels": {"a": "é"}},
    "spec": {"nodeName": "n1"},
}
STORED = encode_object(POD)

JSON = "application/json"
ONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
MANY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
PROTOBUF = "application/vnd.kubernetes.protobuf"


def decoded_response(accept: str, body: Any) -> Any:
    return json.loads(encode_response(Response(body), negotiate(accept)))


# --- Negotiation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", JSON),
        ("*", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json; charset=utf-8", JSON),
        ("application/yaml", "application/yaml"),
        ("application/json;q=0.1, application/yaml;q=0.9", "application/yaml"),
        ("*/*, application/yaml", "application/yaml"),
        ("application/*, application/yaml", "application/yaml"),
        ("text/html, application/xml;q=0.9, */*;q=0.8", JSON),
        (f"{PROTOBUF},application/json", PROTOBUF),
        (f"application/json,{PROTOBUF}", JSON),
        (f"{PROTOBUF};stream=watch,application/json", PROTOBUF),
        (f"{TABLE.replace(JSON, PROTOBUF)},application/json", JSON),
        ("application/json;stream=watch", JSON),
        ("application/json;stream=fish,application/yaml", "application/yaml"),
        ("application/yaml;stream=watch,application/json", JSON),
        ("nonsense, application/yaml", "application/yaml"),
        ("application/json/x, application/yaml", "application/yaml"),
        ("application/json;whatever=1", JSON),
    ],
)
def test_the_preferred_acceptable_type_is_used(accept, media_type):
    assert negotiate(accept) == Representation(media_type)


@pytest.mark.parametrize(
    ("accept", "kind", "api_version"),
    [
        (ONE, "PartialObjectMetadata", "meta.k8s.io/v1"),
        (MANY, "PartialObjectMetadataList", "meta.k8s.io/v1"),
        (MANY.replace("v=v1", "v=v1beta1"), "PartialObjectMetadataList", "meta.k8s.io/v1beta1"),
        (f"{MANY.replace(JSON, PROTOBUF)},{MANY},application/json", "PartialObjectMetadataList", "meta.k8s.io/v1"),
        (f"{TABLE},application/json", "Table", "meta.k8s.io/v1"),
        (f"{TABLE.replace(JSON, PROTOBUF)},{ONE}", "PartialObjectMetadata", "meta.k8s.io/v1"),
        ("application/json;as=Table;g=meta.k8s.io;v=v2,application/json", "", ""),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v2,application/json", "", ""),
        ("application/json;as=PartialObjectMetadata,application/json", "", ""),
        ("application/json;v=v1,application/json", "", ""),
    ],
)
def test_a_transformation_that_is_not_offered_falls_back_to_the_next_clause(accept, kind, api_version):
    found = negotiate(accept)
    assert (found.kind, found.api_version) == (kind, api_version)


@pytest.mark.parametrize(
    "accept", ["text/html", TABLE.replace(JSON, PROTOBUF), "application/json;sv=v2", "json", ",", ";q=1"]
)
def test_no_acceptable_type_is_an_error(accept):
    with pytest.raises(NotAcceptableError) as caught:
        negotiate(accept)
    assert caught.value.message == (
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )


def test_a_table_is_not_offered_for_a_resource_without_tables():
    assert negotiate(f"{TABLE},application/json", tables=False) == Representation(JSON)
    with pytest.raises(NotAcceptableError):
        negotiate_watch(TABLE, tables=False)


def test_protobuf_is_not_offered_for_a_kind_without_it_except_for_its_metadata():
    with pytest.raises(NotAcceptableError):
        negotiate(PROTOBUF, protobuf=False)
    assert negotiate(f"{PROTOBUF},application/json", protobuf=False) == Representation(JSON)
    assert negotiate(MANY.replace(JSON, PROTOBUF), protobuf=False).media_type == PROTOBUF
    with pytest.raises(NotAcceptableError):
        negotiate_watch(f"{PROTOBUF};stream=watch", protobuf=False)


def test_types_without_wildcards_come_first():
    stars = "*/*;drop=metadata.managedFields"
    assert not negotiate(f"{stars}, application/*").drops_managed_fields
    assert not negotiate(f"application/*;drop=metadata.managedFields, {JSON}").drops_managed_fields
    assert negotiate(f"{stars}, text/html").drops_managed_fields


def test_a_watch_stream_is_json_or_protobuf():
    assert negotiate_watch(f"{PROTOBUF};stream=watch,application/json").stream_media_type == f"{PROTOBUF};stream=watch"
    assert negotiate_watch("application/json;stream=watch,*/*") == Representation()
    assert negotiate_watch(ONE).kind == "PartialObjectMetadata"
    with pytest.raises(NotAcceptableError, match="application/json;stream=watch"):
        negotiate_watch("application/yaml")
    with pytest.raises(NotAcceptableError):
        negotiate_watch("text/html")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [("", JSON), (TABLE, JSON), (ONE, JSON), ("text/html", JSON), ("application/yaml", "application/yaml"),
     (f"{ONE},application/yaml", "application/yaml")],
)  # fmt: skip
def test_an_error_is_never_transformed(accept, media_type):
    found = negotiate_error(accept)
    assert (found.media_type, found.kind) == (media_type, "")


@pytest.mark.parametrize(
    ("query", "agent", "expected"),
    [
        ("pretty=1", "", True),
        ("pretty=true", "", True),
        ("pretty=yes", "curl/8.0", False),
        ("pretty=0", "curl/8.0", False),
        ("", "curl/8.0", True),
        ("pretty=", "Mozilla/5.0 (X11)", True),
        ("", "kubectl/v1.37", False),
    ],
)
def test_interactive_clients_get_indented_json(query, agent, expected):
    assert wants_pretty(Query.parse(query), agent) is expected


def test_the_header_can_request_indentation_which_yaml_ignores():
    assert negotiate("application/json;pretty=1").pretty
    assert negotiate(JSON, pretty=True).pretty
    assert not negotiate("application/yaml;pretty=1", pretty=True).pretty
    assert not negotiate_watch("application/json;pretty=1").pretty


@given(st.text(alphabet="application/jsonyml*;,=qvg0.19 \"'\\") | st.text())
def test_any_header_is_negotiated_or_not_acceptable(header):
    assert negotiate_error(header).media_type in (JSON, "application/yaml")
    qualities = [clause.quality for clause in parse_accept(header)]
    assert qualities == sorted(qualities, reverse=True)


# --- Objects ----------------------------------------------------------------------------------------------------------


def test_an_object_in_json_is_sent_as_it_is_stored():
    assert encode_response(Response(STORED), negotiate(JSON)) == STORED + b"\n"


def test_an_object_is_stored_with_its_kind_first():
    assert STORED.startswith(b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"')
    assert json.loads(STORED) == POD


def test_a_tree_is_encoded_like_a_stored_object():
    assert encode_response(Response(POD), negotiate(JSON)) == STORED + b"\n"


def test_yaml_has_the_same_content():
    text = encode_response(Response(STORED), negotiate("application/yaml")).decode()
    assert yaml.safe_load(text) == POD
    assert "é" in text


def test_pretty_json_is_indented():
    text = encode_response(Response(STORED), negotiate(JSON, pretty=True))
    assert text.startswith(b'{\n  "kind": "Pod",\n')
    assert json.loads(text) == POD


def test_partial_metadata_has_its_own_kind():
    assert decoded_response(ONE, STORED) == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": POD["metadata"],
    }


@pytest.mark.parametrize("targets", ["metadata.managedFields", "metadata.x+metadata.managedFields"])
def test_managed_fields_are_dropped_on_request(targets):
    expected = {**POD, "metadata": {name: each for name, each in POD["metadata"].items() if name != "managedFields"}}
    assert decoded_response(f"{JSON};drop={targets}", STORED) == expected
    assert decoded_response(f"{ONE};drop={targets}", STORED)["metadata"] == expected["metadata"]
    assert decoded_response(f"{JSON};drop=metadata", STORED) == POD


def test_an_object_that_only_mentions_managed_fields_is_unchanged():
    tree = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"managedFields": "mine"}}
    assert decoded_response(f"{JSON};drop=metadata.managedFields", tree) == tree


def test_one_object_cannot_be_a_list_of_metadata():
    with pytest.raises(NotAcceptableError, match="is not a list"):
        encode_response(Response(STORED), negotiate(MANY))


def test_a_status_is_never_transformed():
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    assert decoded_response(ONE, status) == status
    assert json.loads(encode_plain(status, negotiate(MANY))) == status


# --- Lists ------------------------------------------------------------------------------------------------------------


def pod_list(**options: Any) -> ListResponse:
    return ListResponse(PODS, [STORED, STORED], "12", **options)


def without_kind(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tree.items() if name not in ("kind", "apiVersion")}


def test_items_of_a_list_do_not_repeat_their_kind():
    assert decoded_response(JSON, pod_list()) == {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "12"},
        "items": [without_kind(POD)] * 2,
    }


def test_items_of_a_custom_resource_have_their_kind():
    assert decoded_response(JSON, pod_list(items_keep_kind=True))["items"] == [POD, POD]


def test_an_empty_list_has_an_empty_items_list():
    assert decoded_response(JSON, ListResponse(PODS, [], "1"))["items"] == []


def test_a_page_has_a_continue_token():
    page = pod_list(continue_token="next", remaining_item_count=0)
    assert decoded_response(JSON, page)["metadata"] == {
        "resourceVersion": "12",
        "continue": "next",
        "remainingItemCount": 0,
    }


def test_items_of_a_metadata_list_have_the_metadata_kind():
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": POD["metadata"]}
    assert decoded_response(MANY, pod_list()) == {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "12"},
        "items": [partial, partial],
    }


def test_managed_fields_are_dropped_from_each_item():
    items = decoded_response(f"{JSON};drop=metadata.managedFields", pod_list())["items"]
    assert all("managedFields" not in item["metadata"] for item in items)
    assert all("kind" not in item for item in items)


def test_a_list_cannot_be_partial_metadata_of_one_object():
    with pytest.raises(NotAcceptableError, match=r"is a list \(\*core\.PodList\)"):
        encode_response(Response(pod_list()), negotiate(ONE))


def test_a_list_in_yaml_has_the_same_content():
    response = Response(pod_list())
    assert yaml.safe_load(encode_response(response, negotiate("application/yaml"))) == decoded_response(
        JSON, pod_list()
    )


# --- Events -----------------------------------------------------------------------------------------------------------


def test_an_event_is_one_line_with_the_stored_bytes():
    assert encode_event("ADDED", STORED, Representation()) == b'{"type":"ADDED","object":' + STORED + b"}\n"


def test_the_object_of_an_event_is_transformed():
    event = json.loads(encode_event("DELETED", STORED, negotiate_watch(ONE)))
    assert event["type"] == "DELETED"
    assert event["object"] == decoded_response(ONE, STORED)


def test_the_status_of_an_error_event_is_not_transformed():
    status = {"kind": "Status", "apiVersion": "v1", "code": 410}
    assert json.loads(encode_event("ERROR", encode_object(status), negotiate_watch(ONE)))["object"] == status


def test_a_bookmark_has_a_kind_and_a_resource_version():
    assert json.loads(encode_bookmark(PODS, 9)) == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "9"},
    }
    end = json.loads(encode_bookmark(PODS, 9, initial_events_end=True))
    assert end["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_the_resource_version_of_an_encoded_object_can_be_replaced():
    moved = with_resource_version(STORED, 99)
    assert json.loads(moved) == {**POD, "metadata": {**POD["metadata"], "resourceVersion": "99"}}
    assert moved.startswith(b'{"kind":"Pod","apiVersion":"v1",')


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4), st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_cutting_bytes_equals_decoding_and_encoding(metadata, rest):
    tree = {**rest, "kind": "Pod", "apiVersion": "v1", "metadata": metadata}
    stored = encode_object(tree)
    kept = {name: value for name, value in metadata.items() if name != "managedFields"}
    assert decoded_response(ONE, stored)["metadata"] == metadata
    assert decoded_response(f"{JSON};drop=metadata.managedFields", stored) == {**tree, "metadata": kept}
    assert decoded_response(JSON, ListResponse(PODS, [stored], "1"))["items"] == [without_kind(tree)]
    assert json.loads(with_resource_version(stored, 5)) == {**tree, "metadata": {**metadata, "resourceVersion": "5"}}
