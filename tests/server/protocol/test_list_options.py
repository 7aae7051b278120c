"""The options of gets, lists and watches, and the lists that they produce."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.errors import (
    APIError,
    BadRequestError,
    ExpiredError,
    InternalServerError,
    InvalidError,
    RequestTimeoutError,
)
from listwatch.meta import ObjectKey
from listwatch.server.protocol.continue_tokens import read_continue, write_continue
from listwatch.server.protocol.list_options import (
    ListOptions,
    WatchOptions,
    check_reached,
    read_get_minimum,
    read_list_options,
    read_watch_options,
)
from listwatch.server.protocol.routes import read_target, route
from listwatch.server.requests import APIRequest, Query
from listwatch.server.schema.registry import Registry
from listwatch.server.storage.storage import Storage
from listwatch.server.verbs.listing import Listing, list_objects

REGISTRY = Registry.builtin()
TOKEN = write_continue(ObjectKey("ns", "web"), 7, "ns")


def request(target: str) -> APIRequest:
    request = route(read_target("GET", target), REGISTRY)
    assert isinstance(request, APIRequest)
    return request


def list_options(query: str, path: str = "/api/v1/namespaces/ns/pods") -> ListOptions:
    return read_list_options(request(f"{path}?{query}"), REGISTRY)


def watch_options(query: str, path: str = "/api/v1/namespaces/ns/pods") -> WatchOptions:
    return read_watch_options(request(f"{path}?watch=1&{query}"), REGISTRY)


# --- From when --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "revision", "minimum"),
    [
        ("", None, 0),
        ("resourceVersion=0", None, 0),
        ("resourceVersion=0&limit=5", None, 0),
        ("resourceVersion=9", None, 9),
        ("resourceVersion=9&resourceVersionMatch=NotOlderThan", None, 9),
        ("resourceVersion=9&resourceVersionMatch=NotOlderThan&limit=5", None, 9),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan", None, 0),
        ("resourceVersion=9&resourceVersionMatch=Exact", 9, 0),
        ("resourceVersion=9&limit=5", 9, 0),
        ("resourceVersion=007", None, 7),
    ],
)
def test_a_list_is_at_the_current_or_a_requested_revision(query, revision, minimum):
    options = list_options(query)
    assert (options.revision, options.minimum) == (revision, minimum)


FORBIDDEN = "FieldValueForbidden"
UNLESS_VERSION = "resourceVersionMatch is forbidden unless resourceVersion is provided"
WITH_CONTINUE = "resourceVersionMatch is forbidden when continue is provided"
NEEDS_NOT_OLDER = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
UNLESS_INITIAL = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("resourceVersionMatch=Exact", [f"Forbidden: {UNLESS_VERSION}"]),
        (f"resourceVersion=9&resourceVersionMatch=Exact&continue={TOKEN}", [f"Forbidden: {WITH_CONTINUE}"]),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            ['Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'],
        ),
        (
            "resourceVersion=9&resourceVersionMatch=exact",
            ['Unsupported value: "exact": supported values: "Exact", "NotOlderThan", ""'],
        ),
        ("sendInitialEvents=false", ["Forbidden: sendInitialEvents is forbidden for list"]),
        (
            f"resourceVersionMatch=Exact&continue={TOKEN}&sendInitialEvents=1",
            [
                f"Forbidden: {UNLESS_VERSION}",
                f"Forbidden: {WITH_CONTINUE}",
                "Forbidden: sendInitialEvents is forbidden for list",
            ],
        ),
    ],
)
def test_conflicting_list_options_are_invalid(query, messages):
    with pytest.raises(InvalidError) as caught:
        list_options(query)
    assert [cause.message for cause in caught.value.causes] == messages
    assert caught.value.message.startswith('ListOptions.meta.k8s.io "" is invalid: ')
    assert caught.value.details
    assert (caught.value.details.kind, caught.value.details.group) == ("ListOptions", "meta.k8s.io")


def test_an_invalid_revision_of_a_list_is_a_bad_request():
    with pytest.raises(BadRequestError) as caught:
        list_options("resourceVersion=abc")
    assert caught.value.message == (
        'invalid resource version: resourceVersion: Invalid value: "abc": '
        'strconv.ParseUint: parsing "abc": invalid syntax'
    )


@pytest.mark.parametrize(
    ("version", "problem"), [("-1", "invalid syntax"), ("٣", "invalid syntax"), (str(2**64), "value out of range")]
)
def test_an_invalid_revision_of_a_get_or_watch_is_an_internal_error(version, problem):
    with pytest.raises(InternalServerError, match=problem):
        read_get_minimum(Query({"resourceVersion": [version]}))
    with pytest.raises(InternalServerError, match=problem) as caught:
        watch_options(f"resourceVersion={version}")
    assert caught.value.reason == ""


def test_a_get_may_require_a_minimum_revision():
    assert read_get_minimum(Query()) == 0
    assert read_get_minimum(Query.parse("resourceVersion=0")) == 0
    assert read_get_minimum(Query.parse("resourceVersion=12")) == 12


def test_a_future_revision_is_a_timeout_with_a_cause():
    check_reached(5, 5)
    with pytest.raises(RequestTimeoutError) as caught:
        check_reached(6, 5)
    assert caught.value.message == "Timeout: Too large resource version: 6, current: 5"
    assert caught.value.resource_version_too_large
    assert caught.value.retry_after == 1


# --- Watches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "initial", "minimum", "after"),
    [
        ("", True, 0, None),
        ("resourceVersion=0", True, 0, None),
        ("resourceVersion=9", False, 0, 9),
        ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan", True, 0, None),
        ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9", True, 9, None),
        ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan", False, 0, None),
        ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0", False, 0, None),
        ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=9", False, 0, 9),
    ],
)
def test_a_watch_starts_with_initial_events_or_after_a_revision(query, initial, minimum, after):
    options = watch_options(query)
    assert (options.initial_events, options.minimum, options.after) == (initial, minimum, after)


def test_the_end_of_the_initial_events_is_marked_if_bookmarks_are_allowed():
    assert watch_options("allowWatchBookmarks=true").marks_end_of_initial_events
    assert not watch_options("").marks_end_of_initial_events
    later = watch_options("allowWatchBookmarks=true&resourceVersion=9")
    assert later.bookmarks
    assert not later.marks_end_of_initial_events


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("sendInitialEvents=true", [f"Forbidden: {NEEDS_NOT_OLDER}"]),
        ("sendInitialEvents=false&resourceVersion=0", [f"Forbidden: {NEEDS_NOT_OLDER}"]),
        ("resourceVersionMatch=NotOlderThan", [f"Forbidden: {UNLESS_INITIAL}"]),
        (
            "resourceVersionMatch=Exact&resourceVersion=9",
            [f"Forbidden: {UNLESS_INITIAL}", 'Unsupported value: "Exact": supported values: "NotOlderThan"'],
        ),
        (
            f"sendInitialEvents=1&resourceVersionMatch=NotOlderThan&continue={TOKEN}",
            [f"Forbidden: {WITH_CONTINUE}"],
        ),
    ],
)
def test_conflicting_watch_options_are_invalid(query, messages):
    with pytest.raises(InvalidError) as caught:
        watch_options(query)
    assert [cause.message for cause in caught.value.causes] == messages


@pytest.mark.parametrize(
    ("query", "timeout"),
    [
        ("", None),
        ("timeoutSeconds=0", None),
        ("timeoutSeconds=290", 290.0),
        ("timeoutSeconds=-5", 0.0),
        ("timeout=9", None),
    ],
)
def test_a_watch_ends_after_its_timeout(query, timeout):
    assert watch_options(query).timeout == timeout


def test_a_watch_of_one_object_by_its_path_selects_that_object():
    options = watch_options("", "/api/v1/watch/namespaces/ns/pods/web")
    assert options.selection.name == "web"
    assert watch_options("fieldSelector=metadata.name=web", "/api/v1/watch/namespaces/ns/pods/web") == options
    with pytest.raises(BadRequestError, match="doesn't match requested name"):
        watch_options("fieldSelector=metadata.name=db", "/api/v1/watch/namespaces/ns/pods/web")


# --- Which objects, how many ------------------------------------------------------------------------------------------


def test_selectors_and_the_namespace_are_read():
    selection = list_options("labelSelector=app+in+(web,db)&fieldSelector=spec.host%3Dn1").selection
    assert str(selection.labels) == "app in (db,web)"
    assert str(selection.fields) == "spec.nodeName=n1"
    assert selection.namespace == "ns"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("labelSelector=a+b", "unable to parse requirement: "),
        ("labelSelector=%3D", "found '=', expected: "),
        ("fieldSelector=metadata.name", "invalid selector: "),
        ("fieldSelector=spec.containers%3Dx", "field label not supported: spec.containers"),
        ("limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("limit=", 'strconv.ParseInt: parsing "": invalid syntax'),
        ("timeoutSeconds=1s", 'strconv.ParseInt: parsing "1s": invalid syntax'),
    ],
)
def test_invalid_options_of_lists_and_watches_are_bad_requests(query, message):
    for read in (list_options, watch_options):
        with pytest.raises(BadRequestError) as caught:
            read(query)
        assert caught.value.message.startswith(message)


def test_a_negative_limit_is_no_limit():
    assert list_options("limit=-3").limit == 0
    assert list_options("limit=3").limit == 3


@pytest.mark.parametrize(
    ("path", "query", "only"),
    [
        ("/api/v1/namespaces/ns/pods", "fieldSelector=metadata.name=web", ObjectKey("ns", "web")),
        ("/api/v1/nodes", "fieldSelector=metadata.name=n1", ObjectKey("", "n1")),
        ("/api/v1/pods", "fieldSelector=metadata.name=web", None),
        ("/api/v1/namespaces/ns/pods", "fieldSelector=metadata.name!=web", None),
        ("/api/v1/namespaces/ns/pods", "", None),
    ],
)
def test_a_list_that_can_select_one_object_only_has_its_key(path, query, only):
    assert list_options(query, path).only == only


# --- Continue tokens --------------------------------------------------------------------------------------------------


def token(**fields: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


def test_a_token_is_written_as_the_real_server_writes_it():
    assert json.loads(base64.urlsafe_b64decode(TOKEN + "==")) == {"v": "meta.k8s.io/v1", "rv": 7, "start": "/web\0"}
    everywhere = write_continue(ObjectKey("ns", "web"), None, "")
    assert json.loads(base64.urlsafe_b64decode(everywhere + "==")) == {
        "v": "meta.k8s.io/v1",
        "rv": -1,
        "start": "/ns/web\0",
    }


def test_a_list_continues_at_its_token():
    options = list_options(f"limit=2&continue={TOKEN}")
    assert (options.limit, options.revision, options.start_after) == (2, 7, ObjectKey("ns", "web"))
    assert list_options(f"resourceVersion=0&continue={TOKEN}").revision == 7


def test_a_continue_token_and_a_revision_exclude_each_other():
    with pytest.raises(BadRequestError, match="specifying resource version is not allowed when using continue"):
        list_options(f"resourceVersion=7&continue={TOKEN}")


NOT_VALID = "invalid continue token: continue key is not valid"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!", NOT_VALID),
        ("€", NOT_VALID),
        ("abc", NOT_VALID),
        ("bm90IGpzb24", NOT_VALID),
        (token(v="meta.k8s.io/v1", rv="7", start="a"), NOT_VALID),
        (token(v="meta.k8s.io/v1", rv=1.5, start="a"), NOT_VALID),
        (token(v="meta.k8s.io/v2", rv=7, start="a"), f"{NOT_VALID}: server does not recognize this encoded version"),
        (token(v="meta.k8s.io/v1", start="a"), f"{NOT_VALID}: incorrect encoded start resourceVersion"),
        (token(v="meta.k8s.io/v1", rv=7), f"{NOT_VALID}: encoded start key empty"),
        (token(v="meta.k8s.io/v1", rv=7, start="../secrets/x"), f"{NOT_VALID}: ../secrets/x"),
        (token(v="meta.k8s.io/v1", rv=7, start="a//b"), f"{NOT_VALID}: a//b"),
        (token(v="meta.k8s.io/v1", rv=7, start="a/"), f"{NOT_VALID}: a/"),
    ],
)
def test_an_invalid_continue_token_is_a_bad_request(text, message):
    with pytest.raises(BadRequestError) as caught:
        read_continue(text, "ns")
    assert caught.value.message.startswith(message)


SEGMENTS = st.text(min_size=1).filter(
    lambda text: (
        text not in (".", "..") and not set("/\0") & set(text) and not any("\ud800" <= c <= "\udfff" for c in text)
    )
)


@given(SEGMENTS, SEGMENTS, st.none() | st.integers(1, 2**63 - 1), st.booleans())
def test_a_written_token_is_read_back_unchanged(namespace, name, revision, everywhere):
    key, listed = ObjectKey(namespace, name), "" if everywhere else namespace
    assert read_continue(write_continue(key, revision, listed), listed) == (revision, key)


TOKEN_BYTES = st.binary() | st.fixed_dictionaries(
    {"v": st.just("meta.k8s.io/v1") | st.text(), "rv": st.integers() | st.text(), "start": st.text() | st.none()}
).map(lambda fields: json.dumps(fields).encode())


@given(st.text() | TOKEN_BYTES.map(lambda data: base64.urlsafe_b64encode(data).decode()), st.sampled_from(["", "ns"]))
def test_any_token_is_read_or_rejected(text, namespace):
    try:
        _, key = read_continue(text, namespace)
    except BadRequestError:
        return
    assert not namespace or key.namespace == namespace


# --- Listing ----------------------------------------------------------------------------------------------------------


def put(storage: Storage, path: str, **labels: str) -> None:
    namespace, _, name = path.partition("/")
    value = json.dumps({"metadata": {"name": name, "labels": labels}}).encode()
    storage.create("/pods", ObjectKey(namespace, name), lambda revision: value)


@pytest.fixture
def storage() -> Storage:
    storage = Storage()
    for path in ("a/1", "a/2", "a/3", "b/1", "b/2"):
        put(storage, path, number=path[-1])
    return storage


def listing(storage: Storage, query: str, path: str = "/api/v1/pods") -> Listing:
    return list_objects(storage, "/pods", list_options(query, path))


def paths(page: Listing) -> list[str]:
    return [str(stored.key) for stored in page.items]


def test_a_list_without_a_limit_is_everything_at_the_current_revision(storage):
    page = listing(storage, "")
    assert paths(page) == ["a/1", "a/2", "a/3", "b/1", "b/2"]
    assert (page.revision, page.continue_token, page.remaining_item_count) == (storage.revision, "", None)
    assert paths(listing(storage, "", "/api/v1/namespaces/b/pods")) == ["b/1", "b/2"]


def test_pages_are_of_one_snapshot_during_writes(storage):
    first = listing(storage, "limit=2")
    assert (paths(first), first.remaining_item_count) == (["a/1", "a/2"], 3)
    put(storage, "a/21")
    second = listing(storage, f"limit=2&continue={first.continue_token}")
    assert (paths(second), second.revision, second.remaining_item_count) == (["a/3", "b/1"], first.revision, 1)
    third = listing(storage, f"limit=2&continue={second.continue_token}")
    assert (paths(third), third.continue_token, third.remaining_item_count) == (["b/2"], "", None)


def test_the_last_page_has_no_continue_token(storage):
    assert listing(storage, "limit=5").continue_token == ""
    assert listing(storage, "limit=4").remaining_item_count == 1


def test_a_page_of_a_selection_has_no_remaining_item_count(storage):
    first = listing(storage, "limit=1&labelSelector=number%3D1")
    assert (paths(first), first.remaining_item_count) == (["a/1"], None)
    second = listing(storage, f"limit=1&labelSelector=number%3D1&continue={first.continue_token}")
    assert paths(second) == ["b/1"]
    third = listing(storage, f"limit=1&labelSelector=number%3D1&continue={second.continue_token}")
    assert (paths(third), third.continue_token) == ([], "")


def test_a_list_of_one_object_has_it_or_is_empty(storage):
    place = "/api/v1/namespaces/a/pods"
    assert paths(listing(storage, "fieldSelector=metadata.name=2", place)) == ["a/2"]
    assert paths(listing(storage, "fieldSelector=metadata.name=9", place)) == []
    assert paths(listing(storage, "fieldSelector=metadata.name=2&labelSelector=number=1", place)) == []
    assert paths(listing(storage, "fieldSelector=metadata.name=2")) == ["a/2", "b/2"]
    exact = f"resourceVersion={storage.revision}&resourceVersionMatch=Exact"
    put(storage, "a/4")
    assert paths(listing(storage, f"fieldSelector=metadata.name=4&{exact}", place)) == []


def test_a_list_at_a_revision_has_the_objects_of_that_revision(storage):
    then = storage.revision
    put(storage, "c/1")
    page = listing(storage, f"resourceVersion={then}&resourceVersionMatch=Exact")
    assert ("c/1" in paths(page), page.revision) == (False, then)
    assert "c/1" in paths(listing(storage, f"resourceVersion={then}"))


@pytest.mark.parametrize("match", ["", "&resourceVersionMatch=Exact", "&limit=1"])
def test_a_list_at_a_future_revision_is_a_timeout(storage, match):
    with pytest.raises(RequestTimeoutError) as caught:
        listing(storage, f"resourceVersion={storage.revision + 5}{match}")
    assert caught.value.resource_version_too_large
    assert caught.value.retry_after == 1


def test_a_compacted_revision_is_expired(storage):
    then = storage.revision
    put(storage, "c/1")
    storage.compact(storage.revision)
    with pytest.raises(ExpiredError) as caught:
        listing(storage, f"resourceVersion={then}&resourceVersionMatch=Exact")
    assert caught.value.message == "The resourceVersion for the provided list is too old."
    assert caught.value.continue_token == ""


@pytest.mark.parametrize("path", ["/api/v1/pods", "/api/v1/namespaces/a/pods"])
def test_an_expired_page_has_a_token_that_continues_without_the_snapshot(storage, path):
    first = listing(storage, "limit=1", path)
    put(storage, "a/11")
    storage.compact(storage.revision)
    with pytest.raises(ExpiredError, match="The provided continue parameter is too old") as caught:
        listing(storage, f"continue={first.continue_token}", path)
    rest = listing(storage, f"limit=1&continue={caught.value.continue_token}", path)
    assert (paths(rest), rest.revision) == (["a/11"], storage.revision)
    assert paths(listing(storage, f"limit=1&continue={rest.continue_token}", path)) == ["a/2"]


@given(
    st.dictionaries(
        st.sampled_from(
            ["resourceVersion", "resourceVersionMatch", "continue", "limit", "sendInitialEvents", "allowWatchBookmarks",
             "timeoutSeconds", "labelSelector", "fieldSelector"]
        ),
        st.sampled_from(["", "0", "1", "-1", "true", "Exact", "NotOlderThan", TOKEN, "metadata.name=x"])
        | st.text(max_size=5),
    )
)  # fmt: skip
def test_any_options_are_read_or_rejected(query):
    storage, pods = Storage(), REGISTRY.lookup("", "v1", "pods")
    assert pods
    request = APIRequest("list", pods, query=Query({name: [value] for name, value in query.items()}))
    for read in (read_list_options, read_watch_options):
        try:
            options = read(request, REGISTRY)
            if isinstance(options, ListOptions):
                list_objects(storage, "/pods", options)
        except APIError:
            continue
