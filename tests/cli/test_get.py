"""`listwatch get`: names of resources, selectors, scopes and formats."""

from __future__ import annotations

import json

import pytest
import yaml
from tests.cli.conftest import Run

from listwatch.client import ClientSet
from listwatch.server import APIServer

POD = {"spec": {"containers": [{"name": "web", "image": "nginx"}]}}


@pytest.fixture
async def pods(client: ClientSet) -> None:
    await client.core_v1.pods("default").create({"metadata": {"name": "web-0", "labels": {"app": "web"}}, **POD})
    await client.core_v1.pods("default").create({"metadata": {"name": "db-0"}, **POD})
    await client.core_v1.pods("kube-system").create({"metadata": {"name": "dns-0"}, **POD})


@pytest.mark.parametrize("kind", ["pods", "pod", "po", "Pod", "pods.v1.", "pods.v1"])
async def test_a_resource_has_the_names_that_kubectl_takes(kind: str, pods: None, run: Run):
    done = await run("get", kind, "-o", "name")
    assert (done.code, done.out) == (0, "pod/db-0\npod/web-0\n")


@pytest.mark.parametrize("kind", ["deployments.apps", "deployments.v1.apps", "deploy", "deploy.apps"])
async def test_the_group_can_be_part_of_the_name(kind: str, server: APIServer, run: Run):
    done = await run("get", kind)
    assert (done.code, done.out, done.errors) == (0, "", "No resources found in the namespace default.\n")


async def test_a_table_has_a_row_for_each_object(pods: None, run: Run):
    done = await run("get", "pods")
    header, *rows = done.rows
    assert header[0] == "NAME"
    assert header[-1] == "AGE"
    assert [row[0] for row in rows] == ["db-0", "web-0"]
    assert "\x1b" not in done.out


async def test_a_table_has_no_column_of_states_if_no_object_has_one(client: ClientSet, run: Run):
    await client.core_v1.configmaps("default").create({"metadata": {"name": "a"}})
    assert "STATUS" not in (await run("get", "configmaps")).rows[0]


async def test_all_namespaces_add_a_column(pods: None, run: Run):
    done = await run("get", "pods", "-A")
    header, *rows = done.rows
    assert header[:2] == ["NAMESPACE", "NAME"]
    assert [row[:2] for row in rows] == [["default", "db-0"], ["default", "web-0"], ["kube-system", "dns-0"]]


async def test_options_are_accepted_before_the_command(pods: None, run: Run):
    assert (await run("-n", "kube-system", "get", "pods", "-o", "name")).out == "pod/dns-0\n"
    assert (await run("-n", "kube-system", "get", "pods", "-n", "default", "-l", "app=web", "-o", "name")).out == (
        "pod/web-0\n"
    )


async def test_selectors_select(pods: None, run: Run):
    assert (await run("get", "pods", "-l", "app=web", "-o", "name")).out == "pod/web-0\n"
    assert (await run("get", "po", "--field-selector", "metadata.name=db-0", "-o", "name")).out == "pod/db-0\n"


async def test_an_invalid_selector_is_a_usage_error(pods: None, run: Run):
    done = await run("get", "pods", "-l", "app in web")
    assert done.code == 2
    assert done.errors.startswith("error: ")


async def test_one_object_is_printed_as_it_is_and_several_as_a_list(pods: None, run: Run):
    one = yaml.safe_load((await run("get", "pod/web-0", "-o", "yaml")).out)
    assert (one["apiVersion"], one["kind"], one["metadata"]["name"]) == ("v1", "Pod", "web-0")
    several = json.loads((await run("get", "pods", "web-0", "db-0", "-o", "json")).out)
    assert several["kind"] == "List"
    assert [each["kind"] for each in several["items"]] == ["Pod", "Pod"]
    assert [each["metadata"]["name"] for each in several["items"]] == ["web-0", "db-0"]


async def test_managed_fields_are_hidden_unless_requested(client: ClientSet, run: Run):
    await client.core_v1.configmaps("default").apply(
        {"metadata": {"name": "a"}, "data": {"x": "1"}}, field_manager="me"
    )
    assert "managedFields" not in (await run("get", "cm/a", "-o", "yaml")).out
    assert "managedFields" in (await run("get", "cm/a", "-o", "yaml", "--show-managed-fields")).out


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.items[*].metadata.name}", "db-0 web-0"),
        (".items[0].metadata.name", "db-0"),
        ('{range .items[*]}{.metadata.name}={.kind}{"\\n"}{end}', "db-0=Pod\nweb-0=Pod\n"),
        ("names: {.items[*].metadata.name}", "names: db-0 web-0"),
        ("{.items[?(@.metadata.name=='web-0')].metadata.labels}", '{"app":"web"}'),
    ],
)
async def test_a_template_selects_fields(template: str, text: str, pods: None, run: Run):
    assert (await run("get", "pods", "-o", f"jsonpath={template}")).out == text


@pytest.mark.parametrize("template", ["{.items[", "{range .items[*]}", "{end}", "{.a}}"])
async def test_an_invalid_template_is_a_usage_error(template: str, server: APIServer, run: Run):
    done = await run("get", "pods", "-o", f"jsonpath={template}")
    assert done.code == 2
    assert "Traceback" not in done.errors


async def test_several_resources_have_a_table_each(pods: None, run: Run):
    done = await run("get", "pods,namespaces")
    assert [row[0] for row in done.rows if row] == [
        *["NAME", "pod/db-0", "pod/web-0"],
        *["NAME", "namespace/default", "namespace/kube-node-lease", "namespace/kube-public", "namespace/kube-system"],
    ]


async def test_a_category_stands_for_its_resources(pods: None, run: Run):
    assert (await run("get", "all", "-o", "name")).out == "pod/db-0\npod/web-0\n"


async def test_labels_can_be_shown_and_headers_hidden(pods: None, run: Run):
    done = await run("get", "pods", "web-0", "--show-labels", "--no-headers")
    [row] = done.rows
    assert (row[0], row[-1]) == ("web-0", "app=web")


async def test_an_object_that_does_not_exist_is_an_error(server: APIServer, run: Run):
    done = await run("get", "pod/web-0")
    assert (done.code, done.out) == (1, "")
    assert done.errors == 'error: pods "web-0" not found (NotFound, 404)\n'
    done = await run("delete", "pod/web-0")
    assert (done.code, done.errors) == (1, 'error: pods "web-0" not found (NotFound, 404)\n')


@pytest.mark.parametrize(
    ("kind", "suggestion"), [("podz", "pods"), ("deploymnet", "deployments"), ("svcs", "services")]
)
async def test_an_unknown_resource_suggests_a_similar_one(kind: str, suggestion: str, server: APIServer, run: Run):
    done = await run("get", kind)
    assert done.code == 2
    assert f"the server has no resource {kind}; did you mean {suggestion}" in done.errors


async def test_forms_of_names_cannot_be_mixed(server: APIServer, run: Run):
    done = await run("get", "pod/web-0", "db-0")
    assert done.code == 2
    assert "'db-0' is not TYPE/NAME" in done.errors


async def test_control_characters_do_not_reach_the_terminal(client: ClientSet, run: Run):
    await client.core_v1.events("default").create(
        {
            "metadata": {"name": "a"},
            "involvedObject": {"kind": "Pod", "name": "web-0", "namespace": "default"},
            "message": "red \x1b[31m text\nsecond line",
            "type": "Normal",
        }
    )
    done = await run("events")
    assert "red \\x1b[31m text..." in done.out
    assert "\x1b" not in done.out
