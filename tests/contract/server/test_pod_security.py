"""Pod Security: the levels that namespaces enforce, and those that they warn of."""

from typing import Any

import pytest
from tests.contract.server.api import API, Response
from tests.contract.server.definitions import wait_until

Tree = dict[str, Any]
PREFIX = "pod-security.kubernetes.io/"
SAFE_CONTEXT = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
SAFE = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def label(api: API, **labels: str) -> list[str]:
    """Label the namespace and return the warnings."""
    values = {f"{PREFIX}{name.replace('_', '-')}": value for name, value in labels.items()}
    response = api.patch(f"/api/v1/namespaces/{api.namespace}", {"metadata": {"labels": values}})
    response.ok()
    return response.warnings


def container(name: str = "main", **fields: Any) -> Tree:
    return {"name": name, "image": "busybox", **fields}


def pod(name: str = "web", **spec: Any) -> Tree:
    return {"metadata": {"name": name}, "spec": {"containers": [container()], **spec}}


def label_and_create(api: API, plural: str, tree: Tree, *, version: str = "v1", **labels: str) -> Response:
    """Create an object once the labels have an effect: a real server reads them from a cache."""
    label(api, **labels)
    path = api.path(plural, version=version)

    def has_effect() -> bool:
        response = api.post(path, tree, dryRun="All")
        return response.status == 403 or bool(response.warnings)

    wait_until(has_effect)
    return api.post(path, tree)


def denial(api: API, tree: Tree, **labels: str) -> str:
    status = label_and_create(api, "pods", tree, **labels).failed(403, "Forbidden")
    assert status["details"] == {"name": tree["metadata"]["name"], "kind": "pods"}
    return status["message"]


def test_a_restricted_namespace_names_all_violations(api: API):
    assert denial(api, pod(), enforce="restricted") == (
        'pods "web" is forbidden: violates PodSecurity "restricted:latest": '
        'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), '
        'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), '
        'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), '
        'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
        '"Localhost")'
    )
    assert api.get(api.path("pods", "web")).status == 404
    made = api.post(api.path("pods"), pod(containers=[container(securityContext=SAFE_CONTEXT)], securityContext=SAFE))
    made.ok(201)
    assert made.warnings == []


@pytest.mark.parametrize(
    ("spec", "violation"),
    [
        ({"hostNetwork": True, "hostPID": True}, "host namespaces (hostNetwork=true, hostPID=true)"),
        (
            {"containers": [container("a", securityContext={"privileged": True})]},
            'privileged (container "a" must not set securityContext.privileged=true)',
        ),
        (
            {"volumes": [{"name": "x", "hostPath": {"path": "/"}}, {"name": "y", "hostPath": {"path": "/"}}]},
            'hostPath volumes (volumes "x", "y")',
        ),
        (
            {"containers": [container("a", ports=[{"containerPort": 80, "hostPort": 80}])]},
            'hostPort (container "a" uses hostPort 80)',
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
            "forbidden sysctls (kernel.msgmax)",
        ),
    ],
)
def test_a_baseline_namespace_rejects_what_reaches_the_host(api: API, spec: Tree, violation: str):
    why = f'violates PodSecurity "baseline:latest": {violation}'
    assert denial(api, pod(**spec), enforce="baseline") == f'pods "web" is forbidden: {why}'
    label(api, enforce="privileged")
    wait_until(lambda: api.post(api.path("pods"), pod(**spec)).status == 201)


def test_templates_are_accepted_with_warnings(api: API):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod(hostNetwork=True)["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    tree = {"metadata": {"name": "web"}, "spec": spec}
    levels = {"enforce": "baseline", "enforce_version": "v1.30"}
    made = label_and_create(api, "deployments", tree, version="apps/v1", **levels)
    made.ok(201)
    assert made.warnings == [
        '299 - "would violate PodSecurity \\"baseline:v1.30\\": host namespaces (hostNetwork=true)"'
    ]


def test_warnings_have_a_level_and_a_version_of_their_own(api: API):
    made = label_and_create(api, "pods", pod(), warn="restricted", warn_version="v1.18", audit="baseline")
    made.ok(201)
    [warning] = made.warnings
    assert warning.startswith('299 - "would violate PodSecurity \\"restricted:v1.18\\": allowPrivilegeEscalation')
    assert "seccompProfile" not in warning


def test_only_new_images_of_a_pod_are_checked(api: API):
    api.post(api.path("pods"), pod(hostNetwork=True)).ok(201)
    denial(api, pod("other", hostNetwork=True), enforce="baseline")
    path = api.path("pods", "web")
    api.patch(path, {"metadata": {"labels": {"a": "b"}}}).ok()
    api.patch(f"{path}/status", {"status": {"phase": "Running"}}).ok()
    changed = [{"op": "replace", "path": "/spec/containers/0/image", "value": "other"}]
    refused = api.patch(path, changed, content_type="application/json-patch+json")
    assert "host namespaces" in refused.failed(403, "Forbidden")["message"]


def test_a_stricter_level_warns_of_the_pods_that_violate_it(api: API):
    for name in ("b", "a"):
        api.post(api.path("pods"), pod(name, hostNetwork=True)).ok(201)
    privileged = container(securityContext={"privileged": True})
    api.post(api.path("pods"), pod("c", hostIPC=True, containers=[privileged])).ok(201)
    expected = [
        f'299 - "existing pods in namespace \\"{api.namespace}\\" violate the new PodSecurity enforce level '
        '\\"baseline:latest\\""',
        '299 - "a (and 1 other pod): host namespaces"',
        '299 - "c: host namespaces, privileged"',
    ]
    # A real server reads pods from a cache, which may be a moment old.
    wait_until(lambda: label(api, enforce="privileged") == [] and label(api, enforce="baseline") == expected)
    wait_until(lambda: label(api, enforce="baseline", warn="restricted") == [])
    assert label(api, enforce="privileged") == []


def test_labels_of_namespaces_are_checked(api: API):
    labels = {f"{PREFIX}enforce": "strict", f"{PREFIX}warn-version": "1.2", f"{PREFIX}audit-version": "v1.25"}
    tree = {"metadata": {"name": "other", "labels": labels}}
    status = api.post("/api/v1/namespaces?dryRun=All", tree).failed(422, "Invalid")
    assert status["message"] == (
        'Namespace "other" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": '
        "must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: "
        'Invalid value: "1.2": must be "latest" or "v1.x"]'
    )
