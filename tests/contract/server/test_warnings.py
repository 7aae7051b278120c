"""Warnings about objects that are accepted."""

from collections.abc import Iterator

import pytest
from tests.contract.server.api import API, Tree
from tests.contract.server.definitions import ANYTHING, Widgets, version


def template(*containers: Tree) -> Tree:
    return {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [*containers]}},
    }


def container(name: str, **fields: Tree) -> Tree:
    return {"name": name, "image": "web:1", **fields}


@pytest.fixture
def widgets(api: API) -> Iterator[Widgets]:
    found = Widgets(api, f"{api.namespace}.example.com")
    yield found
    found.remove()


def test_variables_and_ports_of_a_pod_that_are_defined_twice_are_reported(api: API):
    variables = [{"name": "A", "value": value} for value in ("1", "$(A)2", "3")]
    port = {"containerPort": 80, "name": "http"}
    containers = [container("a", env=variables, ports=[port]), container("b", ports=[port])]
    made = api.post(api.path("pods"), {"metadata": {"name": "a"}, "spec": {"containers": containers}})
    made.ok(201)
    assert made.warnings == [
        '299 - "spec.containers[0].env[2]: hides previous definition of '
        '\\"A\\", which may be dropped when using apply"',
        '299 - "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]"',
        '299 - "spec.containers[1].ports[0]: duplicate port name \\"http\\" with spec.containers[0].ports[0], '
        'services and probes that select ports by name will use spec.containers[0].ports[0]"',
    ]


def test_the_template_of_a_workload_is_checked_when_it_changes(api: API):
    fraction = container("a", resources={"limits": {"memory": "100m"}})
    path = api.path("deployments", version="apps/v1")
    made = api.post(path, {"metadata": {"name": "a"}, "spec": template(fraction)})
    made.ok(201)
    [warning] = made.warnings
    field = "spec.template.spec.containers[0].resources.limits[memory]"
    assert f'{field}: fractional byte value \\"100m\\" is invalid, must be an integer' in warning
    labelled = api.patch(f"{path}/a", {"metadata": {"labels": {"a": "b"}}})
    labelled.ok()
    scaled = api.patch(f"{path}/a", {"spec": {"replicas": 0}})
    scaled.ok()
    assert (labelled.warnings, scaled.warnings) == ([], [warning])


def test_a_quota_for_more_requests_than_limits_is_reported(api: API):
    hard = {"requests.cpu": "2", "limits.cpu": "1", "memory": "2Gi", "limits.memory": "1Gi"}
    made = api.post(api.path("resourcequotas"), {"metadata": {"name": "a"}, "spec": {"hard": hard}})
    made.ok(201)
    assert made.warnings == [
        '299 - "ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"',
        '299 - "ResourceQuota memory (2Gi) should be less than limits.memory (1Gi)"',
    ]


def test_the_warning_of_a_deprecated_version_names_a_newer_one(api: API, widgets: Widgets):
    widgets.define(version("v1", ANYTHING), version("v1beta1", ANYTHING, storage=False, deprecated=True))
    listed = api.get(widgets.path(version="v1beta1"))
    listed.ok()
    advice = f"use {widgets.group}/v1 Widget"
    assert listed.warnings == [f'299 - "{widgets.group}/v1beta1 Widget is deprecated; {advice}"']


@pytest.mark.parametrize(
    ("method", "query", "accept"),
    [
        ("GET", {"watch": "true", "fieldSelector": "spec.unheardOf=1"}, "application/json"),
        ("GET", {}, "text/plain"),
        ("PUT", {}, "application/json"),
    ],
    ids=["failed watch", "not acceptable", "no name"],
)
def test_a_rejected_request_for_a_deprecated_version_gets_its_warning(
    api: API, widgets: Widgets, method: str, query: dict[str, str], accept: str
):
    widgets.define(version("v1", ANYTHING), version("v1beta1", ANYTHING, storage=False, deprecated=True))
    response = api.request(method, widgets.path(version="v1beta1"), headers={"Accept": accept}, **query)
    assert response.status in (400, 406)
    [warning] = response.warnings
    assert "is deprecated" in warning
