"""Tokens of service accounts: their claims, audiences, times and bound objects."""

import base64
import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.server.definitions import wait_until

ISSUER = "https://kubernetes.default.svc"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def decoded(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def claims_of(token: str) -> dict[str, Any]:
    return decoded(token.split(".")[1])


def path(api: API, name: str = "robot") -> str:
    return api.path("serviceaccounts", name, "token")


@pytest.fixture
def account(api: API) -> dict[str, Any]:
    return api.create("serviceaccounts", "robot")


@pytest.fixture
def token(api: API, account: dict[str, Any]) -> str:
    response = api.post(path(api), {"spec": {}}).ok(201)
    found: str = response["status"]["token"]
    return found


def review(api: API, token: str, *audiences: str) -> dict[str, Any]:
    spec = {"token": token, **({"audiences": [*audiences]} if audiences else {})}
    status: dict[str, Any] = api.post(REVIEWS, {"spec": spec}).ok(201)["status"]
    return status


def bound_to(kind: str, name: str, **more: str) -> dict[str, Any]:
    return {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, **more}}}


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "a", "image": "a"}], **spec}}


def test_a_token_has_the_claims_of_its_service_account(api: API, account: dict[str, Any], token: str):
    claims = claims_of(token)
    began = claims.pop("iat")
    assert claims.pop("jti")
    assert claims == {
        "aud": [ISSUER],
        "exp": began + 3600,
        "iss": ISSUER,
        "kubernetes.io": {
            "namespace": api.namespace,
            "serviceaccount": {"name": "robot", "uid": account["metadata"]["uid"]},
        },
        "nbf": began,
        "sub": f"system:serviceaccount:{api.namespace}:robot",
    }


def test_a_request_gets_defaults(api: API, account: dict[str, Any]):
    response = api.post(path(api), {"spec": {}}).ok(201)
    assert response["spec"] == {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
    metadata = response["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("robot", api.namespace)
    assert metadata["uid"] == account["metadata"]["uid"]
    assert metadata["creationTimestamp"]


def test_the_public_key_of_a_token_is_published(api: API, token: str):
    header = decoded(token.split(".")[0])
    response = api.get("/openid/v1/jwks", headers={"Accept": "application/jwk-set+json"})
    found = [key for key in json.loads(response.body)["keys"] if key["kid"] == header["kid"]]
    assert [(key["use"], key["alg"]) for key in found] == [("sig", header["alg"])]
    configuration = api.get("/.well-known/openid-configuration").json
    assert configuration["issuer"] == ISSUER
    assert header["alg"] in configuration["id_token_signing_alg_values_supported"]


def test_a_review_returns_the_user_and_the_audiences(api: API, account: dict[str, Any], token: str):
    assert review(api, token) == {
        "authenticated": True,
        "audiences": [ISSUER],
        "user": {
            "username": f"system:serviceaccount:{api.namespace}:robot",
            "uid": account["metadata"]["uid"],
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{api.namespace}", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims_of(token)['jti']}"]},
        },
    }


def test_a_token_is_only_for_its_audiences(api: API, account: dict[str, Any]):
    response = api.post(path(api), {"spec": {"audiences": ["vault", "other"]}}).ok(201)
    token = response["status"]["token"]
    assert claims_of(token)["aud"] == ["vault", "other"]
    assert review(api, token, "vault", "more")["audiences"] == ["vault"]
    refused = f'token audiences ["vault" "other"] is invalid for the target audiences ["{ISSUER}"]'
    assert review(api, token) == {"user": {}, "error": f"[invalid bearer token, {refused}]"}
    api.get(api.path("pods"), headers={"Authorization": f"Bearer {token}"}).failed(401, "Unauthorized")


def test_a_token_of_this_server_is_not_for_others(api: API, token: str):
    status = review(api, token, "vault")
    assert status["error"] == (
        f'[invalid bearer token, token audiences ["{ISSUER}"] is invalid for the target audiences ["vault"]]'
    )


def test_a_changed_token_is_not_valid(api: API, token: str):
    header, body, signature = token.split(".")
    assert review(api, f"{header}.{body}.{signature[::-1]}")["user"] == {}
    assert review(api, f"{header}.{body}")["error"] == "invalid bearer token"
    assert review(api, f"{header}.{body}.")["user"] == {}
    assert review(api, f"{header}.{body[:-4]}.{signature}")["user"] == {}
    assert review(api, "a.b.c")["error"] == "invalid bearer token"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"alg": "none"}, "go-jose/go-jose: error in cryptographic primitive"),
        ({"alg": "none", "kid": ""}, "go-jose/go-jose: error in cryptographic primitive"),
        ({"alg": "HS256"}, "go-jose/go-jose: error in cryptographic primitive"),
        ({"kid": "another"}, "invalid signature, no keys found"),
    ],
)
def test_a_token_with_another_algorithm_or_key_is_not_valid(api: API, token: str, changes: dict[str, str], why: str):
    header, body, signature = token.split(".")
    changed = {**json.loads(base64.urlsafe_b64decode(header + "==")), **changes}
    encoded = base64.urlsafe_b64encode(json.dumps(changed).encode()).decode().rstrip("=")
    assert review(api, f"{encoded}.{body}.{signature}") == {"user": {}, "error": f"[invalid bearer token, {why}]"}
    forged = f"{encoded}.{body}."
    assert api.get("/api", headers={"Authorization": f"Bearer {forged}"}).status == 401


def test_a_token_is_not_valid_with_other_characters_in_it(api: API, token: str):
    assert review(api, f"{token}=")["error"] == "invalid bearer token"
    assert review(api, f"{token[:-9]}!{token[-9:]}")["error"] == "invalid bearer token"
    assert review(api, f" {token} ")["authenticated"] is True


def test_the_reference_of_a_bound_object_is_complete(api: API, account: dict[str, Any]):
    refused = api.post(path(api), {"spec": {"boundObjectRef": {}}}).failed(400, "BadRequest")
    assert refused["message"] == "cannot bind token to object of type /, Kind="
    refused = api.post(path(api), {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod"}}})
    assert refused.failed(400, "BadRequest")["message"] == "Name parameter required."


def test_a_review_needs_a_token(api: API):
    failed = api.post(REVIEWS, {"spec": {}}).failed(400, "BadRequest")
    assert failed["message"] == "token is required for TokenReview in authentication"


@pytest.mark.parametrize(
    ("seconds", "problem"),
    [
        (599, "Invalid value: 599: may not specify a duration less than 10 minutes"),
        (2**32 + 1, "Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"),
        (0, "Invalid value: 0: may not specify a duration less than 10 minutes"),
    ],
)
def test_a_duration_has_limits(api: API, account: dict[str, Any], seconds: int, problem: str):
    failed = api.post(path(api), {"spec": {"expirationSeconds": seconds}}).failed(422, "Invalid")
    assert failed["message"] == f'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: {problem}'


def test_the_names_of_a_request_must_match(api: API, account: dict[str, Any]):
    failed = api.post(path(api), {"metadata": {"name": "other"}, "spec": {}}).failed(422, "Invalid")
    assert failed["message"] == (
        'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": '
        "must match the service account name if specified"
    )
    api.post(path(api, "missing"), {"spec": {}}).failed(404, "NotFound")


def test_an_account_that_is_created_again_gets_valid_tokens(api: API, token: str):
    assert review(api, token)["authenticated"]
    api.delete(api.path("serviceaccounts", "robot")).ok()
    api.create("serviceaccounts", "robot")
    other = api.post(path(api), {"spec": {}}).ok(201)["status"]["token"]
    # The real server reads accounts from a cache, which may still have the deleted one.
    wait_until(lambda: review(api, other).get("authenticated"))


def test_a_token_bound_to_a_pod_names_the_pod_and_its_node(api: API, account: dict[str, Any]):
    made = api.create("pods", "web", **pod(serviceAccountName="robot", nodeName="node-of-no-cluster"))
    token = api.post(path(api), bound_to("Pod", "web")).ok(201)["status"]["token"]
    uid = made["metadata"]["uid"]
    assert claims_of(token)["kubernetes.io"]["pod"] == {"name": "web", "uid": uid}
    assert claims_of(token)["kubernetes.io"]["node"] == {"name": "node-of-no-cluster"}
    extra = review(api, token)["user"]["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["web"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [uid]
    assert extra["authentication.kubernetes.io/node-name"] == ["node-of-no-cluster"]
    assert "authentication.kubernetes.io/node-uid" not in extra


def test_a_token_that_the_kubelet_requests_lasts_for_a_year(api: API, account: dict[str, Any]):
    api.create("pods", "web", **pod(serviceAccountName="robot"))
    requested = bound_to("Pod", "web")
    requested["spec"]["expirationSeconds"] = 3607
    response = api.post(path(api), requested).ok(201)
    claims = claims_of(response["status"]["token"])
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


def test_a_token_bound_to_a_secret_ends_with_it(api: API, account: dict[str, Any]):
    api.create("secrets", "key")
    token = api.post(path(api), bound_to("Secret", "key")).ok(201)["status"]["token"]
    api.delete(api.path("secrets", "key")).ok()
    assert review(api, token)["error"] == "[invalid bearer token, service account token has been invalidated]"


def test_a_bound_object_must_exist_and_match(api: API, account: dict[str, Any]):
    api.post(path(api), bound_to("Pod", "missing")).failed(404, "NotFound")
    api.create("pods", "web", **pod())
    failed = api.post(path(api), bound_to("Pod", "web")).failed(400, "BadRequest")
    assert failed["message"] == (
        'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.'
    )
    api.create("secrets", "key")
    failed = api.post(path(api), bound_to("Secret", "key", uid="other")).failed(409, "Conflict")
    assert failed["message"] == (
        'Operation cannot be fulfilled on Secret "key": the UID in the bound object reference (other) does not match '
        "the UID in record. The object might have been deleted and then recreated"
    )
    failed = api.post(path(api), bound_to("ConfigMap", "a")).failed(400, "BadRequest")
    assert failed["message"] == "cannot bind token to object of type /v1, Kind=ConfigMap"


def test_a_token_acts_as_its_service_account(api: API, token: str):
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    response = api.post(SELF, body, headers={"Authorization": f"Bearer {token}"}).ok(201)
    assert response["status"]["userInfo"]["username"] == f"system:serviceaccount:{api.namespace}:robot"
