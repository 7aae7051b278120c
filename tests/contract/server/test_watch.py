import gzip
import json
from contextlib import AbstractContextManager

import pytest
from tests.contract.server.api import API, Tree, Watch, causes
from tests.contract.server.samples import create_event
from tests.contract.target import Target

PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
END = "k8s.io/initial-events-end"
FUTURE = 10**12


def version(tree: Tree) -> str:
    return tree["metadata"]["resourceVersion"]


def now(api: API, plural: str = "configmaps") -> str:
    """The current version, from a list."""
    return version(api.list(api.path(plural)))


# --- from where -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
def test_a_watch_without_a_version_starts_with_the_existing_objects(api: API, query: dict[str, str]):
    for name in "ab":
        api.create("configmaps", name)
    with api.watch(api.path("configmaps"), **query) as watch:
        assert watch.status == 200
        assert watch.headers.get_content_type() == "application/json"
        assert watch.headers["Cache-Control"] == "no-cache, private"
        assert sorted(watch.take(2)) == [("ADDED", "a"), ("ADDED", "b")]
        api.create("configmaps", "c")
        assert watch.take(1) == [("ADDED", "c")]


def test_an_event_has_the_same_object_as_a_get(api: API):
    created = api.create("configmaps", "a", data={"x": "ä\n"})
    with api.watch(api.path("configmaps")) as watch:
        assert watch.next() == ("ADDED", created)


def test_a_watch_from_a_version_sends_later_events_in_order(api: API):
    api.create("configmaps", "before")
    start = now(api)
    path = api.path("configmaps", "a")
    states = [
        api.create("configmaps", "a", data={"x": "1"}),
        api.patch(path, {"data": {"x": "2"}}).ok(),
        api.patch(path, {"data": {"x": "3"}}).ok(),
    ]
    api.delete(path).ok()
    with api.watch(api.path("configmaps"), resourceVersion=start) as watch:
        events = [watch.next() for _ in range(4)]
    assert [type_ for type_, _ in events] == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]
    assert [found for _, found in events[:3]] == states
    versions = [int(version(found)) for _, found in events]
    assert versions == sorted(set(versions))


def test_a_deletion_event_has_its_own_resource_version(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    with api.watch(api.path("configmaps"), resourceVersion=version(created)) as watch:
        api.delete(api.path("configmaps", "a")).ok()
        type_, last = watch.next()
    assert type_ == "DELETED"
    assert last["data"] == {"x": "1"}
    assert int(version(last)) > int(version(created))


def test_a_watch_sends_new_events(api: API):
    with api.watch(api.path("configmaps"), resourceVersion=now(api)) as watch:
        for name in "abc":
            api.create("configmaps", name)
            assert watch.take(1) == [("ADDED", name)]


def test_a_watch_of_a_namespace_sends_no_events_of_others(api: API):
    start = now(api)
    api.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": api.namespace}}).ok(201)
    api.create("configmaps", "end")
    with api.watch(api.path("configmaps"), resourceVersion=start) as watch:
        assert watch.take(1) == [("ADDED", "end")]
    with api.watch("/api/v1/configmaps", resourceVersion=start) as watch:
        assert watch.take(2) == [("ADDED", api.namespace), ("ADDED", "end")]
    api.delete(f"/api/v1/namespaces/default/configmaps/{api.namespace}").ok()


def test_a_write_that_changes_nothing_causes_no_event(api: API):
    created = api.create("configmaps", "a")
    with api.watch(api.path("configmaps"), resourceVersion=version(created)) as watch:
        api.put(api.path("configmaps", "a"), created).ok()
        api.patch(api.path("configmaps", "a"), {}).ok()
        api.post(api.path("configmaps"), {"metadata": {"name": "dry"}}, dryRun="All").ok(201)
        api.create("configmaps", "end")
        assert watch.until("end") == []


def test_a_version_that_is_too_old_ends_the_watch_with_an_error(api: API, target: Target):
    start = version(create_event(api, "a"))
    api.delete(api.path("events", "a")).ok()
    create_event(api, "b")
    target.forget_history()
    with api.watch(api.path("events"), resourceVersion=start) as watch:
        assert watch.status == 200
        events = list(watch)
    [(type_, status)] = events
    assert type_ == "ERROR"
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert "too old" in status["message"]


def test_a_watch_from_a_future_version_waits(api: API):
    with api.watch(api.path("configmaps"), resourceVersion=FUTURE, timeoutSeconds=1) as watch:
        assert watch.status == 200
        api.create("configmaps", "a")
        assert list(watch) == []


@pytest.mark.parametrize("bad", ["-1", "abc", "1.5"])
def test_a_watch_from_an_invalid_version_is_rejected(api: API, bad: str):
    with api.watch(api.path("configmaps"), resourceVersion=bad) as watch:
        response = watch.read()
    assert (response.status, response.json["kind"]) == (500, "Status")
    assert "resourceVersion" in response.json["message"]


def test_watches_by_the_deprecated_path_are_supported(api: API):
    api.create("configmaps", "a")
    path = f"/api/v1/watch/namespaces/{api.namespace}/configmaps"
    with api.watch(path, timeoutSeconds=5) as watch:
        assert watch.take(1) == [("ADDED", "a")]


# --- the beginning and its end ----------------------------------------------------------------------------------------


def begin(api: API, **query: object) -> AbstractContextManager[Watch]:
    options = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    return api.watch(api.path("configmaps"), **{**options, **query})


def initial(watch: Watch) -> tuple[list[str], Tree]:
    """The names of the initial events, and the bookmark after them."""
    seen = []
    while (event := watch.next())[0] == "ADDED":
        seen.append(event[1]["metadata"]["name"])
    assert event[0] == "BOOKMARK"
    return seen, event[1]


@pytest.mark.parametrize("start", ["", "0"])
def test_a_watch_marks_the_end_of_its_initial_events(api: API, start: str):
    newest = [version(api.create("configmaps", name)) for name in "ba"][-1]
    with begin(api, resourceVersion=start) as watch:
        seen, bookmark = initial(watch)
        assert sorted(seen) == ["a", "b"]
        assert bookmark["metadata"]["annotations"] == {END: "true"}
        assert (bookmark["kind"], bookmark["apiVersion"]) == ("ConfigMap", "v1")
        assert int(version(bookmark)) >= int(newest)
        api.create("configmaps", "c")
        assert watch.take(1) == [("ADDED", "c")]


def test_a_watch_of_an_empty_collection_marks_the_end_of_its_initial_events_at_once(api: API):
    with begin(api) as watch:
        seen, bookmark = initial(watch)
        assert seen == []
        assert bookmark["metadata"].keys() == {"resourceVersion", "annotations"}


def test_initial_events_are_not_older_than_requested(api: API):
    created = api.create("configmaps", "a")
    with begin(api, resourceVersion=version(created)) as watch:
        seen, bookmark = initial(watch)
    assert seen == ["a"]
    assert int(version(bookmark)) >= int(version(created))


def test_without_bookmarks_the_end_of_the_initial_events_is_not_marked(api: API):
    api.create("configmaps", "a")
    with begin(api, allowWatchBookmarks="false") as watch:
        assert watch.take(1) == [("ADDED", "a")]
        api.create("configmaps", "b")
        assert watch.take(1) == [("ADDED", "b")]


def test_a_watch_may_omit_the_initial_events(api: API):
    api.create("configmaps", "a")
    query = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    with api.watch(api.path("configmaps"), resourceVersion="", **query) as watch:
        api.create("configmaps", "b")
        assert watch.take(1) == [("ADDED", "b")]


def test_initial_events_are_of_selected_objects_only(api: API):
    api.create("configmaps", "a", metadata={"labels": {"app": "web"}})
    api.create("configmaps", "b")
    with begin(api, labelSelector="app=web") as watch:
        assert initial(watch)[0] == ["a"]


def test_initial_events_of_a_future_version_time_out_in_the_stream(api: API):
    with begin(api, resourceVersion=FUTURE) as watch:
        [(type_, status)] = list(watch)
    assert (type_, status["code"], status["reason"]) == ("ERROR", 504, "Timeout")
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"sendInitialEvents": "true"}, ("FieldValueForbidden", "resourceVersionMatch")),
        ({"resourceVersionMatch": "NotOlderThan"}, ("FieldValueForbidden", "resourceVersionMatch")),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
            ("FieldValueNotSupported", "resourceVersionMatch"),
        ),
    ],
)
def test_invalid_combinations_of_initial_events_options_are_rejected(
    api: API, query: dict[str, str], found: tuple[str, str]
):
    with api.watch(api.path("configmaps"), **query) as watch:
        status = watch.read().failed(422, "Invalid")
    assert found in causes(status)
    assert status["details"]["kind"] == "ListOptions"


def test_send_initial_events_is_rejected_for_a_list(api: API):
    response = api.get(api.path("configmaps"), sendInitialEvents="true", resourceVersionMatch="NotOlderThan")
    assert ("FieldValueForbidden", "sendInitialEvents") in causes(response.failed(422, "Invalid"))


def test_initial_events_may_be_compressed_piece_by_piece(api: API):
    for name in "ab":
        api.create("configmaps", name)
    headers = {"Accept-Encoding": "gzip"}
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with api.watch(api.path("configmaps"), headers=headers, timeoutSeconds=1, **query) as watch:
        response = watch.read()
    body = gzip.decompress(response.body) if response.headers["Content-Encoding"] == "gzip" else response.body
    events = [json.loads(line) for line in body.splitlines()]
    assert [event["type"] for event in events][:3] == ["ADDED", "ADDED", "BOOKMARK"]


# --- bookmarks and the end --------------------------------------------------------------------------------------------


def test_a_watch_ends_after_its_timeout_with_a_bookmark_if_requested(api: API):
    path, start = api.path("configmaps"), now(api)
    with (
        api.watch(path, resourceVersion=start, timeoutSeconds=3, allowWatchBookmarks="true") as marked,
        api.watch(path, resourceVersion=start, timeoutSeconds=3) as plain,
    ):
        created = api.create("configmaps", "a")
        assert marked.next() == ("ADDED", created)
        bookmarks = list(marked)
        assert list(plain) == [("ADDED", created)]
    assert {type_ for type_, _ in bookmarks} == {"BOOKMARK"}
    last = bookmarks[-1][1]
    assert (last["kind"], last["apiVersion"]) == ("ConfigMap", "v1")
    assert int(version(last)) >= int(version(created))
    assert END not in last["metadata"].get("annotations", {})


def test_an_invalid_timeout_is_rejected(api: API):
    with api.watch(api.path("configmaps"), timeoutSeconds="soon") as watch:
        watch.read().failed(400, "BadRequest")


# --- selections -------------------------------------------------------------------------------------------------------


def test_entering_a_selection_is_added_and_leaving_it_is_deleted(api: API):
    start = now(api)
    path = api.path("configmaps", "a")
    api.create("configmaps", "a", data={"x": "out"})
    api.patch(path, {"metadata": {"labels": {"app": "web"}}, "data": {"x": "in"}}).ok()
    api.patch(path, {"data": {"x": "still in"}}).ok()
    left = api.patch(path, {"metadata": {"labels": None}, "data": {"x": "out again"}}).ok()
    api.patch(path, {"data": {"x": "unseen"}}).ok()
    api.delete(path).ok()
    api.create("configmaps", "end", metadata={"labels": {"app": "web"}})
    with api.watch(api.path("configmaps"), resourceVersion=start, labelSelector="app=web") as watch:
        events = [watch.next() for _ in range(4)]
    assert [(type_, found["metadata"]["name"]) for type_, found in events] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("ADDED", "end"),
    ]
    gone = events[2][1]
    assert gone["data"] == {"x": "still in"}
    assert version(gone) == version(left)


def test_a_changed_field_enters_and_leaves_a_selection_too(api: API):
    start = now(api, "pods")
    spec = {"containers": [{"name": "web", "image": "web:1"}]}
    api.create("pods", "a", spec=spec)
    path = api.path("pods", "a", "status")
    api.patch(path, {"status": {"phase": "Running"}}).ok()
    api.patch(path, {"status": {"phase": "Succeeded"}}).ok()
    with api.watch(api.path("pods"), resourceVersion=start, fieldSelector="status.phase=Running") as watch:
        assert watch.take(2) == [("ADDED", "a"), ("DELETED", "a")]


def test_one_object_is_watched_by_its_name(api: API):
    start = now(api)
    for name in "abc":
        api.create("configmaps", name)
    api.delete(api.path("configmaps", "b")).ok()
    with api.watch(api.path("configmaps"), resourceVersion=start, fieldSelector="metadata.name=b") as watch:
        assert watch.take(2) == [("ADDED", "b"), ("DELETED", "b")]


def test_an_invalid_selector_is_rejected_before_the_stream(api: API):
    with api.watch(api.path("configmaps"), labelSelector="a in (") as watch:
        watch.read().failed(400, "BadRequest")
    with api.watch(api.path("configmaps"), fieldSelector="data.x=1") as watch:
        watch.read().failed(400, "BadRequest")


# --- other forms ------------------------------------------------------------------------------------------------------


def test_a_watch_of_metadata_sends_metadata_only(api: API):
    created = api.create("configmaps", "a", data={"x": "1"})
    with api.watch(api.path("configmaps"), headers={"Accept": PARTIAL}) as watch:
        assert watch.headers.get_content_type() == "application/json"
        type_, found = watch.next()
        assert type_ == "ADDED"
        assert found == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": created["metadata"],
        }
        api.delete(api.path("configmaps", "a")).ok()
        type_, found = watch.next()
        assert (type_, found["kind"]) == ("DELETED", "PartialObjectMetadata")


def test_the_bookmarks_of_a_watch_of_metadata_are_metadata(api: API):
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with api.watch(api.path("configmaps"), headers={"Accept": PARTIAL}, **query) as watch:
        type_, found = watch.next()
    assert type_ == "BOOKMARK"
    assert found["kind"] == "PartialObjectMetadata"
    assert found["metadata"]["annotations"] == {END: "true"}


def test_many_watches_receive_the_same_events(api: API):
    start = now(api)
    with (
        api.watch(api.path("configmaps"), resourceVersion=start) as first,
        api.watch(api.path("configmaps"), resourceVersion=start) as second,
    ):
        for name in "abc":
            api.create("configmaps", name)
        assert first.take(3) == second.take(3) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
