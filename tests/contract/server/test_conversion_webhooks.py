"""Conversion webhooks, which the test serves over HTTPS: v1, which is stored, has a `length`, and v2 a `size`."""

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.definitions import DEFINITIONS, Widgets, spec_of, version, wait_until
from tests.contract.server.https_hooks import HTTPSHooks

Tree = dict[str, Any]
NUMBER = {"type": "integer"}


def converted(tree: Tree, api_version: str) -> Tree:
    """The response of a correct webhook."""
    names = ("length", "size") if api_version.endswith("/v2") else ("size", "length")
    spec = {**tree.get("spec", {})}
    if names[0] in spec:
        spec[names[1]] = spec.pop(names[0])
    return {**tree, "apiVersion": api_version, "spec": spec}


class Converter:
    """A webhook that responds correctly unless a test sets `answer`."""

    def __init__(self, folder: Path) -> None:
        self.requests: list[Tree] = []
        self.answer: Callable[[Tree], Any] | None = None
        self._hooks = HTTPSHooks(self._respond, folder)
        self.conversion = {
            "strategy": "Webhook",
            "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": self._hooks.client_config},
        }
        self.close = self._hooks.close

    def _respond(self, review: Tree) -> Any:
        request = review["request"]
        self.requests.append(request)
        return self.answer(request) if self.answer else self.response(request)

    def response(self, request: Tree, **changes: Any) -> Tree:
        objects = [converted(each, request["desiredAPIVersion"]) for each in request["objects"]]
        response = {"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}, **changes}
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}

    def changed(self, change: Callable[[Tree], object]) -> Callable[[Tree], Tree]:
        """Return an answer whose objects a function has changed."""

        def answer(request: Tree) -> Tree:
            found = self.response(request)
            for each in found["response"]["convertedObjects"]:
                change(each)
            return found

        return answer


@pytest.fixture
def converter(tmp_path: Path) -> Iterator[Converter]:
    found = Converter(tmp_path)
    yield found
    found.close()


@pytest.fixture
def widgets(api: API, converter: Converter) -> Iterator[Widgets]:
    found = Widgets(api, f"g{secrets.token_hex(4)}.example.com")
    versions = [
        version("v1", spec_of(length=NUMBER, color={"type": "string"})),
        version(
            "v2",
            spec_of(size=NUMBER, color={"type": "string"}),
            storage=False,
            selectableFields=[{"jsonPath": ".spec.size"}],
        ),
    ]
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": found.group, "scope": "Namespaced", "names": names, "versions": versions}
    defined = {"metadata": {"name": f"widgets.{found.group}"}, "spec": {**spec, "conversion": converter.conversion}}
    api.post(DEFINITIONS, defined).ok(201)
    found.wait_until_served("v1", "v2")
    wait_until(found.established)
    yield found
    converter.answer = None
    found.remove()


def test_an_object_is_read_in_the_requested_version(widgets: Widgets, api: API, converter: Converter):
    made = widgets.create("a", spec={"length": 3}, metadata={"labels": {"a": "b"}})
    assert made["spec"] == {"length": 3}
    read = api.get(widgets.path("a", version="v2")).ok()
    assert read["apiVersion"] == f"{widgets.group}/v2"
    assert read["spec"] == {"size": 3}
    same = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation", "labels")
    assert {name: read["metadata"][name] for name in same} == {name: made["metadata"][name] for name in same}
    request = next(each for each in converter.requests if each["objects"])
    assert request["desiredAPIVersion"] == f"{widgets.group}/v2"
    assert request["objects"][0]["spec"] == {"length": 3}


def test_an_object_is_written_in_another_version_than_it_is_stored_in(widgets: Widgets, api: API):
    made = widgets.create("a", version="v2", spec={"size": 3, "color": "red"})
    assert made["spec"] == {"size": 3, "color": "red"}
    assert api.get(widgets.path("a")).ok()["spec"] == {"length": 3, "color": "red"}
    made["spec"]["size"] = 4
    updated = api.put(widgets.path("a", version="v2"), made).ok()
    assert updated["spec"] == {"size": 4, "color": "red"}
    assert updated["metadata"]["generation"] == 2
    patched = api.patch(widgets.path("a", version="v2"), {"spec": {"size": 5}}).ok()
    assert patched["spec"] == {"size": 5, "color": "red"}
    assert api.get(widgets.path("a")).ok()["spec"] == {"length": 5, "color": "red"}
    same = api.put(widgets.path("a", version="v2"), patched).ok()
    assert same["metadata"]["resourceVersion"] == patched["metadata"]["resourceVersion"]


def test_an_object_is_validated_by_the_schema_of_the_requested_version(widgets: Widgets, api: API):
    refused = api.post(widgets.path(version="v2"), widgets.body("a", version="v2", spec={"size": "x"}))
    assert refused.failed(422, "Invalid")["details"]["causes"][0]["field"] == "spec.size"


def test_fields_of_no_schema_are_pruned_after_the_conversion(widgets: Widgets, api: API, converter: Converter):
    widgets.create("a", spec={"length": 3})
    converter.answer = converter.changed(lambda tree: tree["spec"].update(unknown=1))
    assert api.get(widgets.path("a", version="v2")).ok()["spec"] == {"size": 3}


def test_lists_are_converted(widgets: Widgets, api: API):
    for index, name in enumerate("abc"):
        widgets.create(name, version=("v1", "v2")[index % 2], spec={("length", "size")[index % 2]: index})
    found = api.list(widgets.path(version="v2"))
    assert found["apiVersion"] == f"{widgets.group}/v2"
    assert [each["spec"] for each in found["items"]] == [{"size": 0}, {"size": 1}, {"size": 2}]
    assert {each["apiVersion"] for each in found["items"]} == {f"{widgets.group}/v2"}


def test_objects_are_selected_by_the_fields_of_the_requested_version(widgets: Widgets, api: API):
    widgets.create("a", spec={"length": 1})
    widgets.create("b", spec={"length": 2})
    assert api.names(widgets.path(version="v2"), fieldSelector="spec.size=2") == ["b"]
    with api.watch(widgets.path(version="v2"), fieldSelector="spec.size=2") as watch:
        assert watch.next()[1]["spec"] == {"size": 2}
        widgets.create("c", spec={"length": 1})
        widgets.create("d", spec={"length": 2})
        assert watch.take(1) == [("ADDED", "d")]


def test_watches_are_converted(widgets: Widgets, api: API):
    widgets.create("a", spec={"length": 1})
    with api.watch(widgets.path(version="v2")) as watch:
        assert watch.next()[1]["spec"] == {"size": 1}
        widgets.create("b", spec={"length": 2})
        type_, found = watch.next()
        assert (type_, found["apiVersion"], found["spec"]) == ("ADDED", f"{widgets.group}/v2", {"size": 2})
        api.delete(widgets.path("b")).ok()
        type_, found = watch.next()
        assert (type_, found["apiVersion"], found["spec"]) == ("DELETED", f"{widgets.group}/v2", {"size": 2})


def test_server_side_apply_and_deletion_in_another_version(widgets: Widgets, api: API):
    widgets.create("a", spec={"color": "red"})
    body = json.dumps(widgets.body("a", version="v2", spec={"size": 7})).encode()
    path = f"{widgets.path('a', version='v2')}"
    applied = api.request(
        "PATCH", path, body, headers={"Content-Type": "application/apply-patch+yaml"}, fieldManager="me"
    )
    assert applied.ok()["spec"] == {"size": 7, "color": "red"}
    api.patch(widgets.path("a"), {"metadata": {"finalizers": ["example.com/wait"]}}).ok()
    marked = api.delete(path).ok()
    assert marked["apiVersion"] == f"{widgets.group}/v2"
    assert marked["spec"] == {"size": 7, "color": "red"}
    api.patch(path, {"metadata": {"finalizers": None}}).ok()
    assert api.get(path).status == 404


def test_an_update_without_a_change_migrates_the_stored_version(widgets: Widgets, api: API):
    before = widgets.create("a", spec={"length": 1})

    def store_v2(spec: Tree) -> None:
        for each in spec["versions"]:
            each["storage"] = each["name"] == "v2"

    widgets.redefine(store_v2, "v1", "v2")

    def migrated() -> bool:
        # A real server applies the change of the definition a moment later.
        after = api.put(widgets.path("a"), api.get(widgets.path("a")).ok()).ok()
        return after["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]

    wait_until(migrated)
    last = api.get(widgets.path("a")).ok()
    assert api.put(widgets.path("a"), last).ok()["metadata"]["resourceVersion"] == last["metadata"]["resourceVersion"]


def test_labels_may_be_converted_and_other_metadata_may_not(widgets: Widgets, api: API, converter: Converter):
    made = widgets.create("a", metadata={"labels": {"old": "1"}, "finalizers": ["example.com/wait"]})

    def change(tree: Tree) -> None:
        tree["metadata"].update(labels={"new": "1"}, annotations={"b": "2"}, finalizers=[], generation=100)

    converter.answer = converter.changed(change)
    metadata = api.get(widgets.path("a", version="v2")).ok()["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"new": "1"}, {"b": "2"})
    assert (metadata["finalizers"], metadata["generation"]) == (["example.com/wait"], 1)
    assert metadata["resourceVersion"] == made["metadata"]["resourceVersion"]
    converter.answer = None
    api.patch(widgets.path("a"), {"metadata": {"finalizers": None}}).ok()


LIES: dict[str, tuple[Callable[[Converter, Tree], Any], str]] = {
    "no review": (lambda *_: b"{}", "failed: "),
    "garbage": (lambda *_: b"<html>", "failed: "),
    "no response": (
        lambda hook, request: {**hook.response(request), "response": None},
        "failed: no response provided",
    ),
    "another uid": (lambda hook, request: hook.response(request, uid="other"), "failed: expected response.uid="),
    "a failure": (
        lambda hook, request: hook.response(request, result={"status": "Failure", "message": "not today"}),
        "failed: not today",
    ),
    "no status": (
        lambda hook, request: hook.response(request, result={}),
        "failed: response.result.status was '', not 'Success'",
    ),
    "no objects": (lambda hook, request: hook.response(request, convertedObjects=[]), "returned 0 objects, expected 1"),
    "the old version": (
        lambda hook, request: hook.response(request, convertedObjects=request["objects"]),
        "returned invalid object at index 0: invalid groupVersion (expected {group}/v2, received {group}/v1)",
    ),
    "another kind": (
        lambda hook, request: hook.changed(lambda tree: tree.update(kind="Other"))(request),
        "returned invalid object at index 0: invalid kind (expected Widget, received Other)",
    ),
    "another name": (
        lambda hook, request: hook.changed(lambda tree: tree["metadata"].update(name="z"))(request),
        "returned invalid object: must have the same name: a != z",
    ),
    "a changed uid": (
        lambda hook, request: hook.changed(lambda tree: tree["metadata"].update(uid="z"))(request),
        "returned invalid object: must have the same UID: {uid} != z",
    ),
    "no metadata": (
        lambda hook, request: hook.changed(lambda tree: tree.pop("metadata"))(request),
        "returned invalid object: must have the same name: a != ",
    ),
    "an invalid label": (
        lambda hook, request: hook.changed(lambda tree: tree["metadata"].update(labels={"a b": "c"}))(request),
        'returned invalid metadata: metadata.labels: Invalid value: "a b": ',
    ),
    "a label that is a number": (
        lambda hook, request: hook.changed(lambda tree: tree["metadata"].update(labels={"a": 1}))(request),
        "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
    ),
    "labels that are a list": (
        lambda hook, request: hook.changed(lambda tree: tree["metadata"].update(annotations=[]))(request),
        "returned invalid metadata: invalid metadata.annotations of type []interface {{}} in converted object",
    ),
}


def test_bad_responses_fail_reads_with_the_reason(widgets: Widgets, api: API, converter: Converter):
    made = widgets.create("a", spec={"length": 1})
    prefix = f"conversion webhook for {widgets.group}/v1, Kind=Widget "
    problems = {}
    for name, (answer, _) in LIES.items():
        converter.answer = lambda request, answer=answer: answer(converter, request)
        status = api.get(widgets.path("a", version="v2")).failed(500, "")
        problems[name] = status["message"].removeprefix(prefix)
    expected = {name: text.format(group=widgets.group, uid=made["metadata"]["uid"]) for name, (_, text) in LIES.items()}
    wrong = {name: (problems[name], text) for name, text in expected.items() if not problems[name].startswith(text)}
    assert wrong == {}


def test_a_failed_conversion_fails_writes_and_stores_nothing(widgets: Widgets, api: API, converter: Converter):
    converter.answer = lambda _: b"garbage"
    failed = api.post(widgets.path(version="v2"), widgets.body("a", version="v2", spec={"size": 1}))
    assert f"conversion webhook for {widgets.group}/v2, Kind=Widget failed: " in failed.failed(500, "")["message"]
    converter.answer = None
    assert api.get(widgets.path("a")).status == 404
    widgets.create("a", spec={"length": 1})
    converter.answer = lambda _: b"garbage"
    assert api.delete(widgets.path("a", version="v2")).status == 500
    assert api.get(widgets.path("a")).ok()["spec"] == {"length": 1}


def test_a_definition_with_a_bad_conversion_is_refused(api: API):
    group = f"g{secrets.token_hex(4)}.example.com"
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version()]}

    def fields(conversion: Tree) -> set[tuple[str, str]]:
        tree = {"metadata": {"name": f"widgets.{group}"}, "spec": {**spec, "conversion": conversion}}
        status = api.post(f"{DEFINITIONS}?dryRun=All", tree).failed(422, "Invalid")
        return {(cause["field"], cause["message"]) for cause in status["details"]["causes"]}

    path = "spec.conversion.webhookClientConfig"
    versions = "spec.conversion.conversionReviewVersions"
    url = {"url": "https://127.0.0.1/x"}
    assert fields({"strategy": "Webhook"}) == {
        (path, "Required value: required when strategy is set to Webhook"),
        (versions, "Required value"),
    }
    assert fields({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {}}}) == {
        (path, "Required value: exactly one of url or service is required")
    }
    plain = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v7"], "clientConfig": {"url": "http://x"}},
    }
    assert fields(plain) == {
        (
            f"{path}.url",
            "Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
        ),
        (versions, 'Invalid value: ["v7"]: must include at least one of v1, v1beta1'),
    }
    unused = {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": url}}
    assert fields(unused) == {
        (path, "Forbidden: should not be set when strategy is not set to Webhook"),
        (versions, "Forbidden: should not be set when strategy is not set to Webhook"),
    }
