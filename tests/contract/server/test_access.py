from typing import Any

import pytest
from tests.contract.server.api import API, Tree, causes

AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"


@pytest.mark.parametrize("authorization", ["Bearer nonsense", "Bearer nonsense with blanks", "bearer x"])
@pytest.mark.parametrize("path", ["/api/v1/namespaces/default/configmaps", "/apis", "/api/v1/nothing"])
def test_an_unknown_token_is_rejected(api: API, path: str, authorization: str):
    response = api.get(path, headers={"Authorization": authorization})
    assert response.failed(401, "Unauthorized")["message"] == "Unauthorized"


def test_an_anonymous_client_may_not_read_secrets(api: API):
    response = api.get(api.path("secrets"), headers={"Authorization": None})
    assert response.status in (401, 403)
    assert response.json["reason"] in ("Unauthorized", "Forbidden")


def test_a_refusal_has_no_secrets(api: API):
    response = api.get(api.path("secrets"), headers={"Authorization": "Bearer s3cr3t"})
    assert b"s3cr3t" not in response.body


def test_a_self_subject_review_returns_the_user(api: API):
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    user = api.post(f"{AUTHENTICATION}/selfsubjectreviews", review).ok(201)["status"]["userInfo"]
    assert user["username"]
    assert {"system:masters", "system:authenticated"} <= set(user["groups"])


def test_a_token_review_returns_the_user_of_the_token(api: API):
    api.create("serviceaccounts", "robot")
    path = api.path("serviceaccounts", "robot", "token")
    token = api.post(path, {"spec": {}}).ok(201)["status"]["token"]
    status = api.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": token}}).ok(201)["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == f"system:serviceaccount:{api.namespace}:robot"


def test_an_unknown_token_is_not_authenticated(api: API):
    status = api.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": "nonsense"}}).ok(201)["status"]
    assert not status.get("authenticated")
    assert status["user"] == {}
    assert status["error"]


def test_an_administrator_may_do_everything(api: API):
    attributes = {"namespace": api.namespace, "verb": "delete", "resource": "pods"}
    review = {"spec": {"resourceAttributes": attributes}}
    response = api.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", review).ok(201)
    assert response["status"]["allowed"] is True
    assert response["spec"] == review["spec"]


NOTHING = (
    "spec.resourceAttributes: Invalid value: null: "
    "exactly one of nonResourceAttributes or resourceAttributes must be specified"
)
NO_USER = 'spec.user: Invalid value: "": at least one of user or group must be specified'
ROOT = {"path": "/"}


@pytest.mark.parametrize(
    ("plural", "spec", "why"),
    [
        ("selfsubjectaccessreviews", {}, NOTHING),
        (
            "selfsubjectaccessreviews",
            {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": ROOT},
            'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: '
            "cannot be specified in combination with resourceAttributes",
        ),
        ("subjectaccessreviews", {}, f"[{NOTHING}, {NO_USER}]"),
        ("subjectaccessreviews", {"nonResourceAttributes": ROOT}, NO_USER),
        (
            "localsubjectaccessreviews",
            {"user": "jane", "resourceAttributes": {"namespace": "other", "verb": "get"}},
            'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
        ),
        (
            "localsubjectaccessreviews",
            {"user": "jane", "nonResourceAttributes": ROOT},
            'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request',
        ),
    ],
)
def test_an_access_review_needs_a_user_and_one_question(api: API, plural: str, spec: dict[str, Any], why: str):
    namespace = f"/namespaces/{api.namespace}" if plural.startswith("local") else ""
    response = api.post(f"{AUTHORIZATION}{namespace}/{plural}", {"spec": spec})
    assert response.failed(422, "Invalid")["message"] == f'.authorization.k8s.io "" is invalid: {why}'


@pytest.mark.parametrize(
    ("selectors", "why"),
    [
        (
            {"fieldSelector": {}},
            "fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector",
        ),
        (
            {"labelSelector": {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]}},
            'labelSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
        ),
        (
            {"labelSelector": {"requirements": [{"key": "a", "operator": "In"}]}},
            "labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In'",
        ),
    ],
)
def test_the_selectors_of_an_access_review_are_checked(api: API, selectors: dict[str, Any], why: str):
    spec = {"resourceAttributes": {"verb": "list", "resource": "pods", **selectors}}
    response = api.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": spec})
    assert f"spec.resourceAttributes.{why}" in response.failed(422, "Invalid")["message"]


def test_selectors_that_cannot_be_read_are_ignored(api: API):
    several = {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a", "b"]}]}
    attributes = {
        "verb": "list",
        "resource": "pods",
        "fieldSelector": several,
        "labelSelector": {"rawSelector": "a in ("},
    }
    response = api.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": attributes}})
    ignored = [
        f"spec.resourceAttributes.{name} ignored due to parse error" for name in ("fieldSelector", "labelSelector")
    ]
    assert response.ok(201)["status"] == {"allowed": True, "evaluationError": "; ".join(ignored)}


def test_a_local_access_review_has_its_namespace(api: API):
    spec = {"user": "jane", "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": api.namespace}}
    path = f"{AUTHORIZATION}/namespaces/{api.namespace}/localsubjectaccessreviews"
    assert api.post(path, {"spec": spec}).ok(201)["metadata"]["namespace"] == api.namespace


@pytest.mark.parametrize(
    "name", ["system:serviceaccount:a", "system:serviceaccount:a:b:c", "system:serviceaccount:A_B:c"]
)
def test_a_name_that_is_not_that_of_an_account_has_no_groups_of_accounts(api: API, name: str):
    headers = {"Impersonate-User": name}
    user = api.post(f"{AUTHENTICATION}/selfsubjectreviews", {}, headers=headers).ok(201)["status"]["userInfo"]
    assert user == {"username": name, "groups": ["system:authenticated"]}


def test_an_empty_name_is_not_impersonated(api: API):
    user = api.post(f"{AUTHENTICATION}/selfsubjectreviews", {}, headers={"Impersonate-User": ""}).ok(201)
    assert "system:masters" in user["status"]["userInfo"]["groups"]


def test_an_access_review_has_no_name(api: API):
    review = {"metadata": {"name": "a"}, "spec": {"nonResourceAttributes": ROOT}}
    response = api.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", review)
    assert causes(response.failed(422, "Invalid")) == {("FieldValueInvalid", "metadata")}


def test_a_review_of_rules_needs_a_namespace(api: API):
    response = api.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}})
    assert response.failed(400, "BadRequest")["message"] == "no namespace on request"


def test_an_error_escapes_the_name_of_the_object(api: API):
    response = api.get(f"{api.path('configmaps')}/a%22b")
    assert response.failed(404, "NotFound")["message"] == 'configmaps "a\\"b" not found'


def test_a_user_can_impersonate_another(api: API):
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    headers = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}
    user = api.post(f"{AUTHENTICATION}/selfsubjectreviews", review, headers=headers).ok(201)["status"]["userInfo"]
    assert user["username"] == "jane"
    assert set(user["groups"]) == {"system:masters", "system:authenticated"}


def test_a_review_is_not_stored(api: API):
    api.get(f"{AUTHENTICATION}/tokenreviews").failed(405, "MethodNotAllowed")


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({"Impersonate-Group": "x"}, 'UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)'),
        ({"Impersonate-Uid": "1"}, 'UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        (
            {"Impersonate-Extra-a%2fb": 'c"d'},
            'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a/b":[]string{"c\\"d"}}',
        ),
    ],
)
def test_the_impersonated_user_must_have_a_name(api: API, headers: dict[str, str], shown: str):
    status = api.get(api.path("secrets"), headers=headers).failed(400, "BadRequest")
    expected = f'requested &user.DefaultInfo{{Name:"", {shown}}} without impersonating a user name'
    assert status["message"] == expected


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        (f"{AUTHENTICATION}/tokenreviews", {"token": "x"}),
        ("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"user": "a", "nonResourceAttributes": {"path": "/"}}),
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"nonResourceAttributes": {"path": "/"}}),
    ],
)
def test_the_fields_of_a_review_have_a_manager(api: API, path: str, spec: Tree):
    [entry] = api.post(path, {"spec": spec}, fieldManager="me").ok(201)["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("me", "Update")
    assert entry["fieldsV1"]["f:spec"].keys() == {f"f:{name}" for name in spec}
    assert entry["time"]
