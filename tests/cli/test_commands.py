"""The other commands: describe, tree, logs, events, apply, delete, api-resources, completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Process, Run

from listwatch.client import ClientSet
from listwatch.errors import ForbiddenError, NotFoundError
from listwatch.server import APIServer, Fail, Fault

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {x: "1"}
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
INVALID = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}\n"


# --- describe, tree, events, logs -------------------------------------------------------------------------------------


async def test_describe_shows_fields_and_events(run: Run):
    done = await run("describe", "deploy/web", "--embedded")
    assert done.code == 0
    assert "Name:          web\n" in done.out
    assert "Labels:        app=web\n" in done.out
    assert "Spec:\n  replicas: 3\n" in done.out
    assert done.out.endswith("Events:        <none>\n")
    done = await run("describe", "pods", "--embedded")
    assert done.out.count("Owned by:      ReplicaSet/web-6d4cf56db6\n") == 3
    assert done.out.count("  Scheduled   pod/web-6d4cf56db6-0   Successfully assigned") == 1


async def test_describe_hides_the_values_of_secrets(client: ClientSet, run: Run):
    await client.core_v1.secrets("default").create({"metadata": {"name": "a"}, "stringData": {"password": "geheim"}})
    done = await run("describe", "secret/a")
    assert "password: 6 bytes" in done.out
    assert "geheim" not in done.out
    assert "Z2VoZWlt" not in done.out


async def test_tree_shows_what_an_object_owns(run: Run):
    done = await run("tree", "deploy/web", "--embedded")
    names = [line.partition("   ")[0] for line in done.out.splitlines()[1:]]
    assert names[:2] == ["deployment.apps/web", "└─ replicaset.apps/web-6d4cf56db6"]
    assert done.rows[1][1:3] == ["3/3", "ready"]
    assert [line.split()[0:2] for line in done.out.splitlines()[3:]] == [
        ["├─", "pod/web-6d4cf56db6-0"],
        ["├─", "pod/web-6d4cf56db6-1"],
        ["└─", "pod/web-6d4cf56db6-2"],
    ]


async def test_tree_without_arguments_shows_all_owners(run: Run):
    done = await run("tree", "--embedded")
    assert "warns" not in done.errors
    assert [row[-3 if row[-2] == "Running" else -4] for row in done.rows[1:]] == [
        "deployment.apps/web",
        "replicaset.apps/web-6d4cf56db6",
        *(f"pod/web-6d4cf56db6-{number}" for number in range(3)),
    ]


async def test_tree_without_any_permission_is_an_error(server: APIServer, run: Run):
    server.faults.add(Fault(Fail(ForbiddenError("no permission")), verb="list"))
    done = await run("tree")
    assert (done.code, done.out) == (4, "")
    assert done.errors.startswith("error: no permission")
    assert "skipped" not in done.errors


async def test_tree_names_what_cannot_be_listed(server: APIServer, run: Run):
    server.faults.add(Fault(Fail(ForbiddenError("no")), resource="secrets"))
    done = await run("tree")
    assert "skipped, because they cannot be listed: secrets\n" in done.errors


async def test_events_are_sorted_and_selected(client: ClientSet, run: Run):
    for name, when, type_ in (("a", "2026-01-02", "Normal"), ("b", "2026-01-01", "Warning")):
        await client.core_v1.events("default").create(
            {
                "metadata": {"name": name},
                "involvedObject": {"kind": "Pod", "name": f"pod-{name}", "namespace": "default"},
                "type": type_,
                "reason": "Tested",
                "message": f"message {name}",
                "lastTimestamp": f"{when}T00:00:00Z",
            }
        )
    assert [row[3] for row in (await run("events")).rows] == ["REASON", "pod/pod-b", "pod/pod-a"]
    assert [row[1] for row in (await run("events", "--types", "warning")).rows[1:]] == ["Warning"]
    assert [row[3] for row in (await run("events", "--for", "pod/pod-a")).rows[1:]] == ["pod/pod-a"]


async def test_logs_name_the_containers_of_a_pod(run: Run):
    done = await run("logs", "web-6d4cf56db6-0", "-c", "app", "--embedded")
    assert (done.code, done.errors) == (2, "error: pod web-6d4cf56db6-0 has no container app; it has web\n")


async def test_the_sample_pods_have_logs(run: Run):
    done = await run("logs", "web-6d4cf56db6-0", "--embedded", "--tail", "1")
    assert (done.code, done.out, done.errors) == (0, '10.0.0.1 "GET / HTTP/1.1" 200\n', "")


async def test_logs_of_a_workload_are_those_of_its_first_pod(run: Run):
    done = await run("logs", "deploy/web", "--embedded")
    assert done.errors.startswith("deploy/web has 3 pods; printing the log of web-6d4cf56db6-0\n")


@pytest.mark.parametrize("options", [["--since", "soon"], ["-f", "--previous"], ["--tail", "-1"]])
async def test_options_of_logs_are_checked(options: list[str], run: Run):
    assert (await run("logs", "web-0", *options, "--embedded")).code == 2


# --- apply and delete -------------------------------------------------------------------------------------------------


async def test_apply_says_what_has_changed(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "web.yaml").write_text(MAP)
    apply = ("apply", "-f", str(tmp_path / "web.yaml"))
    assert (await run(*apply, "--dry-run")).out == "configmap/web created (dry run)\n"
    assert (await run(*apply)).out == "configmap/web created\n"
    assert (await run(*apply)).out == "configmap/web unchanged\n"
    (tmp_path / "web.yaml").write_text(MAP.replace('"1"', '"2"'))
    assert (await run(*apply)).out == "configmap/web configured\n"
    stored = await client.core_v1.configmaps("default").get("web")
    assert stored.data == {"x": "2"}
    assert [each.manager for each in stored.metadata.managed_fields] == ["listwatch"]


async def test_apply_reads_folders_and_applies_namespaces_first(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.yaml").write_text(MAP.replace("{name: web}", "{name: web, namespace: shop}"))
    (tmp_path / "m" / "b.yml").write_text(NAMESPACE)
    done = await run("apply", "-f", str(tmp_path / "m"), "-o", "name")
    assert (done.code, done.out) == (0, "namespace/shop\nconfigmap/web\n")


async def test_apply_names_file_and_document_and_applies_the_others(tmp_path: Path, client: ClientSet, run: Run):
    file = tmp_path / "all.yaml"
    file.write_text(f"{INVALID}---\n{MAP}")
    done = await run("apply", "-f", str(file))
    assert (done.code, done.out) == (1, "configmap/web created\n")
    assert done.errors.startswith(f"error: {file}, document 1: Pod web: ")
    assert "spec.containers: Required value" in done.errors


async def test_apply_names_a_file_that_cannot_be_read(tmp_path: Path, server: APIServer, run: Run):
    file = tmp_path / "bad.yaml"
    file.write_text("a: [")
    done = await run("apply", "-f", str(file))
    assert done.code == 1
    assert done.errors.startswith(f"error: {file}: ")
    assert (await run("apply", "-f", str(tmp_path / "missing.yaml"))).code == 2


async def test_apply_reads_stdin(client: ClientSet, start: Callable[..., Awaitable[Process]]):
    done = await (await start("apply", "-f", "-")).end(MAP)
    assert (done.code, done.out) == (0, "configmap/web created\n")
    done = await (await start("apply", "-f", "-")).end(INVALID)
    assert done.code == 1
    assert done.errors.startswith("error: stdin, document 1: Pod web: ")


async def test_a_conflict_of_apply_names_the_other_manager(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "web.yaml").write_text(MAP)
    await client.core_v1.configmaps("default").apply(
        {"metadata": {"name": "web"}, "data": {"x": "0"}}, field_manager="me"
    )
    done = await run("apply", "-f", str(tmp_path / "web.yaml"))
    assert done.code == 1
    assert '"me"' in done.errors
    assert (await run("apply", "-f", str(tmp_path / "web.yaml"), "--force-conflicts")).code == 0


async def test_delete_deletes_by_name_selector_and_file(tmp_path: Path, client: ClientSet, run: Run):
    maps = client.core_v1.configmaps("default")
    for name in ("a", "b", "c", "web"):
        await maps.create({"metadata": {"name": name, "labels": {"is": name}}})
    (tmp_path / "web.yaml").write_text(MAP)
    assert (await run("delete", "cm", "a", "--dry-run")).out == "configmap/a deleted (dry run)\n"
    assert (await run("delete", "cm", "a")).out == "configmap/a deleted\n"
    assert (await run("delete", "cm", "-l", "is=b")).out == "configmap/b deleted\n"
    assert (await run("delete", "-f", str(tmp_path / "web.yaml"))).out == "configmap/web deleted\n"
    assert [each.name for each in await maps.list()] == ["c"]
    assert (await run("delete", "cm", "--all")).code == 0
    assert not await maps.list()


async def test_delete_waits_until_the_object_is_gone(client: ClientSet, start: Callable[..., Awaitable[Process]]):
    maps = client.core_v1.configmaps("default")
    await maps.create({"metadata": {"name": "a", "finalizers": ["example.com/wait"]}})
    process = await start("delete", "cm/a")
    assert await process.line() == "configmap/a deleted"
    await maps.patch("a", {"metadata": {"finalizers": None}})
    assert (await process.end()).code == 0
    with pytest.raises(NotFoundError):
        await maps.get("a")


async def test_delete_needs_to_know_what(server: APIServer, run: Run):
    assert (await run("delete")).code == 2
    assert "pass --selector or --all" in (await run("delete", "pods")).errors
    done = await run("delete", "pod/web-0")
    assert (done.code, done.out) == (1, "")
    assert (await run("delete", "pod/web-0", "--ignore-not-found")).code == 0


# --- api-resources, completion ----------------------------------------------------------------------------------------


async def test_resources_are_listed_once_with_their_names(server: APIServer, run: Run):
    done = await run("api-resources")
    assert done.rows[0] == ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    assert ["pods", "po", "v1", "true", "Pod"] in done.rows
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in done.rows
    names = (await run("api-resources", "--api-group", "apps", "-o", "name")).out.splitlines()
    assert names == [
        f"{each}.apps" for each in ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets")
    ]
    clusterwide = yaml.safe_load((await run("api-resources", "--cluster-scoped", "-o", "yaml")).out)["items"]
    assert "nodes" in {each["plural"] for each in clusterwide}
    assert not any(each["namespaced"] for each in clusterwide)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
async def test_the_completion_script_of_a_shell_calls_the_program(shell: str, run: Run):
    done = await run("completion", shell)
    assert done.code == 0
    assert f"_LISTWATCH_COMPLETE={shell}_complete" in done.out


def files_below(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


@pytest.mark.parametrize(("shell", "start_file"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", None)])
async def test_completion_is_installed_once(
    shell: str, start_file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    for _ in range(2):
        done = await run("--install-completion")
        assert (done.code, done.errors) == (0, "")
    if start_file:
        assert (tmp_path / start_file).read_text().count("listwatch") == 2
    [script] = [each for each in files_below(tmp_path) if each.name != start_file]
    assert "_LISTWATCH_COMPLETE" in script.read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("listwatch g", {"get", "generate"}),
        ("listwatch get pod", {"pods", "podcertificaterequests", "poddisruptionbudgets", "podgroups", "podtemplates"}),
        ("listwatch get cm w", {"web"}),
        ("listwatch get cm/", {"cm/web", "cm/kube-root-ca.crt"}),
        ("listwatch get pods,confi", {"pods,configmaps"}),
        ("listwatch get pods -n kube-", {"kube-system", "kube-public", "kube-node-lease"}),
        ("listwatch get pods --context ", {"listwatch"}),
        ("listwatch get pods -o j", {"json", "jsonpath="}),
    ],
)
async def test_completion_suggests_live_names(
    words: str, expected: set[str], client: ClientSet, start: Callable[..., Awaitable[Process]]
):
    await client.core_v1.configmaps("default").create({"metadata": {"name": "web"}})
    process = await start(_LISTWATCH_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
    done = await process.end()
    found = {line.partition(",")[2] for line in done.out.splitlines()}
    assert found
    assert found <= expected


async def test_completion_without_a_cluster_suggests_built_in_resources(
    tmp_path: Path, start: Callable[..., Awaitable[Process]]
):
    missing = str(tmp_path / "missing")
    for words, expected in (("listwatch get configm", "plain,configmaps"), ("listwatch get pods w", "")):
        process = await start(
            _LISTWATCH_COMPLETE="bash_complete",
            COMP_WORDS=words,
            COMP_CWORD=str(words.count(" ")),
            KUBECONFIG=missing,
        )
        done = await process.end()
        assert (done.code, done.out.strip()) == (0, expected)
