"""The admission plugin ServiceAccount, on servers of its own, because it is disabled on the one of the other tests."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.contract.server.api import API
from tests.contract.target import Target, chosen_target

Tree = dict[str, Any]
PLUGIN = "ServiceAccount"
MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture(scope="module")
def the_server() -> Iterator[Target]:
    with chosen_target(enabled_plugins=[PLUGIN]) as target:
        yield target


@pytest.fixture
def account(api: API) -> str:
    """The name of a service account."""
    api.create("serviceaccounts", "runner", imagePullSecrets=[{"name": "registry"}], secrets=[{"name": "known"}])
    return "runner"


def pod(**spec: Any) -> Tree:
    return {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "busybox"}], **spec}}


def create(api: API, tree: Tree) -> Tree:
    return api.post(api.path("pods"), tree, dryRun="All").ok(201)["spec"]


def refusal(api: API, tree: Tree) -> str:
    return (
        api.post(api.path("pods"), tree).failed(403, "Forbidden")["message"].removeprefix('pods "web" is forbidden: ')
    )


def test_a_pod_gets_the_token_and_the_pull_secrets_of_its_account(api: API, account: str):
    init = {"name": "init", "image": "busybox"}
    spec = create(api, pod(serviceAccountName=account, initContainers=[init]))
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == (account, account)
    assert spec["imagePullSecrets"] == [{"name": "registry"}]
    [volume] = spec["volumes"]
    assert re.fullmatch("kube-api-access-[a-z0-9]{5}", volume["name"])
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    assert volume["projected"] == {
        "defaultMode": 0o644,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
        ],
    }
    mount = {"name": volume["name"], "readOnly": True, "mountPath": MOUNT}
    for container in spec["containers"] + spec["initContainers"]:
        assert container["volumeMounts"] == [mount]


def test_the_writer_does_not_manage_the_token(api: API, account: str):
    made = api.post(api.path("pods"), pod(serviceAccountName=account)).ok(201)
    fields = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert "f:serviceAccountName" in fields
    assert not {"f:volumes", "f:imagePullSecrets"} & fields.keys()


def test_the_pod_decides_before_its_account_whether_a_token_is_mounted(api: API, account: str):
    tree = pod(serviceAccountName=account)
    api.patch(api.path("serviceaccounts", account), {"automountServiceAccountToken": False}).ok()
    api.create("serviceaccounts", "marker")
    assert "volumes" in create(api, pod(serviceAccountName=account, automountServiceAccountToken=True))
    assert "volumes" not in create(api, pod(serviceAccountName="marker", automountServiceAccountToken=False))
    assert any("volumes" not in create(api, tree) for _ in range(1000))


def test_containers_that_mount_something_there_keep_it(api: API, account: str):
    volume, mount = {"name": "own", "emptyDir": {}}, {"name": "own", "mountPath": MOUNT}
    container = {"name": "main", "image": "busybox", "volumeMounts": [mount]}
    secrets = [{"name": "other"}]
    tree = pod(serviceAccountName=account, containers=[container], volumes=[volume], imagePullSecrets=secrets)
    spec = create(api, tree)
    assert [each["name"] for each in spec["volumes"]] == ["own"]
    assert spec["containers"][0]["volumeMounts"] == [mount]
    assert spec["imagePullSecrets"] == secrets


def test_a_pod_needs_an_account_that_exists(api: API):
    why = f'error looking up service account {api.namespace}/missing: serviceaccount "missing" not found'
    assert refusal(api, pod(serviceAccountName="missing")) == why


def test_an_account_can_limit_the_secrets_of_its_pods(api: API, account: str):
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    api.create(
        "serviceaccounts",
        "strict",
        metadata={"annotations": annotations},
        secrets=[{"name": "known"}],
        imagePullSecrets=[{"name": "registry"}],
    )
    why = "is not allowed because service account strict does not reference that"
    known, unknown = ({"name": "s", "secret": {"secretName": name}} for name in ("known", "unknown"))
    create(api, pod(serviceAccountName="strict", volumes=[known]))
    create(api, pod(serviceAccountName=account, volumes=[unknown]))
    found = refusal(api, pod(serviceAccountName="strict", volumes=[unknown]))
    assert found == f'volume with secret.secretName="unknown" {why} secret'
    variable = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "unknown", "key": "a"}}}
    container = {"name": "main", "image": "busybox", "env": [variable]}
    found = refusal(api, pod(serviceAccountName="strict", containers=[container]))
    assert found == f'container main with envVar A referencing secret.secretName="unknown" {why} secret'
    container = {"name": "main", "image": "busybox", "envFrom": [{"secretRef": {"name": "unknown"}}]}
    found = refusal(api, pod(serviceAccountName="strict", containers=[container]))
    assert found == f'container main with envFrom referencing secret.secretName="unknown" {why} secret'
    found = refusal(api, pod(serviceAccountName="strict", imagePullSecrets=[{"name": "other"}]))
    assert found == f'imagePullSecrets[0].name="other" {why} imagePullSecret'
