"""From URLs to requests."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import BadRequestError, MethodNotAllowedError, NotAcceptableError, NotFoundError
from listwatch.server.protocol.routes import read_target, route
from listwatch.server.requests import APIRequest, NonResourceRequest, User
from listwatch.server.schema.registry import Registry

REGISTRY = Registry.builtin()
NOT_FOUND = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"


def routed(method: str, target: str) -> APIRequest:
    headers = {"Content-Type": "application/merge-patch+json"}
    request = route(read_target(method, target), REGISTRY, headers=headers)
    assert isinstance(request, APIRequest), request
    return request


def place(method: str, target: str) -> tuple[str, str, str, str, str]:
    request = routed(method, target)
    return request.verb, request.resource.plural, request.namespace, request.name, request.subresource


# --- Where a path leads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET /api/v1/namespaces/ns/pods/web", ("get", "pods", "ns", "web", "")),
        ("PUT /api/v1/namespaces/ns/pods/web", ("update", "pods", "ns", "web", "")),
        ("PATCH /api/v1/namespaces/ns/pods/web", ("patch", "pods", "ns", "web", "")),
        ("DELETE /api/v1/namespaces/ns/pods/web", ("delete", "pods", "ns", "web", "")),
        ("GET /api/v1/namespaces/ns/pods", ("list", "pods", "ns", "", "")),
        ("POST /api/v1/namespaces/ns/pods", ("create", "pods", "ns", "", "")),
        ("DELETE /api/v1/namespaces/ns/pods", ("deletecollection", "pods", "ns", "", "")),
        ("GET /api/v1/pods", ("list", "pods", "", "", "")),
        ("GET /apis/apps/v1/namespaces/ns/deployments/web/scale", ("get", "deployments", "ns", "web", "scale")),
        ("PUT /apis/apps/v1/namespaces/ns/deployments/web/status", ("update", "deployments", "ns", "web", "status")),
        ("POST /api/v1/namespaces/ns/pods/web/eviction", ("create", "pods", "ns", "web", "eviction")),
        ("GET /api/v1/nodes", ("list", "nodes", "", "", "")),
        ("GET /api/v1/nodes/n1", ("get", "nodes", "", "n1", "")),
        ("PATCH /api/v1/nodes/n1/status", ("patch", "nodes", "", "n1", "status")),
        ("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", ("create", "subjectaccessreviews", "", "", "")),
    ],
)
def test_method_and_path_name_the_request(line, expected):
    assert place(*line.split()) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET /api/v1/namespaces", ("list", "namespaces", "", "", "")),
        ("POST /api/v1/namespaces", ("create", "namespaces", "", "", "")),
        ("GET /api/v1/namespaces/pods", ("get", "namespaces", "", "pods", "")),
        ("DELETE /api/v1/namespaces/ns", ("delete", "namespaces", "", "ns", "")),
        ("PUT /api/v1/namespaces/ns/status", ("update", "namespaces", "", "ns", "status")),
        ("PUT /api/v1/namespaces/ns/finalize", ("update", "namespaces", "", "ns", "finalize")),
        ("GET /api/v1/namespaces/status", ("get", "namespaces", "", "status", "")),
    ],
)
def test_a_namespace_is_an_object_and_a_scope(line, expected):
    assert place(*line.split()) == expected


@pytest.mark.parametrize(
    ("target", "verb", "name"),
    [
        ("/api/v1/pods?watch=1", "watch", ""),
        ("/api/v1/pods?watch", "watch", ""),
        ("/api/v1/pods?watch=false", "list", ""),
        ("/api/v1/namespaces/ns/pods?watch=true&fieldSelector=metadata.name=web", "watch", ""),
        ("/api/v1/namespaces/ns/pods/web?watch=true", "get", "web"),
        ("/api/v1/watch/pods", "watch", ""),
        ("/api/v1/watch/namespaces/ns/pods", "watch", ""),
        ("/api/v1/watch/namespaces/ns/pods/web", "watch", "web"),
        ("/api/v1/watch/namespaces", "watch", ""),
        ("/api/v1/watch/namespaces/ns", "watch", "ns"),
        ("/apis/apps/v1/watch/deployments", "watch", ""),
    ],
)
def test_a_collection_is_watched_by_parameter_or_by_the_old_prefix(target, verb, name):
    request = routed("GET", target)
    assert (request.verb, request.name) == (verb, name)


@pytest.mark.parametrize(
    ("target", "subresource", "subpath"),
    [
        ("/api/v1/namespaces/ns/services/web/proxy", "proxy", ""),
        ("/api/v1/namespaces/ns/services/web/proxy/", "proxy", "/"),
        ("/api/v1/namespaces/ns/services/http:web:80/proxy/a/b", "proxy", "/a/b"),
        ("/api/v1/namespaces/ns/pods/web/proxy/a//b/", "proxy", "/a//b/"),
        ("/api/v1/nodes/n1/proxy/metrics", "proxy", "/metrics"),
        ("/api/v1/namespaces/ns/pods/web/exec?command=ls", "exec", ""),
    ],
)
def test_some_subresources_have_the_verb_connect(target, subresource, subpath):
    request = routed("GET", target)
    assert (request.verb, request.subresource, request.subpath) == ("connect", subresource, subpath)


def test_a_request_has_the_headers_user_query_and_body():
    headers = {"Accept": "application/yaml", "Content-Type": "application/json", "User-Agent": "me"}
    info = read_target("POST", "/api/v1/namespaces/ns/pods?dryRun=All")
    request = route(info, REGISTRY, headers=headers, user=User("ada"), body=b"{}")
    assert isinstance(request, APIRequest)
    assert (request.accept, request.content_type) == ("application/yaml", "application/json")
    assert (request.user.name, request.body, request.method) == ("ada", b"{}", "POST")
    assert request.query.text("dryRun") == "All"
    assert request.path == "/api/v1/namespaces/ns/pods"


# --- Where no path leads ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "GET /api/v1/nothings",
        "GET /api/v2/pods",
        "GET /apis/apps/v2/deployments",
        "GET /apis/apps/v1/pods",
        "GET /api/v1/pods/web",
        "GET /api/v1/namespaces/ns/nodes",
        "GET /api/v1/nodes/n1/pods",
        "GET /api/v1/namespaces/ns/pods/web/nothing",
        "GET /api/v1/namespaces/ns/pods/web/status/more",
        "GET /apis/apps/v1/namespaces/ns",
        "GET /api/v1/bindings",
        "GET /api/v1//pods",
        "GET /api/v1/../pods",
        "GET /api/v1/watch/namespaces/ns/pods/web/status",
        "GET /api/v1/watch/bindings",
        "GET /api/v1/watch",
        "GET /api/v1/PODS",
    ],
)
def test_an_unserved_resource_is_not_found(line):
    with pytest.raises(NotFoundError) as caught:
        routed(*line.split())
    assert caught.value.message == NOT_FOUND


@pytest.mark.parametrize(
    "line",
    [
        "POST /api/v1/pods",
        "DELETE /api/v1/pods",
        "PUT /api/v1/namespaces/ns/pods",
        "POST /api/v1/namespaces/ns/pods/web",
        "POST /api/v1/namespaces/ns/pods/web/status",
        "DELETE /api/v1/namespaces",
        "GET /api/v1/namespaces/ns/bindings",
        "GET /api/v1/namespaces/ns/finalize",
        "POST /api/v1/watch/pods",
        "HEAD /api/v1/namespaces/ns/pods",
        "OPTIONS /api/v1/namespaces/ns/pods/web",
        "SNAP /api/v1/namespaces/ns/pods/web",
        "get /api/v1/namespaces/ns/pods/web",
    ],
)
def test_an_unsupported_method_is_not_allowed(line):
    with pytest.raises(MethodNotAllowedError) as caught:
        routed(*line.split())
    assert caught.value.message == NOT_ALLOWED


def test_a_watch_of_an_unwatchable_resource_is_not_allowed():
    with pytest.raises(MethodNotAllowedError) as caught:
        routed("GET", "/api/v1/componentstatuses?watch=true")
    assert caught.value.message == 'watch is not supported on resources of kind "componentstatuses"'


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/version",
        "/healthz/ping",
        "/api",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1/",
        "/apis/unknown/v1/things",
        "//api/v1/pods",
        "/nothing/here/at/all",
        "*",
    ],
)
def test_other_paths_are_non_resource_requests(target):
    request = route(read_target("GET", target), REGISTRY)
    assert isinstance(request, NonResourceRequest)
    assert request.path == target


# --- Tricks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/api/v1/namespaces/ns/pods/", ("list", "pods", "ns", "", "")),
        ("/api/v1/namespaces/ns/pods//", ("list", "pods", "ns", "", "")),
        ("/api/v1/namespaces/ns%2Fpods", ("list", "pods", "ns", "", "")),
        ("/api/v1/namespaces/ns/pods%2fweb", ("get", "pods", "ns", "web", "")),
        ("/%61pi/v1/namespaces/ns/pods/w%65b", ("get", "pods", "ns", "web", "")),
        ("/api/v1/namespaces//pods", ("list", "pods", "", "", "")),
        ("/api/v1/namespaces/ns/pods/%E2%82%AC", ("get", "pods", "ns", "€", "")),
        ("/api/v1/namespaces/ns/pods/a+b", ("get", "pods", "ns", "a+b", "")),
        ("/api/v1/namespaces/ns/pods/%ff", ("get", "pods", "ns", "�", "")),
        ("http://server:80/api/v1/namespaces/ns/pods", ("list", "pods", "ns", "", "")),
    ],
)
def test_a_path_is_split_into_segments_after_decoding(target, expected):
    assert place("GET", target) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("GET /api/v1/namespaces/..", "Name parameter invalid: \"..\": may not be '..'"),
        ("GET /api/v1/namespaces/ns/pods/.", "Name parameter invalid: \".\": may not be '.'"),
        ("GET /api/v1/namespaces/ns/pods/%2e%2e", "Name parameter invalid: \"..\": may not be '..'"),
        ("DELETE /api/v1/namespaces/ns/pods/a%25b", "Name parameter invalid: \"a%b\": may not contain '%'"),
        ("GET /api/v1/namespaces/../pods", "Namespace parameter invalid: \"..\": may not be '..'"),
        ("GET /api/v1/namespaces/ns/pods//log", "name must be provided"),
        ("GET /api/v1/namespaces//pods/web", "Namespace parameter required."),
        ("DELETE /api/v1/namespaces//pods", "Namespace parameter required."),
    ],
)
def test_names_that_are_not_path_segments_are_rejected(line, message):
    with pytest.raises(BadRequestError) as caught:
        routed(*line.split())
    assert caught.value.message == message


@pytest.mark.parametrize("target", ["/api/v1/%", "/api/v1/%zz", "/%4", "/api/v1/pods%"])
def test_a_path_that_cannot_be_decoded_is_a_bad_request(target):
    with pytest.raises(BadRequestError, match="two hexadecimal digits"):
        read_target("GET", target)


# --- What authorization goes by ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "verb", "group", "resource", "subresource", "namespace", "name"),
    [
        ("GET /apis/unknown/v1/namespaces/ns/things/t/part", "get", "unknown", "things", "part", "ns", "t"),
        ("GET /api/v1/namespaces/ns", "get", "", "namespaces", "", "ns", "ns"),
        ("PUT /api/v1/namespaces/ns/finalize", "update", "", "namespaces", "finalize", "ns", "ns"),
        ("HEAD /api/v1/pods", "list", "", "pods", "", "", ""),
        ("GET /api/v1/pods?watch=1", "watch", "", "pods", "", "", ""),
        ("GET /api/v1/pods?fieldSelector=metadata.name%3Dweb,spec.nodeName%3Dn", "list", "", "pods", "", "", "web"),
        ("GET /api/v1/pods?fieldSelector=metadata.name!%3Dweb", "list", "", "pods", "", "", ""),
        ("GET /api/v1/pods?fieldSelector=metadata.name%3D..", "list", "", "pods", "", "", ""),
        ("GET /api/v1/pods?fieldSelector=(", "list", "", "pods", "", "", ""),
        ("DELETE /apis/apps/v1/namespaces/ns/deployments", "deletecollection", "apps", "deployments", "", "ns", ""),
        ("POST /api/v1/namespaces/ns/pods/web/exec", "create", "", "pods", "exec", "ns", "web"),
        ("GET /api/v1/watch/namespaces/ns/pods/web", "watch", "", "pods", "", "ns", "web"),
        ("DELETE /api/v1/watch/pods", "watch", "", "pods", "", "", ""),
        ("TRACE /api/v1/pods", "", "", "pods", "", "", ""),
    ],
)
def test_a_url_is_read_whether_it_is_served_or_not(line, verb, group, resource, subresource, namespace, name):
    info = read_target(*line.split())
    assert info.is_resource
    assert (info.verb, info.group, info.resource, info.subresource) == (verb, group, resource, subresource)
    assert (info.namespace, info.name) == (namespace, name)


@pytest.mark.parametrize("target", ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz"])
def test_the_verb_of_a_path_without_a_resource_is_its_method(target):
    info = read_target("GET", target)
    assert not info.is_resource
    assert info.verb == "get"


# --- Everything else --------------------------------------------------------------------------------------------------

METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) | st.text(max_size=5)
SEGMENTS = st.sampled_from(
    ["", "api", "apis", "v1", "apps", "namespaces", "ns", "pods", "web", "status", "watch", "proxy", "..", ".", "%2f",
     "%2e%2e", "%", "%ff", "nodes", "deployments", "?watch=1", "#", "\udcff"]
) | st.text(max_size=4)  # fmt: skip
TARGETS = st.lists(SEGMENTS, max_size=9).map("/".join) | st.text()


@given(METHODS, TARGETS)
def test_every_target_is_routed_or_rejected_and_none_escapes_its_namespace(method, target):
    try:
        request = route(read_target(method, target), REGISTRY)
    except (BadRequestError, NotFoundError, MethodNotAllowedError):
        return
    request.path.encode()
    if isinstance(request, APIRequest):
        assert request.name not in (".", "..")
        assert request.namespace not in (".", "..")
        assert "/" not in request.name + request.namespace
        assert request.resource.namespaced or not request.namespace


NAMES = st.text(min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and not set("/%") & set(name) and not any(map(is_surrogate, name))
)


def is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


@given(NAMES, NAMES)
def test_every_name_is_read_back_from_a_url(namespace, name):
    assert place("GET", f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}") == (
        "get", "pods", namespace, name, ""
    )  # fmt: skip


# --- Repeated requests ----------------------------------------------------------------------------------------------


def test_a_cached_collection_that_is_no_longer_served_is_not_found():
    registry = Registry.builtin()
    info = read_target("GET", "/apis/apps/v1/namespaces/ns/deployments")
    request = route(info, registry)
    assert isinstance(request, APIRequest)
    registry.remove(request.resource)
    with pytest.raises(NotFoundError):
        route(info, registry)


def test_the_same_path_is_a_list_or_a_watch_whichever_is_cached():
    verbs = [routed("GET", f"/api/v1/namespaces/again/pods{query}").verb for query in ("", "?watch=1", "", "?watch=1")]
    assert verbs == ["list", "watch", "list", "watch"]


def test_an_unacceptable_accept_header_is_rejected_also_on_a_cached_collection():
    info = read_target("GET", "/api/v1/namespaces/again/pods")
    route(info, REGISTRY)
    with pytest.raises(NotAcceptableError):
        route(info, REGISTRY, headers={"Accept": "text/plain"})
