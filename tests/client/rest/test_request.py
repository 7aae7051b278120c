"""Building requests; `test_rest_client.py` sends them."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api.http_messages import go_duration, join_path
from listwatch.api.options import ListOptions
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.rest.request import Request
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import EncodeError, RequestError, SelectorError
from listwatch.models.core_v1 import ConfigMap, ConfigMapList, ContainerPort
from listwatch.objects.unstructured import Unstructured

CONFIG = ClientConfig(host="http://127.0.0.1:1")


def rest(group_version: str = "v1") -> RESTClient:
    return RESTClient(CONFIG, group_version=group_version)


# --- where -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "target"),
    [
        (rest().get().namespace("default").resource("pods").name("web-0"), "/api/v1/namespaces/default/pods/web-0"),
        (rest().get().name("web-0").resource("pods").namespace("default"), "/api/v1/namespaces/default/pods/web-0"),
        (rest().get().resource("pods"), "/api/v1/pods"),
        (rest().get().namespace("").resource("pods"), "/api/v1/pods"),
        (rest().get().resource("Pods"), "/api/v1/pods"),
        (rest().get().namespace("a").resource("pods"), "/api/v1/namespaces/a/pods"),
        (rest().get().resource("nodes").name("n1").subresource("status"), "/api/v1/nodes/n1/status"),
        (rest().get().resource("nodes").name("n1").subresource("proxy", "a", "b"), "/api/v1/nodes/n1/proxy/a/b"),
        (rest().get().prefix("watch").resource("pods"), "/api/v1/watch/pods"),
        (rest().get().prefix("a", "b/c").resource("pods").suffix("d", "e/"), "/api/v1/a/b/c/pods/d/e"),
        (rest().get().namespace("a").resource("pods").name("b").suffix("proxy"), "/api/v1/namespaces/a/pods/b/proxy"),
        (rest("apps/v1").get().resource("deployments"), "/apis/apps/v1/deployments"),
        (rest("rbac.authorization.k8s.io/v1").get(), "/apis/rbac.authorization.k8s.io/v1"),
        (rest().get().resource("clusterroles").name("system:node"), "/api/v1/clusterroles/system:node"),
        (rest().get().resource("pods").name("a b?#é"), "/api/v1/pods/a%20b%3F%23%C3%A9"),
        (rest().get().abs_path("/version"), "/version"),
        (rest().get().abs_path("apis", "apps"), "/apis/apps"),
        (rest().get().abs_path("/api/"), "/api/"),
        (rest().get().abs_path("/api/", "v1/"), "/api/v1"),
        (rest().get().abs_path("/"), "/"),
        (rest().get().abs_path(""), ""),
        (rest().get().prefix("ignored").abs_path("/healthz"), "/healthz"),
        (rest().get().abs_path("/healthz/").suffix("ping"), "/healthz/ping"),
        (rest().get().abs_path("/a%2Fb c"), "/a%252Fb%20c"),
        (rest().get().request_uri("/openapi/v3/api/v1?hash=A%2FB&x=1&x=2"), "/openapi/v3/api/v1?hash=A%2FB&x=1&x=2"),
        (rest().get().param("a", "1").request_uri("/b"), "/b"),
        (rest().get().request_uri("/a%20b").resource("pods"), "/a%20b/pods"),
    ],
)
def test_the_parts_of_a_path_are_put_in_their_order(request_: Request, target: str):
    assert request_.build().target == target


@pytest.mark.parametrize("wrong", [".", "..", "a/b", "a%2fb", "/"])
@pytest.mark.parametrize("part", ["namespace", "resource", "name", "subresource"])
def test_a_path_segment_that_changes_the_path_is_an_error(part: str, wrong: str):
    with pytest.raises(RequestError, match=f"is not a valid {part}"):
        getattr(rest().get(), part)(wrong).build()


@pytest.mark.parametrize("part", ["resource", "name", "subresource"])
def test_a_path_segment_cannot_be_empty(part: str):
    with pytest.raises(RequestError, match=f"the {part} is empty"):
        getattr(rest().get(), part)("").build()


@pytest.mark.parametrize("part", ["namespace", "resource", "name", "subresource"])
@pytest.mark.parametrize("wrong", [None, 1, b"a"])
def test_a_path_segment_must_be_a_string(part: str, wrong: Any):
    with pytest.raises(RequestError, match=f"the {part} must be a string"):
        getattr(rest().get(), part)(wrong).build()


@pytest.mark.parametrize("part", ["namespace", "resource", "name", "subresource"])
def test_a_path_segment_can_be_set_once(part: str):
    request = getattr(getattr(rest().get(), part)("one"), part)("two")
    with pytest.raises(RequestError, match=f"the {part} is already 'one' and cannot be set to 'two'"):
        request.build()


def test_all_namespaces_cannot_become_one():
    with pytest.raises(RequestError, match="the namespace is already ''"):
        rest().get().namespace("").namespace("a").build()


@pytest.mark.parametrize("step", ["name", "suffix", "request_uri"])
def test_a_lone_surrogate_cannot_be_sent(step: str):
    with pytest.raises(RequestError, match="lone surrogate"):
        getattr(rest().get(), step)("a\ud800").build()
    for request in (
        rest().get().param(step, "a\ud800"),
        rest().get().param("a\ud800", step),
    ):
        with pytest.raises(RequestError, match="lone surrogate"):
            request.build()


@pytest.mark.parametrize("step", ["prefix", "suffix", "abs_path", "request_uri"])
def test_a_path_cannot_contain_parent_segments(step: str):
    with pytest.raises(RequestError, match=r"it contains '\.' or '\.\.'"):
        getattr(rest().get(), step)("/a/../b").build()


def test_the_first_invalid_argument_is_reported():
    request = rest().get().name("").resource("a/b").timeout(-1).body(object())  # type: ignore[arg-type]  # on purpose
    with pytest.raises(RequestError, match="the name is empty"):
        request.build()


async def test_an_invalid_argument_is_raised_on_send_and_nothing_is_sent():
    async with rest() as client:
        wrong = client.get().resource("pods").name("..")
        with pytest.raises(RequestError):
            await wrong.do()
        with pytest.raises(RequestError):
            await wrong.do_raw()
        with pytest.raises(RequestError):
            await wrong.stream().read()
        with pytest.raises(RequestError):
            await anext(wrong.watch())
        assert client.statistics().requests == 0


@pytest.mark.parametrize(
    "request_",
    [
        rest().post().namespace("").resource("pods").body({}),
        rest().get().namespace("").resource("pods").name("a"),
        rest().put().namespace("").resource("pods").name("a").body({}),
        rest().delete().namespace("").resource("pods").name("a"),
    ],
    ids=["post", "get", "put", "delete"],
)
async def test_a_request_for_one_object_needs_a_namespace(request_: Request):
    with pytest.raises(RequestError, match="the namespace is empty"):
        await request_.do()


@given(st.lists(st.text(), max_size=4))
def test_a_joined_path_is_ascii_and_begins_with_a_slash_or_is_rejected(segments: list[str]):
    try:
        path = join_path(*segments)
    except RequestError:
        return
    assert path.isascii()
    assert not path or path[0] == "/"
    assert not set(path) & set("?# \\")


# --- what ------------------------------------------------------------------------------------------------------------


def test_parameters_add_up_and_keep_their_order():
    request = rest().get().param("b", "1").param("a", True).params({"c": 5, "none": None, "d": ["x", "y"], "e": False})
    assert request.param("b", "2").build().target == "/api/v1?b=1&a=true&c=5&d=x&d=y&e=false&b=2"


def test_list_options_become_query_parameters():
    options = ListOptions(label_selector="app=web", limit=5, continue_token="t", watch=True, send_initial_events=False)
    assert rest().get().resource("pods").options(options).build().target == (
        "/api/v1/pods?labelSelector=app%3Dweb&limit=5&continue=t&watch=true&sendInitialEvents=false"
    )


def test_an_invalid_selector_in_list_options_is_raised_when_the_request_is_built():
    request = rest().get().resource("pods").options(ListOptions(label_selector="a in"))
    with pytest.raises(SelectorError):
        request.build()


def test_parameters_are_encoded():
    request = rest().get().param("labelSelector", "app in (a,b),c=d&e").param("fieldSelector", "metadata.name=é+")
    assert (
        request.build().target
        == "/api/v1?labelSelector=app%20in%20%28a,b%29,c%3Dd%26e&fieldSelector=metadata.name%3D%C3%A9%2B"
    )


@pytest.mark.parametrize("wrong", [1.5, object(), {"a": 1}, b"x", [None, {}]])
def test_an_invalid_parameter_is_an_error(wrong: Any):
    with pytest.raises(RequestError, match=r"limit: a query parameter cannot be a"):
        rest().get().param("limit", wrong).build()


def test_json_is_accepted_and_a_header_replaces_one_of_the_same_name():
    request = rest().get()
    assert request.build().headers == {"Accept": "application/json, */*"}
    request.header("accept", "text/plain").header("x-a", "1").header("X-A", "2")
    assert request.build().headers == {"Accept": "text/plain", "X-A": "2"}


@pytest.mark.parametrize(
    ("name", "value"), [("a b", "c"), ("", "c"), ("a", "b\r\nc"), ("a:", "b"), ("a", None), ("a", "\ud800")]
)
def test_an_invalid_header_is_an_error(name: str, value: Any):
    with pytest.raises(RequestError, match="is invalid: its name must be a token"):
        rest().get().header(name, value).build()


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (b"\x00as it is", b"\x00as it is"),
        (ConfigMap.from_wire(b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}'), None),
        (Unstructured({"kind": "X", "metadata": {"name": "a"}}), b'{"kind":"X","metadata":{"name":"a"}}'),
        (ContainerPort(container_port=80, host_ip="::1"), b'{"containerPort":80,"hostIP":"::1"}'),
        ({"at": datetime(2026, 1, 2, tzinfo=UTC)}, b'{"at":"2026-01-02T00:00:00Z"}'),
        ([{"op": "remove", "path": "/a"}], b'[{"op":"remove","path":"/a"}]'),
        (ConfigMapList(), b'{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[]}'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_supported_body_is_encoded(body: Any, sent: bytes | None):
    built = rest().post().body(body).build()
    assert built.body == (body.to_json() if sent is None else sent)
    assert built.headers["Content-Type"] == "application/json"


def test_a_body_of_none_sends_no_body():
    built = rest().delete().body(None).build()
    assert built.body is None
    assert "Content-Type" not in built.headers


@pytest.mark.parametrize("wrong", ["path/to/a/file", 1, object(), {1, 2}])
def test_an_invalid_body_is_an_error(wrong: Any):
    with pytest.raises(RequestError, match="cannot be sent; pass bytes"):
        rest().post().body(wrong).build()


def test_an_object_that_cannot_be_written_is_reported_when_it_is_sent():
    request = rest().post().body({"a": float("nan")})
    with pytest.raises(EncodeError):
        request.build()


@pytest.mark.parametrize(
    ("patch_type", "content_type"),
    [
        ("json", "application/json-patch+json"),
        ("merge", "application/merge-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
        ("apply", "application/apply-patch+yaml"),
        ("application/apply-patch+cbor", "application/apply-patch+cbor"),
    ],
)
def test_a_patch_has_the_content_type_of_its_kind(patch_type: str, content_type: str):
    assert rest().patch(patch_type).body({}).build().headers["Content-Type"] == content_type


@pytest.mark.parametrize("wrong", ["", "GET /", "GET\r\n", "é"])
def test_an_invalid_method_is_an_error(wrong: str):
    with pytest.raises(RequestError, match="is not a valid HTTP method"):
        rest().verb(wrong).build()


def test_any_verb_can_be_used():
    assert rest().verb("options").build().method == "OPTIONS"
    built = [getattr(rest(), verb)().build().method for verb in ("get", "post", "put", "delete")]
    assert built == ["GET", "POST", "PUT", "DELETE"]


# --- how -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (1e-9, "1ns"),
        (1.5e-6, "1.5µs"),
        (0.25, "250ms"),
        (0.0015, "1.5ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (59.999, "59.999s"),
        (60, "1m0s"),
        (330, "5m30s"),
        (3600, "1h0m0s"),
        (3661.01, "1h1m1.01s"),
        (100 * 3600, "100h0m0s"),
    ],
)
def test_durations_are_written_as_go_writes_them(seconds: float, text: str):
    assert go_duration(seconds) == text


UNITS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}


@given(st.integers(0, 10**12))  # a float of more seconds has no exact nanoseconds
def test_a_written_duration_can_be_read_back(microseconds: int):
    parts = re.findall(r"([0-9.]+)(h|ms|µs|ns|m|s)", go_duration(microseconds / 1e6))
    assert sum(Decimal(number) * UNITS[unit] for number, unit in parts) == microseconds * 1000


def test_the_timeout_is_sent_to_the_server():
    assert rest().get().resource("pods").timeout(330).build().target == "/api/v1/pods?timeout=5m30s"


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_a_timeout_is_a_number_of_seconds(wrong: Any):
    with pytest.raises(RequestError, match="the timeout must be a positive number of seconds"):
        rest().get().timeout(wrong).build()


def test_the_repr_shows_method_and_path():
    request = rest().get().namespace("a").resource("pods").param("limit", 5)
    assert repr(request) == "<Request GET /api/v1/namespaces/a/pods?limit=5>"
    assert request.build().describe() == "GET /api/v1/namespaces/a/pods"
    assert repr(rest("apps/v1")) == "<RESTClient of http://127.0.0.1:1 apps/v1>"
    assert repr(rest().for_group_version("batch/v1")) == "<RESTClient of http://127.0.0.1:1 batch/v1>"
