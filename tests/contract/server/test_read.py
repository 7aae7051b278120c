"""GET of an object, and lists: versions, pages, selectors."""

import base64
import json
from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, Tree, causes
from tests.contract.server.samples import create_event
from tests.contract.target import Target

FUTURE = 10**12


def test_a_missing_object_is_not_found(api: API):
    status = api.get(api.path("configmaps", "nothing")).failed(404, "NotFound")
    assert status["message"] == 'configmaps "nothing" not found'
    assert status["details"] == {"name": "nothing", "kind": "configmaps"}


def test_a_resource_that_is_not_served_is_not_found(api: API):
    status = api.get(api.path("gadgets", "a")).failed(404, "NotFound")
    assert status["message"] == "the server could not find the requested resource"
    assert status["details"] == {}


def test_a_list_has_its_kind_and_its_items_do_not_repeat_theirs(api: API):
    created = api.create("configmaps", "a", data={"key": "value"})
    listed = api.get(api.path("configmaps")).ok()
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    del created["kind"], created["apiVersion"]
    assert listed["items"] == [created]
    assert int(listed["metadata"]["resourceVersion"]) >= int(created["metadata"]["resourceVersion"])


def test_an_empty_list_has_a_version_and_no_items(api: API):
    listed = api.get(api.path("secrets")).ok()
    assert listed["items"] == []
    assert int(listed["metadata"]["resourceVersion"]) > 0


def test_a_list_is_in_the_order_of_names_and_of_this_namespace(api: API):
    for name in ("b", "a-1", "c", "a.b", "a"):
        api.create("configmaps", name)
    assert api.names(api.path("configmaps")) == ["a", "a-1", "a.b", "b", "c"]


def test_a_list_of_all_namespaces_has_the_objects_of_each(api: API):
    api.create("configmaps", "a", metadata={"labels": {"case": api.namespace}})
    listed = api.list("/api/v1/configmaps", labelSelector=f"case={api.namespace}")
    assert [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in listed["items"]] == [
        (api.namespace, "a")
    ]


def test_a_list_in_a_missing_namespace_is_empty(api: API):
    assert api.list("/api/v1/namespaces/nowhere/configmaps")["items"] == []


# --- versions ---------------------------------------------------------------------------------------------------------


def test_a_get_at_a_version_is_at_least_as_new(api: API):
    created = api.create("configmaps", "a")
    path = api.path("configmaps", "a")
    for version in ("", "0", created["metadata"]["resourceVersion"]):
        assert api.get(path, resourceVersion=version).ok() == created


@pytest.mark.parametrize("name", ["", "a"])
def test_a_future_version_times_out_with_a_retry_delay(api: API, name: str):
    api.create("configmaps", "a")
    response = api.get(api.path("configmaps", name), resourceVersion=FUTURE)
    status = response.failed(504, "Timeout")
    assert status["message"].startswith(f"Timeout: Too large resource version: {FUTURE}, current: ")
    assert status["details"]["causes"] == [
        {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    ]
    assert status["details"]["retryAfterSeconds"] == 1
    assert response.headers["Retry-After"] == "1"


def test_a_list_at_an_exact_version_has_the_objects_of_that_version(api: API):
    first = api.create("configmaps", "a", data={"n": "1"})
    version = api.create("configmaps", "b")["metadata"]["resourceVersion"]
    api.patch(api.path("configmaps", "a"), {"data": {"n": "2"}}).ok()
    api.delete(api.path("configmaps", "b")).ok()
    api.create("configmaps", "c")
    then = api.list(api.path("configmaps"), resourceVersion=version, resourceVersionMatch="Exact")
    assert [item["metadata"]["name"] for item in then["items"]] == ["a", "b"]
    assert then["items"][0]["data"] == first["data"]
    assert then["metadata"]["resourceVersion"] == version
    assert api.names(api.path("configmaps")) == ["a", "c"]


def test_a_list_not_older_than_a_version_is_at_least_as_new(api: API):
    api.create("configmaps", "a")
    version = api.create("configmaps", "b")["metadata"]["resourceVersion"]
    for match in ({}, {"resourceVersionMatch": "NotOlderThan"}):
        listed = api.list(api.path("configmaps"), resourceVersion=version, **match)
        assert int(listed["metadata"]["resourceVersion"]) >= int(version)
        assert len(listed["items"]) == 2


def test_a_list_at_version_zero_may_have_any_version(api: API):
    listed = api.list(api.path("configmaps"), resourceVersion="0", resourceVersionMatch="NotOlderThan")
    assert listed["kind"] == "ConfigMapList"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"resourceVersionMatch": "Exact"}, "FieldValueForbidden"),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, "FieldValueForbidden"),
        ({"resourceVersionMatch": "Nearly", "resourceVersion": "1"}, "FieldValueNotSupported"),
        ({"resourceVersionMatch": "NotOlderThan", "continue": "abc"}, "FieldValueForbidden"),
    ],
)
def test_invalid_combinations_of_resource_version_match_are_rejected(api: API, query: dict[str, str], reason: str):
    status = api.get(api.path("configmaps"), **query).failed(422, "Invalid")
    assert (reason, "resourceVersionMatch") in causes(status)
    assert (status["details"]["group"], status["details"]["kind"]) == ("meta.k8s.io", "ListOptions")


@pytest.mark.parametrize("version", ["-1", "abc", "1.5", "99999999999999999999999"])
def test_a_list_at_an_invalid_version_is_rejected(api: API, version: str):
    status = api.get(api.path("configmaps"), resourceVersion=version).failed(400, "BadRequest")
    assert status["message"].startswith("invalid resource version: ")


# --- pages ------------------------------------------------------------------------------------------------------------


def pages(api: API, path: str, limit: int, **query: object) -> Iterator[Tree]:
    page = api.list(path, limit=limit, **query)
    yield page
    while token := page["metadata"].get("continue"):
        page = api.list(path, limit=limit, **{**query, "continue": token})
        yield page


def names(page: Tree) -> list[str]:
    return [item["metadata"]["name"] for item in page["items"]]


def test_the_pages_of_a_list_have_one_version_during_writes(api: API):
    for name in "abcde":
        api.create("configmaps", name)
    seen, versions, remaining = [], set(), []
    for page in pages(api, api.path("configmaps"), 2):
        seen.append(names(page))
        versions.add(page["metadata"]["resourceVersion"])
        remaining.append(page["metadata"].get("remainingItemCount"))
        api.create("configmaps", f"z{len(seen)}")
        api.delete(api.path("configmaps", "abcde"[-len(seen)])).ok()
    assert seen == [["a", "b"], ["c", "d"], ["e"]]
    assert len(versions) == 1
    assert remaining == [3, 1, None]


def test_the_last_page_has_no_token_even_if_it_is_full(api: API):
    for name in "ab":
        api.create("configmaps", name)
    assert "continue" not in api.list(api.path("configmaps"), limit=2)["metadata"]


def test_pages_of_a_selection_are_full_and_have_no_remaining_item_count(api: API):
    for number in range(6):
        api.create("configmaps", f"c{number}", metadata={"labels": {"odd": str(number % 2)}})
    found = list(pages(api, api.path("configmaps"), 2, labelSelector="odd=1"))
    assert [name for page in found for name in names(page)] == ["c1", "c3", "c5"]
    assert names(found[0]) == ["c1", "c3"]
    assert not any("remainingItemCount" in page["metadata"] for page in found)


def test_a_list_of_any_version_has_no_pages(api: API):
    for name in "abc":
        api.create("configmaps", name)
    expected = api.names(api.path("configmaps"))
    page = api.list(api.path("configmaps"), limit=1, resourceVersion="0")
    # The cache of a real server may not have seen the last of them.
    assert {each["metadata"]["name"] for each in page["items"]} <= {*expected}
    assert "continue" not in page["metadata"]


def test_a_token_continues_with_another_limit_too(api: API):
    for name in "abcd":
        api.create("configmaps", name)
    token = api.list(api.path("configmaps"), limit=1)["metadata"]["continue"]
    assert api.names(api.path("configmaps"), **{"continue": token}) == ["b", "c", "d"]


def test_a_page_at_a_version_has_that_version(api: API):
    api.create("configmaps", "a")
    version = api.create("configmaps", "b")["metadata"]["resourceVersion"]
    api.create("configmaps", "c")
    page = api.list(api.path("configmaps"), limit=1, resourceVersion=version)
    assert page["metadata"]["resourceVersion"] == version
    assert page["metadata"]["remainingItemCount"] == 1


def test_a_continue_token_and_a_version_exclude_each_other(api: API):
    for name in "ab":
        api.create("configmaps", name)
    token = api.list(api.path("configmaps"), limit=1)["metadata"]["continue"]
    response = api.get(api.path("configmaps"), resourceVersion="1", **{"continue": token})
    expected = "specifying resource version is not allowed when using continue"
    assert response.failed(400, "BadRequest")["message"] == expected


@pytest.mark.parametrize(
    "token",
    ["!", "abc", "e30", base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v2","rv":5,"start":"a"}').decode().rstrip("=")],
)
def test_an_invalid_token_is_rejected(api: API, token: str):
    status = api.get(api.path("configmaps"), limit=1, **{"continue": token}).failed(400, "BadRequest")
    assert status["message"].startswith("invalid continue token: continue key is not valid: ")


def test_a_token_does_not_leave_its_namespace(api: API):
    content = json.dumps({"v": "meta.k8s.io/v1", "rv": 5, "start": "../../secrets"}).encode()
    token = base64.urlsafe_b64encode(content).decode().rstrip("=")
    api.get(api.path("configmaps"), **{"continue": token}).failed(400, "BadRequest")


# Events, because a real server keeps no history of them beside that of its storage.


def test_an_expired_continue_token_is_rejected_with_one_that_continues(api: API, target: Target):
    for name in "abcd":
        create_event(api, name)
    token = api.list(api.path("events"), limit=1)["metadata"]["continue"]
    api.delete(api.path("events", "b")).ok()
    target.forget_history()
    response = api.get(api.path("events"), limit=1, **{"continue": token})
    status = response.json
    assert (response.status, status["code"], status["reason"]) == (410, 410, "Expired")
    assert status["message"].startswith("The provided continue parameter is too old to display a consistent list")
    assert status["metadata"].keys() == {"continue"}
    rest = api.list(api.path("events"), limit=1, **status["metadata"])
    assert names(rest) == ["c"]
    assert api.names(api.path("events"), **{"continue": rest["metadata"]["continue"]}) == ["d"]


def test_a_version_that_is_too_old_is_expired(api: API, target: Target):
    version = create_event(api, "a")["metadata"]["resourceVersion"]
    api.delete(api.path("events", "a")).ok()
    create_event(api, "b")
    target.forget_history()
    response = api.get(api.path("events"), resourceVersion=version, resourceVersionMatch="Exact")
    assert response.failed(410, "Expired")["message"] == "The resourceVersion for the provided list is too old."


def test_an_invalid_limit_is_rejected_and_a_negative_one_ignored(api: API):
    for name in "ab":
        api.create("configmaps", name)
    api.get(api.path("configmaps"), limit="few").failed(400, "BadRequest")
    assert api.names(api.path("configmaps"), limit=-1) == ["a", "b"]


# --- selectors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("app=web", ["a", "b"]),
        ("app==web", ["a", "b"]),
        ("app!=web", ["c", "d"]),
        ("app in (web, db)", ["a", "b", "c"]),
        ("app notin (web)", ["c", "d"]),
        ("tier", ["a"]),
        ("!tier", ["b", "c", "d"]),
        ("app=web,tier=front", ["a"]),
        ("size>3", ["b"]),
        ("size<4", ["a"]),
        ("", ["a", "b", "c", "d"]),
    ],
)
def test_labels_select(api: API, selector: str, found: list[str]):
    api.create("configmaps", "a", metadata={"labels": {"app": "web", "tier": "front", "size": "3"}})
    api.create("configmaps", "b", metadata={"labels": {"app": "web", "size": "4"}})
    api.create("configmaps", "c", metadata={"labels": {"app": "db", "size": "many"}})
    api.create("configmaps", "d")
    assert api.names(api.path("configmaps"), labelSelector=selector) == found


@pytest.mark.parametrize("selector", ["app in web", "app=(", "=web", "a=b=c", "app in (", "-bad=1", "app=not fine"])
def test_an_invalid_label_selector_is_rejected(api: API, selector: str):
    api.get(api.path("configmaps"), labelSelector=selector).failed(400, "BadRequest")


def test_objects_are_selected_by_name(api: API):
    for name in "abc":
        api.create("configmaps", name)
    path = api.path("configmaps")
    assert api.names(path, fieldSelector="metadata.name=b") == ["b"]
    assert api.names(path, fieldSelector="metadata.name!=b") == ["a", "c"]
    assert api.names(path, fieldSelector=f"metadata.namespace={api.namespace},metadata.name=c") == ["c"]
    assert api.names(path, fieldSelector="metadata.namespace=other") == []


def test_pods_are_selected_by_where_and_how_they_run(api: API):
    container = {"containers": [{"name": "web", "image": "web:1"}]}
    api.create("pods", "a", spec={**container, "nodeName": "n1"})
    api.create("pods", "b", spec={**container, "restartPolicy": "Never"})
    path = api.path("pods")
    assert api.names(path, fieldSelector="spec.nodeName=n1") == ["a"]
    assert api.names(path, fieldSelector="spec.nodeName=") == ["b"]
    assert api.names(path, fieldSelector="spec.restartPolicy=Never,status.phase=Pending") == ["b"]
    assert api.names(path, fieldSelector="status.phase=Running") == []


def test_secrets_are_selected_by_type(api: API):
    api.create("secrets", "a")
    api.create("secrets", "b", type="example.com/odd")
    assert api.names(api.path("secrets"), fieldSelector="type=example.com/odd") == ["b"]


def test_only_some_fields_are_selectable(api: API):
    status = api.get(api.path("configmaps"), fieldSelector="data.key=value").failed(400, "BadRequest")
    assert status["message"] == ('"data.key" is not a known field selector: only "metadata.name", "metadata.namespace"')
    status = api.get(api.path("pods"), fieldSelector="spec.colour=red").failed(400, "BadRequest")
    assert status["message"] == "field label not supported: spec.colour"


def test_an_invalid_field_selector_is_rejected(api: API):
    api.get(api.path("configmaps"), fieldSelector="metadata.name").failed(400, "BadRequest")


def test_unknown_parameters_are_ignored(api: API):
    api.create("configmaps", "a")
    assert api.names(api.path("configmaps"), colour="red", pretty="false") == ["a"]


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("!!", "illegal base64 data at input byte 0"),
        ("abcde", "illegal base64 data at input byte 4"),
        ("no-continue", "invalid character '\\u009e' looking for beginning of value"),
        ("W10", "json: cannot unmarshal array into Go value of type storage.continueToken"),
        ("eyJ2IjoxfQ", "json: cannot unmarshal number into Go struct field continueToken.v of type string"),
        ("bnVsbA", "server does not recognize this encoded version "),
    ],
)
def test_an_invalid_continue_token_is_rejected_with_the_reason(api: API, token: str, why: str):
    status = api.get(api.path("configmaps"), **{"continue": token}).failed(400, "BadRequest")
    assert status["message"] == f"invalid continue token: continue key is not valid: {why}"


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("=1", "found '=', expected: !, identifier, or 'end of string'"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (!)", "unable to parse requirement: found '!', expected: ',', ')' or identifier"),
        ("a in (b,!)", "unable to parse requirement: found '!', expected: ',', or identifier"),
        ("a,", "found '', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a<>1", "unable to parse requirement: found '>', expected: identifier"),
        (
            "a>x",
            'unable to parse requirement: values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_an_invalid_label_selector_is_explained(api: API, selector: str, message: str):
    for verb in ("GET", "DELETE"):
        status = api.request(verb, api.path("configmaps"), labelSelector=selector).failed(400, "BadRequest")
        assert status["message"] == message


@pytest.mark.parametrize(("selector", "place"), [("-a=1", '<nil>: Invalid value: "-a"'), ("a=-b", "values[0][a]")])
def test_an_invalid_label_in_a_selector_is_explained(api: API, selector: str, place: str):
    status = api.get(api.path("configmaps"), labelSelector=selector).failed(400, "BadRequest")
    assert status["message"].startswith(f"unable to parse requirement: {place}: ")


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        ("metadata.name=a,b", "invalid selector: 'metadata.name=a,b'; can't understand 'b'"),
        ("metadata.name=\\x", "invalid field selector: invalid escape sequence: \\x"),
        ("metadata.name=a=b", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_an_invalid_field_selector_is_explained(api: API, selector: str, message: str):
    status = api.get(api.path("configmaps"), fieldSelector=selector).failed(400, "BadRequest")
    assert status["message"] == message
